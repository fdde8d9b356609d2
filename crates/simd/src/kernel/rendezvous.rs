//! Gives operations at which lanes wait for others blocks of their own, for the per-lane mode.
//!
//! A `.sync` operation waits until all its members execute the same operation, possibly at different places
//! in the code. So all places with the same operation share one block. Operands become parameters, and a
//! number says where each lane continues.

use std::collections::{BTreeMap, BTreeSet};

use wave::op::Op;
use wave::{Block, BlockCall, BlockData, Function, Inst, Terminator, Ty, Value};

/// The index of the operand that names the lanes an operation waits for.
pub fn members_operand(op: &Op) -> Option<usize> {
    match op {
        Op::Matrix(matrix) => Some(matrix.operands().len()),
        Op::Shfl { sync: true, .. } => Some(3),
        Op::Vote { sync: true, .. } | Op::Match(..) | Op::Redux(_) => Some(1),
        Op::Elect | Op::WarpSync => Some(0),
        _ => None,
    }
}

/// Blocks where lanes wait.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// Blocks with an operation between lanes, which runs once its members have arrived.
    pub meetings: BTreeSet<usize>,
    /// Blocks that consist of a barrier or a sleep: lanes stay there until the warp stops.
    pub stops: BTreeSet<usize>,
}

impl Waits {
    /// No lane waits anywhere.
    pub const NONE: Waits = Waits { meetings: BTreeSet::new(), stops: BTreeSet::new() };
}

/// Gives every operation that waits for lanes a block of its own. Where places were joined, the result is not
/// in SSA form: a definition may not dominate its use, but each lane has executed the definition.
pub fn isolate(func: &mut Function) -> Waits {
    let stops = |op: &Op| op.suspends() && !matches!(op, Op::Yield);
    let mut waits = Waits::default();
    let mut b = 0;
    while b < func.blocks.len() {
        let found =
            func.blocks[b].insts.iter().position(|i| stops(&i.op) || members_operand(&i.op).is_some());
        match found {
            None => {}
            Some(0) => {
                split(func, b, 1);
                let op = &func.blocks[b].insts[0].op;
                let set = if stops(op) { &mut waits.stops } else { &mut waits.meetings };
                set.insert(b);
            }
            Some(at) => {
                split(func, b, at);
            }
        }
        b += 1;
    }
    join(func, &mut waits);
    waits
}

/// Splits a block: moves its instructions from `at` on to a new block.
fn split(func: &mut Function, b: usize, at: usize) {
    let next = Block(func.blocks.len() as u32);
    let data = &mut func.blocks[b];
    let insts = data.insts.split_off(at);
    data.insts.shrink_to_fit();
    let term = std::mem::replace(&mut data.term, Terminator::Jump(BlockCall::to(next)));
    let term_loc = data.term_loc;
    func.blocks.push(BlockData { params: vec![], insts, term, term_loc });
}

/// Joins the places with the same operation into one block.
fn join(func: &mut Function, waits: &mut Waits) {
    let constants: BTreeMap<Value, u128> = func
        .blocks
        .iter()
        .flat_map(|b| &b.insts)
        .filter_map(|i| if let Op::Const { bits, .. } = i.op { Some((i.results[0], bits)) } else { None })
        .collect();
    let mut kinds: Vec<(Inst, Vec<usize>)> = Vec::new();
    for &b in &waits.meetings {
        let Some(inst) = func.blocks[b].insts.first() else { continue };
        let same = |i: &Inst| i.op == inst.op && i.results.len() == inst.results.len();
        match kinds.iter_mut().find(|(i, _)| same(i)) {
            Some((_, places)) => places.push(b),
            None => kinds.push((inst.clone(), vec![b])),
        }
    }
    for (inst, places) in kinds.into_iter().filter(|(_, places)| places.len() > 1) {
        let meeting = func.new_block();
        let operands = |func: &Function, at: usize| -> Vec<Value> {
            places.iter().filter_map(|&b| func.blocks[b].insts.first()?.args.get(at).copied()).collect()
        };
        let mut insts = Vec::new();
        // Operands that are the same constant everywhere need no parameter.
        let mut handed = Vec::new();
        let mut args = inst.args.clone();
        for (at, arg) in args.iter_mut().enumerate() {
            let all: Vec<Option<u128>> =
                operands(func, at).iter().map(|v| constants.get(v).copied()).collect();
            let ty = func.ty(*arg);
            *arg = match all.first() {
                Some(&Some(bits)) if all.iter().all(|c| *c == Some(bits)) => {
                    let v = func.new_value(ty);
                    insts.push(constant(ty, bits, v, &inst));
                    v
                }
                _ => {
                    handed.push(at);
                    func.new_param(meeting, ty)
                }
            };
        }
        let index = func.new_param(meeting, Ty::I32);
        let types: Vec<Ty> = inst.results.iter().map(|&r| func.ty(r)).collect();
        let results: Vec<Value> = types.into_iter().map(|ty| func.new_value(ty)).collect();
        let mut targets = Vec::new();
        for (number, &b) in places.iter().enumerate() {
            let Some(here) = func.blocks[b].insts.pop() else { continue };
            let next = func.successors(Block(b as u32))[0];
            func.block_mut(next).params = here.results.to_vec();
            targets.push(BlockCall { block: next, args: results.clone() });
            let mut given: Vec<Value> = handed.iter().map(|&at| here.args[at]).collect();
            let which = func.new_value(Ty::I32);
            given.push(which);
            func.blocks[b].insts.push(constant(Ty::I32, number as u128, which, &here));
            func.blocks[b].term = Terminator::Jump(BlockCall { block: meeting, args: given });
            waits.meetings.remove(&b);
        }
        insts.push(Inst { args, results: results.into_iter().collect(), ..inst });
        let data = func.block_mut(meeting);
        data.insts = insts;
        data.term = Terminator::Switch { index, targets };
        waits.meetings.insert(meeting.index());
    }
}

fn constant(ty: Ty, bits: u128, result: Value, near: &Inst) -> Inst {
    Inst {
        op: Op::Const { ty, bits },
        args: Default::default(),
        results: std::iter::once(result).collect(),
        loc: near.loc,
    }
}
