//! Questions whether any lane is left: comparisons of masks with 0 become votes, which need no mask.

use smallvec::smallvec;

use super::{Made, order};
use crate::func::{Function, Inst, Value};
use crate::op::{IntCmp, IntOp, IntUnOp, Op, VoteMode};
use crate::types::Ty;

/// Conjunctions and disjunctions of ballots are looked through to this depth.
const DEPTH: usize = 4;

/// Replaces the comparisons whose masks are made of ballots.
pub(super) fn ask(func: &mut Function) {
    let order = order(func);
    let made = Made::of(func, &order);
    let mask = func.width.mask();
    for &b in &order {
        let mut out = Vec::new();
        for inst in std::mem::take(&mut func.block_mut(b).insts) {
            let asked = match inst.op {
                Op::IntCmp(cmp @ (IntCmp::Eq | IntCmp::Ne), ty) if ty == mask => {
                    let zero = inst.args.iter().position(|a| made.constant(*a) == Some(0));
                    zero.map(|at| (cmp, inst.args[1 - at]))
                }
                _ => None,
            };
            let before = out.len();
            let flag =
                asked.and_then(|(cmp, word)| Some((cmp, flag(func, &made, &mut out, word, &inst, DEPTH)?)));
            let Some((cmp, flag)) = flag else {
                out.truncate(before);
                out.push(inst);
                continue;
            };
            let members = func.new_value(mask);
            let (result, loc) = (inst.results[0], inst.loc);
            out.push(Inst {
                op: Op::Const { ty: mask, bits: 0 },
                args: smallvec![],
                results: smallvec![members],
                loc,
            });
            let any = if cmp == IntCmp::Ne { result } else { func.new_value(Ty::I1) };
            let op = Op::Vote { mode: VoteMode::Any, sync: false };
            out.push(Inst { op, args: smallvec![flag, members], results: smallvec![any], loc });
            if cmp == IntCmp::Eq {
                let op = Op::IntUn(IntUnOp::Not, Ty::I1);
                out.push(Inst { op, args: smallvec![any], results: smallvec![result], loc });
            }
        }
        func.block_mut(b).insts = out;
    }
    while without_unread(func) {}
}

/// Removes masks that nothing reads; whether there were any.
fn without_unread(func: &mut Function) -> bool {
    let mask = func.width.mask();
    let mut read = vec![false; func.values.len()];
    for data in &func.blocks {
        let uses = data.insts.iter().flat_map(|i| i.args.iter().copied()).chain(data.term.uses());
        uses.for_each(|v| read[v.index()] = true);
    }
    let makes_mask = |op: &Op| match op {
        Op::Vote { mode: VoteMode::Ballot, sync: false } => true,
        Op::Int(IntOp::And | IntOp::Or, ty) => *ty == mask,
        _ => false,
    };
    let mut found = false;
    for data in &mut func.blocks {
        data.insts.retain(|i| {
            let unread = makes_mask(&i.op) && !i.results.iter().any(|r| read[r.index()]);
            found |= unread;
            !unread
        });
    }
    found
}

/// Each lane's flag of a mask that is made of ballots.
fn flag(
    func: &mut Function,
    made: &Made,
    out: &mut Vec<Inst>,
    word: Value,
    at: &Inst,
    depth: usize,
) -> Option<Value> {
    let inst = made.inst(word)?;
    match inst.op {
        Op::Vote { mode: VoteMode::Ballot, sync: false } => Some(inst.args[0]),
        Op::Int(op @ (IntOp::And | IntOp::Or), _) if depth > 0 => {
            let a = flag(func, made, out, inst.args[0], at, depth - 1)?;
            let b = flag(func, made, out, inst.args[1], at, depth - 1)?;
            let joined = func.new_value(Ty::I1);
            out.push(Inst {
                op: Op::Int(op, Ty::I1),
                args: smallvec![a, b],
                results: smallvec![joined],
                loc: at.loc,
            });
            Some(joined)
        }
        _ => None,
    }
}
