//! Clusters of blocks: their barrier, addresses in each other's shared memory (PTX ISA 9.7.13.4, 9.7.9.23,
//! 9.7.9.24), and cancelling clusters that have not begun (`clusterlaunchcontrol`).
//!
//! A shared address holds its block's rank from bit 24 on, as on the hardware, so that another block's
//! address is found by arithmetic.

use ptx::ast::Instruction;
use ptx::{Modifier as M, ScalarType};
use wave::abi::WINDOW_BITS;
use wave::op::{BarMode, Builtin, IntCmp, IntOp, Op, SReg, ShiftOp, Space};
use wave::{Ty, Value};

use crate::function::{Lower, Result};
use crate::link::ty_of;

/// `barrier.cluster.arrive` and `.wait`. No fence is needed: a cluster runs on one worker thread.
pub fn barrier(l: &mut Lower, i: &Instruction) -> Result<()> {
    let mode = if i.has(M::Arrive) { BarMode::ClusterArrive } else { BarMode::ClusterWait };
    l.op(Op::Bar { mode }, &[]);
    Ok(())
}

/// A shared address from one in the state space that an instruction names, or from a generic one; and whether
/// it was generic.
fn shared_address(l: &mut Lower, i: &Instruction) -> Result<(Value, bool)> {
    let t = i.ty(0).unwrap_or(ScalarType::U64);
    let v = l.value(&i.operands[1], t)?;
    let v = l.resize(v, Ty::I64, false);
    match i.space() {
        Some(_) => Ok((v, false)),
        None => Ok((l.op1(Op::FromGeneric(Space::Shared), &[v]), true)),
    }
}

/// `mapa{.shared::cluster} d, a, rank`: the same offset in another block's shared memory.
pub fn mapa(l: &mut Lower, i: &Instruction) -> Result<()> {
    let (v, generic) = shared_address(l, i)?;
    let rank = l.value(&i.operands[2], ScalarType::U32)?;
    let rank = l.resize(rank, Ty::I64, false);
    let (bits, low) = (l.constant(Ty::I32, WINDOW_BITS.into()), l.constant(Ty::I64, (1 << WINDOW_BITS) - 1));
    let window = l.op1(Op::Shift(ShiftOp::Shl, Ty::I64), &[rank, bits]);
    let place = l.op1(Op::Int(IntOp::And, Ty::I64), &[v, low]);
    let mut v = l.op1(Op::Int(IntOp::Or, Ty::I64), &[place, window]);
    if generic {
        v = l.op1(Op::ToGeneric(Space::Shared), &[v]);
    }
    let v = l.resize(v, ty_of(i.ty(0).unwrap_or(ScalarType::U64)), false);
    l.write_dest(&i.operands[0], v, false)
}

/// `getctarank{.shared::cluster} d, a`: the rank of the block whose shared memory contains an address.
pub fn rank(l: &mut Lower, i: &Instruction) -> Result<()> {
    let (v, _) = shared_address(l, i)?;
    let bits = l.constant(Ty::I32, WINDOW_BITS.into());
    let v = l.op1(Op::Shift(ShiftOp::ShrU, Ty::I64), &[v, bits]);
    let v = l.resize(v, Ty::I32, false);
    l.write_dest(&i.operands[0], v, false)
}

/// Whether a generic address of shared memory belongs to the current block.
pub fn is_own(l: &mut Lower, address: Value) -> Value {
    let v = l.op1(Op::FromGeneric(Space::Shared), &[address]);
    let bits = l.constant(Ty::I32, WINDOW_BITS.into());
    let own_rank = l.op1(Op::Shift(ShiftOp::ShrU, Ty::I64), &[v, bits]);
    let rank = l.op1(Op::Special(SReg::ClusterRank), &[]);
    let rank = l.resize(rank, Ty::I64, false);
    l.op1(Op::IntCmp(IntCmp::Eq, Ty::I64), &[own_rank, rank])
}

/// `clusterlaunchcontrol.try_cancel.async [response], [barrier]`, and the queries of a response, whose format
/// is our own.
pub fn launch_control(l: &mut Lower, i: &Instruction) -> Result<()> {
    if i.has(M::TryCancel) {
        let address = super::mbarrier::shared_address(l, i, &i.operands[0])?;
        let barrier = super::mbarrier::shared_address(l, i, &i.operands[1])?;
        let all = l.constant(Ty::I32, u128::from(i.has(M::MulticastClusterAll)));
        l.op(Op::Builtin(Builtin::ClusterCancel), &[address, barrier, all]);
        return Ok(());
    }
    let response = l.value(&i.operands[1], ScalarType::B128)?;
    let words = l.op(Op::Unpack { part: Ty::I32, whole: Ty::I128 }, &[response]);
    if i.has(M::IsCanceled) {
        let none = l.constant(Ty::I32, 0);
        let v = l.op1(Op::IntCmp(IntCmp::Ne, Ty::I32), &[words[3], none]);
        return l.write_dest(&i.operands[0], v, false);
    }
    if i.has(M::GetFirstCtaid) {
        // The fourth element is undefined.
        return i.operands[0].elements().iter().zip(words).try_for_each(|(to, v)| l.write_dest(to, v, false));
    }
    let axis = [M::GetFirstCtaidX, M::GetFirstCtaidY, M::GetFirstCtaidZ].iter().position(|m| i.has(*m));
    l.write_dest(&i.operands[0], words[axis.unwrap_or(0)], false)
}
