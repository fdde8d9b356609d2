//! Sums the products of a tile.

use super::decode::{are_numbers, half, ordinary};
use super::{COLUMNS, Left, ROWS, Register, Right, Row};
use crate::format::Format;
use crate::mma::Mma;
use crate::sum;
use crate::warp::Unit;

/// Legal biased f32 exponents of the addend, and the minimum for the largest exponent of a sum.
const SUMS: std::ops::RangeInclusive<u32> = 1..=231;
const LEAST: f32 = 7.888_609e-31;

/// The same for an addend of an f32 accumulator, so that no result is subnormal.
const ADDED: std::ops::RangeInclusive<u32> = 64..=231;

const EXPONENT: u32 = 0x7f80_0000;

/// The smallest normal f16.
const LEAST_HALF: f32 = 6.103_515_6e-5;

/// How an instruction sums its products.
#[derive(Clone, Copy, Debug)]
pub enum Sums {
    /// As integers.
    Integers,
    /// As floats.
    Floats(Floats),
}

/// How floats are summed.
#[derive(Clone, Copy, Debug)]
pub struct Floats {
    /// Fraction bits that are kept when terms are aligned.
    kept: u32,
    /// The smallest exponents of elements of `a` and of `b`, as powers of two.
    least: [f32; 2],
    /// Whether it is an `mma` of bytes, which has two steps and adds `c` at the end.
    bytes: bool,
}

impl Sums {
    pub fn of(x: &Mma, unit: Unit) -> Sums {
        let least = |format: Format| match (format, unit) {
            (Format::E4M3, Unit::Warpgroup) => 1.0 / 64.0,
            (Format::F16 | Format::E4M3 | Format::E5M2, _) => LEAST_HALF,
            _ => 0.0,
        };
        match x.a.layout() {
            None => Sums::Integers,
            Some(_) => Sums::Floats(Floats {
                kept: sum::kept(x, unit) as u32,
                least: [least(x.a), least(x.b)],
                bytes: sum::steps(x, unit) == 2,
            }),
        }
    }
}

/// The power of two of an element's significand; 0 for zero.
#[inline(always)]
fn power(value: f32, least: f32) -> f32 {
    let power = f32::from_bits(value.to_bits() & EXPONENT);
    if value == 0.0 { 0.0 } else { power.max(least) }
}

/// Which products of a row are summed.
const ALL: usize = 0;
/// The lower two of each four.
const LOWER: usize = 1;
/// The upper two of each four.
const UPPER: usize = 2;

/// Calls `f` with the summed elements of a row and the rows of `b` that they are multiplied with.
#[inline(always)]
fn each<const PART: usize, const SPARSE: bool, const S: usize, const K: usize>(
    stored: usize,
    row: &[f32; S],
    meets: &[u8; S],
    mut f: impl FnMut(f32, usize),
) {
    let met = |s: usize| if SPARSE { usize::from(meets[s]) & (K - 1) } else { s & (K - 1) };
    if PART == ALL {
        for (s, &own) in row.iter().enumerate().take(stored) {
            f(own, met(s));
        }
        return;
    }
    for first in (2 * (PART - 1)..stored.min(S).saturating_sub(1)).step_by(4) {
        f(row[first], met(first));
        f(row[first + 1], met(first + 1));
    }
}

/// Sums of products and `c` before truncation; false if the fast path cannot handle one of them.
#[inline(always)]
fn aligned<const PART: usize, const SPARSE: bool, const S: usize, const K: usize>(
    how: Floats,
    a: &Left<S>,
    b: &Right<K>,
    c: &[Row; ROWS],
    least_c: f32,
    out: &mut [[f64; COLUMNS]; ROWS],
) -> bool {
    let mut powers = [[0f32; COLUMNS]; K];
    for (to, from) in powers.iter_mut().zip(&b.values).take(b.k) {
        for (to, &from) in to.iter_mut().zip(from) {
            *to = power(from, how.least[1]);
        }
    }
    let mut own_powers = [[0f32; S]; ROWS];
    for (to, &from) in own_powers.as_flattened_mut().iter_mut().zip(a.values.as_flattened()) {
        *to = power(from, how.least[0]);
    }
    let unit_of_kept = 1.0 / f64::from(f32::from_bits((127 + how.kept) << 23));
    let mut fine = true;
    for (row, (c, out)) in c.iter().zip(out).enumerate() {
        let meets = &a.meets[row];
        let mut largest: Row = std::array::from_fn(|j| power(c[j], least_c));
        each::<PART, SPARSE, S, K>(a.stored, &own_powers[row], meets, |own, met| {
            let powers = &powers[met];
            for j in 0..COLUMNS {
                let p = own * powers[j];
                largest[j] = if p > largest[j] { p } else { largest[j] };
            }
        });
        let mut scale = [0f32; COLUMNS];
        for j in 0..COLUMNS {
            fine &= (largest[j] == 0.0) | (largest[j] >= LEAST);
            // 2^kept divided by the largest power; if that is zero, any finite value works.
            let exponent = (127 + how.kept + 127).wrapping_sub(largest[j].to_bits() >> 23);
            scale[j] = f32::from_bits(if largest[j] == 0.0 { 0 } else { exponent.min(254) << 23 });
        }
        let mut total = [0i32; COLUMNS];
        each::<PART, SPARSE, S, K>(a.stored, &a.values[row], meets, |own, met| {
            let b = &b.values[met];
            for j in 0..COLUMNS {
                let term = own * b[j] * scale[j];
                // SAFETY: the term is finite and below 2^27, since a product is below four times its power of
                // two.
                total[j] = total[j].wrapping_add(unsafe { term.to_int_unchecked::<i32>() });
            }
        });
        for j in 0..COLUMNS {
            // SAFETY: the term is finite and below 2^26.
            let c = unsafe { (c[j] * scale[j]).to_int_unchecked::<i32>() };
            out[j] = (f64::from(total[j]) + f64::from(c)) * (f64::from(largest[j]) * unit_of_kept);
        }
    }
    fine
}

/// Truncates a sum to f32.
#[inline(always)]
fn cut(sum: f64) -> f32 {
    f64::from_bits(sum.to_bits() & !0x1fff_ffff) as f32
}

/// Rounds a sum to f16, to nearest; a result of zero has no sign.
#[inline(always)]
fn rounded(sum: f64) -> u16 {
    let inexact = u32::from(sum.to_bits() & 0x1fff_ffff != 0);
    let bits = cut(sum).to_bits() | inexact;
    let (magnitude, sign) = (bits & 0x7fff_ffff, (bits >> 16) as u16 & 0x8000);
    let normal = (magnitude + 0xfff + (magnitude >> 13 & 1)) >> 13;
    let normal = normal.wrapping_sub(112 << 10).min(0x7c00);
    // The unit in the last place of 0.5 is that of f16's subnormals.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    let value = if magnitude < 0x3880_0000 { subnormal } else { normal } as u16;
    if value == 0 { 0 } else { value | sign }
}

/// Decodes the elements of `c`. Returns whether the fast path can handle all of them.
#[inline(always)]
fn read(halves: bool, range: &std::ops::RangeInclusive<u32>, c: &[Register], to: &mut [Row; ROWS]) -> bool {
    let mut fine = true;
    for (r, register) in c.iter().enumerate() {
        for (lane, &word) in register.iter().enumerate() {
            let (group, own) = (lane / 4, lane % 4);
            if halves {
                fine &= are_numbers(word);
                let row = &mut to[group + 8 * (r % 2)];
                row[own * 2] = half(word as u16);
                row[own * 2 + 1] = half((word >> 16) as u16);
            } else {
                fine &= ordinary(word, range);
                to[group + 8 * (r / 2 % 2)][own * 2 + r % 2] = f32::from_bits(word);
            }
        }
    }
    fine
}

/// Stores 32 bits per element in registers.
#[inline(always)]
fn write(bits: &[[u32; COLUMNS]; ROWS], d: &mut [Register]) {
    for (r, register) in d.iter_mut().enumerate() {
        for (lane, word) in register.iter_mut().enumerate() {
            *word = bits[lane / 4 + 8 * (r / 2 % 2)][lane % 4 * 2 + r % 2];
        }
    }
}

/// Stores 16 bits per element in registers.
#[inline(always)]
fn write_halves(bits: &[[u16; COLUMNS]; ROWS], d: &mut [Register]) {
    for (r, register) in d.iter_mut().enumerate() {
        for (lane, word) in register.iter_mut().enumerate() {
            let row = &bits[lane / 4 + 8 * (r % 2)];
            *word = u32::from(row[lane % 4 * 2]) | u32::from(row[lane % 4 * 2 + 1]) << 16;
        }
    }
}

/// Chains of products that are summed apart, for the sake of accuracy.
const CHAINS: usize = 4;

/// Sums floats by multiply-adds of f32; false if `c` has an infinity or a NaN of f16, or an f32 far from one.
#[inline(always)]
pub fn relaxed<const FMA: bool, const SPARSE: bool, const S: usize, const K: usize>(
    x: &Mma,
    a: &Left<S>,
    b: &Right<K>,
    c: &[Register],
    d: &mut [Register],
) -> bool {
    let mut sums = [[0f32; COLUMNS]; ROWS];
    if !read(x.c == Format::F16, &SUMS, c, &mut sums) {
        return false;
    }
    for ((row, meets), sums) in a.values.iter().zip(&a.meets).zip(&mut sums) {
        let mut chains = [[0f32; COLUMNS]; CHAINS];
        let mut at = 0;
        each::<ALL, SPARSE, S, K>(a.stored, row, meets, |own, met| {
            let (b, chain) = (&b.values[met], &mut chains[at % CHAINS]);
            at += 1;
            for j in 0..COLUMNS {
                chain[j] = if FMA { own.mul_add(b[j], chain[j]) } else { own * b[j] + chain[j] };
            }
        });
        for j in 0..COLUMNS {
            sums[j] += (chains[0][j] + chains[1][j]) + (chains[2][j] + chains[3][j]);
        }
    }
    if x.d == Format::F16 {
        write_halves(&sums.map(|row| row.map(|sum| rounded(f64::from(sum)))), d);
    } else {
        write(&sums.map(|row| row.map(f32::to_bits)), d);
    }
    true
}

/// Sums floats; false if the fast path cannot handle one of them.
#[inline(always)]
pub fn floats<const SPARSE: bool, const S: usize, const K: usize>(
    x: &Mma,
    how: Floats,
    a: &Left<S>,
    b: &Right<K>,
    c: &[Register],
    d: &mut [Register],
) -> bool {
    let halves = (x.c == Format::F16, x.d == Format::F16);
    let mut added = [[0f32; COLUMNS]; ROWS];
    if !read(halves.0, if how.bytes { &ADDED } else { &SUMS }, c, &mut added) {
        return false;
    }
    let mut sums = [[0f64; COLUMNS]; ROWS];
    if how.bytes {
        return bytes::<SPARSE, S, K>(how, halves.1, a, b, &added, d);
    }
    let least = if halves.0 { LEAST_HALF } else { 0.0 };
    if !aligned::<ALL, SPARSE, S, K>(how, a, b, &added, least, &mut sums) {
        return false;
    }
    if halves.1 {
        let mut bits = [[0u16; COLUMNS]; ROWS];
        for (to, from) in bits.iter_mut().flatten().zip(sums.iter().flatten()) {
            *to = rounded(*from);
        }
        write_halves(&bits, d);
    } else {
        // Clears the fraction bits beyond those that were kept.
        let fewer = (1u32 << 23u32.saturating_sub(how.kept)) - 1;
        let mut bits = [[0u32; COLUMNS]; ROWS];
        for (to, from) in bits.iter_mut().flatten().zip(sums.iter().flatten()) {
            *to = cut(*from).to_bits() & !fewer;
        }
        write(&bits, d);
    }
    true
}

/// Sums the bytes of an `mma`: the lower two of each four first, then the upper two; `c` is added like an
/// ordinary float.
#[inline(always)]
fn bytes<const SPARSE: bool, const S: usize, const K: usize>(
    how: Floats,
    halves: bool,
    a: &Left<S>,
    b: &Right<K>,
    c: &[Row; ROWS],
    d: &mut [Register],
) -> bool {
    let mut before = [[0f32; COLUMNS]; ROWS];
    let mut sums = [[0f64; COLUMNS]; ROWS];
    let mut fine = true;
    let least = if halves { LEAST_HALF } else { 0.0 };
    for step in 0..2 {
        fine &= match step {
            0 => aligned::<LOWER, SPARSE, S, K>(how, a, b, &before, least, &mut sums),
            _ => aligned::<UPPER, SPARSE, S, K>(how, a, b, &before, least, &mut sums),
        };
        for (to, from) in before.iter_mut().flatten().zip(sums.iter().flatten()) {
            *to = if halves {
                let bits = rounded(*from);
                fine &= bits & 0x7c00 != 0x7c00;
                half(bits)
            } else {
                cut(*from)
            };
        }
    }
    if halves {
        let mut bits = [[0u16; COLUMNS]; ROWS];
        for ((to, sum), c) in bits.iter_mut().flatten().zip(before.iter().flatten()).zip(c.iter().flatten()) {
            *to = rounded(f64::from(sum + c));
        }
        write_halves(&bits, d);
    } else {
        let mut bits = [[0u32; COLUMNS]; ROWS];
        for ((to, sum), c) in bits.iter_mut().flatten().zip(before.iter().flatten()).zip(c.iter().flatten()) {
            *to = (sum + c).to_bits();
        }
        write(&bits, d);
    }
    fine
}

/// Sums integers.
#[inline(always)]
pub fn integers<const FMA: bool, const SPARSE: bool, const S: usize, const K: usize>(
    x: &Mma,
    a: &Left<S>,
    b: &Right<K>,
    c: &[Register],
    d: &mut [Register],
) -> bool {
    let mut sums = [[0f32; COLUMNS]; ROWS];
    for ((row, meets), sums) in a.values.iter().zip(&a.meets).zip(&mut sums) {
        each::<ALL, SPARSE, S, K>(a.stored, row, meets, |own, met| {
            let b = &b.values[met];
            for j in 0..COLUMNS {
                // At most 64 products below 2^16: exact.
                sums[j] = if FMA { own.mul_add(b[j], sums[j]) } else { own * b[j] + sums[j] };
            }
        });
    }
    for (r, (to, c)) in d.iter_mut().zip(c).enumerate() {
        for (lane, (to, &c)) in to.iter_mut().zip(c).enumerate() {
            let sum = sums[lane / 4 + 8 * (r / 2 % 2)][lane % 4 * 2 + r % 2] as i32;
            let c = c as i32;
            *to = (if x.saturate { c.saturating_add(sum) } else { c.wrapping_add(sum) }) as u32;
        }
    }
    true
}
