//! Bit fields, permutations and searches.

use wave::Ty;
use wave::op::{PrmtMode, ShiftOp};

use super::int::shift;
use super::{Emit, known};
use crate::ir::{Bin, Cast, Cmp, Lanes, Operand, Type};

/// A position or length: the low byte for 32-bit fields, clamped for 64-bit ones.
fn place(e: &mut Emit, ty: Ty, v: Operand) -> Operand {
    let m = e.lit(Ty::I32, 0xff);
    if ty == Ty::I64 { e.math("llvm.umin", &[v, m]) } else { e.bin(Bin::And, v, m) }
}

/// Shifts the field to the top and back down. Both amounts may equal the width, so the shifts must be total.
pub fn bfe(e: &mut Emit, signed: bool, ty: Ty, a: Operand, pos: Operand, len: Operand) -> Operand {
    let (pos, len) = (place(e, ty, pos), place(e, ty, len));
    let bits = e.lit(Ty::I32, u128::from(ty.bits()));
    let zero32 = e.lit(Ty::I32, 0);
    // Shift out the bits above the field (none if it extends beyond the top), then shift down.
    let end = e.bin(Bin::Add, pos, len);
    let end = e.math("llvm.umin", &[end, bits]);
    let up = e.bin(Bin::Sub, bits, end);
    let x = shift(e, ShiftOp::Shl, ty, a, up);
    let down = e.bin(Bin::Add, up, pos);
    let op = if signed { ShiftOp::ShrS } else { ShiftOp::ShrU };
    let r = shift(e, op, ty, x, down);
    // A field that begins above the top consists of sign bits only.
    let r = if signed {
        let beyond = e.icmp(Cmp::Uge, pos, bits);
        let last = e.lit(ty, u128::from(ty.bits() - 1));
        let sign = e.bin(Bin::AShr, a, last);
        e.select(beyond, sign, r)
    } else {
        r
    };
    let empty = e.icmp(Cmp::Eq, len, zero32);
    let zero = e.lit(ty, 0);
    e.select(empty, zero, r)
}

pub fn bfi(e: &mut Emit, ty: Ty, field: Operand, base: Operand, pos: Operand, len: Operand) -> Operand {
    let (pos, len) = (place(e, ty, pos), place(e, ty, len));
    let one = e.lit(ty, 1);
    let top = shift(e, ShiftOp::Shl, ty, one, len);
    let ones = e.bin(Bin::Sub, top, one);
    let mask = shift(e, ShiftOp::Shl, ty, ones, pos);
    let moved = shift(e, ShiftOp::Shl, ty, field, pos);
    let inside = e.bin(Bin::And, moved, mask);
    let all = e.lit(ty, ty.mask());
    let not = e.bin(Bin::Xor, mask, all);
    let outside = e.bin(Bin::And, base, not);
    e.bin(Bin::Or, inside, outside)
}

/// `shf`: LLVM's funnel shifts take the amount modulo 32.
pub fn funnel(e: &mut Emit, left: bool, clamp: bool, lo: Operand, hi: Operand, amount: Operand) -> Operand {
    let r = e.math(if left { "llvm.fshl" } else { "llvm.fshr" }, &[hi, lo, amount]);
    if !clamp {
        return r;
    }
    let limit = e.lit(Ty::I32, 32);
    let over = e.icmp(Cmp::Uge, amount, limit);
    e.select(over, if left { lo } else { hi }, r)
}

/// The disjunction of the table's minterms; LLVM turns it into one ternary instruction.
pub fn lop3(e: &mut Emit, table: u8, a: Operand, b: Operand, c: Operand) -> Operand {
    let ty = Ty::I32;
    let ones = e.lit(ty, ty.mask());
    let mut sum = e.lit(ty, 0);
    for index in (0..8).filter(|i| table >> i & 1 == 1) {
        let mut term = ones;
        for (bit, v) in [(4, a), (2, b), (1, c)] {
            let v = if index & bit != 0 { v } else { e.bin(Bin::Xor, v, ones) };
            term = e.bin(Bin::And, term, v);
        }
        sum = e.bin(Bin::Or, sum, term);
    }
    sum
}

/// The bytes that a mode picks for each value of the selector's low two bits, as selectors of the default
/// mode, lowest first.
fn picks(mode: PrmtMode) -> Option<u64> {
    Some(match mode {
        PrmtMode::Default => return None,
        PrmtMode::F4e => 0x6543_5432_4321_3210,
        PrmtMode::B4e => 0x0123_7012_6701_5670,
        PrmtMode::Rc8 => 0x3333_2222_1111_0000,
        PrmtMode::Ecl => 0x3333_3222_3211_3210,
        PrmtMode::Ecr => 0x3210_2210_1110_0000,
        PrmtMode::Rc16 => 0x3232_1010_3232_1010,
    })
}

/// `prmt` with a constant selector that replicates no sign: one shuffle of bytes.
fn permute(e: &mut Emit, a: Operand, b: Operand, selector: u32) -> Operand {
    let ty = a.ty();
    let bytes = Type::I8.times(4 * ty.count());
    let (x, y) = (e.ir.bitcast(a, bytes), e.ir.bitcast(b, bytes));
    let picks = (0..bytes.count()).map(|i| {
        let pick = (selector >> (4 * (i % 4)) & 7) as usize;
        i / 4 * 4 + pick % 4 + if pick < 4 { 0 } else { bytes.count() }
    });
    let r = e.ir.shuffle(x, Some(y), picks);
    e.ir.bitcast(r, ty)
}

/// The processor's byte shuffle within 16 bytes. Each byte of an element has its index in the same position
/// of `at`. `v` and `at` have four bytes a lane, of one warp of 32 lanes at least.
fn shuffle_bytes(e: &mut Emit, v: Operand, at: Operand) -> Operand {
    let (name, bytes) =
        if e.avx512 { ("llvm.x86.avx512.pshuf.b.512", 64) } else { ("llvm.x86.avx2.pshuf.b", 32) };
    let mut done: Vec<Operand> = Vec::new();
    for first in (0..v.ty().count()).step_by(bytes) {
        let args = [v, at].map(|v| e.ir.shuffle(v, None, first..first + bytes));
        done.push(e.ir.intrinsic(name, [None; 2], args[0].ty(), &args));
    }
    let mut width = bytes;
    while done.len() > 1 {
        done = done.chunks(2).map(|p| e.ir.shuffle(p[0], Some(p[1]), 0..2 * width)).collect();
        width *= 2;
    }
    done.swap_remove(0)
}

/// `prmt` with selectors that vary by lane, four bytes at a time.
fn pick_bytes(e: &mut Emit, a: Operand, b: Operand, selector: Operand) -> Operand {
    let t = Ty::I32;
    // Spread the nibbles to bytes.
    let sixteen = e.lit(t, 0xffff);
    let mut nibbles = e.bin(Bin::And, selector, sixteen);
    for (distance, mask) in [(8, 0x00ff_00ff), (4, 0x0f0f_0f0f)] {
        let (n, m) = (e.lit(t, distance), e.lit(t, mask));
        let up = e.bin(Bin::Shl, nibbles, n);
        let both = e.bin(Bin::Or, nibbles, up);
        nibbles = e.bin(Bin::And, both, m);
    }
    let three = e.lit(t, 0x0303_0303);
    let picks = e.bin(Bin::And, nibbles, three);
    let own = e.ir.lanes(t, |l| l as i64 % 4 * 0x0404_0404);
    let at = e.bin(Bin::Or, picks, own);
    let ty = a.ty();
    let bytes = Type::I8.times(4 * ty.count());
    let [a, b, at, nibbles] = [a, b, at, nibbles].map(|v| e.ir.bitcast(v, bytes));
    let (x, y) = (shuffle_bytes(e, a, at), shuffle_bytes(e, b, at));
    let set = |e: &mut Emit, bit: i64| {
        let m = e.ir.bin_int(Bin::And, nibbles, bit);
        e.ir.icmp_int(Cmp::Ne, m, 0)
    };
    let second = set(e, 4);
    let byte = e.select(second, y, x);
    let sign = e.ir.bin_int(Bin::AShr, byte, 7);
    let copies = set(e, 8);
    let r = e.select(copies, sign, byte);
    e.ir.bitcast(r, ty)
}

pub fn prmt(e: &mut Emit, mode: PrmtMode, a: Operand, b: Operand, selector: Operand) -> Operand {
    if let Some(table) = picks(mode) {
        let (w, t) = (Ty::I64, Ty::I32);
        let (three, four) = (e.lit(t, 3), e.lit(t, 4));
        let s = e.bin(Bin::And, selector, three);
        let s = e.bin(Bin::Shl, s, four);
        let s = e.cast(Cast::ZExt, w, s);
        let table = e.lit(w, u128::from(table));
        let row = e.bin(Bin::LShr, table, s);
        let row = e.cast(Cast::ZExt, t, row);
        return prmt(e, PrmtMode::Default, a, b, row);
    }
    if let Some(s) = known(selector).filter(|s| s & 0x8888 == 0) {
        return permute(e, a, b, s);
    }
    if e.lanes == Lanes::Warp {
        return pick_bytes(e, a, b, selector);
    }
    let (w, t) = (Ty::I64, Ty::I32);
    let (l, h) = (e.cast(Cast::ZExt, w, a), e.cast(Cast::ZExt, w, b));
    let n = e.lit(w, 32);
    let h = e.bin(Bin::Shl, h, n);
    let both = e.bin(Bin::Or, h, l);
    let mut out = e.lit(t, 0);
    for i in 0..4u128 {
        let (four, seven, eight, three) = (e.lit(t, 4 * i), e.lit(t, 7), e.lit(t, 8), e.lit(t, 3));
        let nibble = e.bin(Bin::LShr, selector, four);
        let pick = e.bin(Bin::And, nibble, seven);
        let bits = e.bin(Bin::Shl, pick, three);
        let bits = e.cast(Cast::ZExt, w, bits);
        let byte = e.bin(Bin::LShr, both, bits);
        let byte = e.cast(Cast::ZExt, Ty::I8, byte);
        let last = e.lit(Ty::I8, 7);
        let sign = e.bin(Bin::AShr, byte, last);
        let zero = e.lit(t, 0);
        let copy = e.bin(Bin::And, nibble, eight);
        let copy = e.icmp(Cmp::Ne, copy, zero);
        let byte = e.select(copy, sign, byte);
        let byte = e.cast(Cast::ZExt, t, byte);
        let place = e.lit(t, 8 * i);
        let byte = e.bin(Bin::Shl, byte, place);
        out = e.bin(Bin::Or, out, byte);
    }
    out
}

/// `fns` by binary search for the set bit, in the mask from the base on; downwards in the reversed mask.
pub fn fns(e: &mut Emit, mask: Operand, base: Operand, offset: Operand) -> Operand {
    let t = Ty::I32;
    let (zero, one, last, none) = (e.lit(t, 0), e.lit(t, 1), e.lit(t, 31), e.lit(t, 0xffff_ffff));
    let outside = e.icmp(Cmp::Ugt, base, last);
    let here = e.icmp(Cmp::Eq, offset, zero);
    let down = e.icmp(Cmp::Slt, offset, zero);
    let from = e.bin(Bin::And, base, last);
    let reversed = e.math("llvm.bitreverse", &[mask]);
    let mirrored = e.bin(Bin::Sub, last, from);
    let m = e.select(down, reversed, mask);
    let from = e.select(down, mirrored, from);
    let minus = e.bin(Bin::Sub, zero, offset);
    let count = e.select(down, minus, offset);
    // Offset 0: the base's own bit. It counts as the first bit from the base on.
    let count = e.select(here, one, count);
    let on = e.bin(Bin::Shl, none, from);
    let own = e.bin(Bin::Shl, one, from);
    let wanted = e.select(here, own, on);
    let m = e.bin(Bin::And, m, wanted);
    let all = e.math("llvm.ctpop", &[m]);
    let missing = e.icmp(Cmp::Ugt, count, all);
    let (mut position, mut left) = (zero, count);
    for width in [16u32, 8, 4, 2, 1] {
        let low = e.lit(t, (1 << width) - 1);
        let x = e.bin(Bin::LShr, m, position);
        let x = e.bin(Bin::And, x, low);
        let n = e.math("llvm.ctpop", &[x]);
        let beyond = e.icmp(Cmp::Ugt, left, n);
        let (step, less) = (e.lit(t, u128::from(width)), e.bin(Bin::Sub, left, n));
        let next = e.bin(Bin::Add, position, step);
        position = e.select(beyond, next, position);
        left = e.select(beyond, less, left);
    }
    // If all bits are missing, the position may be 32; the result is then replaced.
    let mirrored = e.bin(Bin::Sub, last, position);
    let r = e.select(down, mirrored, position);
    let bad = e.bin(Bin::Or, outside, missing);
    e.select(bad, none, r)
}
