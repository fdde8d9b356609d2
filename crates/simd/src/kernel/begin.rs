//! Where masks and slots begin to hold something.
//!
//! A block's mask must be empty before the first of its lanes comes, and a slot that lanes fill one way after the other is read before it is
//! full. Were they cleared at the function's start, they would be alive all the way from there, and LLVM's time to make values of them would
//! grow with the square of the kernel. So they are cleared in the block that all ways to them come through.

use std::collections::BTreeMap;

use super::{Kernel, names};
use crate::ir::{Inst, Operand, Type};

impl Kernel<'_> {
    /// The closest dominator of a block whose rounds are also the block's: lanes that leave a loop in different rounds meet outside of it. `None`
    /// is the function's start. With `whole`, it lies outside of all divergent loops around the block.
    fn beginning(&self, b: usize, whole: bool) -> Option<usize> {
        let leaves = |d: usize| {
            let mut around = self.facts.cfg.around(d);
            let ends = |i: usize| whole && self.facts.uniformity.divergent_loop[i];
            around.find(|(i, l)| !l.contains[b] || ends(*i)).map(|(_, l)| l.header)
        };
        let mut d = self.facts.cfg.idom[b]?;
        while let Some(header) = leaves(d) {
            d = self.facts.cfg.idom[header]?;
        }
        Some(d)
    }

    /// What clears masks and slots, by the block that does it (`None`: the function's start).
    pub fn beginnings(&mut self) -> BTreeMap<Option<usize>, Vec<Inst>> {
        let mut clears: BTreeMap<Option<usize>, Vec<Inst>> = BTreeMap::new();
        for b in self.facts.cfg.order.clone() {
            if self.facts.uniformity.masked[b] {
                let at = self.beginning(b, false);
                // A warp that is resumed comes by other ways; in its frame all masks are as they were.
                if self.facts.suspends && !self.facts.in_frame && at.is_some() {
                    let clear = self.cleared(b);
                    clears.entry(None).or_default().extend(clear);
                }
                let clear = self.cleared(b);
                clears.entry(at).or_default().extend(clear);
            }
            let data = &self.facts.func.blocks[b];
            let joined = data.params.iter().filter(|_| self.facts.uniformity.joins[b]);
            let escaping = data.params.iter().chain(data.insts.iter().flat_map(|i| i.results.iter()));
            let escaping = escaping.filter(|v| self.facts.uniformity.escaping[v.index()]);
            let filled: Vec<_> = joined
                .map(|v| (*v, self.facts.uniformity.escaping[v.index()]))
                .chain(escaping.map(|v| (*v, true)))
                .collect();
            for (v, whole) in filled {
                if !self.facts.slotted.contains(&v) || self.facts.in_frame {
                    continue;
                }
                if let Some(at) = self.beginning(b, whole) {
                    let outer = self.out.ir.begin_aside();
                    for (slot, ty) in self.slot_parts(v) {
                        self.set_slot(slot, Operand::undef(self.slot_type(ty)));
                    }
                    let clear = self.out.ir.end_aside(outer);
                    clears.entry(Some(at)).or_default().extend(clear);
                }
            }
        }
        clears
    }

    /// Writes that no lane is to run a block.
    fn cleared(&mut self, b: usize) -> Vec<Inst> {
        let outer = self.out.ir.begin_aside();
        self.set_slot(names::coming(b), Operand::zero(self.slot_type(Type::MASK)));
        self.out.ir.end_aside(outer)
    }
}
