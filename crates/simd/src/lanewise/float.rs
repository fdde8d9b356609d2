//! Floats. Values travel as integers; each operation casts them, which costs nothing in machine code.

use wave::Ty;
use wave::op::{FloatCmp, FloatMode, FloatOp, FloatUnOp, Round};
use wave::types::Fmt;

use super::{Emit, Result, Unsupported};
use crate::text::{Lanes, float as float_type, int as int_type};

impl Emit<'_> {
    /// Integer bits as a float.
    pub fn as_float(&mut self, fmt: Fmt, a: &str) -> String {
        let (i, f) = (int_type(fmt.ty(), self.lanes), float_type(fmt, self.lanes));
        self.text.def(format!("bitcast {i} {a} to {f}"))
    }

    /// A float as integer bits.
    pub fn as_bits(&mut self, fmt: Fmt, a: &str) -> String {
        let (i, f) = (int_type(fmt.ty(), self.lanes), float_type(fmt, self.lanes));
        self.text.def(format!("bitcast {f} {a} to {i}"))
    }

    /// `op type a, b` on floats.
    pub fn fbin(&mut self, op: &str, fmt: Fmt, a: &str, b: &str) -> String {
        let f = float_type(fmt, self.lanes);
        self.text.def(format!("{op} {f} {a}, {b}"))
    }

    /// `fcmp` on floats.
    pub fn fcmp(&mut self, cmp: &str, fmt: Fmt, a: &str, b: &str) -> String {
        let f = float_type(fmt, self.lanes);
        self.text.def(format!("fcmp {cmp} {f} {a}, {b}"))
    }

    /// A float literal by its bits, as a float.
    pub fn flit(&mut self, fmt: Fmt, bits: u128) -> String {
        let lit = self.lit(fmt.ty(), bits);
        self.as_float(fmt, &lit)
    }

    /// An intrinsic of floats of one format.
    pub fn float_intrinsic(&mut self, name: &str, fmt: Fmt, args: &[&str]) -> String {
        let f = float_type(fmt, self.lanes);
        let short = match fmt {
            Fmt::F16 => "f16",
            Fmt::BF16 => "bf16",
            Fmt::F32 => "f32",
            Fmt::F64 => "f64",
        };
        let suffix = if self.lanes == Lanes::One { short.to_string() } else { format!("v32{short}") };
        let args: Vec<(String, String)> = args.iter().map(|a| (f.clone(), a.to_string())).collect();
        self.text.intrinsic(&f, &format!("llvm.{name}.{suffix}"), &args)
    }

    /// Widens f16 and bf16 to f32 for arithmetic; f32 and f64 stay.
    fn widen(&mut self, fmt: Fmt, a: &str) -> (Fmt, String) {
        let x = self.as_float(fmt, a);
        if !matches!(fmt, Fmt::F16 | Fmt::BF16) {
            return (fmt, x);
        }
        let (f, t) = (float_type(fmt, self.lanes), float_type(Fmt::F32, self.lanes));
        (Fmt::F32, self.text.def(format!("fpext {f} {x} to {t}")))
    }

    /// Back from `from` to `fmt`, as bits.
    fn narrow(&mut self, from: Fmt, fmt: Fmt, a: &str) -> String {
        if from == fmt {
            return self.as_bits(fmt, a);
        }
        let (f, t) = (float_type(from, self.lanes), float_type(fmt, self.lanes));
        let x = self.text.def(format!("fptrunc {f} {a} to {t}"));
        self.as_bits(fmt, &x)
    }

    /// `a` with subnormals made zeros of their sign.
    pub fn flush(&mut self, fmt: Fmt, ftz: bool, a: &str) -> String {
        if !ftz {
            return a.to_string();
        }
        let ty = fmt.ty();
        let (magnitude, smallest) = limits(fmt);
        let m = self.lit(ty, magnitude);
        let s = self.lit(ty, smallest);
        let x = self.bin("and", ty, a, &m);
        let small = self.icmp("ult", ty, &x, &s);
        let sign = self.lit(ty, !magnitude);
        let zero = self.bin("and", ty, a, &sign);
        self.select(ty, &small, &zero, a)
    }

    /// Flushing and saturation of a result.
    fn finish(&mut self, mode: FloatMode, a: &str) -> String {
        let r = self.flush(mode.fmt, mode.ftz, a);
        if !mode.sat {
            return r;
        }
        let (one, zero) = (self.flit(mode.fmt, one_bits(mode.fmt)), self.flit(mode.fmt, 0));
        let x = self.as_float(mode.fmt, &r);
        // NaN fails both comparisons and becomes zero.
        let positive = self.fcmp("ogt", mode.fmt, &x, &zero);
        let big = self.fcmp("ogt", mode.fmt, &x, &one);
        let (one, zero) = (self.lit(mode.fmt.ty(), one_bits(mode.fmt)), self.lit(mode.fmt.ty(), 0));
        let r = self.select(mode.fmt.ty(), &big, &one, &r);
        self.select(mode.fmt.ty(), &positive, &r, &zero)
    }
}

/// Mask of the magnitude, and the smallest normal number.
fn limits(fmt: Fmt) -> (u128, u128) {
    match fmt {
        Fmt::F16 => (0x7fff, 0x0400),
        Fmt::BF16 => (0x7fff, 0x0080),
        Fmt::F32 => (0x7fff_ffff, 0x0080_0000),
        Fmt::F64 => (0x7fff_ffff_ffff_ffff, 0x0010_0000_0000_0000),
    }
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

/// The rounding operand of AVX-512 intrinsics: the mode with exceptions suppressed.
fn embedded(round: Round) -> Option<u32> {
    Some(match round {
        Round::Rn => 8,
        Round::Rm => 9,
        Round::Rp => 10,
        Round::Rz => 11,
        Round::Rna => return None,
    })
}

/// Runs an AVX-512 intrinsic with embedded rounding over all lanes, 512 bits at a time. Scalars go through a vector of equal lanes.
fn rounded(e: &mut Emit, name: &str, fmt: Fmt, round: Round, args: &[&str]) -> Result<String> {
    let Some(code) = embedded(round).filter(|_| e.avx512) else {
        return Err(Unsupported(format!("rounding .{} without AVX-512", round.name())));
    };
    let (suffix, lanes) = match fmt {
        Fmt::F32 => ("ps.512", 16),
        Fmt::F64 => ("pd.512", 8),
        _ => return Err(Unsupported(format!("rounding .{} of {}", round.name(), fmt.name()))),
    };
    let f = crate::text::float_name(fmt);
    let part = format!("<{lanes} x {f}>");
    let full = format!("<32 x {f}>");
    let call = |e: &mut Emit, parts: &[String]| {
        let mut operands: Vec<(String, String)> = parts.iter().map(|p| (part.clone(), p.clone())).collect();
        operands.push(("i32".into(), code.to_string()));
        e.text.intrinsic(&part, &format!("llvm.x86.avx512.{name}.{suffix}"), &operands)
    };
    if e.lanes == Lanes::One {
        let parts: Vec<String> = args
            .iter()
            .map(|a| e.text.def(format!("insertelement {part} zeroinitializer, {f} {a}, i32 0")))
            .collect();
        let r = call(e, &parts);
        return Ok(e.text.def(format!("extractelement {part} {r}, i32 0")));
    }
    let mut pieces = Vec::new();
    for first in (0..32).step_by(lanes) {
        let mask: Vec<String> = (first..first + lanes).map(|i| format!("i32 {i}")).collect();
        let mask = format!("<{lanes} x i32> <{}>", mask.join(", "));
        let parts: Vec<String> = args
            .iter()
            .map(|a| e.text.def(format!("shufflevector {full} {a}, {full} poison, {mask}")))
            .collect();
        pieces.push(call(e, &parts));
    }
    let mut width = lanes;
    while pieces.len() > 1 {
        let mask: Vec<String> = (0..2 * width).map(|i| format!("i32 {i}")).collect();
        let mask = format!("<{} x i32> <{}>", 2 * width, mask.join(", "));
        pieces = pieces
            .chunks(2)
            .map(|p| {
                e.text
                    .def(format!("shufflevector <{width} x {f}> {}, <{width} x {f}> {}, {mask}", p[0], p[1]))
            })
            .collect();
        width *= 2;
    }
    Ok(pieces.swap_remove(0))
}

pub fn binary(e: &mut Emit, op: FloatOp, mode: FloatMode, a: &str, b: &str) -> Result<String> {
    let (a, b) = (e.flush(mode.fmt, mode.ftz, a), e.flush(mode.fmt, mode.ftz, b));
    let name = match op {
        FloatOp::Add => "fadd",
        FloatOp::Sub => "fsub",
        FloatOp::Mul => "fmul",
        FloatOp::Div => "fdiv",
        _ => {
            let r = extremum(e, op, mode.fmt, &a, &b);
            return Ok(e.finish(mode, &r));
        }
    };
    if mode.round != Round::Rn {
        let (x, y) = (e.as_float(mode.fmt, &a), e.as_float(mode.fmt, &b));
        let r = rounded(e, &name[1..], mode.fmt, mode.round, &[&x, &y])?;
        let r = e.as_bits(mode.fmt, &r);
        return Ok(e.finish(mode, &r));
    }
    // f16 and bf16 through f32: twice the fraction and two bits more, so rounding twice is rounding once.
    let (wide, x) = e.widen(mode.fmt, &a);
    let (_, y) = e.widen(mode.fmt, &b);
    let r = e.fbin(name, wide, &x, &y);
    let r = e.narrow(wide, mode.fmt, &r);
    Ok(e.finish(mode, &r))
}

/// Minimum and maximum with PTX's rules for NaN and zeros.
fn extremum(e: &mut Emit, op: FloatOp, fmt: Fmt, a: &str, b: &str) -> String {
    let ty = fmt.ty();
    let (x, y) = (e.as_float(fmt, a), e.as_float(fmt, b));
    let min = matches!(op, FloatOp::Min | FloatOp::MinNan);
    // Equal operands differ at most in the sign of zero: or of the signs for the minimum, and for the maximum.
    let pick = e.fcmp(if min { "olt" } else { "ogt" }, fmt, &x, &y);
    let r = e.select(ty, &pick, a, b);
    let equal = e.fcmp("oeq", fmt, &x, &y);
    let tie = e.bin(if min { "or" } else { "and" }, ty, a, b);
    let r = e.select(ty, &equal, &tie, &r);
    let a_nan = e.fcmp("uno", fmt, &x, &x);
    let b_nan = e.fcmp("uno", fmt, &y, &y);
    let nan = e.lit(ty, wave::interp::float::canonical_nan(fmt));
    if matches!(op, FloatOp::MinNan | FloatOp::MaxNan) {
        let any = e.bin("or", Ty::I1, &a_nan, &b_nan);
        return e.select(ty, &any, &nan, &r);
    }
    let r = e.select(ty, &b_nan, a, &r);
    let r = e.select(ty, &a_nan, b, &r);
    let both = e.bin("and", Ty::I1, &a_nan, &b_nan);
    e.select(ty, &both, &nan, &r)
}

pub fn fma(e: &mut Emit, mode: FloatMode, a: &str, b: &str, c: &str) -> Result<String> {
    let args: Vec<String> = [a, b, c].iter().map(|v| e.flush(mode.fmt, mode.ftz, v)).collect();
    let r = match (mode.fmt, mode.round) {
        (Fmt::F16, Round::Rn) => {
            // The product of halves is exact in f32 only; in f64 product and sum are exact for them, and one rounding is left.
            let half = float_type(Fmt::F16, e.lanes);
            let double = float_type(Fmt::F64, e.lanes);
            let wide: Vec<String> = args
                .iter()
                .map(|v| {
                    let x = e.as_float(Fmt::F16, v);
                    e.text.def(format!("fpext {half} {x} to {double}"))
                })
                .collect();
            let r = e.float_intrinsic("fma", Fmt::F64, &[&wide[0], &wide[1], &wide[2]]);
            e.narrow(Fmt::F64, Fmt::F16, &r)
        }
        (Fmt::BF16, _) => return Err(Unsupported("fma of bf16".into())),
        (fmt, round) => {
            let x: Vec<String> = args.iter().map(|v| e.as_float(fmt, v)).collect();
            let r = if round == Round::Rn {
                e.float_intrinsic("fma", fmt, &[&x[0], &x[1], &x[2]])
            } else {
                rounded(e, "vfmadd", fmt, round, &[&x[0], &x[1], &x[2]])?
            };
            e.as_bits(fmt, &r)
        }
    };
    Ok(e.finish(mode, &r))
}

pub fn unary(e: &mut Emit, op: FloatUnOp, mode: FloatMode, a: &str) -> Result<String> {
    let a = e.flush(mode.fmt, mode.ftz, a);
    let (magnitude, _) = limits(mode.fmt);
    let ty = mode.fmt.ty();
    match op {
        FloatUnOp::Neg => {
            let s = e.lit(ty, !magnitude);
            Ok(e.bin("xor", ty, &a, &s))
        }
        FloatUnOp::Abs => {
            let m = e.lit(ty, magnitude);
            Ok(e.bin("and", ty, &a, &m))
        }
        FloatUnOp::Rcp => {
            let one = e.lit(ty, one_bits(mode.fmt));
            binary(e, FloatOp::Div, mode, &one, &a)
        }
        FloatUnOp::Sqrt if mode.round != Round::Rn => {
            let x = e.as_float(mode.fmt, &a);
            let r = rounded(e, "sqrt", mode.fmt, mode.round, &[&x])?;
            let r = e.as_bits(mode.fmt, &r);
            Ok(e.finish(mode, &r))
        }
        FloatUnOp::Sqrt => {
            let (wide, x) = e.widen(mode.fmt, &a);
            let r = e.float_intrinsic("sqrt", wide, &[&x]);
            let r = e.narrow(wide, mode.fmt, &r);
            Ok(e.finish(mode, &r))
        }
        FloatUnOp::RoundInt => {
            let name = match mode.round {
                Round::Rn => "roundeven",
                Round::Rz => "trunc",
                Round::Rm => "floor",
                Round::Rp => "ceil",
                Round::Rna => "round",
            };
            let (wide, x) = e.widen(mode.fmt, &a);
            let r = e.float_intrinsic(name, wide, &[&x]);
            let r = e.narrow(wide, mode.fmt, &r);
            Ok(e.finish(mode, &r))
        }
    }
}

pub fn compare(e: &mut Emit, cmp: FloatCmp, fmt: Fmt, ftz: bool, a: &str, b: &str) -> String {
    let (a, b) = (e.flush(fmt, ftz, a), e.flush(fmt, ftz, b));
    let name = match cmp {
        FloatCmp::Eq => "oeq",
        FloatCmp::Ne => "one",
        FloatCmp::Lt => "olt",
        FloatCmp::Le => "ole",
        FloatCmp::Gt => "ogt",
        FloatCmp::Ge => "oge",
        FloatCmp::Equ => "ueq",
        FloatCmp::Neu => "une",
        FloatCmp::Ltu => "ult",
        FloatCmp::Leu => "ule",
        FloatCmp::Gtu => "ugt",
        FloatCmp::Geu => "uge",
        FloatCmp::Num => "ord",
        FloatCmp::Nan => "uno",
    };
    let (wide, x) = e.widen(fmt, &a);
    let (_, y) = e.widen(fmt, &b);
    e.fcmp(name, wide, &x, &y)
}

pub fn copysign(e: &mut Emit, fmt: Fmt, a: &str, b: &str) -> String {
    let (magnitude, _) = limits(fmt);
    let (m, s) = (e.lit(fmt.ty(), magnitude), e.lit(fmt.ty(), !magnitude));
    let x = e.bin("and", fmt.ty(), a, &m);
    let y = e.bin("and", fmt.ty(), b, &s);
    e.bin("or", fmt.ty(), &x, &y)
}

/// Float to integer: rounded, clamped by LLVM's saturating conversion; NaN gives 0 there and 0x8000… for 64-bit targets here.
pub fn to_int(
    e: &mut Emit,
    from: Fmt,
    to: Ty,
    signed: bool,
    round: Round,
    ftz: bool,
    a: &str,
) -> Result<String> {
    let a = e.flush(from, ftz, a);
    let (wide, x) = e.widen(from, &a);
    let name = match round {
        Round::Rz => None,
        Round::Rn => Some("roundeven"),
        Round::Rm => Some("floor"),
        Round::Rp => Some("ceil"),
        Round::Rna => return Err(Unsupported("float to integer .rna".into())),
    };
    let x = match name {
        Some(n) => e.float_intrinsic(n, wide, &[&x]),
        None => x,
    };
    let (t, f) = (int_type(to, e.lanes), float_type(wide, e.lanes));
    let short = if wide == Fmt::F64 { "f64" } else { "f32" };
    let which = if signed { "fptosi" } else { "fptoui" };
    let suffix = match e.lanes {
        Lanes::One => format!("i{}.{short}", to.bits()),
        Lanes::Warp => format!("v32i{}.v32{short}", to.bits()),
    };
    let r = e.text.intrinsic(&t, &format!("llvm.{which}.sat.{suffix}"), &[(f, x.clone())]);
    if to != Ty::I64 {
        return Ok(r);
    }
    let nan = e.fcmp("uno", wide, &x, &x);
    let lowest = e.lit(to, 1 << 63);
    Ok(e.select(to, &nan, &lowest, &r))
}

pub fn from_int(e: &mut Emit, from: Ty, signed: bool, mode: FloatMode, a: &str) -> Result<String> {
    let exact = match mode.fmt {
        Fmt::F64 => from <= Ty::I32,
        Fmt::F32 => from <= Ty::I16,
        _ => from <= Ty::I8,
    };
    if mode.round != Round::Rn && !exact {
        return Err(Unsupported(format!("integer to {} .{}", mode.fmt.name(), mode.round.name())));
    }
    let how = if signed { "sitofp" } else { "uitofp" };
    let t = int_type(from, e.lanes);
    // An integer of up to 24 bits is exact in f32, of up to 32 in f64: halves are then rounded once.
    let via = match mode.fmt {
        Fmt::F16 | Fmt::BF16 if from <= Ty::I16 => Fmt::F32,
        Fmt::F16 | Fmt::BF16 if from == Ty::I32 => Fmt::F64,
        Fmt::F16 | Fmt::BF16 => return Err(Unsupported(format!("64-bit integer to {}", mode.fmt.name()))),
        f => f,
    };
    let f = float_type(via, e.lanes);
    let x = e.text.def(format!("{how} {t} {a} to {f}"));
    let r = e.narrow(via, mode.fmt, &x);
    Ok(e.finish(mode, &r))
}

pub fn convert(e: &mut Emit, from: Fmt, mode: FloatMode, relu: bool, a: &str) -> Result<String> {
    let a = e.flush(from, mode.ftz, a);
    let x = e.as_float(from, &a);
    let (f, t) = (float_type(from, e.lanes), float_type(mode.fmt, e.lanes));
    let width = |f: Fmt| f.ty().bits();
    let r = if from == mode.fmt {
        x
    } else if width(mode.fmt) > width(from) {
        e.text.def(format!("fpext {f} {x} to {t}"))
    } else if mode.round != Round::Rn || width(mode.fmt) == width(from) {
        return Err(Unsupported(format!("{} to {} .{}", from.name(), mode.fmt.name(), mode.round.name())));
    } else {
        e.text.def(format!("fptrunc {f} {x} to {t}"))
    };
    let r = e.as_bits(mode.fmt, &r);
    let r = e.finish(mode, &r);
    if !relu {
        return Ok(r);
    }
    let zero = e.lit(mode.fmt.ty(), 0);
    Ok(extremum(e, FloatOp::MaxNan, mode.fmt, &r, &zero))
}
