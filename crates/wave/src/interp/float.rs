//! Float arithmetic of the interpreter: exact, in every rounding mode, with a software float.

use rustc_apfloat::ieee::{BFloat, Double, Half, Quad, Single};
use rustc_apfloat::{Float, FloatConvert, Round as ApRound, Status, StatusAnd};

use crate::op::{FloatCmp, FloatMode, FloatOp, FloatUnOp, Round};
use crate::types::{Fmt, Ty};

/// The NaN that arithmetic returns on NVIDIA hardware (PTX manual, "NaN payloads": the canonical NaN).
pub fn canonical_nan(fmt: Fmt) -> u128 {
    match fmt {
        Fmt::F16 | Fmt::BF16 => 0x7fff,
        Fmt::F32 => 0x7fff_ffff,
        Fmt::F64 => 0xfff8_0000_0000_0000,
    }
}

fn rounding(round: Round) -> ApRound {
    match round {
        Round::Rn => ApRound::NearestTiesToEven,
        Round::Rz => ApRound::TowardZero,
        Round::Rm => ApRound::TowardNegative,
        Round::Rp => ApRound::TowardPositive,
        Round::Rna => ApRound::NearestTiesToAway,
    }
}

/// Runs a body with `F` bound to the software type of a format.
macro_rules! with_format {
    ($fmt:expr, $F:ident => $body:expr) => {
        match $fmt {
            Fmt::F16 => {
                type $F = Half;
                $body
            }
            Fmt::BF16 => {
                type $F = BFloat;
                $body
            }
            Fmt::F32 => {
                type $F = Single;
                $body
            }
            Fmt::F64 => {
                type $F = Double;
                $body
            }
        }
    };
}

fn sign_bit(fmt: Fmt) -> u128 {
    1 << (fmt.ty().bits() - 1)
}

/// Whether `bits` is a NaN.
pub fn is_nan(fmt: Fmt, bits: u128) -> bool {
    with_format!(fmt, F => F::from_bits(bits).is_nan())
}

/// `bits` with subnormals replaced by a zero of the same sign.
pub fn flush(fmt: Fmt, bits: u128, ftz: bool) -> u128 {
    let subnormal = with_format!(fmt, F => F::from_bits(bits).is_denormal());
    if ftz && subnormal { bits & sign_bit(fmt) } else { bits }
}

/// The NaN that results from NaN operands; `None` if no operand is NaN. As on the hardware, f64 arithmetic
/// keeps the first NaN in this order, made quiet; the other formats return the canonical NaN.
pub fn nan_of(fmt: Fmt, operands: &[u128]) -> Option<u128> {
    let first = operands.iter().copied().find(|&v| is_nan(fmt, v))?;
    Some(if fmt == Fmt::F64 { first | 1 << 51 } else { canonical_nan(fmt) })
}

/// Applies flushing, the canonical NaN and saturation to a result.
pub fn finish(mode: FloatMode, bits: u128) -> u128 {
    let bits = flush(mode.fmt, bits, mode.ftz);
    if mode.sat {
        return with_format!(mode.fmt, F => {
            let v = F::from_bits(bits);
            let one = F::from_u128(1).value;
            if v.is_nan() || v.is_negative() || v.is_zero() {
                0
            } else if v > one {
                one.to_bits()
            } else {
                bits
            }
        });
    }
    if is_nan(mode.fmt, bits) { canonical_nan(mode.fmt) } else { bits }
}

/// A result under `.ftz`: a zero of the same sign if it is subnormal before the exponent is bounded, even if
/// rounding to the coarser steps of subnormals brought it up to the smallest normal number. `exact` computes
/// it to 113 bits, with the status of that step.
fn flush_tiny(mode: FloatMode, bits: u128, exact: impl FnOnce() -> StatusAnd<Quad>) -> u128 {
    let edge =
        with_format!(mode.fmt, F => F::from_bits(bits & !sign_bit(mode.fmt)) == F::smallest_normalized());
    if !mode.ftz || !edge {
        return bits;
    }
    let StatusAnd { status, value } = exact();
    // Rounded to odd, so that rounding it again gives the same as rounding the exact value once.
    let value = Quad::from_bits(value.to_bits() | u128::from(status.contains(Status::INEXACT)));
    let tiny = with_format!(mode.fmt, F => {
        let mut lost = false;
        let scaled = value.scalbn(-F::MIN_EXP);
        let rounded: F = <Quad as FloatConvert<F>>::convert_r(scaled, rounding(mode.round), &mut lost).value;
        rounded.abs() < F::from_u128(1).value
    });
    if tiny { bits & sign_bit(mode.fmt) } else { bits }
}

/// `bits` as a value with 113 bits of precision.
fn quad(fmt: Fmt, bits: u128) -> Quad {
    let mut lost = false;
    with_format!(fmt, F => <F as FloatConvert<Quad>>::convert(F::from_bits(bits), &mut lost).value)
}

/// Operations with two operands.
pub fn binary(op: FloatOp, mode: FloatMode, a: u128, b: u128) -> u128 {
    let (a, b) = (flush(mode.fmt, a, mode.ftz), flush(mode.fmt, b, mode.ftz));
    let r = rounding(mode.round);
    // Which operand's NaN is kept follows the hardware.
    let nan = match op {
        FloatOp::Div => nan_of(mode.fmt, &[a, b]),
        _ => nan_of(mode.fmt, &[b, a]),
    };
    let extremum = |min: bool| {
        with_format!(mode.fmt, F => {
            let (x, y) = (F::from_bits(a), F::from_bits(b));
            let less = x < y || (x == y && x.is_negative() && !y.is_negative());
            if y.is_nan() || (!x.is_nan() && less == min) { a } else { b }
        })
    };
    let bits = match (op, nan) {
        (FloatOp::Min | FloatOp::Max, Some(nan)) if is_nan(mode.fmt, a) && is_nan(mode.fmt, b) => return nan,
        (FloatOp::Min | FloatOp::MinNan, None) | (FloatOp::Min, _) => extremum(true),
        (FloatOp::Max | FloatOp::MaxNan, None) | (FloatOp::Max, _) => extremum(false),
        (_, Some(nan)) => return if mode.sat { 0 } else { nan },
        _ => with_format!(mode.fmt, F => {
            let (x, y) = (F::from_bits(a), F::from_bits(b));
            match op {
                FloatOp::Add => x.add_r(y, r).value.to_bits(),
                FloatOp::Sub => x.sub_r(y, r).value.to_bits(),
                FloatOp::Mul => x.mul_r(y, r).value.to_bits(),
                _ => x.div_r(y, r).value.to_bits(),
            }
        }),
    };
    let bits = flush_tiny(mode, bits, || {
        let (x, y) = (quad(mode.fmt, a), quad(mode.fmt, b));
        match op {
            FloatOp::Mul => x.mul_r(y, ApRound::TowardZero),
            FloatOp::Div => x.div_r(y, ApRound::TowardZero),
            // Sums near the smallest normal number are exact, and so are minimum and maximum.
            _ => Status::OK.and(quad(mode.fmt, bits)),
        }
    });
    finish(mode, bits)
}

/// Fused multiply and add.
pub fn fma(mode: FloatMode, a: u128, b: u128, c: u128) -> u128 {
    let [a, b, c] = [a, b, c].map(|v| flush(mode.fmt, v, mode.ftz));
    if let Some(nan) = nan_of(mode.fmt, &[b, c, a]) {
        return if mode.sat { 0 } else { nan };
    }
    let bits = with_format!(mode.fmt, F => {
        let (x, y, z) = (F::from_bits(a), F::from_bits(b), F::from_bits(c));
        x.mul_add_r(y, z, rounding(mode.round)).value.to_bits()
    });
    let bits = flush_tiny(mode, bits, || {
        quad(mode.fmt, a).mul_add_r(quad(mode.fmt, b), quad(mode.fmt, c), ApRound::TowardZero)
    });
    finish(mode, bits)
}

/// Operations with one operand.
pub fn unary(op: FloatUnOp, mode: FloatMode, a: u128) -> u128 {
    let a = flush(mode.fmt, a, mode.ftz);
    if let Some(nan) = nan_of(mode.fmt, &[a]) {
        return if mode.sat { 0 } else { nan };
    }
    let sign = sign_bit(mode.fmt);
    match op {
        FloatUnOp::Neg => a ^ sign,
        FloatUnOp::Abs => a & !sign,
        FloatUnOp::Rcp => {
            let one = with_format!(mode.fmt, F => F::from_u128(1).value.to_bits());
            binary(FloatOp::Div, mode, one, a)
        }
        FloatUnOp::RoundInt => {
            let bits = with_format!(mode.fmt, F => F::from_bits(a).round_to_integral(rounding(mode.round)).value.to_bits());
            finish(mode, bits)
        }
        FloatUnOp::Sqrt => finish(mode, sqrt(mode, a)),
    }
}

/// Square root: the integer root of the significand, with a sticky last bit for the remainder, rounded once.
fn sqrt(mode: FloatMode, a: u128) -> u128 {
    with_format!(mode.fmt, F => {
        let x = F::from_bits(a);
        if x.is_nan() || (x.is_negative() && !x.is_zero()) {
            return canonical_nan(mode.fmt);
        }
        if x.is_zero() || x.is_infinite() {
            return a;
        }
        let precision = F::PRECISION as i32;
        // x = significand * 2^exponent, with `precision` bits in the significand.
        let exponent = x.ilogb() - precision + 1;
        let significand = x.scalbn(-exponent).to_u128(128).value;
        // Makes the exponent even, and gives the root two more bits than the format.
        let shift = precision + 3 + ((exponent ^ precision ^ 3) & 1);
        let wide = significand << shift;
        let root = wide.isqrt();
        let inexact = u128::from(root * root != wide);
        let rounded = F::from_u128_r(root << 1 | inexact, rounding(mode.round)).value;
        rounded.scalbn((exponent - shift) / 2 - 1).to_bits()
    })
}

/// Comparisons.
pub fn compare(cmp: FloatCmp, fmt: Fmt, ftz: bool, a: u128, b: u128) -> bool {
    use FloatCmp::*;
    let (a, b) = (flush(fmt, a, ftz), flush(fmt, b, ftz));
    with_format!(fmt, F => {
        let (x, y) = (F::from_bits(a), F::from_bits(b));
        let nan = x.is_nan() || y.is_nan();
        match cmp {
            Eq => x == y,
            Ne => !nan && x != y,
            Lt => x < y,
            Le => x <= y,
            Gt => x > y,
            Ge => x >= y,
            Equ => nan || x == y,
            Neu => nan || x != y,
            Ltu => nan || x < y,
            Leu => nan || x <= y,
            Gtu => nan || x > y,
            Geu => nan || x >= y,
            Num => !nan,
            Nan => nan,
        }
    })
}

/// The magnitude of `a` with the sign of `b`.
pub fn copysign(fmt: Fmt, a: u128, b: u128) -> u128 {
    let s = sign_bit(fmt);
    (a & !s) | (b & s)
}

/// Float to integer, clamped. As on the hardware, NaN gives 0, or only the top bit if source or target has 64
/// bits.
pub fn to_int(from: Fmt, to: Ty, signed: bool, round: Round, ftz: bool, a: u128) -> u128 {
    let a = flush(from, a, ftz && from == Fmt::F32);
    let bits = to.bits();
    let r = rounding(round);
    with_format!(from, F => {
        let x = F::from_bits(a);
        if x.is_nan() {
            return if bits == 64 || from == Fmt::F64 { 1 << (bits - 1) } else { 0 };
        }
        let (low, high): (i128, i128) = if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
        let mut exact = false;
        let v = x.to_i128_r(127, r, &mut exact);
        let v = if v.status.contains(Status::INVALID_OP) {
            if x.is_negative() { low } else { high }
        } else {
            v.value.clamp(low, high)
        };
        v as u128 & to.mask()
    })
}

/// Integer to float.
pub fn from_int(from: Ty, signed: bool, mode: FloatMode, a: u128) -> u128 {
    let r = rounding(mode.round);
    let shift = 128 - from.bits();
    let bits = with_format!(mode.fmt, F => {
        if signed {
            F::from_i128_r(((a << shift) as i128) >> shift, r).value.to_bits()
        } else {
            F::from_u128_r(a, r).value.to_bits()
        }
    });
    finish(mode, bits)
}

/// Converts a NaN between formats. As on the hardware, f64 and the widening of bf16 keep the payload's upper
/// bits; all others return the canonical NaN.
fn convert_nan(from: Fmt, to: Fmt, ftz: bool, a: u128) -> u128 {
    let fraction = |fmt| match fmt {
        Fmt::F16 => 10,
        Fmt::BF16 => 7,
        Fmt::F32 => 23,
        Fmt::F64 => 52,
    };
    let kept = from == Fmt::F64 || to == Fmt::F64 || (from == Fmt::BF16 && to == Fmt::F32);
    if !kept {
        return canonical_nan(to);
    }
    let a = if ftz && from == Fmt::F32 { canonical_nan(from) } else { a };
    let (has, wants) = (fraction(from), fraction(to));
    let payload = a & ((1 << has) - 1);
    let payload = if has > wants { payload >> (has - wants) } else { payload << (wants - has) };
    let quiet = if from == Fmt::F64 || to == Fmt::F64 { 1 << (wants - 1) } else { 0 };
    let sign = if a & sign_bit(from) != 0 { sign_bit(to) } else { 0 };
    let exponent = with_format!(to, F => F::INFINITY.to_bits());
    sign | exponent | quiet | payload
}

/// Converts between formats; `.ftz` affects only f32.
pub fn convert(from: Fmt, mode: FloatMode, relu: bool, a: u128) -> u128 {
    let a = flush(from, a, mode.ftz && from == Fmt::F32);
    if is_nan(from, a) {
        return if mode.sat { 0 } else { convert_nan(from, mode.fmt, mode.ftz, a) };
    }
    let r = rounding(mode.round);
    let mut lost = false;
    let bits = with_format!(from, F => {
        let x = F::from_bits(a);
        match mode.fmt {
            Fmt::F16 => <F as FloatConvert<Half>>::convert_r(x, r, &mut lost).value.to_bits(),
            Fmt::BF16 => <F as FloatConvert<BFloat>>::convert_r(x, r, &mut lost).value.to_bits(),
            Fmt::F32 => <F as FloatConvert<Single>>::convert_r(x, r, &mut lost).value.to_bits(),
            Fmt::F64 => <F as FloatConvert<Double>>::convert_r(x, r, &mut lost).value.to_bits(),
        }
    });
    let mode = FloatMode { ftz: mode.ftz && mode.fmt == Fmt::F32, ..mode };
    let bits = finish(mode, flush_tiny(mode, bits, || Status::OK.and(quad(from, a))));
    if relu && bits & sign_bit(mode.fmt) != 0 { 0 } else { bits }
}
