//! A lane's number. AMD's hardware has no register for it: code counts the lanes below (`v_mbcnt_lo_u32_b32`,
//! `v_mbcnt_hi_u32_b32`), for a wave of 64 in two halves, each of which adds to a sum:
//!
//! ```text
//! low = popc(zext.i32(lanemask_lt)) + x
//! high = popc(zext.i32(lanemask_lt >> 32)) + low
//! ```
//!
//! becomes `laneid + x`, whose pattern over the lanes is known.

use smallvec::smallvec;

use super::{Made, order};
use crate::func::{Function, Inst, Value};
use crate::op::{CountOp, IntOp, Op, SReg, ShiftOp};
use crate::types::Ty;

const ADD: Op = Op::Int(IntOp::Add, Ty::I32);

/// Half of a wave of 64 lanes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Low,
    High,
}

/// Replaces the counts. Their parts stay and are not used.
pub(super) fn find(func: &mut Function) {
    let counts = |i: &Inst| matches!(i.op, Op::Special(SReg::LaneMaskLt));
    if !func.blocks.iter().flat_map(|b| &b.insts).any(counts) {
        return;
    }
    let made = Made::of(func, &order(func));
    for b in 0..func.blocks.len() {
        let mut at = 0;
        while at < func.blocks[b].insts.len() {
            let inst = &func.blocks[b].insts[at];
            let mut lane = number(inst);
            let rest = if made.counts_all(inst) { Some(None) } else { made.rest(inst) };
            match rest {
                None => {}
                Some(None) => func.blocks[b].insts[at] = lane,
                Some(Some(rest)) => {
                    let value = func.new_value(Ty::I32);
                    lane.results = smallvec![value];
                    func.blocks[b].insts[at].args = smallvec![value, rest];
                    func.blocks[b].insts.insert(at, lane);
                    at += 1;
                }
            }
            at += 1;
        }
    }
}

/// The lane's number in the place of an operation.
fn number(inst: &Inst) -> Inst {
    Inst { op: Op::Special(SReg::LaneId), args: smallvec![], results: inst.results.clone(), loc: inst.loc }
}

impl Made {
    /// Whether an operation counts all lanes below in a wave of 32.
    fn counts_all(&self, inst: &Inst) -> bool {
        inst.op == Op::Count(CountOp::Popc, Ty::I32) && self.is_lower_lanes(inst.args[0])
    }

    /// For a sum of the lanes below in both halves, what else is added to it, if anything.
    fn rest(&self, inst: &Inst) -> Option<Option<Value>> {
        let [a, b] = self.summands(inst)?;
        let (half, other) = match (self.half(a), self.half(b)) {
            (Some(half), Some(other)) => return (half != other).then_some(None),
            (Some(half), None) => (half, b),
            (None, Some(half)) => (half, a),
            (None, None) => return None,
        };
        let [a, b] = self.summands(self.inst(other)?)?;
        match (self.half(a), self.half(b)) {
            (Some(found), None) if found != half => Some(Some(b)),
            (None, Some(found)) if found != half => Some(Some(a)),
            _ => None,
        }
    }

    fn summands(&self, inst: &Inst) -> Option<[Value; 2]> {
        (inst.op == ADD).then(|| [inst.args[0], inst.args[1]])
    }

    /// The half of a wave of 64 whose lanes below a value counts.
    fn half(&self, v: Value) -> Option<Half> {
        let count = self.inst(v).filter(|inst| inst.op == Op::Count(CountOp::Popc, Ty::I32))?;
        let bits = self.inst(count.args[0])?;
        match bits.op {
            Op::Unpack { part: Ty::I32, whole: Ty::I64 } if self.is_lower_lanes(bits.args[0]) => {
                Some(if bits.results[0] == count.args[0] { Half::Low } else { Half::High })
            }
            Op::Zext { from: Ty::I64, to: Ty::I32 } if self.is_lower_lanes(bits.args[0]) => Some(Half::Low),
            Op::Zext { from: Ty::I64, to: Ty::I32 } => {
                let shift = self.inst(bits.args[0])?;
                let is = shift.op == Op::Shift(ShiftOp::ShrU, Ty::I64)
                    && self.is_lower_lanes(shift.args[0])
                    && self.constant(shift.args[1]) == Some(32);
                is.then_some(Half::High)
            }
            _ => None,
        }
    }

    fn is_lower_lanes(&self, v: Value) -> bool {
        self.inst(v).is_some_and(|inst| inst.op == Op::Special(SReg::LaneMaskLt))
    }
}
