//! `cvt` (PTX ISA 9.7.9.22).

use ptx::ast::Instruction;
use ptx::{Modifier as M, ScalarType, TypeKind};
use wave::op::{FloatCmp, FloatMode, FloatUnOp, IntCmp, IntOp, Op, Round, ShiftOp};
use wave::types::Fmt;
use wave::{Ty, Value};

use super::float::round;
use super::narrow::{self, Narrow};
use super::scale;
use crate::function::{Lower, Result};
use crate::link::ty_of;
use crate::operand::fmt_of;

fn integer_rounding(i: &Instruction) -> bool {
    matches!(i.rounding(), Some(M::Rni | M::Rzi | M::Rmi | M::Rpi))
}

pub fn cvt(l: &mut Lower, i: &Instruction) -> Result<()> {
    let (Some(d), Some(s)) = (i.ty(0), i.ty(1)) else { return l.unsupported(i, "no types") };
    if i.has(M::Pack) {
        return pack_saturated(l, i, d, s);
    }
    if d == ScalarType::Tf32 {
        return to_tf32(l, i);
    }
    if i.rounding() == Some(M::Rs) {
        return narrow::stochastic(l, i, d);
    }
    if scale::converts(d, s) {
        return scale::cvt(l, i, d, s);
    }
    if Narrow::of_pair(d).is_some() {
        return narrow::to_pair(l, i, d, s);
    }
    if Narrow::of_pair(s).is_some() {
        return narrow::from_pair(l, i, d, s);
    }
    let unknown = |t: ScalarType| t.is_float() && fmt_of(t).is_none();
    if unknown(d) || unknown(s) || s.lanes() > 1 {
        return l.unsupported(i, "this format");
    }
    if d.lanes() == 2 {
        return pack_floats(l, i, d, s);
    }
    let a = l.value(&i.operands[1], s)?;
    let mut v = scalar(l, i, d, s, a);
    if let (true, Some(fmt)) = (i.has(M::Satfinite), fmt_of(d)) {
        v = finite(l, fmt, v);
    }
    // A wider register is filled according to the destination type's sign (PTX ISA 9.7.9.22, table of operand
    // sizes).
    l.write_dest(&i.operands[0], v, d.is_signed())
}

fn scalar(l: &mut Lower, i: &Instruction, d: ScalarType, s: ScalarType, a: Value) -> Value {
    let (from, to) = (ty_of(s), ty_of(d));
    // Conversions flush only f32.
    let (ftz, sat) = (l.flushes(i, Fmt::F32), i.has(M::Sat));
    let signed = s.kind() == TypeKind::Signed;
    match (fmt_of(s), fmt_of(d)) {
        (None, None) if sat => {
            l.op1(Op::IntSat { from, from_signed: signed, to, to_signed: d.is_signed() }, &[a])
        }
        (None, None) => l.resize(a, to, signed),
        (None, Some(fmt)) => {
            let mode = FloatMode { fmt, round: round(i), ftz, sat };
            l.op1(Op::IntToFloat { from, signed, mode }, &[a])
        }
        (Some(from), None) => {
            let round = if i.rounding().is_some() { round(i) } else { Round::Rz };
            l.op1(Op::FloatToInt { from, to, signed: d.is_signed(), round, ftz }, &[a])
        }
        (Some(from), Some(fmt)) => {
            let mode = FloatMode { fmt, round: round(i), ftz, sat };
            if integer_rounding(i) {
                let inner = FloatMode { fmt: from, sat: sat && from == fmt, ..mode };
                let v = l.op1(Op::FloatUn(FloatUnOp::RoundInt, inner), &[a]);
                if from == fmt {
                    return v;
                }
                return l.op1(
                    Op::FloatToFloat {
                        from,
                        mode: FloatMode { round: Round::Rn, ..mode },
                        relu: i.has(M::Relu),
                    },
                    &[v],
                );
            }
            l.op1(Op::FloatToFloat { from, mode, relu: i.has(M::Relu) }, &[a])
        }
    }
}

/// `cvt.rn.f16x2.f32 d, a, b`: a becomes the upper half.
fn pack_floats(l: &mut Lower, i: &Instruction, d: ScalarType, s: ScalarType) -> Result<()> {
    let (Some(fmt), Some(from)) = (fmt_of(d), fmt_of(s)) else { return l.unsupported(i, "this format") };
    if i.operands.len() != 3 {
        return l.unsupported(i, "this form");
    }
    let mode = FloatMode { fmt, round: round(i), ftz: false, sat: i.has(M::Sat) };
    let mut halves = Vec::new();
    for n in [2, 1] {
        let a = l.value(&i.operands[n], s)?;
        let v = l.op1(Op::FloatToFloat { from, mode, relu: i.has(M::Relu) }, &[a]);
        halves.push(if i.has(M::Satfinite) { finite(l, fmt, v) } else { v });
    }
    let v = l.op1(Op::Pack { part: Ty::I16, whole: Ty::I32 }, &halves);
    l.write_dest(&i.operands[0], v, false)
}

/// `.satfinite`: infinities become the largest finite number of the same sign.
pub fn finite(l: &mut Lower, fmt: Fmt, v: Value) -> Value {
    let ty = fmt.ty();
    let (sign, infinity) = match fmt {
        Fmt::F16 => (0x8000, 0x7c00),
        Fmt::BF16 => (0x8000, 0x7f80),
        Fmt::F32 => (0x8000_0000, 0x7f80_0000),
        Fmt::F64 => (1 << 63, 0x7ff0_0000_0000_0000),
    };
    let (mask, inf, one) = (l.constant(ty, sign - 1), l.constant(ty, infinity), l.constant(ty, 1));
    let magnitude = l.op1(Op::Int(IntOp::And, ty), &[v, mask]);
    let infinite = l.op1(Op::IntCmp(IntCmp::Eq, ty), &[magnitude, inf]);
    // The number just below infinity in magnitude, for either sign.
    let largest = l.op1(Op::Int(IntOp::Sub, ty), &[v, one]);
    l.op1(Op::Select(ty), &[infinite, largest, v])
}

/// Fraction bits of an f32 that tf32 lacks.
const TF32_DROPPED: u32 = 13;
/// The smallest step between tf32 numbers in one binade, as f32 bits.
const TF32_STEP: u128 = 1 << TF32_DROPPED;
/// The bits of an f32 that tf32 keeps.
const TF32_KEPT: u128 = 0xffff_ffff & !(TF32_STEP - 1);
const F32_INFINITY: u128 = 0x7f80_0000;

/// `cvt.rna.tf32.f32`: 10 fraction bits, ties away from zero; also `.rn` and `.rz`. As on the hardware, NaN
/// gives 0x7fffe000, except that `.rna` keeps its upper bits.
fn to_tf32(l: &mut Lower, i: &Instruction) -> Result<()> {
    let a = l.value(&i.operands[1], ScalarType::F32)?;
    let c = |l: &mut Lower, v: u128| l.constant(Ty::I32, v);
    let int = |o| Op::Int(o, Ty::I32);
    let how = round(i);
    let add = match how {
        Round::Rz => c(l, 0),
        Round::Rn => {
            let (dropped, one) = (c(l, TF32_DROPPED.into()), c(l, 1));
            let below_half = c(l, TF32_STEP / 2 - 1);
            let low = l.op1(Op::Shift(ShiftOp::ShrU, Ty::I32), &[a, dropped]);
            let odd = l.op1(int(IntOp::And), &[low, one]);
            l.op1(int(IntOp::Add), &[odd, below_half])
        }
        _ => c(l, TF32_STEP / 2),
    };
    let sum = l.op1(int(IntOp::Add), &[a, add]);
    let keep = c(l, TF32_KEPT);
    let mut v = l.op1(int(IntOp::And), &[sum, keep]);
    if i.has(M::Satfinite) {
        let (exponent, step) = (c(l, F32_INFINITY), c(l, TF32_STEP));
        let bits = l.op1(int(IntOp::And), &[v, exponent]);
        let beyond = l.op1(Op::IntCmp(IntCmp::Eq, Ty::I32), &[bits, exponent]);
        let below = l.op1(int(IntOp::Sub), &[v, step]);
        v = l.op1(Op::Select(Ty::I32), &[beyond, below, v]);
    }
    if i.has(M::Relu) {
        let zero = c(l, 0);
        let negative = l.op1(Op::IntCmp(IntCmp::LtS, Ty::I32), &[v, zero]);
        v = l.op1(Op::Select(Ty::I32), &[negative, zero, v]);
    }
    if how != Round::Rna {
        let nan = c(l, 0x7fff_ffff & TF32_KEPT);
        let is_nan = l.op1(Op::FloatCmp { cmp: FloatCmp::Nan, fmt: Fmt::F32, ftz: false }, &[a, a]);
        v = l.op1(Op::Select(Ty::I32), &[is_nan, nan, v]);
    }
    l.write_dest(&i.operands[0], v, false)
}

/// `cvt.pack.sat.d.s32{.b32} d, a, b{, c}`: b and a clamped to n bits, b lowest, with the lower bits of c
/// above them.
fn pack_saturated(l: &mut Lower, i: &Instruction, d: ScalarType, s: ScalarType) -> Result<()> {
    let int = |o| Op::Int(o, Ty::I32);
    let n = d.bits();
    let (low, high) =
        if d.is_signed() { (-(1i64 << (n - 1)), (1i64 << (n - 1)) - 1) } else { (0, (1i64 << n) - 1) };
    let (low, high) = (l.constant(Ty::I32, low as u128), l.constant(Ty::I32, high as u128));
    let mask = l.constant(Ty::I32, (1 << n) - 1);
    let up = l.constant(Ty::I32, u128::from(n));
    // From the top down: shifts the value up by n bits and inserts the next part below.
    let mut v = match i.operands.get(3) {
        Some(c) => l.value(c, ScalarType::B32)?,
        None => l.constant(Ty::I32, 0),
    };
    for o in &i.operands[1..3] {
        let a = l.value(o, s)?;
        let a = l.op1(int(IntOp::MaxS), &[a, low]);
        let a = l.op1(int(IntOp::MinS), &[a, high]);
        let a = l.op1(int(IntOp::And), &[a, mask]);
        v = l.op1(Op::Shift(ShiftOp::Shl, Ty::I32), &[v, up]);
        v = l.op1(int(IntOp::Or), &[v, a]);
    }
    l.write_dest(&i.operands[0], v, false)
}
