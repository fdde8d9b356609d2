//! Computes values again after a stop instead of keeping them in the frame, if they follow from the thread's
//! place, parameters and constants alone.
//!
//! A value that comes from the frame is unknown to LLVM. One that is computed again shows what it is: which
//! warps a guard such as `t < 128` leaves idle, which lanes a mask has, and where an address lies.

use std::collections::{BTreeMap, BTreeSet};

use wave::op::{IntOp, Op, SReg, Space};
use wave::{BlockCall, Function, Inst, Terminator, Value};

use super::cfg::Cfg;
use super::stop::live_in;

/// Maximum number of operations for one value. A value in the frame costs a store and a load after each stop.
const MOST: usize = 24;

/// The operations that compute each value again, in order.
pub type Recipes = BTreeMap<Value, Vec<Value>>;

/// Replaces uses after stops.
pub fn after_stops(func: &mut Function, cfg: &Cfg) {
    let stop = |b: usize| func.blocks[b].insts.last().filter(|i| i.op.suspends());
    let stops: BTreeSet<usize> = cfg.order.iter().copied().filter(|&b| stop(b).is_some()).collect();
    if stops.is_empty() {
        return;
    }
    let live = live_in(func, cfg);
    let mut kept: BTreeSet<Value> = BTreeSet::new();
    let mut after: Vec<bool> = vec![false; func.blocks.len()];
    for &b in &stops {
        if let Terminator::Jump(BlockCall { block, .. }) = &func.blocks[b].term {
            kept.extend(&live[block.index()]);
            reach(cfg, block.index(), &mut after);
        }
    }
    let mut made: BTreeMap<Value, (usize, Inst)> = BTreeMap::new();
    let recipes = recipes(func, cfg, &mut made);
    kept.retain(|v| recipes.contains_key(v));
    if kept.is_empty() {
        return;
    }
    // Loops in which no warp stops.
    let mut calm = vec![true; cfg.loops.len()];
    stops.iter().flat_map(|&b| cfg.around(b)).for_each(|(i, _)| calm[i] = false);
    // The copies so far, by the block that has them, and by block what its uses become.
    let mut copies: BTreeMap<usize, BTreeMap<Value, Value>> = BTreeMap::new();
    let mut renamed: BTreeMap<usize, BTreeMap<Value, Value>> = BTreeMap::new();
    let mut new: BTreeMap<usize, Vec<Inst>> = BTreeMap::new();
    // Copies are few beside the code.
    let mut budget = 64 + 2 * func.blocks.iter().map(|b| b.insts.len()).sum::<usize>();
    for &b in cfg.order.iter().filter(|&&b| after[b]) {
        let data = &func.blocks[b];
        let uses = data.insts.iter().flat_map(|i| i.args.iter().copied()).chain(data.term.uses());
        let uses: BTreeSet<Value> = uses.filter(|v| kept.contains(v) && made[v].0 != b).collect();
        for v in uses {
            let Some(at) = place(cfg, &stops, &calm, b, made[&v].0) else { continue };
            // A comparison above tells the range of the copy that it reads.
            let have = |d: &usize| copies.get(d).is_some_and(|have| have.contains_key(&v));
            let at = above(cfg, &stops, at).find(have).unwrap_or(at);
            if recipes[&v].len() > budget {
                return apply(func, new, &renamed);
            }
            for &needed in &recipes[&v] {
                let have = copies.entry(at).or_default();
                if have.contains_key(&needed) {
                    continue;
                }
                budget -= 1;
                let mut inst = made[&needed].1.clone();
                inst.args.iter_mut().for_each(|a| *a = have[a]);
                for result in &mut inst.results {
                    let copy = func.new_value(func.ty(*result));
                    if *result == needed {
                        have.insert(needed, copy);
                    }
                    *result = copy;
                }
                new.entry(at).or_default().push(inst);
            }
            renamed.entry(b).or_default().insert(v, copies[&at][&v]);
        }
    }
    apply(func, new, &renamed);
}

/// Marks the blocks that can run after `b` begins.
fn reach(cfg: &Cfg, b: usize, after: &mut [bool]) {
    let mut left = vec![b];
    while let Some(b) = left.pop() {
        if !std::mem::replace(&mut after[b], true) {
            left.extend(&cfg.succs[b]);
        }
    }
}

/// A block and those that dominate it, up to a stop.
fn above(cfg: &Cfg, stops: &BTreeSet<usize>, b: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(b), |&b| cfg.idom[b].filter(|d| !stops.contains(d)))
}

/// Where a value that `from` defines is computed again for its uses in `b`: there, or before the outermost
/// loop around `b` in which no warp stops. `None` if the value comes from that loop.
fn place(cfg: &Cfg, stops: &BTreeSet<usize>, calm: &[bool], b: usize, from: usize) -> Option<usize> {
    // Outer loops come first.
    let Some((_, outermost)) = cfg.around(b).find(|(i, _)| calm[*i]) else { return Some(b) };
    if outermost.contains[from] {
        return None;
    }
    let before = cfg.idom[outermost.header].filter(|&d| !stops.contains(&d))?;
    (before != from).then_some(before)
}

/// The values that can be computed again, with the operations that each takes.
pub fn recipes(func: &Function, cfg: &Cfg, made: &mut BTreeMap<Value, (usize, Inst)>) -> Recipes {
    let mut recipes = Recipes::new();
    for &b in &cfg.order {
        for inst in &func.blocks[b].insts {
            // The carry of a sum is not computed again.
            let Some(&result) = inst.results.first() else { continue };
            if !cheap(&inst.op) {
                continue;
            }
            let mut steps: Vec<Value> = Vec::new();
            let known = inst.args.iter().all(|a| {
                let recipe = recipes.get(a);
                for &step in recipe.into_iter().flatten() {
                    if !steps.contains(&step) {
                        steps.push(step);
                    }
                }
                recipe.is_some()
            });
            steps.push(result);
            if known && steps.len() <= MOST {
                recipes.insert(result, steps);
                made.insert(result, (b, inst.clone()));
            }
        }
    }
    recipes
}

/// Whether an operation costs little and gives the same at any time.
pub fn cheap(op: &Op) -> bool {
    match op {
        Op::Int(op, _) => !matches!(op, IntOp::DivS | IntOp::DivU | IntOp::RemS | IntOp::RemU),
        Op::Load { mem, guard, .. } => mem.space == Space::Param && *guard == wave::op::Guard::Always,
        Op::Special(reg) => !matches!(reg, SReg::Clock | SReg::Clock64 | SReg::GlobalTimer64),
        Op::Const { .. }
        | Op::AddCarry(_)
        | Op::SubBorrow(_)
        | Op::Count(..)
        | Op::Shift(..)
        | Op::IntUn(..)
        | Op::IntCmp(..)
        | Op::Sext { .. }
        | Op::Zext { .. }
        | Op::Select(_)
        | Op::SharedAddr(..)
        | Op::GlobalAddr(..)
        | Op::LocalAddr(_)
        | Op::ToGeneric(_)
        | Op::FromGeneric(_) => true,
        _ => false,
    }
}

/// Adds the copies, where their block's own code does not come first, and renames the uses.
fn apply(
    func: &mut Function,
    new: BTreeMap<usize, Vec<Inst>>,
    renamed: &BTreeMap<usize, BTreeMap<Value, Value>>,
) {
    for (&b, values) in renamed {
        super::tidy::rename(&mut func.blocks[b], |v| values.get(&v).copied().unwrap_or(v));
    }
    for (b, insts) in new {
        func.blocks[b].insts.splice(0..0, insts);
    }
}
