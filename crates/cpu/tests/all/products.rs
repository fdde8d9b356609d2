//! Relaxed products: their errors beside those of the hardware, on the fragments of the recordings
//! (`tests/hw/matrix`).
//!
//! The exact value of a sum is computed in f64 from the fragments' layout in the PTX manual (ISA 9.0,
//! 9.7.14). An error is measured in units of the sum of the terms' magnitudes.

use crate::launch::{Shape, launch};
use crate::memory::Aligned;
use cpu::{Engine, Program, Rules, Source, Target};
use grid::Workers;
use hwtruth::matrix::{BLOCK, Form, Recording, forms, module};
use hwtruth::sample;

/// Blocks of four warps per form.
const BLOCKS: u32 = 16;
const WARPS: usize = BLOCKS as usize * BLOCK / 32;

/// A format of elements.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Float {
        bits: usize,
        exponent: u32,
        fraction: u32,
    },
    /// Without infinities.
    E4m3,
}

impl Kind {
    fn of(name: &str) -> Option<Kind> {
        let float = |bits, exponent, fraction| Some(Kind::Float { bits, exponent, fraction });
        match name {
            "f16" => float(16, 5, 10),
            "bf16" => float(16, 8, 7),
            "tf32" | "f32" => float(32, 8, 23),
            "f64" => float(64, 11, 52),
            "e5m2" => float(8, 5, 2),
            "e4m3" => Some(Kind::E4m3),
            _ => None,
        }
    }

    fn bits(self) -> usize {
        if let Kind::Float { bits, .. } = self { bits } else { 8 }
    }

    fn value(self, code: u64) -> f64 {
        let (exponent, fraction) = match self {
            Kind::Float { exponent, fraction, .. } => (exponent, fraction),
            Kind::E4m3 => (4, 3),
        };
        let sign = if code >> (exponent + fraction) & 1 == 1 { -1.0 } else { 1.0 };
        let (e, f) = (code >> fraction & ((1 << exponent) - 1), code & ((1 << fraction) - 1));
        let top = (1 << exponent) - 1;
        let bias = (1 << (exponent - 1)) - 1;
        let part = f as f64 / (1u64 << fraction) as f64;
        let is_nan = if self == Kind::E4m3 { e == top && f == 7 } else { e == top && f != 0 };
        match e {
            _ if is_nan => f64::NAN,
            _ if e == top && self != Kind::E4m3 => sign * f64::INFINITY,
            0 => sign * part * 2f64.powi(1 - bias),
            _ => sign * (1.0 + part) * 2f64.powi(e as i32 - bias),
        }
    }
}

/// A dense product.
struct Product {
    m: usize,
    k: usize,
    /// The formats of `d`, `a`, `b`, `c`.
    kinds: [Kind; 4],
    tf32: bool,
}

impl Product {
    /// The product of a form of `mma`, unless it has integers or is Volta's.
    fn of(form: &Form) -> Option<Product> {
        let words: Vec<&str> = form.name.strip_prefix("mma.")?.split('.').collect();
        let (m, rest) = words[0].strip_prefix('m')?.split_once("n8k")?;
        let kinds: Vec<Kind> = words.iter().filter_map(|w| Kind::of(w)).collect();
        let product = Product {
            m: m.parse().ok()?,
            k: rest.parse().ok()?,
            kinds: kinds.try_into().ok()?,
            tf32: words.contains(&"tf32"),
        };
        let volta = product.m == 8 && product.kinds[1].bits() == 16;
        (!volta && !words.iter().any(|w| ["rz", "rm", "rp"].contains(w))).then_some(product)
    }

    /// An element of a fragment, `[register][lane]`.
    fn element(kind: Kind, words: &[u32], lane: usize, element: usize) -> u64 {
        if kind.bits() == 64 {
            let at = (element * 32 + lane) * 2;
            return u64::from(words[at]) | u64::from(words[at + 1]) << 32;
        }
        let per = 32 / kind.bits();
        let word = u64::from(words[element / per * 32 + lane]);
        word >> (element % per * kind.bits()) & ((1u64 << kind.bits()) - 1)
    }

    /// The lane and the element that hold row `row` of `a` (or column of `b`, with `rows` 8) at `k`.
    fn place(&self, kind: Kind, rows: usize, row: usize, k: usize) -> (usize, usize) {
        let per = (32 / kind.bits()).max(1);
        let (step, within) = (k / (4 * per), k % (4 * per));
        let register = step * (rows / 8) + row / 8;
        (row % 8 * 4 + within / per, register * per + within % per)
    }

    /// For each element of `d`, by lane and number: its exact value and the magnitude of its terms.
    fn exact(&self, form: &Form, warp: usize, flushes: bool) -> Vec<(usize, usize, f64, f64)> {
        let [a, b, c] = [0, 1, 2].map(|operand| form.fragment(operand, warp));
        let [_, ka, kb, kc] = self.kinds;
        let value = |kind: Kind, code: u64| {
            let code = if self.tf32 { code & !0x1fff } else { code };
            let v = kind.value(code);
            if flushes && v.abs() < f64::from(f32::MIN_POSITIVE) { 0.0 } else { v }
        };
        let mut all = Vec::new();
        for lane in 0..32 {
            for e in 0..self.m / 4 {
                let (row, column) = (lane / 4 + 8 * (e / 2), lane % 4 * 2 + e % 2);
                let c = kc.value(Product::element(kc, &c, lane, e));
                let (mut sum, mut size) = (c, c.abs());
                for k in 0..self.k {
                    let (la, ea) = self.place(ka, self.m, row, k);
                    let (lb, eb) = self.place(kb, 8, column, k);
                    let product = value(ka, Product::element(ka, &a, la, ea))
                        * value(kb, Product::element(kb, &b, lb, eb));
                    sum += product;
                    size += product.abs();
                }
                all.push((lane, e, sum, size));
            }
        }
        all
    }
}

fn run(form: &Form, how: Option<&Target>) -> Result<Vec<u8>, String> {
    let engine = if how.is_some() { Engine::Compiled } else { Engine::Interpreter };
    let text = module([form]);
    let rules = Rules { engine, ..Rules::default() };
    let mut program =
        Program::load_by(&[Source { name: &form.name, text: &text }], &rules).map_err(|e| e.log)?;
    if let Some(target) = how {
        program = program.for_target(target.clone());
    }
    let (input, mut out) = (Aligned::new(&form.input_bytes(WARPS * 32)), Aligned::zeroed(form.output_size()));
    let kernel = form.kernel_name();
    let shape = Shape { kernel: &kernel, blocks: BLOCKS, threads: BLOCK as u32, compiled: how.is_some() };
    launch(&program, &Workers::new(2), &shape, &[&input, &out], &[])?;
    Ok(out.bytes().to_vec())
}

/// The largest error of results whose terms are ordinary numbers, and the root of their mean square.
fn errors(form: &Form, product: &Product, out: &[u8], flushes: bool) -> Result<[f64; 2], String> {
    let kind = product.kinds[0];
    let (largest_number, floor) = match kind.bits() {
        16 => (65504.0, 2f64.powi(-25)),
        32 => (f64::from(f32::MAX), 80.0 * f64::from(f32::MIN_POSITIVE)),
        _ => (f64::MAX, f64::MIN_POSITIVE),
    };
    let (mut worst, mut squares, mut count) = (0f64, 0f64, 0f64);
    for warp in 0..WARPS {
        let words = form.result(out, warp);
        for (lane, e, exact, size) in product.exact(form, warp, flushes) {
            let got = kind.value(Product::element(kind, &words, lane, e));
            let at = || format!("warp {warp}, lane {lane}, element {e}: {got:e}, exactly {exact:e}");
            // The exact sum of f64 is not known if it overflows.
            if kind.bits() == 64 && !size.is_finite() {
                continue;
            }
            // On the hardware, sums of bytes in f16 may be infinite in between, so that a NaN follows.
            if exact.is_nan() && !got.is_nan() || exact.is_infinite() && got.is_finite() {
                return Err(at());
            }
            // Near the largest number an intermediate sum may overflow.
            if size > largest_number / 2.0 || !size.is_finite() {
                continue;
            }
            if !got.is_finite() {
                return Err(at());
            }
            if size > 0.0 {
                let error = ((got - exact).abs() - floor).max(0.0) / size;
                worst = worst.max(error);
                squares += error * error;
                count += 1.0;
            }
        }
    }
    Ok([worst, (squares / count).sqrt()])
}

/// Relaxed products are as accurate as the hardware's: the mean error is at most theirs (f16 is rounded
/// alike), and the largest at most half a bit larger.
#[test]
fn errors_are_the_hardwares() {
    let recording = Recording::of_group("mma").expect("the recording");
    let forms = forms().expect("the table");
    let targets = ["native", "x86-64-v4", "x86-64-v3"].map(|name| (name, Target::named(name).ok()));
    let (mut count, mut failures) = (0, Vec::new());
    for form in forms.iter().filter(|f| f.group == "mma") {
        let Some(product) = Product::of(form) else { continue };
        count += 1;
        if count % sample::of(1, 4) != 0 {
            continue;
        }
        // The interpreter has the hardware's bits.
        let hardware = run(form, None).expect("the interpreter");
        let results = recording.results(&form.name).expect("recorded");
        for warp in 0..WARPS {
            results.check(warp, &form.result(&hardware, warp)).expect("the hardware's bits");
        }
        let allowed = errors(form, &product, &hardware, false).expect("the hardware's results");
        let shown = |[worst, mean]: [f64; 2]| format!("{:.2} {:.2}", worst.log2(), mean.log2());
        let mut line = format!("{}: {}", form.name, shown(allowed));
        let mut fine = true;
        for (name, target) in &targets {
            let Some(target) = target else { continue };
            let flushes = target.has_bf16() && form.name.contains("bf16");
            let out = run(form, Some(target)).unwrap_or_else(|e| panic!("{} {name}: {e}", form.name));
            let own = errors(form, &product, &out, flushes)
                .unwrap_or_else(|e| panic!("{} compiled for {name}: {e}", form.name));
            line += &format!(", {name} {}", shown(own));
            fine &= own[0] <= allowed[0] * 2f64.sqrt() && own[1] <= allowed[1] * 1.01;
        }
        println!("{line}");
        failures.extend((!fine).then_some(line));
    }
    assert!(failures.is_empty(), "powers of two, largest and mean:\n{}", failures.join("\n"));
    assert!(count >= 15, "{count} forms");
}
