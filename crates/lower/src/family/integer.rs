//! Integer arithmetic, bit fields, logic and shifts (PTX ISA 9.7.1, 9.7.2, 9.7.8).

use ptx::ast::{Instruction, Operand, OperandKind};
use ptx::{Modifier as M, Opcode, ScalarType};
use wave::op::{CountOp, IntCmp, IntOp, IntUnOp, Op, PrmtMode, ShiftOp};
use wave::{Ty, Value};

use crate::function::{Lower, Result};
use crate::link::ty_of;
use crate::var::Var;

/// The instruction's type; `.b32` if none is written.
fn scalar(i: &Instruction) -> ScalarType {
    i.ty(0).unwrap_or(ScalarType::B32)
}

/// The operands after the first as values of the instruction's type.
fn sources(l: &mut Lower, i: &Instruction, t: ScalarType) -> Result<Vec<Value>> {
    i.operands.iter().skip(1).map(|o| l.value(o, t)).collect()
}

fn dest(i: &Instruction) -> &Operand {
    // The parser ensures operands for every instruction of this file; the first is the destination.
    &i.operands[0]
}

/// The operation on one part of a packed value.
type Part<'f> = &'f mut dyn FnMut(&mut Lower, Ty, &[Value]) -> Result<Value>;

/// Runs `f` on the two halves of packed 16-bit operands, or once on the whole.
pub fn lanes(l: &mut Lower, t: ScalarType, args: &[Value], f: Part) -> Result<Value> {
    let whole = ty_of(t);
    if t.lanes() == 1 {
        return f(l, whole, args);
    }
    let Some(part) = Ty::of_bits(t.bits() / t.lanes()) else { return f(l, whole, args) };
    let split: Vec<Vec<Value>> = args.iter().map(|&a| l.op(Op::Unpack { part, whole }, &[a])).collect();
    let mut results = Vec::new();
    for n in 0..t.lanes() as usize {
        let column: Vec<Value> = split.iter().map(|s| s[n]).collect();
        results.push(f(l, part, &column)?);
    }
    Ok(l.op1(Op::Pack { part, whole }, &results))
}

pub fn arithmetic(l: &mut Lower, i: &Instruction) -> Result<()> {
    let t = scalar(i);
    let signed = t.is_signed();
    if matches!(i.opcode, Opcode::Mul | Opcode::Mad) {
        return multiply(l, i, t);
    }
    let args = sources(l, i, t)?;
    if i.has(M::Cc) {
        return with_carry(l, i, t, &args, false);
    }
    let op = i.opcode;
    let sat = i.has(M::Sat);
    let relu = i.has(M::Relu);
    let v = lanes(l, t, &args, &mut |l, ty, a| {
        let int = |o: IntOp| Op::Int(o, ty);
        let v = match op {
            Opcode::Add | Opcode::Sub if sat && !signed => saturated(l, op, ty, a),
            Opcode::Add => l.op1(int(if sat { IntOp::AddSatS } else { IntOp::Add }), a),
            Opcode::Sub => l.op1(int(if sat { IntOp::SubSatS } else { IntOp::Sub }), a),
            Opcode::Div => l.op1(int(if signed { IntOp::DivS } else { IntOp::DivU }), a),
            Opcode::Rem => l.op1(int(if signed { IntOp::RemS } else { IntOp::RemU }), a),
            Opcode::Min => l.op1(int(if signed { IntOp::MinS } else { IntOp::MinU }), a),
            Opcode::Max => l.op1(int(if signed { IntOp::MaxS } else { IntOp::MaxU }), a),
            Opcode::Abs => l.op1(Op::IntUn(IntUnOp::Abs, ty), a),
            _ => l.op1(Op::IntUn(IntUnOp::Neg, ty), a),
        };
        if relu {
            let zero = l.constant(ty, 0);
            return Ok(l.op1(int(IntOp::MaxS), &[v, zero]));
        }
        Ok(v)
    })?;
    l.write_dest(dest(i), v, signed)
}

/// An unsigned sum or difference that saturates.
fn saturated(l: &mut Lower, op: Opcode, ty: Ty, a: &[Value]) -> Value {
    let (add, mask) = (op == Opcode::Add, ty.mask());
    let r = l.op1(Op::Int(if add { IntOp::Add } else { IntOp::Sub }, ty), a);
    // It has wrapped if it is on the wrong side of the first operand.
    let cmp = if add { IntCmp::LtU } else { IntCmp::GtU };
    let wrapped = l.op1(Op::IntCmp(cmp, ty), &[r, a[0]]);
    let limit = l.constant(ty, if add { mask } else { 0 });
    l.op1(Op::Select(ty), &[wrapped, limit, r])
}

/// `clmad.lo`, `clmad.hi`: a carry-less product plus a carry-less sum.
pub fn carryless(l: &mut Lower, i: &Instruction) -> Result<()> {
    let args = sources(l, i, ScalarType::U64)?;
    let &[a, b, c] = args.as_slice() else { return l.unsupported(i, "it requires three sources") };
    let reversed = |l: &mut Lower, v| l.op1(Op::IntUn(IntUnOp::Brev, Ty::I64), &[v]);
    let product = if i.has(M::Hi) {
        // The product of bit-reversed factors is the bit-reversed 127-bit product.
        let (a, b) = (reversed(l, a), reversed(l, b));
        let mirrored = polynomial(l, a, b);
        let upper = reversed(l, mirrored);
        let one = l.constant(Ty::I32, 1);
        l.op1(Op::Shift(ShiftOp::ShrU, Ty::I64), &[upper, one])
    } else {
        polynomial(l, a, b)
    };
    let v = l.op1(Op::Int(IntOp::Xor, Ty::I64), &[product, c]);
    l.write_dest(dest(i), v, false)
}

/// The lower half of a carry-less product. Each factor is split into four, which keep every fourth bit, so
/// that the carries of integer products stay in the bits between. At most 15 ones are added at a position,
/// which carries at most three bits; only the last position has 16, and its carry leaves this half.
fn polynomial(l: &mut Lower, a: Value, b: Value) -> Value {
    let int = |l: &mut Lower, op, a, b| l.op1(Op::Int(op, Ty::I64), &[a, b]);
    let masks: Vec<Value> =
        (0..4).map(|n| l.constant(Ty::I64, u128::from(0x1111_1111_1111_1111_u64 << n))).collect();
    let part = |l: &mut Lower, v| masks.iter().map(|m| int(l, IntOp::And, v, *m)).collect::<Vec<_>>();
    let (a, b) = (part(l, a), part(l, b));
    let mut whole = l.constant(Ty::I64, 0);
    for (n, mask) in masks.iter().enumerate() {
        let mut sum = l.constant(Ty::I64, 0);
        for (m, x) in a.iter().enumerate() {
            let product = int(l, IntOp::Mul, *x, b[(n + 4 - m) % 4]);
            sum = int(l, IntOp::Xor, sum, product);
        }
        let kept = int(l, IntOp::And, sum, *mask);
        whole = int(l, IntOp::Or, whole, kept);
    }
    whole
}

/// The part of the product that the instruction selects.
fn product(l: &mut Lower, i: &Instruction, t: ScalarType, a: Value, b: Value) -> (Value, Ty) {
    let ty = ty_of(t);
    let signed = t.is_signed();
    if i.has(M::Wide) {
        let to = Ty::of_bits(ty.bits() * 2).unwrap_or(Ty::I64);
        let (a, b) = (l.resize(a, to, signed), l.resize(b, to, signed));
        return (l.op1(Op::Int(IntOp::Mul, to), &[a, b]), to);
    }
    let op = match (i.has(M::Hi), signed) {
        (false, _) => IntOp::Mul,
        (true, true) => IntOp::MulHiS,
        (true, false) => IntOp::MulHiU,
    };
    (l.op1(Op::Int(op, ty), &[a, b]), ty)
}

fn multiply(l: &mut Lower, i: &Instruction, t: ScalarType) -> Result<()> {
    let a = l.value(&i.operands[1], t)?;
    let b = l.value(&i.operands[2], t)?;
    let (p, ty) = product(l, i, t, a, b);
    if i.opcode == Opcode::Mul {
        return l.write_dest(dest(i), p, t.is_signed());
    }
    let wide = crate::operand::bits_type(ty);
    let c = l.value(&i.operands[3], wide)?;
    if i.has(M::Cc) {
        return with_carry(l, i, wide, &[p, c], false);
    }
    let op = if i.has(M::Sat) { IntOp::AddSatS } else { IntOp::Add };
    let v = l.op1(Op::Int(op, ty), &[p, c]);
    l.write_dest(dest(i), v, t.is_signed())
}

/// Adds or subtracts through the carry flag: reads it if `chain`, writes it if the instruction has `.cc`.
/// After a subtraction the flag is clear if it borrowed. That shows in chains that mix sums and differences,
/// and it is what the hardware answers.
fn with_carry(l: &mut Lower, i: &Instruction, t: ScalarType, args: &[Value], chain: bool) -> Result<()> {
    let ty = ty_of(t);
    let subtract = matches!(i.opcode, Opcode::Sub | Opcode::Subc);
    let flag = |l: &mut Lower, v: Value| if subtract { l.not(v) } else { v };
    let carry = if chain {
        let carry = l.read(Var::Carry, Ty::I1);
        flag(l, carry)
    } else {
        l.constant(Ty::I1, 0)
    };
    let op = if subtract { Op::SubBorrow(ty) } else { Op::AddCarry(ty) };
    let r = l.op(op, &[args[0], args[1], carry]);
    if i.has(M::Cc) {
        let carry = flag(l, r[1]);
        l.write(Var::Carry, carry);
    }
    l.write_dest(dest(i), r[0], false)
}

pub fn carry(l: &mut Lower, i: &Instruction) -> Result<()> {
    let t = scalar(i);
    let mut args = sources(l, i, t)?;
    if i.opcode == Opcode::Madc {
        let (p, _) = product(l, i, t, args[0], args[1]);
        args = vec![p, args[2]];
    }
    with_carry(l, i, t, &args, true)
}

pub fn mul24(l: &mut Lower, i: &Instruction) -> Result<()> {
    let t = scalar(i);
    let signed = t.is_signed();
    let args = sources(l, i, t)?;
    let (zero, bits) = (l.constant(Ty::I32, 0), l.constant(Ty::I32, 24));
    let mut wide = Vec::new();
    for &a in &args[..2] {
        let v = l.op1(Op::Bfe { signed, ty: Ty::I32 }, &[a, zero, bits]);
        wide.push(l.resize(v, Ty::I64, signed));
    }
    let p = l.op1(Op::Int(IntOp::Mul, Ty::I64), &wide);
    // `.hi` takes bits 16 to 47 of the 48-bit product.
    let shift = l.constant(Ty::I32, if i.has(M::Hi) { 16 } else { 0 });
    let p = l.op1(Op::Shift(ShiftOp::ShrU, Ty::I64), &[p, shift]);
    let mut v = l.resize(p, Ty::I32, false);
    if i.opcode == Opcode::Mad24 {
        let op = if i.has(M::Sat) { IntOp::AddSatS } else { IntOp::Add };
        v = l.op1(Op::Int(op, Ty::I32), &[v, args[2]]);
    }
    l.write_dest(dest(i), v, signed)
}

pub fn sad(l: &mut Lower, i: &Instruction) -> Result<()> {
    let t = scalar(i);
    let ty = ty_of(t);
    let args = sources(l, i, t)?;
    let (min, max) = if t.is_signed() { (IntOp::MinS, IntOp::MaxS) } else { (IntOp::MinU, IntOp::MaxU) };
    let low = l.op1(Op::Int(min, ty), &args[..2]);
    let high = l.op1(Op::Int(max, ty), &args[..2]);
    let d = l.op1(Op::Int(IntOp::Sub, ty), &[high, low]);
    let v = l.op1(Op::Int(IntOp::Add, ty), &[d, args[2]]);
    l.write_dest(dest(i), v, t.is_signed())
}

pub fn count(l: &mut Lower, i: &Instruction) -> Result<()> {
    let t = scalar(i);
    let a = l.value(&i.operands[1], t)?;
    let op = match (i.opcode, t.is_signed(), i.has(M::Shiftamt)) {
        (Opcode::Popc, ..) => CountOp::Popc,
        (Opcode::Clz, ..) => CountOp::Clz,
        (_, false, false) => CountOp::BfindU,
        (_, true, false) => CountOp::BfindS,
        (_, false, true) => CountOp::BfindShU,
        (_, true, true) => CountOp::BfindShS,
    };
    let v = l.op1(Op::Count(op, ty_of(t)), &[a]);
    l.write_dest(dest(i), v, false)
}

pub fn unary(l: &mut Lower, i: &Instruction) -> Result<()> {
    let t = scalar(i);
    let ty = ty_of(t);
    let a = l.value(&i.operands[1], t)?;
    let v = match i.opcode {
        Opcode::Brev => l.op1(Op::IntUn(IntUnOp::Brev, ty), &[a]),
        Opcode::Not => l.op1(Op::IntUn(IntUnOp::Not, ty), &[a]),
        _ => {
            let zero = l.constant(ty, 0);
            let p = l.op1(Op::IntCmp(IntCmp::Eq, ty), &[a, zero]);
            l.resize(p, ty, false)
        }
    };
    l.write_dest(dest(i), v, false)
}

pub fn fns(l: &mut Lower, i: &Instruction) -> Result<()> {
    let args = sources(l, i, ScalarType::B32)?;
    let v = l.op1(Op::Fns, &args);
    l.write_dest(dest(i), v, false)
}

pub fn bit_field(l: &mut Lower, i: &Instruction) -> Result<()> {
    let t = scalar(i);
    let ty = ty_of(t);
    let values = if i.opcode == Opcode::Bfe { 1 } else { 2 };
    let mut args = Vec::new();
    for (n, o) in i.operands.iter().skip(1).enumerate() {
        args.push(l.value(o, if n < values { t } else { ScalarType::U32 })?);
    }
    let op = if i.opcode == Opcode::Bfe { Op::Bfe { signed: t.is_signed(), ty } } else { Op::Bfi(ty) };
    let v = l.op1(op, &args);
    l.write_dest(dest(i), v, t.is_signed())
}

/// `bmsk` and `szext`: the last operand gives the width of the bit field.
pub fn mask(l: &mut Lower, i: &Instruction) -> Result<()> {
    let a = l.value(&i.operands[1], ScalarType::B32)?;
    let b = l.value(&i.operands[2], ScalarType::B32)?;
    let n = |l: &mut Lower, v: u128| l.constant(Ty::I32, v);
    let int = |o| Op::Int(o, Ty::I32);
    let limit = |l: &mut Lower, v: Value| {
        let (m31, m32) = (n(l, 31), n(l, 32));
        if i.has(M::Wrap) { l.op1(int(IntOp::And), &[v, m31]) } else { l.op1(int(IntOp::MinU), &[v, m32]) }
    };
    if i.opcode == Opcode::Bmsk {
        // A field of b ones starting at bit a.
        let (a, b) = (limit(l, a), limit(l, b));
        let (ones, one) = (n(l, 0xffff_ffff), n(l, 1));
        let top = l.op1(Op::Shift(ShiftOp::Shl, Ty::I32), &[one, b]);
        let low = l.op1(int(IntOp::Sub), &[top, one]);
        let m32 = n(l, 32);
        let full = l.op1(Op::IntCmp(IntCmp::GeU, Ty::I32), &[b, m32]);
        let low = l.op1(Op::Select(Ty::I32), &[full, ones, low]);
        let v = l.op1(Op::Shift(ShiftOp::Shl, Ty::I32), &[low, a]);
        return l.write_dest(dest(i), v, false);
    }
    let width = limit(l, b);
    let zero = n(l, 0);
    let v = l.op1(Op::Bfe { signed: scalar(i).is_signed(), ty: Ty::I32 }, &[a, zero, width]);
    l.write_dest(dest(i), v, scalar(i).is_signed())
}

pub fn dot(l: &mut Lower, i: &Instruction) -> Result<()> {
    let signed = |n| i.ty(n).is_some_and(|t: ScalarType| t.is_signed());
    let (a_signed, b_signed) = (signed(0), signed(1));
    let args = sources(l, i, ScalarType::B32)?;
    let op = match i.opcode {
        Opcode::Dp4a => Op::Dp4a { a_signed, b_signed },
        _ => Op::Dp2a { a_signed, b_signed, hi: i.has(M::Hi) },
    };
    let v = l.op1(op, &args);
    l.write_dest(dest(i), v, false)
}

pub fn logic(l: &mut Lower, i: &Instruction) -> Result<()> {
    let t = scalar(i);
    let args = sources(l, i, t)?;
    let op = match i.opcode {
        Opcode::And => IntOp::And,
        Opcode::Or => IntOp::Or,
        _ => IntOp::Xor,
    };
    let v = l.op1(Op::Int(op, ty_of(t)), &args);
    l.write_dest(dest(i), v, false)
}

/// `lop3.b32 d, a, b, c, table` and `lop3.or.b32 d|p, a, b, c, table, q`.
pub fn lop3(l: &mut Lower, i: &Instruction) -> Result<()> {
    let mut args = Vec::new();
    for o in &i.operands[1..4] {
        args.push(l.value(o, ScalarType::B32)?);
    }
    let Some(table) = i.operands[4].int() else { return l.unsupported(i, "the table must be a constant") };
    let v = l.op1(Op::Lop3(table.bits as u8), &args);
    if let OperandKind::Pair(pair) = &dest(i).kind {
        let q = l.value(&i.operands[5], ScalarType::Pred)?;
        let zero = l.constant(Ty::I32, 0);
        let set = l.op1(Op::IntCmp(IntCmp::Ne, Ty::I32), &[v, zero]);
        let op = if i.has(M::And) { IntOp::And } else { IntOp::Or };
        let p = l.op1(Op::Int(op, Ty::I1), &[set, q]);
        l.write_dest(&pair.0, v, false)?;
        return l.write_dest(&pair.1, p, false);
    }
    l.write_dest(dest(i), v, false)
}

pub fn shift(l: &mut Lower, i: &Instruction) -> Result<()> {
    let t = scalar(i);
    let a = l.value(&i.operands[1], t)?;
    let amount = l.value(&i.operands[2], ScalarType::U32)?;
    let op = match (i.opcode, t.is_signed()) {
        (Opcode::Shl, _) => ShiftOp::Shl,
        (_, true) => ShiftOp::ShrS,
        (_, false) => ShiftOp::ShrU,
    };
    let v = l.op1(Op::Shift(op, ty_of(t)), &[a, amount]);
    l.write_dest(dest(i), v, t.is_signed())
}

pub fn funnel(l: &mut Lower, i: &Instruction) -> Result<()> {
    let args = sources(l, i, ScalarType::B32)?;
    let v = l.op1(Op::Funnel { left: i.has(M::L), clamp: i.has(M::Clamp) }, &args);
    l.write_dest(dest(i), v, false)
}

pub fn permute(l: &mut Lower, i: &Instruction) -> Result<()> {
    let args = sources(l, i, ScalarType::B32)?;
    let modes = [
        (M::F4e, PrmtMode::F4e),
        (M::B4e, PrmtMode::B4e),
        (M::Rc8, PrmtMode::Rc8),
        (M::Ecl, PrmtMode::Ecl),
        (M::Ecr, PrmtMode::Ecr),
        (M::Rc16, PrmtMode::Rc16),
    ];
    let mode = modes.iter().find(|(m, _)| i.has(*m)).map_or(PrmtMode::Default, |(_, p)| *p);
    let v = l.op1(Op::Prmt(mode), &args);
    l.write_dest(dest(i), v, false)
}
