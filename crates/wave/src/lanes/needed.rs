//! The lanes in which a value is read: selections and conjunctions that decide nothing there are dropped, and
//! what no lane reads.
//!
//! For each value the pass knows flags that are set in every lane in which the value is read. A flag counts
//! where its definition dominates: then it is the same execution of it.

use std::rc::Rc;

use super::{Made, order, replace};
use crate::dominance::Dominators;
use crate::func::{Block, Function, Inst, Value};
use crate::op::{Guard, IntOp, Op};
use crate::types::Ty;

/// Most flags that are kept for a value.
const MOST: usize = 32;

/// Flags that are all set, in the order of their numbers; `None` if there is no lane.
type Flags = Option<Rc<[Value]>>;

fn none() -> Rc<[Value]> {
    Rc::from([])
}

/// The flags that both have.
fn meet(a: &Flags, b: &Flags) -> Flags {
    match (a, b) {
        (None, other) | (other, None) => other.clone(),
        (Some(a), Some(b)) if a == b => Some(a.clone()),
        (Some(a), Some(b)) => Some(a.iter().copied().filter(|v| b.binary_search(v).is_ok()).collect()),
    }
}

/// The flags of either.
fn join(a: &[Value], b: &[Value]) -> Rc<[Value]> {
    let mut all: Vec<Value> = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    all.dedup();
    all.truncate(MOST);
    all.into()
}

/// Drops what decides nothing.
pub(super) fn narrow(func: &mut Function) {
    let order = order(func);
    let mut pass = Pass::new(func, &order);
    pass.imply(func, &order);
    pass.need(func, &order);
    let mut stands = vec![None; func.values.len()];
    for inst in order.iter().flat_map(|b| &func.block(*b).insts) {
        let Some(Some(flags)) = inst.results.first().map(|r| &pass.needed[r.index()]) else { continue };
        let set = |v: Value| flags.binary_search(&v).is_ok();
        let other = match (&inst.op, &inst.args[..]) {
            (Op::Select(_), &[flag, a, _]) if set(flag) || pass.made.constant(flag) == Some(1) => Some(a),
            (Op::Select(_), &[_, a, b]) if a == b => Some(a),
            (Op::Int(IntOp::And, Ty::I1), &[a, b]) if set(b) || pass.made.constant(b) == Some(1) => Some(a),
            (Op::Int(IntOp::And, Ty::I1), &[a, b]) if set(a) || pass.made.constant(a) == Some(1) => Some(b),
            // One flag implies the other.
            (Op::Int(IntOp::Or, Ty::I1), &[a, b]) if pass.implies(a, b) => Some(b),
            (Op::Int(IntOp::Or, Ty::I1), &[a, b]) if pass.implies(b, a) => Some(a),
            _ => None,
        };
        if let Some(other) = other {
            stands[inst.results[0].index()] = Some(other);
        }
    }
    let unused = |v: Value| pass.needed[v.index()].is_none();
    for &b in &order {
        let data = func.block_mut(b);
        for inst in &mut data.insts {
            if inst.guard().is_some_and(|(guard, _)| pass.made.constant(guard) == Some(1)) {
                *inst = inst.unguarded();
            }
        }
        // What another value stands for goes too: an operand that it did not need may be gone.
        data.insts.retain(|i| {
            let gone = |r: &Value| unused(*r) || stands[r.index()].is_some();
            !i.op.is_pure() && !is_lost(i) || i.results.is_empty() || !i.results.iter().all(gone)
        });
        let kept: Vec<bool> = data.params.iter().map(|p| b.index() == 0 || !unused(*p)).collect();
        if kept.iter().all(|k| *k) {
            continue;
        }
        let mut keeps = kept.iter();
        func.block_mut(b).params.retain(|_| keeps.next().is_some_and(|k| *k));
        for from in &order {
            for target in func.block_mut(*from).term.targets_mut().filter(|t| t.block == b) {
                let mut keeps = kept.iter();
                target.args.retain(|_| keeps.next().is_some_and(|k| *k));
            }
        }
    }
    replace(func, &stands);
    crate::ssa::remove_redundant_params(func);
}

/// Operations without effect that are not pure: they may be removed if nothing reads their results.
fn is_lost(inst: &Inst) -> bool {
    matches!(
        inst.op,
        Op::Vote { sync: false, .. } | Op::ActiveMask | Op::Agree(_) | Op::Shfl { sync: false, .. }
    )
}

struct Pass {
    made: Made,
    dominators: Dominators,
    /// By flag: those that are set wherever it is, itself among them; `None` until something is known.
    implied: Vec<Flags>,
    /// By value.
    needed: Vec<Flags>,
}

impl Pass {
    fn new(func: &Function, order: &[Block]) -> Pass {
        let n = func.values.len();
        Pass {
            made: Made::of(func, order),
            dominators: Dominators::of(func),
            implied: vec![None; n],
            needed: vec![None; n],
        }
    }

    /// Whether a value is defined before a block begins, on every way to it.
    fn is_before(&self, v: Value, b: Block) -> bool {
        self.made.blocks[v.index()].is_some_and(|at| at != b && self.dominators.dominates(at, b))
    }

    fn implies(&self, a: Value, b: Value) -> bool {
        self.implied[a.index()].as_ref().is_some_and(|all| all.binary_search(&b).is_ok())
    }

    fn of_flag(&self, v: Value) -> Rc<[Value]> {
        self.implied[v.index()].clone().unwrap_or_else(none)
    }

    /// What flags imply. Parameters begin with everything, and lose what an edge does not bring.
    fn imply(&mut self, func: &Function, order: &[Block]) {
        let mut changed = true;
        while changed {
            changed = false;
            for &b in order {
                for inst in &func.block(b).insts {
                    let Some(&r) = inst.results.first().filter(|r| func.ty(**r) == Ty::I1) else { continue };
                    let of = |i: usize| self.implied[inst.args[i].index()].clone();
                    let known = match inst.op {
                        Op::Int(IntOp::And, Ty::I1) => match (of(0), of(1)) {
                            (Some(a), Some(b)) => Some(join(&a, &b)),
                            _ => None,
                        },
                        Op::Int(IntOp::Or, Ty::I1) => meet(&of(0), &of(1)),
                        Op::Select(Ty::I1) => meet(&of(1), &of(2)),
                        _ => Some(none()),
                    };
                    let known = known.map(|all| join(&all, &[r]));
                    if known != self.implied[r.index()] {
                        self.implied[r.index()] = known;
                        changed = true;
                    }
                }
                for target in func.block(b).term.targets() {
                    for (&p, v) in func.block(target.block).params.iter().zip(&target.args) {
                        if func.ty(p) != Ty::I1 {
                            continue;
                        }
                        let Some(brought) = self.implied[v.index()].clone() else { continue };
                        let before = |f: &Value| *f == p || self.is_before(*f, target.block);
                        let brought: Rc<[Value]> =
                            join(&brought.iter().copied().filter(before).collect::<Vec<_>>(), &[p]);
                        let met = meet(&self.implied[p.index()], &Some(brought));
                        if met != self.implied[p.index()] {
                            self.implied[p.index()] = met;
                            changed = true;
                        }
                    }
                }
            }
        }
    }

    /// Notes that a value is read in the lanes in which these flags are set.
    fn read(&mut self, v: Value, flags: &Rc<[Value]>, changed: &mut bool) {
        let met = meet(&self.needed[v.index()], &Some(flags.clone()));
        if met != self.needed[v.index()] {
            self.needed[v.index()] = met;
            *changed = true;
        }
    }

    /// In which lanes values are read.
    fn need(&mut self, func: &Function, order: &[Block]) {
        let mut changed = true;
        while changed {
            changed = false;
            for &b in order.iter().rev() {
                let data = func.block(b);
                if let Some(v) = data.term.condition() {
                    self.read(v, &none(), &mut changed);
                }
                for target in data.term.targets() {
                    self.passed(func, target, &mut changed);
                }
                for inst in data.insts.iter().rev() {
                    self.operands(inst, &mut changed);
                }
            }
        }
    }

    /// What is read of the arguments of an edge: a flag that is passed along stands for the parameter.
    fn passed(&mut self, func: &Function, target: &crate::func::BlockCall, changed: &mut bool) {
        let params = &func.block(target.block).params;
        for (p, v) in params.iter().zip(&target.args) {
            let Some(flags) = self.needed[p.index()].clone() else { continue };
            let mut known: Vec<Value> =
                flags.iter().copied().filter(|f| self.is_before(*f, target.block)).collect();
            for (q, w) in params.iter().zip(&target.args) {
                if flags.binary_search(q).is_ok() {
                    known.extend(self.of_flag(*w).iter());
                }
            }
            let known = join(&known, &[]);
            self.read(*v, &known, changed);
        }
    }

    fn operands(&mut self, inst: &Inst, changed: &mut bool) {
        let all = none();
        let of_result =
            inst.results.iter().map(|r| self.needed[r.index()].clone()).reduce(|a, b| meet(&a, &b));
        let of_result = of_result.flatten();
        if let Op::Load { guard, .. } | Op::Store { guard, .. } | Op::Atom { guard, .. } = inst.op {
            let (those, fallbacks): (Rc<[Value]>, &[Value]) = match (guard, inst.guard()) {
                (Guard::Always, _) | (_, None) => (all.clone(), &[]),
                (_, Some((flag, fallbacks))) => {
                    self.read(flag, &all, changed);
                    (self.of_flag(flag), fallbacks)
                }
            };
            let count = inst.op.guard().operands(inst.results.len());
            for &v in &inst.args[..inst.args.len() - count] {
                self.read(v, &those, changed);
            }
            for &v in fallbacks {
                if let Some(flags) = &of_result {
                    self.read(v, flags, changed);
                }
            }
            return;
        }
        if !inst.op.is_pure() && !is_lost(inst) {
            inst.args.iter().for_each(|v| self.read(*v, &all, changed));
            return;
        }
        let Some(flags) = of_result else { return };
        match (&inst.op, &inst.args[..]) {
            (Op::Select(_), &[flag, a, b]) => {
                self.read(flag, &flags, changed);
                let chosen = join(&flags, &self.of_flag(flag));
                self.read(a, &chosen, changed);
                if flags.binary_search(&flag).is_err() {
                    self.read(b, &flags, changed);
                }
            }
            (Op::Int(IntOp::And, Ty::I1), &[a, b]) => {
                // The flag that was there first is that of the lanes which execute.
                let (mask, flag) = if self.is_older(a, b) { (a, b) } else { (b, a) };
                self.read(mask, &flags, changed);
                let those = join(&flags, &self.of_flag(mask));
                self.read(flag, &those, changed);
            }
            (Op::Shfl { .. }, &[value, ..]) => {
                self.read(value, &all, changed);
                inst.args[1..].iter().for_each(|v| self.read(*v, &flags, changed));
            }
            (op, args) if op.is_pure() => args.iter().for_each(|v| self.read(*v, &flags, changed)),
            (_, args) => args.iter().for_each(|v| self.read(*v, &all, changed)),
        }
    }

    /// Whether a flag is defined in a block that dominates another's.
    fn is_older(&self, a: Value, b: Value) -> bool {
        match (self.made.blocks[a.index()], self.made.blocks[b.index()]) {
            (Some(x), Some(y)) if x != y => self.dominators.dominates(x, y),
            _ => false,
        }
    }
}
