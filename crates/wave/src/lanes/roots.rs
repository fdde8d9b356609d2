//! Square roots of f32. Compilers for AMD hardware expand them, since `v_sqrt_f32` is not correctly rounded.
//!
//! The expansion scales a small operand `x` to `y`, takes the root `r` of `y`, replaces it by a neighbour
//! whose residual is better, scales that back, and returns `y` itself where it is a zero or +∞:
//!
//! ```text
//! small = x < 2^-96                       below = r's bits - 1        above = r's bits + 1
//! y = small ? x * 2^32 : x                lower = 0 >= fma(-below, r, y)
//! r = v_sqrt_f32(y)                       upper = 0 < fma(-above, r, y)
//! near = upper ? above : lower ? below : r
//! root = y is -0, 0 or +∞ ? y : small ? near * 2^-16 : near
//! ```
//!
//! Wave IR's root is correctly rounded, so that all of it is the root of `x`:
//! - √y >= r - w/2 gives y - below·r >= w²/4 with w = r - below: a positive multiple of w² >= 2^-144, which
//!   rounds to more than 0. √y <= r + w/2, with w = above - r, gives y - above·r <= w²/4, and a multiple of
//!   w² that is so small is at most 0. So neither neighbour is taken.
//! - `y` is never subnormal, `y` and `near * 2^-16` are exact, and NaN operands or results are the same NaN.
//!
//! The first residual may be subnormal, so operations that flush are not matched; nor are other roundings.

use super::{Made, order};
use crate::func::{Function, Inst, Value};
use crate::op::{FloatCmp, FloatMode, FloatOp, FloatUnOp, IntCmp, IntOp, IntUnOp, Op};
use crate::types::{Fmt, Ty};

/// 2^-96, 2^32 and 2^-16.
const SMALL: u128 = 0x0f80_0000;
const UP: u128 = 0x4f80_0000;
const DOWN: u128 = 0x3780_0000;
const INFINITY: u128 = 0x7f80_0000;
const SIGN: u128 = 0x8000_0000;

const NEAREST: FloatMode = FloatMode::rn(Fmt::F32);

/// Replaces each expansion by one operation. Its parts stay and are not used.
pub(super) fn find(func: &mut Function) {
    let is_root = |i: &Inst| matches!(i.op, Op::FloatUn(FloatUnOp::Sqrt, mode) if mode.fmt == Fmt::F32);
    if !func.blocks.iter().flat_map(|b| &b.insts).any(is_root) {
        return;
    }
    let made = Made::of(func, &order(func));
    for inst in func.blocks.iter_mut().flat_map(|b| &mut b.insts) {
        if let Some(x) = made.root(inst) {
            inst.op = Op::FloatUn(FloatUnOp::Sqrt, NEAREST);
            inst.args = smallvec::smallvec![x];
        }
    }
}

impl Made {
    /// The operand of the root whose expansion ends with an operation.
    fn root(&self, last: &Inst) -> Option<Value> {
        let [special, y, scaled] = selected(last)?;
        let [small, down, near] = selected(self.inst(scaled)?)?;
        let [also_small, up, x] = selected(self.inst(y)?)?;
        let [upper, above, rest] = selected(self.inst(near)?)?;
        let [lower, below, r] = selected(self.inst(rest)?)?;
        let root = self.inst(r)?;
        let is = matches!(root.op, Op::FloatUn(FloatUnOp::Sqrt, mode)
                if FloatMode { ftz: false, ..mode } == NEAREST)
            && root.args[0] == y
            && small == also_small
            && self.compares(small, FloatCmp::Gt, SMALL)? == x
            && self.with(up, &Op::Float(FloatOp::Mul, NEAREST), UP)? == x
            && self.with(down, &Op::Float(FloatOp::Mul, NEAREST), DOWN)? == near
            && self.with(below, &Op::Int(IntOp::Add, Ty::I32), 0xffff_ffff)? == r
            && self.with(above, &Op::Int(IntOp::Add, Ty::I32), 1)? == r
            && self.is_residual(self.compares(lower, FloatCmp::Ge, 0)?, below, r, y)?
            && self.is_residual(self.compares(upper, FloatCmp::Lt, 0)?, above, r, y)?
            && self.is_special(special, y)?;
        is.then_some(x)
    }

    /// The other operand of a commutative operation one of whose operands is this constant.
    fn with(&self, v: Value, op: &Op, bits: u128) -> Option<Value> {
        let inst = self.inst(v).filter(|inst| inst.op == *op)?;
        let [a, b] = inst.args[..] else { return None };
        match (self.constant(a), self.constant(b)) {
            (Some(constant), _) if constant == bits => Some(b),
            (_, Some(constant)) if constant == bits => Some(a),
            _ => None,
        }
    }

    /// What a constant is compared with.
    fn compares(&self, v: Value, cmp: FloatCmp, bits: u128) -> Option<Value> {
        let inst = self.inst(v)?;
        let swapped = match cmp {
            FloatCmp::Lt => FloatCmp::Gt,
            FloatCmp::Gt => FloatCmp::Lt,
            FloatCmp::Ge => FloatCmp::Le,
            _ => return None,
        };
        let Op::FloatCmp { cmp: found, fmt: Fmt::F32, ftz: false } = inst.op else { return None };
        let [a, b] = inst.args[..] else { return None };
        let is = |v: Value| self.constant(v) == Some(bits);
        match () {
            () if found == cmp && is(a) => Some(b),
            () if found == swapped && is(b) => Some(a),
            () => None,
        }
    }

    /// Whether a value is `fma(-near, r, y)`.
    fn is_residual(&self, v: Value, near: Value, r: Value, y: Value) -> Option<bool> {
        let inst = self.inst(v).filter(|inst| inst.op == Op::Fma(NEAREST))?;
        let [a, b, sum] = inst.args[..] else { return None };
        let negated = match () {
            () if b == r => a,
            () if a == r => b,
            () => return None,
        };
        Some(sum == y && self.with(negated, &Op::Int(IntOp::Xor, Ty::I32), SIGN)? == near)
    }

    /// Whether a flag tells zeros and +∞.
    fn is_special(&self, flag: Value, y: Value) -> Option<bool> {
        let [infinite, zero] = self.parts(flag, &Op::Int(IntOp::Or, Ty::I1))?;
        let [infinite, positive] = self.parts(infinite, &Op::Int(IntOp::And, Ty::I1))?;
        let [negative] = self.inst(positive).filter(|i| i.op == Op::IntUn(IntUnOp::Not, Ty::I1))?.args[..]
        else {
            return None;
        };
        let [sign, none] = self.parts(negative, &Op::IntCmp(IntCmp::LtS, Ty::I32))?;
        let is_size = |v: Value, bits: u128| {
            let [distance, none] = self.parts(v, &Op::IntCmp(IntCmp::LeU, Ty::I32))?;
            let [size, least] = self.parts(distance, &Op::Int(IntOp::Sub, Ty::I32))?;
            let of = self.with(size, &Op::Int(IntOp::And, Ty::I32), SIGN - 1)?;
            Some(of == y && self.constant(least) == Some(bits) && self.constant(none) == Some(0))
        };
        let negative = sign == y && self.constant(none) == Some(0);
        Some(negative && is_size(infinite, INFINITY)? && is_size(zero, 0)?)
    }

    /// The two operands of an operation.
    fn parts(&self, v: Value, op: &Op) -> Option<[Value; 2]> {
        let inst = self.inst(v).filter(|inst| inst.op == *op)?;
        inst.args[..].try_into().ok()
    }
}

/// The operands of a selection between words.
fn selected(inst: &Inst) -> Option<[Value; 3]> {
    match inst.op {
        Op::Select(Ty::I32) => inst.args[..].try_into().ok(),
        _ => None,
    }
}
