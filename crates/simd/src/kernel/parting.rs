//! Where the lanes of divergent branches run apart, and where they join.

use std::collections::BTreeSet;

use super::cfg::Cfg;

/// Frontiers have at most this many blocks on average; larger ones are not computed.
const MOST: usize = 64;

/// The joins and regions of the branches of one graph. A block that one answer has named may be missing from
/// later answers.
pub struct Parting<'a> {
    cfg: &'a Cfg,
    /// By block: the blocks that lanes enter when they leave what it dominates, without going round a loop
    /// (its dominance frontier). If frontiers are large, the block's successors.
    frontier: Vec<Vec<usize>>,
    /// Positions of the blocks that may be joins and that no answer has named.
    open: BTreeSet<usize>,
    /// Blocks that the answers so far have named as reached before lanes reconverge.
    apart: Vec<bool>,
}

impl<'a> Parting<'a> {
    pub fn new(cfg: &'a Cfg) -> Parting<'a> {
        let n = cfg.succs.len();
        let ahead = |from: usize, to: usize| !cfg.is_back_edge(from, to);
        let entered = |&b: &usize| cfg.preds[b].iter().filter(|&&p| ahead(p, b)).count() > 1;
        let open = cfg.order.iter().filter(|b| entered(b)).filter_map(|&b| cfg.position[b]).collect();
        let next = |b: usize| cfg.succs[b].iter().copied().filter(|&s| ahead(b, s)).collect();
        let frontier = frontiers(cfg).unwrap_or_else(|| (0..n).map(next).collect());
        Parting { cfg, frontier, open, apart: vec![false; n] }
    }

    /// The joins of a branch in `b`: blocks where its lanes reconverge without going round a loop. Each block
    /// is labelled with the block where all its lanes were last together; where two labels meet is a join.
    /// Blocks that a labelled one dominates have its label.
    pub fn meetings(&mut self, b: usize) -> Vec<usize> {
        let cfg = self.cfg;
        let mut found = Vec::new();
        let targets = cfg.succs[b].iter().filter(|&&s| !cfg.is_back_edge(b, s));
        // Positions of the blocks that are still to be visited, with the labels that come there.
        let mut ahead: BTreeSet<(usize, usize)> =
            targets.filter_map(|&s| Some((cfg.position[s]?, s))).collect();
        while let Some((place, mut label)) = ahead.pop_first() {
            if self.open.range(place..).next().is_none() {
                break;
            }
            let here = cfg.order[place];
            let mut join = false;
            while ahead.first().is_some_and(|(other, _)| *other == place) {
                ahead.pop_first();
                join = true;
            }
            if join {
                label = here;
                if self.open.remove(&place) {
                    found.push(here);
                }
            }
            if ahead.is_empty() {
                break;
            }
            ahead.extend(self.frontier[here].iter().filter_map(|&s| Some((cfg.position[s]?, label))));
        }
        found
    }

    /// Blocks that lanes may reach after a branch in `b` before they reconverge, without going round a loop.
    pub fn influence(&mut self, b: usize) -> Vec<usize> {
        let mut region = Vec::new();
        // The lanes of an outer branch have parted here. They reconverge where those of `b` do, or later.
        if self.apart[b] {
            return region;
        }
        let (cfg, stop) = (self.cfg, self.cfg.ipdom[b]);
        let mut seen = BTreeSet::new();
        let mut todo: Vec<(usize, usize)> = cfg.succs[b].iter().map(|&s| (b, s)).collect();
        while let Some((from, to)) = todo.pop() {
            if Some(to) == stop || cfg.is_back_edge(from, to) || !seen.insert(to) {
                continue;
            }
            region.push(to);
            self.apart[to] = true;
            todo.extend(cfg.succs[to].iter().map(|&s| (to, s)));
        }
        region
    }
}

/// The dominance frontiers without edges that close loops; `None` if they are large.
fn frontiers(cfg: &Cfg) -> Option<Vec<Vec<usize>>> {
    let mut frontier: Vec<Vec<usize>> = vec![Vec::new(); cfg.succs.len()];
    let mut left = MOST * cfg.succs.len();
    for &b in &cfg.order {
        for &p in cfg.preds[b].iter().filter(|&&p| !cfg.is_back_edge(p, b)) {
            let mut at = Some(p);
            while let Some(d) = at.filter(|d| Some(*d) != cfg.idom[b] && frontier[*d].last() != Some(&b)) {
                frontier[d].push(b);
                left = left.checked_sub(1)?;
                at = cfg.idom[d];
            }
        }
    }
    Some(frontier)
}

#[cfg(test)]
mod tests {
    use wave::op::Op;
    use wave::{Block, BlockCall, Function, Inst, Loc, Terminator, Ty};

    use super::*;
    use crate::kernel::random::numbers;

    /// A function of `n` blocks with edges at random. Few lead backwards.
    fn random(n: usize, below: &mut dyn FnMut(usize) -> usize) -> Function {
        let mut func = Function::default();
        (0..n).for_each(|_| {
            func.new_block();
        });
        let cond = func.new_value(Ty::I1);
        let (op, results) = (Op::Const { ty: Ty::I1, bits: 1 }, [cond].into_iter().collect());
        func.blocks[0].insts.push(Inst { op, args: Default::default(), results, loc: Loc::default() });
        for b in 0..n - 1 {
            let mut to = |near: usize| match below(9) {
                0 if b > 0 => 1 + below(b),
                _ => (b + 1 + below(near)).min(n - 1),
            };
            let [then, els] = [to(2), to(n)].map(|b| BlockCall::to(Block(b as u32)));
            func.blocks[b].term = match below(3) {
                0 => Terminator::Jump(then),
                _ => Terminator::Branch { cond, then, els },
            };
        }
        func.blocks[n - 1].term = Terminator::Exit;
        func
    }

    /// The blocks that lanes reach from `b` without going round a loop and without entering `closed`.
    fn reached(cfg: &Cfg, b: usize, closed: Option<usize>) -> Vec<bool> {
        let mut seen = vec![false; cfg.succs.len()];
        let mut todo = vec![b];
        while let Some(from) = todo.pop() {
            for &to in cfg.succs[from].iter().filter(|&&to| Some(to) != closed && !cfg.is_back_edge(from, to))
            {
                if !std::mem::replace(&mut seen[to], true) {
                    todo.push(to);
                }
            }
        }
        seen
    }

    #[test]
    fn lanes_meet_where_no_block_parts_their_ways() {
        let mut below = numbers(7);
        let (mut joins, mut loops) = (0, 0);
        for round in 0..400 {
            let func = random(3 + round % 20, &mut below);
            let Ok(cfg) = Cfg::new(&func) else { continue };
            loops += cfg.loops.len();
            let mut parting = Parting::new(&cfg);
            if round % 3 == 0 {
                // As if they were large.
                parting.frontier = cfg.succs.clone();
                for (b, next) in parting.frontier.iter_mut().enumerate() {
                    next.retain(|&s| !cfg.is_back_edge(b, s));
                }
            }
            let (mut apart, mut all) = (BTreeSet::new(), BTreeSet::new());
            let (mut found, mut expected) = (BTreeSet::new(), BTreeSet::new());
            for &b in cfg.order.iter().filter(|&&b| cfg.succs[b].len() > 1 && below(3) > 0) {
                let ways = reached(&cfg, b, None);
                // Two paths with nothing in common lead there: several edges, and no block on all paths.
                let meets = |&&r: &&usize| {
                    let comes = |&&p: &&usize| (p == b || ways[p]) && !cfg.is_back_edge(p, r);
                    let needed = |&x: &usize| x != b && x != r && ways[x] && !reached(&cfg, b, Some(x))[r];
                    ways[r] && cfg.preds[r].iter().filter(comes).count() > 1 && !cfg.order.iter().any(needed)
                };
                expected.extend(cfg.order.iter().filter(meets).copied());
                found.extend(parting.meetings(b));
                assert_eq!(found, expected, "round {round}, branch in {b}: {:?}", cfg.succs);
                apart.extend(parting.influence(b));
                let before = reached(&cfg, b, cfg.ipdom[b]);
                all.extend(before.iter().enumerate().filter(|(_, seen)| **seen).map(|(r, _)| r));
                assert_eq!(apart, all, "round {round}, branch in {b}: {:?}", cfg.succs);
            }
            joins += found.len();
        }
        assert!(joins > 300 && loops > 50, "{joins} joins, {loops} loops");
    }
}
