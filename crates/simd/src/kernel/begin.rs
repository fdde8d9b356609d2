//! Where masks and slots are initialised.
//!
//! A block's mask must be empty before the first of its lanes arrives, and a slot that several paths fill is
//! read before all lanes have written it. If they were initialised at the function's start, they would be
//! live from there on, and LLVM's time to promote them would grow with the square of the kernel's size. So
//! they are initialised in a dominator of their uses.

use std::collections::BTreeMap;

use super::cfg::Cfg;
use super::{Kernel, names};
use crate::ir::{Inst, Operand};

/// How far each block dominates the blocks that follow it in the order.
struct Dominance {
    /// By block: the position of the first later block that it does not dominate.
    until: Vec<usize>,
}

impl Dominance {
    fn new(cfg: &Cfg) -> Dominance {
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); cfg.idom.len()];
        for &b in &cfg.order {
            if let Some(d) = cfg.idom[b] {
                below[d].push(b);
            }
        }
        // By block: its number in a walk over the dominator tree, and the last number below it.
        let mut spans = vec![(0, 0); cfg.idom.len()];
        let mut number = 0;
        let mut open: Vec<(usize, usize)> = cfg.order.first().map(|&b| (b, 0)).into_iter().collect();
        while let Some((b, child)) = open.pop() {
            if child == 0 {
                spans[b].0 = number;
                number += 1;
            }
            if let Some(&next) = below[b].get(child) {
                open.extend([(b, child + 1), (next, 0)]);
            } else {
                spans[b].1 = number;
            }
        }
        let holds = |a: usize, b: usize| (spans[a].0..spans[a].1).contains(&spans[b].0);
        let mut until = vec![cfg.order.len(); cfg.idom.len()];
        // The blocks that dominate all later ones so far. Each dominates the next.
        let mut open: Vec<usize> = Vec::new();
        for (place, &b) in cfg.order.iter().enumerate() {
            while let Some(d) = open.pop_if(|d| !holds(*d, b)) {
                until[d] = place;
            }
            open.push(b);
        }
        Dominance { until }
    }
}

impl Kernel<'_> {
    /// The closest dominator of a block that is in no loop without the block, since lanes that exit a loop in
    /// different rounds reconverge outside it. `None` is the function's start. If `whole`, the dominator is
    /// also outside all divergent loops.
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

    /// The closest of these dominators that runs whenever block `b`'s mask is read.
    ///
    /// A block that no lane reached is skipped, and the next place may be one that other blocks lead to. If
    /// that lies between a dominator and `b`, `b` is passed although its dominator was skipped.
    fn mask_beginning(&self, b: usize, dominance: &Dominance) -> Option<usize> {
        let cfg = &self.facts.cfg;
        let runs =
            |d: usize| !self.facts.uniformity.masked[d] || dominance.until[d] >= cfg.position[b].unwrap_or(0);
        let mut d = self.beginning(b, false)?;
        while !runs(d) {
            d = self.beginning(d, false)?;
        }
        Some(d)
    }

    /// The instructions that initialise masks and slots, by the block that runs them (`None`: the function's
    /// start).
    pub fn beginnings(&mut self) -> BTreeMap<Option<usize>, Vec<Inst>> {
        let mut clears: BTreeMap<Option<usize>, Vec<Inst>> = BTreeMap::new();
        let dominance = Dominance::new(&self.facts.cfg);
        for b in self.facts.cfg.order.clone() {
            if self.facts.uniformity.masked[b] {
                let at = self.mask_beginning(b, &dominance);
                // A resumed warp arrives on other paths. If slots live in its frame, the masks are still
                // valid.
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

    /// The instructions that clear a block's mask.
    fn cleared(&mut self, b: usize) -> Vec<Inst> {
        let outer = self.out.ir.begin_aside();
        self.set_slot(names::coming(b), Operand::zero(self.slot_type(self.width().mask())));
        self.out.ir.end_aside(outer)
    }
}
