//! Stack memory whose size is known only at run time (PTX ISA 9.7.16): part of the function's local memory,
//! allocated from the top down.

use ptx::ScalarType;
use ptx::ast::Instruction;
use wave::op::{IntCmp, IntOp, Op};
use wave::{Ty, Value};

use crate::function::{Lower, Result};
use crate::var::Var;

/// Bytes that one call of a function can allocate. The hardware's threads have 1 KiB unless the program asks
/// for more.
const SIZE: u32 = 16 << 10;
/// The alignment if none is written.
const ALIGNMENT: u32 = 8;
/// An unmapped address for failed allocations: accessing it faults.
const NOWHERE: [u128; 2] = [0xffff_fff0, 1 << 45];

const INT: fn(IntOp) -> Op = |op| Op::Int(op, Ty::I64);

/// The end of the function's stack memory, which is created on first use.
fn top(l: &mut Lower, alignment: u32) -> Value {
    let slot = l.stack_slot(SIZE, alignment.max(16));
    let base = l.op1(Op::LocalAddr(slot), &[]);
    l.offset(base, i64::from(SIZE))
}

/// `alloca d, size{, alignment}`.
pub fn alloca(l: &mut Lower, i: &Instruction) -> Result<()> {
    let t = i.ty(0).unwrap_or(ScalarType::U64);
    let alignment = i.operands.get(2).and_then(|o| o.int()).map_or(ALIGNMENT, |n| n.bits as u32);
    if !alignment.is_power_of_two() || alignment > SIZE {
        return l.unsupported(i, &format!("the alignment must be a power of two up to {SIZE}"));
    }
    let size = l.value(&i.operands[1], t)?;
    let size = l.resize(size, Ty::I64, false);
    let constant = |l: &mut Lower, v: u64| l.constant(Ty::I64, u128::from(v));
    // Round the used bytes up to a multiple of the alignment. The size is clamped first, so that sums cannot
    // wrap.
    let limit = constant(l, 1 << 32);
    let size = l.op1(INT(IntOp::MinU), &[size, limit]);
    let used = l.read(Var::Stack, Ty::I64);
    let used = l.op1(INT(IntOp::Add), &[used, size]);
    let alignment_mask = u64::from(alignment.max(ALIGNMENT)) - 1;
    let (up, mask) = (constant(l, alignment_mask), constant(l, !alignment_mask));
    let used = l.op1(INT(IntOp::Add), &[used, up]);
    let used = l.op1(INT(IntOp::And), &[used, mask]);
    let top = top(l, alignment);
    let place = l.op1(INT(IntOp::Sub), &[top, used]);
    let all = constant(l, SIZE.into());
    let over = l.op1(Op::IntCmp(IntCmp::GtU, Ty::I64), &[used, all]);
    let nowhere = l.constant(Ty::I64, NOWHERE[usize::from(t.bits() == 64)]);
    let place = l.op1(Op::Select(Ty::I64), &[over, nowhere, place]);
    l.write(Var::Stack, used);
    l.write_dest(&i.operands[0], place, false)
}

/// `stacksave d`.
pub fn save(l: &mut Lower, i: &Instruction) -> Result<()> {
    let top = top(l, ALIGNMENT);
    let used = l.read(Var::Stack, Ty::I64);
    let place = l.op1(INT(IntOp::Sub), &[top, used]);
    l.write_dest(&i.operands[0], place, false)
}

/// `stackrestore a`.
pub fn restore(l: &mut Lower, i: &Instruction) -> Result<()> {
    let place = l.value(&i.operands[0], i.ty(0).unwrap_or(ScalarType::U64))?;
    let place = l.resize(place, Ty::I64, false);
    let top = top(l, ALIGNMENT);
    let used = l.op1(INT(IntOp::Sub), &[top, place]);
    l.write(Var::Stack, used);
    Ok(())
}
