//! Branches of a whole warp around code in which only some lanes act, as branches of these lanes.
//!
//! A compiler for AMD's hardware leaves `if (flag)` as a mask of the lanes that have the flag, and a branch
//! around the code if no lane has it. If the others can neither act there nor tell, each lane may take the
//! branch by its own flag. Then the code needs no guards, and selects none of its values for other lanes.

use super::known::{Literal, Literals};
use super::needed::Pass;
use super::{is_of_masks, order, preds, replace};
use crate::func::{Block, Function, Inst, Terminator, Value};
use crate::op::{IntOp, IntUnOp, Op, VoteMode};
use crate::types::Ty;

/// Selections and parameters are looked through to this depth.
const DEPTH: usize = 8;

/// Turns votes that decide branches into branches by flags. Lanes must meet again where paths join: what
/// follows may ask all of them.
pub fn diverge(func: &mut Function) {
    if !is_of_masks(func) {
        return;
    }
    let order = order(func);
    let preds = preds(func, &order);
    let mut skips = Skips { pass: Pass::of(func, &order), preds };
    let found: Vec<(Block, Skip)> = order.iter().filter_map(|&b| Some((b, skips.found(func, b)?))).collect();
    let mut stands = vec![None; func.values.len()];
    for (b, skip) in &found {
        for &inside in &skip.blocks {
            skips.simplify(func, inside, skip.flag, &mut stands);
        }
        let term = &mut func.block_mut(*b).term;
        if let Terminator::Branch { cond, then, els } = term {
            if then.block != skip.blocks[0] {
                std::mem::swap(then, els);
            }
            *cond = skip.flag;
        }
    }
    if !found.is_empty() {
        replace(func, &stands);
        without_unread(func);
    }
}

/// A branch of the warp.
struct Skip {
    /// The flag of the lanes that go into the code.
    flag: Value,
    /// The code, from its first block on.
    blocks: Vec<Block>,
}

struct Skips {
    pass: Pass,
    preds: Vec<Vec<Block>>,
}

impl Skips {
    /// The branch at the end of a block, if lanes may take it by their flags.
    fn found(&mut self, func: &Function, b: Block) -> Option<Skip> {
        let Terminator::Branch { cond, then, els } = &func.block(b).term else { return None };
        let (flag, negated) = self.asked(*cond)?;
        let (into, around) = if negated { (els, then) } else { (then, els) };
        let blocks = self.between(func, b, into.block, around.block)?;
        let fits = blocks.iter().all(|&at| func.block(at).insts.iter().all(|i| self.acts_for(i, at, flag)))
            && self.leaves_alike(func, &blocks, b, flag, around.block);
        fits.then_some(Skip { flag, blocks })
    }

    /// The flag of the vote that a condition is, and whether it is negated.
    fn asked(&self, cond: Value) -> Option<(Value, bool)> {
        let inst = self.pass.known.made.inst(cond)?;
        match inst.op {
            Op::IntUn(IntUnOp::Not, Ty::I1) => self.asked(inst.args[0]).map(|(flag, not)| (flag, !not)),
            ref op if is_any(op) => Some((inst.args[0], false)),
            _ => None,
        }
    }

    /// The blocks between a branch and where it goes around them, without loops; `None` if another block
    /// leads to one of them, or one elsewhere.
    fn between(&self, func: &Function, branch: Block, into: Block, join: Block) -> Option<Vec<Block>> {
        let mut blocks = vec![into];
        let mut at = 0;
        while let Some(&b) = blocks.get(at) {
            let next = func.successors(b);
            if b == branch || b == join || next.is_empty() {
                return None;
            }
            for s in next {
                if s != join && !blocks.contains(&s) {
                    blocks.push(s);
                }
            }
            at += 1;
        }
        let own = |p: &Block| blocks.contains(p);
        let entered = |&b: &Block| match b == into {
            true => self.preds[b.index()] == [branch],
            false => self.preds[b.index()].iter().all(own),
        };
        let dominators = &self.pass.known.dominators;
        let loops = |&b: &Block| func.successors(b).into_iter().any(|s| dominators.dominates(s, b));
        (blocks.iter().all(entered) && !blocks.iter().any(loops)).then_some(blocks)
    }

    /// What follows in a block where a flag has a state.
    fn where_it_is(&mut self, flag: Literal, b: Block) -> Literals {
        self.pass.known.close(vec![flag], b)
    }

    /// Whether lanes without the flag do nothing by an operation, and have no part in its results for others.
    fn acts_for(&mut self, inst: &Inst, b: Block, flag: Value) -> bool {
        let guarded = match inst.op {
            ref op if op.is_pure() => return true,
            Op::Load { .. } | Op::Prefetch(..) | Op::Fence { .. } => return true,
            ref op if is_any(op) => Some(inst.args[0]),
            _ => inst.guard().map(|(guard, _)| guard),
        };
        let Some(guard) = guarded else { return false };
        let Some(others) = self.where_it_is(Literal::clear(flag), b) else { return false };
        self.pass.known.state(guard, &others) == Some(false)
    }

    /// Whether lanes without the flag go on with the same values as if they had gone around.
    fn leaves_alike(
        &mut self,
        func: &Function,
        blocks: &[Block],
        branch: Block,
        flag: Value,
        join: Block,
    ) -> bool {
        let passed = |from: Block| {
            let targets = func.block(from).term.targets();
            targets.filter(|t| t.block == join).map(|t| t.args.clone()).collect::<Vec<_>>()
        };
        let around = passed(branch);
        let edges: Vec<_> =
            blocks.iter().flat_map(|&b| passed(b).into_iter().map(move |args| (b, args))).collect();
        let params = func.block(join).params.clone();
        params.iter().enumerate().all(|(at, &p)| {
            self.is_read_by(p, flag, join)
                || edges.iter().all(|(from, args)| {
                    around
                        .iter()
                        .all(|other| self.is_same(func, blocks, args[at], other[at], flag, *from, DEPTH))
                })
        })
    }

    /// Whether only lanes with the flag read a parameter.
    fn is_read_by(&mut self, param: Value, flag: Value, b: Block) -> bool {
        match self.pass.needed[param.index()].clone() {
            None => true,
            Some(all) => {
                let others = all.iter().copied().chain([Literal::clear(flag)]).collect();
                self.pass.known.close(others, b).is_none()
            }
        }
    }

    /// Whether a value is another one in the lanes without the flag, at the end of a block.
    #[expect(clippy::too_many_arguments, reason = "a recursion over values")]
    fn is_same(
        &mut self,
        func: &Function,
        blocks: &[Block],
        v: Value,
        other: Value,
        flag: Value,
        at: Block,
        depth: usize,
    ) -> bool {
        if v == other {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        let Some(others) = self.where_it_is(Literal::clear(flag), at) else { return false };
        let known = &self.pass.known;
        let [x, y] = [v, other].map(|v| known.made.constant(v));
        if x.is_some() && x == y {
            return true;
        }
        let [x, y] = [v, other].map(|v| known.state(v, &others));
        if x.is_some() && x == y {
            return true;
        }
        if let Some(inst) = known.made.inst(v) {
            let (Op::Select(_), &[c, x, y]) = (&inst.op, &inst.args[..]) else { return false };
            let sides = match known.state(c, &others) {
                Some(true) => vec![x],
                Some(false) => vec![y],
                None => vec![x, y],
            };
            return sides.into_iter().all(|v| self.is_same(func, blocks, v, other, flag, at, depth));
        }
        let Some(b) = known.made.blocks[v.index()].filter(|b| blocks[1..].contains(b)) else { return false };
        let Some(place) = func.block(b).params.iter().position(|p| *p == v) else { return false };
        let preds = self.preds[b.index()].clone();
        preds.into_iter().all(|p| {
            let targets = func.block(p).term.targets().filter(|t| t.block == b);
            let args: Vec<Value> = targets.map(|t| t.args[place]).collect();
            args.into_iter().all(|v| self.is_same(func, blocks, v, other, flag, p, depth))
        })
    }

    /// Drops the guards, selections and conjunctions that decide nothing for lanes with the flag. Notes what
    /// the results of the latter two are instead.
    fn simplify(&mut self, func: &mut Function, b: Block, flag: Value, stands: &mut [Option<Value>]) {
        let Some(own) = self.where_it_is(Literal::set(flag), b) else { return };
        let state = |v: Value| self.pass.known.state(v, &own);
        func.block_mut(b).insts.retain_mut(|inst| {
            if inst.guard().is_some_and(|(guard, _)| state(guard) == Some(true)) {
                *inst = inst.unguarded();
            }
            let other = match (&inst.op, &inst.args[..]) {
                (Op::Select(_), &[c, x, y]) => state(c).map(|set| if set { x } else { y }),
                (Op::Int(IntOp::And, Ty::I1), &[x, y]) if state(x) == Some(true) => Some(y),
                (Op::Int(IntOp::And, Ty::I1), &[x, y]) if state(y) == Some(true) => Some(x),
                _ => None,
            };
            if let Some(other) = other {
                stands[inst.results[0].index()] = Some(other);
            }
            other.is_none()
        });
    }
}

/// A vote whether any of the lanes that execute has a flag.
fn is_any(op: &Op) -> bool {
    matches!(op, Op::Vote { mode: VoteMode::Any, sync: false })
}

/// Removes votes, and their negations, that nothing reads.
fn without_unread(func: &mut Function) {
    let of_votes = |op: &Op| is_any(op) || matches!(op, Op::IntUn(IntUnOp::Not, Ty::I1));
    for _ in 0..2 {
        let mut read = vec![false; func.values.len()];
        for data in &func.blocks {
            let uses = data.insts.iter().flat_map(|i| i.args.iter().copied()).chain(data.term.uses());
            uses.for_each(|v| read[v.index()] = true);
        }
        for data in &mut func.blocks {
            data.insts.retain(|i| !of_votes(&i.op) || i.results.iter().any(|r| read[r.index()]));
        }
    }
}
