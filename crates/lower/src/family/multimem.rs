//! Memory of several devices behind one address (PTX ISA 9.7.9.14, 9.7.9.15): a loop over the devices that
//! have memory there.

use ptx::ast::Instruction;
use ptx::{Modifier as M, ScalarType};
use wave::op::{AtomOp, Builtin, FloatMode, FloatOp, Guard, IntOp, MemMode, Op, Order, Scope, Space};
use wave::types::Fmt;
use wave::{Ty, Value};

use super::bulk;
use super::mbarrier::shared_address;
use super::memory::{atomic_kind, order, scope};
use super::narrow::Narrow;
use crate::error::ErrorClass;
use crate::function::{Lower, Result};
use crate::link::ty_of;
use crate::operand::{bits_type, fmt_of};
use crate::var::Var;

/// An address in multicast memory.
#[derive(Clone, Copy)]
struct Place {
    address: Value,
    /// Size of an access in bytes.
    bytes: Value,
    mem: MemMode,
}

impl Place {
    /// The address of one device's memory there.
    fn of(self, l: &mut Lower, device: Value) -> Value {
        l.op1(Op::Builtin(Builtin::MulticastPlace), &[self.address, self.bytes, device])
    }

    /// Number of devices.
    fn devices(self, l: &mut Lower) -> Value {
        l.op1(Op::Builtin(Builtin::MulticastCount), &[self.address, self.bytes])
    }
}

/// `multimem.ld_reduce d, [a]`, `multimem.st [a], b` and `multimem.red [a], b`, also `.async`, which complete
/// synchronously; bulk copies.
pub fn multimem(l: &mut Lower, i: &Instruction) -> Result<()> {
    if i.has(M::Cp) {
        return copy(l, i);
    }
    let t = i.ty(0).unwrap_or(ScalarType::B32);
    let reads = i.has(M::LdReduce);
    let (base, offset, _) = l.address(&i.operands[usize::from(reads)])?;
    let address = l.offset(base, offset);
    let count = i.vec();
    let bytes = l.constant(Ty::I32, u128::from(t.bits() / 8 * u32::from(count)));
    let order = order(i, if i.has(M::Red) { Order::Relaxed } else { Order::Weak });
    let scope = if order == Order::Weak { Scope::Sys } else { scope(i) };
    let place = Place { address, bytes, mem: MemMode { space: Space::Global, order, scope } };
    if reads {
        return load_reduced(l, i, t, place);
    }
    let b = i.operands[1].elements();
    if b.len() != usize::from(count) {
        return l.fail(
            ErrorClass::Invalid,
            i.operands[1].span,
            "the operand must have as many elements as the access",
        );
    }
    let wide = if t.is_float() { t } else { bits_type(ty_of(t)) };
    let values = b.iter().map(|o| l.value(o, wide)).collect::<Result<Vec<_>>>()?;
    let kind = atomic_kind(i, t);
    let devices = place.devices(l);
    l.count_to(devices, |l, device| {
        let at = place.of(l, device);
        let ty = ty_of(t);
        match kind.filter(|_| i.has(M::Red)) {
            Some((op, ty)) => {
                let width = ty.ty().bytes() as i32;
                for (v, n) in values.iter().zip(0..) {
                    l.op(
                        Op::Atom { op, ty, mem: place.mem, offset: width * n, guard: Guard::Always },
                        &[at, *v],
                    );
                }
            }
            None => {
                let args: Vec<Value> = std::iter::once(at).chain(values.iter().copied()).collect();
                l.op(Op::Store { mem: place.mem, ty, count, offset: 0, guard: Guard::Always }, &args);
            }
        }
        Ok(())
    })
}

/// `multimem.cp.async.bulk [d], [s], size{, mask}`, `multimem.cp.reduce.async.bulk [d], [s], size`: copies to
/// every device's memory.
fn copy(l: &mut Lower, i: &Instruction) -> Result<()> {
    let copy = bulk::operation(i);
    let (base, offset, _) = l.address(&i.operands[0])?;
    let address = l.offset(base, offset);
    let from = shared_address(l, i, &i.operands[1])?;
    let bytes = l.value(&i.operands[2], ScalarType::U32)?;
    let size = l.resize(bytes, Ty::I64, false);
    let mut rest = vec![from, size];
    if i.has(M::CpMask) {
        rest.push(bulk::mask(l, i, 3)?);
    }
    let place = Place { address, bytes, mem: MemMode::weak(Space::Global) };
    let devices = place.devices(l);
    l.count_to(devices, |l, device| {
        let to = place.of(l, device);
        let args: Vec<Value> = std::iter::once(to).chain(rest.iter().copied()).collect();
        l.op(Op::Bulk(copy), &args);
        Ok(())
    })
}

/// How elements are reduced.
#[derive(Clone, Copy)]
struct Sum {
    op: AtomOp,
    ty: Ty,
    signed: bool,
    kind: Kind,
}

/// The elements' representation.
#[derive(Clone, Copy)]
enum Kind {
    Integer,
    /// A format, and the format in which sums are accumulated.
    Float(Fmt, Fmt),
    /// 8-bit floats, which are added as f16, and whether each sum is rounded to 8 bits.
    Narrow(Narrow, bool),
}

impl Kind {
    fn of(i: &Instruction, t: ScalarType) -> Kind {
        match (Narrow::of_bytes(t), fmt_of(t)) {
            (Some(format), _) => Kind::Narrow(format, !i.has(M::AccF16)),
            (None, Some(fmt)) => Kind::Float(fmt, if i.has(M::AccF32) { Fmt::F32 } else { fmt }),
            (None, None) => Kind::Integer,
        }
    }
}

impl Sum {
    /// Converts an element to the accumulator's representation.
    fn enter(self, l: &mut Lower, v: Value) -> Value {
        match self.kind {
            Kind::Float(from, to) if from != to => convert(l, v, from, to),
            Kind::Narrow(format, _) => format.widened(l, v),
            _ => v,
        }
    }

    /// Converts it back.
    fn leave(self, l: &mut Lower, v: Value) -> Value {
        match self.kind {
            Kind::Float(from, to) if from != to => convert(l, v, to, from),
            Kind::Narrow(format, _) => format.narrowed(l, v),
            _ => v,
        }
    }

    fn add(self, l: &mut Lower, a: Value, b: Value) -> Value {
        let fmt = match self.kind {
            Kind::Integer => None,
            Kind::Float(_, fmt) => Some(fmt),
            Kind::Narrow(..) => Some(Fmt::F16),
        };
        let op = match (fmt, self.op, self.signed) {
            (Some(fmt), AtomOp::Min, _) => Op::Float(FloatOp::Min, FloatMode::rn(fmt)),
            (Some(fmt), AtomOp::Max, _) => Op::Float(FloatOp::Max, FloatMode::rn(fmt)),
            (Some(fmt), ..) => Op::Float(FloatOp::Add, FloatMode::rn(fmt)),
            (None, AtomOp::Min, true) => Op::Int(IntOp::MinS, self.ty),
            (None, AtomOp::Min, false) => Op::Int(IntOp::MinU, self.ty),
            (None, AtomOp::Max, true) => Op::Int(IntOp::MaxS, self.ty),
            (None, AtomOp::Max, false) => Op::Int(IntOp::MaxU, self.ty),
            (None, AtomOp::And, _) => Op::Int(IntOp::And, self.ty),
            (None, AtomOp::Or, _) => Op::Int(IntOp::Or, self.ty),
            (None, AtomOp::Xor, _) => Op::Int(IntOp::Xor, self.ty),
            (None, ..) => Op::Int(IntOp::Add, self.ty),
        };
        let sum = l.op1(op, &[a, b]);
        match self.kind {
            // An f16 has enough bits that rounding twice gives the same as rounding once.
            Kind::Narrow(format, true) => {
                let code = format.narrowed(l, sum);
                format.widened(l, code)
            }
            _ => sum,
        }
    }
}

fn convert(l: &mut Lower, v: Value, from: Fmt, to: Fmt) -> Value {
    l.op1(Op::FloatToFloat { from, mode: FloatMode::rn(to), relu: false }, &[v])
}

/// Reduces the devices' elements, beginning with the first device's.
fn load_reduced(l: &mut Lower, i: &Instruction, t: ScalarType, place: Place) -> Result<()> {
    let op = match i.one_of(&[M::Min, M::Max, M::And, M::Or, M::Xor]) {
        Some(M::Min) => AtomOp::Min,
        Some(M::Max) => AtomOp::Max,
        Some(M::And) => AtomOp::And,
        Some(M::Or) => AtomOp::Or,
        Some(M::Xor) => AtomOp::Xor,
        _ => AtomOp::Add,
    };
    let (whole, kind) = (ty_of(t), Kind::of(i, t));
    let (part, kept) = match kind {
        Kind::Integer => (whole, whole),
        Kind::Float(fmt, to) => (fmt.ty(), to.ty()),
        Kind::Narrow(..) => (Ty::I8, Ty::I16),
    };
    let sum = Sum { op, ty: part, signed: t.is_signed(), kind };
    let packed = (whole.bits() / part.bits()) as usize;
    let load = |l: &mut Lower, device: Value| -> Vec<Value> {
        let at = place.of(l, device);
        let words = l.op(
            Op::Load { mem: place.mem, ty: whole, count: i.vec(), offset: 0, guard: Guard::Always },
            &[at],
        );
        let mut elements = words.clone();
        if packed > 1 {
            elements = words.iter().flat_map(|w| l.op(Op::Unpack { part, whole }, &[*w])).collect();
        }
        elements.into_iter().map(|v| sum.enter(l, v)).collect()
    };
    let devices = place.devices(l);
    let (zero, one) = (l.constant(Ty::I32, 0), l.constant(Ty::I32, 1));
    let first = load(l, zero);
    let elements = first.len() as u8;
    for (n, v) in (0..).zip(first) {
        l.write(Var::Reduced(n), v);
    }
    let others = l.op1(Op::Int(IntOp::Sub, Ty::I32), &[devices, one]);
    l.count_to(others, |l, n| {
        let one = l.constant(Ty::I32, 1);
        let device = l.op1(Op::Int(IntOp::Add, Ty::I32), &[n, one]);
        for (n, v) in (0..).zip(load(l, device)) {
            let before = l.read(Var::Reduced(n), kept);
            let after = sum.add(l, before, v);
            l.write(Var::Reduced(n), after);
        }
        Ok(())
    })?;
    let mut results: Vec<Value> = (0..elements)
        .map(|n| {
            let v = l.read(Var::Reduced(n), kept);
            sum.leave(l, v)
        })
        .collect();
    if packed > 1 {
        results = results.chunks(packed).map(|pair| l.op1(Op::Pack { part, whole }, pair)).collect();
    }
    let to = i.operands[0].elements();
    if to.len() != results.len() {
        return l.fail(
            ErrorClass::Invalid,
            i.operands[0].span,
            "the operand must have as many elements as the access",
        );
    }
    to.iter().zip(results).try_for_each(|(o, v)| l.write_dest(o, v, t.is_signed()))
}
