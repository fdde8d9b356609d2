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
    let waiting: Vec<&Loop> = cfg.loops.iter().filter(|l| waits(func, cfg, l)).collect();
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

fn waits(func: &Function, cfg: &Cfg, l: &Loop) -> bool {
    let leaves = |b: usize| cfg.succs[b].iter().any(|&s| !l.contains[s]);
    let inside = || cfg.order.iter().copied().filter(|&b| l.contains[b]);
    let from: Vec<Value> =
        inside().filter(|&b| leaves(b)).filter_map(|b| func.blocks[b].term.condition()).collect();
    let slice = slice(func, cfg, l, from);
    inside().flat_map(|b| &func.blocks[b].insts).filter(|i| i.results.iter().any(|r| slice.contains(r))).any(
        |i| match &i.op {
            Op::Load { mem, .. } => mem.order != Order::Weak,
            Op::Atom { op: AtomOp::Exch, .. } => true,
            Op::Atom { op: AtomOp::Cas, .. } => fixed(func, cfg, l, i.args[1]),
            Op::Atom { op, ty, .. } => match constant(func, i.args[1]) {
                Some(0) => !matches!(op, AtomOp::And | AtomOp::Min),
                Some(bits) => *op == AtomOp::And && bits == ty.ty().mask(),
                None => false,
            },
            _ => false,
        },
    )
}

fn constant(func: &Function, v: Value) -> Option<u128> {
    func.blocks.iter().flat_map(|b| &b.insts).find(|i| i.results.contains(&v)).and_then(|i| match i.op {
        Op::Const { bits, .. } => Some(bits),
        _ => None,
    })
}

/// Whether a value depends on nothing that changes in the loop: on no parameter of its blocks, and on nothing read in it.
fn fixed(func: &Function, cfg: &Cfg, l: &Loop, v: Value) -> bool {
    let slice = slice(func, cfg, l, vec![v]);
    cfg.order.iter().copied().filter(|&b| l.contains[b]).all(|b| {
        let data = &func.blocks[b];
        !data.params.iter().any(|p| slice.contains(p))
            && data
                .insts
                .iter()
                .filter(|i| i.results.iter().any(|r| slice.contains(r)))
                .all(|i| i.op.is_pure())
    })
}

/// Everything inside the loop that the values depend on, by data and by the branches that choose between data.
fn slice(func: &Function, cfg: &Cfg, l: &Loop, mut todo: Vec<Value>) -> BTreeSet<Value> {
    let mut seen = BTreeSet::new();
    while let Some(v) = todo.pop() {
        if !seen.insert(v) {
            continue;
        }
        for &b in cfg.order.iter().filter(|&&b| l.contains[b]) {
            let data = &func.blocks[b];
            if let Some(i) = data.insts.iter().find(|i| i.results.contains(&v)) {
                todo.extend(&i.args);
            }
            let Some(at) = data.params.iter().position(|&p| p == v) else { continue };
            for &p in cfg.preds[b].iter().filter(|&&p| l.contains[p]) {
                let term = &func.blocks[p].term;
                todo.extend(term.condition());
                todo.extend(term.targets().filter(|t| t.block.index() == b).filter_map(|t| t.args.get(at)));
            }
        }
    }
    seen
}
