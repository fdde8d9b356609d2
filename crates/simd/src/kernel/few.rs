//! Blocks that only the first lanes of a warp run, as after `if (t < 8)`.
//!
//! Their rows are accessed as short vectors. The processor forwards a store to a later load only if the store
//! covers the load, so in the last steps of a sum in shared memory, full vectors would wait for each other.

use wave::op::{IntCmp, IntOp, Op, SReg};
use wave::{Block, Terminator, Ty, Value};

use super::Kernel;
use crate::ir::Operand;

/// How far above a block its conditions are sought.
const ABOVE: usize = 8;

impl Kernel<'_> {
    /// A number of lanes, at most half of the warp's, beyond which no lane runs a block; `None` if that is
    /// not known.
    pub fn few_lanes(&self, b: usize) -> Option<usize> {
        if self.per_lane() || self.width().lanes() != self.warp() {
            return None;
        }
        let above = std::iter::successors(self.facts.cfg.idom[b], |&d| self.facts.cfg.idom[d]).take(ABOVE);
        let last = above.filter_map(|d| self.last_lane_of(d, b)).min()?;
        let count = (last + 1).next_power_of_two();
        (count <= self.width().lanes() / 2).then_some(count)
    }

    /// The number of the first lanes, at most half of the warp's, for which alone a guard may be true, and
    /// whether it is true for all of them where it is for one; `None` if that is not known.
    pub fn few_by_guard(&self, guard: Value) -> Option<(usize, bool)> {
        if self.per_lane() || self.width().lanes() != self.warp() {
            return None;
        }
        let (_, compared) = self.facts.defs.get(&guard)?;
        let Op::IntCmp(cmp, Ty::I32) = compared.op else { return None };
        let [x, y] = compared.args[..] else { return None };
        let (v, bound, cmp) = match (self.constant(x), self.constant(y)) {
            (_, Some(bound)) => (x, bound, cmp),
            (Some(bound), None) => (y, bound, cmp.exchanged()),
            (None, None) => return None,
        };
        let count = match cmp {
            IntCmp::LtU | IntCmp::LtS => bound as usize,
            IntCmp::LeU | IntCmp::LeS => bound as usize + 1,
            _ => return None,
        };
        let few = (1..=self.width().lanes() / 2).contains(&count) && self.counts_lanes(v);
        let first_is_zero_or_beyond =
            self.facts.uniformity.values[v.index()].zeros >= self.width().lanes().trailing_zeros();
        few.then(|| (count.next_power_of_two(), count.is_power_of_two() && first_is_zero_or_beyond))
    }

    /// The last lane that can run `b` by the condition at the end of `d`.
    fn last_lane_of(&self, d: usize, b: usize) -> Option<usize> {
        let Terminator::Branch { cond, .. } = self.block_data(d).term else { return None };
        let (_, compared) = self.facts.defs.get(&cond)?;
        let Op::IntCmp(_, Ty::I32) = compared.op else { return None };
        let last = |v: &Value| {
            let most = self.facts.ranges.at(*v, Block(b as u32)).smax;
            self.counts_lanes(*v).then(|| usize::try_from(most).ok()).flatten()
        };
        compared.args.iter().filter_map(last).min()
    }

    /// Whether a value is at least the number of the lane.
    fn counts_lanes(&self, v: Value) -> bool {
        let Some((at, inst)) = self.facts.defs.get(&v) else { return false };
        let [_, ny, nz] = self.facts.spec.block;
        let natural = match inst.op {
            Op::Special(SReg::TidX) => ny * nz == 1,
            Op::Special(SReg::LaneId) => true,
            Op::Int(IntOp::And, Ty::I32) => self.facts.ranges.at(v, Block(*at as u32)).is_natural(),
            _ => false,
        };
        let variation = &self.facts.uniformity.values[v.index()];
        let lanes = self.width().lanes();
        let row = || variation.group == lanes && variation.regroup(lanes).has_stride(1);
        natural && !variation.needs_guard() && row()
    }

    /// Adds lanes up to the warp's number to a short vector.
    pub fn lengthened(&mut self, row: Operand) -> Operand {
        let (count, lanes) = (row.ty().count(), self.width().lanes());
        if count == lanes {
            return row;
        }
        let rest = Operand::zero(row.ty());
        self.out.ir.shuffle(row, Some(rest), (0..lanes).map(|l| l.min(count)))
    }
}
