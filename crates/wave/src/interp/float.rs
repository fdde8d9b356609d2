//! Float arithmetic of the interpreter: exact, in every rounding mode, by a software float.

use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round as ApRound, Status};

use crate::op::{FloatCmp, FloatMode, FloatOp, FloatUnOp, Round};
use crate::types::{Fmt, Ty};

/// The NaN that arithmetic gives on NVIDIA hardware (PTX manual, "NaN payloads": the canonical NaN).
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

/// `bits` with a subnormal made a zero of its sign.
pub fn flush(fmt: Fmt, bits: u128, ftz: bool) -> u128 {
    let subnormal = with_format!(fmt, F => F::from_bits(bits).is_denormal());
    if ftz && subnormal { bits & sign_bit(fmt) } else { bits }
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

/// Operations of two operands.
pub fn binary(op: FloatOp, mode: FloatMode, a: u128, b: u128) -> u128 {
    let (a, b) = (flush(mode.fmt, a, mode.ftz), flush(mode.fmt, b, mode.ftz));
    let r = rounding(mode.round);
    let bits = with_format!(mode.fmt, F => {
        let (x, y) = (F::from_bits(a), F::from_bits(b));
        let less = |x: F, y: F| x < y || (x == y && x.is_negative() && !y.is_negative());
        match op {
            FloatOp::Add => x.add_r(y, r).value.to_bits(),
            FloatOp::Sub => x.sub_r(y, r).value.to_bits(),
            FloatOp::Mul => x.mul_r(y, r).value.to_bits(),
            FloatOp::Div => x.div_r(y, r).value.to_bits(),
            FloatOp::MinNan | FloatOp::MaxNan if x.is_nan() || y.is_nan() => canonical_nan(mode.fmt),
            FloatOp::Min | FloatOp::MinNan | FloatOp::Max | FloatOp::MaxNan => {
                let min = matches!(op, FloatOp::Min | FloatOp::MinNan);
                match (x.is_nan(), y.is_nan()) {
                    (true, true) => canonical_nan(mode.fmt),
                    (true, false) => b,
                    (false, true) => a,
                    _ if less(x, y) == min => a,
                    _ => b,
                }
            }
        }
    });
    finish(mode, bits)
}

/// Fused multiply and add.
pub fn fma(mode: FloatMode, a: u128, b: u128, c: u128) -> u128 {
    let f = |v| flush(mode.fmt, v, mode.ftz);
    let bits = with_format!(mode.fmt, F => {
        let (x, y, z) = (F::from_bits(f(a)), F::from_bits(f(b)), F::from_bits(f(c)));
        x.mul_add_r(y, z, rounding(mode.round)).value.to_bits()
    });
    finish(mode, bits)
}

/// Operations of one operand.
pub fn unary(op: FloatUnOp, mode: FloatMode, a: u128) -> u128 {
    let a = flush(mode.fmt, a, mode.ftz);
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

/// Square root: a double's (correctly rounded by the host), then one step either way by the exact sign of the remainder.
fn sqrt(mode: FloatMode, a: u128) -> u128 {
    with_format!(mode.fmt, F => {
        let x = F::from_bits(a);
        if x.is_nan() || (x.is_negative() && !x.is_zero()) {
            return canonical_nan(mode.fmt);
        }
        if x.is_zero() || x.is_infinite() {
            return a;
        }
        let mut lost = false;
        let wide: Double = x.convert(&mut lost).value;
        let root = f64::from_bits(wide.to_bits() as u64).sqrt();
        // Candidates around the root in the target format: the greatest value whose square does not exceed x, and its successor.
        let mut low: F = <Double as FloatConvert<F>>::convert_r(
            Double::from_bits(u128::from(root.to_bits())), ApRound::TowardNegative, &mut lost).value;
        let exceeds = |v: F| {
            // v*v - x, exactly signed by one fused operation.
            let d = v.mul_add_r(v, -x, ApRound::NearestTiesToEven).value;
            !d.is_negative() && !d.is_zero()
        };
        while exceeds(low) {
            low = low.next_down().value;
        }
        while !exceeds(low.next_up().value) {
            low = low.next_up().value;
        }
        let exact = low.mul_add_r(low, -x, ApRound::NearestTiesToEven).value.is_zero();
        let high = low.next_up().value;
        let pick_high = match mode.round {
            _ if exact => false,
            Round::Rp => true,
            Round::Rz | Round::Rm => false,
            // A root is never a tie; the host's double decides for the narrow formats, its own rounding for double.
            Round::Rn | Round::Rna => {
                let nearest: F = Double::from_bits(u128::from(root.to_bits())).convert(&mut lost).value;
                nearest == high
            }
        };
        if pick_high { high.to_bits() } else { low.to_bits() }
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

/// Float to integer: clamped; NaN gives 0, or the smallest value for 64-bit targets (PTX manual, `cvt`).
pub fn to_int(from: Fmt, to: Ty, signed: bool, round: Round, ftz: bool, a: u128) -> u128 {
    let a = flush(from, a, ftz);
    let bits = to.bits();
    let r = rounding(round);
    with_format!(from, F => {
        let x = F::from_bits(a);
        if x.is_nan() {
            return if bits == 64 { 1 << 63 } else { 0 };
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

/// Between formats.
pub fn convert(from: Fmt, mode: FloatMode, relu: bool, a: u128) -> u128 {
    let a = flush(from, a, mode.ftz);
    if is_nan(from, a) {
        return if mode.sat { 0 } else { canonical_nan(mode.fmt) };
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
    let bits = finish(mode, bits);
    if relu && bits & sign_bit(mode.fmt) != 0 { 0 } else { bits }
}
