//! Where masks and slots begin to hold something.
//!
//! A block's mask must be empty before the first of its lanes comes, and a slot that lanes fill one way after the other is read before it is
//! full. Were they cleared at the function's start, they would be alive all the way from there, and LLVM's time to make values of them would
//! grow with the square of the kernel. So they are cleared in the block that all ways to them come through.

use std::collections::BTreeMap;

use super::Kernel;
use super::value::MASK;

impl Kernel<'_> {
    /// The closest dominator of a block whose rounds are also the block's: lanes that leave a loop in different rounds meet outside of it. `None`
    /// is the function's start. With `whole`, it lies outside of all divergent loops around the block.
    fn beginning(&self, b: usize, whole: bool) -> Option<usize> {
        let leaves = |d: usize| {
            let mut around = self.cfg.around(d);
            let ends = |i: usize| whole && self.shapes.divergent_loop[i];
            around.find(|(i, l)| !l.contains[b] || ends(*i)).map(|(_, l)| l.header)
        };
        let mut d = self.cfg.idom[b]?;
        while let Some(header) = leaves(d) {
            d = self.cfg.idom[header]?;
        }
        Some(d)
    }

    /// What clears masks and slots, by the block that does it (`None`: the function's start).
    pub fn beginnings(&self) -> BTreeMap<Option<usize>, String> {
        let mut texts: BTreeMap<Option<usize>, String> = BTreeMap::new();
        for &b in &self.cfg.order {
            if self.shapes.masked[b] {
                let (ty, none) = if self.keeps_words() { ("i32", "0") } else { (MASK, "zeroinitializer") };
                let clear = self.set_at_start(&format!("%m{b}"), ty, none);
                let at = self.beginning(b, false);
                // A warp that is resumed comes by other ways; in its frame all masks are as they were.
                if self.suspends && !self.in_frame && at.is_some() {
                    texts.entry(None).or_default().push_str(&clear);
                }
                texts.entry(at).or_default().push_str(&clear);
            }
            let data = &self.func.blocks[b];
            let joined = data.params.iter().filter(|_| self.shapes.joins[b]);
            let escaping = data.params.iter().chain(data.insts.iter().flat_map(|i| i.results.iter()));
            let escaping = escaping.filter(|v| self.shapes.escaping[v.index()]);
            for (&v, whole) in
                joined.map(|v| (v, self.shapes.escaping[v.index()])).chain(escaping.map(|v| (v, true)))
            {
                if !self.slotted.contains(&v) || self.in_frame {
                    continue;
                }
                if let Some(at) = self.beginning(b, whole) {
                    for (slot, ty) in self.slot_parts(v) {
                        let text = texts.entry(Some(at)).or_default();
                        let ty = self.slot_type(&ty);
                        text.push_str(&format!("  store {ty} undef, ptr {slot}\n"));
                    }
                }
            }
        }
        texts
    }
}
