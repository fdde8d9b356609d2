//! The lanes in which a value is read: selections and conjunctions that decide nothing there are dropped, and
//! what no lane reads.
//!
//! For each value the pass knows flags that are set, and flags that are clear, in every lane in which the
//! value is read. A flag counts where its definition dominates: then it is the same execution of it.

use std::rc::Rc;

use smallvec::smallvec;

use super::known::{Known, Literal, Literals, meet, none, with};
use super::{Made, order, replace};
use crate::func::{Block, Function, Inst, Value};
use crate::op::{Guard, IntOp, Op, ShflMode, ShiftOp, VoteMode};
use crate::types::Ty;

/// Drops what decides nothing.
pub(super) fn narrow(func: &mut Function) {
    let order = order(func);
    let mut pass = Pass::of(func, &order);
    pass.forward(func, &order);
    let mut stands = vec![None; func.values.len()];
    for &b in &order {
        for inst in &mut func.block_mut(b).insts {
            pass.decide(inst, b, &mut stands);
        }
    }
    pass.fill(func, &order);
    let unused = |v: Value| pass.needed.get(v.index()).is_some_and(Option::is_none);
    for &b in &order {
        let data = func.block_mut(b);
        for inst in &mut data.insts {
            if inst.guard().is_some_and(|(guard, _)| pass.known.made.constant(guard) == Some(1)) {
                *inst = inst.unguarded();
            }
        }
        // What another value stands for goes too: an operand that it did not need may be gone.
        data.insts.retain(|i| {
            let gone = |r: &Value| unused(*r) || stands.get(r.index()).is_some_and(Option::is_some);
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

/// The operands of a conjunction or disjunction.
struct Roles {
    /// It is read wherever the result is.
    mask: Value,
    /// It is read where the mask does not decide the result.
    other: Value,
    /// The mask is the result.
    alone: bool,
}

impl Made {
    /// The flag of all lanes from which a shuffle takes what is read of its result: its readers ask a mask
    /// for the bit of the lane that theirs is taken from, as code for AMD's `ds_bpermute` does.
    fn sources(&self, shuffle: &Inst, read: &[Literal]) -> Option<Value> {
        let (Op::Shfl { mode: ShflMode::Idx, .. }, &[_, lane, segment, ..]) =
            (&shuffle.op, &shuffle.args[..])
        else {
            return None;
        };
        let last = self.constant(segment)?;
        read.iter().filter(|l| l.set).find_map(|l| {
            let bit = self.inst(l.flag).filter(|i| matches!(i.op, Op::Zext { to: Ty::I1, .. }))?;
            let shifted = self.inst(bit.args[0])?;
            match (&shifted.op, &shifted.args[..]) {
                // The whole wave is one segment.
                (Op::Shift(ShiftOp::ShrU, ty), &[mask, by]) if by == lane && last + 1 == ty.bits().into() => {
                    self.balloted(mask)
                }
                _ => None,
            }
        })
    }

    /// The flag that a mask has the lanes of; `m | (m & x)` is `m`.
    fn balloted(&self, mask: Value) -> Option<Value> {
        let inst = self.inst(mask)?;
        match (&inst.op, &inst.args[..]) {
            (Op::Vote { mode: VoteMode::Ballot, sync: false }, &[flag, ..]) => Some(flag),
            (Op::Int(IntOp::Or, _), &[x, y]) => [(x, y), (y, x)].into_iter().find_map(|(m, rest)| {
                let part = self.inst(rest)?;
                let within = matches!(part.op, Op::Int(IntOp::And, _)) && part.args.contains(&m);
                within.then(|| self.balloted(m)).flatten()
            }),
            _ => None,
        }
    }
}

/// Which lanes read the values of a function.
pub(super) struct Pass {
    pub known: Known,
    /// By value: what holds in the lanes that read it; `None` if no lane does.
    pub needed: Vec<Literals>,
}

impl Pass {
    pub fn of(func: &Function, order: &[Block]) -> Pass {
        let mut pass = Pass { known: Known::new(func, order), needed: vec![None; func.values.len()] };
        pass.need(func, order);
        pass
    }

    /// Notes that a value is read in the lanes in which these literals hold.
    fn read(&mut self, v: Value, those: &Literals, changed: &mut bool) {
        let met = meet(&self.needed[v.index()], those);
        if met != self.needed[v.index()] {
            self.needed[v.index()] = met;
            *changed = true;
        }
    }

    /// The closure of the literals and `one`; the literals unchanged if they contradict each other, so that
    /// what such a lane would read stays.
    fn and(&mut self, all: &[Literal], one: Literal, b: Block) -> Rc<[Literal]> {
        match self.known.close(with(all, one), b) {
            Some(all) => all,
            None => all.into(),
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
                    self.read(v, &Some(none()), &mut changed);
                }
                for at in 0..data.term.targets().count() {
                    self.passed(func, b, at, &mut changed);
                }
                for inst in data.insts.iter().rev() {
                    self.operands(inst, b, &mut changed);
                }
            }
        }
    }

    /// Propagates the parameters' needs to the arguments of an edge: literals about values from before the
    /// block, and about other parameters, which become literals about their arguments.
    fn passed(&mut self, func: &Function, b: Block, at: usize, changed: &mut bool) {
        let Some(target) = func.block(b).term.targets().nth(at) else { return };
        let params = &func.block(target.block).params;
        let facts = self.known.edge(func, b, at);
        let mut done: Vec<(Rc<[Literal]>, Literals)> = Vec::new();
        for (p, v) in params.iter().zip(&target.args) {
            let Some(of_parameter) = self.needed[p.index()].clone() else { continue };
            if let Some((_, those)) = done.iter().find(|(one, _)| *one == of_parameter) {
                self.read(*v, &those.clone(), changed);
                continue;
            }
            let mut all = facts.clone();
            for l in of_parameter.iter() {
                if self.known.is_before(l.flag, target.block) {
                    all.push(*l);
                }
                let own = params.iter().zip(&target.args).filter(|(q, _)| **q == l.flag);
                all.extend(own.map(|(_, w)| Literal { flag: *w, set: l.set }));
            }
            let those = self.known.close(all, b);
            self.read(*v, &those, changed);
            done.push((of_parameter, those));
        }
    }

    /// What holds where the results of an operation are read.
    fn of_results(&self, inst: &Inst) -> Literals {
        inst.results.iter().map(|r| self.needed[r.index()].clone()).reduce(|a, b| meet(&a, &b)).flatten()
    }

    fn operands(&mut self, inst: &Inst, b: Block, changed: &mut bool) {
        let all = Some(none());
        let of_result = self.of_results(inst);
        if let Op::Load { guard, .. } | Op::Store { guard, .. } | Op::Atom { guard, .. } = inst.op {
            let (those, fallbacks): (Literals, &[Value]) = match (guard, inst.guard()) {
                (Guard::Always, _) | (_, None) => (all.clone(), &[]),
                (_, Some((flag, fallbacks))) => {
                    self.read(flag, &all, changed);
                    (Some(self.and(&[], Literal::set(flag), b)), fallbacks)
                }
            };
            let count = inst.op.guard().operands(inst.results.len());
            for &v in &inst.args[..inst.args.len() - count] {
                self.read(v, &those, changed);
            }
            for &v in fallbacks {
                self.read(v, &of_result, changed);
            }
            return;
        }
        if !inst.op.is_pure() && !is_lost(inst) {
            inst.args.iter().for_each(|v| self.read(*v, &all, changed));
            return;
        }
        let Some(flags) = of_result else { return };
        let those = Some(flags.clone());
        if self.result(inst, &flags).is_some() {
            return;
        }
        match (&inst.op, &inst.args[..]) {
            (Op::Select(_), &[flag, x, y]) => {
                self.read(flag, &those, changed);
                for (v, set) in [(x, true), (y, false)] {
                    if self.known.state(flag, &flags) != Some(!set) {
                        let chosen = self.and(&flags, Literal { flag, set }, b);
                        self.read(v, &Some(chosen), changed);
                    }
                }
            }
            (Op::Int(op @ (IntOp::And | IntOp::Or), Ty::I1), &[x, y]) => {
                let set = *op == IntOp::And;
                let roles = self.roles([x, y], set, &flags, b);
                self.read(roles.mask, &those, changed);
                if !roles.alone {
                    let rest = self.and(&flags, Literal { flag: roles.mask, set }, b);
                    self.read(roles.other, &Some(rest), changed);
                }
            }
            (Op::Shfl { .. }, &[value, ..]) => {
                let source = match self.known.made.sources(inst, &flags) {
                    Some(flag) => Some(self.and(&[], Literal::set(flag), b)),
                    None => all.clone(),
                };
                self.read(value, &source, changed);
                inst.args[1..].iter().for_each(|v| self.read(*v, &those, changed));
            }
            (op, args) if op.is_pure() => args.iter().for_each(|v| self.read(*v, &those, changed)),
            (_, args) => args.iter().for_each(|v| self.read(*v, &all, changed)),
        }
    }

    /// What the operands of a conjunction or disjunction are to it. One that implies the other, or that is
    /// implied by it in a disjunction, is alone the result.
    fn roles(&mut self, [x, y]: [Value; 2], set: bool, flags: &[Literal], b: Block) -> Roles {
        for (mask, other) in [(x, y), (y, x)] {
            let all = self.known.close(with(flags, Literal { flag: mask, set }), b);
            if all.is_some_and(|all| self.known.state(other, &all) == Some(set)) {
                return Roles { mask, other, alone: true };
            }
        }
        // The flag that was there first is that of the lanes which execute.
        let (mask, other) = if self.is_older(x, y) { (x, y) } else { (y, x) };
        Roles { mask, other, alone: false }
    }

    /// The state of a flag that an operation computes, if it is known wherever the flag is read.
    fn result(&self, inst: &Inst, flags: &[Literal]) -> Option<bool> {
        let &[result] = &inst.results[..] else { return None };
        if !inst.op.is_pure() || matches!(inst.op, Op::Const { .. }) {
            return None;
        }
        let has = |set| flags.binary_search(&Literal { flag: result, set }).is_ok();
        if has(true) {
            return Some(true);
        }
        has(false).then_some(false)
    }

    /// Reads operands through selections, conjunctions and disjunctions that decide nothing for the
    /// operation.
    fn forward(&mut self, func: &mut Function, order: &[Block]) {
        for &b in order {
            for inst in &mut func.block_mut(b).insts {
                if let (Op::Select(_), &[flag, x, y]) = (&inst.op, &inst.args[..]) {
                    let Some(flags) = self.of_results(inst) else { continue };
                    for (at, v, set) in [(1, x, true), (2, y, false)] {
                        let chosen = self.and(&flags, Literal { flag, set }, b);
                        inst.args[at] = self.through(v, &chosen);
                    }
                    inst.args[0] = self.through(flag, &flags);
                    continue;
                }
                let flags = match inst.guard() {
                    Some((guard, _)) => self.and(&[], Literal::set(guard), b),
                    None if inst.op.is_pure() => match self.of_results(inst) {
                        Some(flags) => flags,
                        None => continue,
                    },
                    None => continue,
                };
                // What the guard does not cover, itself and what a load gives otherwise, stays.
                let count = inst.args.len() - inst.op.guard().operands(inst.results.len());
                for v in &mut inst.args[..count] {
                    *v = self.through(*v, &flags);
                }
            }
        }
    }

    /// Simplifies a value under the given literals. Does not look through replaced values, whose operands may
    /// be gone.
    fn through(&mut self, mut v: Value, flags: &[Literal]) -> Value {
        while let Some(inst) = self.known.made.inst(v) {
            let state = |v: Value| self.known.state(v, flags);
            let (next, gate) = match (&inst.op, &inst.args[..]) {
                (Op::Select(_), &[flag, a, b]) => (state(flag).map(|set| if set { a } else { b }), None),
                (Op::Int(op @ (IntOp::And | IntOp::Or), Ty::I1), &[a, b]) => {
                    let set = *op == IntOp::And;
                    let next = match (state(a) == Some(set), state(b) == Some(set)) {
                        (true, _) => Some(b),
                        (_, true) => Some(a),
                        _ => None,
                    };
                    (next, Some(([a, b], set)))
                }
                _ => (None, None),
            };
            let (Some(next), Some(all)) = (next, self.needed[v.index()].clone()) else { return v };
            if self.known.state(v, &all).is_some() {
                return v;
            }
            if let (Some((operands, set)), Some(at)) = (gate, self.known.made.blocks[v.index()]) {
                let roles = self.roles(operands, set, &all, at);
                if roles.alone && roles.mask != next {
                    return v;
                }
            }
            v = next;
        }
        v
    }

    /// Replaces an operation that decides nothing, or whose result is known.
    fn decide(&mut self, inst: &mut Inst, b: Block, stands: &mut [Option<Value>]) {
        let Some(&result) = inst.results.first() else { return };
        if let (Op::AddCarry(ty) | Op::SubBorrow(ty), &[x, y, carry]) = (&inst.op, &inst.args[..])
            && self.known.made.constant(carry) == Some(0)
            && self.needed[inst.results[1].index()].is_none()
        {
            let op = if matches!(inst.op, Op::AddCarry(_)) { IntOp::Add } else { IntOp::Sub };
            *inst = Inst {
                op: Op::Int(op, *ty),
                args: smallvec![x, y],
                results: smallvec![result],
                loc: inst.loc,
            };
            return;
        }
        let Some(flags) = self.needed[result.index()].clone() else { return };
        if let Some(set) = self.result(inst, &flags) {
            inst.op = Op::Const { ty: Ty::I1, bits: u128::from(set) };
            inst.args.clear();
            return;
        }
        let state = |pass: &Self, v: Value| pass.known.state(v, &flags);
        let other = match (&inst.op, &inst.args[..]) {
            (Op::Select(_), &[_, x, y]) if x == y => Some(x),
            (Op::Select(_), &[flag, x, y]) => state(self, flag).map(|set| if set { x } else { y }),
            (Op::Int(op @ (IntOp::And | IntOp::Or), Ty::I1), &[x, y]) => {
                let roles = self.roles([x, y], *op == IntOp::And, &flags, b);
                roles.alone.then_some(roles.mask)
            }
            _ => None,
        };
        if let Some(other) = other {
            stands[result.index()] = Some(other);
        }
    }

    /// Zeros for arguments of edges that no lane reads, and that are not made any more.
    fn fill(&mut self, func: &mut Function, order: &[Block]) {
        for &b in order {
            for at in 0..func.block(b).term.targets().count() {
                let Some(target) = func.block(b).term.targets().nth(at) else { continue };
                let params = &func.block(target.block).params;
                let lost: Vec<(usize, Ty)> = params
                    .iter()
                    .zip(&target.args)
                    .enumerate()
                    .filter(|(_, (p, v))| {
                        self.needed[p.index()].is_some()
                            && self.needed.get(v.index()).is_some_and(Option::is_none)
                    })
                    .map(|(place, (p, _))| (place, func.ty(*p)))
                    .collect();
                for (place, ty) in lost {
                    let zero = func.new_value(ty);
                    let loc = func.block(b).term_loc;
                    let op = Op::Const { ty, bits: 0 };
                    let data = func.block_mut(b);
                    data.insts.push(Inst { op, args: smallvec![], results: smallvec![zero], loc });
                    if let Some(target) = data.term.targets_mut().nth(at) {
                        target.args[place] = zero;
                    }
                }
            }
        }
    }

    /// Whether a flag is defined in a block that dominates another's.
    fn is_older(&self, a: Value, b: Value) -> bool {
        match (self.known.made.blocks[a.index()], self.known.made.blocks[b.index()]) {
            (Some(x), Some(y)) if x != y => self.known.dominators.dominates(x, y),
            _ => false,
        }
    }
}
