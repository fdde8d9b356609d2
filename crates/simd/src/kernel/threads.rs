//! What is known about each thread at compile time: values computed from thread numbers and constants alone,
//! and from them the lanes of each warp that reach a block together.

use std::collections::{BTreeMap, BTreeSet};

use wave::abi::warp_lanes;
use wave::interp::eval::eval;
use wave::op::{Op, SReg};
use wave::{Inst, Terminator, Value, Width};

use super::Facts;

/// By warp of a block: a set of lanes.
pub type Lanes = Vec<u64>;

/// Values by thread of the block.
type Values = BTreeMap<Value, Vec<u128>>;

/// A special register of one thread, if it is known at compile time. Registers that depend on the block's
/// shape are known only if that is given.
pub fn special(reg: SReg, thread: u32, block: Option<[u32; 3]>, width: Width) -> Option<u64> {
    let lane = thread % width.lanes() as u32;
    let bit = 1u64 << lane;
    let [nx, ny, nz] = block.unwrap_or_default().map(|n| n.max(1));
    let value = match reg {
        SReg::TidX | SReg::TidY | SReg::TidZ | SReg::NtidX | SReg::NtidY | SReg::NtidZ if block.is_none() => {
            return None;
        }
        SReg::TidX => thread % nx,
        SReg::TidY => thread / nx % ny,
        SReg::TidZ => thread / nx / ny,
        SReg::NtidX => nx,
        SReg::NtidY => ny,
        SReg::NtidZ => nz,
        SReg::LaneId => lane,
        SReg::LaneMaskEq => return Some(bit),
        SReg::LaneMaskLt => return Some(bit - 1),
        SReg::LaneMaskLe => return Some(bit | (bit - 1)),
        SReg::LaneMaskGt => return Some(!(bit | (bit - 1)) & width.all()),
        SReg::LaneMaskGe => return Some(!(bit - 1) & width.all()),
        _ => return None,
    };
    Some(value.into())
}

impl Facts<'_> {
    /// The lanes that exist.
    pub fn existing(&self) -> Lanes {
        let (threads, width) = (self.spec.threads(), self.spec.warp);
        let warps = threads.div_ceil(width.lanes() as u32);
        let lanes = |index| if self.spec.whole { width.all() } else { warp_lanes(index, threads, width) };
        (0..warps).map(lanes).collect()
    }

    /// The number of threads of the block, rounded up to whole warps.
    fn slots(&self) -> u32 {
        self.spec.threads().next_multiple_of(self.spec.warp.lanes() as u32)
    }

    /// The result of an operation for each thread, if it depends only on known values.
    fn known_results(&self, inst: &Inst, known: &Values) -> Option<Vec<Vec<u128>>> {
        let slots = self.slots();
        if let Op::Special(reg) = inst.op {
            let width = self.spec.warp;
            let list: Option<Vec<u128>> =
                (0..slots).map(|t| special(reg, t, Some(self.spec.block), width).map(u128::from)).collect();
            return list.map(|l| vec![l]);
        }
        // Compiled code may round these differently.
        if !inst.op.is_pure() || matches!(inst.op, Op::Approx { .. }) {
            return None;
        }
        let args: Vec<&Vec<u128>> = inst.args.iter().map(|a| known.get(a)).collect::<Option<_>>()?;
        let mut results = vec![Vec::with_capacity(slots as usize); inst.results.len()];
        for t in 0..slots as usize {
            let one: Vec<u128> = args.iter().map(|a| a[t]).collect();
            for (list, bits) in results.iter_mut().zip(eval(&inst.op, &one)?) {
                list.push(bits);
            }
        }
        Some(results)
    }

    /// Values of all divergent conditions and of the operands that name members of operations between lanes.
    fn known_values(&self) -> Values {
        let mut wanted: BTreeSet<Value> = BTreeSet::new();
        let mut todo: Vec<Value> = Vec::new();
        for &b in &self.cfg.order {
            let data = &self.func.blocks[b];
            todo.extend(data.term.condition().filter(|_| self.uniformity.divergent[b]));
            todo.extend(data.insts.iter().filter_map(super::members::named));
        }
        while let Some(v) = todo.pop() {
            if wanted.insert(v)
                && let Some((_, inst)) = self.defs.get(&v)
                && inst.op.is_pure()
            {
                todo.extend(inst.args.iter().copied());
            }
        }
        let mut known = Values::new();
        for inst in self.cfg.order.iter().flat_map(|&b| &self.func.blocks[b].insts) {
            if inst.results.iter().any(|r| wanted.contains(r))
                && let Some(results) = self.known_results(inst, &known)
            {
                known.extend(inst.results.iter().copied().zip(results));
            }
        }
        known
    }

    /// Computes what is known about each thread.
    pub fn each_thread(&self) -> Threads {
        let mut later = vec![false; self.func.blocks.len()];
        let mut todo: Vec<usize> =
            self.cfg.order.iter().copied().filter(|&b| self.func.blocks[b].insts.iter().any(waits)).collect();
        while let Some(b) = todo.pop() {
            if !std::mem::replace(&mut later[b], true) {
                todo.extend(&self.cfg.preds[b]);
            }
        }
        Threads { values: self.known_values(), together: BTreeMap::new(), waits: later }
    }
}

/// Whether lanes may wait for others at an instruction.
fn waits(inst: &Inst) -> bool {
    inst.op.is_convergent() || inst.op.suspends()
}

/// What is known about each thread of a block.
#[derive(Debug)]
pub struct Threads {
    values: Values,
    together: BTreeMap<usize, Present>,
    /// By block: whether lanes may still wait for others in it or after it.
    waits: Vec<bool>,
}

/// Lanes of each warp that are in a block at once.
#[derive(Clone, Debug)]
pub struct Present {
    /// Those that may be there.
    pub maybe: Lanes,
    /// Those that are there whenever any lane of their warp is. Lanes that have ended, or that end without
    /// another operation between lanes, count as well.
    pub surely: Lanes,
}

impl Threads {
    /// A value of each thread, if it is known.
    pub fn value(&self, v: Value) -> Option<&[u128]> {
        self.values.get(&v).map(Vec::as_slice)
    }

    /// Lanes that go from a block to each of its successors.
    fn ways(&self, k: &Facts, from: usize, lanes: &Lanes) -> Vec<(usize, Lanes)> {
        let term = &k.func.blocks[from].term;
        let targets: Vec<usize> = term.targets().map(|t| t.block.index()).collect();
        let Some(values) = term.condition().and_then(|c| self.values.get(&c)) else {
            return targets.into_iter().map(|t| (t, lanes.clone())).collect();
        };
        let mut ways: Vec<(usize, Lanes)> = targets.iter().map(|&t| (t, vec![0; lanes.len()])).collect();
        let last = targets.len().saturating_sub(1);
        for (thread, &bits) in values.iter().enumerate() {
            let way = match term {
                Terminator::Branch { .. } => usize::from(bits & 1 == 0),
                _ => (bits as usize).min(last),
            };
            let (warp, bit) = (thread / k.spec.warp.lanes(), 1 << (thread % k.spec.warp.lanes()));
            if let Some((_, set)) = ways.get_mut(way) {
                set[warp] |= lanes[warp] & bit;
            }
        }
        ways
    }

    /// The lanes that are in `b`.
    pub fn present(&mut self, k: &Facts, b: usize) -> Present {
        // Walk down from the closest dominator where all lanes are present.
        let mut way = Vec::new();
        let mut at = b;
        let mut lanes = loop {
            if let Some(known) = self.together.get(&at) {
                break known.clone();
            }
            let parent = k.cfg.idom[at].filter(|_| k.uniformity.masked[at]);
            let Some(parent) = parent else {
                let all = k.existing();
                break Present { maybe: all.clone(), surely: all };
            };
            way.push((parent, at));
            at = parent;
        };
        for (parent, at) in way.into_iter().rev() {
            let chosen = super::uniformity::chosen_uniformly(&k.uniformity, &k.func.blocks[parent].term);
            if !(chosen && k.cfg.preds[at] == [parent]) {
                let (coming, missing) = self.parting(k, parent, at, &lanes.maybe);
                lanes.surely.iter_mut().zip(missing).for_each(|(l, m)| *l &= !m);
                lanes.maybe = coming;
            }
            self.together.insert(at, lanes.clone());
        }
        lanes
    }

    /// Divides the lanes in `from`, which dominates `to`, into those that may reach `to`, and those that may
    /// not but reach an operation between lanes.
    fn parting(&self, k: &Facts, from: usize, to: usize, lanes: &Lanes) -> (Lanes, Lanes) {
        let none = vec![0; lanes.len()];
        let add = |old: &mut Lanes, new: &Lanes| old.iter_mut().zip(new).for_each(|(o, n)| *o |= n);
        let (mut coming, mut missing) = (none.clone(), none.clone());
        if k.cfg.ipdom[from] == Some(to) {
            return (lanes.clone(), missing);
        }
        // The lanes seen in each block: all, and those that met an operation between lanes.
        let mut seen: BTreeMap<usize, (Lanes, Lanes)> = BTreeMap::new();
        let mut todo = vec![(from, lanes.clone(), none.clone())];
        while let Some((b, all, met)) = todo.pop() {
            if b == to {
                add(&mut coming, &all);
                continue;
            }
            if k.cfg.ipdom[from] == Some(b) || b == from && seen.contains_key(&b) {
                add(&mut missing, if self.waits[b] { &all } else { &met });
                continue;
            }
            let entry = seen.entry(b);
            let first = matches!(entry, std::collections::btree_map::Entry::Vacant(_));
            let old = entry.or_insert_with(|| (none.clone(), none.clone()));
            let before = old.clone();
            add(&mut old.0, &all);
            add(&mut old.1, &met);
            if !first && *old == before {
                continue;
            }
            let (all, mut met) = old.clone();
            let data = &k.func.blocks[b];
            if b != from && data.insts.iter().any(waits) {
                met.clone_from(&all);
            }
            let ways = self.ways(k, b, &all);
            if ways.is_empty() {
                add(&mut missing, &met);
            }
            for ((next, all), (_, met)) in ways.into_iter().zip(self.ways(k, b, &met)) {
                if all.iter().any(|&l| l != 0) {
                    todo.push((next, all, met));
                }
            }
        }
        (coming, missing)
    }
}
