//! Loops that wait for somebody else: other warps must run meanwhile.
//!
//! A loop waits if its way out depends on what it reads anew from memory that others write: an ordered load, a lock taken by exchange or
//! by comparing with something fixed, a read by an atomic that changes nothing. A loop that tries again because its own compare-and-swap came
//! too late does not wait: some lane has got on.

use std::collections::BTreeSet;

use wave::op::{AtomOp, Op, Order};
use wave::{Function, Inst, Value};

use super::cfg::{Cfg, Loop};

/// Puts [`Op::Yield`] before the back edges of loops that wait; which blocks got one.
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

/// Where values are made.
pub(super) struct Made {
    /// By value: the block, and the place in it; of a parameter, the place behind the instructions.
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

    /// The block, and the place in it; of a parameter, its number more than there are instructions.
    pub(super) fn place(&self, v: Value) -> Option<(usize, usize)> {
        self.places[v.index()]
    }

    /// The instruction that makes a value; `None` for parameters.
    pub(super) fn inst<'f>(&self, func: &'f Function, v: Value) -> Option<&'f Inst> {
        let (b, at) = self.place(v)?;
        func.blocks[b].insts.get(at)
    }

    /// The block of a loop where a value is made, and the instruction that makes it or the parameter that it is.
    fn inside<'f>(&self, func: &'f Function, l: &Loop, v: Value) -> Option<(usize, Result<&'f Inst, usize>)> {
        let (b, at) = self.places[v.index()].filter(|(b, _)| l.contains[*b])?;
        let insts = &func.blocks[b].insts;
        Some((b, insts.get(at).ok_or_else(|| at - insts.len())))
    }
}

/// Whether a function reads anything anew that others write, so that loops may wait for it.
pub fn may_wait(func: &Function) -> bool {
    func.blocks.iter().flat_map(|b| &b.insts).any(reads_others)
}

/// An ordered load, or an atomic.
fn reads_others(inst: &Inst) -> bool {
    match inst.op {
        Op::Load { mem, .. } => mem.order != Order::Weak,
        Op::Atom { .. } => true,
        _ => false,
    }
}

fn waits(func: &Function, cfg: &Cfg, made: &Made, l: &Loop) -> bool {
    if !l.blocks.iter().any(|&b| func.blocks[b].insts.iter().any(reads_others)) {
        return false;
    }
    let leaves = |b: &&usize| cfg.succs[**b].iter().any(|&s| !l.contains[s]);
    let reached = l.blocks.iter().filter(|&&b| cfg.position[b].is_some());
    let from: Vec<Value> = reached.filter(leaves).filter_map(|&b| func.blocks[b].term.condition()).collect();
    slice(func, cfg, made, l, from).into_iter().any(|v| match made.inside(func, l, v) {
        Some((_, Ok(i))) => match &i.op {
            Op::Load { mem, .. } => mem.order != Order::Weak,
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
}

/// Whether a value depends on nothing that changes in the loop: on no parameter of its blocks, and on nothing read in it.
fn fixed(func: &Function, cfg: &Cfg, made: &Made, l: &Loop, v: Value) -> bool {
    slice(func, cfg, made, l, vec![v]).into_iter().all(|v| match made.inside(func, l, v) {
        Some((_, Ok(inst))) => inst.op.is_pure(),
        Some((_, Err(_))) => false,
        None => true,
    })
}

/// Everything inside the loop that the values depend on, by data and by the branches that choose between data; and what that depends on outside.
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
