//! Versions loops whose trip count is the same in all lanes, which only a test at run time can show.
//!
//! If each thread computes the trip count of a loop, often by a division, the compiler must assume that the
//! lanes differ. In nearly every warp they do not. Such a loop is compiled twice: one copy for lanes that
//! agree on the count, in which the loop is uniform, and one for lanes that disagree. A test before the loop
//! chooses.

use std::collections::{BTreeMap, BTreeSet};

use wave::func::Builder;
use wave::op::Op;
use wave::{Block, BlockCall, Function, Terminator, Ty, Value};

use super::cfg::{Cfg, Loop};
use super::spin::Made;
use super::tidy;
use super::uniformity::Uniformity;

/// Maximum number of operations that are duplicated.
const MOST: usize = 600;

/// The function with a second copy of its divergent loops, for lanes that agree on the value that decides the
/// trip count. `None` if no single value decides it. Whether the copy pays is known only from the new
/// function's uniformity, see [`gains`].
pub fn for_one_number(func: &Function, cfg: &Cfg, uniformity: &Uniformity) -> Option<Function> {
    let made = Made::new(func, cfg);
    let divergent: Vec<&Loop> =
        cfg.loops.iter().zip(&uniformity.divergent_loop).filter(|(_, d)| **d).map(|(l, _)| l).collect();
    let inside = |b: usize| divergent.iter().any(|l| l.contains[b]);
    let mut deciding = BTreeSet::new();
    for l in &divergent {
        deciding.extend(outside(func, cfg, uniformity, &made, l)?);
    }
    // The first value that is computed before all of these loops.
    let found = deciding.into_iter().find(|&(place, v)| {
        let b = cfg.order[place.0];
        !inside(b)
            && matches!(func.ty(v), Ty::I32 | Ty::I64)
            && divergent.iter().all(|l| cfg.dominates(b, l.header))
    });
    let (_, root) = found?;
    let (b, at) = made.place(root)?;
    let split = if at < func.blocks[b].insts.len() { at + 1 } else { 0 };
    let region = Region::of(func, cfg, b, split, &divergent)?;
    Some(twice(func, cfg, &region, root))
}

/// A point in the code: the position of its block in the order, and the index in the block, parameters first.
type Place = (usize, usize);

/// The divergent values defined outside a loop that decide its trip count, with their points of definition.
/// `None` if the count also depends on what the loop itself reads, or on no such value.
fn outside(
    func: &Function,
    cfg: &Cfg,
    uniformity: &Uniformity,
    made: &Made,
    l: &Loop,
) -> Option<BTreeSet<(Place, Value)>> {
    let leaves = |b: &&usize| uniformity.divergent[**b] && cfg.succs[**b].iter().any(|&s| !l.contains[s]);
    let mut todo: Vec<Value> =
        l.blocks.iter().filter(leaves).filter_map(|&b| func.blocks[b].term.condition()).collect();
    let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
    while let Some(v) = todo.pop() {
        let variation = &uniformity.values[v.index()];
        if variation.is_whole() && !variation.needs_guard() || !seen.insert(v) {
            continue;
        }
        let (b, at) = made.place(v)?;
        let insts = &func.blocks[b].insts;
        match insts.get(at) {
            Some(inst) if inst.op.is_pure() => todo.extend(&inst.args),
            Some(_) if l.contains[b] => return None,
            Some(_) => {}
            None => {
                let targets = cfg.preds[b].iter().flat_map(|&p| func.blocks[p].term.targets());
                let same = targets.filter(|t| t.block.index() == b);
                todo.extend(same.filter_map(|t| t.args.get(at - insts.len())));
            }
        }
        if !l.contains[b] {
            let order = if at < insts.len() { at + 1 } else { 0 };
            found.insert(((cfg.position[b]?, order), v));
        }
    }
    (!found.is_empty()).then_some(found)
}

/// The region that is copied: the end of a block from one instruction on, the blocks between it and the
/// loops, and the loops.
struct Region {
    block: usize,
    split: usize,
    blocks: Vec<usize>,
    /// The only block that the exits lead to, if there is one and it has no other predecessors.
    exit: Option<usize>,
}

impl Region {
    fn of(func: &Function, cfg: &Cfg, block: usize, split: usize, loops: &[&Loop]) -> Option<Region> {
        let after = cfg.below(block);
        // Backwards from the loops.
        let mut blocks: BTreeSet<usize> = loops.iter().flat_map(|l| l.blocks.iter().copied()).collect();
        let mut todo: Vec<usize> = blocks.iter().copied().collect();
        while let Some(b) = todo.pop() {
            for &p in cfg.preds[b].iter().filter(|&&p| p != block && after.contains(&p)) {
                if blocks.insert(p) {
                    todo.push(p);
                }
            }
        }
        if blocks.contains(&block) {
            return None;
        }
        let within = |blocks: &BTreeSet<usize>, b: usize| b == block || blocks.contains(&b);
        let ways_out = |blocks: &BTreeSet<usize>| -> Vec<usize> {
            let from = blocks.iter().chain([&block]).flat_map(|&b| cfg.succs[b].iter().copied());
            from.filter(|&s| !within(blocks, s) && after.contains(&s))
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect()
        };
        let suspends = |b: usize| func.blocks[b].insts.iter().any(|i| i.op.suspends());
        // Where the ways out of the loops do not meet yet, what lies between belongs to the region.
        let exit = loop {
            let ways = ways_out(&blocks);
            let closed = |&&w: &&usize| cfg.preds[w].iter().all(|&p| within(&blocks, p));
            let next = match ways[..] {
                [] => break None,
                [exit] if closed(&&exit) => break Some(exit),
                [_] => None,
                _ => ways.iter().filter(closed).filter(|&&w| !suspends(w)).min_by_key(|&&w| cfg.position[w]),
            };
            match next {
                Some(&next) => drop(blocks.insert(next)),
                None => {
                    blocks = after;
                    break None;
                }
            }
        };
        let insts =
            || blocks.iter().flat_map(|&b| &func.blocks[b].insts).chain(&func.blocks[block].insts[split..]);
        let fits = insts().count() <= MOST && !insts().any(|i| i.op.suspends());
        fits.then(|| Region { block, split, blocks: blocks.into_iter().collect(), exit })
    }
}

fn twice(func: &Function, cfg: &Cfg, region: &Region, root: Value) -> Function {
    let mut func = func.clone();
    let place = func.blocks[region.block].term_loc;
    let head = Block(region.block as u32);
    let rest = func.new_block();
    let data = func.block_mut(head);
    let insts = data.insts.split_off(region.split);
    let term = std::mem::replace(&mut data.term, Terminator::Trap);
    let tail = func.block_mut(rest);
    (tail.insts, tail.term, tail.term_loc) = (insts, term, place);
    let blocks: Vec<usize> = region.blocks.iter().copied().chain([rest.index()]).collect();
    if let Some(exit) = region.exit {
        hand_out(&mut func, cfg, &blocks, exit);
    }

    let mut b = Builder::new(&mut func, head);
    b.loc = place;
    let ty = b.func.ty(root);
    let found = b.emit(Op::Agree(ty), &[root]);
    let (number, agree) = (found[0], found[1]);
    let copy = b.func.new_block();
    let to = |block| BlockCall { block, args: Vec::new() };
    b.terminate(Terminator::Branch { cond: agree, then: to(copy), els: to(rest) });

    let mut values = BTreeMap::from([(root, number)]);
    let mut copies = BTreeMap::from([(rest.index(), copy)]);
    for &old in &region.blocks {
        let new = func.new_block();
        for p in func.blocks[old].params.clone() {
            let ty = func.ty(p);
            values.insert(p, func.new_param(new, ty));
        }
        copies.insert(old, new);
    }
    for (&old, &new) in &copies {
        let data = func.blocks[old].clone();
        for mut inst in data.insts {
            for r in &mut inst.results {
                let ty = func.ty(*r);
                let copy = func.new_value(ty);
                values.insert(std::mem::replace(r, copy), copy);
            }
            func.block_mut(new).insts.push(inst);
        }
        func.block_mut(new).term = data.term;
        func.block_mut(new).term_loc = data.term_loc;
    }
    for &new in copies.values() {
        let data = func.block_mut(new);
        tidy::rename(data, |v| values.get(&v).copied().unwrap_or(v));
        for t in data.term.targets_mut() {
            t.block = copies.get(&t.block.index()).copied().unwrap_or(t.block);
        }
    }
    func
}

/// Passes values that `blocks` define and later code uses through parameters of `exit`, the region's only
/// exit.
fn hand_out(func: &mut Function, cfg: &Cfg, blocks: &[usize], exit: usize) {
    let within: BTreeSet<usize> = blocks.iter().copied().collect();
    let outer: Vec<usize> =
        cfg.below(exit).into_iter().chain([exit]).filter(|b| !within.contains(b)).collect();
    let used: BTreeSet<Value> = outer
        .iter()
        .map(|&b| &func.blocks[b])
        .flat_map(|data| data.insts.iter().flat_map(|i| i.args.iter().copied()).chain(data.term.uses()))
        .collect();
    let made: Vec<Value> = blocks
        .iter()
        .map(|&b| &func.blocks[b])
        .flat_map(|data| data.params.iter().chain(data.insts.iter().flat_map(|i| i.results.iter())))
        .copied()
        .filter(|v| used.contains(v))
        .collect();
    let mut handed = BTreeMap::new();
    for &v in &made {
        let ty = func.ty(v);
        handed.insert(v, func.new_param(Block(exit as u32), ty));
    }
    for &b in blocks {
        for t in func.blocks[b].term.targets_mut().filter(|t| t.block.index() == exit) {
            t.args.extend(&made);
        }
    }
    for b in outer {
        tidy::rename(&mut func.blocks[b], |v| handed.get(&v).copied().unwrap_or(v));
    }
}

/// Whether copying paid: the new function has fewer than twice as many divergent loops, so some copies are
/// uniform.
pub fn gains(before: &Uniformity, after: &Uniformity) -> bool {
    let loops = |s: &Uniformity| s.divergent_loop.iter().filter(|d| **d).count();
    loops(after) < 2 * loops(before)
}
