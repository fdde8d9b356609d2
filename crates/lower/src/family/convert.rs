//! `cvt` (PTX ISA 9.7.9.22).

use ptx::ast::Instruction;
use ptx::{Modifier as M, ScalarType, TypeKind};
use wave::op::{FloatMode, FloatUnOp, Op, Round};
use wave::types::Fmt;
use wave::{Ty, Value};

use super::float::round;
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
    if d.lanes() == 2 {
        return pack_floats(l, i, d, s);
    }
    let narrow = |t: ScalarType| t.is_float() && fmt_of(t).is_none();
    if narrow(d) || narrow(s) || s.lanes() > 1 {
        return l.unsupported(i, "this format");
    }
    let a = l.value(&i.operands[1], s)?;
    let v = scalar(l, i, d, s, a);
    // A register wider than the type is filled by the destination's sign (PTX ISA 9.7.9.22, table of operand sizes).
    l.write_dest(&i.operands[0], v, d.is_signed())
}

fn scalar(l: &mut Lower, i: &Instruction, d: ScalarType, s: ScalarType, a: Value) -> Value {
    let (from, to) = (ty_of(s), ty_of(d));
    let (ftz, sat) = (i.has(M::Ftz), i.has(M::Sat));
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
    if i.operands.len() != 3 || s.lanes() != 1 || i.rounding() == Some(M::Rs) {
        return l.unsupported(i, "this form");
    }
    let mode = FloatMode { fmt, round: round(i), ftz: false, sat: i.has(M::Sat) };
    let mut halves = Vec::new();
    for n in [2, 1] {
        let a = l.value(&i.operands[n], s)?;
        halves.push(l.op1(Op::FloatToFloat { from, mode, relu: i.has(M::Relu) }, &[a]));
    }
    let v = l.op1(Op::Pack { part: Ty::I16, whole: Ty::I32 }, &halves);
    l.write_dest(&i.operands[0], v, false)
}

/// `cvt.rna.tf32.f32`: 10 bits of fraction, ties away from zero; `.rn` and `.rz` likewise.
fn to_tf32(l: &mut Lower, i: &Instruction) -> Result<()> {
    use wave::op::{FloatCmp, IntOp, ShiftOp};
    let a = l.value(&i.operands[1], ScalarType::F32)?;
    let c = |l: &mut Lower, v: u128| l.constant(Ty::I32, v);
    let int = |o| Op::Int(o, Ty::I32);
    let add = match round(i) {
        Round::Rz => c(l, 0),
        Round::Rn => {
            let (thirteen, one, half) = (c(l, 13), c(l, 1), c(l, 0xfff));
            let low = l.op1(Op::Shift(ShiftOp::ShrU, Ty::I32), &[a, thirteen]);
            let odd = l.op1(int(IntOp::And), &[low, one]);
            l.op1(int(IntOp::Add), &[odd, half])
        }
        _ => c(l, 0x1000),
    };
    let sum = l.op1(int(IntOp::Add), &[a, add]);
    let keep = c(l, 0xffff_e000);
    let v = l.op1(int(IntOp::And), &[sum, keep]);
    // Infinities stay, and NaN becomes the canonical one.
    let (magnitude, infinity, nan) = (c(l, 0x7fff_ffff), c(l, 0x7f80_0000), c(l, 0x7fff_ffff));
    let size = l.op1(int(IntOp::And), &[a, magnitude]);
    let is_inf = l.op1(Op::IntCmp(wave::op::IntCmp::Eq, Ty::I32), &[size, infinity]);
    let v = l.op1(Op::Select(Ty::I32), &[is_inf, a, v]);
    let is_nan = l.op1(Op::FloatCmp { cmp: FloatCmp::Nan, fmt: Fmt::F32, ftz: false }, &[a, a]);
    let mut v = l.op1(Op::Select(Ty::I32), &[is_nan, nan, v]);
    if i.has(M::Relu) {
        let zero = c(l, 0);
        v = l.op1(Op::Float(wave::op::FloatOp::MaxNan, FloatMode::rn(Fmt::F32)), &[v, zero]);
    }
    l.write_dest(&i.operands[0], v, false)
}

/// `cvt.pack.sat.d.s32{.b32} d, a, b{, c}`: a and b clamped; d has them above (c's lower part shifted up) with b lowest.
fn pack_saturated(l: &mut Lower, i: &Instruction, d: ScalarType, s: ScalarType) -> Result<()> {
    let to = ty_of(d);
    let (from, from_signed) = (ty_of(s), s.is_signed());
    let mut halves = Vec::new();
    for n in [2, 1] {
        let a = l.value(&i.operands[n], s)?;
        let (to, to_signed) = if to == Ty::I16 { (Ty::I16, d.is_signed()) } else { (Ty::I8, d.is_signed()) };
        halves.push(l.op1(Op::IntSat { from, from_signed, to, to_signed }, &[a]));
    }
    let v = match i.operands.get(3) {
        None => l.op1(Op::Pack { part: Ty::I16, whole: Ty::I32 }, &halves),
        Some(c) if to == Ty::I8 => {
            let c = l.value(c, ScalarType::B32)?;
            let parts = l.op(Op::Unpack { part: Ty::I8, whole: Ty::I32 }, &[c]);
            l.op1(Op::Pack { part: Ty::I8, whole: Ty::I32 }, &[halves[0], halves[1], parts[0], parts[1]])
        }
        Some(_) => return l.unsupported(i, "this width"),
    };
    l.write_dest(&i.operands[0], v, false)
}
