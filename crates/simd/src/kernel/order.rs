//! Orders the operations of AMD code so that fewer vectors live at once.
//!
//! AMD's compiler has hundreds of registers for a lane, and begins loads and sums long before their results
//! are needed. A processor has 16 or 32 vector registers, and LLVM keeps the order of long blocks largely as
//! it is. If more vectors live in a block than there are registers, the block is reordered from its end: the
//! next operation chosen is the one that leaves the fewest vectors live. The new order is used if its peak is
//! lower.

use std::collections::BTreeSet;

use wave::op::{Op, Order};
use wave::{BlockData, Function, Inst, Ty, Value};

use super::cfg::Cfg;
use super::stop;
use super::uniformity::Uniformity;

/// Longest block that is ordered.
const LONGEST: usize = 4000;

/// Orders the blocks in which more than `most` bytes of each lane live in vectors.
pub fn order(func: &mut Function, cfg: &Cfg, uniformity: &Uniformity, most: usize) {
    let weigh = |func: &Function, v: Value| -> usize {
        let scalar = uniformity.values.get(v.index()).is_some_and(|variation| {
            variation.is_uniform() || variation.is_pattern() || variation.few_groups().next().is_some()
        });
        if scalar || func.ty(v) == Ty::I1 { 0 } else { func.ty(v).bytes() as usize }
    };
    let weights: Vec<usize> = (0..func.values.len()).map(|v| weigh(func, Value(v as u32))).collect();
    let mut live = None;
    for &b in &cfg.order {
        let data = &func.blocks[b];
        let vectors: usize = data.insts.iter().flat_map(|i| &i.results).map(|r| weights[r.index()]).sum();
        if data.insts.len() > LONGEST || vectors <= most {
            continue;
        }
        let live = live.get_or_insert_with(|| stop::live_in(func, cfg));
        let mut after: BTreeSet<Value> = data.term.uses().into_iter().collect();
        for &s in &cfg.succs[b] {
            after.extend(live[s].iter().filter(|v| !func.blocks[s].params.contains(v)));
        }
        let before = peak(data.insts.iter(), after.clone(), &weights);
        if before <= most {
            continue;
        }
        let sequence = from_end(data, after.clone(), &weights);
        if peak(sequence.iter().map(|&i| &data.insts[i]), after, &weights) < before {
            let mut old: Vec<Option<Inst>> =
                std::mem::take(&mut func.blocks[b].insts).into_iter().map(Some).collect();
            func.blocks[b].insts = sequence.into_iter().filter_map(|i| old[i].take()).collect();
        }
    }
}

/// The maximum bytes of a lane that live at once; `live` are the values that live after the operations.
fn peak<'a>(
    insts: impl DoubleEndedIterator<Item = &'a Inst>,
    mut live: BTreeSet<Value>,
    weights: &[usize],
) -> usize {
    let mut bytes: usize = live.iter().map(|v| weights[v.index()]).sum();
    let mut most = bytes;
    for inst in insts.rev() {
        bytes -= inst.results.iter().filter(|r| live.remove(r)).map(|r| weights[r.index()]).sum::<usize>();
        bytes += inst.args.iter().filter(|v| live.insert(**v)).map(|v| weights[v.index()]).sum::<usize>();
        most = most.max(bytes);
    }
    most
}

/// How operations may change places.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Freely, as far as their operands allow.
    Pure,
    /// Among each other.
    Read,
    /// Not with others that are not pure.
    Effect,
}

impl Kind {
    fn of(op: &Op) -> Kind {
        match op {
            Op::Load { mem, .. } if mem.order == Order::Weak => Kind::Read,
            op if op.is_pure() => Kind::Pure,
            _ => Kind::Effect,
        }
    }
}

/// The order that is found from the end: the places of the operations now.
fn from_end(data: &BlockData, mut live: BTreeSet<Value>, weights: &[usize]) -> Vec<usize> {
    let insts = &data.insts;
    // What must come before each operation, and how many come after it.
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); insts.len()];
    let made: std::collections::BTreeMap<Value, usize> =
        insts.iter().enumerate().flat_map(|(i, inst)| inst.results.iter().map(move |r| (*r, i))).collect();
    let mut effect = None;
    let mut reads = Vec::new();
    for (i, inst) in insts.iter().enumerate() {
        before[i].extend(inst.args.iter().filter_map(|v| made.get(v)));
        match Kind::of(&inst.op) {
            Kind::Pure => {}
            Kind::Read => {
                before[i].extend(effect);
                reads.push(i);
            }
            Kind::Effect => {
                before[i].extend(effect.replace(i));
                before[i].append(&mut reads);
            }
        }
        before[i].sort_unstable();
        before[i].dedup();
    }
    let mut after = vec![0; insts.len()];
    before.iter().flatten().for_each(|&i| after[i] += 1);
    let mut ready: BTreeSet<usize> = (0..insts.len()).filter(|i| after[*i] == 0).collect();
    let mut sequence = Vec::with_capacity(insts.len());
    // A stop stays the block's last operation.
    let mut next = insts.last().filter(|i| i.op.suspends()).map(|_| insts.len() - 1);
    loop {
        let best = || {
            let gain = |i: &usize| {
                let inst = &insts[*i];
                let weight = |v: &Value| weights[v.index()] as isize;
                let gone: isize = inst.results.iter().filter(|r| live.contains(r)).map(weight).sum();
                let mut new: Vec<&Value> = inst.args.iter().filter(|v| !live.contains(v)).collect();
                new.sort_unstable();
                new.dedup();
                gone - new.into_iter().map(weight).sum::<isize>()
            };
            ready.iter().copied().max_by_key(|i| (gain(i), *i))
        };
        let Some(i) = next.take().or_else(best) else { break };
        ready.remove(&i);
        sequence.push(i);
        insts[i].results.iter().for_each(|r| {
            live.remove(r);
        });
        live.extend(insts[i].args.iter().copied());
        for &p in &before[i] {
            after[p] -= 1;
            if after[p] == 0 {
                ready.insert(p);
            }
        }
    }
    sequence.reverse();
    sequence
}
