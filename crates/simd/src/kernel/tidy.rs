//! Changes to the control-flow graph that expose uniform values.

use std::collections::BTreeMap;

use wave::{Block, BlockCall, BlockData, Function, Terminator, Ty, Value};

use super::cfg::Cfg;

/// The value that a value stands for, after the removal of parameters.
fn found(stands: &[Option<Value>], mut v: Value) -> Value {
    while let Some(next) = stands.get(v.index()).copied().flatten() {
        v = next;
    }
    v
}

/// Removes parameters that have the same value on every reachable path. At a join of divergent paths such a
/// parameter would seem to vary.
pub fn without_copies(func: &mut Function, cfg: &Cfg) {
    let mut stands: Vec<Option<Value>> = vec![None; func.values.len()];
    let mut made = vec![0; func.values.len()];
    for &b in &cfg.order {
        let data = &func.blocks[b];
        let results = data.insts.iter().flat_map(|i| i.results.iter());
        data.params.iter().chain(results).for_each(|v| made[v.index()] = b);
    }
    // A value that lanes carry out of a loop stays a parameter (LCSSA): it may be uniform inside the loop,
    // but not outside.
    let leaves =
        |v: Value, b: usize| cfg.around(made[v.index()]).next_back().is_some_and(|(_, l)| !l.contains[b]);
    let edges = cfg.edges(func);
    let mut changed = true;
    while changed {
        changed = false;
        for &b in cfg.order.iter().skip(1) {
            for (i, &p) in func.blocks[b].params.iter().enumerate() {
                if stands[p.index()].is_some() {
                    continue;
                }
                let mut from: Vec<Value> = edges[b]
                    .iter()
                    .filter_map(|(_, t)| t.args.get(i))
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
    drop_params(func, &kept, |v| found(&stands, v));
}

/// Removes parameters that have the same value on every path, also where parameters hand it to each other
/// around loops with several entries, which [`without_copies`] does not see. For the per-lane mode.
pub fn without_cycles(func: &mut Function, cfg: &Cfg) {
    // What each parameter stands for as far as is known: at first nothing.
    let mut stands: Vec<Option<Value>> = (0..func.values.len() as u32).map(|v| Some(Value(v))).collect();
    let params = || cfg.order.iter().skip(1).flat_map(|&b| func.blocks[b].params.iter());
    params().for_each(|p| stands[p.index()] = None);
    let mut changed = true;
    while changed {
        changed = false;
        // Each parameter changes at most twice: from nothing to a value, and to itself.
        for target in cfg.order.iter().flat_map(|&b| func.blocks[b].term.targets()) {
            for (&p, a) in func.block(target.block).params.iter().zip(&target.args) {
                let (old, new) = (stands[p.index()], stands[a.index()]);
                if old != new && new.is_some() && old != Some(p) && target.block.index() != 0 {
                    stands[p.index()] = if old.is_none() { new } else { Some(p) };
                    changed = true;
                }
            }
        }
    }
    let kept: Vec<Vec<bool>> = func
        .blocks
        .iter()
        .map(|b| b.params.iter().map(|p| stands[p.index()].is_none_or(|v| v == *p)).collect())
        .collect();
    drop_params(func, &kept, |v| stands[v.index()].unwrap_or(v));
}

/// Removes the parameters that are not kept, and renames values.
fn drop_params(func: &mut Function, kept: &[Vec<bool>], name: impl Fn(Value) -> Value) {
    for (block, keep) in func.blocks.iter_mut().zip(kept) {
        let mut i = 0;
        block.params.retain(|_| {
            i += 1;
            keep[i - 1]
        });
        for t in block.term.targets_mut() {
            let keep = &kept[t.block.index()];
            let mut i = 0;
            t.args.retain(|_| {
                i += 1;
                keep[i - 1]
            });
        }
        rename(block, &name);
    }
}

/// Gives every loop a single block with a back edge, where lanes join that end a round on different paths.
pub fn single_latch(func: &mut Function, cfg: &Cfg) {
    for l in &cfg.loops {
        let header = Block(l.header as u32);
        let inside = l.blocks.clone();
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

/// Passes values that a loop defines and later code uses as parameters (LCSSA), if the loop has one exit.
/// Inside the loop such a value may be uniform in every round, although lanes exit in different rounds.
pub fn lcssa(func: &mut Function, cfg: &Cfg) {
    // The blocks that use each value; a block may be listed several times.
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); func.values.len()];
    for &b in &cfg.order {
        let data = &func.blocks[b];
        let uses = data.insts.iter().flat_map(|i| i.args.iter().copied()).chain(data.term.uses());
        uses.for_each(|v| users[v.index()].push(b));
    }
    // Blocks of finished loops: their values are not used outside.
    let mut closed = vec![false; func.blocks.len()];
    // Inner loops first: the values they pass out may leave the outer ones too.
    for l in cfg.loops.iter().rev() {
        let mut exits: Vec<usize> =
            l.blocks.iter().flat_map(|&b| &cfg.succs[b]).copied().filter(|&s| !l.contains[s]).collect();
        exits.sort_unstable();
        exits.dedup();
        let [exit] = exits[..] else { continue };
        if !cfg.preds[exit].iter().all(|&p| l.contains[p]) {
            continue;
        }
        let made = l.blocks.iter().filter(|&&b| !std::mem::replace(&mut closed[b], true));
        let made = made.map(|&b| &func.blocks[b]);
        let made: Vec<Value> = made
            .flat_map(|data| data.params.iter().chain(data.insts.iter().flat_map(|i| i.results.iter())))
            .copied()
            .collect();
        // The values in the order of the new parameters, and by block the ones to rename.
        let mut order: Vec<Value> = Vec::new();
        let mut handed: BTreeMap<usize, BTreeMap<Value, Value>> = BTreeMap::new();
        for v in made {
            let (inside, outside): (Vec<usize>, Vec<usize>) =
                std::mem::take(&mut users[v.index()]).into_iter().partition(|&b| l.contains[b]);
            users[v.index()] = inside;
            if outside.is_empty() {
                continue;
            }
            let ty = func.ty(v);
            let param = func.new_param(Block(exit as u32), ty);
            outside.iter().for_each(|&b| {
                handed.entry(b).or_default().insert(v, param);
            });
            users.push(outside);
            order.push(v);
        }
        for &b in &l.blocks {
            for t in func.blocks[b].term.targets_mut().filter(|t| t.block.index() == exit) {
                t.args.extend(&order);
                order.iter().for_each(|v| users[v.index()].push(b));
            }
        }
        for (b, values) in handed {
            rename(&mut func.blocks[b], |v| values.get(&v).copied().unwrap_or(v));
        }
    }
}

/// Renames every value that a block uses.
pub fn rename(block: &mut BlockData, to: impl Fn(Value) -> Value) {
    block.insts.iter_mut().flat_map(|i| i.args.iter_mut()).for_each(|v| *v = to(*v));
    block.term.uses_mut().for_each(|v| *v = to(*v));
}
