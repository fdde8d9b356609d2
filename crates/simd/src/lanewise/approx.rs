//! The approximate functions, inside the error that the PTX manual states for each instruction.

use wave::Ty;
use wave::op::ApproxOp;
use wave::types::Fmt;

use super::float::one_bits;
use super::{Emit, Result, Unsupported};
use crate::text::{float as float_type, int as int_type};

/// Coefficients of 2^x on [-0.5, 0.5], lowest first (Taylor at 0; the remainder is below 2^-24 relative).
const EXP2: [f32; 7] =
    [1.0, std::f32::consts::LN_2, 0.240_226_5, 0.055_504_11, 0.009_618_129, 0.001_333_355_8, 0.000_154_035_3];

fn constant(e: &mut Emit, v: f32) -> String {
    e.flit(Fmt::F32, u128::from(v.to_bits()))
}

/// `a * b + c` on f32 floats.
fn fma(e: &mut Emit, a: &str, b: &str, c: &str) -> String {
    e.float_intrinsic("fma", Fmt::F32, &[a, b, c])
}

/// A polynomial by Horner's rule, lowest coefficient first.
fn polynomial(e: &mut Emit, x: &str, coefficients: &[f32]) -> String {
    let mut rest = coefficients.iter().rev();
    let first = rest.next().copied().unwrap_or(0.0);
    let mut sum = constant(e, first);
    for &c in rest {
        let c = constant(e, c);
        sum = fma(e, &sum, x, &c);
    }
    sum
}

pub fn emit(e: &mut Emit, op: ApproxOp, fmt: Fmt, ftz: bool, a: &str, b: &str) -> Result<String> {
    if fmt == Fmt::F64 {
        return double(e, op, a);
    }
    if fmt != Fmt::F32 {
        // Halves: the function of the widened value, rounded; far inside the bound.
        let f = float_type(fmt, e.lanes);
        let t = float_type(Fmt::F32, e.lanes);
        let x = e.flush(fmt, ftz, a);
        let x = e.as_float(fmt, &x);
        let x = e.text.def(format!("fpext {f} {x} to {t}"));
        let x = e.as_bits(Fmt::F32, &x);
        let r = emit(e, op, Fmt::F32, false, &x, b)?;
        let r = e.as_float(Fmt::F32, &r);
        let r = e.text.def(format!("fptrunc {t} {r} to {f}"));
        let r = e.as_bits(fmt, &r);
        return Ok(e.flush(fmt, ftz, &r));
    }
    let a = e.flush(fmt, ftz, a);
    let x = e.as_float(fmt, &a);
    let r = match op {
        ApproxOp::Rcp => {
            let one = e.flit(fmt, one_bits(fmt));
            e.fbin("fdiv", fmt, &one, &x)
        }
        ApproxOp::Sqrt => e.float_intrinsic("sqrt", fmt, &[&x]),
        ApproxOp::Rsqrt => rsqrt(e, &x),
        ApproxOp::Ex2 => exp2(e, &x),
        ApproxOp::Lg2 => log2(e, &a, &x),
        ApproxOp::Sin => sine(e, &x, false),
        ApproxOp::Cos => sine(e, &x, true),
        ApproxOp::Tanh => tanh(e, &x),
        ApproxOp::Div | ApproxOp::DivFull => {
            let b = e.flush(fmt, ftz, b);
            let y = e.as_float(fmt, &b);
            let q = e.fbin("fdiv", fmt, &x, &y);
            if op == ApproxOp::DivFull {
                q
            } else {
                // Beyond 2^126 the hardware multiplies by a reciprocal that is 0: the quotient is 0 (NaN of infinity).
                let ty = fmt.ty();
                let (m, limit, inf) =
                    (e.lit(ty, 0x7fff_ffff), e.lit(ty, 0x7e80_0000), e.lit(ty, 0x7f80_0000));
                let size = e.bin("and", ty, &b, &m);
                let big = e.icmp("ugt", ty, &size, &limit);
                let finite = e.icmp("ult", ty, &size, &inf);
                let big = e.bin("and", Ty::I1, &big, &finite);
                let zero = e.lit(ty, 0);
                let signed_zero = super::float::copysign(e, fmt, &zero, &b);
                let z = e.as_float(fmt, &signed_zero);
                let product = e.fbin("fmul", fmt, &x, &z);
                let (p, q) = (e.as_bits(fmt, &product), e.as_bits(fmt, &q));
                let r = e.select(ty, &big, &p, &q);
                e.as_float(fmt, &r)
            }
        }
    };
    let r = e.as_bits(fmt, &r);
    Ok(e.flush(fmt, ftz, &r))
}

/// `rcp.approx.ftz.f64` and `rsqrt.approx.f64` look at the upper half only; the correctly rounded value is inside their bound.
fn double(e: &mut Emit, op: ApproxOp, a: &str) -> Result<String> {
    let upper = e.lit(Ty::I64, !0xffff_ffffu128);
    let a = e.bin("and", Ty::I64, a, &upper);
    let x = e.as_float(Fmt::F64, &a);
    let one = e.flit(Fmt::F64, one_bits(Fmt::F64));
    let r = match op {
        ApproxOp::Rcp => e.fbin("fdiv", Fmt::F64, &one, &x),
        ApproxOp::Rsqrt => {
            let s = e.float_intrinsic("sqrt", Fmt::F64, &[&x]);
            e.fbin("fdiv", Fmt::F64, &one, &s)
        }
        _ => return Err(Unsupported(format!("{} of f64", op.name()))),
    };
    let r = e.as_bits(Fmt::F64, &r);
    Ok(e.bin("and", Ty::I64, &r, &upper))
}

/// 1/sqrt: AVX-512's 14-bit estimate and one Newton step (below 2^-22.9 relative, as the manual allows 2^-22.9), with the estimate
/// itself where the step would meet infinities; else by division.
fn rsqrt(e: &mut Emit, x: &str) -> String {
    let one = constant(e, 1.0);
    if !e.avx512 || e.lanes == crate::text::Lanes::One {
        let s = e.float_intrinsic("sqrt", Fmt::F32, &[x]);
        return e.fbin("fdiv", Fmt::F32, &one, &s);
    }
    let full = "<32 x float>";
    let mut halves = Vec::new();
    for first in [0, 16] {
        let mask: Vec<String> = (first..first + 16).map(|i| format!("i32 {i}")).collect();
        let part =
            e.text.def(format!("shufflevector {full} {x}, {full} poison, <16 x i32> <{}>", mask.join(", ")));
        let args = [
            ("<16 x float>".to_string(), part),
            ("<16 x float>".to_string(), "zeroinitializer".to_string()),
            ("i16".to_string(), "-1".to_string()),
        ];
        halves.push(e.text.intrinsic("<16 x float>", "llvm.x86.avx512.rsqrt14.ps.512", &args));
    }
    let mask: Vec<String> = (0..32).map(|i| format!("i32 {i}")).collect();
    let y = e.text.def(format!(
        "shufflevector <16 x float> {}, <16 x float> {}, <32 x i32> <{}>",
        halves[0],
        halves[1],
        mask.join(", ")
    ));
    // y' = y + y/2 * (1 - x y^2), with the remainder by one fused operation.
    let half = constant(e, 0.5);
    let xy = e.fbin("fmul", Fmt::F32, x, &y);
    let minus = e.text.def(format!("fneg {full} {xy}"));
    let rest = fma(e, &minus, &y, &one);
    let h = e.fbin("fmul", Fmt::F32, &y, &half);
    let better = fma(e, &h, &rest, &y);
    // Zeros, infinities and NaN make the remainder NaN: the estimate is right for them.
    let bad = e.fcmp("uno", Fmt::F32, &rest, &rest);
    let p = int_type(Ty::I1, e.lanes);
    e.text.def(format!("select {p} {bad}, {full} {y}, {full} {better}"))
}

/// 2^x: x = n + f, a polynomial for 2^f, and n by two exponent multiplications (so that subnormal results round once).
fn exp2(e: &mut Emit, x: &str) -> String {
    let f = float_type(Fmt::F32, e.lanes);
    let p = int_type(Ty::I1, e.lanes);
    let (high, low) = (constant(e, 129.0), constant(e, -160.0));
    // NaN passes both comparisons unselected.
    let over = e.fcmp("ogt", Fmt::F32, x, &high);
    let y = e.text.def(format!("select {p} {over}, {f} {high}, {f} {x}"));
    let under = e.fcmp("olt", Fmt::F32, &y, &low);
    let y = e.text.def(format!("select {p} {under}, {f} {low}, {f} {y}"));
    let n = e.float_intrinsic("roundeven", Fmt::F32, &[&y]);
    let r = e.fbin("fsub", Fmt::F32, &y, &n);
    let m = polynomial(e, &r, &EXP2);
    let t = int_type(Ty::I32, e.lanes);
    let suffix = e.suffix(Ty::I32);
    let short = if e.lanes == crate::text::Lanes::One { "f32" } else { "v32f32" };
    let n = e.text.intrinsic(&t, &format!("llvm.fptosi.sat.{suffix}.{short}"), &[(f.clone(), n)]);
    let one = e.lit(Ty::I32, 1);
    let first = e.bin("ashr", Ty::I32, &n, &one);
    let second = e.bin("sub", Ty::I32, &n, &first);
    let mut out = m;
    for part in [first, second] {
        let (bias, shift) = (e.lit(Ty::I32, 127), e.lit(Ty::I32, 23));
        let biased = e.bin("add", Ty::I32, &part, &bias);
        let bits = e.bin("shl", Ty::I32, &biased, &shift);
        let scale = e.as_float(Fmt::F32, &bits);
        out = e.fbin("fmul", Fmt::F32, &out, &scale);
    }
    out
}

/// log2: exponent plus a series in s = (m - 1) / (m + 1) for m in [sqrt(1/2), sqrt(2)].
fn log2(e: &mut Emit, bits: &str, x: &str) -> String {
    let f = float_type(Fmt::F32, e.lanes);
    let p = int_type(Ty::I1, e.lanes);
    let ty = Ty::I32;
    // Subnormals are scaled up first.
    let smallest = constant(e, f32::MIN_POSITIVE);
    let tiny = e.fcmp("olt", Fmt::F32, x, &smallest);
    let scale = constant(e, 8_388_608.0);
    let scaled = e.fbin("fmul", Fmt::F32, x, &scale);
    let scaled_bits = e.as_bits(Fmt::F32, &scaled);
    let b = e.select(ty, &tiny, &scaled_bits, bits);
    // The exponent such that the mantissa lies around 1.
    let (middle, fraction, shift) = (e.lit(ty, 0x3f35_04f3), e.lit(ty, 0x007f_ffff), e.lit(ty, 23));
    let d = e.bin("sub", ty, &b, &middle);
    let exponent = e.bin("ashr", ty, &d, &shift);
    let low = e.bin("and", ty, &d, &fraction);
    let m = e.bin("add", ty, &low, &middle);
    let m = e.as_float(Fmt::F32, &m);
    let (one, extra, zero) = (constant(e, 1.0), constant(e, -23.0), constant(e, 0.0));
    let n = {
        let t = int_type(ty, e.lanes);
        e.text.def(format!("sitofp {t} {exponent} to {f}"))
    };
    let bias = e.text.def(format!("select {p} {tiny}, {f} {extra}, {f} {zero}"));
    let n = e.fbin("fadd", Fmt::F32, &n, &bias);
    let top = e.fbin("fsub", Fmt::F32, &m, &one);
    let bottom = e.fbin("fadd", Fmt::F32, &m, &one);
    let s = e.fbin("fdiv", Fmt::F32, &top, &bottom);
    let s2 = e.fbin("fmul", Fmt::F32, &s, &s);
    // 2/ln 2 * (1 + s^2/3 + s^4/5 + …): s is below 0.172, so five terms are enough.
    let c = 2.0 / std::f64::consts::LN_2;
    let series: Vec<f32> = [1.0, 3.0, 5.0, 7.0, 9.0].iter().map(|k| (c / k) as f32).collect();
    let q = polynomial(e, &s2, &series);
    let r = fma(e, &s, &q, &n);
    // 0 gives -inf, negatives NaN, infinity and NaN themselves.
    let pinf = constant(e, f32::INFINITY);
    let ninf = constant(e, f32::NEG_INFINITY);
    let nan = e.flit(Fmt::F32, 0x7fff_ffff);
    let is_zero = e.fcmp("oeq", Fmt::F32, x, &zero);
    let r = e.text.def(format!("select {p} {is_zero}, {f} {ninf}, {f} {r}"));
    let negative = e.fcmp("ult", Fmt::F32, x, &zero);
    let r = e.text.def(format!("select {p} {negative}, {f} {nan}, {f} {r}"));
    let big = e.fcmp("oeq", Fmt::F32, x, &pinf);
    e.text.def(format!("select {p} {big}, {f} {pinf}, {f} {r}"))
}

/// sin or cos: x - k*pi/2 in three parts, then the sine's or cosine's polynomial by the quadrant.
fn sine(e: &mut Emit, x: &str, cosine: bool) -> String {
    let f = float_type(Fmt::F32, e.lanes);
    let p = int_type(Ty::I1, e.lanes);
    let ty = Ty::I32;
    let two_over_pi = constant(e, std::f32::consts::FRAC_2_PI);
    let k = e.fbin("fmul", Fmt::F32, x, &two_over_pi);
    let k = e.float_intrinsic("roundeven", Fmt::F32, &[&k]);
    let mut r = x.to_string();
    // pi/2 as a sum of three floats.
    for part in [-1.570_796_4f32, 4.371_139e-8, 1.715_124e-15] {
        let c = constant(e, part);
        r = fma(e, &k, &c, &r);
    }
    let t = int_type(ty, e.lanes);
    let (suffix, short) = (e.suffix(ty), if e.lanes == crate::text::Lanes::One { "f32" } else { "v32f32" });
    let n = e.text.intrinsic(&t, &format!("llvm.fptosi.sat.{suffix}.{short}"), &[(f.clone(), k)]);
    let n = if cosine {
        let one = e.lit(ty, 1);
        e.bin("add", ty, &n, &one)
    } else {
        n
    };
    let r2 = e.fbin("fmul", Fmt::F32, &r, &r);
    let s = polynomial(e, &r2, &[1.0, -0.166_666_67, 8.333_333e-3, -1.984_127e-4, 2.755_732e-6]);
    let s = e.fbin("fmul", Fmt::F32, &s, &r);
    let c = polynomial(e, &r2, &[1.0, -0.5, 0.041_666_668, -1.388_889e-3, 2.480_159e-5, -2.755_732e-7]);
    let (one, two, zero) = (e.lit(ty, 1), e.lit(ty, 2), e.lit(ty, 0));
    let odd = e.bin("and", ty, &n, &one);
    let odd = e.icmp("ne", ty, &odd, &zero);
    let v = e.text.def(format!("select {p} {odd}, {f} {c}, {f} {s}"));
    let flip = e.bin("and", ty, &n, &two);
    let flip = e.icmp("ne", ty, &flip, &zero);
    let minus = e.text.def(format!("fneg {f} {v}"));
    let v = e.text.def(format!("select {p} {flip}, {f} {minus}, {f} {v}"));
    // Infinities give NaN (x - x); what is too large for the reduction stays within [-1, 1].
    let (low, high) = (constant(e, -1.0), constant(e, 1.0));
    let above = e.fcmp("ogt", Fmt::F32, &v, &high);
    let v = e.text.def(format!("select {p} {above}, {f} {high}, {f} {v}"));
    let below = e.fcmp("olt", Fmt::F32, &v, &low);
    let v = e.text.def(format!("select {p} {below}, {f} {low}, {f} {v}"));
    let d = e.fbin("fsub", Fmt::F32, x, x);
    e.fbin("fadd", Fmt::F32, &v, &d)
}

/// tanh: 1 - 2 / (e^2x + 1), with x itself where it is small.
fn tanh(e: &mut Emit, x: &str) -> String {
    let f = float_type(Fmt::F32, e.lanes);
    let p = int_type(Ty::I1, e.lanes);
    let c = constant(e, 2.0 * std::f32::consts::LOG2_E);
    let y = e.fbin("fmul", Fmt::F32, x, &c);
    let y = exp2(e, &y);
    let (one, two) = (constant(e, 1.0), constant(e, 2.0));
    let d = e.fbin("fadd", Fmt::F32, &y, &one);
    let q = e.fbin("fdiv", Fmt::F32, &two, &d);
    let big = e.fbin("fsub", Fmt::F32, &one, &q);
    let x2 = e.fbin("fmul", Fmt::F32, x, x);
    let series = polynomial(e, &x2, &[1.0, -0.333_333_34, 0.133_333_34]);
    let small = e.fbin("fmul", Fmt::F32, x, &series);
    let limit = constant(e, 0.015_625);
    let near = e.fcmp("olt", Fmt::F32, &x2, &limit);
    e.text.def(format!("select {p} {near}, {f} {small}, {f} {big}"))
}
