//! `cvt` with 8-, 6- and 4-bit formats, and with stochastic rounding (PTX ISA 9.7.9.22), composed of integer
//! and f16/f32 operations.

use ptx::ScalarType;
use ptx::ast::{Instruction, Operand};
use ptx::{Modifier as M, ScalarType as S};
use wave::op::{FloatCmp, FloatMode, FloatOp, IntCmp, IntOp, Op, ShiftOp};
use wave::types::Fmt;
use wave::{Ty, Value};

use super::convert::finite;
use super::scale;
use crate::function::{Lower, Result};
use crate::link::ty_of;
use crate::operand::fmt_of;

/// A narrow format: a sign, exponent bits with a bias, and fraction bits.
#[derive(Clone, Copy)]
pub struct Narrow {
    exponent: u32,
    fraction: u32,
    bias: u32,
    /// The code of the largest finite number.
    largest: u128,
    /// The code of the NaN that conversions return; `None` if the format has no NaN.
    nan: Option<u128>,
}

/// How a value between two codes is rounded.
#[derive(Clone, Copy)]
enum Rounding {
    /// To nearest, ties to even.
    Nearest,
    /// Away from zero if adding the random bits (an i64) to the discarded bits carries out.
    Stochastic(Value),
}

/// The fraction bits and the exponent bias of f32, and of f16.
const F32_FRACTION: u32 = 23;
const F32_BIAS: u32 = 127;
const F16_FRACTION: u32 = 10;
const F16_BIAS: u32 = 15;

/// Random bits per value; they are added to the highest discarded bits.
const RANDOM_BITS: u32 = 16;

const fn narrow(exponent: u32, fraction: u32, bias: u32, largest: u128, nan: Option<u128>) -> Narrow {
    Narrow { exponent, fraction, bias, largest, nan }
}

const E4M3: Narrow = narrow(4, 3, 7, 0x7e, Some(0x7f));
const E5M2: Narrow = narrow(5, 2, 15, 0x7b, Some(0x7f));
const E3M2: Narrow = narrow(3, 2, 3, 0x1f, None);
const E2M3: Narrow = narrow(2, 3, 1, 0x1f, None);
const E2M1: Narrow = narrow(2, 1, 1, 0x7, None);
const F16: Narrow = narrow(5, 10, 15, 0x7bff, Some(0x7fff));
const BF16: Narrow = narrow(8, 7, 127, 0x7f7f, Some(0x7fff));

impl Narrow {
    /// The format of a pair's elements, and the bits that each occupies.
    pub fn of_pair(t: ScalarType) -> Option<(Narrow, u32)> {
        Some(match t {
            S::E4m3x2 => (E4M3, 8),
            S::E5m2x2 => (E5M2, 8),
            S::E3m2x2 => (E3M2, 8),
            S::E2m3x2 => (E2M3, 8),
            S::E2m1x2 => (E2M1, 4),
            _ => return None,
        })
    }

    /// The format of an 8-bit float, or of a pair or four of them.
    pub fn of_bytes(t: ScalarType) -> Option<Narrow> {
        Some(match t {
            S::E4m3 | S::E4m3x2 | S::E4m3x4 => E4M3,
            S::E5m2 | S::E5m2x2 | S::E5m2x4 => E5M2,
            _ => return None,
        })
    }

    /// Converts a code in an i8 to f16.
    pub fn widened(self, l: &mut Lower, code: Value) -> Value {
        let code = l.resize(code, Ty::I16, false);
        self.decode(l, code, false)
    }

    /// Converts an f16 to a code in an i8, rounding to nearest; overflow gives infinity, or the largest
    /// number if the format has none.
    pub fn narrowed(self, l: &mut Lower, half: Value) -> Value {
        let wide = Op::FloatToFloat { from: Fmt::F16, mode: FloatMode::rn(Fmt::F32), relu: false };
        let wide = l.op1(wide, &[half]);
        let infinite = self.nan.is_some_and(|nan| nan > self.largest + 1);
        let limit = self.largest + u128::from(infinite);
        let code = self.encode(l, wide, false, Rounding::Nearest, limit);
        l.resize(code, Ty::I8, false)
    }

    /// The format of the elements that `cvt.rs` returns, and the bits that each occupies.
    fn of_group(t: ScalarType) -> Option<(Narrow, u32)> {
        Some(match t {
            S::F16x2 => (F16, 16),
            S::Bf16x2 => (BF16, 16),
            S::E4m3x4 => (E4M3, 8),
            S::E5m2x4 => (E5M2, 8),
            S::E3m2x4 => (E3M2, 8),
            S::E2m3x4 => (E2M3, 8),
            S::E2m1x4 => (E2M1, 4),
            _ => return None,
        })
    }

    fn sign_shift(self) -> u32 {
        self.exponent + self.fraction
    }

    /// The magnitude of an f32, rounded to nearest, as a code that may exceed the largest.
    fn nearest(self, l: &mut Lower, magnitude: Value) -> Value {
        let c = |l: &mut Lower, v: u32| l.constant(Ty::I32, u128::from(v));
        let int = |o| Op::Int(o, Ty::I32);
        // Normal: round the fraction in place, which may carry into the exponent, then change the bias.
        let cut = c(l, F32_FRACTION - self.fraction);
        let (one, half) = (c(l, 1), c(l, (1 << (F32_FRACTION - 1 - self.fraction)) - 1));
        let kept = l.op1(Op::Shift(ShiftOp::ShrU, Ty::I32), &[magnitude, cut]);
        let odd = l.op1(int(IntOp::And), &[kept, one]);
        let sum = l.op1(int(IntOp::Add), &[magnitude, half]);
        let sum = l.op1(int(IntOp::Add), &[sum, odd]);
        let rounded = l.op1(Op::Shift(ShiftOp::ShrU, Ty::I32), &[sum, cut]);
        let rebias = c(l, (F32_BIAS - self.bias) << self.fraction);
        let normal = l.op1(int(IntOp::Sub), &[rounded, rebias]);
        // Subnormal: add a number whose last place is the smallest subnormal; the low bits of the sum are the
        // rounded quotient.
        let anchor = c(l, (F32_BIAS + F32_FRACTION + 1 - self.bias - self.fraction) << F32_FRACTION);
        let sum = l.op1(Op::Float(FloatOp::Add, FloatMode::rn(Fmt::F32)), &[magnitude, anchor]);
        let subnormal = l.op1(int(IntOp::Sub), &[sum, anchor]);
        let smallest_normal = c(l, (F32_BIAS + 1 - self.bias) << F32_FRACTION);
        let small = l.op1(Op::IntCmp(IntCmp::LtU, Ty::I32), &[magnitude, smallest_normal]);
        l.op1(Op::Select(Ty::I32), &[small, subnormal, normal])
    }

    /// The magnitude of an f32, rounded stochastically: adds the random bits below the last kept place and
    /// keeps the carry.
    fn stochastic(self, l: &mut Lower, magnitude: Value, random: Value) -> Value {
        let c = |l: &mut Lower, v: u32| l.constant(Ty::I32, u128::from(v));
        let int = |o| Op::Int(o, Ty::I32);
        let wide = |o| Op::Int(o, Ty::I64);
        let (places, mask) = (c(l, F32_FRACTION), c(l, (1 << F32_FRACTION) - 1));
        let exponent = l.op1(Op::Shift(ShiftOp::ShrU, Ty::I32), &[magnitude, places]);
        let fraction = l.op1(int(IntOp::And), &[magnitude, mask]);
        // Subnormal f32 have the exponent of the smallest normal number, without the leading one.
        let (zero, one, leading) = (c(l, 0), c(l, 1), c(l, 1 << F32_FRACTION));
        let subnormal = l.op1(Op::IntCmp(IntCmp::Eq, Ty::I32), &[exponent, zero]);
        let leading = l.op1(Op::Select(Ty::I32), &[subnormal, zero, leading]);
        let significand = l.op1(int(IntOp::Or), &[fraction, leading]);
        let exponent = l.op1(int(IntOp::MaxU), &[exponent, one]);
        // The exponent's distance below this format's smallest normal number: the number of additional bits
        // to discard.
        let smallest = c(l, F32_BIAS + 1 - self.bias);
        let at_least = l.op1(int(IntOp::MaxU), &[exponent, smallest]);
        let below = l.op1(int(IntOp::Sub), &[at_least, exponent]);
        // At this limit, all bits of the significand are discarded and nothing can carry.
        let (cut, limit) = (c(l, F32_FRACTION - self.fraction), c(l, RANDOM_BITS + F32_FRACTION + 2));
        let cut = l.op1(int(IntOp::Add), &[below, cut]);
        let cut = l.op1(int(IntOp::MinU), &[cut, limit]);
        let bits = c(l, RANDOM_BITS);
        let significand = l.resize(significand, Ty::I64, false);
        // In units of the last random bit, which may be below the last bit of the significand.
        let significand = l.op1(Op::Shift(ShiftOp::Shl, Ty::I64), &[significand, bits]);
        let random = l.op1(Op::Shift(ShiftOp::Shl, Ty::I64), &[random, cut]);
        let sum = l.op1(wide(IntOp::Add), &[significand, random]);
        let down = l.op1(int(IntOp::Add), &[cut, bits]);
        let kept = l.op1(Op::Shift(ShiftOp::ShrU, Ty::I64), &[sum, down]);
        let kept = l.resize(kept, Ty::I32, false);
        // The leading one of a normal number adds one to the exponent.
        let steps = l.op1(int(IntOp::Sub), &[at_least, smallest]);
        let place = c(l, self.fraction);
        let steps = l.op1(Op::Shift(ShiftOp::Shl, Ty::I32), &[steps, place]);
        l.op1(int(IntOp::Add), &[kept, steps])
    }

    /// Converts an (exact) f32 to this format's code in an i32; overflow gives `limit`.
    fn encode(self, l: &mut Lower, x: Value, relu: bool, rounding: Rounding, limit: u128) -> Value {
        let c = |l: &mut Lower, v: u32| l.constant(Ty::I32, u128::from(v));
        let int = |o| Op::Int(o, Ty::I32);
        let magnitude_mask = c(l, 0x7fff_ffff);
        let magnitude = l.op1(int(IntOp::And), &[x, magnitude_mask]);
        let code = match rounding {
            Rounding::Nearest => self.nearest(l, magnitude),
            Rounding::Stochastic(random) => self.stochastic(l, magnitude, random),
        };
        let limit = l.constant(Ty::I32, limit);
        let code = l.op1(int(IntOp::MinU), &[code, limit]);
        let top = c(l, 31);
        let sign = l.op1(Op::Shift(ShiftOp::ShrU, Ty::I32), &[x, top]);
        let code = if relu {
            let zero = c(l, 0);
            let negative = l.op1(Op::IntCmp(IntCmp::Ne, Ty::I32), &[sign, zero]);
            l.op1(Op::Select(Ty::I32), &[negative, zero, code])
        } else {
            let place = c(l, self.sign_shift());
            let sign = l.op1(Op::Shift(ShiftOp::Shl, Ty::I32), &[sign, place]);
            l.op1(int(IntOp::Or), &[code, sign])
        };
        // A format without NaN returns its largest number.
        let nan = l.constant(Ty::I32, self.nan.unwrap_or(self.largest));
        let is_nan = l.op1(Op::FloatCmp { cmp: FloatCmp::Nan, fmt: Fmt::F32, ftz: false }, &[x, x]);
        l.op1(Op::Select(Ty::I32), &[is_nan, nan, code])
    }

    /// Converts a code in an i16 to f16, which can hold every value of these formats.
    fn decode(self, l: &mut Lower, code: Value, relu: bool) -> Value {
        let c = |l: &mut Lower, v: u32| l.constant(Ty::I16, u128::from(v));
        let int = |o| Op::Int(o, Ty::I16);
        let mask = c(l, (1 << self.sign_shift()) - 1);
        let magnitude = l.op1(int(IntOp::And), &[code, mask]);
        // Moving the fraction into f16's position leaves only the bias wrong; multiplying by a power of two
        // corrects it, for subnormals too.
        let place = l.constant(Ty::I32, u128::from(F16_FRACTION - self.fraction));
        let bits = l.op1(Op::Shift(ShiftOp::Shl, Ty::I16), &[magnitude, place]);
        let scale = c(l, (2 * F16_BIAS - self.bias) << F16_FRACTION);
        let value = l.op1(Op::Float(FloatOp::Mul, FloatMode::rn(Fmt::F16)), &[bits, scale]);
        let sign_bit = c(l, 1 << self.sign_shift());
        let sign = l.op1(int(IntOp::And), &[code, sign_bit]);
        let zero = c(l, 0);
        let value = if relu {
            let negative = l.op1(Op::IntCmp(IntCmp::Ne, Ty::I16), &[sign, zero]);
            l.op1(Op::Select(Ty::I16), &[negative, zero, value])
        } else {
            let up = l.constant(Ty::I32, u128::from(15 - self.sign_shift()));
            let sign = l.op1(Op::Shift(ShiftOp::Shl, Ty::I16), &[sign, up]);
            l.op1(int(IntOp::Or), &[value, sign])
        };
        if self.nan.is_none() {
            return value;
        }
        // Codes above the largest number, and above e5m2's infinity, are NaN.
        let last = c(l, if self.exponent == 5 { 0x7c } else { self.largest as u32 });
        let is_nan = l.op1(Op::IntCmp(IntCmp::GtU, Ty::I16), &[magnitude, last]);
        let nan = c(l, 0x7fff);
        l.op1(Op::Select(Ty::I16), &[is_nan, nan, value])
    }
}

/// `cvt` to a pair of narrow floats, from two f32 (the first becomes the upper one) or from a pair of 16-bit
/// floats.
pub fn to_pair(l: &mut Lower, i: &Instruction, d: ScalarType, s: ScalarType) -> Result<()> {
    let (Some((format, bits)), Some(from)) = (Narrow::of_pair(d), fmt_of(s)) else {
        return l.unsupported(i, "this format");
    };
    let sources = match (s.lanes(), i.operands.len()) {
        (1, 3) => vec![l.value(&i.operands[2], s)?, l.value(&i.operands[1], s)?],
        (2, 2) => {
            let both = l.value(&i.operands[1], s)?;
            l.op(Op::Unpack { part: Ty::I16, whole: Ty::I32 }, &[both])
        }
        _ => return l.unsupported(i, "this form"),
    };
    let mut codes = Vec::new();
    for x in sources {
        let wide = match from {
            Fmt::F32 => x,
            _ => l.op1(Op::FloatToFloat { from, mode: FloatMode::rn(Fmt::F32), relu: false }, &[x]),
        };
        codes.push(format.encode(l, wide, i.has(M::Relu), Rounding::Nearest, format.largest));
    }
    let v = join(l, &codes, bits);
    let v = l.resize(v, ty_of(d), false);
    l.write_dest(&i.operands[0], v, false)
}

/// Concatenates codes in i32, the first lowest.
fn join(l: &mut Lower, codes: &[Value], bits: u32) -> Value {
    let up = l.constant(Ty::I32, u128::from(bits));
    let zero = l.constant(Ty::I32, 0);
    codes.iter().rev().fold(zero, |all, &code| {
        let all = l.op1(Op::Shift(ShiftOp::Shl, Ty::I32), &[all, up]);
        l.op1(Op::Int(IntOp::Or, Ty::I32), &[all, code])
    })
}

/// `cvt.rs`: f32 rounded with random bits. Of two values, each has its own half of the bits (13 for f16). Of
/// four, each pair shares 16 bits: the manual says which ones but not how the pair divides them, so here both
/// values use all 16.
pub fn stochastic(l: &mut Lower, i: &Instruction, d: ScalarType) -> Result<()> {
    let Some((format, bits)) = Narrow::of_group(d) else { return l.unsupported(i, "this format") };
    let sources: Vec<&Operand> = match i.operands.as_slice() {
        [_, a, b, _] => vec![a, b],
        [_, group, _] => group.elements().iter().collect(),
        _ => return l.unsupported(i, "this form"),
    };
    let Some(last) = i.operands.last() else { return l.unsupported(i, "this form") };
    let random = l.value(last, ScalarType::B32)?;
    let field = |l: &mut Lower, position: u128, length: u128, up: u128| {
        let (position, length, up) =
            (l.constant(Ty::I32, position), l.constant(Ty::I32, length), l.constant(Ty::I32, up));
        let v = l.op1(Op::Bfe { signed: false, ty: Ty::I32 }, &[random, position, length]);
        l.op1(Op::Shift(ShiftOp::Shl, Ty::I32), &[v, up])
    };
    let halves = match d {
        // The first source is the upper one.
        S::F16x2 => [field(l, 16, 13, 3), field(l, 0, 13, 3)],
        // The upper bytes of both halves of the random bits, and then the lower bytes.
        S::E2m1x4 => [(24, 8), (16, 0)].map(|(high, low)| {
            let (high, low) = (field(l, high, 8, 8), field(l, low, 8, 0));
            l.op1(Op::Int(IntOp::Or, Ty::I32), &[high, low])
        }),
        _ => [field(l, 16, 16, 0), field(l, 0, 16, 0)],
    };
    let halves = halves.map(|v| l.resize(v, Ty::I64, false));
    let limit = match format.nan {
        // The code after the largest number is infinity.
        Some(_) if !i.has(M::Satfinite) => format.largest + 1,
        _ => format.largest,
    };
    let each = sources.len() / 2;
    let mut codes = Vec::new();
    for (n, source) in sources.iter().enumerate() {
        let x = l.value(source, ScalarType::F32)?;
        let random = halves[usize::from(n >= each)];
        codes.push(format.encode(l, x, i.has(M::Relu), Rounding::Stochastic(random), limit));
    }
    codes.reverse();
    let v = join(l, &codes, bits);
    let v = l.resize(v, ty_of(d), false);
    l.write_dest(&i.operands[0], v, false)
}

/// `cvt` from a pair of narrow floats to a pair of 16-bit floats, each scaled if a scale is given.
pub fn from_pair(l: &mut Lower, i: &Instruction, d: ScalarType, s: ScalarType) -> Result<()> {
    let (Some((format, bits)), Some(to), 2) = (Narrow::of_pair(s), fmt_of(d), d.lanes()) else {
        return l.unsupported(i, "this format");
    };
    let factors = scale::factors(l, i)?;
    let both = l.value(&i.operands[1], s)?;
    let both = l.resize(both, Ty::I16, false);
    let down = l.constant(Ty::I32, u128::from(bits));
    let upper = l.op1(Op::Shift(ShiftOp::ShrU, Ty::I16), &[both, down]);
    let mask = l.constant(Ty::I16, (1 << bits) - 1);
    let lower = l.op1(Op::Int(IntOp::And, Ty::I16), &[both, mask]);
    let mut halves = Vec::new();
    for code in [lower, upper] {
        let mut v = format.decode(l, code, i.has(M::Relu));
        if let Some(factors) = &factors {
            let wide = FloatMode::rn(Fmt::F32);
            v = l.op1(Op::FloatToFloat { from: Fmt::F16, mode: wide, relu: false }, &[v]);
            v = l.op1(Op::Float(FloatOp::Mul, wide), &[v, factors[halves.len()]]);
        }
        let from = if factors.is_some() { Fmt::F32 } else { Fmt::F16 };
        if to != from {
            v = l.op1(Op::FloatToFloat { from, mode: FloatMode::rn(to), relu: false }, &[v]);
        }
        if i.has(M::Satfinite) {
            v = finite(l, to, v);
        }
        halves.push(v);
    }
    let v = l.op1(Op::Pack { part: Ty::I16, whole: Ty::I32 }, &halves);
    l.write_dest(&i.operands[0], v, false)
}
