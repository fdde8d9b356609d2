//! The special function unit: rcp, rsqrt, sqrt, lg2, ex2, sin, cos and tanh of f32, bit-exact with an H200.
//!
//! Its structure is that of Oberman and Siu, "A high-performance area-efficient multifunction interpolator"
//! (ARITH 2005): the operand's upper bits select a piece, and the rest `x` (16 bits for 1/x, otherwise 17)
//! gives `c0 + c1 x + c2 s(x)`, whose bits below the last place of the result are dropped. `s` is the square
//! of the upper 16 bits of `x` without the partial products below 2^17 ([`square`]). Subnormal operands and
//! results are zero.
//!
//! The coefficients were derived from the hardware's answers. They reproduce each of the 2^32 answers;
//! `tests/hw/functions.c` checks that.

mod tables;

pub use tables::Piece;

use crate::op::SfuOp;

/// The canonical NaN.
const NAN: u32 = 0x7fff_ffff;
const SIGN: u32 = 1 << 31;
const INFINITY: u32 = 0x7f80_0000;
const ONE: u32 = 0x3f80_0000;
/// The significand's leading bit.
const LEADING: u32 = 1 << 23;
const FRACTION: u32 = LEADING - 1;

/// Number of bits of the sum below the table's unit.
pub const GUARD: u32 = 17;
/// Number of bits of the sum that `lg2` drops before it knows the sign.
pub const LG2_DROPPED: u32 = 4;
/// The inverse of a turn in radians, rounded toward zero, by which sin and cos multiply first.
pub const TURNS: f32 = 0.159_154_94;
/// Exponent field of the smallest operand for which `tanh` is not the operand itself.
pub const TANH_FIRST: u32 = 119;
/// For `tanh`, by exponent from 2^-8 on: log2 of the number of pieces, and the index of the first one.
pub const TANH_BINADES: [(u32, u32); 11] =
    [(0, 0), (0, 1), (0, 2), (1, 3), (1, 5), (2, 7), (2, 11), (2, 15), (3, 19), (4, 27), (3, 43)];

/// The pieces of a function. `rsqrt` and `sqrt` have 64 for [1, 2) and 64 for [2, 4).
pub const fn pieces(op: SfuOp) -> &'static [Piece] {
    match op {
        SfuOp::Rcp => &tables::RECIPROCAL,
        SfuOp::Rsqrt => &tables::RSQRT,
        SfuOp::Sqrt => &tables::SQRT,
        SfuOp::Lg2 => &tables::LG2,
        SfuOp::Ex2 => &tables::EX2,
        SfuOp::Sin | SfuOp::Cos => &tables::SINE,
        SfuOp::Tanh => &tables::TANH,
    }
}

/// The unit's square of a 16-bit number, in units of 2^17: the sum of the partial products that are not below
/// the unit.
pub fn square(y: u32) -> u32 {
    (9..16)
        .filter(|j| y >> j & 1 == 1)
        .map(|j| (1 << (2 * j - 17)) + ((y & ((1 << j) - 1)) >> (16 - j)))
        .sum()
}

/// `c0 + c1 x + c2 s(x)`, in 2^-17 of the table's unit; `x` has `bits` bits.
fn interpolate(op: SfuOp, piece: u32, x: u32, bits: u32) -> i64 {
    let Some(&(c0, c1, c2)) = pieces(op).get(piece as usize) else { return 0 };
    c0 + i64::from(c1) * i64::from(x) + i64::from(c2) * i64::from(square(x >> (bits - 16)))
}

/// Selects the piece by the upper bits of a 23-bit fraction.
fn by_fraction(op: SfuOp, first: u32, fraction: u32) -> i64 {
    interpolate(op, first + (fraction >> 17), fraction & 0x1_ffff, 17)
}

/// A normal number whose significand is the sum.
fn with_exponent(exponent: u32, sum: i64) -> u32 {
    (exponent << 23).wrapping_add((sum >> GUARD) as u32).wrapping_sub(LEADING)
}

/// `sum * 2^unit`, truncated to 24 bits.
fn cut(sum: i64, unit: i32) -> u32 {
    if sum <= 0 {
        return 0;
    }
    let top = 63 - sum.leading_zeros() as i32;
    let significand = if top >= 23 { sum >> (top - 23) } else { sum << (23 - top) };
    (((top + unit + 127) as u32) << 23) + (significand as u32 - LEADING)
}

/// Computes an operation, from bits to bits.
pub fn eval(op: SfuOp, bits: u32) -> u32 {
    let (sign, exponent, fraction) = (bits & SIGN, bits >> 23 & 0xff, bits & FRACTION);
    if exponent == 255 && fraction != 0 {
        return NAN;
    }
    match op {
        SfuOp::Rcp => match exponent {
            0 => sign | INFINITY,
            255 => sign,
            e if fraction == 0 => sign | 254u32.saturating_sub(e) << 23,
            e if e >= 253 => sign,
            e => sign | with_exponent(253 - e, interpolate(op, fraction >> 16, fraction & 0xffff, 16)),
        },
        SfuOp::Rsqrt | SfuOp::Sqrt if exponent == 0 => sign | if op == SfuOp::Rsqrt { INFINITY } else { 0 },
        SfuOp::Lg2 if exponent == 0 => SIGN | INFINITY,
        SfuOp::Rsqrt | SfuOp::Sqrt | SfuOp::Lg2 if sign != 0 => NAN,
        SfuOp::Rsqrt if exponent == 255 => 0,
        SfuOp::Sqrt | SfuOp::Lg2 if exponent == 255 => bits,
        SfuOp::Rsqrt | SfuOp::Sqrt => root(op, exponent, fraction),
        SfuOp::Lg2 if bits == ONE => 0,
        SfuOp::Lg2 => {
            let whole = (i64::from(exponent) - 127) << (23 + GUARD);
            let sum = (whole + by_fraction(op, 0, fraction)) >> LG2_DROPPED;
            // A negative sum is complemented instead of negated.
            let (sign, size) = if sum < 0 { (SIGN, !sum) } else { (0, sum) };
            sign | cut(size, LG2_DROPPED as i32 - 23 - GUARD as i32)
        }
        SfuOp::Ex2 => exponential(sign, exponent, fraction),
        SfuOp::Sin | SfuOp::Cos if exponent == 255 => NAN,
        SfuOp::Sin | SfuOp::Cos => circular(op, sign, exponent, fraction),
        SfuOp::Tanh => match exponent {
            ..TANH_FIRST => bits,
            130.. => sign | ONE,
            e => {
                let (log, first) = TANH_BINADES[(e - TANH_FIRST) as usize];
                let upper = fraction >> (6 - log);
                sign | cut(interpolate(op, first + (upper >> 17), upper & 0x1_ffff, 17), -24 - GUARD as i32)
            }
        },
    }
}

/// The root of a positive normal number.
fn root(op: SfuOp, exponent: u32, fraction: u32) -> u32 {
    // The operand is in [1, 2) or [2, 4) times 4^half.
    let odd = !exponent & 1;
    let half = exponent.div_ceil(2);
    let of_power = odd == 0 && fraction == 0;
    match op {
        SfuOp::Rsqrt if of_power => (191 - half) << 23,
        SfuOp::Rsqrt => with_exponent(190 - half, by_fraction(op, 64 * odd, fraction)),
        _ => with_exponent(half + 63, by_fraction(op, 64 * odd, fraction)),
    }
}

fn exponential(sign: u32, exponent: u32, fraction: u32) -> u32 {
    if exponent >= 135 {
        return if sign != 0 { 0 } else { INFINITY };
    }
    // The operand in units of 2^-23; a negative one that is not an integer is complemented instead of
    // negated.
    let significand = if exponent == 0 { 0 } else { i64::from(fraction | LEADING) };
    let size = match exponent {
        127.. => significand << (exponent - 127),
        _ => significand >> (127 - exponent).min(63),
    };
    let x = match sign {
        0 => size,
        _ if size & i64::from(FRACTION) == 0 => -size,
        _ => !size,
    };
    match (x >> 23) + 127 {
        ..=0 => 0,
        255.. => INFINITY,
        e => with_exponent(e as u32, by_fraction(SfuOp::Ex2, 0, x as u32 & FRACTION)),
    }
}

/// Sine and cosine of an angle in turns.
fn circular(op: SfuOp, sign: u32, exponent: u32, fraction: u32) -> u32 {
    // In units of 2^-25, without whole turns.
    let significand = if exponent == 0 { 0 } else { u64::from(fraction | LEADING) };
    let place = exponent as i32 - 127 - 23 + 25;
    let turn = match place {
        ..0 => significand >> place.unsigned_abs().min(63),
        0..25 => significand << place,
        _ => 0,
    } as u32;
    let cosine = op == SfuOp::Cos;
    let quarter = (turn >> 23 & 3) + u32::from(cosine);
    let mut sign = if cosine { 0 } else { sign };
    if quarter & 2 != 0 {
        sign ^= SIGN;
    }
    let way = turn & FRACTION;
    match (quarter & 1, way) {
        (0, _) => sign | cut(by_fraction(op, 0, way), -24 - GUARD as i32),
        (_, 0) => sign | ONE,
        _ => sign | cut(by_fraction(op, 0, !way & FRACTION), -24 - GUARD as i32),
    }
}
