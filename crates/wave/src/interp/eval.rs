//! The semantics of every pure lane-wise operation: operands in, results out, for one lane.

use smallvec::{SmallVec, smallvec};

use super::{approx, float, int};
use crate::op::Op;

/// Results of an operation in one lane.
pub type Results = SmallVec<[u128; 2]>;

/// Evaluates a pure operation whose results depend only on its operands; `None` for all others (memory, warp
/// operations, addresses, special registers, calls).
pub fn eval(op: &Op, args: &[u128]) -> Option<Results> {
    let get = |i: usize| args.get(i).copied().unwrap_or(0);
    let (a, b, c) = (get(0), get(1), get(2));
    let one = match *op {
        Op::Const { bits, .. } => bits,
        Op::Int(o, ty) => int::binary(o, ty, a, b),
        Op::Shift(o, ty) => int::shift(o, ty, a, b),
        Op::IntUn(o, ty) => int::unary(o, ty, a),
        Op::Count(o, ty) => int::count(o, ty, a),
        Op::AddCarry(ty) => {
            let sum = a + b + c;
            return Some(smallvec![sum & ty.mask(), u128::from(sum > ty.mask())]);
        }
        Op::SubBorrow(ty) => {
            let take = b + c;
            return Some(smallvec![a.wrapping_sub(take) & ty.mask(), u128::from(take > a)]);
        }
        Op::IntCmp(cmp, ty) => u128::from(int::compare(cmp, ty, a, b)),
        Op::Bfe { signed, ty } => int::bfe(signed, ty, a, b, c),
        Op::Bfi(ty) => int::bfi(ty, a, b, c, get(3)),
        Op::Funnel { left, clamp } => int::funnel(left, clamp, a, b, c),
        Op::Lop3(table) => int::lop3(table, a, b, c),
        Op::Prmt(mode) => int::prmt(mode, a, b, c),
        Op::Dp4a { a_signed, b_signed } => int::dot(a, b, c, a_signed, b_signed, 8, 0),
        Op::Dp2a { a_signed, b_signed, hi } => {
            int::dot(a, b, c, a_signed, b_signed, 16, if hi { 2 } else { 0 })
        }
        Op::Fns => int::fns(a, b, c),
        Op::Float(o, mode) => float::binary(o, mode, a, b),
        Op::Fma(mode) => float::fma(mode, a, b, c),
        Op::FloatUn(o, mode) => float::unary(o, mode, a),
        Op::Approx { op, fmt, ftz } => approx::eval(op, fmt, ftz, a, b),
        Op::Sfu(op) => u128::from(crate::sfu::eval(op, a as u32)),
        Op::FloatCmp { cmp, fmt, ftz } => u128::from(float::compare(cmp, fmt, ftz, a, b)),
        Op::CopySign(fmt) => float::copysign(fmt, a, b),
        Op::Sext { from, to } => int::signed(from, a) as u128 & to.mask(),
        Op::Zext { to, .. } => a & to.mask(),
        Op::IntSat { from, from_signed, to, to_signed } => int::saturate(from, from_signed, to, to_signed, a),
        Op::FloatToInt { from, to, signed, round, ftz } => float::to_int(from, to, signed, round, ftz, a),
        Op::IntToFloat { from, signed, mode } => float::from_int(from, signed, mode, a),
        Op::FloatToFloat { from, mode, relu } => float::convert(from, mode, relu, a),
        Op::Select(_) => {
            if a & 1 == 1 {
                b
            } else {
                c
            }
        }
        Op::Pack { part, .. } => args.iter().rev().fold(0, |r, &v| r << part.bits() | v),
        Op::Unpack { part, whole } => {
            return Some(
                (0..whole.bits() / part.bits()).map(|i| a >> (i * part.bits()) & part.mask()).collect(),
            );
        }
        _ => return None,
    };
    Some(smallvec![one])
}
