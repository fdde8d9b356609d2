//! Conversions between integers and floats, and between float formats.

use wave::Ty;
use wave::op::{FloatMode, Round};
use wave::types::Fmt;

use super::{Emit, Result, Unsupported, float, round};
use crate::ir::{Fcmp, Operand};

/// Float to integer: rounded, then clamped by LLVM's saturating conversion. NaN gives 0, or only the top bit
/// if source or target has 64 bits.
pub fn to_int(
    e: &mut Emit,
    from: Fmt,
    to: Ty,
    signed: bool,
    round: Round,
    ftz: bool,
    a: Operand,
) -> Result<Operand> {
    // Flushing matters only if the rounding is away from zero.
    let a = e.flush(from, ftz && from == Fmt::F32 && matches!(round, Round::Rm | Round::Rp), a);
    let (_, x) = e.widen(from, a);
    let name = match round {
        Round::Rz => None,
        Round::Rn => Some("llvm.roundeven"),
        Round::Rm => Some("llvm.floor"),
        Round::Rp => Some("llvm.ceil"),
        Round::Rna => return Err(Unsupported("float to integer .rna".into())),
    };
    let x = match name {
        Some(n) => e.math(n, &[x]),
        None => x,
    };
    let name = if signed { "llvm.fptosi.sat" } else { "llvm.fptoui.sat" };
    let ty = e.ir.width.int(to, e.lanes);
    let r = e.ir.intrinsic(name, [Some(ty), Some(x.ty())], ty, &[x]);
    if to != Ty::I64 && from != Fmt::F64 {
        return Ok(r);
    }
    let nan = e.fcmp(Fcmp::Uno, x, x);
    let lowest = e.lit(to, 1 << (to.bits() - 1));
    Ok(e.select(nan, lowest, r))
}

/// Integer to float.
pub fn from_int(e: &mut Emit, from: Ty, signed: bool, mode: FloatMode, a: Operand) -> Result<Operand> {
    // Integers that the format represents exactly, and those that one instruction rounds.
    let exact = match mode.fmt {
        Fmt::F64 => from <= Ty::I32,
        Fmt::F32 => from <= Ty::I16,
        _ => from <= Ty::I8,
    };
    let direct = matches!(mode.fmt, Fmt::F32 | Fmt::F64) && (exact || mode.round == Round::Rn);
    let bits = if direct {
        let x = e.float_of(signed, mode.fmt, a);
        e.as_bits(mode.fmt, x)
    } else if mode.fmt == Fmt::F64 {
        round::integer_to_f64(e, signed, mode.round, a)
    } else {
        let x = round::integer_for_narrowing(e, from, signed, a);
        round::narrow(e, Fmt::F64, mode.fmt, mode.round, x, true)
    };
    Ok(if mode.sat { e.saturate(mode.fmt, bits) } else { bits })
}

/// Converts between float formats.
pub fn convert(e: &mut Emit, from: Fmt, mode: FloatMode, relu: bool, a: Operand) -> Result<Operand> {
    let to = mode.fmt;
    let single = from == Fmt::F32;
    let a = e.flush(from, mode.ftz && single, a);
    let flushes = mode.ftz && to == Fmt::F32 && from != Fmt::F16;
    // NaN: bf16 to f32 shifts it; from and to f64 the processor keeps it and makes it quiet; otherwise it
    // becomes canonical.
    let keep = from == Fmt::F64 || to == Fmt::F64;
    let a = if single && to == Fmt::F64 && mode.ftz { e.canonical(from, a) } else { a };
    let bits = match (from, to) {
        (Fmt::BF16, Fmt::F32) => {
            let (_, x) = e.widen(from, a);
            let bits = e.as_bits(to, x);
            e.flush(to, flushes, bits)
        }
        _ if from == to => {
            if keep {
                float::quiet(e, a)
            } else {
                e.canonical(from, a)
            }
        }
        _ => {
            let (wide, x) = e.widen(from, a);
            if to.ty() > wide.ty() || to == wide {
                let x = e.extend(wide, to, x);
                let bits = e.as_bits(to, x);
                if keep { bits } else { e.canonical(to, bits) }
            } else {
                let x = if flushes { e.flush_wide(mode, wide, x) } else { x };
                round::narrow(e, wide, to, mode.round, x, keep || mode.sat)
            }
        }
    };
    let bits = if mode.sat { e.saturate(to, bits) } else { bits };
    if !relu {
        return Ok(bits);
    }
    // Only f16 and bf16 get here; their canonical NaN is positive.
    let zero = e.lit(to.ty(), 0);
    Ok(e.math("llvm.smax", &[bits, zero]))
}
