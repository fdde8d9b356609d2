//! sm_120's matrix instructions on floats of eight, six and four bits with block scale factors, which the
//! recording device lacks. They are compared with products whose sums are exact, so that neither order nor
//! precision of the sums matters. Elements, metadata and factors are placed according to the PTX manual
//! (9.7.14.3, 9.7.14.5, 9.7.14.6).

use crate::formats::{Format, Rounding};
use hwtruth::sample;

/// Number of warps per case, each with its own elements.
const WARPS: usize = 4;

/// A type of elements: the word in the instruction, the format, and the codes whose products are exact in f32
/// (all codes if empty).
struct Elements {
    word: &'static str,
    format: Format,
    codes: std::ops::Range<u64>,
    /// Position of the code in its byte.
    up: u32,
}

const ELEMENTS: [Elements; 5] = [
    Elements { word: "e4m3", format: crate::formats::E4M3, codes: 0x28..0x40, up: 0 },
    Elements { word: "e5m2", format: crate::formats::E5M2, codes: 0x34..0x44, up: 0 },
    Elements { word: "e3m2", format: crate::formats::E3M2, codes: 0..0x20, up: 0 },
    Elements { word: "e2m3", format: crate::formats::E2M3, codes: 0..0x20, up: 0 },
    Elements { word: "e2m1", format: crate::formats::E2M1, codes: 0..8, up: 2 },
];

/// Scale factors: the word, the value of a byte, the bytes to use, and a byte that must not be read.
#[derive(Clone, Copy)]
struct Factors {
    word: &'static str,
    value: fn(u64) -> f64,
    bytes: (u64, u64),
    poison: u64,
}

/// A power of two.
const UE8M0: Factors =
    Factors { word: "ue8m0", value: |b| 2f64.powi(b as i32 - 127), bytes: (126, 129), poison: 0xff };
/// An e4m3 without its sign bit.
const UE4M3: Factors =
    Factors { word: "ue4m3", value: |b| crate::formats::E4M3.decode(b), bytes: (0x30, 0x40), poison: 0x7f };

/// An instruction.
struct Case {
    /// The modifiers between the layouts and the types.
    kind: &'static str,
    /// Whether registers hold 4-bit elements in four bits.
    packed: bool,
    sparse: bool,
    /// Number of scale factors per row or column, and their kind.
    factors: Option<(usize, Factors)>,
    /// Byte and lane of the factors of `a`, and of `b`.
    ids: [u64; 4],
    halves: bool,
}

/// splitmix64 of a counter.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % limit
    }
}

/// The matrices of one warp: 16 rows of `a`, including zeros, and the columns of `b`.
struct Product {
    a: Vec<Vec<u64>>,
    b: Vec<Vec<u64>>,
    c: Vec<Vec<f64>>,
    /// The bytes by row and block of `a`, and by column and block of `b`.
    factors: [Vec<Vec<u64>>; 2],
    /// By row and group: which two of four are not zero.
    pairs: Vec<Vec<(usize, usize)>>,
}

const ORDERED: [(usize, usize); 6] = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];

impl Case {
    fn k(&self) -> usize {
        (if self.packed { 64 } else { 32 }) * if self.sparse { 2 } else { 1 }
    }

    /// Number of adjacent elements that sparsity treats as one.
    fn unit(&self) -> usize {
        if self.packed { 2 } else { 1 }
    }

    fn product(&self, elements: [&Elements; 2], r: &mut Random) -> Product {
        let mut code = |e: &Elements| {
            let code = e.codes.start + r.below(e.codes.end - e.codes.start);
            code | if r.below(2) == 0 { 0 } else { (e.format.mask() + 1) >> 1 }
        };
        let mut table = |e: &Elements, lines: usize| -> Vec<Vec<u64>> {
            (0..lines).map(|_| (0..self.k()).map(|_| code(e)).collect()).collect()
        };
        let (mut a, b) = (table(elements[0], 16), table(elements[1], 8));
        let groups = if self.sparse { self.k() / (4 * self.unit()) } else { 0 };
        let pairs: Vec<Vec<(usize, usize)>> =
            (0..16).map(|_| (0..groups).map(|_| ORDERED[r.below(6) as usize]).collect()).collect();
        for (row, pairs) in a.iter_mut().zip(&pairs) {
            for (k, v) in row.iter_mut().enumerate() {
                let (x, y) = pairs.get(k / (4 * self.unit())).copied().unwrap_or((k, k));
                let place = if pairs.is_empty() { k } else { k / self.unit() % 4 };
                if place != x && place != y {
                    *v = 0;
                }
            }
        }
        let (blocks, f) = self.factors.unwrap_or((0, UE8M0));
        let mut bytes = |lines: usize| -> Vec<Vec<u64>> {
            (0..lines)
                .map(|_| (0..blocks).map(|_| f.bytes.0 + r.below(f.bytes.1 - f.bytes.0)).collect())
                .collect()
        };
        let factors = [bytes(16), bytes(8)];
        let c = (0..16).map(|_| (0..8).map(|_| r.below(65) as f64 - 32.0).collect()).collect();
        Product { a, b, c, factors, pairs }
    }

    /// The sums, which f32 holds exactly: all parts are multiples of a unit and below 2²⁴ units.
    fn sums(&self, elements: [&Elements; 2], p: &Product) -> Vec<Vec<f64>> {
        let factor = |which: usize, line: usize, k: usize| match self.factors {
            Some((blocks, f)) => (f.value)(p.factors[which][line][k * blocks / self.k()]),
            None => 1.0,
        };
        let sum = |row: usize, column: usize| {
            let terms = (0..self.k()).map(|k| {
                let a = elements[0].format.decode(p.a[row][k]) * factor(0, row, k);
                a * elements[1].format.decode(p.b[column][k]) * factor(1, column, k)
            });
            let terms: Vec<f64> = terms.chain([p.c[row][column]]).collect();
            let lowest = |x: &f64| x.to_bits().trailing_zeros() as i32 - 52 + exponent(*x);
            let unit = terms.iter().filter(|x| **x != 0.0).map(lowest).min().unwrap_or(0);
            let size: f64 = terms.iter().map(|x| x.abs()).sum();
            assert!(size < 2f64.powi(unit + 24), "{}: the sum is not exact", self.kind);
            terms.iter().sum()
        };
        (0..16).map(|row| (0..8).map(|column| sum(row, column)).collect()).collect()
    }

    /// Registers of a lane: `a`, `b`, `c`, the metadata, and the factors of `a` and of `b`.
    fn registers(&self, elements: [&Elements; 2], p: &Product, lane: usize) -> Vec<u32> {
        let (group, own) = (lane / 4, lane % 4);
        let (per, bits) = if self.packed { (8, 4) } else { (4, 8) };
        let pack = |codes: Vec<u64>, e: &Elements| -> Vec<u32> {
            let up = if self.packed { 0 } else { e.up };
            let word = |c: &[u64]| c.iter().rev().fold(0u32, |w, &c| w << bits | (c << up) as u32);
            codes.chunks(per).map(word).collect()
        };
        // The stored part of a row: 16 × 32 bytes, or 16 × 64 half bytes.
        let stored = |row: usize| -> Vec<u64> {
            if !self.sparse {
                return p.a[row].clone();
            }
            let places = p.pairs[row].iter().enumerate().flat_map(|(g, &(x, y))| [4 * g + x, 4 * g + y]);
            places.flat_map(|n| p.a[row][n * self.unit()..][..self.unit()].to_vec()).collect()
        };
        let mut a = Vec::new();
        for i in 0..4 * per {
            let row = if i < per || (2 * per..3 * per).contains(&i) { group } else { group + 8 };
            let column = own * per + i % per + if i >= 2 * per { 4 * per } else { 0 };
            a.push(stored(row)[column]);
        }
        let mut b = Vec::new();
        for i in 0..self.k() / 4 {
            b.push(p.b[group][own * per + i % per + i / per * 4 * per]);
        }
        let mut all = pack(a, elements[0]);
        all.extend(pack(b, elements[1]));
        let c = [0, 1, 2, 3].map(|i| p.c[group + i / 2 * 8][own * 2 + i % 2]);
        if self.halves {
            let half = |x: f64| crate::formats::F16.encode(x, Rounding::Nearest, false, false) as u32;
            all.extend([half(c[0]) | half(c[1]) << 16, half(c[2]) | half(c[3]) << 16]);
        } else {
            all.extend(c.map(|x| (x as f32).to_bits()));
        }
        // All four lanes of a group hold metadata: the lower half of row `group`, that of row `group + 8`,
        // then the upper halves.
        if self.sparse {
            let pairs = &p.pairs[group + own % 2 * 8][own / 2 * 8..][..8];
            all.push(pairs.iter().rev().fold(0, |w, &(x, y)| w << 4 | (x | y << 2) as u32));
        }
        if let Some((blocks, f)) = self.factors {
            // For `a` a pair of lanes: the lower has row `group`, the other has row `group + 8`; for `b` one
            // lane.
            let [byte_a, lane_a, byte_b, lane_b] = self.ids.map(|i| i as usize);
            let lines =
                [(own / 2 == lane_a).then_some(group + own % 2 * 8), (own == lane_b).then_some(group)];
            for ((line, byte), factors) in lines.into_iter().zip([byte_a, byte_b]).zip(&p.factors) {
                let at = |n: usize| match line {
                    Some(line) if (byte..byte + blocks).contains(&n) => factors[line][n - byte],
                    _ => f.poison,
                };
                all.push((0..4).rev().fold(0, |w, n| w << 8 | at(n) as u32));
            }
        }
        all
    }

    fn instruction(&self, elements: [&Elements; 2], in_registers: bool) -> String {
        let [a, b] = elements.map(|e| e.word);
        let (sums, d) = if self.halves { ("f16", 2) } else { ("f32", 4) };
        let list = |name: &str, from: usize, n: usize| {
            format!("{{{}}}", (from..from + n).map(|r| format!("%{name}{r}")).collect::<Vec<_>>().join(", "))
        };
        let bs = if self.sparse { 4 } else { 2 };
        let mut operands = vec![list("d", 0, d), list("r", 0, 4), list("r", 4, bs), list("r", 4 + bs, d)];
        let mut next = 4 + bs + d;
        if self.sparse {
            operands.extend([format!("%r{next}"), "0x0".to_owned()]);
            next += 1;
        }
        if self.factors.is_some() {
            let [a, b, c, d] = self.ids;
            let ids = if in_registers {
                ["{%h0, %h1}".into(), "{%h2, %h3}".into()]
            } else {
                [format!("{{{a}, {b}}}"), format!("{{{c}, {d}}}")]
            };
            operands.push(format!("%r{next}"));
            operands.push(ids[0].clone());
            operands.push(format!("{{%r{}}}", next + 1));
            operands.push(ids[1].clone());
        }
        let sp = if self.sparse { ".sp::ordered_metadata" } else { "" };
        let stype = self.factors.map_or(String::new(), |(_, f)| format!(".{}", f.word));
        format!(
            "mma{sp}.sync.aligned.m16n8k{}.row.col.{}.{sums}.{a}.{b}.{sums}{stype} {};",
            self.k(),
            self.kind,
            operands.join(", ")
        )
    }

    fn check(&self, elements: [&Elements; 2], seed: u64) {
        let mut random = Random(seed << 32);
        let products: Vec<Product> = (0..WARPS).map(|_| self.product(elements, &mut random)).collect();
        let lanes: Vec<Vec<u32>> =
            products.iter().flat_map(|p| (0..32).map(|l| self.registers(elements, p, l))).collect();
        let count = lanes[0].len();
        let input: Vec<u32> = (0..count).flat_map(|r| lanes.iter().map(move |l| l[r])).collect();
        let instruction = self.instruction(elements, seed % 2 == 1);
        let text = kernel(&instruction, count, self.ids, if self.halves { 2 } else { 4 });
        let wanted: Vec<Vec<Vec<f64>>> = products.iter().map(|p| self.sums(elements, p)).collect();
        for engine in crate::warps::engines(&format!("{instruction} {seed}")) {
            let out = crate::warps::words(&text, &engine, 32 * WARPS, &input, 128 * WARPS);
            for thread in 0..32 * WARPS {
                let (group, own) = (thread % 32 / 4, thread % 4);
                for i in 0..4 {
                    let x = wanted[thread / 32][group + i / 2 * 8][own * 2 + i % 2];
                    let word = |r: usize| out[r * 32 * WARPS + thread];
                    let (got, bits) = match self.halves {
                        true => (
                            word(i / 2) >> (16 * (i % 2)) & 0xffff,
                            crate::formats::F16.encode(x, Rounding::Nearest, false, false) as u32,
                        ),
                        false => (word(i), (x as f32).to_bits()),
                    };
                    // A zero sum is positive.
                    let bits = if x == 0.0 { 0 } else { bits };
                    assert_eq!(
                        got, bits,
                        "{instruction} {}: thread {thread}, element {i}: expected {x}",
                        engine.0
                    );
                }
            }
        }
    }
}

fn exponent(x: f64) -> i32 {
    (x.to_bits() >> 52 & 0x7ff) as i32 - 1023
}

/// A kernel around an instruction with `count` operand registers.
fn kernel(instruction: &str, count: usize, ids: [u64; 4], results: usize) -> String {
    let threads = 32 * WARPS;
    let mut text = format!(
        ".version 9.1\n.target sm_120a\n.address_size 64\n.visible .entry k(.param .u64 pi, .param .u64 po)\n{{\n\
         .reg .b32 %t, %r<{count}>, %d<4>; .reg .b64 %i, %o; .reg .b16 %h<4>;\n\
         mov.u32 %t, %tid.x; ld.param.u64 %i, [pi]; ld.param.u64 %o, [po]; mad.wide.u32 %i, %t, 4, %i; mad.wide.u32 %o, %t, 4, %o;\n"
    );
    for (n, id) in ids.iter().enumerate() {
        text += &format!("mov.u16 %h{n}, {id};\n");
    }
    for r in 0..count {
        text += &format!("ld.global.b32 %r{r}, [%i+{}];\n", 4 * threads * r);
    }
    text += instruction;
    for r in 0..results {
        text += &format!("\nst.global.b32 [%o+{}], %d{r};", 4 * threads * r);
    }
    text + "\nret;\n}\n"
}

const PLAIN: Case =
    Case { kind: "kind::f8f6f4", packed: false, sparse: false, factors: None, ids: [0; 4], halves: false };

fn scaled(kind: &'static str, packed: bool, blocks: usize, f: Factors, ids: [u64; 4]) -> Case {
    Case { kind, packed, factors: Some((blocks, f)), ids, ..PLAIN }
}

const E2M1: &Elements = &ELEMENTS[4];

#[test]
fn every_pair_of_formats() {
    for (n, a) in ELEMENTS.iter().enumerate() {
        for (m, b) in ELEMENTS.iter().enumerate() {
            let seed = (8 * n + m) as u64;
            if !seed.is_multiple_of(sample::of(1, 3)) {
                continue;
            }
            for sparse in [false, true] {
                for halves in [false, true] {
                    Case { sparse, halves, ..PLAIN }.check([a, b], seed);
                }
                let case = scaled(
                    "kind::mxf8f6f4.block_scale",
                    false,
                    1,
                    UE8M0,
                    [seed % 4, n as u64 % 2, m as u64 % 4, 3],
                );
                Case { sparse, ..case }.check([a, b], seed);
            }
        }
    }
}

#[test]
fn every_byte_and_lane_of_factors() {
    for n in (0..32).step_by(sample::of(1, 5)) {
        let (lane_a, lane_b) = (n % 2, n / 2 % 4);
        let byte = |n: u64, step: u64| n * step % 4;
        for (kind, packed, blocks, f) in [
            ("kind::mxf8f6f4.block_scale.scale_vec::1X", false, 1, UE8M0),
            ("kind::mxf4.block_scale", true, 2, UE8M0),
            ("kind::mxf4nvf4.block_scale.scale_vec::2X", true, 2, UE8M0),
            ("kind::mxf4nvf4.block_scale.scale_vec::4X", true, 4, UE8M0),
            ("kind::mxf4nvf4.block_scale.scale_vec::4X", true, 4, UE4M3),
        ] {
            let step = blocks as u64;
            let ids = [byte(n / 8, step), lane_a, byte(n / 8 + n, step), lane_b];
            let case = scaled(kind, packed, blocks, f, ids);
            Case { sparse: n % 3 == 0, ..case }.check([E2M1, E2M1], n);
        }
    }
}

/// The ends of the ranges: one product, all others zero.
#[test]
fn what_is_no_number_and_the_ends_of_the_ranges() {
    let nan = f32::NAN;
    let largest = 2f32.powi(127);
    for (a, code_a, b, code_b, factors, wanted) in [
        // 448 × 448; the smallest of each.
        ("e4m3", 0x7e, "e4m3", 0x7e, [127, 127], 200_704.0),
        ("e4m3", 0x01, "e5m2", 0x01, [127, 127], 2f32.powi(-9 - 16)),
        ("e3m2", 0x01, "e2m3", 0x3f, [127, 127], -7.5 * 0.0625),
        ("e5m2", 0x7c, "e4m3", 0x38, [127, 127], f32::INFINITY),
        ("e4m3", 0xb8, "e5m2", 0x7c, [127, 127], f32::NEG_INFINITY),
        ("e4m3", 0x7f, "e2m1", 0x08, [127, 127], nan),
        ("e5m2", 0x7e, "e2m1", 0x08, [127, 127], nan),
        ("e5m2", 0x7c, "e2m1", 0x00, [127, 127], nan),
        // Factors: 2^127 × 2^-127, NaN, and products that overflow f32 or are just subnormal.
        ("e4m3", 0x38, "e4m3", 0x38, [254, 0], 1.0),
        ("e4m3", 0x38, "e4m3", 0x38, [255, 127], nan),
        ("e4m3", 0x38, "e4m3", 0x38, [127, 255], nan),
        ("e4m3", 0x38, "e4m3", 0x38, [254, 127], largest),
        ("e4m3", 0x38, "e4m3", 0x38, [254, 128], f32::INFINITY),
        ("e4m3", 0x38, "e4m3", 0x38, [0, 107], 2f64.powi(-147) as f32),
        ("e4m3", 0x38, "e4m3", 0x38, [0, 0], 0.0),
    ] {
        let input: Vec<u32> = (0..12)
            .flat_map(|r| {
                (0..32 * WARPS).map(move |t| match r {
                    0 if t % 32 == 0 => code_a,
                    4 if t % 32 == 0 => code_b,
                    10 | 11 => 0x7f7f_7f00 | factors[r - 10],
                    _ => 0,
                })
            })
            .collect();
        let instruction = format!(
            "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.{a}.{b}.f32.ue8m0 {{%d0, %d1, %d2, %d3}}, \
             {{%r0, %r1, %r2, %r3}}, {{%r4, %r5}}, {{%r6, %r7, %r8, %r9}}, %r10, {{0, 0}}, %r11, {{0, 0}};"
        );
        let text = kernel(&instruction, 12, [0; 4], 4);
        for engine in crate::warps::engines(&format!("{a} {code_a} {b} {code_b} {factors:?}")) {
            let out = crate::warps::words(&text, &engine, 32 * WARPS, &input, 128 * WARPS);
            let got = f32::from_bits(out[0]);
            let same = got.to_bits() == f32::to_bits(wanted) || got.is_nan() && wanted.is_nan();
            assert!(
                same,
                "{a} {code_a:#x} × {b} {code_b:#x} × {factors:?}, {}: {got}, expected {wanted}",
                engine.0
            );
        }
    }
}
