//! Changes to a function's graph that tell more of what is uniform.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use wave::{Block, BlockCall, BlockData, Function, Terminator, Ty, Value};

use super::cfg::Cfg;

/// What a value stands for, through parameters that were found to be others.
fn found(stands: &[Option<Value>], mut v: Value) -> Value {
    while let Some(next) = stands.get(v.index()).copied().flatten() {
        v = next;
    }
    v
}

/// Takes out parameters that are one and the same value on every reachable way. Where lanes come together on different ways, such a
/// parameter would seem to differ between them.
pub fn without_copies(func: &mut Function, cfg: &Cfg) {
    let mut stands: Vec<Option<Value>> = vec![None; func.values.len()];
    let mut made = vec![0; func.values.len()];
    for &b in &cfg.order {
        let data = &func.blocks[b];
        let results = data.insts.iter().flat_map(|i| i.results.iter());
        data.params.iter().chain(results).for_each(|v| made[v.index()] = b);
    }
    // What lanes take along out of a loop stays a parameter: inside the loop it may be one value for all lanes, outside it is not.
    let leaves = |v: Value, b: usize| cfg.loops.iter().any(|l| l.contains[made[v.index()]] && !l.contains[b]);
    let mut changed = true;
    while changed {
        changed = false;
        for &b in cfg.order.iter().skip(1) {
            for (i, &p) in func.blocks[b].params.iter().enumerate() {
                if stands[p.index()].is_some() {
                    continue;
                }
                let edges = cfg.preds[b].iter().flat_map(|&f| func.blocks[f].term.targets());
                let mut from: Vec<Value> = edges
                    .filter(|t| t.block.index() == b)
                    .filter_map(|t| t.args.get(i))
                    .map(|&a| found(&stands, a))
                    .filter(|&a| a != p)
                    .collect();
                from.dedup();
                if let [one] = from.as_slice()
                    && !leaves(*one, b)
                {
                    stands[p.index()] = Some(*one);
                    changed = true;
                }
            }
        }
    }
    let kept: Vec<Vec<bool>> =
        func.blocks.iter().map(|b| b.params.iter().map(|p| stands[p.index()].is_none()).collect()).collect();
    for block in &mut func.blocks {
        block.params.retain(|p| stands[p.index()].is_none());
        for t in block.term.targets_mut() {
            let keep = &kept[t.block.index()];
            let mut i = 0;
            t.args.retain(|_| {
                i += 1;
                keep[i - 1]
            });
        }
        rename(block, |v| found(&stands, v));
    }
}

/// Gives every loop one block that goes back to its header: lanes that end a round on different ways meet there.
pub fn one_way_back(func: &mut Function, cfg: &Cfg) {
    for l in &cfg.loops {
        let header = Block(l.header as u32);
        let inside: Vec<usize> = (0..l.contains.len()).filter(|&b| l.contains[b]).collect();
        let back =
            |func: &Function, b: usize| func.blocks[b].term.targets().filter(|t| t.block == header).count();
        if inside.iter().map(|&b| back(func, b)).sum::<usize>() < 2 {
            continue;
        }
        let types: Vec<Ty> = func.block(header).params.iter().map(|&p| func.ty(p)).collect();
        let latch = func.new_block();
        let params: Vec<Value> = types.into_iter().map(|ty| func.new_param(latch, ty)).collect();
        let place = func.block(header).term_loc;
        for b in inside {
            for t in func.blocks[b].term.targets_mut().filter(|t| t.block == header) {
                t.block = latch;
            }
        }
        let end = func.block_mut(latch);
        end.term = Terminator::Jump(BlockCall { block: header, args: params.into_iter().collect() });
        end.term_loc = place;
    }
}

/// Gives what a loop makes and code behind it uses to that code as a parameter, where the loop has one way out: inside the loop the value may be
/// one for all lanes in every round, though lanes leave in different rounds.
pub fn close_loops(func: &mut Function, cfg: &Cfg) {
    // Inner loops first: what they hand out may leave the outer ones, too.
    for l in cfg.loops.iter().rev() {
        let inside = |b: usize| l.contains[b];
        let mut exits: Vec<usize> = Vec::new();
        for &b in cfg.order.iter().filter(|&&b| inside(b)) {
            exits.extend(cfg.succs[b].iter().copied().filter(|&s| !inside(s)));
        }
        exits.sort_unstable();
        exits.dedup();
        let [exit] = exits[..] else { continue };
        if !cfg.preds[exit].iter().all(|&p| inside(p)) {
            continue;
        }
        let mut made = vec![false; func.values.len()];
        for &b in cfg.order.iter().filter(|&&b| inside(b)) {
            let data = &func.blocks[b];
            let results = data.insts.iter().flat_map(|i| i.results.iter());
            data.params.iter().chain(results).for_each(|v| made[v.index()] = true);
        }
        // In the order of the parameters, and to look up.
        let mut order: Vec<Value> = Vec::new();
        let mut handed: BTreeMap<Value, Value> = BTreeMap::new();
        for &b in cfg.order.iter().filter(|&&b| !inside(b)) {
            let data = &func.blocks[b];
            let uses = data.insts.iter().flat_map(|i| i.args.iter().copied()).chain(data.term.uses());
            for v in uses.filter(|v| made[v.index()]).collect::<Vec<_>>() {
                if let Entry::Vacant(place) = handed.entry(v) {
                    let ty = func.ty(v);
                    place.insert(func.new_param(Block(exit as u32), ty));
                    order.push(v);
                }
            }
        }
        for &b in &cfg.order {
            if inside(b) {
                for t in func.blocks[b].term.targets_mut().filter(|t| t.block.index() == exit) {
                    t.args.extend(&order);
                }
            } else {
                rename(&mut func.blocks[b], |v| handed.get(&v).copied().unwrap_or(v));
            }
        }
    }
}

/// Exchanges every value that a block uses.
fn rename(block: &mut BlockData, to: impl Fn(Value) -> Value) {
    block.insts.iter_mut().flat_map(|i| i.args.iter_mut()).for_each(|v| *v = to(*v));
    match &mut block.term {
        Terminator::Branch { cond, .. } => *cond = to(*cond),
        Terminator::Switch { index, .. } => *index = to(*index),
        Terminator::Return(values) => values.iter_mut().for_each(|v| *v = to(*v)),
        _ => {}
    }
    block.term.targets_mut().flat_map(|t| t.args.iter_mut()).for_each(|v| *v = to(*v));
}
