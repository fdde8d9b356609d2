//! Bulk copies (PTX ISA 9.7.9.25.4, 9.7.9.27), `st.bulk`.
//!
//! Copies complete synchronously, so bulk groups, waiting for them, and prefetches emit nothing.

use ptx::ast::{Instruction, Operand};
use ptx::{Modifier as M, ScalarType};
use wave::op::{Bulk, Effect, Extent, Extra, Op, Way};
use wave::{Ty, Value};

use super::mbarrier::shared_address;
use super::{memory, tensor_map};
use crate::error::ErrorClass;
use crate::function::{Lower, Result};

const B32: ScalarType = ScalarType::B32;

/// The address of an operand in global memory.
fn global_address(l: &mut Lower, operand: &Operand) -> Result<Value> {
    let (base, offset, _) = l.address(operand)?;
    Ok(l.offset(base, offset))
}

fn size(l: &mut Lower, operand: &Operand, t: ScalarType) -> Result<Value> {
    let v = l.value(operand, t)?;
    Ok(l.resize(v, Ty::I64, false))
}

/// `cp.async.bulk`, `cp.reduce.async.bulk`.
pub fn cp(l: &mut Lower, i: &Instruction) -> Result<()> {
    if i.has(M::CommitGroup) || i.has(M::WaitGroup) {
        return Ok(());
    }
    if i.has(M::Tensor) {
        return tensor_map::cp(l, i);
    }
    if i.has(M::Prefetch) {
        // A prefetch emits nothing, but its address is still checked.
        return global_address(l, &i.operands[0]).map(|_| ());
    }
    let copy = operation(i);
    let Bulk { way, extra, .. } = copy;
    let to_shared = way != Way::Store;
    let place = |l: &mut Lower, n: usize, shared: bool| {
        if shared { shared_address(l, i, &i.operands[n]) } else { global_address(l, &i.operands[n]) }
    };
    let mut args = vec![place(l, 0, to_shared)?, place(l, 1, way != Way::Load)?];
    args.push(size(l, &i.operands[2], ScalarType::U32)?);
    // [d], [s], size{, left, right}{, [barrier]}{, mask}{, policy}: the policy comes before the byte mask.
    let barrier = if extra == Extra::Ignore { 5 } else { 3 };
    if to_shared {
        let o = operand(l, i, barrier)?;
        args.push(shared_address(l, i, o)?);
    }
    match extra {
        Extra::Nothing => {}
        Extra::Multicast => args.push(mask(l, i, 4)?),
        Extra::Mask => args.push(mask(l, i, 3 + usize::from(i.has(M::L2CacheHint)))?),
        Extra::Ignore => {
            for n in [3, 4] {
                let o = operand(l, i, n)?;
                args.push(l.value(o, B32)?);
            }
        }
    }
    l.op(Op::Bulk(copy), &args);
    Ok(())
}

/// The operation of a bulk copy. It is synchronous, so the memory order of its accesses adds nothing.
pub fn operation(i: &Instruction) -> Bulk {
    let way = match (i.has(M::MbarrierCompleteTxBytes), i.has(M::Global)) {
        (true, true) => Way::Load,
        (true, false) => Way::Across,
        _ => Way::Store,
    };
    let reduce = memory::atomic_kind(i, i.ty(0).unwrap_or(B32)).filter(|_| i.has(M::Reduce));
    let effect = reduce.map_or(Effect::Copy, |(op, ty)| Effect::Reduce(op, ty));
    let extra = match () {
        () if i.has(M::MulticastCluster) => Extra::Multicast,
        () if i.has(M::CpMask) => Extra::Mask,
        () if i.has(M::IgnoreOob) => Extra::Ignore,
        () => Extra::Nothing,
    };
    Bulk { way, extent: Extent::Bytes, effect, extra }
}

/// An operand that the modifiers require.
pub fn operand<'a>(l: &mut Lower, i: &'a Instruction, n: usize) -> Result<&'a Operand> {
    match i.operands.get(n) {
        Some(o) => Ok(o),
        None => l.fail(ErrorClass::Invalid, i.span, "an operand that the modifiers require is missing"),
    }
}

pub fn mask(l: &mut Lower, i: &Instruction, n: usize) -> Result<Value> {
    let o = operand(l, i, n)?;
    let v = l.value(o, ScalarType::B16)?;
    Ok(l.resize(v, Ty::I32, false))
}

/// `st.bulk [a], size, 0`.
pub fn fill(l: &mut Lower, i: &Instruction) -> Result<()> {
    let to = shared_address(l, i, &i.operands[0])?;
    let size = size(l, &i.operands[1], ScalarType::U64)?;
    l.op(Op::Bulk(Bulk::bytes(Way::Fill)), &[to, size]);
    Ok(())
}
