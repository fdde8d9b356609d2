//! Barriers in memory (PTX ISA 9.7.13.15), and what completes on them.
//!
//! A wait is an acquiring load of the barrier word, so a loop around it is handled like any other loop that
//! waits for memory.

use ptx::ast::{Instruction, Operand, OperandKind};
use ptx::{Modifier as M, ScalarType};
use wave::mbarrier::{COUNT_BITS, EXPECTED, LAYOUT, PENDING, PHASE};
use wave::op::{Builtin, Guard, IntCmp, IntOp, IntUnOp, MemMode, Op, Order, Scope, ShiftOp, Space};
use wave::{Ty, Value};

use super::memory::{order, scope};
use crate::function::{Lower, Result};

const B32: ScalarType = ScalarType::B32;
const B64: ScalarType = ScalarType::B64;

/// An address operand as an offset in shared memory. If the instruction names no state space, the address is
/// generic.
pub fn shared_address(l: &mut Lower, i: &Instruction, operand: &Operand) -> Result<Value> {
    let (base, offset, implied) = l.address(operand)?;
    let named = i.space().is_some() || implied == Some(Space::Shared);
    let base = if named { l.wrapping_base(operand, base) } else { base };
    let address = l.offset(base, offset);
    Ok(if named { address } else { l.op1(Op::FromGeneric(Space::Shared), &[address]) })
}

/// One operation on the barrier at an offset in shared memory. Returns the state before it.
fn update(l: &mut Lower, address: Value, bytes: Value, arrivals: Value, dropped: Value) -> Value {
    l.op1(Op::Builtin(Builtin::Mbarrier), &[address, bytes, arrivals, dropped])
}

/// Reports bytes to the barrier at an offset in shared memory.
fn complete(l: &mut Lower, address: Value, bytes: Value) {
    let zero = l.constant(Ty::I32, 0);
    let come = l.op1(Op::Int(IntOp::Sub, Ty::I32), &[zero, bytes]);
    update(l, address, come, zero, zero);
}

/// `st.async`, `red.async`: reports the written bytes to the barrier that the last operand names.
pub fn written(l: &mut Lower, i: &Instruction, barrier: &Operand, bytes: u32) -> Result<()> {
    let address = shared_address(l, i, barrier)?;
    let bytes = l.constant(Ty::I32, u128::from(bytes));
    complete(l, address, bytes);
    Ok(())
}

/// `cp.async.mbarrier.arrive{.noinc}`: the earlier copies are complete. Without `.noinc`, the phase did not
/// expect this arrival, so nothing changes.
pub fn copies_done(l: &mut Lower, i: &Instruction) -> Result<()> {
    let address = shared_address(l, i, &i.operands[0])?;
    let (zero, one) = (l.constant(Ty::I32, 0), l.constant(Ty::I32, 1));
    let arrivals = if i.has(M::Noinc) { one } else { zero };
    if i.has(M::Noinc) {
        update(l, address, zero, arrivals, zero);
    }
    Ok(())
}

fn int(l: &mut Lower, op: IntOp, a: Value, b: Value) -> Value {
    let ty = l.ty(a);
    l.op1(Op::Int(op, ty), &[a, b])
}

fn shift(l: &mut Lower, op: ShiftOp, v: Value, by: u32) -> Value {
    let (ty, by) = (l.ty(v), l.constant(Ty::I32, u128::from(by)));
    l.op1(Op::Shift(op, ty), &[v, by])
}

/// `mbarrier.*`.
pub fn mbarrier(l: &mut Lower, i: &Instruction) -> Result<()> {
    let zero = l.constant(Ty::I32, 0);
    if i.has(M::Init) {
        return init(l, i);
    }
    if i.has(M::Inval) {
        // Afterwards the memory may hold anything, so the old word may stay.
        return shared_address(l, i, &i.operands[0]).map(|_| ());
    }
    if i.has(M::PendingCount) {
        return pending(l, i);
    }
    if i.has(M::TestWait) || i.has(M::TryWait) {
        return wait(l, i);
    }
    if i.has(M::CheckLayout) {
        return check_layout(l, i);
    }
    if i.has(M::Arrive) || i.has(M::ArriveDrop) {
        let address = shared_address(l, i, &i.operands[1])?;
        let given = i.operands.get(2).map(|o| l.value(o, B32)).transpose()?;
        let one = l.constant(Ty::I32, 1);
        let (bytes, count) = match given {
            Some(bytes) if i.has(M::ExpectTx) => (bytes, one),
            Some(count) => (zero, count),
            None => (zero, one),
        };
        let dropped = if i.has(M::ArriveDrop) { count } else { zero };
        let mut before = update(l, address, bytes, count, dropped);
        if i.has(M::NoComplete) {
            let one = l.constant(Ty::I64, 1);
            before = int(l, IntOp::Or, before, one);
        }
        return l.write_dest(&i.operands[0], before, false);
    }
    let address = shared_address(l, i, &i.operands[0])?;
    let bytes = l.value(&i.operands[1], B32)?;
    if i.has(M::CompleteTx) {
        complete(l, address, bytes);
    } else {
        update(l, address, bytes, zero, zero);
    }
    Ok(())
}

/// `mbarrier.init [a], count`: the word holds minus the count twice, and the layout.
fn init(l: &mut Lower, i: &Instruction) -> Result<()> {
    let address = shared_address(l, i, &i.operands[0])?;
    let count = l.value(&i.operands[1], B32)?;
    let count = l.resize(count, Ty::I64, false);
    let negated = l.op1(Op::IntUn(IntUnOp::Neg, Ty::I64), &[count]);
    let mask = l.constant(Ty::I64, (1 << COUNT_BITS) - 1);
    let field = int(l, IntOp::And, negated, mask);
    let (pending, expected) =
        (shift(l, ShiftOp::Shl, field, PENDING), shift(l, ShiftOp::Shl, field, EXPECTED));
    let mut word = int(l, IntOp::Or, pending, expected);
    if i.has(M::LayoutV1) {
        let layout = l.constant(Ty::I64, 1 << LAYOUT);
        word = int(l, IntOp::Or, word, layout);
    }
    let mem = MemMode { space: Space::Shared, order: Order::Relaxed, scope: Scope::Cta };
    l.op(Op::Store { mem, ty: Ty::I64, count: 1, offset: 0, guard: Guard::Always }, &[address, word]);
    Ok(())
}

/// `mbarrier.pending_count d, state`, computed as `ptxas` does: for a state without a count, the result is
/// one more than any possible count.
fn pending(l: &mut Lower, i: &Instruction) -> Result<()> {
    let state = l.value(&i.operands[1], B64)?;
    let field = shift(l, ShiftOp::ShrU, state, PENDING);
    let (mask, whole) = (l.constant(Ty::I64, (1 << COUNT_BITS) - 1), l.constant(Ty::I64, 1 << COUNT_BITS));
    let negated = int(l, IntOp::And, field, mask);
    let count = int(l, IntOp::Sub, whole, negated);
    let count = l.resize(count, Ty::I32, false);
    l.write_dest(&i.operands[0], count, false)
}

/// `mbarrier.check_layout.layout p, [a]`.
fn check_layout(l: &mut Lower, i: &Instruction) -> Result<()> {
    let address = shared_address(l, i, &i.operands[1])?;
    let mem = MemMode { space: Space::Shared, order: Order::Relaxed, scope: Scope::Cta };
    let word = l.op1(Op::Load { mem, ty: Ty::I64, count: 1, offset: 0, guard: Guard::Always }, &[address]);
    let one = l.constant(Ty::I64, 1);
    let layout = shift(l, ShiftOp::ShrU, word, LAYOUT);
    let layout = int(l, IntOp::And, layout, one);
    let expected = l.constant(Ty::I64, u128::from(i.has(M::LayoutV1)));
    let same = l.op1(Op::IntCmp(IntCmp::Eq, Ty::I64), &[layout, expected]);
    l.write_dest(&i.operands[0], same, false)
}

/// `mbarrier.test_wait p, [a], state`, also with a parity, and `try_wait` with any time limit: a phase is
/// complete once the barrier's parity has changed. Lanes that wait for it see it end even if the parity has
/// changed back when their turn comes.
///
/// `.phase_type::primary p|q, r, [a], ...` also queries the status that copies report. Here it is always
/// empty, since only copies of `sm_107` and of the fabric report, so conditional phases advance like the
/// others.
fn wait(l: &mut Lower, i: &Instruction) -> Result<()> {
    let Some(at) = i.operands.iter().position(|o| o.address().is_some()) else {
        return l.unsupported(i, "it requires an address");
    };
    let address = shared_address(l, i, &i.operands[at])?;
    let mem = MemMode {
        space: Space::Shared,
        order: order(i, Order::Acquire),
        scope: if i.scope().is_some() { scope(i) } else { Scope::Cta },
    };
    let word = l.op1(Op::Load { mem, ty: Ty::I64, count: 1, offset: 0, guard: Guard::Always }, &[address]);
    let parity = |l: &mut Lower, word: Value| shift(l, ShiftOp::ShrU, word, PHASE);
    let now = parity(l, word);
    let expected = if i.has(M::Parity) {
        let given = l.value(&i.operands[at + 1], B32)?;
        let given = l.resize(given, Ty::I64, false);
        let one = l.constant(Ty::I64, 1);
        int(l, IntOp::And, given, one)
    } else {
        let state = l.value(&i.operands[at + 1], B64)?;
        parity(l, state)
    };
    let over = int(l, IntOp::Xor, now, expected);
    let (expected, over) = (l.resize(expected, Ty::I32, false), l.resize(over, Ty::I32, false));
    let over = l.op1(Op::Builtin(Builtin::MbarrierWait), &[address, expected, over]);
    let zero = l.constant(Ty::I32, 0);
    let over = l.op1(Op::IntCmp(IntCmp::Ne, Ty::I32), &[over, zero]);
    if at == 2 {
        let nothing = l.constant(Ty::I8, 0);
        l.write_dest(&i.operands[1], nothing, false)?;
    }
    let OperandKind::Pair(pair) = &i.operands[0].kind else {
        return l.write_dest(&i.operands[0], over, false);
    };
    let nothing = l.constant(Ty::I1, 0);
    l.write_dest(&pair.0, over, false)?;
    l.write_dest(&pair.1, nothing, false)
}
