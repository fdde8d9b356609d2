//! Finds loops that wait for another thread, so that other warps run meanwhile.
//!
//! A loop waits if its exit condition depends on memory that others write and that it reads again in each
//! round: by an ordered load, by a plain load if there is a fence in the loop, by a lock acquired with an
//! exchange or a comparison with a fixed value, or by an atomic that changes nothing. A loop that retries its
//! own failed compare-and-swap does not wait: some other lane has made progress.

use std::collections::BTreeSet;

use wave::op::{AtomOp, Op, Order, Space};
use wave::{Function, Inst, Value};

use super::cfg::{Cfg, Loop};

/// Inserts [`Op::Yield`] before the back edges of loops that wait. Returns the blocks that got one.
pub fn mark(func: &mut Function, cfg: &Cfg) -> Vec<usize> {
    let made = Made::new(func, cfg);
    let waiting: Vec<&Loop> = cfg.loops.iter().filter(|l| waits(func, cfg, &made, l)).collect();
    let mut blocks = BTreeSet::new();
    for l in waiting {
        blocks.extend(cfg.preds[l.header].iter().copied().filter(|&b| l.contains[b]));
    }
    for &b in &blocks {
        let data = &mut func.blocks[b];
        let loc = data.term_loc;
        data.insts.push(Inst { op: Op::Yield, args: Default::default(), results: Default::default(), loc });
    }
    blocks.into_iter().collect()
}

/// Where values are defined.
pub(super) struct Made {
    /// By value: the block and the index in it. For a parameter the index follows the instructions.
    places: Vec<Option<(usize, usize)>>,
}

impl Made {
    pub(super) fn new(func: &Function, cfg: &Cfg) -> Made {
        let mut places = vec![None; func.values.len()];
        for &b in &cfg.order {
            let data = &func.blocks[b];
            let results =
                data.insts.iter().enumerate().flat_map(|(at, i)| i.results.iter().map(move |r| (at, r)));
            let params = data.params.iter().enumerate().map(|(at, p)| (data.insts.len() + at, p));
            results.chain(params).for_each(|(at, v)| places[v.index()] = Some((b, at)));
        }
        Made { places }
    }

    /// The block and the index in it. For a parameter, the index is its number plus the number of
    /// instructions.
    pub(super) fn place(&self, v: Value) -> Option<(usize, usize)> {
        self.places[v.index()]
    }

    /// The instruction that defines a value; `None` for parameters.
    pub(super) fn inst<'f>(&self, func: &'f Function, v: Value) -> Option<&'f Inst> {
        let (b, at) = self.place(v)?;
        func.blocks[b].insts.get(at)
    }

    /// If a value is defined inside a loop: the block, and the instruction or the parameter number.
    fn inside<'f>(&self, func: &'f Function, l: &Loop, v: Value) -> Option<(usize, Result<&'f Inst, usize>)> {
        let (b, at) = self.places[v.index()].filter(|(b, _)| l.contains[*b])?;
        let insts = &func.blocks[b].insts;
        Some((b, insts.get(at).ok_or_else(|| at - insts.len())))
    }
}

/// Whether a function rereads anything that others write, so that its loops may wait for it.
pub fn may_wait(func: &Function) -> bool {
    func.blocks.iter().flat_map(|b| &b.insts).any(reads_others)
}

/// Whether an instruction is an ordered load or an atomic, or a fence, behind which plain loads are fresh.
fn reads_others(inst: &Inst) -> bool {
    match inst.op {
        Op::Load { mem, .. } => mem.order != Order::Weak,
        Op::Atom { .. } | Op::Fence { .. } => true,
        _ => false,
    }
}

/// Whether other threads can write to a space.
fn is_shared(space: Space) -> bool {
    matches!(space, Space::Generic | Space::Global | Space::Shared)
}

fn waits(func: &Function, cfg: &Cfg, made: &Made, l: &Loop) -> bool {
    let any = |of: fn(&Inst) -> bool| l.blocks.iter().any(|&b| func.blocks[b].insts.iter().any(of));
    if !any(reads_others) {
        return false;
    }
    let fenced = any(|inst| matches!(inst.op, Op::Fence { .. }));
    let leaves = |b: &&usize| cfg.succs[**b].iter().any(|&s| !l.contains[s]);
    let reached = l.blocks.iter().filter(|&&b| cfg.position[b].is_some());
    let from: Vec<Value> = reached.filter(leaves).filter_map(|&b| func.blocks[b].term.condition()).collect();
    slice(func, cfg, made, l, from).into_iter().any(|v| match made.inside(func, l, v) {
        Some((_, Ok(i))) => match &i.op {
            Op::Load { mem, .. } => mem.order != Order::Weak || fenced && is_shared(mem.space),
            Op::Atom { op: AtomOp::Exch, .. } => true,
            Op::Atom { op: AtomOp::Cas, .. } => fixed(func, cfg, made, l, i.args[1]),
            Op::Atom { op, ty, .. } => match made.constant(func, i.args[1]) {
                Some(0) => !matches!(op, AtomOp::And | AtomOp::Min),
                Some(bits) => *op == AtomOp::And && bits == ty.ty().mask(),
                None => false,
            },
            _ => false,
        },
        _ => false,
    })
}

impl Made {
    pub(super) fn constant(&self, func: &Function, v: Value) -> Option<u128> {
        match self.inst(func, v)?.op {
            Op::Const { bits, .. } => Some(bits),
            _ => None,
        }
    }

    /// A constant's signed value.
    pub(super) fn signed(&self, func: &Function, v: Value) -> Option<i64> {
        let unused = 128 - func.ty(v).bits();
        let bits = self.constant(func, v)?;
        Some(((bits << unused) as i128 >> unused) as i64)
    }
}

/// Whether a value is loop-invariant: it depends on no parameter of the loop's blocks and on nothing read in
/// the loop.
fn fixed(func: &Function, cfg: &Cfg, made: &Made, l: &Loop, v: Value) -> bool {
    slice(func, cfg, made, l, vec![v]).into_iter().all(|v| match made.inside(func, l, v) {
        Some((_, Ok(inst))) => inst.op.is_pure(),
        Some((_, Err(_))) => false,
        None => true,
    })
}

/// The backward slice of the values inside the loop, by data and by the branches that select the data; and
/// the outside values that it uses.
fn slice(func: &Function, cfg: &Cfg, made: &Made, l: &Loop, mut todo: Vec<Value>) -> BTreeSet<Value> {
    let mut seen = BTreeSet::new();
    while let Some(v) = todo.pop() {
        if !seen.insert(v) {
            continue;
        }
        match made.inside(func, l, v) {
            Some((_, Ok(inst))) => todo.extend(&inst.args),
            Some((b, Err(at))) => {
                for &p in cfg.preds[b].iter().filter(|&&p| l.contains[p]) {
                    let term = &func.blocks[p].term;
                    todo.extend(term.condition());
                    todo.extend(
                        term.targets().filter(|t| t.block.index() == b).filter_map(|t| t.args.get(at)),
                    );
                }
            }
            None => {}
        }
    }
    seen
}
