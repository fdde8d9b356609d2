//! Each lane's bit of a mask: the flag that the mask was made of, instead of a shift by the lane's number. Of
//! a word that is no mask of flags, the bit is read once, where the word is made.

use std::collections::BTreeMap;

use smallvec::{SmallVec, smallvec};

use super::{Made, order, preds, replace};
use crate::func::{Block, Function, Inst, Loc, Value};
use crate::op::{IntCmp, IntOp, IntUnOp, Op, SReg, ShiftOp, VoteMode};
use crate::types::Ty;

/// Replaces reads of lanes' bits.
pub(super) fn read(func: &mut Function) {
    let order = order(func);
    let mut pass = Pass::new(func, &order);
    let reads: Vec<(Value, Value)> = order
        .iter()
        .flat_map(|b| &func.block(*b).insts)
        .filter_map(|inst| Some((inst.results.first().copied()?, pass.read_by(inst)?)))
        .filter(|(_, mask)| pass.is_made(*mask))
        .collect();
    pass.needed(func, reads.iter().map(|(_, mask)| *mask).collect());
    pass.make(func, &order);
    let mut stands = vec![None; func.values.len()];
    for (flag, mask) in reads {
        stands[flag.index()] = pass.flags.get(&mask).copied();
    }
    replace(func, &stands);
    pass.ask_lanes(func, &order);
    without_more_lanes(func, &pass);
}

struct Pass {
    mask: Ty,
    made: Made,
    /// For a block's parameter: what is passed on each edge.
    passed: BTreeMap<Value, Vec<Value>>,
    /// The flags that are needed.
    wanted: Vec<Value>,
    /// By mask.
    flags: BTreeMap<Value, Value>,
}

impl Pass {
    fn new(func: &Function, order: &[Block]) -> Pass {
        let made = Made::of(func, order);
        let mut passed: BTreeMap<Value, Vec<Value>> = BTreeMap::new();
        let mask = func.width.mask();
        for &b in order {
            for target in func.block(b).term.targets() {
                for (p, v) in func.block(target.block).params.iter().zip(&target.args) {
                    if func.ty(*p) == mask {
                        passed.entry(*p).or_default().push(*v);
                    }
                }
            }
        }
        Pass { mask, made, passed, wanted: Vec::new(), flags: BTreeMap::new() }
    }

    /// Whether a mask is made of others, so that its flags are those of the others.
    fn is_made(&self, v: Value) -> bool {
        match self.made.inst(v) {
            None => self.passed.contains_key(&v),
            Some(inst) => self.sources(inst).is_some(),
        }
    }

    /// The masks that an operation makes a mask of; `None` if the result is no mask of flags.
    fn sources(&self, inst: &Inst) -> Option<Vec<Value>> {
        let all = |bits: u128| bits == self.mask.mask();
        match inst.op {
            Op::Vote { mode: VoteMode::Ballot, sync: false } | Op::ActiveMask => Some(vec![]),
            Op::Const { ty, bits } if ty == self.mask && (bits == 0 || all(bits)) => Some(vec![]),
            Op::Int(IntOp::And | IntOp::Or | IntOp::Xor, ty) if ty == self.mask => Some(inst.args.to_vec()),
            Op::IntUn(IntUnOp::Not, ty) if ty == self.mask => Some(inst.args.to_vec()),
            Op::Select(ty) if ty == self.mask => Some(inst.args[1..].to_vec()),
            _ => None,
        }
    }

    /// The mask of which an operation reads the lane's bit.
    fn read_by(&self, inst: &Inst) -> Option<Value> {
        let Op::Zext { from, to: Ty::I1 } = inst.op else { return None };
        let shift = self.made.inst(inst.args[0]).filter(|_| from == self.mask)?;
        let Op::Shift(ShiftOp::ShrU, _) = shift.op else { return None };
        let by = self.made.inst(shift.args[1])?;
        matches!(by.op, Op::Special(SReg::LaneId)).then_some(shift.args[0])
    }

    /// Collects the masks whose flags others are made of.
    fn needed(&mut self, func: &Function, mut open: Vec<Value>) {
        let mut seen = vec![false; func.values.len()];
        while let Some(v) = open.pop() {
            if std::mem::replace(&mut seen[v.index()], true) {
                continue;
            }
            self.wanted.push(v);
            match self.made.inst(v) {
                None => open.extend(self.passed.get(&v).into_iter().flatten()),
                Some(inst) => open.extend(self.sources(inst).unwrap_or_default()),
            }
        }
    }

    /// Makes the flags: parameters beside parameters, operations behind operations.
    fn make(&mut self, func: &mut Function, order: &[Block]) {
        let wanted: std::collections::BTreeSet<Value> = self.wanted.iter().copied().collect();
        // The parameters that get one beside them, by block.
        let mut beside: BTreeMap<Block, Vec<Value>> = BTreeMap::new();
        for &b in order {
            let masks: Vec<Value> =
                func.block(b).params.iter().copied().filter(|p| wanted.contains(p)).collect();
            for &mask in &masks {
                let flag = func.new_param(b, Ty::I1);
                self.flags.insert(mask, flag);
            }
            beside.insert(b, masks);
        }
        for &b in order {
            let mut out = Vec::new();
            for inst in std::mem::take(&mut func.block_mut(b).insts) {
                out.push(inst.clone());
                // Words that an operation makes beside each other are no masks of flags.
                for &word in inst.results.iter().filter(|r| wanted.contains(r)) {
                    if self.sources(&inst).is_none() {
                        self.read_bit(func, &mut out, word, inst.loc);
                    }
                }
                let Some(&mask) = inst.results.first().filter(|r| wanted.contains(r)) else { continue };
                if self.sources(&inst).is_none() {
                    continue;
                }
                let of = |v: Value| self.flags.get(&v).copied().unwrap_or(v);
                let (op, args) = match inst.op {
                    Op::Vote { .. } => {
                        self.flags.insert(mask, inst.args[0]);
                        continue;
                    }
                    Op::ActiveMask => (Op::Const { ty: Ty::I1, bits: 1 }, smallvec![]),
                    Op::Const { bits, .. } => (Op::Const { ty: Ty::I1, bits: bits & 1 }, smallvec![]),
                    Op::Int(op, _) => (Op::Int(op, Ty::I1), inst.args.iter().map(|a| of(*a)).collect()),
                    Op::IntUn(op, _) => (Op::IntUn(op, Ty::I1), smallvec![of(inst.args[0])]),
                    _ => (Op::Select(Ty::I1), smallvec![inst.args[0], of(inst.args[1]), of(inst.args[2])]),
                };
                self.push(func, &mut out, mask, op, args, inst.loc);
            }
            func.block_mut(b).insts = out;
        }
        let preds = preds(func, order);
        for (b, masks) in beside {
            let mut from: Vec<Block> = preds[b.index()].clone();
            from.sort_unstable();
            from.dedup();
            let places: Vec<usize> =
                masks.iter().filter_map(|m| func.block(b).params.iter().position(|p| p == m)).collect();
            for pred in from {
                for target in func.block_mut(pred).term.targets_mut().filter(|t| t.block == b) {
                    for &place in &places {
                        let mask = target.args[place];
                        target.args.push(self.flags.get(&mask).copied().unwrap_or(mask));
                    }
                }
            }
        }
    }
}

impl Pass {
    fn push(
        &mut self,
        func: &mut Function,
        out: &mut Vec<Inst>,
        mask: Value,
        op: Op,
        args: SmallVec<[Value; 4]>,
        loc: Loc,
    ) {
        let flag = func.new_value(Ty::I1);
        self.flags.insert(mask, flag);
        out.push(Inst { op, args, results: smallvec![flag], loc });
    }

    /// Reads the lane's bit of a word.
    fn read_bit(&mut self, func: &mut Function, out: &mut Vec<Inst>, word: Value, loc: Loc) {
        let (lane, bits) = (func.new_value(Ty::I32), func.new_value(self.mask));
        let special = Op::Special(SReg::LaneId);
        out.push(Inst { op: special, args: smallvec![], results: smallvec![lane], loc });
        let shift = Op::Shift(ShiftOp::ShrU, self.mask);
        out.push(Inst { op: shift, args: smallvec![word, lane], results: smallvec![bits], loc });
        let cut = Op::Zext { from: self.mask, to: Ty::I1 };
        self.push(func, out, word, cut, smallvec![bits], loc);
    }
}

impl Pass {
    /// Comparisons of masks with 0 ask the lanes, if these have the flags: then nothing else may need the
    /// mask.
    fn ask_lanes(&self, func: &mut Function, order: &[Block]) {
        let existing = self.existing();
        for &b in order {
            let mut out = Vec::new();
            for mut inst in std::mem::take(&mut func.block_mut(b).insts) {
                if let Op::IntCmp(IntCmp::Eq | IntCmp::Ne, ty) = inst.op
                    && ty == self.mask
                    && self.made.constant(inst.args[1]) == Some(0)
                    && let Some(&flag) = self.flags.get(&inst.args[0])
                    && !self.made.inst(inst.args[0]).is_some_and(|i| matches!(i.op, Op::Vote { .. }))
                    && existing.get(inst.args[0].index()).is_some_and(|exists| *exists)
                {
                    let [members, mask] = [(); 2].map(|()| func.new_value(self.mask));
                    let op = Op::Const { ty: self.mask, bits: 0 };
                    out.push(Inst { op, args: smallvec![], results: smallvec![members], loc: inst.loc });
                    let (op, args) =
                        (Op::Vote { mode: VoteMode::Ballot, sync: false }, smallvec![flag, members]);
                    out.push(Inst { op, args, results: smallvec![mask], loc: inst.loc });
                    inst.args[0] = mask;
                }
                out.push(inst);
            }
            func.block_mut(b).insts = out;
        }
    }
}

/// A disjunction with the mask of all lanes that exist adds nothing to it, nor does a conjunction with a
/// disjunction that has the other operand.
fn without_more_lanes(func: &mut Function, pass: &Pass) {
    let mut stands = vec![None; func.values.len()];
    let is_all = |v: Value| pass.made.inst(v).is_some_and(|i| matches!(i.op, Op::ActiveMask));
    let existing = pass.existing();
    let exists = |v: Value| existing.get(v.index()).is_some_and(|exists| *exists);
    for inst in func.blocks.iter().flat_map(|b| &b.insts) {
        if let Op::Int(IntOp::And, ty) = inst.op
            && ty == pass.mask
            && let [a, b] = inst.args[..]
        {
            let has = |v: Value, part: Value| {
                let made = pass.made.inst(v).filter(|i| matches!(i.op, Op::Int(IntOp::Or, _)));
                made.is_some_and(|i| i.args.contains(&part))
            };
            if has(b, a) {
                stands[inst.results[0].index()] = Some(a);
            } else if has(a, b) {
                stands[inst.results[0].index()] = Some(b);
            }
        }
        if let Op::Int(IntOp::Or, ty) = inst.op
            && ty == pass.mask
            && let [a, b] = inst.args[..]
        {
            if is_all(b) && exists(a) {
                stands[inst.results[0].index()] = Some(b);
            } else if is_all(a) && exists(b) {
                stands[inst.results[0].index()] = Some(a);
            }
        }
    }
    replace(func, &stands);
}

impl Pass {
    /// Which masks have no bits but those of lanes that exist: the largest set in which each follows from the
    /// others, so that a parameter that is passed to itself, on the way around a loop, does not count against
    /// it.
    fn existing(&self) -> Vec<bool> {
        let count = self.made.insts.len();
        let values = || (0..count).map(|at| Value(at as u32));
        let mut existing = vec![true; count];
        let mut users: Vec<Vec<Value>> = vec![Vec::new(); count];
        for v in values() {
            self.parts(v).iter().for_each(|part| users[part.index()].push(v));
        }
        let mut open: Vec<Value> = values().collect();
        while let Some(v) = open.pop() {
            if existing[v.index()] && !self.exists(v, &existing) {
                existing[v.index()] = false;
                open.extend(&users[v.index()]);
            }
        }
        existing
    }

    /// The masks on which it depends whether a mask is of lanes that exist.
    fn parts(&self, v: Value) -> &[Value] {
        match self.made.inst(v) {
            None => self.passed.get(&v).map_or(&[], Vec::as_slice),
            Some(inst) => match inst.op {
                Op::Int(IntOp::And | IntOp::Or | IntOp::Xor, _) => &inst.args,
                Op::Select(_) => &inst.args[1..],
                _ => &[],
            },
        }
    }

    /// Whether a mask has no bits but those of lanes that exist, if the others are as stated.
    fn exists(&self, v: Value, existing: &[bool]) -> bool {
        let mut parts = self.parts(v).iter().map(|part| existing[part.index()]);
        match self.made.inst(v).map(|inst| &inst.op) {
            Some(Op::Vote { mode: VoteMode::Ballot, .. } | Op::ActiveMask) => true,
            Some(Op::Const { bits, .. }) => *bits == 0,
            Some(Op::Int(IntOp::And, _)) => parts.any(|part| part),
            _ => parts.len() > 0 && parts.all(|part| part),
        }
    }
}
