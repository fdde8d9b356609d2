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
