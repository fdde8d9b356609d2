//! Branches of a whole warp around code in which no lane has anything to do.
//!
//! Code for AMD's hardware leaves out what only lanes without their bit in the mask would run. Whether such
//! a branch asks one warp or several that run together, no lane can tell: what it goes around acts for the
//! lanes with the flag alone, and computes nothing for what follows.

use std::collections::{BTreeMap, BTreeSet};

use wave::op::{IntOp, IntUnOp, Op, Space, VoteMode};
use wave::{Function, Inst, Terminator, Ty, Value};

use super::cfg::Cfg;
use super::uniformity::{Uniformity, chosen_uniformly};

/// A vote whether any of the lanes that execute has a flag.
pub fn is_any(op: &Op) -> bool {
    matches!(op, Op::Vote { mode: VoteMode::Any, sync: false })
}

/// Whether votes of [`is_any`] decide nothing but such branches.
pub fn only_skips(func: &Function, cfg: &Cfg, uniformity: &Uniformity) -> bool {
    let made: BTreeMap<Value, &Inst> = cfg
        .order
        .iter()
        .flat_map(|&b| &func.blocks[b].insts)
        .flat_map(|inst| inst.results.iter().map(move |r| (*r, inst)))
        .collect();
    let skips = Skips { func, cfg, uniformity, made };
    let votes: Vec<&Inst> = skips.all().filter(|i| is_any(&i.op)).collect();
    votes.is_empty() || skips.decide_branches(&votes) && votes.iter().all(|v| skips.only(v))
}

struct Skips<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    uniformity: &'a Uniformity,
    made: BTreeMap<Value, &'a Inst>,
}

impl Skips<'_> {
    fn all(&self) -> impl Iterator<Item = &Inst> {
        self.cfg.order.iter().flat_map(|&b| &self.func.blocks[b].insts)
    }

    /// The vote that a condition is, and whether it is negated.
    fn asked(&self, mut cond: Value) -> Option<(Value, bool)> {
        let mut negated = false;
        loop {
            let inst = self.made.get(&cond)?;
            match inst.op {
                Op::IntUn(IntUnOp::Not, Ty::I1) => (cond, negated) = (inst.args[0], !negated),
                ref op if is_any(op) => return Some((cond, negated)),
                _ => return None,
            }
        }
    }

    /// Whether nothing but conditions of branches, or their negations, reads the votes.
    fn decide_branches(&self, votes: &[&Inst]) -> bool {
        let negation = |i: &Inst| matches!(i.op, Op::IntUn(IntUnOp::Not, Ty::I1));
        let of_vote = |v: &Value| {
            votes.iter().any(|i| i.results.contains(v))
                || self.made.get(v).is_some_and(|i| negation(i)) && self.asked(*v).is_some()
        };
        let read = self.all().any(|i| !negation(i) && i.args.iter().any(of_vote));
        let passed = self
            .cfg
            .order
            .iter()
            .any(|&b| self.func.blocks[b].term.targets().any(|t| t.args.iter().any(of_vote)));
        !read && !passed
    }

    /// Whether all branches on a vote go around code that acts for lanes with its flag alone.
    fn only(&self, vote: &Inst) -> bool {
        self.cfg.order.iter().all(|&b| {
            let Terminator::Branch { cond, then, els } = &self.func.blocks[b].term else { return true };
            let Some((asked, negated)) = self.asked(*cond) else { return true };
            if asked != vote.results[0] {
                return true;
            }
            let (into, around) = if negated { (els, then) } else { (then, els) };
            let (into, join) = (into.block.index(), around.block.index());
            self.skipped(b, into, join).is_some_and(|blocks| {
                blocks.iter().all(|&at| self.acts_for(at, vote.args[0]))
                    && self.leaves_alike(&blocks, b, join)
            })
        })
    }

    /// The blocks from which a branch goes away; `None` if they do not all lead to where it goes.
    fn skipped(&self, branch: usize, into: usize, join: usize) -> Option<Vec<usize>> {
        let (mut open, mut found) = (vec![into], Vec::new());
        while let Some(b) = open.pop() {
            if b == join || found.contains(&b) {
                continue;
            }
            if b == branch || self.cfg.succs[b].is_empty() {
                return None;
            }
            found.push(b);
            open.extend(&self.cfg.succs[b]);
        }
        Some(found)
    }

    /// Whether a block acts for lanes with a flag alone, and all of them go on alike.
    fn acts_for(&self, block: usize, flag: Value) -> bool {
        let data = &self.func.blocks[block];
        let harmless = |inst: &Inst| match &inst.op {
            op if op.is_pure() || is_any(op) => true,
            Op::Load { mem, .. } if matches!(mem.space, Space::Param | Space::Const) => {
                self.uniformity.values[inst.args[0].index()].is_uniform()
            }
            Op::Prefetch(..) => true,
            _ => inst.guard().is_some_and(|(guard, _)| self.implies(guard, flag)),
        };
        let alike = data.term.condition().is_none_or(|c| self.asked(c).is_some())
            || chosen_uniformly(self.uniformity, &data.term);
        alike && data.insts.iter().all(harmless)
    }

    /// Whether lanes with one flag have another: it, or all that it is a conjunction of.
    fn implies(&self, flag: Value, other: Value) -> bool {
        let mut all = BTreeSet::new();
        let mut open = vec![flag];
        while let Some(v) = open.pop() {
            if all.insert(v) {
                open.extend(self.conjunction(v).into_iter().flatten());
            }
        }
        let mut open = vec![other];
        while let Some(v) = open.pop() {
            match self.conjunction(v) {
                _ if all.contains(&v) => {}
                Some(parts) => open.extend(parts),
                None => return false,
            }
        }
        true
    }

    /// The two flags that a flag is the conjunction of.
    fn conjunction(&self, flag: Value) -> Option<[Value; 2]> {
        let inst = self.made.get(&flag).filter(|i| matches!(i.op, Op::Int(IntOp::And, Ty::I1)))?;
        inst.args.as_slice().try_into().ok()
    }

    /// Whether what follows gets the same values by both ways.
    fn leaves_alike(&self, blocks: &[usize], branch: usize, join: usize) -> bool {
        let passed = |from: usize| {
            let targets = self.func.blocks[from].term.targets();
            targets.filter(|t| t.block.index() == join).map(|t| t.args.as_slice())
        };
        let around: Vec<_> = passed(branch).collect();
        blocks.iter().flat_map(|&b| passed(b)).all(|args| around.iter().all(|other| *other == args))
    }
}
