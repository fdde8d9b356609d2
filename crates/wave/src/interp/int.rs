//! Integer arithmetic of the interpreter, following the PTX manual's pseudo-code.

use crate::op::{CountOp, IntCmp, IntOp, IntUnOp, PrmtMode, ShiftOp};
use crate::types::Ty;

/// `a` of type `ty`, sign-extended.
pub fn signed(ty: Ty, a: u128) -> i128 {
    let shift = 128 - ty.bits();
    ((a << shift) as i128) >> shift
}

/// Operations with two operands.
pub fn binary(op: IntOp, ty: Ty, a: u128, b: u128) -> u128 {
    let mask = ty.mask();
    let bits = ty.bits();
    let (sa, sb) = (signed(ty, a), signed(ty, b));
    let min = -(1i128 << (bits - 1));
    let max = !min;
    let r = match op {
        IntOp::Add => a.wrapping_add(b),
        IntOp::Sub => a.wrapping_sub(b),
        IntOp::Mul => a.wrapping_mul(b),
        IntOp::MulHiS => (sa.wrapping_mul(sb) >> bits) as u128,
        IntOp::MulHiU => a.wrapping_mul(b) >> bits,
        IntOp::DivS => match (sa, sb) {
            (_, 0) => u128::MAX,
            (x, -1) if x == min => a,
            (x, y) => (x / y) as u128,
        },
        IntOp::DivU => a.checked_div(b).unwrap_or(u128::MAX),
        IntOp::RemS => match (sa, sb) {
            (_, 0) => u128::MAX,
            (_, -1) => 0,
            (x, y) => (x % y) as u128,
        },
        IntOp::RemU => a.checked_rem(b).unwrap_or(u128::MAX),
        IntOp::MinS => sa.min(sb) as u128,
        IntOp::MaxS => sa.max(sb) as u128,
        IntOp::MinU => a.min(b),
        IntOp::MaxU => a.max(b),
        IntOp::And => a & b,
        IntOp::Or => a | b,
        IntOp::Xor => a ^ b,
        IntOp::AddSatS => (sa + sb).clamp(min, max) as u128,
        IntOp::SubSatS => (sa - sb).clamp(min, max) as u128,
    };
    r & mask
}

/// Shifts; the amount is 32 bits.
pub fn shift(op: ShiftOp, ty: Ty, a: u128, amount: u128) -> u128 {
    let n = (amount as u32).min(ty.bits());
    let r = match op {
        ShiftOp::Shl => a.checked_shl(n).unwrap_or(0),
        ShiftOp::ShrU => a.checked_shr(n).unwrap_or(0),
        ShiftOp::ShrS => (signed(ty, a) >> n.min(127)) as u128,
    };
    r & ty.mask()
}

/// Operations with one operand.
pub fn unary(op: IntUnOp, ty: Ty, a: u128) -> u128 {
    let r = match op {
        IntUnOp::Not => !a,
        IntUnOp::Neg => a.wrapping_neg(),
        IntUnOp::Abs => signed(ty, a).unsigned_abs(),
        IntUnOp::Brev => a.reverse_bits() >> (128 - ty.bits()),
    };
    r & ty.mask()
}

/// Counts.
pub fn count(op: CountOp, ty: Ty, a: u128) -> u128 {
    let bits = ty.bits();
    let clz = a.leading_zeros() - (128 - bits);
    // For signed searches in a negative number, look for zeros.
    let flipped = if signed(ty, a) < 0 { !a & ty.mask() } else { a };
    let top = |v: u128, shift: bool| {
        if v == 0 {
            u32::MAX
        } else {
            let position = 127 - v.leading_zeros();
            if shift { bits - 1 - position } else { position }
        }
    };
    u128::from(match op {
        CountOp::Popc => a.count_ones(),
        CountOp::Clz => clz,
        CountOp::BfindU => top(a, false),
        CountOp::BfindS => top(flipped, false),
        CountOp::BfindShU => top(a, true),
        CountOp::BfindShS => top(flipped, true),
    })
}

/// Comparisons.
pub fn compare(cmp: IntCmp, ty: Ty, a: u128, b: u128) -> bool {
    let (sa, sb) = (signed(ty, a), signed(ty, b));
    match cmp {
        IntCmp::Eq => a == b,
        IntCmp::Ne => a != b,
        IntCmp::LtS => sa < sb,
        IntCmp::LeS => sa <= sb,
        IntCmp::GtS => sa > sb,
        IntCmp::GeS => sa >= sb,
        IntCmp::LtU => a < b,
        IntCmp::LeU => a <= b,
        IntCmp::GtU => a > b,
        IntCmp::GeU => a >= b,
    }
}

/// A bit field's position or length: the low 8 bits or, for 64-bit fields, clamped (as on the hardware).
fn field(ty: Ty, v: u128) -> u32 {
    if ty == Ty::I64 { (v as u32).min(255) } else { (v & 0xff) as u32 }
}

/// `bfe`: the field, zero- or sign-extended; bits beyond the top read as the sign (or zero).
pub fn bfe(is_signed: bool, ty: Ty, a: u128, position: u128, length: u128) -> u128 {
    let (pos, len, top) = (field(ty, position), field(ty, length), ty.bits() - 1);
    let sign_at = if len == 0 { None } else { Some((pos + len - 1).min(top)) };
    let sign = is_signed && sign_at.is_some_and(|at| (a >> at) & 1 == 1);
    let mut r = 0u128;
    for i in 0..=top {
        let bit = if i < len && pos + i <= top { (a >> (pos + i)) & 1 == 1 } else { sign };
        r |= u128::from(bit) << i;
    }
    r
}

/// `bfi`: inserts the low bits of `bits` into `base`.
pub fn bfi(ty: Ty, bits: u128, base: u128, position: u128, length: u128) -> u128 {
    let (pos, len, top) = (field(ty, position), field(ty, length), ty.bits() - 1);
    let mut r = base;
    for i in 0..len {
        if pos + i > top {
            break;
        }
        r = (r & !(1 << (pos + i))) | (((bits >> i) & 1) << (pos + i));
    }
    r
}

/// `shf`.
pub fn funnel(left: bool, clamp: bool, lo: u128, hi: u128, amount: u128) -> u128 {
    let n = if clamp { (amount as u32).min(32) } else { amount as u32 & 31 };
    let both = (hi << 32) | lo;
    let r = if left { (both << n) >> 32 } else { both >> n };
    r & 0xffff_ffff
}

/// `lop3`: looks up each bit in the table.
pub fn lop3(table: u8, a: u128, b: u128, c: u128) -> u128 {
    let mut r = 0;
    for i in 0..32 {
        let index = ((a >> i) & 1) << 2 | ((b >> i) & 1) << 1 | ((c >> i) & 1);
        r |= u128::from((table >> index) & 1) << i;
    }
    r
}

/// `prmt`.
pub fn prmt(mode: PrmtMode, a: u128, b: u128, selector: u128) -> u128 {
    let bytes = (b << 32) | a;
    let byte = |n: u128| (bytes >> (8 * (n & 7))) & 0xff;
    let s = selector & 3;
    let picks: [u128; 4] = match mode {
        PrmtMode::Default => {
            let mut r = 0;
            for i in 0..4 {
                let nibble = (selector >> (4 * i)) & 15;
                let v = byte(nibble);
                let v = if nibble & 8 != 0 { if v & 0x80 != 0 { 0xff } else { 0 } } else { v };
                r |= v << (8 * i);
            }
            return r;
        }
        PrmtMode::F4e => [s, s + 1, s + 2, s + 3],
        PrmtMode::B4e => [s, s + 7, s + 6, s + 5],
        PrmtMode::Rc8 => [s; 4],
        PrmtMode::Ecl => [s, s.max(1), s.max(2), 3],
        PrmtMode::Ecr => [0, s.min(1), s.min(2), s.min(3)],
        PrmtMode::Rc16 => {
            let half = (s & 1) * 2;
            [half, half + 1, half, half + 1]
        }
    };
    picks.iter().enumerate().fold(0, |r, (i, &p)| r | byte(p) << (8 * i))
}

/// `dp4a` and `dp2a`: `parts` products of pieces of `a` (of `a_bits` bits) with bytes of `b`, from byte
/// `first` on.
pub fn dot(a: u128, b: u128, c: u128, a_signed: bool, b_signed: bool, a_bits: u32, first: u32) -> u128 {
    let extend = |v: u128, bits: u32, is_signed: bool| -> i128 {
        let v = v & ((1 << bits) - 1);
        if is_signed && v >> (bits - 1) & 1 == 1 { v as i128 - (1 << bits) } else { v as i128 }
    };
    let mut sum = c as i128;
    for i in 0..32 / a_bits {
        let x = extend(a >> (i * a_bits), a_bits, a_signed);
        let y = extend(b >> ((first + i) * 8), 8, b_signed);
        sum += x * y;
    }
    sum as u128 & 0xffff_ffff
}

/// `fns`: the position of the n-th set bit from `base` on, upwards for a positive `offset`, downwards for a
/// negative one.
pub fn fns(mask: u128, base: u128, offset: u128) -> u128 {
    let (mask, base, offset) = (mask as u32, base as u32, offset as u32 as i32);
    let bit = |p: i64| (0..32).contains(&p) && mask >> p & 1 == 1;
    if base > 31 {
        return 0xffff_ffff;
    }
    if offset == 0 {
        return if bit(i64::from(base)) { u128::from(base) } else { 0xffff_ffff };
    }
    let step = i64::from(offset.signum());
    let mut left = offset.unsigned_abs();
    let mut p = i64::from(base);
    while (0..32).contains(&p) {
        if bit(p) {
            left -= 1;
            if left == 0 {
                return p as u128;
            }
        }
        p += step;
    }
    0xffff_ffff
}

/// Integer to integer, clamped.
pub fn saturate(from: Ty, from_signed: bool, to: Ty, to_signed: bool, a: u128) -> u128 {
    let v = if from_signed { signed(from, a) } else { a as i128 };
    let (low, high) = if to_signed {
        (-(1i128 << (to.bits() - 1)), (1i128 << (to.bits() - 1)) - 1)
    } else {
        (0, to.mask() as i128)
    };
    v.clamp(low, high) as u128 & to.mask()
}
