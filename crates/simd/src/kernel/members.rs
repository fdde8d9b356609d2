//! Decides whether the members that an operation names are active in divergent code.

use wave::op::{IntOp, IntUnOp, Op, VoteMode};
use wave::{Inst, Terminator, Ty, Value};

use super::Kernel;

/// The operand that names the members of an operation, if it has one.
pub fn named(inst: &Inst) -> Option<Value> {
    match inst.op {
        Op::Shfl { sync: true, .. } => inst.args.get(3).copied(),
        Op::Vote { sync: true, .. } | Op::Match(..) | Op::Redux(_) => inst.args.get(1).copied(),
        Op::Elect | Op::WarpSync => inst.args.first().copied(),
        _ => None,
    }
}

impl Kernel<'_> {
    /// The instruction that defines a value.
    fn maker(&self, v: Value) -> Option<(usize, &Inst)> {
        self.facts
            .defs
            .get(&v)
            .map(|(b, inst)| (*b, inst))
            .filter(|(b, _)| self.facts.cfg.position[*b].is_some())
    }

    /// A predicate without its negations, and whether their number is odd.
    fn plain(&self, mut v: Value) -> (Value, bool) {
        let mut inverted = false;
        while let Some((_, inst)) = self.maker(v) {
            v = match (&inst.op, inst.args.as_slice()) {
                (Op::IntUn(IntUnOp::Not, Ty::I1), &[a]) => a,
                (Op::Int(IntOp::Xor, Ty::I1), &[a, b]) if self.facts.constants.get(&b) == Some(&1) => a,
                _ => break,
            };
            inverted = !inverted;
        }
        (v, inverted)
    }

    /// The predicate that selected the lanes of a block at one branch of all lanes, and whether it is false
    /// for them.
    fn parted_by(&self, mut b: usize) -> Option<(Value, bool)> {
        loop {
            let &[from] = self.facts.cfg.preds[b].as_slice() else { return None };
            let term = &self.facts.func.blocks[from].term;
            match term {
                Terminator::Jump(_) => {}
                _ if super::uniformity::chosen_uniformly(&self.facts.uniformity, term) => {}
                Terminator::Branch { cond, then, els }
                    if then.block != els.block && !self.facts.uniformity.masked[from] =>
                {
                    let (predicate, inverted) = self.plain(*cond);
                    return Some((predicate, inverted == (then.block.index() == b)));
                }
                _ => return None,
            }
            b = from;
        }
    }

    /// Whether a `.sync` operation in divergent code can name only active lanes. This holds if its members
    /// come from `activemask`, if they are the ballot of the predicate by which these lanes came here, if it
    /// names none, or if what is known about each thread shows it.
    pub fn members_are_here(&self, b: usize, inst: &Inst) -> bool {
        let Some(members) = named(inst) else { return true };
        let by_maker = self.maker(members).is_some_and(|(at, maker)| match maker.op {
            Op::ActiveMask => true,
            Op::Vote { mode: VoteMode::Ballot, .. } if !self.facts.uniformity.masked[at] => {
                let asked = self.plain(maker.args[0]);
                self.parted_by(b) == Some(asked)
            }
            _ => false,
        });
        by_maker || !self.in_divergent_loop(b) && self.known_members_are_here(b, members)
    }

    /// Whether all members, known for each thread, reach this block together.
    fn known_members_are_here(&self, b: usize, members: Value) -> bool {
        let mut known = self.facts.threads.borrow_mut();
        let threads = known.get_or_insert_with(|| self.facts.each_thread());
        let here = threads.present(&self.facts, b);
        let there = self.facts.existing();
        threads.value(members).is_some_and(|values| {
            values.iter().enumerate().all(|(thread, &named)| {
                let (warp, lane) = (thread / self.warp(), thread % self.warp());
                let absent = there[warp] & !here.surely[warp];
                here.maybe[warp] >> lane & 1 == 0 || named as u64 & absent == 0
            })
        })
    }
}
