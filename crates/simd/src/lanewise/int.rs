//! Integer operations.

use wave::Ty;
use wave::op::{CountOp, IntCmp, IntOp, IntUnOp, ShiftOp};
use wave::types::Fmt;

use super::{Emit, known};
use crate::ir::{Bin, Cast, Cmp, Lanes, Operand};

/// The `icmp` predicate of a comparison.
pub fn predicate(cmp: IntCmp) -> Cmp {
    match cmp {
        IntCmp::Eq => Cmp::Eq,
        IntCmp::Ne => Cmp::Ne,
        IntCmp::LtS => Cmp::Slt,
        IntCmp::LeS => Cmp::Sle,
        IntCmp::GtS => Cmp::Sgt,
        IntCmp::GeS => Cmp::Sge,
        IntCmp::LtU => Cmp::Ult,
        IntCmp::LeU => Cmp::Ule,
        IntCmp::GtU => Cmp::Ugt,
        IntCmp::GeU => Cmp::Uge,
    }
}

pub fn compare(e: &mut Emit, cmp: IntCmp, a: Operand, b: Operand) -> Operand {
    e.icmp(predicate(cmp), a, b)
}

pub fn binary(e: &mut Emit, op: IntOp, ty: Ty, a: Operand, b: Operand) -> Operand {
    match op {
        IntOp::Add => e.bin(Bin::Add, a, b),
        IntOp::Sub => e.bin(Bin::Sub, a, b),
        IntOp::Mul => e.bin(Bin::Mul, a, b),
        IntOp::And => e.bin(Bin::And, a, b),
        IntOp::Or => e.bin(Bin::Or, a, b),
        IntOp::Xor => e.bin(Bin::Xor, a, b),
        IntOp::MinS => e.math("llvm.smin", &[a, b]),
        IntOp::MaxS => e.math("llvm.smax", &[a, b]),
        IntOp::MinU => e.math("llvm.umin", &[a, b]),
        IntOp::MaxU => e.math("llvm.umax", &[a, b]),
        IntOp::AddSatS => e.math("llvm.sadd.sat", &[a, b]),
        IntOp::SubSatS => e.math("llvm.ssub.sat", &[a, b]),
        IntOp::MulHiS | IntOp::MulHiU => multiply_high(e, op == IntOp::MulHiS, ty, a, b),
        IntOp::DivU | IntOp::RemU => {
            let (zero, one) = (e.lit(ty, 0), e.lit(ty, 1));
            let bad = e.icmp(Cmp::Eq, b, zero);
            let safe = e.select(bad, one, b);
            let r = divide(e, op == IntOp::RemU, false, ty, a, safe);
            let ones = e.lit(ty, ty.mask());
            e.select(bad, ones, r)
        }
        IntOp::DivS | IntOp::RemS => {
            // Divide by 1 in place of 0 and -1. For -1 the result is then replaced by -x and remainder 0,
            // which also wraps MIN / -1.
            let (zero, one, ones) = (e.lit(ty, 0), e.lit(ty, 1), e.lit(ty, ty.mask()));
            let by_zero = e.icmp(Cmp::Eq, b, zero);
            let by_minus = e.icmp(Cmp::Eq, b, ones);
            let bad = e.bin(Bin::Or, by_zero, by_minus);
            let safe = e.select(bad, one, b);
            let r = divide(e, op == IntOp::RemS, true, ty, a, safe);
            let by_minus_one = if op == IntOp::DivS { e.bin(Bin::Sub, zero, a) } else { zero };
            let r = e.select(by_minus, by_minus_one, r);
            e.select(by_zero, ones, r)
        }
    }
}

/// Quotient or remainder by a divisor that is not 0, and not -1 if signed. LLVM divides vectors lane by lane;
/// up to 32 bits a float division is used instead: it is precise enough, because no quotient lies so close
/// below an integer that it would round up to it.
fn divide(e: &mut Emit, rest: bool, signed: bool, ty: Ty, a: Operand, b: Operand) -> Operand {
    let (division, remainder) = if signed { (Bin::SDiv, Bin::SRem) } else { (Bin::UDiv, Bin::URem) };
    if e.lanes == Lanes::One || ty > Ty::I32 || b.as_int().is_some() {
        return e.bin(if rest { remainder } else { division }, a, b);
    }
    let fmt = if ty == Ty::I32 { Fmt::F64 } else { Fmt::F32 };
    let (x, y) = (e.float_of(signed, fmt, a), e.float_of(signed, fmt, b));
    let q = e.bin(Bin::FDiv, x, y);
    let q = e.ir.cast(if signed { Cast::FpToSi } else { Cast::FpToUi }, q, a.ty());
    if !rest {
        return q;
    }
    let p = e.bin(Bin::Mul, q, b);
    e.bin(Bin::Sub, a, p)
}

/// The upper half of a product.
fn multiply_high(e: &mut Emit, signed: bool, ty: Ty, a: Operand, b: Operand) -> Operand {
    if ty != Ty::I64 || e.lanes == Lanes::One {
        let wide = Ty::of_bits(ty.bits() * 2).unwrap_or(Ty::I128);
        let how = if signed { Cast::SExt } else { Cast::ZExt };
        let (x, y) = (e.cast(how, wide, a), e.cast(how, wide, b));
        let p = e.bin(Bin::Mul, x, y);
        let n = e.lit(wide, u128::from(ty.bits()));
        let h = e.bin(Bin::LShr, p, n);
        return e.cast(Cast::ZExt, ty, h);
    }
    // 64-bit products by halves: a product of halves plus two 32-bit addends does not overflow.
    let (n, m) = (e.lit(ty, 32), e.lit(ty, 0xffff_ffff));
    let low = |e: &mut Emit, v: Operand| e.bin(Bin::And, v, m);
    let high = |e: &mut Emit, v: Operand| e.bin(Bin::LShr, v, n);
    let (al, ah, bl, bh) = (low(e, a), high(e, a), low(e, b), high(e, b));
    let ll = e.bin(Bin::Mul, al, bl);
    let hl = e.bin(Bin::Mul, ah, bl);
    let lh = e.bin(Bin::Mul, al, bh);
    let hh = e.bin(Bin::Mul, ah, bh);
    let carry = high(e, ll);
    let first = e.bin(Bin::Add, hl, carry);
    let part = low(e, first);
    let second = e.bin(Bin::Add, lh, part);
    let (x, y) = (high(e, first), high(e, second));
    let sum = e.bin(Bin::Add, hh, x);
    let mut r = e.bin(Bin::Add, sum, y);
    if signed {
        let last = e.lit(ty, 63);
        for (v, other) in [(a, b), (b, a)] {
            let sign = e.bin(Bin::AShr, v, last);
            let part = e.bin(Bin::And, sign, other);
            r = e.bin(Bin::Sub, r, part);
        }
    }
    r
}

/// Total shifts: an amount of the width or more shifts out all bits.
pub fn shift(e: &mut Emit, op: ShiftOp, ty: Ty, a: Operand, amount: Operand) -> Operand {
    let bits = u128::from(ty.bits());
    if let Some(n) = known(amount).filter(|&n| u128::from(n) < bits) {
        let name = match op {
            ShiftOp::Shl => Bin::Shl,
            ShiftOp::ShrU => Bin::LShr,
            ShiftOp::ShrS => Bin::AShr,
        };
        let n = e.lit(ty, u128::from(n));
        return e.bin(name, a, n);
    }
    let limit = e.lit(Ty::I32, bits);
    let last = e.lit(Ty::I32, bits - 1);
    let clamped = e.math("llvm.umin", &[amount, last]);
    let n = e.cast(Cast::ZExt, ty, clamped);
    let name = match op {
        ShiftOp::Shl => Bin::Shl,
        ShiftOp::ShrU => Bin::LShr,
        ShiftOp::ShrS => return e.bin(Bin::AShr, a, n),
    };
    let r = e.bin(name, a, n);
    let over = e.icmp(Cmp::Uge, amount, limit);
    let zero = e.lit(ty, 0);
    e.select(over, zero, r)
}

pub fn unary(e: &mut Emit, op: IntUnOp, ty: Ty, a: Operand) -> Operand {
    let zero = e.lit(ty, 0);
    match op {
        IntUnOp::Not => {
            let ones = e.lit(ty, ty.mask());
            e.bin(Bin::Xor, a, ones)
        }
        IntUnOp::Neg => e.bin(Bin::Sub, zero, a),
        IntUnOp::Abs => {
            let n = e.bin(Bin::Sub, zero, a);
            let negative = e.icmp(Cmp::Slt, a, zero);
            e.select(negative, n, a)
        }
        IntUnOp::Brev => e.math("llvm.bitreverse", &[a]),
    }
}

pub fn count(e: &mut Emit, op: CountOp, ty: Ty, a: Operand) -> Operand {
    if op == CountOp::Popc {
        let n = e.math("llvm.ctpop", &[a]);
        return e.cast(Cast::ZExt, Ty::I32, n);
    }
    let (zero, bits) = (e.lit(ty, 0), u128::from(ty.bits()));
    let x = match op {
        CountOp::BfindS | CountOp::BfindShS => {
            let n = e.lit(ty, bits - 1);
            let sign = e.bin(Bin::AShr, a, n);
            e.bin(Bin::Xor, a, sign)
        }
        _ => a,
    };
    let z = e.ir.leading_zeros(x);
    let z = e.cast(Cast::ZExt, Ty::I32, z);
    let (last, none) = (e.lit(Ty::I32, bits - 1), e.lit(Ty::I32, 0xffff_ffff));
    let r = match op {
        CountOp::Clz => return z,
        CountOp::BfindU | CountOp::BfindS => e.bin(Bin::Sub, last, z),
        _ => z,
    };
    let empty = e.icmp(Cmp::Eq, x, zero);
    e.select(empty, none, r)
}

pub fn add_carry(e: &mut Emit, ty: Ty, a: Operand, b: Operand, c: Operand) -> Vec<Operand> {
    let c = e.cast(Cast::ZExt, ty, c);
    let s = e.bin(Bin::Add, a, b);
    let first = e.icmp(Cmp::Ult, s, a);
    let t = e.bin(Bin::Add, s, c);
    let second = e.icmp(Cmp::Ult, t, s);
    let out = e.bin(Bin::Or, first, second);
    vec![t, out]
}

pub fn sub_borrow(e: &mut Emit, ty: Ty, a: Operand, b: Operand, c: Operand) -> Vec<Operand> {
    let c = e.cast(Cast::ZExt, ty, c);
    let s = e.bin(Bin::Sub, a, b);
    let first = e.icmp(Cmp::Ult, a, b);
    let t = e.bin(Bin::Sub, s, c);
    let second = e.icmp(Cmp::Ult, s, c);
    let out = e.bin(Bin::Or, first, second);
    vec![t, out]
}

/// The bits `from..from + width` of an `i32`, extended.
fn field(e: &mut Emit, v: Operand, from: u32, width: u32, signed: bool) -> Operand {
    let t = Ty::I32;
    let up = e.lit(t, u128::from(32 - from - width));
    let down = e.lit(t, u128::from(32 - width));
    let x = e.bin(Bin::Shl, v, up);
    e.bin(if signed { Bin::AShr } else { Bin::LShr }, x, down)
}

pub fn dot(
    e: &mut Emit,
    a: Operand,
    b: Operand,
    c: Operand,
    signed: [bool; 2],
    a_bits: u32,
    first: u32,
) -> Operand {
    let mut sum = c;
    for i in 0..32 / a_bits {
        let x = field(e, a, i * a_bits, a_bits, signed[0]);
        let y = field(e, b, (first + i) * 8, 8, signed[1]);
        let p = e.bin(Bin::Mul, x, y);
        sum = e.bin(Bin::Add, sum, p);
    }
    sum
}

pub fn saturate(e: &mut Emit, from: Ty, from_signed: bool, to: Ty, to_signed: bool, a: Operand) -> Operand {
    // Computed in a type that holds both ranges, then clamped.
    let wide = if from >= Ty::I64 || to >= Ty::I64 { Ty::I128 } else { Ty::I64 };
    let x = e.cast(if from_signed { Cast::SExt } else { Cast::ZExt }, wide, a);
    let (low, high) =
        if to_signed { (!0u128 << (to.bits() - 1), (1u128 << (to.bits() - 1)) - 1) } else { (0, to.mask()) };
    let (low, high) = (e.lit(wide, low), e.lit(wide, high));
    let x = e.math("llvm.smax", &[x, low]);
    let x = e.math("llvm.smin", &[x, high]);
    e.cast(Cast::ZExt, to, x)
}

pub fn pack(e: &mut Emit, part: Ty, whole: Ty, args: &[Operand]) -> Operand {
    let mut sum: Option<Operand> = None;
    for (i, a) in args.iter().enumerate() {
        let x = e.cast(Cast::ZExt, whole, *a);
        sum = Some(match sum {
            None => x,
            Some(sum) => {
                let n = e.lit(whole, u128::from(part.bits()) * i as u128);
                let x = e.bin(Bin::Shl, x, n);
                e.bin(Bin::Or, sum, x)
            }
        });
    }
    sum.unwrap_or_else(|| e.lit(whole, 0))
}

pub fn unpack(e: &mut Emit, part: Ty, whole: Ty, a: Operand) -> Vec<Operand> {
    (0..whole.bits() / part.bits())
        .map(|i| {
            let n = e.lit(whole, u128::from(part.bits() * i));
            let x = if i == 0 { a } else { e.bin(Bin::LShr, a, n) };
            e.cast(Cast::ZExt, part, x)
        })
        .collect()
}
