//! Comparison and selection (PTX ISA 9.7.6, 9.7.7).

use ptx::ast::{Instruction, OperandKind};
use ptx::{Modifier as M, Opcode, ScalarType};
use wave::op::{FloatCmp, IntCmp, IntOp, Op};
use wave::{Ty, Value};

use super::integer::lanes;
use crate::function::{Lower, Result};
use crate::link::ty_of;
use crate::operand::fmt_of;

/// PTX comparison, float relation, signed and unsigned integer relation.
const RELATIONS: &[(M, FloatCmp, IntCmp, IntCmp)] = &[
    (M::Eq, FloatCmp::Eq, IntCmp::Eq, IntCmp::Eq),
    (M::Ne, FloatCmp::Ne, IntCmp::Ne, IntCmp::Ne),
    (M::Lt, FloatCmp::Lt, IntCmp::LtS, IntCmp::LtU),
    (M::Le, FloatCmp::Le, IntCmp::LeS, IntCmp::LeU),
    (M::Gt, FloatCmp::Gt, IntCmp::GtS, IntCmp::GtU),
    (M::Ge, FloatCmp::Ge, IntCmp::GeS, IntCmp::GeU),
    (M::Lo, FloatCmp::Lt, IntCmp::LtU, IntCmp::LtU),
    (M::Ls, FloatCmp::Le, IntCmp::LeU, IntCmp::LeU),
    (M::Hi, FloatCmp::Gt, IntCmp::GtU, IntCmp::GtU),
    (M::Hs, FloatCmp::Ge, IntCmp::GeU, IntCmp::GeU),
    (M::Equ, FloatCmp::Equ, IntCmp::Eq, IntCmp::Eq),
    (M::Neu, FloatCmp::Neu, IntCmp::Ne, IntCmp::Ne),
    (M::Ltu, FloatCmp::Ltu, IntCmp::LtU, IntCmp::LtU),
    (M::Leu, FloatCmp::Leu, IntCmp::LeU, IntCmp::LeU),
    (M::Gtu, FloatCmp::Gtu, IntCmp::GtU, IntCmp::GtU),
    (M::Geu, FloatCmp::Geu, IntCmp::GeU, IntCmp::GeU),
    (M::Num, FloatCmp::Num, IntCmp::Eq, IntCmp::Eq),
    (M::Nan, FloatCmp::Nan, IntCmp::Ne, IntCmp::Ne),
];

/// The predicate of one comparison of scalars.
fn relation(l: &mut Lower, i: &Instruction, t: ScalarType, ty: Ty, a: Value, b: Value) -> Result<Value> {
    let found = i.compare().and_then(|m| RELATIONS.iter().find(|r| r.0 == m));
    let Some(&(_, float, signed, unsigned)) = found else { return l.unsupported(i, "no comparison") };
    let op = match fmt_of(t) {
        Some(fmt) => Op::FloatCmp { cmp: float, fmt, ftz: l.flushes(i, fmt) },
        None if t.is_signed() => Op::IntCmp(signed, ty),
        None => Op::IntCmp(unsigned, ty),
    };
    Ok(l.op1(op, &[a, b]))
}

/// `.and`, `.or`, `.xor` with a predicate operand.
fn combine(l: &mut Lower, i: &Instruction, p: Value, q: Value) -> Value {
    let op = match i.first(ptx::ModifierKind::Boolean) {
        Some(M::And) => IntOp::And,
        Some(M::Or) => IntOp::Or,
        _ => IntOp::Xor,
    };
    l.op1(Op::Int(op, Ty::I1), &[p, q])
}

/// `setp` and `set`.
pub fn set(l: &mut Lower, i: &Instruction) -> Result<()> {
    let setp = i.opcode == Opcode::Setp;
    let t = i.ty(usize::from(!setp)).unwrap_or(ScalarType::B32);
    let a = l.value(&i.operands[1], t)?;
    let b = l.value(&i.operands[2], t)?;
    let third = match i.operands.get(3) {
        Some(o) => Some(l.value(o, ScalarType::Pred)?),
        None => None,
    };
    if t.lanes() == 2 && setp {
        return packed_setp(l, i, t, a, b, third);
    }
    if setp {
        let first = relation(l, i, t, ty_of(t), a, b)?;
        let with = |l: &mut Lower, p: Value| third.map_or(p, |q| combine(l, i, p, q));
        let p = with(l, first);
        let OperandKind::Pair(pair) = &i.operands[0].kind else {
            return l.write_dest(&i.operands[0], p, false);
        };
        let opposite = l.not(first);
        let q = with(l, opposite);
        l.write_dest(&pair.0, p, false)?;
        return l.write_dest(&pair.1, q, false);
    }
    // `set`: all ones or zero for integers, 1.0 or 0.0 for floats.
    let d = i.ty(0).unwrap_or(ScalarType::U32);
    let v = lanes_set(l, i, d, t, a, b, third)?;
    l.write_dest(&i.operands[0], v, d.is_signed())
}

fn lanes_set(
    l: &mut Lower,
    i: &Instruction,
    d: ScalarType,
    t: ScalarType,
    a: Value,
    b: Value,
    third: Option<Value>,
) -> Result<Value> {
    lanes(l, t, &[a, b], &mut |l, ty, ab| {
        let p = relation(l, i, t, ty, ab[0], ab[1])?;
        let p = third.map_or(p, |q| combine(l, i, p, q));
        // `set.u32.f16x2` packs two results too.
        let part = Ty::of_bits(d.bits() / t.lanes()).unwrap_or(Ty::I32);
        let one = match fmt_of(d) {
            Some(wave::types::Fmt::F16) => 0x3c00,
            Some(wave::types::Fmt::BF16) => 0x3f80,
            Some(wave::types::Fmt::F32) => 0x3f80_0000,
            Some(wave::types::Fmt::F64) => 0x3ff0_0000_0000_0000,
            None => part.mask(),
        };
        let (one, zero) = (l.constant(part, one), l.constant(part, 0));
        Ok(l.op1(Op::Select(part), &[p, one, zero]))
    })
}

/// `setp.f16x2 p|q`: one predicate per half.
fn packed_setp(
    l: &mut Lower,
    i: &Instruction,
    t: ScalarType,
    a: Value,
    b: Value,
    third: Option<Value>,
) -> Result<()> {
    let split = |l: &mut Lower, v| l.op(Op::Unpack { part: Ty::I16, whole: Ty::I32 }, &[v]);
    let (a, b) = (split(l, a), split(l, b));
    let mut out = Vec::new();
    for n in 0..2 {
        let p = relation(l, i, t, Ty::I16, a[n], b[n])?;
        out.push(third.map_or(p, |q| combine(l, i, p, q)));
    }
    let OperandKind::Pair(pair) = &i.operands[0].kind else {
        return l.write_dest(&i.operands[0], out[0], false);
    };
    l.write_dest(&pair.0, out[0], false)?;
    l.write_dest(&pair.1, out[1], false)
}

pub fn select(l: &mut Lower, i: &Instruction) -> Result<()> {
    let t = i.ty(0).unwrap_or(ScalarType::B32);
    let a = l.value(&i.operands[1], t)?;
    let b = l.value(&i.operands[2], t)?;
    let p = l.value(&i.operands[3], ScalarType::Pred)?;
    let v = l.op1(Op::Select(ty_of(t)), &[p, a, b]);
    l.write_dest(&i.operands[0], v, t.is_signed())
}

/// `slct`: selects a if c is not negative (NaN counts as negative).
pub fn slct(l: &mut Lower, i: &Instruction) -> Result<()> {
    let t = i.ty(0).unwrap_or(ScalarType::B32);
    let c_type = i.ty(1).unwrap_or(ScalarType::S32);
    let a = l.value(&i.operands[1], t)?;
    let b = l.value(&i.operands[2], t)?;
    let c = l.value(&i.operands[3], c_type)?;
    let zero = l.constant(Ty::I32, 0);
    let op = match fmt_of(c_type) {
        Some(fmt) => Op::FloatCmp { cmp: FloatCmp::Ge, fmt, ftz: l.flushes(i, fmt) },
        None => Op::IntCmp(IntCmp::GeS, Ty::I32),
    };
    let p = l.op1(op, &[c, zero]);
    let v = l.op1(Op::Select(ty_of(t)), &[p, a, b]);
    l.write_dest(&i.operands[0], v, t.is_signed())
}
