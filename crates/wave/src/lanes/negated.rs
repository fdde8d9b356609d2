//! Flags that are only read negated. Compilers for AMD hardware collect the lanes that leave a loop in a mask
//! and remove them from the active ones. The negation of a comparison would be compiled to a second
//! comparison, so it is avoided:
//!
//! - `!a | (b & a)` is `!a | b`, and `a & (!a | b)` is `a & b`.
//! - If a block reads its parameter `p` only as `!p`, and as `x & p` beside `x & !p`, the parameter becomes
//!   the negation `q`. Then `x & p` is `x ^ (x & q)`, and the predecessors pass negated arguments (`a & !b`
//!   for `!a | b`).

use smallvec::smallvec;

use super::{Made, order, preds};
use crate::func::{Block, BlockData, Function, Inst, Value};
use crate::op::{IntOp, IntUnOp, Op};
use crate::types::Ty;

const NOT: Op = Op::IntUn(IntUnOp::Not, Ty::I1);
const AND: Op = Op::Int(IntOp::And, Ty::I1);
const OR: Op = Op::Int(IntOp::Or, Ty::I1);

/// Rewrites a function.
pub(super) fn turn(func: &mut Function) {
    let order = order(func);
    let made = Made::of(func, &order);
    for data in &mut func.blocks {
        data.insts.iter_mut().for_each(|inst| absorb(&made, inst));
    }
    let mut made = Made::of(func, &order);
    let mut preds = preds(func, &order);
    preds.iter_mut().for_each(|all| all.dedup());
    for &b in order.iter().skip(1) {
        for at in 0..func.block(b).params.len() {
            if turn_one(func, &made, b, at, &preds[b.index()]) {
                made = Made::of(func, &order);
            }
        }
    }
}

impl Made {
    /// The operand of a negation.
    fn negated(&self, v: Value) -> Option<Value> {
        self.inst(v).filter(|inst| inst.op == NOT).map(|inst| inst.args[0])
    }
}

/// Drops from a conjunction or disjunction what the other operand decides.
fn absorb(made: &Made, inst: &mut Inst) {
    if inst.op != AND && inst.op != OR {
        return;
    }
    let dual = if inst.op == AND { OR } else { AND };
    for (at, other) in [(0, 1), (1, 0)] {
        let Some(inner) = made.inst(inst.args[at]).filter(|inner| inner.op == dual) else { continue };
        let opposite =
            |v: Value| made.negated(v) == Some(inst.args[other]) || made.negated(inst.args[other]) == Some(v);
        let rest = match inner.args[..] {
            [a, b] if opposite(a) => b,
            [a, b] if opposite(b) => a,
            _ => continue,
        };
        inst.args[at] = rest;
        return;
    }
}

/// Makes a parameter its negation if its block reads it only as described above and a predecessor passes a
/// negation. Returns whether it did.
fn turn_one(func: &mut Function, made: &Made, block: Block, at: usize, preds: &[Block]) -> bool {
    let p = func.block(block).params[at];
    if func.ty(p) != Ty::I1 {
        return false;
    }
    let Some(negations) = read_negated(func, block, p) else { return false };
    let brought: Vec<Value> = preds
        .iter()
        .flat_map(|&from| func.block(from).term.targets())
        .filter(|target| target.block == block)
        .map(|target| target.args[at])
        .collect();
    let cheaper = |v: &Value| made.negated(*v).is_some() || made.of_negation(*v).is_some();
    let free = |v: &Value| made.constant(*v).is_some() || cheaper(v);
    if !brought.iter().any(cheaper) || !brought.iter().all(free) {
        return false;
    }
    read_plain(func, block, p, &negations);
    for &from in preds {
        let targets: Vec<Option<Value>> = {
            let term = &func.block(from).term;
            term.targets().map(|t| (t.block == block).then(|| t.args[at])).collect()
        };
        let opposites: Vec<Option<Value>> =
            targets.into_iter().map(|v| Some(opposite(func, made, from, v?))).collect();
        for (target, v) in func.block_mut(from).term.targets_mut().zip(opposites) {
            if let Some(v) = v {
                target.args[at] = v;
            }
        }
    }
    true
}

impl Made {
    /// The operands of a disjunction or conjunction: one that is a negation, and what it negates; the other.
    fn of_negation(&self, v: Value) -> Option<(Op, Value, Value)> {
        let inst = self.inst(v).filter(|inst| inst.op == OR || inst.op == AND)?;
        let dual = if inst.op == OR { AND } else { OR };
        match inst.args[..] {
            [a, b] => match (self.negated(a), self.negated(b)) {
                (Some(plain), _) => Some((dual, plain, b)),
                (None, Some(plain)) => Some((dual, plain, a)),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The negation of a value at the end of a block.
fn opposite(func: &mut Function, made: &Made, at: Block, v: Value) -> Value {
    let loc = func.block(at).insts.last().map(|inst| inst.loc).unwrap_or_default();
    let mut add = |op: Op, args: smallvec::SmallVec<[Value; 4]>| {
        let result = func.new_value(Ty::I1);
        func.block_mut(at).insts.push(Inst { op, args, results: smallvec![result], loc });
        result
    };
    if let Some(bits) = made.constant(v) {
        return add(Op::Const { ty: Ty::I1, bits: !bits & 1 }, smallvec![]);
    }
    if let Some(plain) = made.negated(v) {
        return plain;
    }
    match made.of_negation(v) {
        Some((dual, plain, other)) => {
            let other = add(NOT, smallvec![other]);
            add(dual, smallvec![plain, other])
        }
        None => add(NOT, smallvec![v]),
    }
}

/// The results of `!p`, if that and `x & p` beside `x & !p` is all that reads a parameter, in its own block.
fn read_negated(func: &Function, block: Block, p: Value) -> Option<Vec<Value>> {
    let count = |data: &BlockData| {
        let args = data.insts.iter().flat_map(|i| i.args.iter().copied());
        args.chain(data.term.uses()).filter(|v| *v == p).count()
    };
    let insts = &func.block(block).insts;
    let readers = || insts.iter().filter(|inst| inst.args.contains(&p));
    let negations: Vec<Value> = readers().filter(|inst| inst.op == NOT).map(|inst| inst.results[0]).collect();
    let beside = |inst: &&Inst| {
        let x = inst.args.iter().find(|v| **v != p);
        let has_both = |i: &Inst| {
            i.op == AND
                && x.is_some_and(|x| i.args.contains(x))
                && i.args.iter().any(|v| negations.contains(v))
        };
        inst.op == AND && insts.iter().any(has_both)
    };
    let known = negations.len() + readers().filter(beside).count();
    (!negations.is_empty() && known == func.blocks.iter().map(count).sum()).then_some(negations)
}

/// Reads the parameter, which now is the negation, in place of its negations.
fn read_plain(func: &mut Function, block: Block, p: Value, negations: &[Value]) {
    let mut out = Vec::new();
    for mut inst in std::mem::take(&mut func.block_mut(block).insts) {
        if inst.op == NOT && inst.args[0] == p {
            continue;
        }
        if inst.op == AND
            && inst.args.contains(&p)
            && let Some(&x) = inst.args.iter().find(|v| **v != p)
        {
            let kept = func.new_value(Ty::I1);
            out.push(Inst { op: AND, args: smallvec![x, p], results: smallvec![kept], loc: inst.loc });
            inst = Inst { op: Op::Int(IntOp::Xor, Ty::I1), args: smallvec![x, kept], ..inst };
        }
        out.push(inst);
    }
    func.block_mut(block).insts = out;
    let mut stands = vec![None; func.values.len()];
    negations.iter().for_each(|v| stands[v.index()] = Some(p));
    super::replace(func, &stands);
}
