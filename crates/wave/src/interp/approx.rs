//! The approximate functions: the exact value rounded to the format, with the special cases that the PTX
//! manual lists for each instruction. Compiled code and hardware may differ from it within the manual's error
//! bounds.

use crate::interp::float::{canonical_nan, flush, is_nan};
use crate::op::ApproxOp;
use crate::types::{Fmt, Ty};

fn to_f64(fmt: Fmt, bits: u128) -> f64 {
    let wide = super::float::convert(fmt, crate::op::FloatMode::rn(Fmt::F64), false, bits);
    f64::from_bits(wide as u64)
}

fn from_f64(fmt: Fmt, v: f64) -> u128 {
    super::float::convert(Fmt::F64, crate::op::FloatMode::rn(fmt), false, u128::from(v.to_bits()))
}

/// Evaluates a function of one or two operands.
pub fn eval(op: ApproxOp, fmt: Fmt, ftz: bool, a: u128, b: u128) -> u128 {
    let a = flush(fmt, a, ftz);
    let b = flush(fmt, b, ftz);
    let binary = matches!(op, ApproxOp::Div | ApproxOp::DivFull);
    if is_nan(fmt, a) || (binary && is_nan(fmt, b)) {
        return canonical_nan(fmt);
    }
    // rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 return only the upper half of the result (PTX manual).
    let narrow = fmt == Fmt::F64;
    let x = to_f64(fmt, a);
    let y = to_f64(fmt, b);
    let v =
        match op {
            ApproxOp::Rcp => 1.0 / x,
            ApproxOp::Sqrt => x.sqrt(),
            ApproxOp::Rsqrt => 1.0 / x.sqrt(),
            ApproxOp::Sin => x.sin(),
            ApproxOp::Cos => x.cos(),
            ApproxOp::Lg2 => x.log2(),
            ApproxOp::Ex2 => x.exp2(),
            ApproxOp::Tanh => x.tanh(),
            // For 2^126 < |y| < 2^128 the quotient is 0, or NaN for an infinite dividend (PTX manual,
            // `div.approx`).
            ApproxOp::Div if fmt == Fmt::F32 && y.is_finite() && y.abs() > 2f64.powi(126) => {
                if x.is_infinite() { f64::NAN } else { 0.0 * x * y.signum() }
            }
            ApproxOp::Div | ApproxOp::DivFull => x / y,
        };
    if v.is_nan() {
        return canonical_nan(fmt);
    }
    let r = from_f64(fmt, v);
    let r = if narrow { r & !u128::from(u32::MAX) } else { r };
    flush(fmt, r, ftz) & Ty::mask(fmt.ty())
}
