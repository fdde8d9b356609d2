//! `cvt` with scales, which are powers of two in 8 bits (`.ue8m0`), and with the fixed-point format for use
//! with them (`.s2f6`); PTX ISA 9.7.9.22.

use ptx::ast::Instruction;
use ptx::{Modifier as M, ScalarType as S};
use wave::op::{FloatCmp, FloatMode, FloatOp, IntCmp, IntOp, Op, Round, ShiftOp};
use wave::types::Fmt;
use wave::{Ty, Value};

use super::convert::finite;
use crate::function::{Lower, Result};

/// The code of the NaN scale.
const NAN: u128 = 0xff;

/// Whether this file implements the conversion.
pub fn converts(d: S, s: S) -> bool {
    matches!(d, S::Ue8m0x2 | S::S2f6x2) || matches!(s, S::Ue8m0x2 | S::S2f6x2)
}

/// `cvt` to or from `.ue8m0x2` or `.s2f6x2`.
pub fn cvt(l: &mut Lower, i: &Instruction, d: S, s: S) -> Result<()> {
    let bytes = match (d, s) {
        (S::Ue8m0x2, _) => {
            let floats = floats(l, i, s)?;
            floats.map(|x| scale_of(l, i, x))
        }
        (S::S2f6x2, _) => {
            let divisors = exponents(l, i)?.map(|e| e.map(|code| reciprocal(l, code)));
            let mut floats = floats(l, i, s)?;
            if let Some(divisors) = divisors {
                floats = [0, 1].map(|n| product(l, floats[n], divisors[n]));
            }
            floats.map(|x| fixed_of(l, i, x))
        }
        (_, S::Ue8m0x2) => {
            let codes = split(l, i)?;
            let halves = codes.map(|code| {
                let v = power(l, code);
                l.op1(Op::FloatToFloat { from: Fmt::F32, mode: FloatMode::rn(Fmt::BF16), relu: false }, &[v])
            });
            return pack(l, i, Ty::I16, Ty::I32, &halves);
        }
        _ => {
            let factors = factors(l, i)?;
            let numbers = split(l, i)?;
            let mut halves = Vec::new();
            for (n, number) in numbers.into_iter().enumerate() {
                let number = l.resize(number, Ty::I8, false);
                let mode = FloatMode::rn(Fmt::F32);
                let v = l.op1(Op::IntToFloat { from: Ty::I8, signed: true, mode }, &[number]);
                let place = l.constant(Ty::I32, u128::from((1.0f32 / 64.0).to_bits()));
                let mut v = product(l, v, place);
                if let Some(factors) = &factors {
                    v = product(l, v, factors[n]);
                }
                let mode = FloatMode::rn(Fmt::BF16);
                let v = l.op1(Op::FloatToFloat { from: Fmt::F32, mode, relu: i.has(M::Relu) }, &[v]);
                halves.push(if i.has(M::Satfinite) { finite(l, Fmt::BF16, v) } else { v });
            }
            return pack(l, i, Ty::I16, Ty::I32, &halves);
        }
    };
    let bytes = bytes.map(|v| l.resize(v, Ty::I8, false));
    pack(l, i, Ty::I8, Ty::I16, &bytes)
}

fn pack(l: &mut Lower, i: &Instruction, part: Ty, whole: Ty, parts: &[Value]) -> Result<()> {
    let v = l.op1(Op::Pack { part, whole }, parts);
    l.write_dest(&i.operands[0], v, false)
}

fn product(l: &mut Lower, a: Value, b: Value) -> Value {
    l.op1(Op::Float(FloatOp::Mul, FloatMode::rn(Fmt::F32)), &[a, b])
}

/// The two sources as f32, the lower one first: either two operands, of which the first is the upper, or a
/// pair of bf16.
fn floats(l: &mut Lower, i: &Instruction, s: S) -> Result<[Value; 2]> {
    if s == S::F32 {
        return Ok([l.value(&i.operands[2], s)?, l.value(&i.operands[1], s)?]);
    }
    let both = l.value(&i.operands[1], s)?;
    let halves = l.op(Op::Unpack { part: Ty::I16, whole: Ty::I32 }, &[both]);
    let mode = FloatMode::rn(Fmt::F32);
    Ok([0, 1].map(|n| l.op1(Op::FloatToFloat { from: Fmt::BF16, mode, relu: false }, &[halves[n]])))
}

/// The two bytes of the source as i32, the lower one first.
fn split(l: &mut Lower, i: &Instruction) -> Result<[Value; 2]> {
    let both = l.value(&i.operands[1], S::B16)?;
    Ok(bytes(l, both))
}

fn bytes(l: &mut Lower, both: Value) -> [Value; 2] {
    let parts = l.op(Op::Unpack { part: Ty::I8, whole: Ty::I16 }, &[both]);
    [0, 1].map(|n| l.resize(parts[n], Ty::I32, false))
}

/// The codes of the scales in the last operand, the lower one first; `None` if the instruction has no scales.
fn exponents(l: &mut Lower, i: &Instruction) -> Result<Option<[Value; 2]>> {
    let (true, Some(last)) = (i.has(M::ScaledN2Ue8m0), i.operands.last()) else { return Ok(None) };
    let both = l.value(last, S::B16)?;
    Ok(Some(bytes(l, both)))
}

/// The scales in the last operand as f32, the lower one first.
pub fn factors(l: &mut Lower, i: &Instruction) -> Result<Option<[Value; 2]>> {
    Ok(exponents(l, i)?.map(|e| e.map(|code| power(l, code))))
}

/// 2 to the power of `code` - 127 as an f32, or NaN.
fn power(l: &mut Lower, code: Value) -> Value {
    let c = |l: &mut Lower, v: u128| l.constant(Ty::I32, v);
    let (places, zero, nan_code) = (c(l, 23), c(l, 0), c(l, NAN));
    // The smallest scale is a subnormal f32; NaN follows the largest.
    let (smallest, nan) = (c(l, 0x0040_0000), c(l, 0x7fff_ffff));
    let v = l.op1(Op::Shift(ShiftOp::Shl, Ty::I32), &[code, places]);
    let is_zero = l.op1(Op::IntCmp(IntCmp::Eq, Ty::I32), &[code, zero]);
    let is_nan = l.op1(Op::IntCmp(IntCmp::Eq, Ty::I32), &[code, nan_code]);
    let v = l.op1(Op::Select(Ty::I32), &[is_zero, smallest, v]);
    l.op1(Op::Select(Ty::I32), &[is_nan, nan, v])
}

/// 2 to the power of 127 - `code`, or NaN.
fn reciprocal(l: &mut Lower, code: Value) -> Value {
    let (all, nan) = (l.constant(Ty::I32, 254), l.constant(Ty::I32, NAN));
    let opposite = l.op1(Op::Int(IntOp::Sub, Ty::I32), &[all, code]);
    let is_nan = l.op1(Op::IntCmp(IntCmp::Eq, Ty::I32), &[code, nan]);
    let opposite = l.op1(Op::Select(Ty::I32), &[is_nan, nan, opposite]);
    power(l, opposite)
}

/// An f32's magnitude as a power-of-two scale in an i32, rounded toward zero or up.
fn scale_of(l: &mut Lower, i: &Instruction, x: Value) -> Value {
    let c = |l: &mut Lower, v: u128| l.constant(Ty::I32, v);
    let int = |o| Op::Int(o, Ty::I32);
    let (mask, places, infinity) = (c(l, 0x7fff_ffff), c(l, 23), c(l, 0x7f80_0000));
    let magnitude = l.op1(int(IntOp::And), &[x, mask]);
    let mut rounded = magnitude;
    if i.rounding() == Some(M::Rp) {
        // A non-zero fraction rounds up, except in NaN; below the smallest normal number, compare with the
        // smallest scale.
        let (fraction, smallest) = (c(l, 0x007f_ffff), c(l, 0x0040_0000));
        let up = l.op1(int(IntOp::Add), &[magnitude, fraction]);
        let within = l.op1(Op::IntCmp(IntCmp::LeU, Ty::I32), &[magnitude, smallest]);
        let beyond = l.op1(Op::IntCmp(IntCmp::GeU, Ty::I32), &[magnitude, infinity]);
        let keep = l.op1(Op::Int(IntOp::Or, Ty::I1), &[within, beyond]);
        rounded = l.op1(Op::Select(Ty::I32), &[keep, magnitude, up]);
    }
    let code = l.op1(Op::Shift(ShiftOp::ShrU, Ty::I32), &[rounded, places]);
    if !i.has(M::Satfinite) {
        return code;
    }
    let (largest, nan) = (c(l, NAN - 1), c(l, NAN));
    let code = l.op1(int(IntOp::MinU), &[code, largest]);
    let is_nan = l.op1(Op::IntCmp(IntCmp::GtU, Ty::I32), &[magnitude, infinity]);
    l.op1(Op::Select(Ty::I32), &[is_nan, nan, code])
}

/// An f32 in units of 1/64, rounded to nearest even and clamped to 8 bits; NaN gives the largest value.
fn fixed_of(l: &mut Lower, i: &Instruction, x: Value) -> Value {
    let sixty_four = l.constant(Ty::I32, u128::from(64.0f32.to_bits()));
    let v = product(l, x, sixty_four);
    let kind = Op::FloatToInt { from: Fmt::F32, to: Ty::I8, signed: true, round: Round::Rn, ftz: false };
    let mut v = l.op1(kind, &[v]);
    if i.has(M::Relu) {
        let zero = l.constant(Ty::I8, 0);
        v = l.op1(Op::Int(IntOp::MaxS, Ty::I8), &[v, zero]);
    }
    let largest = l.constant(Ty::I8, 0x7f);
    let is_nan = l.op1(Op::FloatCmp { cmp: FloatCmp::Nan, fmt: Fmt::F32, ftz: false }, &[x, x]);
    l.op1(Op::Select(Ty::I8), &[is_nan, largest, v])
}
