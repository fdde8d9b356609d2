//! Rounding: in a given direction, to odd, and to narrower formats.

use names::names;
use wave::Ty;
use wave::op::Round;
use wave::types::Fmt;

use super::{Emit, Result, Unsupported};
use crate::ir::{
    Argument, Bin, Callee, Cast, Cmp, Elem, Fcmp, Global, Initialiser, Lanes, Name, Note, Operand, Type,
};

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
    /// Runs `part` on pieces of `lanes` lanes and joins the results. A scalar is passed as the first lane of
    /// a piece.
    pub fn pieces(
        &mut self,
        lanes: usize,
        args: &[Operand],
        mut part: impl FnMut(&mut Self, &[Operand]) -> Operand,
    ) -> Operand {
        if self.lanes == Lanes::One {
            let first = |e: &mut Self, a: Operand| {
                e.ir.insert(Operand::zero(a.ty().times(lanes)), a, Operand::i32(0))
            };
            let parts: Vec<Operand> = args.iter().map(|a| first(self, *a)).collect();
            let r = part(self, &parts);
            return self.ir.extract_lane(r, 0);
        }
        let mut done = Vec::new();
        for first in (0..self.ir.width.lanes()).step_by(lanes) {
            let parts: Vec<Operand> =
                args.iter().map(|a| self.ir.shuffle(*a, None, first..first + lanes)).collect();
            done.push(part(self, &parts));
        }
        let mut width = lanes;
        while done.len() > 1 {
            done = done.chunks(2).map(|p| self.ir.shuffle(p[0], Some(p[1]), 0..2 * width)).collect();
            width *= 2;
        }
        done.swap_remove(0)
    }
}

/// A constant for the processor's control word: all exceptions masked, as kernels run, and `bits` in
/// addition.
pub fn control_word(name: &'static str, bits: u32, flushes: bool) -> Global {
    let word = 0x1f80 | bits | if flushes { 0x8040 } else { 0 };
    Global { name: Name::of(name), value: Initialiser::Int(Type::I32, i64::from(word)), align: 0 }
}

/// The name of the control word for a rounding direction.
fn control_name(round: Round) -> &'static str {
    match round {
        Round::Rn | Round::Rna => "mxcsr.rn",
        Round::Rz => "mxcsr.rz",
        Round::Rm => "mxcsr.rm",
        Round::Rp => "mxcsr.rp",
    }
}

names! {
/// Operations that can be rounded in a direction, by their names in the processor's instructions.
#[allow(missing_docs)]
pub enum Directed {
    Add = "add",
    Sub = "sub",
    Mul = "mul",
    Div = "div",
    Sqrt = "sqrt",
    Fma = "fmadd",
}}

/// An operation on f32 or f64, rounded in a direction: with AVX-512 by the instruction, otherwise by the
/// processor's rounding mode.
pub fn directed(e: &mut Emit, op: Directed, fmt: Fmt, round: Round, args: &[Operand]) -> Result<Operand> {
    let (suffix, lanes) = match fmt {
        Fmt::F32 => ("ps", 16),
        Fmt::F64 => ("pd", 8),
        _ => return Err(Unsupported(format!("rounding .{} of {}", round.name(), fmt.name()))),
    };
    let Some(code) = embedded(round) else {
        return Err(Unsupported(format!("rounding .{}", round.name())));
    };
    let name = op.name();
    if e.avx512 {
        let v = if op == Directed::Fma { "v" } else { "" };
        let name = format!("llvm.x86.avx512.{v}{name}.{suffix}.512");
        return Ok(e.pieces(lanes, args, |e, parts| {
            let mut operands = parts.to_vec();
            operands.push(Operand::i32(i64::from(code)));
            e.ir.intrinsic(name.clone(), [None; 2], parts[0].ty(), &operands)
        }));
    }
    let [set, reset] = [(round, (code & 3) << 13), (Round::Rn, 0)]
        .map(|(round, bits)| e.ir.global(control_word(control_name(round), bits, e.flushes)));
    let (instruction, inputs) = match args.len() {
        1 => (format!("v{name}{suffix} $1, $0"), "x"),
        2 => (format!("v{name}{suffix} $2, $1, $0"), "x,x"),
        _ => (format!("v{name}213{suffix} $3, $2, $0"), "0,x,x"),
    };
    let early = if args.len() == 3 { "" } else { "&" };
    let (first, second) = (args.len() + 1, args.len() + 2);
    let callee = Callee::Assembly {
        text: format!("vldmxcsr ${first}\\0A {instruction}\\0A vldmxcsr ${second}").into(),
        constraints: format!("={early}x,{inputs},*m,*m").into(),
        side_effect: false,
    };
    Ok(e.pieces(lanes / 2, args, |e, parts| {
        let words = [set, reset].map(|word| Argument { value: word, note: Note::Element(Type::I32) });
        let arguments = parts.iter().map(|p| Argument::from(*p)).chain(words);
        e.ir.call(callee.clone(), parts[0].ty(), arguments)
    }))
}

/// `a + b` of f64, rounded to odd: an inexact sum becomes the neighbour whose last bit is set, so rounding it
/// again to a narrower format equals rounding the exact sum once. Neither step overflows.
pub fn odd_sum(e: &mut Emit, a: Operand, b: Operand) -> Operand {
    let fmt = Fmt::F64;
    let sum = e.bin(Bin::FAdd, a, b);
    // The exact error of the sum (Knuth).
    let b_part = e.bin(Bin::FSub, sum, a);
    let a_part = e.bin(Bin::FSub, sum, b_part);
    let a_rest = e.bin(Bin::FSub, a, a_part);
    let b_rest = e.bin(Bin::FSub, b, b_part);
    let error = e.bin(Bin::FAdd, a_rest, b_rest);
    let zero = e.flit(fmt, 0);
    let inexact = e.fcmp(Fcmp::One, error, zero);
    // If the error points towards zero, the truncated sum is the next number below; then set the last bit.
    let (s, r) = (e.as_bits(fmt, sum), e.as_bits(fmt, error));
    let differ = e.bin(Bin::Xor, s, r);
    let none = e.lit(Ty::I64, 0);
    let inward = e.icmp(Cmp::Slt, differ, none);
    let inward = e.bin(Bin::And, inward, inexact);
    let down = e.cast(Cast::SExt, Ty::I64, inward);
    let truncated = e.bin(Bin::Add, s, down);
    let odd = e.cast(Cast::ZExt, Ty::I64, inexact);
    let r = e.bin(Bin::Or, truncated, odd);
    e.as_float(fmt, r)
}

/// `a * b + c` of f32, rounded to odd (see [`odd_sum`]): if the results rounded down and up differ, the one
/// nearer to zero with its last bit set. A difference of equals rounds to -0 and +0, which compare equal: the
/// result is +0.
pub fn odd_fma(e: &mut Emit, a: Operand, b: Operand, c: Operand) -> Result<Operand> {
    let fmt = Fmt::F32;
    let below = directed(e, Directed::Fma, fmt, Round::Rm, &[a, b, c])?;
    let above = directed(e, Directed::Fma, fmt, Round::Rp, &[a, b, c])?;
    let inexact = e.fcmp(Fcmp::One, below, above);
    let (x, y) = (e.as_bits(fmt, below), e.as_bits(fmt, above));
    let inner = e.math("llvm.umin", &[x, y]);
    let odd = e.cast(Cast::ZExt, Ty::I32, inexact);
    let bits = e.bin(Bin::Or, inner, odd);
    Ok(e.as_float(fmt, bits))
}

/// An f64 as f32, rounded to odd (see [`odd_sum`]).
fn odd_f32(e: &mut Emit, x: Operand) -> Operand {
    let nearest = truncate(e, Fmt::F32, x);
    let bits = nudged(e, Fmt::F64, Fmt::F32, Round::Rz, x, nearest);
    let r = e.as_float(Fmt::F32, bits);
    let back = e.extend(Fmt::F32, Fmt::F64, r);
    let inexact = e.fcmp(Fcmp::One, back, x);
    let odd = e.cast(Cast::ZExt, Ty::I32, inexact);
    let bits = e.bin(Bin::Or, bits, odd);
    e.as_float(Fmt::F32, bits)
}

/// `fptrunc`: rounds to nearest even.
fn truncate(e: &mut Emit, to: Fmt, x: Operand) -> Operand {
    e.ir.cast(Cast::FpTrunc, x, x.ty().with(Elem::Float(to)))
}

/// `nearest`, which is `x` rounded to nearest, moved by one ulp if `round` needs the other neighbour. A
/// comparison with `x` decides; overflow and underflow are ordinary steps.
fn nudged(e: &mut Emit, from: Fmt, to: Fmt, round: Round, x: Operand, nearest: Operand) -> Operand {
    let ty = to.ty();
    let bits = e.as_bits(to, nearest);
    if matches!(round, Round::Rn | Round::Rna) {
        return bits;
    }
    let back = e.extend(to, from, nearest);
    let above = e.fcmp(Fcmp::Ogt, back, x);
    let below = e.fcmp(Fcmp::Olt, back, x);
    let none = e.lit(ty, 0);
    let negative = e.icmp(Cmp::Slt, bits, none);
    // A step down in value is a step down in bits for positive numbers, and up for negative ones.
    let (one, minus) = (e.lit(ty, 1), e.lit(ty, ty.mask()));
    let (down, up) = (e.select(negative, one, minus), e.select(negative, minus, one));
    let down = e.select(above, down, none);
    let up = e.select(below, up, none);
    let step = match round {
        Round::Rm => down,
        Round::Rp => up,
        _ => e.select(negative, up, down),
    };
    e.bin(Bin::Add, bits, step)
}

/// Rounds a float to the narrower format `to` and returns its bits. NaN becomes canonical or keeps its
/// payload's upper bits.
pub fn narrow(e: &mut Emit, from: Fmt, to: Fmt, round: Round, x: Operand, keep_nan: bool) -> Operand {
    if from == to {
        return e.as_bits(to, x);
    }
    if from == Fmt::F64 && to == Fmt::F32 {
        let nearest = truncate(e, to, x);
        return nudged(e, from, to, round, x, nearest);
    }
    if from == Fmt::F64 {
        let x = odd_f32(e, x);
        return narrow(e, Fmt::F32, to, round, x, keep_nan);
    }
    if to == Fmt::BF16 {
        return brain(e, round, x, keep_nan);
    }
    let x = if keep_nan {
        x
    } else {
        // All ones narrow to all ones.
        let bits = e.as_bits(from, x);
        let bits = e.canonical(from, bits);
        e.as_float(from, bits)
    };
    let nearest = truncate(e, to, x);
    nudged(e, from, to, round, x, nearest)
}

/// Rounds an f32 to bf16: its upper half, rounded by an addition that may carry into it.
fn brain(e: &mut Emit, round: Round, x: Operand, keep_nan: bool) -> Operand {
    let ty = Ty::I32;
    let bits = e.as_bits(Fmt::F32, x);
    let sixteen = e.lit(ty, 16);
    let zero = e.lit(ty, 0);
    let all = e.lit(ty, 0xffff);
    let addend = match round {
        Round::Rn => {
            let upper = e.bin(Bin::LShr, bits, sixteen);
            let one = e.lit(ty, 1);
            let even = e.bin(Bin::And, upper, one);
            let half = e.lit(ty, 0x7fff);
            e.bin(Bin::Add, even, half)
        }
        Round::Rna => e.lit(ty, 0x8000),
        Round::Rz => zero,
        Round::Rm | Round::Rp => {
            let negative = e.icmp(Cmp::Slt, bits, zero);
            let (yes, no) = if round == Round::Rm { (all, zero) } else { (zero, all) };
            e.select(negative, yes, no)
        }
    };
    let sum = e.bin(Bin::Add, bits, addend);
    let is_nan = e.fcmp(Fcmp::Uno, x, x);
    let nan = if keep_nan { bits } else { e.lit(ty, 0x7fff_ffff) };
    let r = e.select(is_nan, nan, sum);
    let r = e.bin(Bin::LShr, r, sixteen);
    e.cast(Cast::ZExt, Ty::I16, r)
}

/// An integer as an f64: exact up to 32 bits. If a 64-bit integer is too large for f64, its bits below 2^11
/// are ORed into one, so that rounding the f64 to at most 24 bits equals rounding the integer.
pub fn integer_for_narrowing(e: &mut Emit, from: Ty, signed: bool, a: Operand) -> Operand {
    if from <= Ty::I32 {
        return e.float_of(signed, Fmt::F64, a);
    }
    // Separate magnitude and sign, so that both signs are handled alike.
    let (zero, low, next, limit) =
        (e.lit(from, 0), e.lit(from, 0x7ff), e.lit(from, 0x800), e.lit(from, 1 << 53));
    let (negative, size) = if signed {
        let negative = e.icmp(Cmp::Slt, a, zero);
        let minus = e.bin(Bin::Sub, zero, a);
        let size = e.select(negative, minus, a);
        (Some(negative), size)
    } else {
        (None, a)
    };
    let lost = e.bin(Bin::And, size, low);
    let any = e.icmp(Cmp::Ne, lost, zero);
    let sticky = e.select(any, next, zero);
    let cut = e.bin(Bin::Xor, size, lost);
    let gathered = e.bin(Bin::Or, cut, sticky);
    let large = e.icmp(Cmp::Uge, size, limit);
    let v = e.select(large, gathered, size);
    let x = e.float_of(false, Fmt::F64, v);
    let Some(negative) = negative else { return x };
    let minus = e.ir.fneg(x);
    e.select(negative, minus, x)
}

/// A 64-bit integer as f64 bits, rounded in a direction: the sum of its exact halves; the sum's error decides
/// the direction.
pub fn integer_to_f64(e: &mut Emit, signed: bool, round: Round, a: Operand) -> Operand {
    let nearest = e.float_of(signed, Fmt::F64, a);
    let bits = e.as_bits(Fmt::F64, nearest);
    if round == Round::Rn {
        return bits;
    }
    let (n, m) = (e.lit(Ty::I64, 32), e.lit(Ty::I64, 0xffff_ffff));
    let high = e.bin(if signed { Bin::AShr } else { Bin::LShr }, a, n);
    let low = e.bin(Bin::And, a, m);
    let high = e.float_of(signed, Fmt::F64, high);
    let low = e.float_of(false, Fmt::F64, low);
    let scale = e.flit(Fmt::F64, u128::from(4_294_967_296f64.to_bits()));
    let high = e.bin(Bin::FMul, high, scale);
    // Subtract the larger part first, which is exact; the rest is the error.
    let rest = e.bin(Bin::FSub, nearest, high);
    let error = e.bin(Bin::FSub, low, rest);
    let none = e.flit(Fmt::F64, 0);
    let (above, below) = (e.fcmp(Fcmp::Olt, error, none), e.fcmp(Fcmp::Ogt, error, none));
    let (zero, one, minus) = (e.lit(Ty::I64, 0), e.lit(Ty::I64, 1), e.lit(Ty::I64, u128::from(u64::MAX)));
    let negative = e.icmp(Cmp::Slt, bits, zero);
    let (down, up) = (e.select(negative, one, minus), e.select(negative, minus, one));
    let down = e.select(above, down, zero);
    let up = e.select(below, up, zero);
    let step = match round {
        Round::Rm => down,
        Round::Rp => up,
        _ => e.select(negative, up, down),
    };
    e.bin(Bin::Add, bits, step)
}
