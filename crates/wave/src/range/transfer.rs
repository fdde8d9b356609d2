//! Transfer functions: the range of an operation's result, given its operands' ranges.

use super::interval::{Range, ones};
use crate::op::{CountOp, IntCmp, IntOp, IntUnOp, Op, SReg, ShiftOp};
use crate::types::Ty;

/// The range of result `i` of an operation; all values if nothing is known.
pub(super) fn transfer(
    op: &Op,
    i: usize,
    a: &[Range],
    ty: Ty,
    register: &dyn Fn(SReg) -> Option<Range>,
) -> Range {
    let full = Range::full(ty);
    let narrow = |t: Ty| t != Ty::I128;
    match *op {
        Op::Const { ty, bits } if narrow(ty) => Range::exactly(ty, bits),
        Op::Special(reg) => register(reg).unwrap_or(full),
        Op::Int(op, ty) if narrow(ty) => integer(op, ty, a[0], a[1]),
        Op::Shift(op, ty) if narrow(ty) => shift(op, ty, a[0], a[1]),
        Op::IntUn(op, ty) if narrow(ty) => unary(op, ty, a[0]),
        Op::Count(CountOp::Popc | CountOp::Clz, t) => Range::unsigned(Ty::I32, 0, i128::from(t.bits())),
        Op::Count(_, t) => Range::signed(Ty::I32, -1, i128::from(t.bits()) - 1),
        Op::IntCmp(cmp, t) if narrow(t) => {
            decided(cmp, a[0], a[1]).map_or(full, |b| Range::exactly(Ty::I1, b.into()))
        }
        Op::Sext { from, to } if narrow(from) && narrow(to) => match to > from {
            true => Range::signed(to, a[0].smin, a[0].smax),
            false => truncated(to, a[0]),
        },
        Op::Zext { from, to } if narrow(from) && narrow(to) => match to > from {
            true => Range::unsigned(to, a[0].umin, a[0].umax),
            false => truncated(to, a[0]),
        },
        Op::Select(t) if narrow(t) => match a[0].constant() {
            Some(1) => a[1],
            Some(_) => a[2],
            None => a[1].join(a[2]),
        },
        Op::Bfe { signed: false, ty } if narrow(ty) => match a[2].constant() {
            Some(length) if length < 63 => Range::unsigned(ty, 0, a[0].umax.min((1 << length) - 1)),
            _ => Range::unsigned(ty, 0, a[0].umax),
        },
        Op::Pack { part: Ty::I32, whole: Ty::I64 } => {
            let join = |lo: i128, hi: i128| (hi << 32) + lo;
            Range::unsigned(Ty::I64, join(a[0].umin, a[1].umin), join(a[0].umax, a[1].umax))
        }
        Op::Unpack { part, whole } if narrow(whole) => {
            let shift = part.bits() * i as u32;
            let fits = a[0].umax >> shift <= ones(part);
            if fits { Range::unsigned(part, a[0].umin >> shift, a[0].umax >> shift) } else { full }
        }
        _ => full,
    }
}

/// The smallest and largest result at the ends of two intervals.
fn corners(a: [i128; 2], b: [i128; 2], f: impl Fn(i128, i128) -> i128) -> [i128; 2] {
    let all = a.map(|x| b.map(|y| f(x, y)));
    let [[p, q], [r, s]] = all;
    [p.min(q).min(r).min(s), p.max(q).max(r).max(s)]
}

fn integer(op: IntOp, ty: Ty, a: Range, b: Range) -> Range {
    let full = Range::full(ty);
    let (sa, sb) = ([a.smin, a.smax], [b.smin, b.smax]);
    let (ua, ub) = ([a.umin, a.umax], [b.umin, b.umax]);
    let both =
        |s: [i128; 2], u: [i128; 2]| Range::signed(ty, s[0], s[1]).meet(Range::unsigned(ty, u[0], u[1]), ty);
    match op {
        IntOp::Add => both(corners(sa, sb, |x, y| x + y), corners(ua, ub, |x, y| x + y)),
        IntOp::Sub => both(corners(sa, sb, |x, y| x - y), corners(ua, ub, |x, y| x - y)),
        // Products of 64-bit numbers fit, except for the two cases that are treated as unknown.
        IntOp::Mul => {
            both(corners(sa, sb, |x, y| x.saturating_mul(y)), corners(ua, ub, |x, y| x.saturating_mul(y)))
        }
        IntOp::MulHiS => {
            let [lo, hi] = corners(sa, sb, |x, y| x.saturating_mul(y) >> ty.bits());
            Range::signed(ty, lo, hi)
        }
        IntOp::MulHiU => {
            let high = |x: i128, y: i128| ((x as u128 * y as u128) >> ty.bits()) as i128;
            Range::unsigned(ty, high(a.umin, b.umin), high(a.umax, b.umax))
        }
        // A divisor of 0 gives all ones.
        IntOp::DivU if b.umin > 0 => Range::unsigned(ty, a.umin / b.umax, a.umax / b.umin),
        IntOp::DivS if b.smin > 0 => {
            let [lo, hi] = corners(sa, sb, |x, y| x / y);
            Range::signed(ty, lo, hi)
        }
        IntOp::RemU if a.umax < b.umin => a,
        IntOp::RemU if b.umin > 0 => Range::unsigned(ty, 0, a.umax.min(b.umax - 1)),
        IntOp::RemS if b.smin > 0 && a.is_natural() && a.smax < b.smin => a,
        IntOp::RemS if b.smin > 0 => {
            let most = b.smax - 1;
            Range::signed(ty, a.smin.clamp(-most, 0), a.smax.clamp(0, most))
        }
        IntOp::MinS => Range::signed(ty, a.smin.min(b.smin), a.smax.min(b.smax)),
        IntOp::MaxS => Range::signed(ty, a.smin.max(b.smin), a.smax.max(b.smax)),
        IntOp::MinU => Range::unsigned(ty, a.umin.min(b.umin), a.umax.min(b.umax)),
        IntOp::MaxU => Range::unsigned(ty, a.umin.max(b.umin), a.umax.max(b.umax)),
        IntOp::And => and(ty, a, b).meet(and(ty, b, a), ty),
        IntOp::Or => Range::unsigned(ty, a.umin.max(b.umin), spread(a.umax | b.umax)),
        IntOp::Xor => Range::unsigned(ty, 0, spread(a.umax | b.umax)),
        _ => full,
    }
}

/// All ones up to the highest set bit.
fn spread(bits: i128) -> i128 {
    let length = 128 - bits.leading_zeros();
    (1i128 << length) - 1
}

/// The range of `a & b`, as far as it follows from `b` being a mask.
fn and(ty: Ty, a: Range, b: Range) -> Range {
    let most = a.umax.min(b.umax);
    let Some(mask) = b.constant().map(|m| m as i128) else { return Range::unsigned(ty, 0, most) };
    if spread(a.umax) & mask == 0 {
        return Range::exactly(ty, 0);
    }
    if a.umax <= mask && mask == spread(mask) {
        return a;
    }
    // Clearing the lowest bits keeps the order of numbers, signed or not.
    let low = ones(ty) - mask;
    if low == spread(low) && low < ones(ty) {
        return Range::signed(ty, a.smin & !low, a.smax & !low)
            .meet(Range::unsigned(ty, a.umin & !low, a.umax & !low), ty);
    }
    Range::unsigned(ty, 0, most)
}

fn shift(op: ShiftOp, ty: Ty, a: Range, amount: Range) -> Range {
    let by = amount.constant().map(|n| (n as u32).min(ty.bits()));
    match (op, by) {
        (ShiftOp::Shl, Some(n)) if n < ty.bits() => {
            let s = Range::signed(ty, a.smin << n, a.smax << n);
            s.meet(Range::unsigned(ty, a.umin << n, a.umax << n), ty)
        }
        (ShiftOp::Shl, Some(_)) => Range::exactly(ty, 0),
        (ShiftOp::Shl, None) => Range::full(ty),
        (ShiftOp::ShrU, Some(n)) => Range::unsigned(ty, a.umin >> n, a.umax >> n),
        (ShiftOp::ShrU, None) => Range::unsigned(ty, 0, a.umax),
        (ShiftOp::ShrS, Some(n)) => Range::signed(ty, a.smin >> n, a.smax >> n),
        (ShiftOp::ShrS, None) if a.is_natural() => Range::signed(ty, 0, a.smax),
        (ShiftOp::ShrS, None) => Range::signed(ty, a.smin, a.smax.max(-1)),
    }
}

fn unary(op: IntUnOp, ty: Ty, a: Range) -> Range {
    match op {
        IntUnOp::Not => Range::signed(ty, !a.smax, !a.smin)
            .meet(Range::unsigned(ty, ones(ty) - a.umax, ones(ty) - a.umin), ty),
        // The smallest value negates to itself, which does not fit.
        IntUnOp::Neg => Range::signed(ty, -a.smax, -a.smin),
        IntUnOp::Abs if a.is_natural() => a,
        IntUnOp::Abs => Range::signed(ty, a.smax.min(0).abs(), a.smin.abs().max(a.smax)),
        IntUnOp::Brev => Range::full(ty),
    }
}

fn truncated(to: Ty, a: Range) -> Range {
    let s = Range::signed(to, a.smin, a.smax);
    s.meet(Range::unsigned(to, a.umin, a.umax), to)
}

/// The result of a comparison if the ranges decide it.
pub(super) fn decided(cmp: IntCmp, a: Range, b: Range) -> Option<bool> {
    let apart = a.smax < b.smin || b.smax < a.smin || a.umax < b.umin || b.umax < a.umin;
    let same = a.constant().is_some() && a.constant() == b.constant();
    let order = |sure: bool, never: bool| if sure { Some(true) } else { never.then_some(false) };
    match cmp {
        IntCmp::Eq => order(same, apart),
        IntCmp::Ne => order(apart, same),
        IntCmp::LtS => order(a.smax < b.smin, a.smin >= b.smax),
        IntCmp::LeS => order(a.smax <= b.smin, a.smin > b.smax),
        IntCmp::GtS => order(a.smin > b.smax, a.smax <= b.smin),
        IntCmp::GeS => order(a.smin >= b.smax, a.smax < b.smin),
        IntCmp::LtU => order(a.umax < b.umin, a.umin >= b.umax),
        IntCmp::LeU => order(a.umax <= b.umin, a.umin > b.umax),
        IntCmp::GtU => order(a.umin > b.umax, a.umax <= b.umin),
        IntCmp::GeU => order(a.umin >= b.umax, a.umax < b.umin),
    }
}

/// The range of `a` if a comparison with `b` holds.
pub(super) fn refined(cmp: IntCmp, ty: Ty, a: Range, b: Range) -> Range {
    let full = Range::full(ty);
    let bound = match cmp {
        IntCmp::Eq => b,
        IntCmp::Ne => match b.constant() {
            // Only an end can be removed.
            Some(_) if b.smin == a.smin && a.smin < a.smax => Range { smin: a.smin + 1, ..full },
            Some(_) if b.smin == a.smax && a.smin < a.smax => Range { smax: a.smax - 1, ..full },
            Some(_) if b.umin == a.umin && a.umin < a.umax => Range { umin: a.umin + 1, ..full },
            Some(_) if b.umin == a.umax && a.umin < a.umax => Range { umax: a.umax - 1, ..full },
            _ => full,
        },
        IntCmp::LtS => Range { smax: b.smax - 1, ..full },
        IntCmp::LeS => Range { smax: b.smax, ..full },
        IntCmp::GtS => Range { smin: b.smin + 1, ..full },
        IntCmp::GeS => Range { smin: b.smin, ..full },
        IntCmp::LtU => Range { umax: b.umax - 1, ..full },
        IntCmp::LeU => Range { umax: b.umax, ..full },
        IntCmp::GtU => Range { umin: b.umin + 1, ..full },
        IntCmp::GeU => Range { umin: b.umin, ..full },
    };
    a.meet(bound, ty)
}
