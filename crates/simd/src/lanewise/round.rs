//! Rounding: in a given direction, to odd, and to narrower formats.

use wave::Ty;
use wave::op::Round;
use wave::types::Fmt;

use super::{Emit, Result, Unsupported};
use crate::text::{Lanes, float as float_type, float_name, int as int_type};

/// The rounding operand of AVX-512 instructions: the mode, with exceptions suppressed.
fn embedded(round: Round) -> Option<u32> {
    Some(match round {
        Round::Rn => 8,
        Round::Rm => 9,
        Round::Rp => 10,
        Round::Rz => 11,
        Round::Rna => return None,
    })
}

impl Emit<'_> {
    /// Runs `part` on pieces of `lanes` lanes of vectors of `from`, and puts its results, of `to`, together. A scalar is the first
    /// lane of a piece.
    pub fn pieces(
        &mut self,
        lanes: usize,
        from: &str,
        to: &str,
        args: &[&str],
        mut part: impl FnMut(&mut Self, &[String]) -> String,
    ) -> String {
        let small = format!("<{lanes} x {from}>");
        if self.lanes == Lanes::One {
            let parts: Vec<String> = args
                .iter()
                .map(|a| self.text.def(format!("insertelement {small} zeroinitializer, {from} {a}, i32 0")))
                .collect();
            let r = part(self, &parts);
            return self.text.def(format!("extractelement <{lanes} x {to}> {r}, i32 0"));
        }
        let full = format!("<32 x {from}>");
        let range = |from: usize, to: usize| {
            let list: Vec<String> = (from..to).map(|i| format!("i32 {i}")).collect();
            format!("<{} x i32> <{}>", to - from, list.join(", "))
        };
        let mut done = Vec::new();
        for first in (0..32).step_by(lanes) {
            let mask = range(first, first + lanes);
            let parts: Vec<String> = args
                .iter()
                .map(|a| self.text.def(format!("shufflevector {full} {a}, {full} poison, {mask}")))
                .collect();
            done.push(part(self, &parts));
        }
        let mut width = lanes;
        while done.len() > 1 {
            let (t, mask) = (format!("<{width} x {to}>"), range(0, 2 * width));
            done = done
                .chunks(2)
                .map(|p| self.text.def(format!("shufflevector {t} {}, {t} {}, {mask}", p[0], p[1])))
                .collect();
            width *= 2;
        }
        done.swap_remove(0)
    }
}

/// A constant `mxcsr.NAME` for the processor's control word: all exceptions masked, as kernels run with, and more bits of it.
pub fn control_word(name: &str, bits: u32, flushes: bool) -> String {
    let word = 0x1f80 | bits | if flushes { 0x8040 } else { 0 };
    format!("@mxcsr.{name} = private unnamed_addr constant i32 {word}")
}

/// `add`, `sub`, `mul`, `div`, `sqrt` or `fma` of f32 or f64, rounded in a direction: by the instruction with AVX-512, else by the
/// processor's rounding mode.
pub fn directed(e: &mut Emit, name: &str, fmt: Fmt, round: Round, args: &[&str]) -> Result<String> {
    let (suffix, lanes) = match fmt {
        Fmt::F32 => ("ps", 16),
        Fmt::F64 => ("pd", 8),
        _ => return Err(Unsupported(format!("rounding .{} of {}", round.name(), fmt.name()))),
    };
    let Some(code) = embedded(round) else {
        return Err(Unsupported(format!("rounding .{}", round.name())));
    };
    let f = float_name(fmt);
    if e.avx512 {
        let name = if name == "fma" { "vfmadd" } else { name };
        let part = format!("<{lanes} x {f}>");
        return Ok(e.pieces(lanes, f, f, args, |e, parts| {
            let mut operands: Vec<(String, String)> =
                parts.iter().map(|p| (part.clone(), p.clone())).collect();
            operands.push(("i32".into(), code.to_string()));
            e.text.intrinsic(&part, &format!("llvm.x86.avx512.{name}.{suffix}.512"), &operands)
        }));
    }
    for (name, bits) in [(round.name(), (code & 3) << 13), (Round::Rn.name(), 0)] {
        e.text.declarations.insert(control_word(name, bits, e.flushes));
    }
    let lanes = lanes / 2;
    let part = format!("<{lanes} x {f}>");
    let (instruction, inputs) = match args.len() {
        1 => (format!("v{name}{suffix} $1, $0"), "x"),
        2 => (format!("v{name}{suffix} $2, $1, $0"), "x,x"),
        _ => (format!("vfmadd213{suffix} $3, $2, $0"), "0,x,x"),
    };
    let (set, reset) = (args.len() + 1, args.len() + 2);
    let early = if args.len() == 3 { "" } else { "&" };
    Ok(e.pieces(lanes, f, f, args, |e, parts| {
        let list: Vec<String> = parts.iter().map(|p| format!("{part} {p}")).collect();
        e.text.def(format!(
            "call {part} asm \"vldmxcsr ${set}\\0A {instruction}\\0A vldmxcsr ${reset}\", \"={early}x,{inputs},*m,*m\"({}, ptr elementtype(i32) @mxcsr.{}, ptr elementtype(i32) @mxcsr.rn)",
            list.join(", "),
            round.name(),
        ))
    }))
}

/// `a + b` of f64, rounded to odd: an inexact sum is the neighbour whose last bit is set, so that rounding it again to a narrower format
/// is like rounding the sum once. Neither overflows.
pub fn odd_sum(e: &mut Emit, a: &str, b: &str) -> String {
    let fmt = Fmt::F64;
    let sum = e.fbin("fadd", fmt, a, b);
    // The error, exactly (Knuth).
    let b_part = e.fbin("fsub", fmt, &sum, a);
    let a_part = e.fbin("fsub", fmt, &sum, &b_part);
    let a_rest = e.fbin("fsub", fmt, a, &a_part);
    let b_rest = e.fbin("fsub", fmt, b, &b_part);
    let error = e.fbin("fadd", fmt, &a_rest, &b_rest);
    let zero = e.flit(fmt, 0);
    let inexact = e.fcmp("one", fmt, &error, &zero);
    // Where the error points to zero, the truncated sum is the number below; then the last bit is set.
    let (s, r) = (e.as_bits(fmt, &sum), e.as_bits(fmt, &error));
    let differ = e.bin("xor", Ty::I64, &s, &r);
    let none = e.lit(Ty::I64, 0);
    let inward = e.icmp("slt", Ty::I64, &differ, &none);
    let inward = e.bin("and", Ty::I1, &inward, &inexact);
    let down = e.cast("sext", Ty::I1, Ty::I64, &inward);
    let truncated = e.bin("add", Ty::I64, &s, &down);
    let odd = e.cast("zext", Ty::I1, Ty::I64, &inexact);
    let r = e.bin("or", Ty::I64, &truncated, &odd);
    e.as_float(fmt, &r)
}

/// `a * b + c` of f32, rounded to odd (see [`odd_sum`]): where the neighbours below and above differ, it is the one nearer to zero with its last bit
/// set. A difference of equals is +0, the only case in which they differ and are equal.
pub fn odd_fma(e: &mut Emit, a: &str, b: &str, c: &str) -> Result<String> {
    let fmt = Fmt::F32;
    let below = directed(e, "fma", fmt, Round::Rm, &[a, b, c])?;
    let above = directed(e, "fma", fmt, Round::Rp, &[a, b, c])?;
    let inexact = e.fcmp("one", fmt, &below, &above);
    let (x, y) = (e.as_bits(fmt, &below), e.as_bits(fmt, &above));
    let inner = e.int_intrinsic("umin", Ty::I32, &[&x, &y]);
    let odd = e.cast("zext", Ty::I1, Ty::I32, &inexact);
    let bits = e.bin("or", Ty::I32, &inner, &odd);
    Ok(e.as_float(fmt, &bits))
}

/// An f64 as f32, rounded to odd (see [`odd_sum`]).
fn odd_f32(e: &mut Emit, x: &str) -> String {
    let nearest = truncate(e, Fmt::F64, Fmt::F32, x);
    let bits = nudged(e, Fmt::F64, Fmt::F32, Round::Rz, x, &nearest);
    let r = e.as_float(Fmt::F32, &bits);
    let back = e.extend(Fmt::F32, Fmt::F64, &r);
    let inexact = e.fcmp("one", Fmt::F64, &back, x);
    let odd = e.cast("zext", Ty::I1, Ty::I32, &inexact);
    let bits = e.bin("or", Ty::I32, &bits, &odd);
    e.as_float(Fmt::F32, &bits)
}

/// `fptrunc`: to nearest even.
fn truncate(e: &mut Emit, from: Fmt, to: Fmt, x: &str) -> String {
    let (f, t) = (float_type(from, e.lanes), float_type(to, e.lanes));
    e.text.def(format!("fptrunc {f} {x} to {t}"))
}

/// The bits of `nearest`, which is `x` rounded to nearest, moved by one step where `round` wants its other neighbour. Comparing with `x`
/// tells; overflow and underflow are steps like others.
fn nudged(e: &mut Emit, from: Fmt, to: Fmt, round: Round, x: &str, nearest: &str) -> String {
    let ty = to.ty();
    let bits = e.as_bits(to, nearest);
    if matches!(round, Round::Rn | Round::Rna) {
        return bits;
    }
    let back = e.extend(to, from, nearest);
    let above = e.fcmp("ogt", from, &back, x);
    let below = e.fcmp("olt", from, &back, x);
    let none = e.lit(ty, 0);
    let negative = e.icmp("slt", ty, &bits, &none);
    // Down in value is down in bits for positive numbers, up for negative ones.
    let (one, minus) = (e.lit(ty, 1), e.lit(ty, ty.mask()));
    let (down, up) = (e.select(ty, &negative, &one, &minus), e.select(ty, &negative, &minus, &one));
    let down = e.select(ty, &above, &down, &none);
    let up = e.select(ty, &below, &up, &none);
    let step = match round {
        Round::Rm => down,
        Round::Rp => up,
        _ => e.select(ty, &negative, &up, &down),
    };
    e.bin("add", ty, &bits, &step)
}

/// A float of `from` rounded to the narrower format `to`, as bits. NaN becomes the canonical one, or keeps its payload's upper bits.
pub fn narrow(e: &mut Emit, from: Fmt, to: Fmt, round: Round, x: &str, keep_nan: bool) -> String {
    if from == to {
        return e.as_bits(to, x);
    }
    if from == Fmt::F64 && to == Fmt::F32 {
        let nearest = truncate(e, from, to, x);
        return nudged(e, from, to, round, x, &nearest);
    }
    if from == Fmt::F64 {
        let x = odd_f32(e, x);
        return narrow(e, Fmt::F32, to, round, &x, keep_nan);
    }
    if to == Fmt::BF16 {
        return brain(e, round, x, keep_nan);
    }
    let x = if keep_nan {
        x.to_string()
    } else {
        // All ones narrow to all ones.
        let bits = e.as_bits(from, x);
        let bits = e.canonical(from, &bits);
        e.as_float(from, &bits)
    };
    let nearest = truncate(e, from, to, &x);
    nudged(e, from, to, round, &x, &nearest)
}

/// An f32 rounded to bf16: its upper half, rounded by an addition that may carry into it.
fn brain(e: &mut Emit, round: Round, x: &str, keep_nan: bool) -> String {
    let ty = Ty::I32;
    let bits = e.as_bits(Fmt::F32, x);
    let sixteen = e.lit(ty, 16);
    let zero = e.lit(ty, 0);
    let all = e.lit(ty, 0xffff);
    let addend = match round {
        Round::Rn => {
            let upper = e.bin("lshr", ty, &bits, &sixteen);
            let one = e.lit(ty, 1);
            let even = e.bin("and", ty, &upper, &one);
            let half = e.lit(ty, 0x7fff);
            e.bin("add", ty, &even, &half)
        }
        Round::Rna => e.lit(ty, 0x8000),
        Round::Rz => zero.clone(),
        Round::Rm | Round::Rp => {
            let negative = e.icmp("slt", ty, &bits, &zero);
            let (yes, no) = if round == Round::Rm { (&all, &zero) } else { (&zero, &all) };
            e.select(ty, &negative, yes, no)
        }
    };
    let sum = e.bin("add", ty, &bits, &addend);
    let is_nan = e.fcmp("uno", Fmt::F32, x, x);
    let nan = if keep_nan { bits } else { e.lit(ty, 0x7fff_ffff) };
    let r = e.select(ty, &is_nan, &nan, &sum);
    let r = e.bin("lshr", ty, &r, &sixteen);
    e.cast("zext", ty, Ty::I16, &r)
}

/// An integer as an f64: exact up to 32 bits. Of 64-bit ones the bits below 2^11 are gathered in one where the number is so large that
/// f64 does not hold it, so that rounding the f64 to at most 24 bits is like rounding the integer.
pub fn integer_for_narrowing(e: &mut Emit, from: Ty, signed: bool, a: &str) -> String {
    let how = if signed { "sitofp" } else { "uitofp" };
    let (t, d) = (int_type(from, e.lanes), float_type(Fmt::F64, e.lanes));
    if from <= Ty::I32 {
        return e.text.def(format!("{how} {t} {a} to {d}"));
    }
    // Magnitude and sign, so that gathering is the same for both signs.
    let (zero, low, next, limit) =
        (e.lit(from, 0), e.lit(from, 0x7ff), e.lit(from, 0x800), e.lit(from, 1 << 53));
    let (negative, size) = if signed {
        let negative = e.icmp("slt", from, a, &zero);
        let minus = e.bin("sub", from, &zero, a);
        let size = e.select(from, &negative, &minus, a);
        (Some(negative), size)
    } else {
        (None, a.to_string())
    };
    let lost = e.bin("and", from, &size, &low);
    let any = e.icmp("ne", from, &lost, &zero);
    let sticky = e.select(from, &any, &next, &zero);
    let cut = e.bin("xor", from, &size, &lost);
    let gathered = e.bin("or", from, &cut, &sticky);
    let large = e.icmp("uge", from, &size, &limit);
    let v = e.select(from, &large, &gathered, &size);
    let x = e.text.def(format!("uitofp {t} {v} to {d}"));
    let Some(negative) = negative else { return x };
    let minus = e.text.def(format!("fneg {d} {x}"));
    e.fselect(Fmt::F64, &negative, &minus, &x)
}

/// A 64-bit integer as f64 bits, rounded in a direction: the sum of its halves, both exact, and the sum's error says which way.
pub fn integer_to_f64(e: &mut Emit, signed: bool, round: Round, a: &str) -> String {
    let (t, d) = (int_type(Ty::I64, e.lanes), float_type(Fmt::F64, e.lanes));
    let how = if signed { "sitofp" } else { "uitofp" };
    let nearest = e.text.def(format!("{how} {t} {a} to {d}"));
    let bits = e.as_bits(Fmt::F64, &nearest);
    if round == Round::Rn {
        return bits;
    }
    let (n, m) = (e.lit(Ty::I64, 32), e.lit(Ty::I64, 0xffff_ffff));
    let high = e.bin(if signed { "ashr" } else { "lshr" }, Ty::I64, a, &n);
    let low = e.bin("and", Ty::I64, a, &m);
    let high = e.text.def(format!("{how} {t} {high} to {d}"));
    let low = e.text.def(format!("uitofp {t} {low} to {d}"));
    let scale = e.flit(Fmt::F64, u128::from(4_294_967_296f64.to_bits()));
    let high = e.fbin("fmul", Fmt::F64, &high, &scale);
    // The larger part is taken away first, which is exact; what is left is the error.
    let rest = e.fbin("fsub", Fmt::F64, &nearest, &high);
    let error = e.fbin("fsub", Fmt::F64, &low, &rest);
    let none = e.flit(Fmt::F64, 0);
    let (above, below) = (e.fcmp("olt", Fmt::F64, &error, &none), e.fcmp("ogt", Fmt::F64, &error, &none));
    let (zero, one, minus) = (e.lit(Ty::I64, 0), e.lit(Ty::I64, 1), e.lit(Ty::I64, u128::from(u64::MAX)));
    let negative = e.icmp("slt", Ty::I64, &bits, &zero);
    let (down, up) = (e.select(Ty::I64, &negative, &one, &minus), e.select(Ty::I64, &negative, &minus, &one));
    let down = e.select(Ty::I64, &above, &down, &zero);
    let up = e.select(Ty::I64, &below, &up, &zero);
    let step = match round {
        Round::Rm => down,
        Round::Rp => up,
        _ => e.select(Ty::I64, &negative, &up, &down),
    };
    e.bin("add", Ty::I64, &bits, &step)
}
