//! How products are summed.
//!
//! A float sum is not a chain of multiply-adds: the exact products of a step and the previous sum are aligned
//! to the largest exponent among them, truncated to a fixed number of fraction bits, summed exactly, and
//! truncated to the format of the sum.

use rustc_apfloat::Float as _;
use rustc_apfloat::ieee::Double;

use crate::format::{Float, Format};
use crate::mma::{Bits, Kind, Mma, Round};
use crate::scale;
use crate::warp::Unit;

/// The NaN that float sums return.
const NAN: u32 = 0x7fff_ffff;

/// Fraction bits that are kept when terms are aligned.
pub(crate) fn kept(x: &Mma, unit: Unit) -> i32 {
    match unit {
        Unit::Warpgroup if x.a.bits() == 8 => 13,
        _ => 25,
    }
}

/// Number of steps of a sum.
pub(crate) fn steps(x: &Mma, unit: Unit) -> usize {
    match x.a {
        // Bytes are converted to f16: the lower two of each register first, then the upper two.
        Format::E4M3 | Format::E5M2 if unit == Unit::Warp && x.kind == Kind::Plain => 2,
        _ => 1,
    }
}

/// ± `magnitude` × 2^`exponent`.
#[derive(Clone, Copy, Debug, Default)]
struct Term {
    negative: bool,
    magnitude: u64,
    /// Exponent of the unit of a significand with the fraction bits in `fraction`.
    exponent: i32,
    fraction: i32,
}

/// Infinities and NaNs in a sum, which are tracked separately.
#[derive(Clone, Copy, Debug, Default)]
struct Specials {
    nan: bool,
    positive: bool,
    negative: bool,
}

impl Specials {
    fn infinite(&mut self, negative: bool) {
        if negative {
            self.negative = true;
        } else {
            self.positive = true;
        }
    }

    /// The sum's value if it is not finite.
    fn value(self) -> Option<Float> {
        match self {
            Specials { nan: true, .. } | Specials { positive: true, negative: true, .. } => Some(Float::Nan),
            Specials { positive: true, .. } => Some(Float::Infinite { negative: false }),
            Specials { negative: true, .. } => Some(Float::Infinite { negative: true }),
            _ => None,
        }
    }
}

/// The product of two floats.
fn product(specials: &mut Specials, a: Float, b: Float, fraction: i32) -> Option<Term> {
    use Float::*;
    match (a, b) {
        (
            Number { negative: na, exponent: ea, significand: sa },
            Number { negative: nb, exponent: eb, significand: sb },
        ) => {
            let magnitude = sa * sb;
            (magnitude != 0).then_some(Term { negative: na != nb, magnitude, exponent: ea + eb, fraction })
        }
        (Nan, _) | (_, Nan) => {
            specials.nan = true;
            None
        }
        (Infinite { .. }, Number { significand: 0, .. })
        | (Number { significand: 0, .. }, Infinite { .. }) => {
            specials.nan = true;
            None
        }
        (Infinite { negative }, Number { negative: other, .. } | Infinite { negative: other })
        | (Number { negative: other, .. }, Infinite { negative }) => {
            specials.infinite(negative != other);
            None
        }
    }
}

/// Maximum number of terms in a step: 64 products and the previous sum.
const TERMS: usize = 65;

/// `c` plus the products of `a` and `b`, in the format of `d`.
pub fn floats(x: &Mma, unit: Unit, a: &[Float], b: &[Float], c: u64) -> u64 {
    let (Some(la), Some(lb)) = (x.a.layout(), x.b.layout()) else { return 0 };
    let products = (la.fraction + lb.fraction) as i32 + 2 * scale::fraction(x);
    // The sum of bytes begins at zero; the previous value is added at the end like an ordinary float.
    let bytes = unit == Unit::Warp && x.kind == Kind::Plain && x.a.bits() == 8;
    let (mut sum, mut format) = if bytes { (0, x.d) } else { (c, x.c) };
    let steps = steps(x, unit);
    for step in 0..steps {
        let mut specials = Specials::default();
        let mut terms = [Term::default(); TERMS];
        let mut count = 0;
        let mut add = |term: Term| {
            if let Some(to) = terms.get_mut(count) {
                *to = term;
                count += 1;
            }
        };
        for (k, (&a, &b)) in a.iter().zip(b).enumerate() {
            if steps == 1 || k / 2 % 2 == step {
                product(&mut specials, a, b, products).into_iter().for_each(&mut add);
            }
        }
        let fraction = format.layout().map_or(0, |l| l.fraction as i32);
        match format.float(sum) {
            Float::Number { significand: 0, .. } => {}
            Float::Number { negative, exponent, significand } => {
                add(Term { negative, magnitude: significand, exponent, fraction });
            }
            Float::Infinite { negative } => specials.infinite(negative),
            Float::Nan => specials.nan = true,
        }
        format = x.d;
        sum = match specials.value() {
            None => aligned(&terms[..count], kept(x, unit), x.d),
            Some(special) => encode(special, x.d),
        };
    }
    if bytes { added(x.d, sum, c) } else { sum }
}

/// Decodes an element of `a` or `b`. Bytes are converted to f16 first, where the smallest numbers of e4m3 are
/// not subnormal.
pub fn element(format: Format, unit: Unit, bits: u64) -> Float {
    match format.float(bits) {
        Float::Number { negative, mut exponent, mut significand }
            if unit == Unit::Warp && format == Format::E4M3 && significand != 0 =>
        {
            while significand < 8 {
                significand <<= 1;
                exponent -= 1;
            }
            Float::Number { negative, exponent, significand }
        }
        other => other,
    }
}

/// The encoding of an infinity, or of the NaN of sums.
fn encode(special: Float, format: Format) -> u64 {
    let (infinity, nan, sign) =
        if format == Format::F16 { (0x7c00, 0x7fff, 15) } else { (0x7f80_0000, 0x7fff_ffff, 31) };
    match special {
        Float::Infinite { negative } => infinity | u64::from(negative) << sign,
        _ => nan,
    }
}

/// The sum of terms, each truncated below the largest exponent; an f32 result is truncated, an f16 rounded to
/// nearest.
fn aligned(terms: &[Term], kept: i32, format: Format) -> u64 {
    let Some(top) = terms.iter().map(|t| t.exponent).max() else { return 0 };
    let total: i64 = terms
        .iter()
        .map(|t| {
            // The unit of the term is 2^(exponent - fraction), that of the sum 2^(top - kept).
            let shift = t.exponent - t.fraction - (top - kept);
            // Products and sums have at most 24 bits above the last kept bit.
            let magnitude = t.magnitude as i64;
            let cut = if shift >= 0 { magnitude << shift.min(32) } else { magnitude >> (-shift).min(63) };
            if t.negative { -cut } else { cut }
        })
        .sum();
    let magnitude = total.unsigned_abs();
    if magnitude == 0 {
        return 0;
    }
    if format == Format::F16 {
        // A result of zero has no sign.
        let bits = round_to_f16(magnitude, top - kept);
        let sign = if total < 0 && bits != 0 { 0x8000 } else { 0 };
        return u64::from(bits | sign);
    }
    // An f32 result has no more fraction bits than were kept.
    let fewer = (1u32 << (23 - kept).max(0)) - 1;
    u64::from(cut_to_f32(magnitude, top - kept) & !fewer | u32::from(total < 0) << 31)
}

/// `magnitude` × 2^`exponent` as an f32 without sign, truncated.
fn cut_to_f32(magnitude: u64, exponent: i32) -> u32 {
    let length = 64 - magnitude.leading_zeros() as i32;
    // The exponent of the leading bit, and of the last bit that an f32 keeps.
    let leading = length - 1 + exponent;
    if leading > 127 {
        return f32::INFINITY.to_bits();
    }
    let last = (leading - 23).max(-149);
    let shift = last - exponent;
    let significand =
        if shift >= 0 { magnitude >> shift.min(63) } else { magnitude << (-shift).min(63) } as u32;
    if leading < -126 {
        return significand;
    }
    (((leading + 127) as u32) << 23) | (significand & 0x7f_ffff)
}

/// `significand` × 2^`exponent` as an f16 without sign, rounded to nearest, ties to even.
fn round_to_f16(significand: u64, exponent: i32) -> u16 {
    const FRACTION: i32 = 10;
    const BIAS: i32 = 15;
    let leading = 63 - significand.leading_zeros() as i32 + exponent;
    let last = (leading - FRACTION).max(1 - BIAS - FRACTION);
    let shift = last - exponent;
    let kept = if shift <= 0 {
        significand << (-shift).min(63)
    } else if shift > 62 {
        0
    } else {
        let (kept, rest, half) =
            (significand >> shift, significand & ((1 << shift) - 1), 1u64 << (shift - 1));
        kept + u64::from(rest > half || rest == half && kept & 1 == 1)
    };
    // A carry propagates into the exponent; an exponent that is too large means infinity.
    let biased = i64::from(last + FRACTION + BIAS);
    let bits = if kept >> FRACTION == 0 {
        kept as i64
    } else {
        (biased << FRACTION) + kept as i64 - (1 << FRACTION)
    };
    bits.min(0x7c00) as u16
}

/// Products of four f16 as f32 multiply-adds, which sm_70's instruction is expanded to.
pub fn chained(x: &Mma, a: &[u64], b: &[u64], c: u64) -> u64 {
    let wide = |format: Format, bits: u64| {
        if format == Format::F16 { half_to_f32(bits as u16) } else { f32::from_bits(bits as u32) }
    };
    let products: Vec<(f32, f32)> = a.iter().zip(b).map(|(&a, &b)| (wide(x.a, a), wide(x.b, b))).collect();
    let c = wide(x.c, c);
    let sum = match x.d {
        // Two at a time.
        Format::F16 => products
            .chunks(2)
            .fold(c, |sum, pair| sum + pair.iter().fold(-0.0f32, |sum, (a, b)| a.mul_add(*b, sum))),
        _ => products.iter().fold(0.0f32, |sum, (a, b)| a.mul_add(*b, sum)) + c,
    };
    narrowed(x.d, sum)
}

/// The sum of two floats of a format, rounded to nearest.
fn added(format: Format, a: u64, b: u64) -> u64 {
    let wide = |bits: u64| {
        if format == Format::F16 { half_to_f32(bits as u16) } else { f32::from_bits(bits as u32) }
    };
    // An f32 has enough bits that rounding the sum of two f16 twice gives the same as rounding it once.
    narrowed(format, wide(a) + wide(b))
}

/// Converts an f32 to a format, rounding to nearest.
fn narrowed(format: Format, sum: f32) -> u64 {
    let nan = sum.is_nan();
    match format {
        Format::F16 => {
            let bits = sum.to_bits();
            let sign = (bits >> 16) as u16 & 0x8000;
            let magnitude = match Format::F32.float(u64::from(bits)) {
                _ if nan => return 0x7fff,
                Float::Number { significand: 0, .. } => 0,
                Float::Number { exponent, significand, .. } => round_to_f16(significand, exponent - 23),
                _ => 0x7c00,
            };
            u64::from(magnitude | sign)
        }
        _ if nan => u64::from(NAN),
        _ => u64::from(sum.to_bits()),
    }
}

/// The value of an f16.
fn half_to_f32(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    sign * match Format::F16.float(u64::from(bits)) {
        Float::Number { exponent, significand, .. } => {
            significand as f32 * f32::from_bits(((exponent - 10 + 127) as u32) << 23)
        }
        Float::Infinite { .. } => f32::INFINITY,
        Float::Nan => f32::NAN,
    }
}

/// `c` plus the products of f64, added in order. Of several NaNs, that of `b` has priority, then the sum's,
/// then that of `a`.
pub fn doubles(x: &Mma, a: &[u64], b: &[u64], c: u64) -> u64 {
    let step =
        |c: u64, (&a, &b): (&u64, &u64)| match [b, c, a].into_iter().find(|&v| f64::from_bits(v).is_nan()) {
            Some(nan) => nan | 1 << 51,
            None => fused(x.round, f64::from_bits(a), f64::from_bits(b), f64::from_bits(c)),
        };
    a.iter().zip(b).fold(c, step)
}

/// `a` × `b` + `c`, rounded once.
fn fused(round: Round, a: f64, b: f64, c: f64) -> u64 {
    let direction = match round {
        Round::Rn => return canonical(a.mul_add(b, c)),
        Round::Rz => rustc_apfloat::Round::TowardZero,
        Round::Rm => rustc_apfloat::Round::TowardNegative,
        Round::Rp => rustc_apfloat::Round::TowardPositive,
    };
    let [a, b, c] = [a, b, c].map(|v| Double::from_bits(u128::from(v.to_bits())));
    canonical(f64::from_bits(a.mul_add_r(b, c, direction).value.to_bits() as u64))
}

/// The bits of a result, with the canonical NaN for operations whose operands are not NaN.
fn canonical(v: f64) -> u64 {
    if v.is_nan() { 0xfff8_0000_0000_0000 } else { v.to_bits() }
}

/// `c` plus the products of integers.
pub fn integers(x: &Mma, a: &[u64], b: &[u64], c: u64) -> u64 {
    let sum: i64 = a
        .iter()
        .zip(b)
        .map(|(&a, &b)| i64::from(x.a.integer(a as u32)) * i64::from(x.b.integer(b as u32)))
        .sum::<i64>()
        + i64::from(c as u32 as i32);
    let sum = if x.saturate { sum.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) } else { sum };
    u64::from(sum as u32)
}

/// `c` plus the number of set bits among the products of single bits.
pub fn bits(x: &Mma, a: &[u64], b: &[u64], c: u64) -> u64 {
    let set = a
        .iter()
        .zip(b)
        .filter(|&(&a, &b)| match x.bits {
            Bits::And => a & b == 1,
            Bits::Xor => a ^ b == 1,
        })
        .count();
    u64::from((c as u32).wrapping_add(set as u32))
}
