//! Fields, permutations and searches of bits.

use wave::Ty;
use wave::op::{PrmtMode, ShiftOp};

use super::int::shift;
use super::{Emit, known};
use crate::text::{Lanes, int as int_type};

/// A position or length: the low byte for 32-bit fields, clamped for 64-bit ones.
fn place(e: &mut Emit, ty: Ty, v: &str) -> String {
    let m = e.lit(Ty::I32, 0xff);
    if ty == Ty::I64 { e.int_intrinsic("umin", Ty::I32, &[v, &m]) } else { e.bin("and", Ty::I32, v, &m) }
}

/// The field is shifted to the top and back, both by amounts that may be the width: total shifts do it.
pub fn bfe(e: &mut Emit, signed: bool, ty: Ty, a: &str, pos: &str, len: &str) -> String {
    let (pos, len) = (place(e, ty, pos), place(e, ty, len));
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
    let (pos, len) = (place(e, ty, pos), place(e, ty, len));
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

/// `shf`: LLVM's funnel shifts take the amount modulo 32.
pub fn funnel(e: &mut Emit, left: bool, clamp: bool, lo: &str, hi: &str, amount: &str) -> String {
    let r = e.int_intrinsic(if left { "fshl" } else { "fshr" }, Ty::I32, &[hi, lo, amount]);
    if !clamp {
        return r;
    }
    let limit = e.lit(Ty::I32, 32);
    let over = e.icmp("uge", Ty::I32, amount, &limit);
    e.select(Ty::I32, &over, if left { lo } else { hi }, &r)
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

/// The bytes that a mode picks for each value of the selector's low two bits, as default selectors, the first lowest.
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

/// `prmt` by a known selector that replicates no sign: one shuffle of bytes.
fn permute(e: &mut Emit, a: &str, b: &str, selector: u32) -> String {
    let lanes = if e.lanes == Lanes::One { 1 } else { 32 };
    let (t, bytes) = (int_type(Ty::I32, e.lanes), format!("<{} x i8>", 4 * lanes));
    let x = e.text.def(format!("bitcast {t} {a} to {bytes}"));
    let y = e.text.def(format!("bitcast {t} {b} to {bytes}"));
    let mask: Vec<String> = (0..4 * lanes)
        .map(|i| {
            let pick = selector >> (4 * (i % 4)) & 7;
            let at = i / 4 * 4 + pick % 4 + if pick < 4 { 0 } else { 4 * lanes };
            format!("i32 {at}")
        })
        .collect();
    let r = e.text.def(format!(
        "shufflevector {bytes} {x}, {bytes} {y}, <{} x i32> <{}>",
        4 * lanes,
        mask.join(", ")
    ));
    e.text.def(format!("bitcast {bytes} {r} to {t}"))
}

/// The processor's shuffle of bytes inside 16, by indices of which each element's bytes have their element's own place: `v` and `at` have 128 bytes.
fn shuffle_bytes(e: &mut Emit, v: &str, at: &str) -> String {
    let (name, bytes) =
        if e.avx512 { ("llvm.x86.avx512.pshuf.b.512", 64) } else { ("llvm.x86.avx2.pshuf.b", 32) };
    let part = format!("<{bytes} x i8>");
    let range = |from: usize, n: usize| {
        let list: Vec<String> = (from..from + n).map(|i| format!("i32 {i}")).collect();
        format!("<{n} x i32> <{}>", list.join(", "))
    };
    let mut done: Vec<String> = Vec::new();
    for first in (0..128).step_by(bytes) {
        let of = |e: &mut Emit, v: &str| {
            e.text.def(format!("shufflevector <128 x i8> {v}, <128 x i8> poison, {}", range(first, bytes)))
        };
        let args = [v, at].map(|v| (part.clone(), of(e, v)));
        done.push(e.text.intrinsic(&part, name, &args));
    }
    let mut width = bytes;
    while done.len() > 1 {
        let join = |p: &[String]| {
            format!("shufflevector <{width} x i8> {}, <{width} x i8> {}, {}", p[0], p[1], range(0, 2 * width))
        };
        let pairs: Vec<String> = done.chunks(2).map(join).collect();
        done = pairs.iter().map(|p| e.text.def(p)).collect();
        width *= 2;
    }
    done.swap_remove(0)
}

/// `prmt` by selectors that differ from lane to lane, four bytes at a time.
fn pick_bytes(e: &mut Emit, a: &str, b: &str, selector: &str) -> String {
    let t = Ty::I32;
    // A nibble a byte.
    let sixteen = e.lit(t, 0xffff);
    let mut nibbles = e.bin("and", t, selector, &sixteen);
    for (distance, mask) in [(8, 0x00ff_00ff), (4, 0x0f0f_0f0f)] {
        let (n, m) = (e.lit(t, distance), e.lit(t, mask));
        let up = e.bin("shl", t, &nibbles, &n);
        let both = e.bin("or", t, &nibbles, &up);
        nibbles = e.bin("and", t, &both, &m);
    }
    let three = e.lit(t, 0x0303_0303);
    let picks = e.bin("and", t, &nibbles, &three);
    let own: Vec<String> = (0..32u32).map(|l| format!("i32 {}", l % 4 * 0x0404_0404)).collect();
    let at = e.bin("or", t, &picks, &format!("<{}>", own.join(", ")));
    let bytes = |e: &mut Emit, v: &str| e.text.def(format!("bitcast <32 x i32> {v} to <128 x i8>"));
    let [a, b, at, nibbles] = [a, b, &at, &nibbles].map(|v| bytes(e, v));
    let (x, y) = (shuffle_bytes(e, &a, &at), shuffle_bytes(e, &b, &at));
    let set = |e: &mut Emit, bit: u32| {
        let m = e.text.def(format!("and <128 x i8> {nibbles}, splat (i8 {bit})"));
        e.text.def(format!("icmp ne <128 x i8> {m}, zeroinitializer"))
    };
    let second = set(e, 4);
    let byte = e.text.def(format!("select <128 x i1> {second}, <128 x i8> {y}, <128 x i8> {x}"));
    let sign = e.text.def(format!("ashr <128 x i8> {byte}, splat (i8 7)"));
    let copies = set(e, 8);
    let r = e.text.def(format!("select <128 x i1> {copies}, <128 x i8> {sign}, <128 x i8> {byte}"));
    e.text.def(format!("bitcast <128 x i8> {r} to <32 x i32>"))
}

pub fn prmt(e: &mut Emit, mode: PrmtMode, a: &str, b: &str, selector: &str) -> String {
    if let Some(table) = picks(mode) {
        let (w, t) = (Ty::I64, Ty::I32);
        let (three, four) = (e.lit(t, 3), e.lit(t, 4));
        let s = e.bin("and", t, selector, &three);
        let s = e.bin("shl", t, &s, &four);
        let s = e.cast("zext", t, w, &s);
        let table = e.lit(w, u128::from(table));
        let row = e.bin("lshr", w, &table, &s);
        let row = e.cast("zext", w, t, &row);
        return prmt(e, PrmtMode::Default, a, b, &row);
    }
    if let Some(s) = known(selector).filter(|s| s & 0x8888 == 0) {
        return permute(e, a, b, s);
    }
    if e.lanes == Lanes::Warp {
        return pick_bytes(e, a, b, selector);
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
    out
}

/// `fns`: the set bit is searched by halves, in the mask from the base on; downward, in the reversed mask.
pub fn fns(e: &mut Emit, mask: &str, base: &str, offset: &str) -> String {
    let t = Ty::I32;
    let (zero, one, last, none) = (e.lit(t, 0), e.lit(t, 1), e.lit(t, 31), e.lit(t, 0xffff_ffff));
    let outside = e.icmp("ugt", t, base, &last);
    let here = e.icmp("eq", t, offset, &zero);
    let down = e.icmp("slt", t, offset, &zero);
    let from = e.bin("and", t, base, &last);
    let reversed = e.int_intrinsic("bitreverse", t, &[mask]);
    let mirrored = e.bin("sub", t, &last, &from);
    let m = e.select(t, &down, &reversed, mask);
    let from = e.select(t, &down, &mirrored, &from);
    let minus = e.bin("sub", t, &zero, offset);
    let count = e.select(t, &down, &minus, offset);
    // No step: the base's own bit, as the first of those from it on that are not above it.
    let count = e.select(t, &here, &one, &count);
    let on = e.bin("shl", t, &none, &from);
    let own = e.bin("shl", t, &one, &from);
    let wanted = e.select(t, &here, &own, &on);
    let m = e.bin("and", t, &m, &wanted);
    let all = e.int_intrinsic("ctpop", t, &[&m]);
    let missing = e.icmp("ugt", t, &count, &all);
    let (mut position, mut left) = (zero.clone(), count);
    for width in [16u32, 8, 4, 2, 1] {
        let low = e.lit(t, (1 << width) - 1);
        let x = e.bin("lshr", t, &m, &position);
        let x = e.bin("and", t, &x, &low);
        let n = e.int_intrinsic("ctpop", t, &[&x]);
        let beyond = e.icmp("ugt", t, &left, &n);
        let (step, less) = (e.lit(t, u128::from(width)), e.bin("sub", t, &left, &n));
        let next = e.bin("add", t, &position, &step);
        position = e.select(t, &beyond, &next, &position);
        left = e.select(t, &beyond, &less, &left);
    }
    // Where all are missing the position may be 32: any amount does there.
    let mirrored = e.bin("sub", t, &last, &position);
    let r = e.select(t, &down, &mirrored, &position);
    let bad = e.bin("or", Ty::I1, &outside, &missing);
    e.select(t, &bad, &none, &r)
}
