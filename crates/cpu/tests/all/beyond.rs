//! Forms that the recording device (`tests/hw`) lacks, on the same inputs: conversions are compared with a
//! model that looks up neighbours among all numbers of a format; other forms must give the same as recorded
//! ones.

use crate::formats::{Format, Rounding};
use cpu::{Engine, Program, Source};
use grid::Workers;
use hwtruth::instructions::{Check, Form, INPUTS, InputType, module};

const VERSION: &str = "9.2";
const TARGET: &str = "sm_100a";

fn form(name: &str, inputs: &[&str], outputs: &[u32], body: &str) -> Form {
    let of_name = |n: &&str| InputType::from_name(n).unwrap_or_else(|| panic!("no inputs of type {n}"));
    Form {
        group: "beyond".into(),
        name: name.into(),
        capability: 100,
        check: Check::Exact,
        inputs: inputs.iter().map(of_name).collect(),
        outputs: outputs.to_vec(),
        body: body.into(),
        outside: String::new(),
    }
}

/// The outputs of a form on the engines of this turn: for each engine, its name, and a list of values per
/// output.
fn outputs(form: &Form) -> Vec<(&'static str, Vec<Vec<u64>>)> {
    let text = module([form], VERSION, TARGET);
    let mut all = Vec::new();
    for (name, engine, target) in crate::warps::engines(&form.name) {
        let program = Program::load(&[Source { name: &form.name, text: &text }], engine)
            .unwrap_or_else(|e| panic!("{}\n{text}", e.log))
            .for_target(target);
        let bytes = crate::run::run(&program, &Workers::new(1), form, engine == Engine::Compiled, INPUTS)
            .unwrap_or_else(|e| panic!("{}, {name}: {e}", form.name));
        let mut rest = bytes.as_slice();
        let mut values = Vec::new();
        for &bits in &form.outputs {
            let size = bits as usize / 8;
            let (array, tail) = rest.split_at(size * INPUTS);
            rest = tail;
            let value = |c: &[u8]| c.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b));
            values.push(array.chunks_exact(size).map(value).collect());
        }
        all.push((name, values));
    }
    all
}

/// Compares the first output with a function of the inputs.
fn hold(form: &Form, model: impl Fn(&[u64]) -> u64) {
    for (engine, values) in outputs(form) {
        for (n, &got) in values[0].iter().enumerate() {
            let inputs: Vec<u64> = (0..form.inputs.len()).map(|k| form.input(k, n)).collect();
            let expected = model(&inputs);
            assert_eq!(got, expected, "{}, {engine}: {inputs:x?} gave {got:#x} for {expected:#x}", form.name);
        }
    }
}

/// Every combination with `.relu`, and with `.satfinite` where it is optional.
fn modifiers(satfinite: &[bool]) -> impl Iterator<Item = (bool, bool, String)> {
    satfinite.iter().flat_map(|&s| [false, true].map(|r| (r, s))).map(|(relu, satfinite)| {
        let words = [(relu, ".relu"), (satfinite, ".satfinite")];
        (relu, satfinite, words.iter().filter(|w| w.0).map(|w| w.1).collect())
    })
}

fn half(v: u64, upper: bool) -> u64 {
    if upper { v >> 16 & 0xffff } else { v & 0xffff }
}

fn f32_of(v: u64) -> f64 {
    f64::from(f32::from_bits(v as u32))
}

/// A bf16 as the f32 with the same upper bits.
fn bf16(v: u64) -> f64 {
    f32_of(v << 16)
}

/// Formats of pairs: the type's name, the format, and the number of bits per element.
const PAIRS: [(&str, Format, u32); 5] = [
    ("e4m3x2", crate::formats::E4M3, 8),
    ("e5m2x2", crate::formats::E5M2, 8),
    ("e3m2x2", crate::formats::E3M2, 8),
    ("e2m3x2", crate::formats::E2M3, 8),
    ("e2m1x2", crate::formats::E2M1, 4),
];

/// An instruction that writes a pair to `%d`, through a register of the required type.
fn to_pair(instruction: &str, bits: u32, sources: &str) -> String {
    if bits == 4 {
        // Through a `.b8` register, since outputs are wider.
        format!(
            "{{ .reg .b8 %o; {instruction} %o, {sources}; st.global.b8 [%m], %o; }} ld.global.b16 %d, [%m];"
        )
    } else {
        format!("{instruction} %d, {sources};")
    }
}

/// A pair's source register, set from `%a`.
fn from_pair(instruction: &str, bits: u32, more: &str) -> String {
    if bits == 4 {
        format!(
            "st.global.b16 [%m], %a; {{ .reg .b8 %o; ld.global.b8 %o, [%m]; {instruction} %d, %o{more}; }}"
        )
    } else {
        format!("{instruction} %d, %a{more};")
    }
}

#[test]
fn narrow_pairs_from_wider_ones() {
    for (name, format, bits) in PAIRS {
        for (relu, _, words) in modifiers(&[true]) {
            let encode = |x| format.encode(x, Rounding::Nearest, relu, true);
            let instruction = format!("cvt.rn{words}.{name}");
            let f = form(
                &format!("{instruction}.f32"),
                &["f32", "f32"],
                &[16],
                &to_pair(&format!("{instruction}.f32"), bits, "%a, %b"),
            );
            hold(&f, |v| encode(f32_of(v[0])) << bits | encode(f32_of(v[1])));
            let f = form(
                &format!("{instruction}.bf16x2"),
                &["bf16x2"],
                &[16],
                &to_pair(&format!("{instruction}.bf16x2"), bits, "%a"),
            );
            hold(&f, |v| encode(bf16(half(v[0], true))) << bits | encode(bf16(half(v[0], false))));
            let f = form(
                &format!("{instruction}.f16x2"),
                &["f16x2"],
                &[16],
                &to_pair(&format!("{instruction}.f16x2"), bits, "%a"),
            );
            let f16 = |v, upper| crate::formats::F16.decode(half(v, upper));
            hold(&f, |v| encode(f16(v[0], true)) << bits | encode(f16(v[0], false)));
        }
    }
}

#[test]
fn wider_pairs_from_narrow_ones() {
    for (name, format, bits) in PAIRS {
        let element = |v: u64, upper: bool| {
            let code = if upper { v >> bits } else { v } & ((1 << bits) - 1);
            format.decode(code & format.mask())
        };
        for (relu, satfinite, words) in modifiers(&[false, true]) {
            let encode = |x, target: Format| target.encode(x, Rounding::Nearest, relu, satfinite);
            let two = |v: u64, target, factors: [f64; 2]| {
                encode(element(v, true) * factors[1], target) << 16
                    | encode(element(v, false) * factors[0], target)
            };
            if !satfinite {
                let instruction = format!("cvt.rn{words}.f16x2.{name}");
                let f = form(&instruction, &["i16"], &[32], &from_pair(&instruction, bits, ""));
                hold(&f, |v| two(v[0], crate::formats::F16, [1.0; 2]));
            }
            let instruction = format!("cvt.rn{words}.bf16x2.{name}");
            let f = form(&instruction, &["i16"], &[32], &from_pair(&instruction, bits, ""));
            hold(&f, |v| two(v[0], crate::formats::BF16, [1.0; 2]));
            let instruction = format!("cvt.rn{words}.scaled::n2::ue8m0.bf16x2.{name}");
            let f = form(
                &instruction.replace("::", ""),
                &["i16", "i16"],
                &[32],
                &from_pair(&instruction, bits, ", %b"),
            );
            hold(&f, |v| two(v[0], crate::formats::BF16, scales(v[1])));
        }
    }
}

/// The two scales in a register, the lower one first.
fn scales(v: u64) -> [f64; 2] {
    [v & 0xff, v >> 8 & 0xff].map(|code| if code == 0xff { f64::NAN } else { 2f64.powi(code as i32 - 127) })
}

#[test]
fn stochastic_rounding_carries_random_bits() {
    // For each source: position and number of its random bits.
    let pairs = [
        ("f16x2", crate::formats::F16, [(16, 13), (0, 13)]),
        ("bf16x2", crate::formats::BF16, [(16, 16), (0, 16)]),
    ];
    for (name, format, places) in pairs {
        for (relu, satfinite, words) in modifiers(&[false, true]) {
            let instruction = format!("cvt.rs{words}.{name}.f32");
            let f =
                form(&instruction, &["f32", "f32", "i32"], &[32], &format!("{instruction} %d, %a, %b, %c;"));
            hold(&f, |v| {
                let code = |n: usize| {
                    let (at, bits) = places[n];
                    let random = Rounding::Random { value: v[2] >> at & ((1 << bits) - 1), bits };
                    format.encode(f32_of(v[n]), random, relu, satfinite)
                };
                code(0) << 16 | code(1)
            });
        }
    }
    let fours = [
        ("e4m3x4", crate::formats::E4M3, 8),
        ("e5m2x4", crate::formats::E5M2, 8),
        ("e3m2x4", crate::formats::E3M2, 8),
        ("e2m3x4", crate::formats::E2M3, 8),
        ("e2m1x4", crate::formats::E2M1, 4),
    ];
    for (name, format, bits) in fours {
        for (relu, _, words) in modifiers(&[true]) {
            let instruction = format!("cvt.rs{words}.{name}.f32");
            let f = form(
                &instruction,
                &["f32", "f32", "f32", "i32"],
                &[bits * 4],
                &format!("{instruction} %d, {{%a, %b, %c, %b}}, %e;"),
            );
            hold(&f, |v| {
                let random = |upper: bool| match (bits, upper) {
                    (4, true) => v[3] >> 16 & 0xff00 | v[3] >> 8 & 0xff,
                    (4, false) => v[3] >> 8 & 0xff00 | v[3] & 0xff,
                    (_, upper) => half(v[3], upper),
                };
                [0, 1, 2, 1].iter().enumerate().fold(0, |all, (n, &source)| {
                    let random = Rounding::Random { value: random(n < 2), bits: 16 };
                    all << bits | format.encode(f32_of(v[source]), random, relu, true)
                })
            });
        }
    }
}

#[test]
fn scales_are_powers_of_two() {
    // Every power that a code represents, in order.
    let powers: Vec<f64> = (0..255).map(|code| 2f64.powi(code - 127)).collect();
    for (rounding, up) in [("rz", false), ("rp", true)] {
        for (suffix, satfinite) in [("", false), (".satfinite", true)] {
            let encode = |x: f64| {
                let x = x.abs();
                let finite = if up {
                    powers.partition_point(|p| *p < x)
                } else {
                    powers.partition_point(|p| *p <= x).max(1) - 1
                };
                match () {
                    () if x.is_nan() => 0xff,
                    () if satfinite => finite.min(254) as u64,
                    () if x.is_infinite() => 0xff,
                    () => finite as u64,
                }
            };
            let instruction = format!("cvt.{rounding}{suffix}.ue8m0x2");
            let f = form(
                &format!("{instruction}.f32"),
                &["f32", "f32"],
                &[16],
                &format!("{instruction}.f32 %d, %a, %b;"),
            );
            hold(&f, |v| encode(f32_of(v[0])) << 8 | encode(f32_of(v[1])));
            let f = form(
                &format!("{instruction}.bf16x2"),
                &["bf16x2"],
                &[16],
                &format!("{instruction}.bf16x2 %d, %a;"),
            );
            hold(&f, |v| encode(bf16(half(v[0], true))) << 8 | encode(bf16(half(v[0], false))));
        }
    }
    let f = form("cvt.rn.bf16x2.ue8m0x2", &["i16"], &[32], "cvt.rn.bf16x2.ue8m0x2 %d, %a;");
    let bits = |x| crate::formats::BF16.encode(x, Rounding::Nearest, false, false);
    hold(&f, |v| {
        let [low, high] = scales(v[0]);
        bits(high) << 16 | bits(low)
    });
}

#[test]
fn fixed_point_in_64ths() {
    let fixed = |x: f64, relu: bool| {
        // Doubles hold an f32 times a power of two exactly.
        let rounded = (x * 64.0).clamp(-128.0, 127.0).round_ties_even();
        let v = if x.is_nan() { 127 } else { rounded as i8 };
        u64::from(if relu { v.max(0) } else { v } as u8)
    };
    for (relu, _, words) in modifiers(&[true]) {
        for scaled in [false, true] {
            let (word, operand) = if scaled { (".scaled::n2::ue8m0", ", %c") } else { ("", "") };
            let instruction = format!("cvt.rn{words}{word}.s2f6x2");
            let by = |v: u64| if scaled { scales(v) } else { [1.0; 2] };
            let name = instruction.replace("::", "");
            let f = form(
                &format!("{name}.f32"),
                &["f32", "f32", "i16"],
                &[16],
                &format!("{instruction}.f32 %d, %a, %b{operand};"),
            );
            hold(&f, |v| {
                fixed(f32_of(v[0]) / by(v[2])[1], relu) << 8 | fixed(f32_of(v[1]) / by(v[2])[0], relu)
            });
            let f = form(
                &format!("{name}.bf16x2"),
                &["bf16x2", "i16", "i16"],
                &[16],
                &format!("{instruction}.bf16x2 %d, %a{operand};"),
            );
            hold(&f, |v| {
                let [low, high] = by(v[2]);
                fixed(bf16(half(v[0], true)) / high, relu) << 8 | fixed(bf16(half(v[0], false)) / low, relu)
            });
        }
    }
    for (relu, satfinite, words) in modifiers(&[false, true]) {
        for scaled in [false, true] {
            let (word, operand) = if scaled { (".scaled::n2::ue8m0", ", %b") } else { ("", "") };
            let instruction = format!("cvt.rn{words}{word}.bf16x2.s2f6x2");
            let f = form(
                &instruction.replace("::", ""),
                &["i16", "i16"],
                &[32],
                &format!("{instruction} %d, %a{operand};"),
            );
            hold(&f, |v| {
                let by = if scaled { scales(v[1]) } else { [1.0; 2] };
                let one = |byte: u64, by: f64| {
                    let x = f64::from(byte as u8 as i8) / 64.0 * by;
                    crate::formats::BF16.encode(x, Rounding::Nearest, relu, satfinite)
                };
                one(v[0] >> 8, by[1]) << 16 | one(v[0], by[0])
            });
        }
    }
}

/// Name, inputs, and two instructions or sequences that must leave the same in `%d` and in `%x`; those of the
/// second are recorded. `ROUND` stands for each rounding mode.
const ALIKE: &[(&str, &[&str], &str, &str)] = &[
    ("add.f32x2", &["i64", "i64"], "add.ROUND.f32x2 %d, %a, %b;", PAIRWISE_ADD),
    ("sub.ftz.f32x2", &["i64", "i64"], "sub.ROUND.ftz.f32x2 %d, %a, %b;", PAIRWISE_SUB),
    ("mul.f32x2", &["i64", "i64"], "mul.ROUND.f32x2 %d, %a, %b;", PAIRWISE_MUL),
    ("fma.f32x2", &["i64", "i64", "i64"], "fma.ROUND.f32x2 %d, %a, %b, %c;", PAIRWISE_FMA),
    (
        "add.f32.f16",
        &["f16", "f32"],
        "add.ROUND.f32.f16 %d, %a, %b;",
        "cvt.f32.f16 %t0, %a; add.ROUND.f32 %x, %t0, %b;",
    ),
    (
        "sub.sat.f32.bf16",
        &["bf16", "f32"],
        "sub.ROUND.sat.f32.bf16 %d, %a, %b;",
        "cvt.f32.bf16 %t0, %a; sub.ROUND.sat.f32 %x, %t0, %b;",
    ),
    (
        "fma.f32.f16",
        &["f16", "f16", "f32"],
        "fma.ROUND.f32.f16 %d, %a, %b, %c;",
        "cvt.f32.f16 %t0, %a; cvt.f32.f16 %t1, %b; fma.ROUND.f32 %x, %t0, %t1, %c;",
    ),
    (
        "min.three",
        &["f32", "f32", "f32"],
        "min.f32 %d, %a, %b, %c;",
        "min.f32 %t0, %a, %b; min.f32 %x, %t0, %c;",
    ),
    (
        "max.three.NaN",
        &["f32", "f32", "f32"],
        "max.ftz.NaN.f32 %d, %a, %b, %c;",
        "max.ftz.NaN.f32 %t0, %a, %b; max.ftz.NaN.f32 %x, %t0, %c;",
    ),
    (
        "ld.v4.b64",
        &["i64", "i64"],
        "st.global.v4.b64 [%m], {%a, %b, %b, %a}; ld.global.v8.b32 {%t0, %t1, %t2, %t3, %t4, %t5, %t6, %t7}, [%m]; mov.b64 %d, {%t4, %t7};",
        "mov.b64 {%t0, %t1}, %a; mov.b64 {%t2, %t3}, %b; mov.b64 %x, {%t2, %t1};",
    ),
];

const HALVES: &str = "mov.b64 {%t0, %t1}, %a; mov.b64 {%t2, %t3}, %b; ";
const PAIRWISE_ADD: &str =
    "add.ROUND.f32 %t0, %t0, %t2; add.ROUND.f32 %t1, %t1, %t3; mov.b64 %x, {%t0, %t1};";
const PAIRWISE_SUB: &str =
    "sub.ROUND.ftz.f32 %t0, %t0, %t2; sub.ROUND.ftz.f32 %t1, %t1, %t3; mov.b64 %x, {%t0, %t1};";
const PAIRWISE_MUL: &str =
    "mul.ROUND.f32 %t0, %t0, %t2; mul.ROUND.f32 %t1, %t1, %t3; mov.b64 %x, {%t0, %t1};";
const PAIRWISE_FMA: &str = "mov.b64 {%t4, %t5}, %c; fma.ROUND.f32 %t0, %t0, %t2, %t4; fma.ROUND.f32 %t1, %t1, %t3, %t5; \
                            mov.b64 %x, {%t0, %t1};";

#[test]
fn forms_give_what_recorded_ones_give() {
    for (name, inputs, first, second) in ALIKE {
        let roundings: &[&str] = if first.contains("ROUND") { &["rn", "rz", "rm", "rp"] } else { &[""] };
        let before = if second.contains("mov.b64 %x, {%t0, %t1}") { HALVES } else { "" };
        let bits = if inputs[0] == "i64" { 64 } else { 32 };
        for round in roundings {
            let body = format!("{first} {before}{second}").replace("ROUND", round);
            let f = form(&format!("{name}.{round}x"), inputs, &[bits, bits], &body);
            for (engine, values) in outputs(&f) {
                assert_eq!(values[0], values[1], "{name}, {round}, {engine}");
            }
        }
    }
}
