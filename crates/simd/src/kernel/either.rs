//! Code in two versions, between which a guard decides at run time.

use super::Kernel;
use crate::ir::{Likely, Operand};

impl Kernel<'_> {
    /// Emits both versions of what depends on a guard: `fast` runs if it holds, `slow` if not.
    pub fn either(&mut self, guard: Operand, fast: impl FnOnce(&mut Self), slow: impl FnOnce(&mut Self)) {
        if guard == Operand::TRUE {
            return fast(self);
        }
        let (a, b, end) =
            (self.out.ir.fresh("row"), self.out.ir.fresh("wrapped"), self.out.ir.fresh("joined"));
        // An index rarely wraps. Without the weights LLVM takes the loop over the runs for the hot path and
        // spills in the fast one.
        self.out.ir.br_likely(guard, a, b, Likely::First);
        // Values computed on one path are not available on the other, nor after the join.
        let before = (self.cursor.env.clone(), self.cursor.guards.clone(), self.cursor.lanes.clone());
        self.out.ir.label(a);
        fast(self);
        (self.cursor.env, self.cursor.guards, self.cursor.lanes) = before.clone();
        self.out.ir.br(end);
        self.out.ir.label(b);
        slow(self);
        (self.cursor.env, self.cursor.guards, self.cursor.lanes) = before;
        self.out.ir.br(end);
        self.out.ir.label(end);
    }
}
