//! Simplifies a function with range analysis: constants, copies, decided branches, and arithmetic of half the
//! width.

use std::collections::BTreeMap;

use smallvec::{SmallVec, smallvec};

use crate::func::{Block, Function, Inst, Terminator, Value};
use crate::op::{IntOp, Op, SReg, ShiftOp};
use crate::range::{Range, Ranges};
use crate::types::Ty;

/// Bound for results that are computed in 32 bits. It is half of what fits, so that differences between lanes
/// of a warp do not wrap.
const NARROW: i128 = 1 << 30;

/// Most operations that are looked through.
const DEPTH: u32 = 6;

/// Simplifies a function given the ranges of its values; `register` returns the range of a special register
/// if it is known. Results of lanes that are not present may change, those of others do not.
pub fn simplify(func: &mut Function, register: &dyn Fn(SReg) -> Option<Range>) {
    let ranges = Ranges::of(func, register);
    let made = func
        .blocks
        .iter()
        .flat_map(|b| &b.insts)
        .flat_map(|i| i.results.iter().map(move |&r| (r, i.clone())));
    let mut pass = Pass { made: made.collect(), ranges, stands: BTreeMap::new(), twins: BTreeMap::new() };
    // Definitions come before their uses, so that copies and twins are known when they are looked up.
    let mut order = crate::dominance::postorder(func);
    order.reverse();
    for b in order {
        pass.block(func, b);
    }
    let stands = |v: Value| pass.found(v);
    for block in &mut func.blocks {
        block.insts.iter_mut().flat_map(|i| i.args.iter_mut()).for_each(|v| *v = stands(*v));
        block.term.uses_mut().for_each(|v| *v = stands(*v));
    }
    without_unused(func);
}

struct Pass {
    made: BTreeMap<Value, Inst>,
    ranges: Ranges,
    /// Copies, with the values that they copy.
    stands: BTreeMap<Value, Value>,
    /// For 64-bit values that are sign extensions: the 32-bit values.
    twins: BTreeMap<Value, Value>,
}

/// A 32-bit operation that replaces a 64-bit one.
struct Halved {
    op: Op,
    args: SmallVec<[Value; 4]>,
    /// Whether its result is 32 bits wide and must be sign-extended; otherwise it replaces the 64-bit result
    /// directly.
    extends: bool,
}

impl Pass {
    fn found(&self, mut v: Value) -> Value {
        while let Some(&next) = self.stands.get(&v) {
            v = next;
        }
        v
    }

    fn block(&mut self, func: &mut Function, b: Block) {
        let insts = std::mem::take(&mut func.block_mut(b).insts);
        let mut out = Vec::with_capacity(insts.len());
        for mut inst in insts {
            inst.args.iter_mut().for_each(|v| *v = self.found(*v));
            self.instruction(func, b, inst, &mut out);
        }
        let data = func.block_mut(b);
        data.insts = out;
        if let Terminator::Branch { cond, then, els } = &data.term
            && let Some(bits) = self.ranges.at(*cond, b).constant()
        {
            data.term = Terminator::Jump(if bits == 1 { then.clone() } else { els.clone() });
        }
    }

    fn instruction(&mut self, func: &mut Function, b: Block, mut inst: Inst, out: &mut Vec<Inst>) {
        let [r] = inst.results[..] else { return out.push(inst) };
        let ty = func.ty(r);
        if !inst.op.is_pure() || matches!(inst.op, Op::Const { .. }) || ty == Ty::I128 {
            return out.push(inst);
        }
        if let Some(bits) = self.ranges.at(r, b).constant() {
            return out.push(Inst { op: Op::Const { ty, bits }, args: smallvec![], ..inst });
        }
        if let Some(v) = self.copied(&inst, b) {
            self.stands.insert(r, v);
            return;
        }
        if let Op::Int(op @ (IntOp::Or | IntOp::Xor), ty) = &mut inst.op
            && *ty != Ty::I1
            && self.are_apart(inst.args[0], inst.args[1], b)
        {
            // No bit is set in both, and patterns between lanes stay in a sum.
            *op = IntOp::Add;
        }
        if let Op::Shift(op @ ShiftOp::ShrS, _) = &mut inst.op
            && self.ranges.at(inst.args[0], b).is_natural()
        {
            // The uniformity analysis finds equal results in all lanes for unsigned shifts.
            *op = ShiftOp::ShrU;
        }
        if let Op::Zext { from: Ty::I32, to: Ty::I64 } = inst.op
            && self.ranges.at(inst.args[0], b).is_natural()
        {
            inst.op = Op::Sext { from: Ty::I32, to: Ty::I64 };
        }
        if let Some(Halved { op, args, extends }) = self.halved(func, &inst, b, out) {
            if !extends {
                return out.push(Inst { op, args, ..inst });
            }
            let twin = self.value(func, self.ranges.at(r, b));
            self.twins.insert(r, twin);
            out.push(Inst { op, args, results: smallvec![twin], loc: inst.loc });
            inst.op = Op::Sext { from: Ty::I32, to: Ty::I64 };
            inst.args = smallvec![twin];
        } else if let Op::Sext { from: Ty::I32, to: Ty::I64 } = inst.op {
            self.twins.insert(r, inst.args[0]);
        }
        out.push(inst);
    }

    /// Creates a 32-bit value.
    fn value(&mut self, func: &mut Function, range: Range) -> Value {
        let v = func.new_value(Ty::I32);
        let range = Range::full(Ty::I32).meet(Range::signed(Ty::I32, range.smin, range.smax), Ty::I32);
        self.ranges.know(v, Ty::I32, range);
        v
    }

    /// Whether all bits of one value are below those of the other.
    fn are_apart(&self, x: Value, y: Value, b: Block) -> bool {
        let below = |low: Value, high: Value| {
            let zeros = self.zeros(high, DEPTH);
            zeros > 0 && self.ranges.at(low, b).umax < 1 << zeros
        };
        below(x, y) || below(y, x)
    }

    /// The number of low bits of a value that are zero, as far as operations show it.
    fn zeros(&self, v: Value, depth: u32) -> u32 {
        let Some(inst) = self.made.get(&self.found(v)).filter(|_| depth > 0) else { return 0 };
        let of = |i: usize| self.zeros(inst.args[i], depth - 1);
        let constant = |i: usize| match self.made.get(&self.found(inst.args[i])).map(|made| &made.op) {
            Some(Op::Const { bits, .. }) => Some(*bits),
            _ => None,
        };
        match inst.op {
            Op::Const { bits: 0, ty } => ty.bits(),
            Op::Const { bits, .. } => bits.trailing_zeros(),
            Op::Shift(ShiftOp::Shl, ty) => match constant(1) {
                Some(by) if by < u128::from(ty.bits()) => (of(0) + by as u32).min(ty.bits()),
                _ => of(0),
            },
            Op::Int(IntOp::Mul, ty) => (of(0) + of(1)).min(ty.bits()),
            Op::Int(IntOp::And, _) => of(0).max(of(1)),
            Op::Int(IntOp::Add | IntOp::Sub | IntOp::Or | IntOp::Xor, _) => of(0).min(of(1)),
            Op::Zext { from, to } | Op::Sext { from, to } if to > from => of(0),
            _ => 0,
        }
    }

    /// The value that was put into a field of bits of a word, by shifts and sums that do not overlap.
    fn field(&self, word: Value, position: u32, length: u32, b: Block) -> Option<Value> {
        let end = position + length;
        let mut word = self.found(word);
        let mut stripped = false;
        // Parts above or below the field do not matter.
        for _ in 0..DEPTH {
            let Some(Inst { op: Op::Int(IntOp::Or | IntOp::Add, Ty::I32), args, .. }) = self.made.get(&word)
            else {
                break;
            };
            let [x, y] = [self.found(args[0]), self.found(args[1])];
            if !self.are_apart(x, y, b) {
                break;
            }
            let outside = |v: Value| self.zeros(v, DEPTH) >= end || self.ranges.at(v, b).umax < 1 << position;
            word = match (outside(x), outside(y)) {
                (true, false) => y,
                (false, true) => x,
                _ => return None,
            };
            stripped = true;
        }
        if position == 0 {
            return (stripped && self.ranges.at(word, b).umax < 1 << length).then_some(word);
        }
        let inst = self.made.get(&word)?;
        let Op::Shift(ShiftOp::Shl, Ty::I32) = inst.op else { return None };
        let by = self.ranges.at(inst.args[1], b).constant()?;
        let value = self.found(inst.args[0]);
        (by == u128::from(position) && end <= 32 && self.ranges.at(value, b).umax < 1 << length)
            .then_some(value)
    }

    /// The value that an operation merely copies.
    fn copied(&self, inst: &Inst, b: Block) -> Option<Value> {
        let range = |i: usize| self.ranges.at(inst.args[i], b);
        let is = |i: usize, bits: u128| range(i).constant() == Some(bits);
        let first = |yes: bool| yes.then(|| inst.args[0]);
        let second = |yes: bool| yes.then(|| inst.args[1]);
        let under = |v: Value| self.made.get(&v);
        match inst.op {
            Op::Int(op, ty) if ty != Ty::I128 => {
                let (a, c) = (range(0), range(1));
                match op {
                    IntOp::Add | IntOp::Or | IntOp::Xor => first(is(1, 0)).or_else(|| second(is(0, 0))),
                    IntOp::Sub => first(is(1, 0)),
                    IntOp::Mul => first(is(1, 1)).or_else(|| second(is(0, 1))),
                    IntOp::DivS | IntOp::DivU => first(is(1, 1)),
                    IntOp::RemU => first(a.umax < c.umin),
                    IntOp::RemS => first(a.is_natural() && a.smax < c.smin),
                    IntOp::And => {
                        let keeps = |x: Range, m: Range| {
                            m.constant().is_some_and(|m| (m + 1).is_power_of_two() && x.umax <= m as i128)
                        };
                        let low = |x: usize, m: Range| {
                            let bits = m.constant().filter(|m| ty == Ty::I32 && (m + 1).is_power_of_two())?;
                            self.field(inst.args[x], 0, (bits + 1).trailing_zeros(), b)
                        };
                        let kept = first(keeps(a, c)).or_else(|| second(keeps(c, a)));
                        kept.or_else(|| low(0, c)).or_else(|| low(1, a))
                    }
                    IntOp::MinS => first(a.smax <= c.smin).or_else(|| second(c.smax <= a.smin)),
                    IntOp::MaxS => first(a.smin >= c.smax).or_else(|| second(c.smin >= a.smax)),
                    IntOp::MinU => first(a.umax <= c.umin).or_else(|| second(c.umax <= a.umin)),
                    IntOp::MaxU => first(a.umin >= c.umax).or_else(|| second(c.umin >= a.umax)),
                    _ => None,
                }
            }
            Op::Shift(ShiftOp::ShrU, Ty::I32) if !is(1, 0) => {
                let by = range(1).constant().filter(|by| *by < 32)? as u32;
                self.field(inst.args[0], by, 32 - by, b)
            }
            Op::Shift(_, ty) if ty != Ty::I128 => first(is(1, 0)),
            Op::Bfe { signed, ty: Ty::I32 } => {
                let [position, length] = [range(1).constant()?, range(2).constant()?];
                let fits = length > 0 && position + length <= 32;
                // Factors of 24 bits, as AMD's products take them, mostly have no more.
                if fits && position == 0 {
                    let half = 1 << (length - 1);
                    let whole = range(0);
                    let keeps = if signed { whole.within(-half, half - 1) } else { whole.umax < 2 * half };
                    if keeps {
                        return first(true);
                    }
                }
                if signed {
                    return None;
                }
                self.field(inst.args[0], position as u32, length as u32, b).filter(|_| fits)
            }
            Op::Select(_) => match range(0).constant() {
                Some(1) => second(true),
                Some(_) => Some(inst.args[2]),
                None => second(inst.args[1] == inst.args[2]),
            },
            Op::Sext { from, to } | Op::Zext { from, to } if from == to => first(true),
            Op::Sext { from: Ty::I64, to: Ty::I32 } | Op::Zext { from: Ty::I64, to: Ty::I32 }
                if self.twins.contains_key(&inst.args[0]) =>
            {
                self.twins.get(&inst.args[0]).copied()
            }
            // Extension followed by truncation.
            Op::Sext { from, to } | Op::Zext { from, to } if from != Ty::I128 && to != Ty::I128 => {
                let before = under(inst.args[0])?;
                let (Op::Sext { from: origin, to: middle } | Op::Zext { from: origin, to: middle }) =
                    before.op
                else {
                    return None;
                };
                if origin != to || middle != from {
                    return None;
                }
                let v = self.found(before.args[0]);
                let whole = self.ranges.at(v, b);
                let same = to < from
                    || match inst.op {
                        Op::Sext { .. } => whole.within(Range::full(from).smin, Range::full(from).smax),
                        _ => whole.umax <= Range::full(from).umax,
                    };
                same.then_some(v)
            }
            _ => None,
        }
    }

    /// Replaces a 64-bit operation by a 32-bit one if its operands and its result are extensions. Constants
    /// that it needs are inserted before it.
    fn halved(&mut self, func: &mut Function, inst: &Inst, b: Block, out: &mut Vec<Inst>) -> Option<Halved> {
        let result = inst.results[0];
        let small = |v: Value| self.ranges.at(v, b).within(-NARROW, NARROW);
        let (op, extends, from) = match inst.op {
            Op::Int(
                op @ (IntOp::Add
                | IntOp::Sub
                | IntOp::Mul
                | IntOp::And
                | IntOp::Or
                | IntOp::Xor
                | IntOp::MinS
                | IntOp::MaxS),
                Ty::I64,
            ) if small(result) => (Op::Int(op, Ty::I32), true, 0),
            // A divisor of 0 would give a different number of ones.
            Op::Int(op @ (IntOp::DivU | IntOp::RemU | IntOp::DivS | IntOp::RemS), Ty::I64) => {
                let [x, y] = [inst.args[0], inst.args[1]].map(|v| self.ranges.at(v, b));
                let fits =
                    x.is_natural() && x.umax <= NARROW && y.umin > 0 && y.is_natural() && y.umax <= NARROW;
                (Op::Int(op, Ty::I32), fits.then_some(true)?, 0)
            }
            Op::Shift(ShiftOp::Shl, Ty::I64) if small(result) => (Op::Shift(ShiftOp::Shl, Ty::I32), true, 0),
            Op::Shift(ShiftOp::ShrS | ShiftOp::ShrU, Ty::I64) => {
                let x = self.ranges.at(inst.args[0], b);
                let fits = x.is_natural() && x.umax <= NARROW;
                (Op::Shift(ShiftOp::ShrU, Ty::I32), fits.then_some(true)?, 0)
            }
            // Sign extension preserves both orders.
            Op::IntCmp(cmp, Ty::I64) => (Op::IntCmp(cmp, Ty::I32), false, 0),
            Op::Select(Ty::I64) if small(result) => (Op::Select(Ty::I32), true, 1),
            _ => return None,
        };
        let shifts = matches!(op, Op::Shift(..));
        let half = |v: Value| {
            let fits = self.ranges.at(v, b).constant().map(|bits| bits as u64 as i64);
            let narrow = fits.is_some_and(|k| i32::try_from(k).is_ok());
            self.twins.get(&v).copied().or(narrow.then_some(v))
        };
        // Two constants are folded elsewhere.
        let wide = &inst.args[from..inst.args.len() - usize::from(shifts)];
        let halves: Vec<Value> = wide.iter().map(|&v| half(v)).collect::<Option<_>>()?;
        if !wide.iter().any(|v| self.twins.contains_key(v)) {
            return None;
        }
        let mut args = inst.args.clone();
        for (slot, (&v, half)) in args[from..].iter_mut().zip(wide.iter().zip(halves)) {
            *slot = half;
            if half == v {
                let bits = self.ranges.at(v, b).constant().unwrap_or(0) & Ty::I32.mask();
                *slot = self.value(func, Range::exactly(Ty::I32, bits));
                let op = Op::Const { ty: Ty::I32, bits };
                out.push(Inst { op, args: smallvec![], results: smallvec![*slot], loc: inst.loc });
            }
        }
        Some(Halved { op, args, extends })
    }
}

/// Removes pure operations whose results are unused.
fn without_unused(func: &mut Function) {
    let mut uses = vec![0u32; func.values.len()];
    for block in &func.blocks {
        block.insts.iter().flat_map(|i| i.args.iter()).for_each(|v| uses[v.index()] += 1);
        block.term.uses().iter().for_each(|v| uses[v.index()] += 1);
    }
    let mut again = true;
    while again {
        again = false;
        for block in func.blocks.iter_mut().rev() {
            // From the end, so that operands of removed operations are removed too.
            let mut kept = Vec::with_capacity(block.insts.len());
            for inst in std::mem::take(&mut block.insts).into_iter().rev() {
                let unused = inst.op.is_pure() && inst.results.iter().all(|r| uses[r.index()] == 0);
                if unused && !inst.results.is_empty() {
                    inst.args.iter().for_each(|v| uses[v.index()] -= 1);
                    again |= !inst.args.is_empty();
                } else {
                    kept.push(inst);
                }
            }
            kept.reverse();
            block.insts = kept;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel's first block after the pass, one operation per line.
    fn simplified(body: &str) -> String {
        let text = format!("kernel @k {{\n{body}    exit\n}}\n");
        let mut module = crate::read::read(&text).unwrap_or_else(|e| panic!("{e}"));
        simplify(std::sync::Arc::make_mut(&mut module.functions[0]), &|reg| match reg {
            SReg::TidX => Some(Range::unsigned(Ty::I32, 0, 255)),
            SReg::CtaidX => Some(Range::unsigned(Ty::I32, 0, (1 << 23) - 1)),
            _ => None,
        });
        crate::verify::verify(&module).unwrap_or_else(|p| panic!("{p:?}\n{module}"));
        let text = module.to_string();
        let (_, block) = text.split_once("block0:\n").expect("a block");
        block.lines().map(str::trim).take_while(|l| *l != "exit").map(|l| format!("{l}\n")).collect()
    }

    #[test]
    fn indices_that_may_not_be_negative_are_not_wrapped() {
        let text = simplified(
            "block0:
    v0 = const.i64 0
    v1 = load.param.weak.i64 v0
    v2 = special.tid.x
    v3 = sext.i64.i32 v2
    v4 = const.i32 63
    v5 = shr_s.i64 v3, v4
    v6 = and.i64 v5, v1
    v7 = add.i64 v3, v6
    store.global.weak.i64 v1, v7
",
        );
        let want = "v0 = const.i64 0\nv1 = load.param.weak.i64 v0\nv2 = special.tid.x\nv3 = sext.i64.i32 v2\nstore.global.weak.i64 v1, v3\n";
        assert_eq!(text, want);
    }

    #[test]
    fn what_fits_half_the_width_is_computed_in_it() {
        let text = simplified(
            "block0:
    v0 = const.i64 0
    v1 = load.param.weak.i64 v0
    v2 = special.tid.x
    v3 = zext.i64.i32 v2
    v4 = const.i64 10
    v5 = mul.i64 v3, v4
    v6 = rem_u.i64 v5, v4
    v7 = icmp.lt_s.i64 v5, v4
    v8 = select.i64 v7, v6, v5
    store.global.weak.i64 v1, v8
",
        );
        for wanted in ["mul.i32", "rem_u.i32", "icmp.lt_s.i32", "select.i32"] {
            assert!(text.contains(wanted), "no {wanted} in\n{text}");
        }
        assert_eq!(text.matches("sext.i64.i32").count(), 1, "{text}");
    }

    #[test]
    fn a_divisor_that_may_be_zero_keeps_its_width() {
        let text = simplified(
            "block0:
    v0 = const.i64 0
    v1 = load.param.weak.i64 v0
    v2 = special.tid.x
    v3 = zext.i64.i32 v2
    v4 = div_u.i64 v3, v3
    store.global.weak.i64 v1, v4
",
        );
        assert!(text.contains("div_u.i64"), "{text}");
    }
}
