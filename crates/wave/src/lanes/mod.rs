//! Masks and halves of a wave's code, as a compiler for AMD's hardware leaves them, in terms of one lane.
//!
//! Such code keeps the lanes that execute in a mask, writes registers of the others back as they were, and
//! has the halves of 64 bits in registers of their own. Patterns between lanes are lost in all three. This
//! pass
//!
//! - joins halves: parameters of blocks, carried sums and extensions become ones of 64 bits (`halves.rs`),
//! - replaces a lane's bit of a mask by the flag that the mask was made of (`flags.rs`),
//! - drops selections and conjunctions that no lane can tell (`needed.rs`, `known.rs`),
//! - asks whether any lane is left without a mask (`any.rs`),
//! - passes negated flags to blocks that only read them negated (`negated.rs`),
//! - replaces the expansion of a square root by one operation (`roots.rs`), and counts of the lanes below
//!   by the lane's number (`number.rs`).
//!
//! Another pass turns branches on such questions into branches of the lanes (`branch.rs`).

mod any;
mod branch;
mod flags;
mod halves;
mod known;
mod needed;
mod negated;
mod number;
mod roots;

pub use branch::diverge;

use crate::dominance::postorder;
use crate::func::{Block, Function, Inst, Value};
use crate::op::Op;

/// Rounds of the three steps: a step may prepare others.
const ROUNDS: usize = 2;

/// Rewrites a function. Lanes compute and access what they did before; those that do not execute an
/// instruction of the code may hold other values in their registers, which nothing reads.
pub fn untangle(func: &mut Function) {
    let is_amd = func.kernel.as_ref().is_some_and(|info| info.loose_words);
    if is_amd {
        number::find(func);
    }
    if !is_amd || !is_of_masks(func) {
        return;
    }
    crate::unreachable::empty(func);
    for _ in 0..ROUNDS {
        halves::join(func);
        flags::read(func);
        needed::narrow(func);
    }
    halves::join(func);
    halves::part(func);
    halves::join(func);
    needed::narrow(func);
    any::ask(func);
    negated::turn(func);
    roots::find(func);
}

/// Whether a function computes with masks of the lanes that execute.
fn is_of_masks(func: &Function) -> bool {
    let of_masks = |inst: &Inst| matches!(inst.op, Op::Vote { sync: false, .. } | Op::AddCarry(_));
    func.blocks.iter().flat_map(|b| &b.insts).any(of_masks)
}

/// Reachable blocks, definitions before uses except around loops.
fn order(func: &Function) -> Vec<Block> {
    let mut order = postorder(func);
    order.reverse();
    order
}

/// Where each value is made: the block, and the operation, if it is not a parameter.
struct Made {
    blocks: Vec<Option<Block>>,
    insts: Vec<Option<Inst>>,
}

impl Made {
    fn of(func: &Function, order: &[Block]) -> Made {
        let n = func.values.len();
        let mut made = Made { blocks: vec![None; n], insts: vec![None; n] };
        for &b in order {
            for p in &func.block(b).params {
                made.blocks[p.index()] = Some(b);
            }
            for inst in &func.block(b).insts {
                for r in &inst.results {
                    made.blocks[r.index()] = Some(b);
                    made.insts[r.index()] = Some(inst.clone());
                }
            }
        }
        made
    }

    fn inst(&self, v: Value) -> Option<&Inst> {
        self.insts.get(v.index())?.as_ref()
    }

    fn constant(&self, v: Value) -> Option<u128> {
        match self.inst(v)?.op {
            Op::Const { bits, .. } => Some(bits),
            _ => None,
        }
    }
}

/// The blocks that lead to each block.
fn preds(func: &Function, order: &[Block]) -> Vec<Vec<Block>> {
    let mut preds = vec![Vec::new(); func.blocks.len()];
    for &b in order {
        func.successors(b).into_iter().for_each(|s| preds[s.index()].push(b));
    }
    preds
}

/// Replaces values by others, in operations and terminators.
fn replace(func: &mut Function, stands: &[Option<Value>]) {
    let found = |mut v: Value| {
        while let Some(Some(next)) = stands.get(v.index()) {
            v = *next;
        }
        v
    };
    for data in &mut func.blocks {
        data.insts.iter_mut().flat_map(|i| i.args.iter_mut()).for_each(|v| *v = found(*v));
        data.term.uses_mut().for_each(|v| *v = found(*v));
    }
}
