//! Float operations. Values are passed as integers; each operation bitcasts them, which costs nothing in
//! machine code.

use wave::Ty;
use wave::op::{FloatCmp, FloatMode, FloatOp, FloatUnOp, Round};
use wave::types::Fmt;

use super::round::Directed;
use super::{Emit, Result, known, round};
use crate::ir::{Bin, Cast, Cmp, Elem, Fcmp, Operand};

impl Emit<'_> {
    /// Bitcasts integer bits to a float.
    pub fn as_float(&mut self, fmt: Fmt, a: Operand) -> Operand {
        self.ir.bitcast(a, a.ty().with(Elem::Float(fmt)))
    }

    /// Bitcasts a float to integer bits.
    pub fn as_bits(&mut self, fmt: Fmt, a: Operand) -> Operand {
        self.ir.bitcast(a, a.ty().with(Elem::of(fmt.ty())))
    }

    /// A float constant, given by its bits.
    pub fn flit(&mut self, fmt: Fmt, bits: u128) -> Operand {
        let lit = self.lit(fmt.ty(), bits);
        self.as_float(fmt, lit)
    }

    /// Converts an integer to the nearest float.
    pub fn float_of(&mut self, signed: bool, fmt: Fmt, a: Operand) -> Operand {
        let how = if signed { Cast::SiToFp } else { Cast::UiToFp };
        self.ir.cast(how, a, a.ty().with(Elem::Float(fmt)))
    }

    /// Widens an f16 or bf16 to f32, which is exact; f32 and f64 stay.
    pub fn widen(&mut self, fmt: Fmt, a: Operand) -> (Fmt, Operand) {
        match fmt {
            Fmt::F16 => {
                let x = self.as_float(fmt, a);
                (Fmt::F32, self.extend(fmt, Fmt::F32, x))
            }
            Fmt::BF16 => {
                let wide = self.cast(Cast::ZExt, Ty::I32, a);
                let n = self.lit(Ty::I32, 16);
                let bits = self.bin(Bin::Shl, wide, n);
                (Fmt::F32, self.as_float(Fmt::F32, bits))
            }
            _ => (fmt, self.as_float(fmt, a)),
        }
    }

    /// Extends a float to a wider format, exactly.
    pub fn extend(&mut self, from: Fmt, to: Fmt, x: Operand) -> Operand {
        debug_assert_eq!(x.ty().elem(), Elem::Float(from));
        self.ir.cast(Cast::FpExt, x, x.ty().with(Elem::Float(to)))
    }

    /// Replaces a subnormal by a zero of the same sign.
    pub fn flush(&mut self, fmt: Fmt, ftz: bool, a: Operand) -> Operand {
        if !ftz {
            return a;
        }
        let ty = fmt.ty();
        let exponent = self.lit(ty, exponent_mask(fmt));
        let x = self.bin(Bin::And, a, exponent);
        let none = self.lit(ty, 0);
        let small = self.icmp(Cmp::Eq, x, none);
        let sign = self.lit(ty, sign_mask(fmt));
        let zero = self.bin(Bin::And, a, sign);
        self.select(small, zero, a)
    }

    /// Replaces NaN by the one that the hardware's arithmetic produces. f64 arithmetic keeps an operand's
    /// NaN, as the processor does.
    pub fn canonical(&mut self, fmt: Fmt, a: Operand) -> Operand {
        if fmt == Fmt::F64 || (fmt == Fmt::F32 && self.any_nan) {
            return a;
        }
        let (_, x) = self.widen(fmt, a);
        let is_nan = self.fcmp(Fcmp::Uno, x, x);
        let nan = self.lit(fmt.ty(), wave::interp::float::canonical_nan(fmt));
        self.select(is_nan, nan, a)
    }

    /// A result as bits: rounded from `wide` to the mode's format, flushed, saturated, and with a canonical
    /// NaN.
    fn finish(&mut self, mode: FloatMode, wide: Fmt, x: Operand) -> Operand {
        let x = if mode.ftz && wide != mode.fmt { self.flush_wide(mode, wide, x) } else { x };
        let bits = if wide == mode.fmt {
            let bits = self.as_bits(mode.fmt, x);
            self.flush(mode.fmt, mode.ftz, bits)
        } else {
            round::narrow(self, wide, mode.fmt, mode.round, x, mode.sat)
        };
        if mode.sat {
            return self.saturate(mode.fmt, bits);
        }
        // Narrowing has canonicalised it already.
        if wide == mode.fmt { self.canonical(mode.fmt, bits) } else { bits }
    }

    /// Flushes results that are subnormal in the mode's format when rounded with an unbounded exponent; `x`
    /// is more precise.
    pub fn flush_wide(&mut self, mode: FloatMode, wide: Fmt, x: Operand) -> Operand {
        let (precision, least) = precision_and_least(mode.fmt);
        // Half an ulp below the least normal number, in ulps of the numbers below it.
        let smallest = f64::from(least).exp2();
        let step = f64::from(least - precision).exp2();
        let (m, s) = (self.lit(wide.ty(), !sign_mask(wide)), self.lit(wide.ty(), sign_mask(wide)));
        let bits = self.as_bits(wide, x);
        let size = self.bin(Bin::And, bits, m);
        let size = self.as_float(wide, size);
        let zero = self.bin(Bin::And, bits, s);
        let zero = self.as_float(wide, zero);
        let below = |e: &mut Emit, cmp: Fcmp, limit: f64| {
            let limit = e.flit(wide, float_bits(wide, limit));
            e.fcmp(cmp, size, limit)
        };
        let tiny = match mode.round {
            Round::Rz => below(self, Fcmp::Olt, smallest),
            Round::Rn | Round::Rna => below(self, Fcmp::Olt, smallest - step / 2.0),
            Round::Rm | Round::Rp => {
                let away = below(self, Fcmp::Ole, smallest - step);
                let toward = below(self, Fcmp::Olt, smallest);
                let none = self.lit(wide.ty(), 0);
                let negative = self.icmp(Cmp::Slt, bits, none);
                let (yes, no) = if mode.round == Round::Rm { (away, toward) } else { (toward, away) };
                self.select(negative, yes, no)
            }
        };
        self.select(tiny, zero, x)
    }

    /// Clamps to [0, 1]; NaN and -0 become +0.
    pub fn saturate(&mut self, fmt: Fmt, bits: Operand) -> Operand {
        let (wide, x) = self.widen(fmt, bits);
        let (zero, one) = (self.lit(fmt.ty(), 0), self.lit(fmt.ty(), one_bits(fmt)));
        let (zero_float, one_float) = (self.flit(wide, 0), self.flit(wide, one_bits(wide)));
        let positive = self.fcmp(Fcmp::Ogt, x, zero_float);
        let big = self.fcmp(Fcmp::Ogt, x, one_float);
        let r = self.select(positive, bits, zero);
        self.select(big, one, r)
    }
}

/// The sign bit.
pub fn sign_mask(fmt: Fmt) -> u128 {
    1 << (fmt.ty().bits() - 1)
}

/// The mask of the exponent.
pub fn exponent_mask(fmt: Fmt) -> u128 {
    match fmt {
        Fmt::F16 => 0x7c00,
        Fmt::BF16 => 0x7f80,
        Fmt::F32 => 0x7f80_0000,
        Fmt::F64 => 0x7ff0_0000_0000_0000,
    }
}

/// Number of significand bits, and the exponent of the smallest normal number.
fn precision_and_least(fmt: Fmt) -> (i32, i32) {
    match fmt {
        Fmt::F16 => (11, -14),
        Fmt::BF16 => (8, -126),
        Fmt::F32 => (24, -126),
        Fmt::F64 => (53, -1022),
    }
}

/// The bits of a number that f32 and f64 represent exactly.
fn float_bits(fmt: Fmt, v: f64) -> u128 {
    if fmt == Fmt::F64 { u128::from(v.to_bits()) } else { u128::from((v as f32).to_bits()) }
}

/// 1.0.
pub fn one_bits(fmt: Fmt) -> u128 {
    match fmt {
        Fmt::F16 => 0x3c00,
        Fmt::BF16 => 0x3f80,
        Fmt::F32 => 0x3f80_0000,
        Fmt::F64 => 0x3ff0_0000_0000_0000,
    }
}

/// The mode without flushing if the processor flushes. Operations on constants are excluded: LLVM folds some
/// of them without flushing.
fn by_processor(e: &Emit, mode: FloatMode, args: &[Operand]) -> FloatMode {
    let flushed = e.flushes && mode.fmt == Fmt::F32 && !args.iter().all(|a| a.is_constant());
    FloatMode { ftz: mode.ftz && !flushed, ..mode }
}

/// Whether LLVM may remove an f32 operation, such as one with 1 or 0, so that the processor does not flush.
fn neutral(op: FloatOp, a: Operand, b: Operand) -> bool {
    let is = |v: Operand, wanted: u32| known(v).is_some_and(|bits| bits & 0x7fff_ffff == wanted);
    match op {
        FloatOp::Add | FloatOp::Sub => is(a, 0) || is(b, 0),
        FloatOp::Mul => is(a, 0x3f80_0000) || is(b, 0x3f80_0000),
        FloatOp::Div => is(b, 0x3f80_0000),
        _ => true,
    }
}

pub fn binary(e: &mut Emit, op: FloatOp, mode: FloatMode, a: Operand, b: Operand) -> Result<Operand> {
    let mode = if neutral(op, a, b) { mode } else { by_processor(e, mode, &[a, b]) };
    let (a, b) = (e.flush(mode.fmt, mode.ftz, a), e.flush(mode.fmt, mode.ftz, b));
    let (name, directed) = match op {
        FloatOp::Add => (Bin::FAdd, Directed::Add),
        FloatOp::Sub => (Bin::FSub, Directed::Sub),
        FloatOp::Mul => (Bin::FMul, Directed::Mul),
        FloatOp::Div => (Bin::FDiv, Directed::Div),
        _ => {
            let r = extremum(e, op, mode, a, b);
            return Ok(r);
        }
    };
    let (mut wide, mut x) = e.widen(mode.fmt, a);
    let (_, mut y) = e.widen(mode.fmt, b);
    // Subnormal sums are exact; products and quotients may be rounded up to the least normal number and must
    // be flushed all the same. f16 and bf16 are computed in f32, which has more than twice their fraction
    // bits: double rounding is then harmless, except for subnormals of bf16.
    let scaling = matches!(op, FloatOp::Mul | FloatOp::Div);
    let exact = scaling && (mode.fmt == Fmt::BF16 || (mode.ftz && mode.fmt == Fmt::F32));
    let plain = if exact && mode.fmt == Fmt::F32 {
        // f64 only decides what is flushed; the result is the f32 one.
        let (x, y) = (e.extend(Fmt::F32, Fmt::F64, x), e.extend(Fmt::F32, Fmt::F64, y));
        Some(e.bin(name, x, y))
    } else {
        None
    };
    if exact && mode.fmt == Fmt::BF16 {
        (x, y) = (e.extend(wide, Fmt::F64, x), e.extend(wide, Fmt::F64, y));
        wide = Fmt::F64;
    }
    // The processor keeps the first operand's NaN, PTX the second's.
    let (x, y) = if matches!(op, FloatOp::Add | FloatOp::Mul) && wide == Fmt::F64 { (y, x) } else { (x, y) };
    let r = if mode.round == Round::Rn {
        e.bin(name, x, y)
    } else {
        round::directed(e, directed, mode.fmt, mode.round, &[x, y])?
    };
    Ok(finish_near(e, mode, wide, r, plain))
}

/// Like `finish`; `near` is the result in f64, which decides what is flushed.
fn finish_near(e: &mut Emit, mode: FloatMode, wide: Fmt, r: Operand, near: Option<Operand>) -> Operand {
    let Some(near) = near else { return e.finish(mode, wide, r) };
    let near = e.flush_wide(mode, Fmt::F64, near);
    let zero = e.flit(Fmt::F64, 0);
    let flushed = e.fcmp(Fcmp::Oeq, near, zero);
    let bits = e.as_bits(wide, r);
    let sign = e.lit(wide.ty(), sign_mask(wide));
    let none = e.bin(Bin::And, bits, sign);
    let r = e.select(flushed, none, bits);
    let r = e.as_float(wide, r);
    e.finish(FloatMode { ftz: false, ..mode }, wide, r)
}

/// Minimum and maximum with PTX's rules for NaN and zeros.
fn extremum(e: &mut Emit, op: FloatOp, mode: FloatMode, a: Operand, b: Operand) -> Operand {
    let fmt = mode.fmt;
    let (_, x) = e.widen(fmt, a);
    let (_, y) = e.widen(fmt, b);
    let min = matches!(op, FloatOp::Min | FloatOp::MinNan);
    // `a` if it is the smaller or larger one, or if `b` is NaN.
    let pick = e.fcmp(if min { Fcmp::Ult } else { Fcmp::Ugt }, x, y);
    let r = e.select(pick, a, b);
    // Equal operands differ at most in the sign of zero: the minimum ORs the signs, the maximum ANDs them.
    let equal = e.fcmp(Fcmp::Oeq, x, y);
    let tie = e.bin(if min { Bin::Or } else { Bin::And }, a, b);
    let r = e.select(equal, tie, r);
    let a_nan = e.fcmp(Fcmp::Uno, x, x);
    let r = if matches!(op, FloatOp::MinNan | FloatOp::MaxNan) {
        // The NaN operand, `b` before `a`.
        let b_nan = e.fcmp(Fcmp::Uno, y, y);
        let r = e.select(a_nan, a, r);
        e.select(b_nan, b, r)
    } else {
        e.select(a_nan, b, r)
    };
    let r = if fmt == Fmt::F64 { quiet(e, r) } else { r };
    if mode.sat { e.saturate(fmt, r) } else { e.canonical(fmt, r) }
}

/// An f64's bits with its NaN made quiet.
pub fn quiet(e: &mut Emit, bits: Operand) -> Operand {
    let x = e.as_float(Fmt::F64, bits);
    let is_nan = e.fcmp(Fcmp::Uno, x, x);
    let bit = e.lit(Ty::I64, 1 << 51);
    let q = e.bin(Bin::Or, bits, bit);
    e.select(is_nan, q, bits)
}

pub fn fma(e: &mut Emit, mode: FloatMode, a: Operand, b: Operand, c: Operand) -> Result<Operand> {
    let mode = by_processor(e, mode, &[a, b, c]);
    let args: Vec<Operand> = [a, b, c].iter().map(|v| e.flush(mode.fmt, mode.ftz, *v)).collect();
    let x: Vec<(Fmt, Operand)> = args.iter().map(|v| e.widen(mode.fmt, *v)).collect();
    let double =
        |e: &mut Emit| -> Vec<Operand> { x.iter().map(|(f, v)| e.extend(*f, Fmt::F64, *v)).collect() };
    match mode.fmt {
        // For f16, f64 holds as much of the exact result as one rounding needs.
        Fmt::F16 => {
            let d = double(e);
            let r = e.math("llvm.fma", &[d[0], d[1], d[2]]);
            Ok(e.finish(mode, Fmt::F64, r))
        }
        Fmt::BF16 if e.avx512 => {
            let r = round::odd_fma(e, x[0].1, x[1].1, x[2].1)?;
            Ok(e.finish(mode, Fmt::F32, r))
        }
        Fmt::BF16 => {
            let d = double(e);
            let p = e.bin(Bin::FMul, d[0], d[1]);
            let r = round::odd_sum(e, p, d[2]);
            Ok(e.finish(mode, Fmt::F64, r))
        }
        fmt => {
            // The processor keeps the first factor's NaN, PTX the second's.
            let args = if fmt == Fmt::F64 { [x[1].1, x[0].1, x[2].1] } else { [x[0].1, x[1].1, x[2].1] };
            let r = if mode.round == Round::Rn {
                e.math("llvm.fma", &args)
            } else {
                round::directed(e, Directed::Fma, fmt, mode.round, &args)?
            };
            let near = (mode.ftz && fmt == Fmt::F32).then(|| {
                let d = double(e);
                e.math("llvm.fma", &[d[0], d[1], d[2]])
            });
            Ok(finish_near(e, mode, fmt, r, near))
        }
    }
}

pub fn unary(e: &mut Emit, op: FloatUnOp, mode: FloatMode, a: Operand) -> Result<Operand> {
    if op == FloatUnOp::Rcp {
        let one = e.lit(mode.fmt.ty(), one_bits(mode.fmt));
        return binary(e, FloatOp::Div, mode, one, a);
    }
    let mode = if op == FloatUnOp::Sqrt { by_processor(e, mode, &[a]) } else { mode };
    let a = e.flush(mode.fmt, mode.ftz, a);
    let ty = mode.fmt.ty();
    match op {
        FloatUnOp::Neg | FloatUnOp::Abs => {
            let (how, mask) = if op == FloatUnOp::Neg {
                (Bin::Xor, sign_mask(mode.fmt))
            } else {
                (Bin::And, !sign_mask(mode.fmt))
            };
            let mask = e.lit(ty, mask);
            let r = e.bin(how, a, mask);
            let r = if mode.fmt == Fmt::F64 {
                let x = e.as_float(Fmt::F64, a);
                let is_nan = e.fcmp(Fcmp::Uno, x, x);
                let bit = e.lit(Ty::I64, 1 << 51);
                let q = e.bin(Bin::Or, a, bit);
                e.select(is_nan, q, r)
            } else {
                r
            };
            Ok(if mode.sat { e.saturate(mode.fmt, r) } else { e.canonical(mode.fmt, r) })
        }
        FloatUnOp::Sqrt | FloatUnOp::Rcp => {
            let (wide, x) = e.widen(mode.fmt, a);
            let r = if mode.round == Round::Rn {
                e.math("llvm.sqrt", &[x])
            } else {
                round::directed(e, Directed::Sqrt, mode.fmt, mode.round, &[x])?
            };
            Ok(e.finish(mode, wide, r))
        }
        FloatUnOp::RoundInt => {
            let name = match mode.round {
                Round::Rn => "llvm.roundeven",
                Round::Rz => "llvm.trunc",
                Round::Rm => "llvm.floor",
                Round::Rp => "llvm.ceil",
                Round::Rna => "llvm.round",
            };
            let (wide, x) = e.widen(mode.fmt, a);
            let r = e.math(name, &[x]);
            Ok(e.finish(mode, wide, r))
        }
    }
}

pub fn compare(e: &mut Emit, cmp: FloatCmp, fmt: Fmt, ftz: bool, a: Operand, b: Operand) -> Operand {
    let ftz = ftz && !(e.flushes && fmt == Fmt::F32);
    let (a, b) = (e.flush(fmt, ftz, a), e.flush(fmt, ftz, b));
    let name = match cmp {
        FloatCmp::Eq => Fcmp::Oeq,
        FloatCmp::Ne => Fcmp::One,
        FloatCmp::Lt => Fcmp::Olt,
        FloatCmp::Le => Fcmp::Ole,
        FloatCmp::Gt => Fcmp::Ogt,
        FloatCmp::Ge => Fcmp::Oge,
        FloatCmp::Equ => Fcmp::Ueq,
        FloatCmp::Neu => Fcmp::Une,
        FloatCmp::Ltu => Fcmp::Ult,
        FloatCmp::Leu => Fcmp::Ule,
        FloatCmp::Gtu => Fcmp::Ugt,
        FloatCmp::Geu => Fcmp::Uge,
        FloatCmp::Num => Fcmp::Ord,
        FloatCmp::Nan => Fcmp::Uno,
    };
    let (_, x) = e.widen(fmt, a);
    let (_, y) = e.widen(fmt, b);
    e.fcmp(name, x, y)
}

pub fn copysign(e: &mut Emit, fmt: Fmt, a: Operand, b: Operand) -> Operand {
    let (m, s) = (e.lit(fmt.ty(), !sign_mask(fmt)), e.lit(fmt.ty(), sign_mask(fmt)));
    let x = e.bin(Bin::And, a, m);
    let y = e.bin(Bin::And, b, s);
    e.bin(Bin::Or, x, y)
}
