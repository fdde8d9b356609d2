//! Moves arithmetic that follows a stop in front of it, where the stop then keeps fewer values.
//!
//! AMD's compilers put a barrier behind the last access that it orders, in the middle of the sums that use
//! what was read. A stop there would keep all addends; in front of the rest it keeps the sum.

use std::collections::{BTreeMap, BTreeSet};

use wave::op::Op;
use wave::{BlockCall, BlockData, Function, Inst, Terminator, Value};

use super::cfg::Cfg;
use super::recompute;
use super::stop::live_in;

/// Moves what pays.
pub fn before_stops(func: &mut Function, cfg: &Cfg) {
    let mut moves = Vec::new();
    let mut known = None;
    for &b in &cfg.order {
        let data = &func.blocks[b];
        let (Some(stop), Terminator::Jump(BlockCall { block, .. })) = (data.insts.last(), &data.term) else {
            continue;
        };
        let next = block.index();
        if !stop.op.suspends() || cfg.preds[next] != [b] || next == b {
            continue;
        }
        let (live, free) = known.get_or_insert_with(|| {
            let free =
                recompute::recipes(func, cfg, &mut BTreeMap::new()).into_keys().collect::<BTreeSet<_>>();
            (live_in(func, cfg), free)
        });
        let later: BTreeSet<Value> = cfg.succs[next].iter().flat_map(|&s| live[s].iter().copied()).collect();
        let chosen = chosen(stop, &func.blocks[next], &later, free);
        if !chosen.is_empty() {
            moves.push((b, next, chosen));
        }
    }
    for (b, next, chosen) in moves {
        let (moved, left): (Vec<_>, Vec<_>) = std::mem::take(&mut func.blocks[next].insts)
            .into_iter()
            .enumerate()
            .partition(|(i, _)| chosen.contains(i));
        func.blocks[next].insts = left.into_iter().map(|(_, inst)| inst).collect();
        let before = func.blocks[b].insts.len() - 1;
        func.blocks[b].insts.splice(before..before, moved.into_iter().map(|(_, inst)| inst));
    }
}

/// The instructions of the block after a stop to move in front of it, by their index. `later` is live at the
/// block's end; `free` are values that are computed again instead of being kept.
fn chosen(
    stop: &Inst,
    block: &BlockData,
    later: &BTreeSet<Value>,
    free: &BTreeSet<Value>,
) -> BTreeSet<usize> {
    let (insts, term) = (&block.insts, &block.term);
    let mut makers: BTreeMap<Value, usize> = BTreeMap::new();
    for (i, inst) in insts.iter().enumerate() {
        makers.extend(inst.results.iter().map(|&r| (r, i)));
    }
    // Groups of instructions that can be moved and that belong together, by the index of one of them.
    let mut group: BTreeMap<usize, usize> = BTreeMap::new();
    for (i, inst) in insts.iter().enumerate() {
        let movable = |a: &Value| match makers.get(a) {
            Some(maker) => group.contains_key(maker),
            None => !stop.results.contains(a) && !block.params.contains(a),
        };
        if !inst.op.is_pure() || inst.results.is_empty() || !inst.args.iter().all(movable) {
            continue;
        }
        group.insert(i, i);
        for a in &inst.args {
            let Some(&maker) = makers.get(a).filter(|&&m| !matches!(insts[m].op, Op::Const { .. })) else {
                continue;
            };
            let (old, new) = (group[&maker], group[&i]);
            group.values_mut().filter(|g| **g == old).for_each(|g| *g = new);
        }
    }
    let mut users: BTreeMap<Value, BTreeSet<Option<usize>>> = BTreeMap::new();
    for (i, inst) in insts.iter().enumerate() {
        for &a in &inst.args {
            users.entry(a).or_default().insert(group.get(&i).copied());
        }
    }
    for v in term.uses().into_iter().chain(later.iter().copied()) {
        users.entry(v).or_default().insert(None);
    }
    let mut gains: BTreeMap<usize, i64> = BTreeMap::new();
    for (v, users) in &users {
        match makers.get(v) {
            // Kept for one group alone: no longer kept.
            None if users.len() == 1 && !free.contains(v) => {
                if let Some(Some(only)) = users.first() {
                    *gains.entry(*only).or_default() += 1;
                }
            }
            // A result that others need: kept from now on.
            Some(maker) => {
                if let Some(own) = group.get(maker)
                    && users.iter().any(|user| *user != Some(*own))
                {
                    *gains.entry(*own).or_default() -= 1;
                }
            }
            None => {}
        }
    }
    let mut moved: BTreeSet<usize> =
        group.iter().filter(|(_, g)| gains.get(g).is_some_and(|gain| *gain > 0)).map(|(i, _)| *i).collect();
    // Constants have no group: those that are needed move along.
    let needed: Vec<usize> =
        moved.iter().flat_map(|&i| insts[i].args.iter().filter_map(|a| makers.get(a).copied())).collect();
    moved.extend(needed);
    moved
}
