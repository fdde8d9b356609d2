//! Halves of 64 bits in values of their own.

use std::collections::BTreeMap;

use smallvec::{SmallVec, smallvec};

use super::{Made, order, preds, replace};
use crate::func::{Block, Function, Inst, Loc, Value};
use crate::op::{Guard, IntOp, Op, ShiftOp, Space};
use crate::types::Ty;

/// Parameters for the wholes of two parameters.
type Wholes = BTreeMap<(Value, Value), Value>;

const PACK: Op = Op::Pack { part: Ty::I32, whole: Ty::I64 };

/// Joins halves.
pub(super) fn join(func: &mut Function) {
    let wholes = join_parameters(func);
    let order = order(func);
    let made = Made::of(func, &order);
    let stands = vec![None; func.values.len()];
    let mut pass = Pass { made, wholes, stands, out: Vec::new(), loc: Loc::default() };
    for b in order {
        for mut inst in std::mem::take(&mut func.block_mut(b).insts) {
            inst.args.iter_mut().for_each(|v| *v = pass.found(*v));
            pass.loc = inst.loc;
            pass.instruction(func, inst);
        }
        func.block_mut(b).insts = std::mem::take(&mut pass.out);
    }
    replace(func, &pass.stands);
}

/// Takes wholes apart by truncations, which keep patterns between lanes.
pub(super) fn part(func: &mut Function) {
    for b in 0..func.blocks.len() {
        let mut out = Vec::new();
        for inst in std::mem::take(&mut func.blocks[b].insts) {
            let (Op::Unpack { part: Ty::I32, whole: Ty::I64 }, [low, high]) = (&inst.op, &inst.results[..])
            else {
                out.push(inst);
                continue;
            };
            let [by, upper] = [Ty::I32, Ty::I64].map(|ty| func.new_value(ty));
            let whole = inst.args[0];
            let cut = Op::Zext { from: Ty::I64, to: Ty::I32 };
            let made: [(Op, SmallVec<[Value; 4]>, Value); 4] = [
                (cut.clone(), smallvec![whole], *low),
                (Op::Const { ty: Ty::I32, bits: 32 }, smallvec![], by),
                (Op::Shift(ShiftOp::ShrU, Ty::I64), smallvec![whole, by], upper),
                (cut, smallvec![upper], *high),
            ];
            out.extend(made.into_iter().map(|(op, args, result)| Inst {
                op,
                args,
                results: smallvec![result],
                loc: inst.loc,
            }));
        }
        func.blocks[b].insts = out;
    }
}

/// Two parameters of a block whose values are joined get a third one beside them for the whole. Those that
/// nothing else reads are removed later.
fn join_parameters(func: &mut Function) -> Wholes {
    let order = order(func);
    let made = Made::of(func, &order);
    let preds = preds(func, &order);
    let block_of = |v: Value| match made.insts[v.index()] {
        None => made.blocks[v.index()].filter(|b| b.index() != 0),
        Some(_) => None,
    };
    let mut open: Vec<(Value, Value)> = Vec::new();
    for &b in &order {
        let packs = func.block(b).insts.iter().filter(|i| i.op == PACK);
        open.extend(packs.map(|i| (i.args[0], i.args[1])));
    }
    let mut wholes = Wholes::new();
    while let Some((low, high)) = open.pop() {
        let Some(b) = block_of(low).filter(|b| block_of(high) == Some(*b)) else { continue };
        if wholes.contains_key(&(low, high)) {
            continue;
        }
        let place = |v: Value| func.block(b).params.iter().position(|p| *p == v);
        let (Some(x), Some(y)) = (place(low), place(high)) else { continue };
        let whole = func.new_param(b, Ty::I64);
        wholes.insert((low, high), whole);
        let mut done: Vec<Block> = Vec::new();
        for &from in &preds[b.index()] {
            // A branch with both ways to the block passes each its own arguments.
            if done.contains(&from) {
                continue;
            }
            done.push(from);
            let mut values = Vec::new();
            for args in func.block(from).term.targets().filter(|t| t.block == b).map(|t| t.args.clone()) {
                values.push((args[x], args[y]));
            }
            let mut wholes = Vec::new();
            for (l, h) in values {
                let v = func.new_value(Ty::I64);
                let loc = func.block(from).term_loc;
                let inst = Inst { op: PACK, args: smallvec![l, h], results: smallvec![v], loc };
                func.block_mut(from).insts.push(inst);
                open.push((l, h));
                wholes.push(v);
            }
            let targets = func.block_mut(from).term.targets_mut().filter(|t| t.block == b);
            targets.zip(wholes).for_each(|(t, v)| t.args.push(v));
        }
    }
    if wholes.is_empty() {
        return wholes;
    }
    let mut stands = vec![None; func.values.len()];
    for inst in func.blocks.iter_mut().flat_map(|b| &mut b.insts).filter(|i| i.op == PACK) {
        if let Some(&whole) = wholes.get(&(inst.args[0], inst.args[1])) {
            stands[inst.results[0].index()] = Some(whole);
        }
    }
    replace(func, &stands);
    wholes
}

struct Pass {
    made: Made,
    wholes: Wholes,
    stands: Vec<Option<Value>>,
    /// The block's operations so far.
    out: Vec<Inst>,
    loc: Loc,
}

impl Pass {
    fn found(&self, mut v: Value) -> Value {
        while let Some(Some(next)) = self.stands.get(v.index()) {
            v = *next;
        }
        v
    }

    /// What makes a value, with the operands that stand for the original ones.
    fn under(&self, v: Value) -> Option<Inst> {
        let mut inst = self.made.inst(v)?.clone();
        inst.args.iter_mut().for_each(|a| *a = self.found(*a));
        Some(inst)
    }

    fn push(&mut self, func: &mut Function, op: Op, args: &[Value], ty: Ty) -> Value {
        let v = func.new_value(ty);
        let inst = Inst { op, args: SmallVec::from_slice(args), results: smallvec![v], loc: self.loc };
        self.stands.resize(func.values.len(), None);
        self.made.blocks.resize(func.values.len(), None);
        self.made.insts.resize(func.values.len(), None);
        self.made.insts[v.index()] = Some(inst.clone());
        self.out.push(inst);
        v
    }

    fn instruction(&mut self, func: &mut Function, inst: Inst) {
        match inst.op {
            PACK => {
                let whole = self.joined(func, inst.args[0], inst.args[1], 8);
                match whole {
                    Some(whole) => {
                        self.stands[inst.results[0].index()] = Some(whole);
                    }
                    None => self.out.push(inst),
                }
            }
            Op::Unpack { part: Ty::I32, whole: Ty::I64 } => {
                if let Some((low, high)) = self.parts(func, inst.args[0]) {
                    self.stands[inst.results[0].index()] = Some(low);
                    self.stands[inst.results[1].index()] = Some(high);
                    return;
                }
                self.out.push(inst);
            }
            Op::Zext { from: Ty::I64, to: Ty::I32 } => {
                if let Some(low) = self.low(func, inst.args[0], 4) {
                    self.stands[inst.results[0].index()] = Some(low);
                    return;
                }
                self.out.push(inst);
            }
            _ => self.out.push(inst),
        }
    }

    /// The halves of a value that was made of them.
    fn parts(&mut self, func: &mut Function, whole: Value) -> Option<(Value, Value)> {
        let Inst { op, args, .. } = self.under(whole)?;
        match op {
            PACK => Some((args[0], args[1])),
            Op::Zext { from: Ty::I32, .. } => {
                let zero = self.push(func, Op::Const { ty: Ty::I32, bits: 0 }, &[], Ty::I32);
                Some((args[0], zero))
            }
            _ => None,
        }
    }

    /// The lower half of a value, from the lower halves of what it was computed from.
    fn low(&mut self, func: &mut Function, whole: Value, depth: u32) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        let Inst { op, args, .. } = self.under(whole)?;
        match op {
            PACK | Op::Zext { from: Ty::I32, .. } | Op::Sext { from: Ty::I32, .. } => Some(args[0]),
            Op::Const { bits, .. } => {
                let op = Op::Const { ty: Ty::I32, bits: bits & Ty::I32.mask() };
                Some(self.push(func, op, &[], Ty::I32))
            }
            Op::Int(op @ (IntOp::Add | IntOp::Sub | IntOp::Mul | IntOp::And | IntOp::Or | IntOp::Xor), _) => {
                let a = self.low(func, args[0], depth)?;
                let b = self.low(func, args[1], depth)?;
                Some(self.push(func, Op::Int(op, Ty::I32), &[a, b], Ty::I32))
            }
            _ => None,
        }
    }

    /// The whole of two halves without taking them apart; `None` if nothing better than joining them is
    /// known.
    fn joined(&mut self, func: &mut Function, low: Value, high: Value, depth: u32) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        // So that a loop's next whole is computed from its last one.
        if let Some(&whole) = self.wholes.get(&(low, high)) {
            return Some(whole);
        }
        let constant = |s: &Self, v: Value| s.made.constant(v);
        match (constant(self, low), constant(self, high)) {
            (Some(l), Some(h)) => {
                let op = Op::Const { ty: Ty::I64, bits: l | h << 32 };
                return Some(self.push(func, op, &[], Ty::I64));
            }
            (_, Some(0)) => {
                return Some(self.push(func, Op::Zext { from: Ty::I32, to: Ty::I64 }, &[low], Ty::I64));
            }
            _ => {}
        }
        let Inst { op: high_op, args: high_args, results: high_results, .. } = self.under(high)?;
        if let Op::Shift(ShiftOp::ShrS, Ty::I32) = high_op
            && high_args[0] == low
            && constant(self, high_args[1]) == Some(31)
        {
            return Some(self.push(func, Op::Sext { from: Ty::I32, to: Ty::I64 }, &[low], Ty::I64));
        }
        let Inst { op: low_op, args: low_args, results: low_results, .. } = self.under(low)?;
        match (&low_op, &high_op) {
            (Op::Unpack { .. }, Op::Unpack { .. })
                if low_results == high_results && low_results[0] == low && low_results[1] == high =>
            {
                Some(low_args[0])
            }
            // A sum or difference whose upper half takes the carry of the lower one.
            (Op::AddCarry(Ty::I32), Op::AddCarry(Ty::I32))
            | (Op::SubBorrow(Ty::I32), Op::SubBorrow(Ty::I32))
                if low_results[0] == low
                    && high_results[0] == high
                    && constant(self, low_args[2]) == Some(0)
                    && high_args[2] == self.found(low_results[1]) =>
            {
                let first = self.whole(func, low_args[0], high_args[0], depth);
                let second = self.whole(func, low_args[1], high_args[1], depth);
                let op = if matches!(low_op, Op::AddCarry(_)) { IntOp::Add } else { IntOp::Sub };
                Some(self.push(func, Op::Int(op, Ty::I64), &[first, second], Ty::I64))
            }
            // Neighbouring arguments of a kernel.
            (
                Op::Load { mem, ty: Ty::I32, count: 1, offset, guard: Guard::Always },
                Op::Load { mem: upper, ty: Ty::I32, count: 1, offset: next, guard: Guard::Always },
            ) if mem == upper
                && mem.space == Space::Param
                && low_args == high_args
                && offset.checked_add(4) == Some(*next)
                && offset % 8 == 0 =>
            {
                let op = Op::Load { mem: *mem, ty: Ty::I64, count: 1, offset: *offset, guard: Guard::Always };
                Some(self.push(func, op, &[low_args[0]], Ty::I64))
            }
            (Op::Select(Ty::I32), Op::Select(Ty::I32)) if low_args[0] == high_args[0] => {
                let first = self.whole(func, low_args[1], high_args[1], depth);
                let second = self.whole(func, low_args[2], high_args[2], depth);
                Some(self.push(func, Op::Select(Ty::I64), &[low_args[0], first, second], Ty::I64))
            }
            _ => None,
        }
    }

    fn whole(&mut self, func: &mut Function, low: Value, high: Value, depth: u32) -> Value {
        match self.joined(func, low, high, depth).or_else(|| self.wholes.get(&(low, high)).copied()) {
            Some(whole) => whole,
            None => self.push(func, PACK, &[low, high], Ty::I64),
        }
    }
}
