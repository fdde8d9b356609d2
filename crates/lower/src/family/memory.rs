//! Data movement (PTX ISA 9.7.9) and atomics (9.7.13.5, 9.7.13.7).

use ptx::ast::{AddressBase, Instruction, Operand, OperandKind, VariableRef};
use ptx::{Modifier as M, Opcode, ScalarType};
use wave::op::{AtomOp, AtomTy, CacheLevel, Guard, IntOp, MemMode, Op, Order, Scope, Space};
use wave::{Ty, Value};

use super::{bulk, mbarrier};
use crate::error::ErrorClass;
use crate::function::{Lower, Result, VarPlace};
use crate::link::ty_of;
use crate::operand::bits_type;
use crate::var::Var;

/// The instruction's scope.
pub fn scope(i: &Instruction) -> Scope {
    match i.scope() {
        Some(M::Cta) => Scope::Cta,
        Some(M::Cluster) => Scope::Cluster,
        Some(M::Gpu | M::Gl) => Scope::Gpu,
        _ => Scope::Sys,
    }
}

/// The instruction's memory order, or `default`.
pub fn order(i: &Instruction, default: Order) -> Order {
    match i.sem() {
        Some(M::Volatile | M::Mmio) => Order::Volatile,
        Some(M::Relaxed) => Order::Relaxed,
        Some(M::Acquire) => Order::Acquire,
        Some(M::Release) => Order::Release,
        Some(M::AcqRel) => Order::AcqRel,
        Some(M::Sc) => Order::Sc,
        Some(M::Weak) => Order::Weak,
        _ => default,
    }
}

pub fn mov(l: &mut Lower, i: &Instruction) -> Result<()> {
    let t = i.ty(0).unwrap_or(ScalarType::B32);
    // A move between vector registers moves each element.
    if let (OperandKind::Reg(d), OperandKind::Reg(s)) = (&i.operands[0].kind, &i.operands[1].kind) {
        let n = l.register_elements(*d).min(l.register_elements(*s));
        if n > 1 {
            for e in 0..n {
                let v = l.read_reg(*s, e);
                let (var, _) = l.reg_var(*d, e);
                l.write(var, v);
            }
            return Ok(());
        }
    }
    if i.vec() > 1 {
        let (to, from) = (elements(l, &i.operands[0], i.vec()), elements(l, &i.operands[1], i.vec()));
        let (Some(to), Some(from)) = (to, from) else {
            return l.fail(
                ErrorClass::Invalid,
                i.span,
                "the number of elements must be that of the instruction",
            );
        };
        // Read all elements before the first write.
        let values = from.into_iter().map(|e| read_element(l, e, t)).collect::<Result<Vec<_>>>()?;
        return to.into_iter().zip(values).try_for_each(|(e, v)| write_element(l, e, v, false));
    }
    let v = l.value(&i.operands[1], t)?;
    l.write_dest(&i.operands[0], v, false)
}

pub fn cvta(l: &mut Lower, i: &Instruction) -> Result<()> {
    let t = i.ty(0).unwrap_or(ScalarType::U64);
    let Some(space) = l.space(i.space()) else { return l.unsupported(i, "") };
    let (v, offset) = match &i.operands[1].kind {
        OperandKind::Symbol(s) => {
            let (v, from) = l.symbol_address(s.symbol, s.offset, &i.operands[1])?;
            // A name that already is a generic address (a parameter array) is unchanged.
            if from == Space::Generic {
                let v = l.resize(v, ty_of(t), false);
                return l.write_dest(&i.operands[0], v, false);
            }
            (v, 0)
        }
        _ => (l.value(&i.operands[1], t)?, 0),
    };
    let v = l.resize(v, Ty::I64, false);
    let v = l.offset(v, offset);
    let v = match space {
        Space::Global | Space::Const => v,
        Space::Param if i.has(M::To) && !l.function.is_entry => l.op1(Op::FromGeneric(Space::Local), &[v]),
        _ if i.has(M::To) => l.op1(Op::FromGeneric(space), &[v]),
        // In device functions, parameters are in local memory.
        Space::Param if !l.function.is_entry => l.op1(Op::ToGeneric(Space::Local), &[v]),
        _ => l.op1(Op::ToGeneric(space), &[v]),
    };
    let v = l.resize(v, ty_of(t), false);
    l.write_dest(&i.operands[0], v, false)
}

pub fn isspacep(l: &mut Lower, i: &Instruction) -> Result<()> {
    let Some(space) = l.space(i.space()) else { return l.unsupported(i, "") };
    let a = l.value(&i.operands[1], ScalarType::B64)?;
    let mut v = l.op1(Op::IsSpace(space), &[a]);
    if matches!(i.space(), Some(ptx::Space::Shared | ptx::Space::SharedCta)) && l.has_clusters() {
        let own = super::cluster::is_own(l, a);
        v = l.op1(Op::Int(wave::op::IntOp::And, Ty::I1), &[v, own]);
    }
    l.write_dest(&i.operands[0], v, false)
}

/// A memory operand: base, constant offset and mode.
pub fn memory(
    l: &mut Lower,
    i: &Instruction,
    operand: &Operand,
    default: Order,
) -> Result<(Value, i32, MemMode)> {
    let (mut base, mut offset, implied) = l.address(operand)?;
    let written = match i.space() {
        Some(s) => match l.space(Some(s)) {
            Some(s) => Some(s),
            None => return l.unsupported(i, "this space"),
        },
        None => None,
    };
    // `.param` in a device function means the caller's slot, which is in local memory.
    let space = match (written, implied) {
        (Some(Space::Param), Some(s)) => s,
        (Some(Space::Param), None) if !l.function.is_entry => Space::Local,
        (Some(s), _) => s,
        (None, Some(s)) => s,
        (None, None) => Space::Generic,
    };
    if space == Space::Shared {
        base = l.wrapping_base(operand, base);
    }
    if i32::try_from(offset).is_err() {
        base = l.offset(base, offset);
        offset = 0;
    }
    let order = order(i, default);
    let scope = if matches!(order, Order::Weak | Order::Volatile) { Scope::Sys } else { scope(i) };
    Ok((base, offset as i32, MemMode { space, order, scope }))
}

/// The scalar `.param` variable that an address names directly.
fn scalar_param(l: &Lower, operand: &Operand) -> Option<(Var, Ty, i64)> {
    let a = operand.address()?;
    let ptx::ast::AddressBase::Var(VariableRef::Var(v)) = a.base else { return None };
    match l.var_place(v) {
        VarPlace::Scalar(ty) => Some((Var::Param(v.0), ty, a.offset)),
        _ => None,
    }
}

/// The destinations or sources of a vector access.
fn elements<'a>(l: &Lower, operand: &'a Operand, count: u8) -> Option<Vec<Element<'a>>> {
    if count == 1 {
        return Some(vec![Element::Operand(operand)]);
    }
    match &operand.kind {
        OperandKind::Vector(v) if v.len() == usize::from(count) => {
            Some(v.iter().map(Element::Operand).collect())
        }
        OperandKind::Reg(r) if l.register_elements(*r) == count => {
            Some((0..count).map(|e| Element::Part(*r, e)).collect())
        }
        _ => None,
    }
}

/// One element of a vector operand.
#[derive(Clone, Copy)]
enum Element<'a> {
    Operand(&'a Operand),
    Part(ptx::ast::RegId, u8),
}

fn read_element(l: &mut Lower, e: Element, t: ScalarType) -> Result<Value> {
    match e {
        Element::Operand(o) => l.value(o, t),
        Element::Part(r, e) => {
            let v = l.read_reg(r, e);
            Ok(l.resize(v, ty_of(t), false))
        }
    }
}

fn write_element(l: &mut Lower, e: Element, v: Value, signed: bool) -> Result<()> {
    match e {
        Element::Operand(o) => l.write_dest(o, v, signed),
        Element::Part(r, e) => {
            let (var, own) = l.reg_var(r, e);
            let v = l.resize(v, own, signed);
            l.write(var, v);
            Ok(())
        }
    }
}

pub fn load(l: &mut Lower, i: &Instruction) -> Result<()> {
    let t = i.ty(0).unwrap_or(ScalarType::B32);
    let count = i.vec();
    let ty = ty_of(t);
    if let Some((var, own, offset)) = scalar_param(l, &i.operands[1]) {
        let v = l.read(var, own);
        let v = if offset == 0 {
            v
        } else {
            let shift = l.constant(Ty::I32, (offset as u128).wrapping_mul(8));
            l.op1(Op::Shift(wave::op::ShiftOp::ShrU, own), &[v, shift])
        };
        let v = l.resize(v, ty, false);
        return l.write_dest(&i.operands[0], v, t.is_signed());
    }
    // `.cv` fetches again what another thread may have written.
    let default = if i.has(M::Cv) { Order::Volatile } else { Order::Weak };
    let (base, offset, mem) = memory(l, i, &i.operands[1], default)?;
    let Some(targets) = elements(l, &i.operands[0], count) else {
        return l.fail(
            ErrorClass::Invalid,
            i.span,
            "the destination must have as many elements as the access",
        );
    };
    let values = l.op(Op::Load { mem, ty, count, offset, guard: Guard::Always }, &[base]);
    targets.into_iter().zip(values).try_for_each(|(e, v)| write_element(l, e, v, t.is_signed()))
}

pub fn store(l: &mut Lower, i: &Instruction) -> Result<()> {
    if i.has(ptx::Modifier::Bulk) {
        return bulk::fill(l, i);
    }
    let t = i.ty(0).unwrap_or(ScalarType::B32);
    let count = i.vec();
    let ty = ty_of(t);
    let in_register = i.operands[0].address().is_some_and(|a| matches!(a.base, AddressBase::Reg(_)));
    if in_register && matches!(i.space(), Some(ptx::Space::Param | ptx::Space::ParamFunc)) {
        return l.unsupported(i, "a parameter must be written by name");
    }
    if let Some((var, own, offset)) = scalar_param(l, &i.operands[0]) {
        let v = l.value(&i.operands[1], t)?;
        if offset == 0 && ty.bits() >= own.bits() {
            let v = l.resize(v, own, t.is_signed());
            l.write(var, v);
            return Ok(());
        }
        // The surrounding bytes are preserved.
        let place = l.constant(Ty::I32, (offset as u128).wrapping_mul(8));
        let shl = |l: &mut Lower, v| l.op1(Op::Shift(wave::op::ShiftOp::Shl, own), &[v, place]);
        let new = l.resize(v, own, false);
        let mask = l.constant(own, ty.mask());
        let (new, mask) = (shl(l, new), shl(l, mask));
        let keep = l.op1(Op::IntUn(wave::op::IntUnOp::Not, own), &[mask]);
        let old = l.read(var, own);
        let old = l.op1(Op::Int(wave::op::IntOp::And, own), &[old, keep]);
        let v = l.op1(Op::Int(wave::op::IntOp::Or, own), &[old, new]);
        l.write(var, v);
        return Ok(());
    }
    let (base, offset, mem) = memory(l, i, &i.operands[0], Order::Weak)?;
    let Some(sources) = elements(l, &i.operands[1], count) else {
        return l.fail(ErrorClass::Invalid, i.span, "the source must have as many elements as the access");
    };
    let left_out = |e: &Element| matches!(e, Element::Operand(o) if o.kind == OperandKind::Sink);
    if sources.iter().any(left_out) {
        // Elements that are left out (`_`) are not written.
        for (e, source) in sources.into_iter().enumerate() {
            if !left_out(&source) {
                let offset = offset.wrapping_add(ty.bytes() as i32 * e as i32);
                let args = [base, read_element(l, source, t)?];
                l.op(Op::Store { mem, ty, count: 1, offset, guard: Guard::Always }, &args);
            }
        }
        return Ok(());
    }
    let mut args = vec![base];
    for source in sources {
        args.push(read_element(l, source, t)?);
    }
    l.op(Op::Store { mem, ty, count, offset, guard: Guard::Always }, &args);
    match i.operands.get(2).filter(|_| i.has(ptx::Modifier::Async)) {
        Some(barrier) => mbarrier::written(l, i, barrier, ty.bytes() * u32::from(count)),
        None => Ok(()),
    }
}

/// Hints change no result, but their operands are checked. Prefetch hints are passed on.
pub fn hint(l: &mut Lower, i: &Instruction) -> Result<()> {
    let Some(o) = i.operands.first().filter(|o| o.address().is_some()) else { return Ok(()) };
    let (address, offset, _) = l.address(o)?;
    if i.opcode == Opcode::Prefetch {
        let offset = l.constant(Ty::I64, u128::from(offset as u64));
        let address = l.op1(Op::Int(IntOp::Add, Ty::I64), &[address, offset]);
        let space = if i.has(M::Global) { Space::Global } else { Space::Generic };
        let outer = [M::L2, M::L2EvictLast, M::L2EvictNormal].iter().any(|&m| i.has(m));
        let level = if outer { CacheLevel::L2 } else { CacheLevel::L1 };
        l.op(Op::Prefetch(space, level), &[address]);
    }
    Ok(())
}

/// The operation and type of an atomic.
pub fn atomic_kind(i: &Instruction, t: ScalarType) -> Option<(AtomOp, AtomTy)> {
    let op = i.modifiers.iter().find_map(|m| {
        Some(match m {
            M::Add => AtomOp::Add,
            M::Inc => AtomOp::Inc,
            M::Dec => AtomOp::Dec,
            M::Min => AtomOp::Min,
            M::Max => AtomOp::Max,
            M::Exch => AtomOp::Exch,
            M::Cas => AtomOp::Cas,
            M::And => AtomOp::And,
            M::Or => AtomOp::Or,
            M::Xor => AtomOp::Xor,
            _ => return None,
        })
    })?;
    let ty = match t {
        ScalarType::B16 => AtomTy::B16,
        ScalarType::B32 => AtomTy::B32,
        ScalarType::B64 => AtomTy::B64,
        ScalarType::B128 => AtomTy::B128,
        ScalarType::U32 => AtomTy::U32,
        ScalarType::U64 => AtomTy::U64,
        ScalarType::S32 => AtomTy::S32,
        ScalarType::S64 => AtomTy::S64,
        ScalarType::F16 => AtomTy::F16,
        ScalarType::F16x2 => AtomTy::F16x2,
        ScalarType::Bf16 => AtomTy::BF16,
        ScalarType::Bf16x2 => AtomTy::BF16x2,
        ScalarType::F32 => AtomTy::F32,
        ScalarType::F64 => AtomTy::F64,
        _ => return None,
    };
    Some((op, ty))
}

pub fn atomic(l: &mut Lower, i: &Instruction) -> Result<()> {
    let t = i.ty(0).unwrap_or(ScalarType::B32);
    let Some((op, ty)) = atomic_kind(i, t) else { return l.unsupported(i, "") };
    let ty = if ty == AtomTy::F32 && i.has(ptx::Modifier::Noftz) { AtomTy::F32Kept } else { ty };
    let red = i.opcode == Opcode::Red;
    let first = usize::from(!red);
    let (base, offset, mem) = memory(l, i, &i.operands[first], Order::Relaxed)?;
    let count = i.vec();
    let wide = bits_type(ty.ty());
    let width = ty.ty().bytes() as i32;
    let mut olds = Vec::new();
    for e in 0..count {
        let mut args = vec![base];
        let operands = if op == AtomOp::Cas { 2 } else { 1 };
        for o in i.operands.iter().skip(first + 1).take(operands) {
            let part = if count > 1 { o.elements().get(usize::from(e)) } else { Some(o) };
            let Some(part) = part else {
                return l.fail(
                    ErrorClass::Invalid,
                    o.span,
                    "the operand must have as many elements as the access",
                );
            };
            args.push(l.value(part, if t.is_float() { t } else { wide })?);
        }
        olds.push(l.op1(
            Op::Atom { op, ty, mem, offset: offset.wrapping_add(width * i32::from(e)), guard: Guard::Always },
            &args,
        ));
    }
    if let Some(barrier) = i.operands.get(2).filter(|_| i.has(ptx::Modifier::Async)) {
        return mbarrier::written(l, i, barrier, t.bits() / 8);
    }
    if red {
        return Ok(());
    }
    let targets = i.operands[0].elements();
    if count == 1 {
        return l.write_dest(&i.operands[0], olds[0], t.is_signed());
    }
    targets.iter().zip(olds).try_for_each(|(o, v)| l.write_dest(o, v, false))
}
