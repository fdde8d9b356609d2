//! Video instructions (PTX ISA 9.7.17): parts of registers, computed in a wider type, clamped, and combined
//! with a third operand.
//!
//! Devices since capability 7.0 have no such units, so the reference is the code that ptxas substitutes.
//! Where it differs from the manual's pseudo-code, the recordings in `tests/hw` decide; comments mark such
//! places.

use ptx::ast::{Component, Instruction, Operand, OperandKind};
use ptx::{Modifier as M, Opcode, ScalarType};
use wave::op::{IntCmp, IntOp, Op, ShiftOp};
use wave::{Ty, Value};

use crate::error::ErrorClass;
use crate::function::{Lower, Result};

/// The operation on two parts.
#[derive(Clone, Copy)]
enum Step {
    Add,
    Sub,
    /// The absolute difference.
    Difference,
    Min,
    Max,
    /// Half of the sum, ties away from zero.
    Average,
    Shl,
    Shr,
    /// 1 if the comparison holds, otherwise 0.
    Compare,
}

/// Opcode, number of parts computed at once, and operation.
const STEPS: &[(Opcode, u32, Step)] = &[
    (Opcode::Vadd, 1, Step::Add),
    (Opcode::Vsub, 1, Step::Sub),
    (Opcode::Vabsdiff, 1, Step::Difference),
    (Opcode::Vmin, 1, Step::Min),
    (Opcode::Vmax, 1, Step::Max),
    (Opcode::Vshl, 1, Step::Shl),
    (Opcode::Vshr, 1, Step::Shr),
    (Opcode::Vset, 1, Step::Compare),
    (Opcode::Vadd2, 2, Step::Add),
    (Opcode::Vsub2, 2, Step::Sub),
    (Opcode::Vavrg2, 2, Step::Average),
    (Opcode::Vabsdiff2, 2, Step::Difference),
    (Opcode::Vmin2, 2, Step::Min),
    (Opcode::Vmax2, 2, Step::Max),
    (Opcode::Vset2, 2, Step::Compare),
    (Opcode::Vadd4, 4, Step::Add),
    (Opcode::Vsub4, 4, Step::Sub),
    (Opcode::Vavrg4, 4, Step::Average),
    (Opcode::Vabsdiff4, 4, Step::Difference),
    (Opcode::Vmin4, 4, Step::Min),
    (Opcode::Vmax4, 4, Step::Max),
    (Opcode::Vset4, 4, Step::Compare),
];

/// Signedness of the destination and the sources.
struct Types {
    d_signed: bool,
    a_signed: bool,
    b_signed: bool,
}

impl Types {
    fn of(i: &Instruction, step: Step) -> Types {
        let signed = |n| i.ty(n).is_some_and(|t: ScalarType| t.is_signed());
        match step {
            // As on the hardware; in the manual, the result is unsigned.
            Step::Compare => Types { d_signed: signed(0), a_signed: signed(0), b_signed: signed(1) },
            _ => Types { d_signed: signed(0), a_signed: signed(1), b_signed: signed(2) },
        }
    }
}

/// `vadd` and similar instructions, by the opcode's row.
pub fn video(l: &mut Lower, i: &Instruction) -> Result<()> {
    match STEPS.iter().find(|row| row.0 == i.opcode) {
        Some(&(_, 1, step)) => scalar(l, i, step),
        Some(&(_, parts, step)) => simd(l, i, parts, step),
        None => multiply_add(l, i),
    }
}

/// The type and index of the byte or half that a selector names.
fn part_of(component: Option<Component>) -> (Ty, usize) {
    match component {
        Some(Component::Byte(n)) => (Ty::I8, usize::from(n)),
        Some(Component::Half(n)) => (Ty::I16, usize::from(n)),
        _ => (Ty::I32, 0),
    }
}

/// Splits 32 bits into parts.
fn split(l: &mut Lower, part: Ty, v: Value) -> Vec<Value> {
    if part == Ty::I32 { vec![v] } else { l.op(Op::Unpack { part, whole: Ty::I32 }, &[v]) }
}

/// A register or constant without its selector, the selector, and whether the operand is negated.
fn source(l: &mut Lower, operand: &Operand) -> Result<(Value, Option<Component>, bool)> {
    Ok(match operand.kind {
        OperandKind::Component(r, part) => (l.read_reg(r, 0), Some(part), false),
        OperandKind::Negated(r, part) => (l.read_reg(r, 0), part, true),
        _ => (l.value(operand, ScalarType::B32)?, None, false),
    })
}

/// The part of `operand` that its selector names, extended to `wide`, and whether it is negated.
fn selected(l: &mut Lower, operand: &Operand, signed: bool, wide: Ty) -> Result<(Value, bool)> {
    let (v, component, negated) = source(l, operand)?;
    let (part, n) = part_of(component);
    let v = split(l, part, v)[n];
    Ok((l.resize(v, wide, signed), negated))
}

/// Applies one operation to values that leave a bit of `ty` to spare.
fn apply(l: &mut Lower, i: &Instruction, step: Step, ty: Ty, a: Value, b: Value) -> Value {
    let int = |o| Op::Int(o, ty);
    match step {
        Step::Add => l.op1(int(IntOp::Add), &[a, b]),
        Step::Sub => l.op1(int(IntOp::Sub), &[a, b]),
        Step::Min => l.op1(int(IntOp::MinS), &[a, b]),
        Step::Max => l.op1(int(IntOp::MaxS), &[a, b]),
        Step::Difference => {
            let (low, high) = (l.op1(int(IntOp::MinS), &[a, b]), l.op1(int(IntOp::MaxS), &[a, b]));
            l.op1(int(IntOp::Sub), &[high, low])
        }
        Step::Average => {
            let sum = l.op1(int(IntOp::Add), &[a, b]);
            let (zero, one) = (l.constant(ty, 0), l.constant(Ty::I32, 1));
            let up = l.op1(Op::IntCmp(IntCmp::GeS, ty), &[sum, zero]);
            let up = l.resize(up, ty, false);
            let sum = l.op1(int(IntOp::Add), &[sum, up]);
            l.op1(Op::Shift(ShiftOp::ShrS, ty), &[sum, one])
        }
        Step::Shl | Step::Shr => {
            let amount = l.resize(b, Ty::I32, false);
            let (op, limit) = if i.has(M::Wrap) { (IntOp::And, 31) } else { (IntOp::MinU, 32) };
            let limit = l.constant(Ty::I32, limit);
            let amount = l.op1(Op::Int(op, Ty::I32), &[amount, limit]);
            let shift = if matches!(step, Step::Shl) { ShiftOp::Shl } else { ShiftOp::ShrS };
            l.op1(Op::Shift(shift, ty), &[a, amount])
        }
        Step::Compare => {
            let cmp = match i.compare() {
                Some(M::Eq) => IntCmp::Eq,
                Some(M::Ne) => IntCmp::Ne,
                Some(M::Lt) => IntCmp::LtS,
                Some(M::Le) => IntCmp::LeS,
                Some(M::Gt) => IntCmp::GtS,
                _ => IntCmp::GeS,
            };
            let p = l.op1(Op::IntCmp(cmp, ty), &[a, b]);
            l.resize(p, ty, false)
        }
    }
}

/// `v` clamped to the range of `to`, in type `to`.
fn clamped(l: &mut Lower, v: Value, to: Ty, signed: bool) -> Value {
    let from = l.ty(v);
    l.op1(Op::IntSat { from, from_signed: true, to, to_signed: signed }, &[v])
}

/// `.sat` of one part, from i64 to i64, as on the hardware.
fn saturated(l: &mut Lower, step: Step, v: Value, part: Ty, signed: bool) -> Value {
    let int = |o| Op::Int(o, Ty::I64);
    if matches!(step, Step::Shl | Step::Shr) {
        // Shifts keep 34 bits, and are clamped to 32 bits whatever the part's width.
        let spare = l.constant(Ty::I32, 30);
        let up = l.op1(Op::Shift(ShiftOp::Shl, Ty::I64), &[v, spare]);
        let v = l.op1(Op::Shift(ShiftOp::ShrS, Ty::I64), &[up, spare]);
        let v = clamped(l, v, Ty::I32, signed);
        return l.resize(v, Ty::I64, signed);
    }
    if part != Ty::I32 {
        // Negative results count as too large.
        let limit = l.constant(Ty::I64, if signed { part.mask() >> 1 } else { part.mask() });
        return l.op1(int(IntOp::MinU), &[v, limit]);
    }
    if signed {
        let v = clamped(l, v, Ty::I32, true);
        return l.resize(v, Ty::I64, true);
    }
    // Clamped only from below: of a result with more than 32 bits, the lower ones are written.
    let zero = l.constant(Ty::I64, 0);
    l.op1(int(IntOp::MaxS), &[v, zero])
}

/// `vadd.d.a.b{.sat} d, a, b`, with a secondary operation on c, or merged into a part of c.
fn scalar(l: &mut Lower, i: &Instruction, step: Step) -> Result<()> {
    let types = Types::of(i, step);
    // Sums and differences of 32-bit values of either sign, and shifts by up to 32, fit in 64 bits.
    let (a, _) = selected(l, &i.operands[1], types.a_signed, Ty::I64)?;
    let (b, _) = selected(l, &i.operands[2], types.b_signed, Ty::I64)?;
    let mut v = apply(l, i, step, Ty::I64, a, b);
    let (register, component) = destination(&i.operands[0]);
    let (part, n) = part_of(component);
    if i.has(M::Sat) {
        v = saturated(l, step, v, part, types.d_signed);
    }
    let low = l.resize(v, Ty::I32, false);
    let Some(c) = i.operands.get(3) else { return write(l, register, low) };
    let c = l.value(c, ScalarType::B32)?;
    if part != Ty::I32 {
        let source = split(l, part, low);
        let mut parts = split(l, part, c);
        // As on the hardware, the upper half is written from the upper half, every other part from the lowest
        // bits.
        let from = if part == Ty::I16 { n } else { 0 };
        parts[n] = source[from];
        let v = l.op1(Op::Pack { part, whole: Ty::I32 }, &parts);
        return write(l, register, v);
    }
    let Some(second) = i.one_of(&[M::Add, M::Min, M::Max]) else { return write(l, register, low) };
    if second == M::Add {
        let v = l.op1(Op::Int(IntOp::Add, Ty::I32), &[low, c]);
        return write(l, register, v);
    }
    // The comparison has 64 bits. As on the hardware, sums and clamped shifts contribute their lower 32 bits,
    // sign-extended even if they are unsigned; the other results contribute all 64.
    let cut = match step {
        Step::Add | Step::Sub => true,
        Step::Shl | Step::Shr => i.has(M::Sat),
        _ => false,
    };
    if cut {
        v = l.resize(low, Ty::I64, true);
    }
    let c = l.resize(c, Ty::I64, types.d_signed);
    let op = match (second, types.d_signed) {
        (M::Min, true) => IntOp::MinS,
        (M::Min, false) => IntOp::MinU,
        (_, true) => IntOp::MaxS,
        (_, false) => IntOp::MaxU,
    };
    let v = l.op1(Op::Int(op, Ty::I64), &[v, c]);
    let v = l.resize(v, Ty::I32, false);
    write(l, register, v)
}

/// The destination register and its selector.
fn destination(operand: &Operand) -> (&Operand, Option<Component>) {
    match operand.kind {
        OperandKind::Component(_, part) => (operand, Some(part)),
        _ => (operand, None),
    }
}

/// Writes all 32 bits of the destination register, whatever part the instruction names.
fn write(l: &mut Lower, operand: &Operand, v: Value) -> Result<()> {
    match operand.kind {
        OperandKind::Component(r, _) => {
            let (var, ty) = l.reg_var(r, 0);
            let v = l.resize(v, ty, false);
            l.write(var, v);
            Ok(())
        }
        _ => l.write_dest(operand, v, false),
    }
}

/// The parts that a multi-part selector names, lowest first; without a selector, they begin with part
/// `first`.
fn lanes_of(component: Option<Component>, parts: u32, first: u8) -> Vec<u8> {
    match component {
        Some(Component::Lanes { digits, count, .. }) => digits.into_iter().take(count.into()).rev().collect(),
        Some(Component::Byte(n) | Component::Half(n)) => vec![n],
        _ => (first..).take(parts as usize).collect(),
    }
}

/// `vadd2`, `vadd4` and similar instructions: parts picked from a and b, and merged into c or added to it.
fn simd(l: &mut Lower, i: &Instruction, parts: u32, step: Step) -> Result<()> {
    let types = Types::of(i, step);
    let part = if parts == 2 { Ty::I16 } else { Ty::I8 };
    let (a, a_lanes, _) = source(l, &i.operands[1])?;
    let (b, b_lanes, _) = source(l, &i.operands[2])?;
    let c = l.value(&i.operands[3], ScalarType::B32)?;
    let mut pool = split(l, part, a);
    pool.extend(split(l, part, b));
    let (_, mask) = destination(&i.operands[0]);
    let mask = lanes_of(mask, parts, 0);
    let a_lanes = lanes_of(a_lanes, parts, 0);
    let b_lanes = lanes_of(b_lanes, parts, parts as u8);
    let mut results = Vec::new();
    for (&x, &y) in a_lanes.iter().zip(&b_lanes) {
        let (Some(&x), Some(&y)) = (pool.get(usize::from(x)), pool.get(usize::from(y))) else {
            return l.fail(ErrorClass::Invalid, i.span, "a selector names a part that does not exist");
        };
        let x = l.resize(x, Ty::I32, types.a_signed);
        let y = l.resize(y, Ty::I32, types.b_signed);
        results.push(apply(l, i, step, Ty::I32, x, y));
    }
    if i.has(M::Add) {
        let mut sum = c;
        for &n in &mask {
            sum = l.op1(Op::Int(IntOp::Add, Ty::I32), &[sum, results[usize::from(n)]]);
        }
        return write(l, &i.operands[0], sum);
    }
    let mut merged = split(l, part, c);
    for &n in &mask {
        let v = results[usize::from(n)];
        merged[usize::from(n)] =
            if i.has(M::Sat) { clamped(l, v, part, types.d_signed) } else { l.resize(v, part, false) };
    }
    let v = l.op1(Op::Pack { part, whole: Ty::I32 }, &merged);
    write(l, &i.operands[0], v)
}

/// `vmad`: a product plus an addend, either of them negated, or their sum plus one; shifted, then clamped. As
/// on the hardware, whole registers are signed numbers whatever their types.
fn multiply_add(l: &mut Lower, i: &Instruction) -> Result<()> {
    let signed = |n| i.ty(n).is_some_and(|t: ScalarType| t.is_signed());
    let (a_signed, b_signed) = (signed(1), signed(2));
    let negated = |n: usize| matches!(i.operands[n].kind, OperandKind::Negated(..));
    let negate_product = negated(1) != negated(2);
    let result_signed = a_signed || b_signed || negate_product || negated(3);
    let ty = Ty::I64;
    let int = |o| Op::Int(o, ty);
    let a = factor(l, &i.operands[1], a_signed)?;
    let b = factor(l, &i.operands[2], b_signed)?;
    let (c, _, negate_c) = source(l, &i.operands[3])?;
    let c = l.resize(c, ty, true);
    let product = l.op1(int(IntOp::Mul), &[a, b]);
    let mut v = match (negate_product, negate_c) {
        (true, _) => l.op1(int(IntOp::Sub), &[c, product]),
        (false, true) => l.op1(int(IntOp::Sub), &[product, c]),
        (false, false) => l.op1(int(IntOp::Add), &[product, c]),
    };
    if i.has(M::Po) {
        let one = l.constant(ty, 1);
        v = l.op1(int(IntOp::Add), &[v, one]);
    }
    let down = match i.one_of(&[M::Shr7, M::Shr15]) {
        Some(M::Shr7) => 7,
        Some(_) => 15,
        None => 0,
    };
    if down > 0 {
        let amount = l.constant(Ty::I32, down);
        let shift = if result_signed { ShiftOp::ShrS } else { ShiftOp::ShrU };
        v = l.op1(Op::Shift(shift, ty), &[v, amount]);
    }
    let v = if i.has(M::Sat) { clamped(l, v, Ty::I32, result_signed) } else { l.resize(v, Ty::I32, false) };
    l.write_dest(&i.operands[0], v, false)
}

/// A factor of [`multiply_add`].
fn factor(l: &mut Lower, operand: &Operand, signed: bool) -> Result<Value> {
    let (_, component, _) = source(l, operand)?;
    let whole = part_of(component).0 == Ty::I32;
    Ok(selected(l, operand, signed || whole, Ty::I64)?.0)
}
