//! The approximate functions, within the error bounds that the PTX manual states for each instruction.

use wave::Ty;
use wave::op::{ApproxOp, Round};
use wave::types::Fmt;

use super::float::one_bits;
use super::{Emit, Result, Unsupported, round};
use crate::ir::{Bin, Cmp, Fcmp, Lanes, Likely, Operand, Type};

/// 2^x on [-0.5, 0.5], lowest power first: minimal relative error (2^-28.5) with 1 at 0.
const EXP2: [f32; 7] =
    [1.0, 0.693_147_24, 0.240_226_52, 0.055_503_103, 0.009_617_693, 0.001_340_664_3, 0.000_155_946_76];

/// log2(1 + t) / t on [-0.25, 0.5], lowest power first (2^-25.1).
const LOG2: [f32; 9] = [
    std::f32::consts::LOG2_E,
    -0.721_348_46,
    0.480_902_08,
    -0.360_575_9,
    0.288_191_5,
    -0.242_723_52,
    0.216_324_87,
    -0.174_230_25,
    0.078_066_75,
];

/// sin(x) / x on [-pi/2, pi/2] by powers of x^2 (absolute error 2^-27.7).
const SINE: [f32; 5] = [1.0, -0.166_666_57, 0.008_333_017, -0.000_198_066_02, 2.600_024_6e-6];

/// pi as a sum of three positive floats: their signs keep that of a zero operand.
const PI: [f32; 3] = [3.141_592_5, 1.509_957_9e-7, 1.078_060_5e-14];

/// Added to a float of moderate size, it leaves the nearest integer in the low bits.
const MAGIC: f32 = 12_582_912.0;

fn constant(e: &mut Emit, v: f32) -> Operand {
    e.flit(Fmt::F32, u128::from(v.to_bits()))
}

/// `a * b + c` on f32 floats.
fn fma(e: &mut Emit, a: Operand, b: Operand, c: Operand) -> Operand {
    e.math("llvm.fma", &[a, b, c])
}

/// A polynomial by Horner's rule, lowest coefficient first.
fn polynomial(e: &mut Emit, x: Operand, coefficients: &[f32]) -> Operand {
    let mut rest = coefficients.iter().rev();
    let first = rest.next().copied().unwrap_or(0.0);
    let mut sum = constant(e, first);
    for c in rest {
        let c = constant(e, *c);
        sum = fma(e, sum, x, c);
    }
    sum
}

pub fn emit(e: &mut Emit, op: ApproxOp, fmt: Fmt, ftz: bool, a: Operand, b: Operand) -> Result<Operand> {
    if fmt == Fmt::F64 {
        return double(e, op, ftz, a);
    }
    if fmt != Fmt::F32 {
        // f16 and bf16: the function of the widened value, rounded; far within the bound.
        let x = e.flush(fmt, ftz, a);
        let (_, x) = e.widen(fmt, x);
        let x = e.as_bits(Fmt::F32, x);
        let r = emit(e, op, Fmt::F32, false, x, b)?;
        let r = e.as_float(Fmt::F32, r);
        let r = round::narrow(e, Fmt::F32, fmt, Round::Rn, r, false);
        return Ok(e.flush(fmt, ftz, r));
    }
    if op == ApproxOp::Rsqrt && e.avx512 && e.lanes == Lanes::Warp {
        return Ok(usually(e, a, refined_rsqrt, |e| general(e, op, ftz, a, b)));
    }
    Ok(general(e, op, ftz, a, b))
}

/// Emits a fast version for operands that are positive normal numbers in all lanes, as they usually are, and
/// a general version for all others.
fn usually(
    e: &mut Emit,
    a: Operand,
    usual: impl FnOnce(&mut Emit, Operand) -> Operand,
    rare: impl FnOnce(&mut Emit) -> Operand,
) -> Operand {
    let a = e.ir.freeze(a);
    let least = e.lit(Ty::I32, 0x0080_0000);
    let range = e.lit(Ty::I32, 0x7f00_0000);
    let above = e.bin(Bin::Sub, a, least);
    let normal = e.icmp(Cmp::Ult, above, range);
    let lanes = if let Type::Vector(lanes, _) = a.ty() { usize::from(lanes) } else { 1 };
    let bits = e.ir.bitcast(normal, Type::bits_of(lanes));
    let all = e.ir.icmp_int(Cmp::Eq, bits, -1);
    let (fast, slow, end) = (e.ir.fresh("usual"), e.ir.fresh("rare"), e.ir.fresh("either"));
    e.ir.br_likely(all, fast, slow, Likely::First);
    e.ir.label(fast);
    let x = e.as_float(Fmt::F32, a);
    let u = usual(e, x);
    let u = e.as_bits(Fmt::F32, u);
    e.ir.br(end);
    e.ir.label(slow);
    let r = rare(e);
    e.ir.br(end);
    e.ir.label(end);
    e.ir.phi(a.ty(), vec![(u, fast), (r, slow)])
}

fn general(e: &mut Emit, op: ApproxOp, ftz: bool, a: Operand, b: Operand) -> Operand {
    let fmt = Fmt::F32;
    // LLVM folds constants without flushing all of them.
    let ftz = ftz && (!e.flushes || a.is_constant());
    let a = e.flush(fmt, ftz, a);
    let x = e.as_float(fmt, a);
    let r = match op {
        ApproxOp::Rcp => reciprocal(e, x),
        ApproxOp::Sqrt => e.math("llvm.sqrt", &[x]),
        ApproxOp::Rsqrt => rsqrt(e, x),
        ApproxOp::Ex2 => exp2(e, x),
        ApproxOp::Lg2 => log2(e, a, x),
        ApproxOp::Sin => sine(e, x, false),
        ApproxOp::Cos => sine(e, x, true),
        ApproxOp::Tanh => tanh(e, x),
        ApproxOp::Div | ApproxOp::DivFull => {
            let b = e.flush(fmt, ftz, b);
            let y = e.as_float(fmt, b);
            let q = e.bin(Bin::FDiv, x, y);
            if op == ApproxOp::DivFull {
                q
            } else {
                // Beyond 2^126 the hardware multiplies by a reciprocal of 0: the quotient is 0 (NaN for
                // infinity).
                let ty = fmt.ty();
                let (m, limit, inf) =
                    (e.lit(ty, 0x7fff_ffff), e.lit(ty, 0x7e80_0000), e.lit(ty, 0x7f80_0000));
                let size = e.bin(Bin::And, b, m);
                let big = e.icmp(Cmp::Ugt, size, limit);
                let finite = e.icmp(Cmp::Ult, size, inf);
                let big = e.bin(Bin::And, big, finite);
                let zero = e.lit(ty, 0);
                let signed_zero = super::float::copysign(e, fmt, zero, b);
                let z = e.as_float(fmt, signed_zero);
                let product = e.bin(Bin::FMul, x, z);
                let (p, q) = (e.as_bits(fmt, product), e.as_bits(fmt, q));
                let r = e.select(big, p, q);
                e.as_float(fmt, r)
            }
        }
    };
    let r = e.as_bits(fmt, r);
    let r = e.flush(fmt, ftz, r);
    e.canonical(fmt, r)
}

/// `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64` compute the upper half only; the correctly rounded value
/// is within their bound.
fn double(e: &mut Emit, op: ApproxOp, ftz: bool, a: Operand) -> Result<Operand> {
    let upper = e.lit(Ty::I64, !0xffff_ffffu128);
    let a = e.flush(Fmt::F64, ftz, a);
    let x = e.as_float(Fmt::F64, a);
    let one = e.flit(Fmt::F64, one_bits(Fmt::F64));
    let r = match op {
        ApproxOp::Rcp => e.bin(Bin::FDiv, one, x),
        ApproxOp::Rsqrt => {
            let s = e.math("llvm.sqrt", &[x]);
            e.bin(Bin::FDiv, one, s)
        }
        _ => return Err(Unsupported(format!("{} of f64", op.name()))),
    };
    let r = e.as_bits(Fmt::F64, r);
    let r = e.bin(Bin::And, r, upper);
    Ok(e.flush(Fmt::F64, ftz, r))
}

/// An AVX-512 instruction with one f32 operand, immediate operands after it, and an unused pass-through.
fn estimate(
    e: &mut Emit,
    name: &'static str,
    x: Operand,
    immediate: Option<i64>,
    exceptions: bool,
) -> Operand {
    e.pieces(16, &[x], |e, parts| {
        let part = parts[0].ty();
        let mut args = vec![parts[0]];
        args.extend(immediate.map(Operand::i32));
        args.push(Operand::zero(part));
        args.push(Operand::int(Type::I16, -1));
        if exceptions {
            args.push(Operand::i32(8));
        }
        e.ir.intrinsic(name, [None; 2], part, &args)
    })
}

/// `x * 2^floor(n)`, rounded once (AVX-512).
fn scale(e: &mut Emit, x: Operand, n: Operand) -> Operand {
    e.pieces(16, &[x, n], |e, parts| {
        let part = parts[0].ty();
        let args = [parts[0], parts[1], Operand::zero(part), Operand::int(Type::I16, -1), Operand::i32(8)];
        e.ir.intrinsic("llvm.x86.avx512.mask.scalef.ps.512", [None; 2], part, &args)
    })
}

fn negative(e: &mut Emit, x: Operand) -> Operand {
    e.ir.fneg(x)
}

/// Clamps `x`; NaN stays NaN.
fn clamp(e: &mut Emit, x: Operand, low: f32, high: f32) -> Operand {
    let (low, high) = (constant(e, low), constant(e, high));
    let above = e.fcmp(Fcmp::Ogt, x, high);
    let x = e.select(above, high, x);
    let below = e.fcmp(Fcmp::Olt, x, low);
    e.select(below, low, x)
}

/// `better` unless it is NaN. A Newton step turns infinities and zeros into NaN; for these the estimate is
/// right.
fn unless_nan(e: &mut Emit, better: Operand, estimate: Operand) -> Operand {
    let bad = e.fcmp(Fcmp::Uno, better, better);
    e.select(bad, estimate, better)
}

/// 1/x: with AVX-512 a 14-bit estimate and one Newton step.
///
/// The estimate is made one part in 2^23 larger. Otherwise the step from 0.5, the estimate for the largest
/// number below 2, ends in a tie and gives 0.5, where the hardware gives the next number. nvcc's division of
/// 128-bit integers takes the digits of such results and never expects those of 0.5.
fn reciprocal(e: &mut Emit, x: Operand) -> Operand {
    let one = constant(e, 1.0);
    if !e.avx512 {
        return e.bin(Bin::FDiv, one, x);
    }
    let estimated = estimate(e, "llvm.x86.avx512.rcp14.ps.512", x, None, false);
    let larger = constant(e, 1.0 + f32::EPSILON);
    let y = e.bin(Bin::FMul, estimated, larger);
    let minus = negative(e, x);
    let rest = fma(e, minus, y, one);
    let better = fma(e, y, rest, y);
    unless_nan(e, better, estimated)
}

/// 1/sqrt(x): with AVX-512 a 14-bit estimate and one Newton step.
fn rsqrt(e: &mut Emit, x: Operand) -> Operand {
    let one = constant(e, 1.0);
    if !e.avx512 {
        let s = e.math("llvm.sqrt", &[x]);
        return e.bin(Bin::FDiv, one, s);
    }
    let y = estimate(e, "llvm.x86.avx512.rsqrt14.ps.512", x, None, false);
    let better = refine_rsqrt(e, x, y);
    unless_nan(e, better, y)
}

/// 1/sqrt(x) for positive normal numbers.
fn refined_rsqrt(e: &mut Emit, x: Operand) -> Operand {
    let y = estimate(e, "llvm.x86.avx512.rsqrt14.ps.512", x, None, false);
    refine_rsqrt(e, x, y)
}

/// y' = y + y/2 * (1 - x y^2), with the residual from a fused operation.
fn refine_rsqrt(e: &mut Emit, x: Operand, y: Operand) -> Operand {
    let (one, half) = (constant(e, 1.0), constant(e, 0.5));
    let xy = e.bin(Bin::FMul, x, y);
    let minus = negative(e, xy);
    let rest = fma(e, minus, y, one);
    let h = e.bin(Bin::FMul, y, half);
    fma(e, h, rest, y)
}

/// The nearest integer to a number below 2^22, as a float, and a word with that integer in its low bits.
fn nearest(e: &mut Emit, x: Operand) -> (Operand, Operand) {
    let magic = constant(e, MAGIC);
    let sum = e.bin(Bin::FAdd, x, magic);
    let bits = e.as_bits(Fmt::F32, sum);
    (e.bin(Bin::FSub, sum, magic), bits)
}

/// 2^x: x = n + f, a polynomial for 2^f, and n added to its exponent.
fn exp2(e: &mut Emit, x: Operand) -> Operand {
    if e.avx512 {
        // The reduction gives 0 for infinities; the scaling then handles them.
        let n = e.math("llvm.roundeven", &[x]);
        let f = estimate(e, "llvm.x86.avx512.mask.reduce.ps.512", x, Some(8), true);
        let m = polynomial(e, f, &EXP2);
        return scale(e, m, n);
    }
    let y = clamp(e, x, -160.0, 129.0);
    let (n, bits) = nearest(e, y);
    let f = e.bin(Bin::FSub, y, n);
    let m = polynomial(e, f, &EXP2);
    // Scale by two factors, so that subnormal results are rounded only once.
    let ty = Ty::I32;
    let base = e.lit(ty, u128::from(MAGIC.to_bits()));
    let n = e.bin(Bin::Sub, bits, base);
    let one = e.lit(ty, 1);
    let first = e.bin(Bin::AShr, n, one);
    let second = e.bin(Bin::Sub, n, first);
    let mut out = m;
    for part in [first, second] {
        let (bias, shift) = (e.lit(ty, 127), e.lit(ty, 23));
        let biased = e.bin(Bin::Add, part, bias);
        let bits = e.bin(Bin::Shl, biased, shift);
        let factor = e.as_float(Fmt::F32, bits);
        out = e.bin(Bin::FMul, out, factor);
    }
    out
}

/// log2: exponent plus log2 of the significand m in [0.75, 1.5).
fn log2(e: &mut Emit, bits: Operand, x: Operand) -> Operand {
    let one = constant(e, 1.0);
    if e.avx512 {
        // The significand of a negative number is NaN. For 0 and infinity, the exponent is infinite and the
        // significand 1.
        let m = estimate(e, "llvm.x86.avx512.mask.getmant.ps.512", x, Some(0b1011), true);
        let all = estimate(e, "llvm.x86.avx512.mask.getexp.ps.512", x, None, true);
        let own = estimate(e, "llvm.x86.avx512.mask.getexp.ps.512", m, None, true);
        let n = e.bin(Bin::FSub, all, own);
        let t = e.bin(Bin::FSub, m, one);
        let q = polynomial(e, t, &LOG2);
        return fma(e, t, q, n);
    }
    let ty = Ty::I32;
    // Scale subnormals up first.
    let smallest = constant(e, f32::MIN_POSITIVE);
    let tiny = e.fcmp(Fcmp::Olt, x, smallest);
    let scale = constant(e, 8_388_608.0);
    let scaled = e.bin(Bin::FMul, x, scale);
    let scaled_bits = e.as_bits(Fmt::F32, scaled);
    let b = e.select(tiny, scaled_bits, bits);
    let (middle, fraction, shift) = (e.lit(ty, 0x3f40_0000), e.lit(ty, 0x007f_ffff), e.lit(ty, 23));
    let d = e.bin(Bin::Sub, b, middle);
    let exponent = e.bin(Bin::AShr, d, shift);
    let low = e.bin(Bin::And, d, fraction);
    let m = e.bin(Bin::Add, low, middle);
    let m = e.as_float(Fmt::F32, m);
    let (extra, zero) = (constant(e, -23.0), constant(e, 0.0));
    let n = e.float_of(true, Fmt::F32, exponent);
    let bias = e.select(tiny, extra, zero);
    let n = e.bin(Bin::FAdd, n, bias);
    let t = e.bin(Bin::FSub, m, one);
    let q = polynomial(e, t, &LOG2);
    let r = fma(e, t, q, n);
    // log2 of 0 is -inf, of negative numbers NaN; infinity and NaN map to themselves.
    let (pinf, ninf) = (constant(e, f32::INFINITY), constant(e, f32::NEG_INFINITY));
    let nan = e.flit(Fmt::F32, 0x7fff_ffff);
    let is_zero = e.fcmp(Fcmp::Oeq, x, zero);
    let r = e.select(is_zero, ninf, r);
    let negative = e.fcmp(Fcmp::Ult, x, zero);
    let r = e.select(negative, nan, r);
    let big = e.fcmp(Fcmp::Oeq, x, pinf);
    e.select(big, pinf, r)
}

/// sin or cos: the distance r from the nearest zero k*pi (cos: (k + 1/2)*pi), then the sine's polynomial with
/// k's sign.
fn sine(e: &mut Emit, x: Operand, cosine: bool) -> Operand {
    let ty = Ty::I32;
    let inverse = constant(e, std::f32::consts::FRAC_1_PI);
    let half = constant(e, 0.5);
    let (k, bits) = if cosine {
        let minus = constant(e, -0.5);
        let turns = fma(e, x, inverse, minus);
        let (k, bits) = nearest(e, turns);
        (e.bin(Bin::FAdd, k, half), bits)
    } else {
        let turns = e.bin(Bin::FMul, x, inverse);
        nearest(e, turns)
    };
    let mut r = x;
    for part in PI {
        let c = constant(e, -part);
        r = fma(e, k, c, r);
    }
    let r2 = e.bin(Bin::FMul, r, r);
    let s = polynomial(e, r2, &SINE);
    let s = e.bin(Bin::FMul, s, r);
    // At its ends the polynomial may round above 1, and for operands too large for the reduction r is
    // arbitrary. Infinities are NaN here.
    let s = clamp(e, s, -1.0, 1.0);
    let n = if cosine {
        let ones = e.lit(ty, ty.mask());
        e.bin(Bin::Xor, bits, ones)
    } else {
        bits
    };
    let shift = e.lit(ty, 31);
    let flip = e.bin(Bin::Shl, n, shift);
    let v = e.as_bits(Fmt::F32, s);
    let v = e.bin(Bin::Xor, v, flip);
    e.as_float(Fmt::F32, v)
}

/// tanh: 1 - 2 / (e^2x + 1), and a series for small x.
fn tanh(e: &mut Emit, x: Operand) -> Operand {
    let c = constant(e, 2.0 * std::f32::consts::LOG2_E);
    let y = e.bin(Bin::FMul, x, c);
    let y = exp2(e, y);
    let (one, minus_two) = (constant(e, 1.0), constant(e, -2.0));
    let d = e.bin(Bin::FAdd, y, one);
    let q = reciprocal(e, d);
    let big = fma(e, q, minus_two, one);
    let x2 = e.bin(Bin::FMul, x, x);
    let series = polynomial(e, x2, &[1.0, -0.333_333_34, 0.133_333_34]);
    let small = e.bin(Bin::FMul, x, series);
    let limit = constant(e, 0.015_625);
    let near = e.fcmp(Fcmp::Olt, x2, limit);
    e.select(near, small, big)
}
