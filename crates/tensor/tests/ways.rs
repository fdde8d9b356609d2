//! Every implementation of a product agrees with the plain one, and all of them handle ordinary numbers.

use tensor::{Format, LANES, Mma, ways};

/// A pseudo-random word. Floats have exponents from their whole range, most of them near one.
fn word(n: u64, format: Format, specials: bool) -> u32 {
    let mut z = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let z = z ^ (z >> 31);
    let kind = z >> 56;
    let raw = z as u32;
    let pair = |near: u32, keep: u32, step: u32| (near + (z >> 40 & 7) as u32 * step) | raw & keep;
    match format {
        _ if format.layout().is_none() => raw,
        _ if specials && kind < 3 => raw,
        _ if kind < 40 => 0,
        Format::F16 if kind < 120 => raw & 0xbbff_bbff,
        Format::F16 => pair(0x3000_3000, 0x83ff_83ff, 0x0400_0400),
        Format::BF16 => pair(0x3c80_3c80, 0x807f_807f, 0x0080_0080),
        // Without the highest exponent bit there are neither infinities nor NaNs.
        Format::E4M3 | Format::E5M2 => raw & 0xbfbf_bfbf,
        _ => pair(0x3c80_0000, 0x807f_ffff, 0x0080_0000),
    }
}

/// Metadata that names two of four, or one of two, for each group.
fn metadata(n: u64, format: Format) -> u32 {
    let choices: &[u32] = if format == Format::TF32 { &[0x4, 0xe] } else { &[0x4, 0x8, 0x9, 0xc, 0xd, 0xe] };
    (0..8).fold(0, |w, g| {
        let z = word(n << 3 | g, Format::S8, false) as usize;
        w << 4 | choices[z % choices.len()]
    })
}

const NAMES: [&str; 22] = [
    "m16n8k16.f32.f16.f16.f32",
    "m16n8k16.f16.f16.f16.f16",
    "m16n8k8.f32.f16.f16.f32",
    "m16n8k8.f16.f16.f16.f16",
    "m16n8k16.f32.bf16.bf16.f32",
    "m16n8k8.f32.bf16.bf16.f32",
    "m16n8k8.f32.tf32.tf32.f32",
    "m16n8k4.f32.tf32.tf32.f32",
    "m16n8k32.f32.f16.f16.f32.sp1",
    "m16n8k16.f32.tf32.tf32.f32.sp0",
    "m16n8k32.f32.e4m3.e5m2.f32",
    "m16n8k32.f16.e5m2.e4m3.f16",
    "m16n8k16.f32.e5m2.e5m2.f32",
    "m16n8k64.f32.e4m3.e4m3.f32.sp0",
    "m16n8k32.s32.s8.s8.s32",
    "m16n8k32.s32.u8.s8.s32.sat",
    "m16n8k16.s32.u8.u8.s32",
    "m16n8k64.s32.s8.u8.s32.sp0",
    "m16n8k32.s32.s4.u4.s32",
    "m16n8k64.s32.u4.s4.s32.sat",
    "m16n8k64.s32.s4.s4.s32.sp1",
    "m16n8k128.s32.u4.u4.s32.sat.sp0",
];

#[test]
fn all_ways_lead_to_the_same_bits() {
    let names: Vec<&str> = ways().iter().map(|(name, _)| *name).collect();
    assert_eq!(names[..3], ["plain", "portable", "as detected"]);
    for name in NAMES {
        let x = Mma::of_name(name).expect("an instruction");
        let [a, b, c, d] = x.counts();
        for round in 0..200u64 {
            let specials = round % 4 == 3;
            let words = |from: usize, count: usize, format: Format| -> Vec<u32> {
                let first = round << 20 | (from as u64) << 10;
                (0..count * LANES).map(|i| word(first + i as u64, format, specials)).collect()
            };
            let mut args = [words(0, a, x.a), words(a, b, x.b), words(a + b, c, x.c)].concat();
            if x.sparse {
                args.extend((0..LANES as u64).map(|lane| metadata(round << 8 | lane, x.a)));
            }
            let mut wanted: Option<Vec<u32>> = None;
            for (way, compute) in ways() {
                let mut got = vec![0; d * LANES];
                let taken = compute(&x, &args, &mut got);
                assert!(taken || specials, "{name} {way}: ordinary numbers are not handled");
                if taken {
                    let wanted = wanted.get_or_insert_with(|| got.clone());
                    assert_eq!(&got, wanted, "{name} {way}, round {round}");
                }
            }
        }
    }
}

/// The value of an element of a register: the whole word as f32, or a half of it as f16.
fn value(format: Format, word: u32, part: usize) -> f64 {
    if format == Format::F32 {
        return f64::from(f32::from_bits(word));
    }
    let bits = word >> (16 * part) & 0xffff;
    let (exponent, fraction) = (bits >> 10 & 31, f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        _ => (1024.0 + fraction) * 2f64.powi(exponent as i32 - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// Relaxed sums differ from the hardware's by a few units in the last place of the sum of the terms'
/// magnitudes, which the same instruction gives if no operand is negative.
#[test]
fn relaxed_sums_are_close() {
    let signs = |format: Format| match format.bits() {
        8 => 0x8080_8080,
        16 => 0x8000_8000,
        _ => 0x8000_0000u32,
    };
    for name in NAMES {
        let x = Mma::of_name(name).expect("an instruction");
        let relaxed = x.relaxed();
        assert_eq!(relaxed.relaxed, x.a.layout().is_some(), "{name}");
        if !relaxed.relaxed {
            continue;
        }
        let [a, b, c, d] = x.counts();
        for round in 0..100u64 {
            let given = |mask: bool| -> Vec<u32> {
                let words = |from: usize, count: usize, format: Format| -> Vec<u32> {
                    let first = round << 20 | (from as u64) << 10;
                    let keep = if mask { !signs(format) } else { !0 };
                    (0..count * LANES).map(|i| word(first + i as u64, format, false) & keep).collect()
                };
                let mut args = [words(0, a, x.a), words(a, b, x.b), words(a + b, c, x.c)].concat();
                if x.sparse {
                    args.extend((0..LANES as u64).map(|lane| metadata(round << 8 | lane, x.a)));
                }
                args
            };
            let run = |compute: tensor::Way, x: &Mma, args: &[u32]| {
                let mut to = vec![0; d * LANES];
                assert!(compute(x, args, &mut to), "{name}: ordinary numbers are not handled");
                to
            };
            let plain = ways()[0].1;
            let (exact, sizes) = (run(plain, &x, &given(false)), run(plain, &x, &given(true)));
            let unit = if x.d == Format::F16 { 2f64.powi(-10) } else { 2f64.powi(-20) };
            for (way, compute) in &ways()[1..] {
                let got = run(*compute, &relaxed, &given(false));
                for at in 0..got.len() {
                    for part in 0..(32 / x.d.bits() as usize) {
                        let [got, exact, size] = [got[at], exact[at], sizes[at]].map(|w| value(x.d, w, part));
                        // Sums of f16 are ordinary only below 65504, and rounded to 2^-24.
                        if size < 65504.0 || x.d == Format::F32 {
                            let error = (got - exact).abs();
                            assert!(error <= unit * size + 2f64.powi(-24), "{name} {way}: {got} {exact}");
                        }
                    }
                }
            }
        }
    }
}
