//! Products of f16, bf16 and tf32 by SIMD, where the sum of `sum.rs` has a shorter way to the same bits.
//!
//! Where exponents are far from the ends of f32's range, a product of two elements is an exact f32, the largest exponent is the largest product of the
//! elements' powers of two, and cutting a term is a conversion to an integer. What is outside goes the plain way. No operand or result of these
//! operations is subnormal, so that they do not depend on the processor's flushing.

use crate::LANES;
use crate::format::Format;
use crate::mma::Mma;

/// Rows and columns of a tile, and products of a sum at most: those of one step, whose sum fits an i32.
const ROWS: usize = 16;
const COLUMNS: usize = 8;
const PRODUCTS: usize = 16;

/// Biased exponents of an f32 that elements of bf16 and tf32 may have: 2^±50.
const ELEMENTS: std::ops::RangeInclusive<u32> = 77..=177;

/// The same of what is added to the products, and the least of the largest exponent of a sum.
const SUMS: std::ops::RangeInclusive<u32> = 1..=231;
const LEAST: f32 = 7.888_609e-31;

/// Fraction bits that are kept where terms are aligned, as a factor.
const KEPT: f32 = 33_554_432.0;

/// A row of `b`, `c` or `d`.
type Row = [f32; COLUMNS];

/// A tile of a product.
#[derive(Debug)]
struct Tile {
    /// Row by row.
    a: [[f32; PRODUCTS]; ROWS],
    /// Row by row: along `k`.
    b: [Row; PRODUCTS],
    c: [Row; ROWS],
    k: usize,
    /// `a` and `b` are f16, and `c` is.
    halves: bool,
    sums_are_halves: bool,
}

const EXPONENT: u32 = 0x7f80_0000;

/// The power of two in front of an element's significand, 0 of zero. The exponents of halves end at −14.
#[inline(always)]
fn power(value: f32, halves: bool) -> f32 {
    let power = f32::from_bits(value.to_bits() & EXPONENT);
    let least = if halves { 6.103_515_6e-5 } else { 0.0 };
    if value == 0.0 { 0.0 } else { power.max(least) }
}

/// An f16's bits as an f32's; infinities and NaNs are found by [`ordinary`].
#[inline(always)]
fn half(bits: u16) -> f32 {
    let magnitude = u32::from(bits & 0x7fff);
    let normal = f32::from_bits((magnitude << 13).wrapping_add(112 << 23));
    let subnormal = magnitude as i32 as f32 * 5.960_464_5e-8;
    let value = if magnitude < 0x400 { subnormal } else { normal };
    f32::from_bits(value.to_bits() | u32::from(bits & 0x8000) << 16)
}

/// Whether a value goes this way: a zero, or of an exponent in the range.
#[inline(always)]
fn ordinary(bits: u32, range: &std::ops::RangeInclusive<u32>) -> bool {
    let exponent = bits >> 23 & 255;
    bits << 1 == 0 || (*range.start() <= exponent && exponent <= *range.end())
}

impl Tile {
    /// Sums of all rows, before they are cut; false where one of them does not go this way.
    #[inline(always)]
    fn sums(&self, out: &mut [[f64; COLUMNS]; ROWS]) -> bool {
        let mut powers = [[0f32; COLUMNS]; PRODUCTS];
        for (to, from) in powers.iter_mut().zip(&self.b).take(self.k) {
            for (to, &from) in to.iter_mut().zip(from) {
                *to = power(from, self.halves);
            }
        }
        let mut fine = true;
        for ((a, c), out) in self.a.iter().zip(&self.c).zip(out) {
            let mut largest: Row = std::array::from_fn(|j| power(c[j], self.sums_are_halves));
            for (&a, powers) in a.iter().zip(&powers).take(self.k) {
                let own = power(a, self.halves);
                for j in 0..COLUMNS {
                    let p = own * powers[j];
                    largest[j] = if p > largest[j] { p } else { largest[j] };
                }
            }
            let mut scale = [0f32; COLUMNS];
            for j in 0..COLUMNS {
                fine &= largest[j] == 0.0 || largest[j] >= LEAST;
                // 2^25 divided by the largest power; of zero, anything finite.
                let exponent = (127 + 25 + 127u32).wrapping_sub(largest[j].to_bits() >> 23);
                scale[j] = f32::from_bits(if largest[j] == 0.0 { 0 } else { exponent.min(254) << 23 });
            }
            let mut total = [0i32; COLUMNS];
            for (&a, b) in a.iter().zip(&self.b).take(self.k) {
                for j in 0..COLUMNS {
                    let term = a * b[j] * scale[j];
                    // SAFETY: a finite term below 2^27: a product is below four times its power of two.
                    total[j] = total[j].wrapping_add(unsafe { term.to_int_unchecked::<i32>() });
                }
            }
            for j in 0..COLUMNS {
                // SAFETY: a finite term below 2^26.
                let c = unsafe { (c[j] * scale[j]).to_int_unchecked::<i32>() };
                let unit = f64::from(largest[j]) * (1.0 / f64::from(KEPT));
                out[j] = (f64::from(total[j]) + f64::from(c)) * unit;
            }
        }
        fine
    }
}

/// A sum cut to an f32.
#[inline(always)]
fn cut(sum: f64) -> f32 {
    f64::from_bits(sum.to_bits() & !0x1fff_ffff) as f32
}

/// A sum rounded to an f16, to nearest; what becomes zero has no sign.
#[inline(always)]
fn rounded(sum: f64) -> u16 {
    let inexact = u32::from(sum.to_bits() & 0x1fff_ffff != 0);
    let bits = cut(sum).to_bits() | inexact;
    let (magnitude, sign) = (bits & 0x7fff_ffff, (bits >> 16) as u16 & 0x8000);
    let normal = (magnitude + 0xfff + (magnitude >> 13 & 1)) >> 13;
    let normal = normal.wrapping_sub(112 << 10).min(0x7c00);
    // Half has the last place of an f16's subnormals.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    let value = if magnitude < 0x3880_0000 { subnormal } else { normal } as u16;
    if value == 0 { 0 } else { value | sign }
}

/// The words of a register.
type Register = [u32; LANES];

/// The tile of an instruction's registers; none where an element does not go this way.
#[inline(always)]
fn read(x: &Mma, a: &[Register], b: &[Register], c: &[Register]) -> Option<Tile> {
    let mut t = Tile {
        a: [[0.0; PRODUCTS]; ROWS],
        b: [[0.0; COLUMNS]; PRODUCTS],
        c: [[0.0; COLUMNS]; ROWS],
        k: usize::from(x.k),
        halves: x.a == Format::F16,
        sums_are_halves: x.c == Format::F16,
    };
    let mut fine = true;
    // Elements of eight rows, or columns, that lie side by side in a register.
    let run = if x.a == Format::TF32 { 4 } else { 8 };
    let mut decoded = [0f32; 2 * LANES];
    for (r, register) in a.iter().chain(b).enumerate() {
        match x.a {
            Format::F16 => {
                for (to, word) in decoded.chunks_exact_mut(2).zip(register) {
                    fine &= word & 0x7c00 != 0x7c00 && word & 0x7c00_0000 != 0x7c00_0000;
                    to[0] = half(*word as u16);
                    to[1] = half((word >> 16) as u16);
                }
            }
            Format::BF16 => {
                for (to, word) in decoded.chunks_exact_mut(2).zip(register) {
                    let (low, high) = (word << 16, word & 0xffff_0000);
                    fine &= ordinary(low, &ELEMENTS) & ordinary(high, &ELEMENTS);
                    to[0] = f32::from_bits(low);
                    to[1] = f32::from_bits(high);
                }
            }
            _ => {
                for (to, word) in decoded.iter_mut().zip(register) {
                    let bits = word & !0x1fff;
                    fine &= ordinary(bits, &ELEMENTS);
                    *to = f32::from_bits(bits);
                }
            }
        }
        for (major, from) in decoded.chunks_exact(run).take(8).enumerate() {
            match r.checked_sub(a.len()) {
                None => t.a[major + 8 * (r % 2)][run * (r / 2)..][..run].copy_from_slice(from),
                Some(r) => {
                    for (to, &from) in t.b[run * r..].iter_mut().zip(from) {
                        to[major] = from;
                    }
                }
            }
        }
    }
    for (r, register) in c.iter().enumerate() {
        for (lane, &word) in register.iter().enumerate() {
            let (group, own) = (lane / 4, lane % 4);
            if x.c == Format::F16 {
                fine &= word & 0x7c00 != 0x7c00 && word & 0x7c00_0000 != 0x7c00_0000;
                t.c[group + 8 * r][own * 2] = half(word as u16);
                t.c[group + 8 * r][own * 2 + 1] = half((word >> 16) as u16);
            } else {
                fine &= ordinary(word, &SUMS);
                t.c[group + 8 * (r / 2)][own * 2 + r % 2] = f32::from_bits(word);
            }
        }
    }
    fine.then_some(t)
}

#[inline(always)]
fn computed(x: &Mma, a: &[Register], b: &[Register], c: &[Register], d: &mut [Register]) -> bool {
    let Some(tile) = read(x, a, b, c) else { return false };
    let mut sums = [[0f64; COLUMNS]; ROWS];
    if !tile.sums(&mut sums) {
        return false;
    }
    if x.d == Format::F16 {
        let mut bits = [[0u16; COLUMNS]; ROWS];
        for (to, from) in bits.iter_mut().flatten().zip(sums.iter().flatten()) {
            *to = rounded(*from);
        }
        for (r, register) in d.iter_mut().enumerate() {
            for (lane, word) in register.iter_mut().enumerate() {
                let row = &bits[lane / 4 + 8 * r];
                *word = u32::from(row[lane % 4 * 2]) | u32::from(row[lane % 4 * 2 + 1]) << 16;
            }
        }
        return true;
    }
    let mut bits = [[0u32; COLUMNS]; ROWS];
    for (to, from) in bits.iter_mut().flatten().zip(sums.iter().flatten()) {
        *to = cut(*from).to_bits();
    }
    for (r, register) in d.iter_mut().enumerate() {
        for (lane, word) in register.iter_mut().enumerate() {
            *word = bits[lane / 4 + 8 * (r / 2)][lane % 4 * 2 + r % 2];
        }
    }
    true
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Mma, Register, computed};

    /// [`computed`] with the vectors of AVX-512.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi2")]
    pub fn avx512(x: &Mma, a: &[Register], b: &[Register], c: &[Register], d: &mut [Register]) -> bool {
        computed(x, a, b, c, d)
    }

    /// [`computed`] with the vectors of AVX2.
    #[target_feature(enable = "avx2,fma,bmi2")]
    pub fn avx2(x: &Mma, a: &[Register], b: &[Register], c: &[Register], d: &mut [Register]) -> bool {
        computed(x, a, b, c, d)
    }
}

/// Computes an instruction; false where it does not go this way, and nothing is done. Operands as [`crate::Matrix::run`] has them.
pub(crate) fn run(x: &Mma, args: &[u32], results: &mut [u32]) -> bool {
    let floats = matches!(x.a, Format::F16 | Format::BF16 | Format::TF32);
    if !floats || x.sparse || (x.m, x.n) != (16, 8) || usize::from(x.k) > PRODUCTS {
        return false;
    }
    let [a, b, c, d] = x.counts();
    let (registers, _) = args.as_chunks::<LANES>();
    let (to, _) = results.as_chunks_mut::<LANES>();
    let (Some(ra), Some(rb), Some(rc), Some(rd)) =
        (registers.get(..a), registers.get(a..a + b), registers.get(a + b..a + b + c), to.get_mut(..d))
    else {
        return false;
    };
    #[cfg(target_arch = "x86_64")]
    {
        let has512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        let has2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("bmi2");
        if has512 && has2 {
            // SAFETY: the processor has these features.
            return unsafe { x86::avx512(x, ra, rb, rc, rd) };
        }
        if has2 {
            // SAFETY: the processor has these features.
            return unsafe { x86::avx2(x, ra, rb, rc, rd) };
        }
    }
    computed(x, ra, rb, rc, rd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warp;

    /// A word of a sequence; floats of it have exponents from all over their range, most of them near one.
    fn word(n: u64, format: Format, specials: bool) -> u32 {
        let mut z = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let z = z ^ (z >> 31);
        let kind = z >> 56;
        let raw = z as u32;
        let pair = |near: u32, keep: u32, step: u32| (near + (z >> 40 & 7) as u32 * step) | raw & keep;
        match format {
            _ if specials && kind < 3 => raw,
            _ if kind < 40 => 0,
            Format::F16 if kind < 120 => raw & 0xbbff_bbff,
            Format::F16 => pair(0x3000_3000, 0x83ff_83ff, 0x0400_0400),
            Format::BF16 => pair(0x3c80_3c80, 0x807f_807f, 0x0080_0080),
            _ => pair(0x3c80_0000, 0x807f_ffff, 0x0080_0000),
        }
    }

    /// Every way gives what the plain way gives, and ordinary numbers go this way.
    #[test]
    fn all_ways_lead_to_the_same_bits() {
        let names = [
            "m16n8k16.f32.f16.f16.f32",
            "m16n8k16.f16.f16.f16.f16",
            "m16n8k8.f32.f16.f16.f32",
            "m16n8k8.f16.f16.f16.f16",
            "m16n8k16.f32.bf16.bf16.f32",
            "m16n8k8.f32.bf16.bf16.f32",
            "m16n8k8.f32.tf32.tf32.f32",
            "m16n8k4.f32.tf32.tf32.f32",
        ];
        for name in names {
            let x = Mma::of_name(name).expect("an instruction");
            let [a, b, c, d] = x.counts();
            for round in 0..400u64 {
                let specials = round % 4 == 3;
                let words = |from: usize, count: usize, format: Format| -> Vec<u32> {
                    let first = round << 20 | (from as u64) << 10;
                    (0..count * LANES).map(|i| word(first + i as u64, format, specials)).collect()
                };
                let args = [words(0, a, x.a), words(a, b, x.b), words(a + b, c, x.c)].concat();
                let mut wanted = vec![0; d * LANES];
                warp::plain(&x, &args, &mut wanted);
                let (registers, _) = args.as_chunks::<LANES>();
                let (ra, rest) = registers.split_at(a);
                let (rb, rc) = rest.split_at(b);
                let check = |how: &str, way: &dyn Fn(&mut [Register]) -> bool| {
                    let mut got = vec![[0u32; LANES]; d];
                    let taken = way(&mut got);
                    assert!(taken || specials, "{name} {how}: ordinary numbers do not go this way");
                    if taken {
                        assert_eq!(got.concat(), wanted, "{name} {how}, round {round}");
                    }
                };
                check("portable", &|to| computed(&x, ra, rb, rc, to));
                #[cfg(target_arch = "x86_64")]
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the processor has these features.
                    check("avx2", &|to| unsafe { x86::avx2(&x, ra, rb, rc, to) });
                }
                check("as detected", &|to| {
                    let mut flat = vec![0; d * LANES];
                    let taken = run(&x, &args, &mut flat);
                    to.iter_mut().zip(flat.chunks(LANES)).for_each(|(t, f)| t.copy_from_slice(f));
                    taken
                });
            }
        }
    }
}
