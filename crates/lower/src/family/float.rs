//! Floating point (PTX ISA 9.7.3 to 9.7.5).

use ptx::ast::{Instruction, Operand};
use ptx::{Modifier as M, Opcode, ScalarType};
use wave::op::{ApproxOp, FloatCmp, FloatMode, FloatOp, FloatUnOp, IntCmp, IntOp, Op, Round, SfuOp};
use wave::types::Fmt;
use wave::{Ty, Value};

use super::integer::lanes;
use super::special;
use crate::function::{Lower, Result};
use crate::operand::fmt_of;

/// The instruction's rounding mode; to nearest if it has none.
pub fn round(i: &Instruction) -> Round {
    match i.rounding() {
        Some(M::Rz | M::Rzi) => Round::Rz,
        Some(M::Rm | M::Rmi) => Round::Rm,
        Some(M::Rp | M::Rpi) => Round::Rp,
        Some(M::Rna) => Round::Rna,
        _ => Round::Rn,
    }
}

fn mode(l: &Lower, i: &Instruction, fmt: Fmt) -> FloatMode {
    FloatMode { fmt, round: round(i), ftz: l.flushes(i, fmt), sat: i.has(M::Sat) }
}

fn dest(i: &Instruction) -> &Operand {
    &i.operands[0]
}

fn sources(l: &mut Lower, i: &Instruction, t: ScalarType) -> Result<Vec<Value>> {
    i.operands.iter().skip(1).map(|o| l.value(o, t)).collect()
}

/// The format of the instruction, or an error that names it.
fn format(l: &mut Lower, i: &Instruction, t: ScalarType) -> Result<Fmt> {
    match fmt_of(t) {
        Some(f) => Ok(f),
        None => l.unsupported(i, "this format"),
    }
}

/// Operands of mixed precision (`add.f32.bf16`): narrow ones are widened first.
fn mixed(l: &mut Lower, i: &Instruction, wide: ScalarType) -> Result<Vec<Value>> {
    let narrow = i.ty(1).filter(|t| *t != wide);
    let Some(narrow) = narrow else { return sources(l, i, wide) };
    let (from, to) = (format(l, i, narrow)?, format(l, i, wide)?);
    let count = i.operands.len() - 1;
    let mut args = Vec::new();
    for (n, o) in i.operands.iter().skip(1).enumerate() {
        // The last operand is the addend, which has the wide type.
        if n + 1 == count {
            args.push(l.value(o, wide)?);
        } else {
            let v = l.value(o, narrow)?;
            args.push(l.op1(Op::FloatToFloat { from, mode: FloatMode::rn(to), relu: false }, &[v]));
        }
    }
    Ok(args)
}

pub fn arithmetic(l: &mut Lower, i: &Instruction) -> Result<()> {
    let t = i.ty(0).unwrap_or(ScalarType::F32);
    let fmt = format(l, i, t)?;
    let m = mode(l, i, fmt);
    let args = mixed(l, i, t)?;
    let op = i.opcode;
    let v = lanes(l, t, &args, &mut |l, ty, a| {
        Ok(match op {
            Opcode::Add => l.op1(Op::Float(FloatOp::Add, m), a),
            Opcode::Sub => l.op1(Op::Float(FloatOp::Sub, m), a),
            Opcode::Mul => l.op1(Op::Float(FloatOp::Mul, m), a),
            Opcode::Mad => l.op1(Op::Fma(m), a),
            Opcode::Div => divide(l, i, fmt, m, a),
            Opcode::Neg => l.op1(Op::FloatUn(FloatUnOp::Neg, m), a),
            Opcode::Abs => l.op1(Op::FloatUn(FloatUnOp::Abs, m), a),
            _ => extremum(l, i, fmt, m, ty, a),
        })
    })?;
    l.write_dest(dest(i), v, false)
}

fn divide(l: &mut Lower, i: &Instruction, fmt: Fmt, m: FloatMode, a: &[Value]) -> Value {
    // Before PTX 1.4, an f32 division without a rounding mode is approximate.
    let plain = fmt == Fmt::F32 && i.rounding().is_none() && !i.has(M::Full);
    if i.has(M::Approx) || plain {
        approximate(l, ApproxOp::Div, fmt, m.ftz, a)
    } else if i.has(M::Full) {
        approximate(l, ApproxOp::DivFull, fmt, m.ftz, a)
    } else {
        l.op1(Op::Float(FloatOp::Div, m), a)
    }
}

/// An approximate function: within the manual's error bounds, or bit-exact with the hardware if requested.
fn approximate(l: &mut Lower, op: ApproxOp, fmt: Fmt, ftz: bool, a: &[Value]) -> Value {
    if (op, fmt, ftz) == (ApproxOp::Rsqrt, Fmt::F64, false) {
        return special::reciprocal_root(l, a[0]);
    }
    let exact = if l.linked.exact { special::exact(l, op, fmt, ftz, a) } else { None };
    exact.unwrap_or_else(|| l.op1(Op::Approx { op, fmt, ftz }, a))
}

/// `min` and `max` of two or three operands, with `.NaN` and `.xorsign.abs`.
fn extremum(l: &mut Lower, i: &Instruction, fmt: Fmt, m: FloatMode, ty: Ty, a: &[Value]) -> Value {
    let op = match (i.opcode == Opcode::Min, i.has(M::NaN)) {
        (true, false) => FloatOp::Min,
        (true, true) => FloatOp::MinNan,
        (false, false) => FloatOp::Max,
        (false, true) => FloatOp::MaxNan,
    };
    let plain = FloatMode { round: Round::Rn, sat: false, ..m };
    let mut args = a.to_vec();
    let mut sign = None;
    if i.has(M::Xorsign) {
        sign = Some(l.op1(Op::Int(IntOp::Xor, ty), &a[..2]));
    }
    if i.has(M::Abs) {
        args = args.iter().map(|&v| l.op1(Op::FloatUn(FloatUnOp::Abs, plain), &[v])).collect();
    }
    let mut v = l.op1(Op::Float(op, plain), &args[..2]);
    if let Some(&c) = args.get(2) {
        v = l.op1(Op::Float(op, plain), &[v, c]);
    }
    match sign {
        Some(s) => {
            // NaN gets no sign.
            let signed = l.op1(Op::CopySign(fmt), &[v, s]);
            let nan = l.op1(Op::FloatCmp { cmp: FloatCmp::Nan, fmt, ftz: false }, &[v, v]);
            l.op1(Op::Select(ty), &[nan, v, signed])
        }
        None => v,
    }
}

pub fn fma(l: &mut Lower, i: &Instruction) -> Result<()> {
    let t = i.ty(0).unwrap_or(ScalarType::F32);
    let fmt = format(l, i, t)?;
    let m = mode(l, i, fmt);
    let args = mixed(l, i, t)?;
    let (relu, oob) = (i.has(M::Relu), i.has(M::Oob));
    let v = lanes(l, t, &args, &mut |l, ty, a| {
        let mut v = l.op1(Op::Fma(m), a);
        if oob {
            v = out_of_bounds(l, ty, a, v);
        }
        if !relu {
            return Ok(v);
        }
        // Negative results become zero; NaN stays NaN (PTX: the canonical one).
        let zero = l.constant(ty, 0);
        Ok(l.op1(Op::Float(FloatOp::MaxNan, FloatMode::rn(fmt)), &[v, zero]))
    })?;
    l.write_dest(dest(i), v, false)
}

/// `fma.oob`: zero if a factor is the NaN that marks elements outside a tensor: 0x7ff7 with either sign, in
/// f16 and bf16 (as the hardware answers for each of the 65,536 factors).
fn out_of_bounds(l: &mut Lower, ty: Ty, a: &[Value], v: Value) -> Value {
    let (rest, mark, zero) = (l.constant(ty, 0x7fff), l.constant(ty, 0x7ff7), l.constant(ty, 0));
    a[..2].iter().fold(v, |v, &factor| {
        let magnitude = l.op1(Op::Int(IntOp::And, ty), &[factor, rest]);
        let outside = l.op1(Op::IntCmp(IntCmp::Eq, ty), &[magnitude, mark]);
        l.op1(Op::Select(ty), &[outside, zero, v])
    })
}

pub fn copysign(l: &mut Lower, i: &Instruction) -> Result<()> {
    let t = i.ty(0).unwrap_or(ScalarType::F32);
    let fmt = format(l, i, t)?;
    let args = sources(l, i, t)?;
    // PTX passes the sign first.
    let v = l.op1(Op::CopySign(fmt), &[args[1], args[0]]);
    l.write_dest(dest(i), v, false)
}

pub fn testp(l: &mut Lower, i: &Instruction) -> Result<()> {
    let t = i.ty(0).unwrap_or(ScalarType::F32);
    let fmt = format(l, i, t)?;
    let a = l.value(&i.operands[1], t)?;
    let m = FloatMode::rn(fmt);
    let x = l.op1(Op::FloatUn(FloatUnOp::Abs, m), &[a]);
    let (infinity, smallest) = match fmt {
        Fmt::F64 => (0x7ff0_0000_0000_0000, 0x0010_0000_0000_0000),
        _ => (0x7f80_0000, 0x0080_0000),
    };
    let inf = l.constant(fmt.ty(), infinity);
    let min = l.constant(fmt.ty(), smallest);
    let zero = l.constant(fmt.ty(), 0);
    let mut test = |cmp, b| l.op1(Op::FloatCmp { cmp, fmt, ftz: false }, &[x, b]);
    let v = match i.first(ptx::ModifierKind::Test) {
        Some(M::Finite) => test(FloatCmp::Lt, inf),
        Some(M::Infinite) => test(FloatCmp::Eq, inf),
        Some(M::Number) => test(FloatCmp::Num, zero),
        Some(M::Notanumber) => test(FloatCmp::Nan, zero),
        Some(M::Normal) => {
            // Zero counts as normal on the hardware.
            let (a, b, c) = (test(FloatCmp::Ge, min), test(FloatCmp::Lt, inf), test(FloatCmp::Eq, zero));
            let normal = l.op1(Op::Int(IntOp::And, Ty::I1), &[a, b]);
            l.op1(Op::Int(IntOp::Or, Ty::I1), &[normal, c])
        }
        _ => {
            let (a, b) = (test(FloatCmp::Lt, min), test(FloatCmp::Gt, zero));
            l.op1(Op::Int(IntOp::And, Ty::I1), &[a, b])
        }
    };
    l.write_dest(dest(i), v, false)
}

/// `rcp`, `sqrt`, `rsqrt`, `sin`, `cos`, `lg2`, `ex2`, `tanh`: correctly rounded if a rounding mode is
/// written.
pub fn function(l: &mut Lower, i: &Instruction) -> Result<()> {
    let t = i.ty(0).unwrap_or(ScalarType::F32);
    let fmt = format(l, i, t)?;
    let m = mode(l, i, fmt);
    let args = vec![l.value(&i.operands[1], t)?];
    if i.has(M::X2pi) {
        // The argument is in turns, not radians: the unit's own operation.
        let unit = if i.opcode == Opcode::Sin { SfuOp::Sin } else { SfuOp::Cos };
        let v = l.op1(Op::Sfu(unit), &args);
        return l.write_dest(dest(i), v, false);
    }
    // `rcp.f64` and `sqrt.f64` in the first PTX versions round to nearest.
    let plain = fmt == Fmt::F64 && !i.has(M::Approx);
    let exact = match i.opcode {
        Opcode::Rcp if i.rounding().is_some() || plain => Some(FloatUnOp::Rcp),
        Opcode::Sqrt if i.rounding().is_some() || plain => Some(FloatUnOp::Sqrt),
        _ => None,
    };
    let op = match i.opcode {
        Opcode::Rcp => ApproxOp::Rcp,
        Opcode::Sqrt => ApproxOp::Sqrt,
        Opcode::Rsqrt => ApproxOp::Rsqrt,
        Opcode::Sin => ApproxOp::Sin,
        Opcode::Cos => ApproxOp::Cos,
        Opcode::Lg2 => ApproxOp::Lg2,
        Opcode::Ex2 => ApproxOp::Ex2,
        _ => ApproxOp::Tanh,
    };
    let v = lanes(l, t, &args, &mut |l, _, a| {
        Ok(match exact {
            Some(op) => l.op1(Op::FloatUn(op, m), a),
            None => approximate(l, op, fmt, m.ftz, a),
        })
    })?;
    l.write_dest(dest(i), v, false)
}
