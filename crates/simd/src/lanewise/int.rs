//! Integers.

use wave::Ty;
use wave::op::{CountOp, IntCmp, IntOp, IntUnOp, PrmtMode, ShiftOp};

use super::{Emit, Result, Unsupported};

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
        IntOp::MulHiS | IntOp::MulHiU => {
            let wide = Ty::of_bits(ty.bits() * 2).unwrap_or(Ty::I128);
            let how = if op == IntOp::MulHiS { "sext" } else { "zext" };
            let (x, y) = (e.cast(how, ty, wide, a), e.cast(how, ty, wide, b));
            let p = e.bin("mul", wide, &x, &y);
            let n = e.lit(wide, u128::from(ty.bits()));
            let h = e.bin("lshr", wide, &p, &n);
            e.cast("zext", wide, ty, &h)
        }
        IntOp::DivU | IntOp::RemU => {
            let (zero, one) = (e.lit(ty, 0), e.lit(ty, 1));
            let bad = e.icmp("eq", ty, b, &zero);
            let safe = e.select(ty, &bad, &one, b);
            if op == IntOp::DivU {
                let q = e.bin("udiv", ty, a, &safe);
                let ones = e.lit(ty, ty.mask());
                e.select(ty, &bad, &ones, &q)
            } else {
                let r = e.bin("urem", ty, a, &safe);
                e.select(ty, &bad, a, &r)
            }
        }
        IntOp::DivS | IntOp::RemS => {
            // By 1 instead of 0 and -1; -x and 0 are then put in for -1, which also gives MIN / -1 its wrap.
            let (zero, one, ones) = (e.lit(ty, 0), e.lit(ty, 1), e.lit(ty, ty.mask()));
            let by_zero = e.icmp("eq", ty, b, &zero);
            let by_minus = e.icmp("eq", ty, b, &ones);
            let bad = {
                let p = crate::text::int(Ty::I1, e.lanes);
                e.text.def(format!("or {p} {by_zero}, {by_minus}"))
            };
            let safe = e.select(ty, &bad, &one, b);
            if op == IntOp::DivS {
                let q = e.bin("sdiv", ty, a, &safe);
                let negative = e.bin("sub", ty, &zero, a);
                let q = e.select(ty, &by_minus, &negative, &q);
                e.select(ty, &by_zero, &ones, &q)
            } else {
                let r = e.bin("srem", ty, a, &safe);
                let r = e.select(ty, &by_minus, &zero, &r);
                e.select(ty, &by_zero, a, &r)
            }
        }
    }
}

/// Shifts that are total: an amount of the width or more shifts everything out.
pub fn shift(e: &mut Emit, op: ShiftOp, ty: Ty, a: &str, amount: &str) -> String {
    let bits = u128::from(ty.bits());
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

fn low_byte(e: &mut Emit, v: &str) -> String {
    let m = e.lit(Ty::I32, 0xff);
    e.bin("and", Ty::I32, v, &m)
}

/// The field is shifted to the top and back, both by amounts that may be the width: total shifts do it.
pub fn bfe(e: &mut Emit, signed: bool, ty: Ty, a: &str, pos: &str, len: &str) -> String {
    let (pos, len) = (low_byte(e, pos), low_byte(e, len));
    let bits = e.lit(Ty::I32, u128::from(ty.bits()));
    let zero32 = e.lit(Ty::I32, 0);
    // Shift out what is above the field (nothing where the field reaches beyond the top), then down.
    let end = e.bin("add", Ty::I32, &pos, &len);
    let end = e.int_intrinsic("umin", Ty::I32, &[&end, &bits]);
    let up = e.bin("sub", Ty::I32, &bits, &end);
    let x = shift(e, ShiftOp::Shl, ty, a, &up);
    let down = e.bin("add", Ty::I32, &up, &pos);
    let op = if signed { ShiftOp::ShrS } else { ShiftOp::ShrU };
    let r = shift(e, op, ty, &x, &down);
    // A field that begins above the top is all sign.
    let r = if signed {
        let beyond = e.icmp("uge", Ty::I32, &pos, &bits);
        let last = e.lit(ty, u128::from(ty.bits() - 1));
        let sign = e.bin("ashr", ty, a, &last);
        e.select(ty, &beyond, &sign, &r)
    } else {
        r
    };
    let empty = e.icmp("eq", Ty::I32, &len, &zero32);
    let zero = e.lit(ty, 0);
    e.select(ty, &empty, &zero, &r)
}

pub fn bfi(e: &mut Emit, ty: Ty, field: &str, base: &str, pos: &str, len: &str) -> String {
    let (pos, len) = (low_byte(e, pos), low_byte(e, len));
    let one = e.lit(ty, 1);
    let top = shift(e, ShiftOp::Shl, ty, &one, &len);
    let ones = e.bin("sub", ty, &top, &one);
    let mask = shift(e, ShiftOp::Shl, ty, &ones, &pos);
    let moved = shift(e, ShiftOp::Shl, ty, field, &pos);
    let inside = e.bin("and", ty, &moved, &mask);
    let all = e.lit(ty, ty.mask());
    let not = e.bin("xor", ty, &mask, &all);
    let outside = e.bin("and", ty, base, &not);
    e.bin("or", ty, &inside, &outside)
}

pub fn funnel(e: &mut Emit, left: bool, clamp: bool, lo: &str, hi: &str, amount: &str) -> String {
    let wide = Ty::I64;
    let n = if clamp {
        let limit = e.lit(Ty::I32, 32);
        e.int_intrinsic("umin", Ty::I32, &[amount, &limit])
    } else {
        let m = e.lit(Ty::I32, 31);
        e.bin("and", Ty::I32, amount, &m)
    };
    let (l, h) = (e.cast("zext", Ty::I32, wide, lo), e.cast("zext", Ty::I32, wide, hi));
    let t = e.lit(wide, 32);
    let h = e.bin("shl", wide, &h, &t);
    let both = e.bin("or", wide, &h, &l);
    let n = e.cast("zext", Ty::I32, wide, &n);
    let r = if left {
        let s = e.bin("shl", wide, &both, &n);
        e.bin("lshr", wide, &s, &t)
    } else {
        e.bin("lshr", wide, &both, &n)
    };
    e.cast("zext", wide, Ty::I32, &r)
}

/// The sum of the table's minterms; LLVM makes one ternary instruction of it.
pub fn lop3(e: &mut Emit, table: u8, a: &str, b: &str, c: &str) -> String {
    let ty = Ty::I32;
    let ones = e.lit(ty, ty.mask());
    let mut sum = e.lit(ty, 0);
    for index in (0..8).filter(|i| table >> i & 1 == 1) {
        let mut term = ones.clone();
        for (bit, v) in [(4, a), (2, b), (1, c)] {
            let v = if index & bit != 0 { v.to_string() } else { e.bin("xor", ty, v, &ones) };
            term = e.bin("and", ty, &term, &v);
        }
        sum = e.bin("or", ty, &sum, &term);
    }
    sum
}

pub fn prmt(e: &mut Emit, mode: PrmtMode, a: &str, b: &str, selector: &str) -> Result<String> {
    if mode != PrmtMode::Default {
        return Err(Unsupported(format!("prmt.{}", mode.name())));
    }
    let (w, t) = (Ty::I64, Ty::I32);
    let (l, h) = (e.cast("zext", t, w, a), e.cast("zext", t, w, b));
    let n = e.lit(w, 32);
    let h = e.bin("shl", w, &h, &n);
    let both = e.bin("or", w, &h, &l);
    let mut out = e.lit(t, 0);
    for i in 0..4u128 {
        let (four, seven, eight, three) = (e.lit(t, 4 * i), e.lit(t, 7), e.lit(t, 8), e.lit(t, 3));
        let nibble = e.bin("lshr", t, selector, &four);
        let pick = e.bin("and", t, &nibble, &seven);
        let bits = e.bin("shl", t, &pick, &three);
        let bits = e.cast("zext", t, w, &bits);
        let byte = e.bin("lshr", w, &both, &bits);
        let byte = e.cast("zext", w, Ty::I8, &byte);
        let last = e.lit(Ty::I8, 7);
        let sign = e.bin("ashr", Ty::I8, &byte, &last);
        let zero = e.lit(t, 0);
        let copy = e.bin("and", t, &nibble, &eight);
        let copy = e.icmp("ne", t, &copy, &zero);
        let byte = e.select(Ty::I8, &copy, &sign, &byte);
        let byte = e.cast("zext", Ty::I8, t, &byte);
        let place = e.lit(t, 8 * i);
        let byte = e.bin("shl", t, &byte, &place);
        out = e.bin("or", t, &out, &byte);
    }
    Ok(out)
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
    let mut sum = e.lit(whole, 0);
    for (i, a) in args.iter().enumerate() {
        let x = e.cast("zext", part, whole, a);
        let n = e.lit(whole, u128::from(part.bits()) * i as u128);
        let x = e.bin("shl", whole, &x, &n);
        sum = e.bin("or", whole, &sum, &x);
    }
    sum
}

pub fn unpack(e: &mut Emit, part: Ty, whole: Ty, a: &str) -> Vec<String> {
    (0..whole.bits() / part.bits())
        .map(|i| {
            let n = e.lit(whole, u128::from(part.bits() * i));
            let x = e.bin("lshr", whole, a, &n);
            e.cast("zext", whole, part, &x)
        })
        .collect()
}
