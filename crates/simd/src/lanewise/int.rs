//! Integers.

use wave::Ty;
use wave::op::{CountOp, IntCmp, IntOp, IntUnOp, ShiftOp};
use wave::types::Fmt;

use super::{Emit, known};
use crate::text::{Lanes, float as float_type, int as int_type};

/// The `icmp` predicate of a relation.
pub fn predicate(cmp: IntCmp) -> &'static str {
    match cmp {
        IntCmp::Eq => "eq",
        IntCmp::Ne => "ne",
        IntCmp::LtS => "slt",
        IntCmp::LeS => "sle",
        IntCmp::GtS => "sgt",
        IntCmp::GeS => "sge",
        IntCmp::LtU => "ult",
        IntCmp::LeU => "ule",
        IntCmp::GtU => "ugt",
        IntCmp::GeU => "uge",
    }
}

pub fn compare(e: &mut Emit, cmp: IntCmp, ty: Ty, a: &str, b: &str) -> String {
    e.icmp(predicate(cmp), ty, a, b)
}

pub fn binary(e: &mut Emit, op: IntOp, ty: Ty, a: &str, b: &str) -> String {
    match op {
        IntOp::Add => e.bin("add", ty, a, b),
        IntOp::Sub => e.bin("sub", ty, a, b),
        IntOp::Mul => e.bin("mul", ty, a, b),
        IntOp::And => e.bin("and", ty, a, b),
        IntOp::Or => e.bin("or", ty, a, b),
        IntOp::Xor => e.bin("xor", ty, a, b),
        IntOp::MinS => e.int_intrinsic("smin", ty, &[a, b]),
        IntOp::MaxS => e.int_intrinsic("smax", ty, &[a, b]),
        IntOp::MinU => e.int_intrinsic("umin", ty, &[a, b]),
        IntOp::MaxU => e.int_intrinsic("umax", ty, &[a, b]),
        IntOp::AddSatS => e.int_intrinsic("sadd.sat", ty, &[a, b]),
        IntOp::SubSatS => e.int_intrinsic("ssub.sat", ty, &[a, b]),
        IntOp::MulHiS | IntOp::MulHiU => multiply_high(e, op == IntOp::MulHiS, ty, a, b),
        IntOp::DivU | IntOp::RemU => {
            let (zero, one) = (e.lit(ty, 0), e.lit(ty, 1));
            let bad = e.icmp("eq", ty, b, &zero);
            let safe = e.select(ty, &bad, &one, b);
            let r = divide(e, op == IntOp::RemU, false, ty, a, &safe);
            let ones = e.lit(ty, ty.mask());
            e.select(ty, &bad, &ones, &r)
        }
        IntOp::DivS | IntOp::RemS => {
            // By 1 instead of 0 and -1; -x and 0 are then put in for -1, which also gives MIN / -1 its wrap.
            let (zero, one, ones) = (e.lit(ty, 0), e.lit(ty, 1), e.lit(ty, ty.mask()));
            let by_zero = e.icmp("eq", ty, b, &zero);
            let by_minus = e.icmp("eq", ty, b, &ones);
            let bad = e.bin("or", Ty::I1, &by_zero, &by_minus);
            let safe = e.select(ty, &bad, &one, b);
            let r = divide(e, op == IntOp::RemS, true, ty, a, &safe);
            let by_minus_one = if op == IntOp::DivS { e.bin("sub", ty, &zero, a) } else { zero };
            let r = e.select(ty, &by_minus, &by_minus_one, &r);
            e.select(ty, &by_zero, &ones, &r)
        }
    }
}

/// Quotient or remainder by a divisor that is not 0, nor -1 where signed. LLVM divides vectors lane by lane; up to 32 bits a float
/// division does it: no quotient lies nearer below an integer than the float's precision shows.
fn divide(e: &mut Emit, rest: bool, signed: bool, ty: Ty, a: &str, b: &str) -> String {
    let (division, remainder) = if signed { ("sdiv", "srem") } else { ("udiv", "urem") };
    if e.lanes == Lanes::One || ty > Ty::I32 || b.starts_with("splat") {
        return e.bin(if rest { remainder } else { division }, ty, a, b);
    }
    let fmt = if ty == Ty::I32 { Fmt::F64 } else { Fmt::F32 };
    let (t, f) = (int_type(ty, e.lanes), float_type(fmt, e.lanes));
    let (to, from) = if signed { ("sitofp", "fptosi") } else { ("uitofp", "fptoui") };
    let x = e.text.def(format!("{to} {t} {a} to {f}"));
    let y = e.text.def(format!("{to} {t} {b} to {f}"));
    let q = e.fbin("fdiv", fmt, &x, &y);
    let q = e.text.def(format!("{from} {f} {q} to {t}"));
    if !rest {
        return q;
    }
    let p = e.bin("mul", ty, &q, b);
    e.bin("sub", ty, a, &p)
}

/// The upper half of a product.
fn multiply_high(e: &mut Emit, signed: bool, ty: Ty, a: &str, b: &str) -> String {
    if ty != Ty::I64 || e.lanes == Lanes::One {
        let wide = Ty::of_bits(ty.bits() * 2).unwrap_or(Ty::I128);
        let how = if signed { "sext" } else { "zext" };
        let (x, y) = (e.cast(how, ty, wide, a), e.cast(how, ty, wide, b));
        let p = e.bin("mul", wide, &x, &y);
        let n = e.lit(wide, u128::from(ty.bits()));
        let h = e.bin("lshr", wide, &p, &n);
        return e.cast("zext", wide, ty, &h);
    }
    // Of 64 bits by halves: no product of them with two addends of 32 bits overflows.
    let (n, m) = (e.lit(ty, 32), e.lit(ty, 0xffff_ffff));
    let low = |e: &mut Emit, v: &str| e.bin("and", ty, v, &m);
    let high = |e: &mut Emit, v: &str| e.bin("lshr", ty, v, &n);
    let (al, ah, bl, bh) = (low(e, a), high(e, a), low(e, b), high(e, b));
    let ll = e.bin("mul", ty, &al, &bl);
    let hl = e.bin("mul", ty, &ah, &bl);
    let lh = e.bin("mul", ty, &al, &bh);
    let hh = e.bin("mul", ty, &ah, &bh);
    let carry = high(e, &ll);
    let first = e.bin("add", ty, &hl, &carry);
    let part = low(e, &first);
    let second = e.bin("add", ty, &lh, &part);
    let (x, y) = (high(e, &first), high(e, &second));
    let sum = e.bin("add", ty, &hh, &x);
    let mut r = e.bin("add", ty, &sum, &y);
    if signed {
        let last = e.lit(ty, 63);
        for (v, other) in [(a, b), (b, a)] {
            let sign = e.bin("ashr", ty, v, &last);
            let part = e.bin("and", ty, &sign, other);
            r = e.bin("sub", ty, &r, &part);
        }
    }
    r
}

/// Shifts that are total: an amount of the width or more shifts everything out.
pub fn shift(e: &mut Emit, op: ShiftOp, ty: Ty, a: &str, amount: &str) -> String {
    let bits = u128::from(ty.bits());
    if let Some(n) = known(amount).filter(|&n| u128::from(n) < bits) {
        let name = match op {
            ShiftOp::Shl => "shl",
            ShiftOp::ShrU => "lshr",
            ShiftOp::ShrS => "ashr",
        };
        let n = e.lit(ty, u128::from(n));
        return e.bin(name, ty, a, &n);
    }
    let limit = e.lit(Ty::I32, bits);
    let last = e.lit(Ty::I32, bits - 1);
    let clamped = e.int_intrinsic("umin", Ty::I32, &[amount, &last]);
    let n = e.cast("zext", Ty::I32, ty, &clamped);
    let name = match op {
        ShiftOp::Shl => "shl",
        ShiftOp::ShrU => "lshr",
        ShiftOp::ShrS => return e.bin("ashr", ty, a, &n),
    };
    let r = e.bin(name, ty, a, &n);
    let over = e.icmp("uge", Ty::I32, amount, &limit);
    let zero = e.lit(ty, 0);
    e.select(ty, &over, &zero, &r)
}

pub fn unary(e: &mut Emit, op: IntUnOp, ty: Ty, a: &str) -> String {
    let zero = e.lit(ty, 0);
    match op {
        IntUnOp::Not => {
            let ones = e.lit(ty, ty.mask());
            e.bin("xor", ty, a, &ones)
        }
        IntUnOp::Neg => e.bin("sub", ty, &zero, a),
        IntUnOp::Abs => {
            let n = e.bin("sub", ty, &zero, a);
            let negative = e.icmp("slt", ty, a, &zero);
            e.select(ty, &negative, &n, a)
        }
        IntUnOp::Brev => e.int_intrinsic("bitreverse", ty, &[a]),
    }
}

fn leading_zeros(e: &mut Emit, ty: Ty, a: &str) -> String {
    let t = crate::text::int(ty, e.lanes);
    let name = format!("llvm.ctlz.{}", e.suffix(ty));
    e.text.intrinsic(&t, &name, &[(t.clone(), a.to_string()), ("i1".into(), "false".into())])
}

pub fn count(e: &mut Emit, op: CountOp, ty: Ty, a: &str) -> String {
    if op == CountOp::Popc {
        let n = e.int_intrinsic("ctpop", ty, &[a]);
        return e.cast("zext", ty, Ty::I32, &n);
    }
    let (zero, bits) = (e.lit(ty, 0), u128::from(ty.bits()));
    let x = match op {
        CountOp::BfindS | CountOp::BfindShS => {
            let n = e.lit(ty, bits - 1);
            let sign = e.bin("ashr", ty, a, &n);
            e.bin("xor", ty, a, &sign)
        }
        _ => a.to_string(),
    };
    let z = leading_zeros(e, ty, &x);
    let z = e.cast("zext", ty, Ty::I32, &z);
    let (last, none) = (e.lit(Ty::I32, bits - 1), e.lit(Ty::I32, 0xffff_ffff));
    let r = match op {
        CountOp::Clz => return z,
        CountOp::BfindU | CountOp::BfindS => e.bin("sub", Ty::I32, &last, &z),
        _ => z,
    };
    let empty = e.icmp("eq", ty, &x, &zero);
    e.select(Ty::I32, &empty, &none, &r)
}

pub fn add_carry(e: &mut Emit, ty: Ty, a: &str, b: &str, c: &str) -> Vec<String> {
    let c = e.cast("zext", Ty::I1, ty, c);
    let s = e.bin("add", ty, a, b);
    let first = e.icmp("ult", ty, &s, a);
    let t = e.bin("add", ty, &s, &c);
    let second = e.icmp("ult", ty, &t, &s);
    let out = e.bin("or", Ty::I1, &first, &second);
    vec![t, out]
}

pub fn sub_borrow(e: &mut Emit, ty: Ty, a: &str, b: &str, c: &str) -> Vec<String> {
    let c = e.cast("zext", Ty::I1, ty, c);
    let s = e.bin("sub", ty, a, b);
    let first = e.icmp("ult", ty, a, b);
    let t = e.bin("sub", ty, &s, &c);
    let second = e.icmp("ult", ty, &s, &c);
    let out = e.bin("or", Ty::I1, &first, &second);
    vec![t, out]
}

/// The bits `from..from + width` of an i32, extended.
fn field(e: &mut Emit, v: &str, from: u32, width: u32, signed: bool) -> String {
    let t = Ty::I32;
    let up = e.lit(t, u128::from(32 - from - width));
    let down = e.lit(t, u128::from(32 - width));
    let x = e.bin("shl", t, v, &up);
    e.bin(if signed { "ashr" } else { "lshr" }, t, &x, &down)
}

pub fn dot(e: &mut Emit, a: &str, b: &str, c: &str, signed: [bool; 2], a_bits: u32, first: u32) -> String {
    let mut sum = c.to_string();
    for i in 0..32 / a_bits {
        let x = field(e, a, i * a_bits, a_bits, signed[0]);
        let y = field(e, b, (first + i) * 8, 8, signed[1]);
        let p = e.bin("mul", Ty::I32, &x, &y);
        sum = e.bin("add", Ty::I32, &sum, &p);
    }
    sum
}

pub fn saturate(e: &mut Emit, from: Ty, from_signed: bool, to: Ty, to_signed: bool, a: &str) -> String {
    // In a type that holds both ranges, then cut.
    let wide = if from >= Ty::I64 || to >= Ty::I64 { Ty::I128 } else { Ty::I64 };
    let x = e.cast(if from_signed { "sext" } else { "zext" }, from, wide, a);
    let (low, high) =
        if to_signed { (!0u128 << (to.bits() - 1), (1u128 << (to.bits() - 1)) - 1) } else { (0, to.mask()) };
    let (low, high) = (e.lit(wide, low), e.lit(wide, high));
    let x = e.int_intrinsic("smax", wide, &[&x, &low]);
    let x = e.int_intrinsic("smin", wide, &[&x, &high]);
    e.cast("zext", wide, to, &x)
}

pub fn pack(e: &mut Emit, part: Ty, whole: Ty, args: &[String]) -> String {
    let mut sum: Option<String> = None;
    for (i, a) in args.iter().enumerate() {
        let x = e.cast("zext", part, whole, a);
        sum = Some(match sum {
            None => x,
            Some(sum) => {
                let n = e.lit(whole, u128::from(part.bits()) * i as u128);
                let x = e.bin("shl", whole, &x, &n);
                e.bin("or", whole, &sum, &x)
            }
        });
    }
    sum.unwrap_or_else(|| e.lit(whole, 0))
}

pub fn unpack(e: &mut Emit, part: Ty, whole: Ty, a: &str) -> Vec<String> {
    (0..whole.bits() / part.bits())
        .map(|i| {
            let n = e.lit(whole, u128::from(part.bits() * i));
            let x = if i == 0 { a.to_string() } else { e.bin("lshr", whole, a, &n) };
            e.cast("zext", whole, part, &x)
        })
        .collect()
}
