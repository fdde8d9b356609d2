//! Constant folding.

use std::collections::BTreeMap;

use crate::func::{Function, Inst, Terminator, Value};
use crate::interp::eval::eval;
use crate::op::Op;

/// Replaces every pure operation with constant operands by its results, and branches on constants by jumps.
/// Memory accesses lose guards that are constant.
/// `known` returns the values of further operations that are constant here, such as the block's size in code
/// specialised for one size.
///
/// Approximate functions are not folded: compiled code may round them differently from the interpreter.
pub fn fold(func: &mut Function, known: impl Fn(&Op) -> Option<u128>) {
    let mut constants: BTreeMap<Value, u128> = BTreeMap::new();
    loop {
        let before = constants.len();
        for b in 0..func.blocks.len() {
            let mut insts = Vec::with_capacity(func.blocks[b].insts.len());
            for inst in std::mem::take(&mut func.blocks[b].insts) {
                match results(&inst, &constants, &known) {
                    None => insts.extend(performed(inst, &constants)),
                    Some(list) => {
                        for (&r, bits) in inst.results.iter().zip(list) {
                            let ty = func.values[r.index()];
                            constants.insert(r, bits);
                            let op = Op::Const { ty, bits };
                            insts.push(Inst {
                                op,
                                args: [][..].into(),
                                results: [r][..].into(),
                                loc: inst.loc,
                            });
                        }
                    }
                }
            }
            func.blocks[b].insts = insts;
            if let Terminator::Branch { cond, then, els } = &func.blocks[b].term
                && let Some(bits) = constants.get(cond)
            {
                func.blocks[b].term =
                    Terminator::Jump(if bits & 1 == 1 { then.clone() } else { els.clone() });
            }
        }
        if constants.len() == before {
            return;
        }
    }
}

/// An access without its guard if that is known to be true; none for a store if it is known to be false.
fn performed(inst: Inst, constants: &BTreeMap<Value, u128>) -> Option<Inst> {
    let known = inst.guard().and_then(|(guard, _)| constants.get(&guard).copied());
    match known {
        Some(1) => Some(inst.unguarded()),
        Some(0) if inst.results.is_empty() => None,
        _ => Some(inst),
    }
}

fn results(
    inst: &Inst,
    constants: &BTreeMap<Value, u128>,
    known: &impl Fn(&Op) -> Option<u128>,
) -> Option<Vec<u128>> {
    if let Some(bits) = known(&inst.op) {
        return Some(vec![bits]);
    }
    if !inst.op.is_pure() || matches!(inst.op, Op::Approx { .. }) {
        return None;
    }
    let args: Option<Vec<u128>> = inst.args.iter().map(|a| constants.get(a).copied()).collect();
    Some(eval(&inst.op, &args?)?.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::func::{BlockCall, Builder};
    use crate::op::{IntOp, SReg};
    use crate::types::Ty;

    #[test]
    fn sizes_become_constants_and_decide_branches() {
        let mut func = Function::default();
        let (entry, yes, no) = (func.new_block(), func.new_block(), func.new_block());
        let mut b = Builder::new(&mut func, entry);
        let size = b.emit1(Op::Special(SReg::NtidX), &[]);
        let tid = b.emit1(Op::Special(SReg::TidX), &[]);
        let two = b.iconst(Ty::I32, 2);
        let double = b.int(IntOp::Mul, size, two);
        let last = b.iconst(Ty::I32, 256);
        let cond = b.emit1(Op::IntCmp(crate::op::IntCmp::Eq, Ty::I32), &[double, last]);
        let sum = b.int(IntOp::Add, tid, double);
        b.terminate(Terminator::Branch { cond, then: BlockCall::to(yes), els: BlockCall::to(no) });
        fold(&mut func, |op| matches!(op, Op::Special(SReg::NtidX)).then_some(128));
        let value = |v: Value| {
            func.blocks[0]
                .insts
                .iter()
                .find(|i| i.results.contains(&v))
                .map(|i| i.op.clone())
                .expect("defined")
        };
        assert_eq!(value(double), Op::Const { ty: Ty::I32, bits: 256 });
        assert_eq!(value(sum), Op::Int(IntOp::Add, Ty::I32));
        assert_eq!(func.blocks[0].term, Terminator::Jump(BlockCall::to(yes)));
    }
}
