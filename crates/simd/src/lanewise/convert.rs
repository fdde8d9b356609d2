//! Conversions between integers and floats, and between formats.

use wave::Ty;
use wave::op::{FloatMode, Round};
use wave::types::Fmt;

use super::{Emit, Result, Unsupported, float, round};
use crate::text::{Lanes, float as float_type, int as int_type};

/// Float to integer: rounded, clamped by LLVM's saturating conversion. NaN gives 0, or the top bit alone where source or target has 64.
pub fn to_int(
    e: &mut Emit,
    from: Fmt,
    to: Ty,
    signed: bool,
    round: Round,
    ftz: bool,
    a: &str,
) -> Result<String> {
    // Flushing changes only what is rounded away from zero.
    let a = e.flush(from, ftz && from == Fmt::F32 && matches!(round, Round::Rm | Round::Rp), a);
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
    if to != Ty::I64 && from != Fmt::F64 {
        return Ok(r);
    }
    let nan = e.fcmp("uno", wide, &x, &x);
    let lowest = e.lit(to, 1 << (to.bits() - 1));
    Ok(e.select(to, &nan, &lowest, &r))
}

/// Integer to float.
pub fn from_int(e: &mut Emit, from: Ty, signed: bool, mode: FloatMode, a: &str) -> Result<String> {
    // What the format holds exactly, and what one instruction rounds.
    let exact = match mode.fmt {
        Fmt::F64 => from <= Ty::I32,
        Fmt::F32 => from <= Ty::I16,
        _ => from <= Ty::I8,
    };
    let direct = matches!(mode.fmt, Fmt::F32 | Fmt::F64) && (exact || mode.round == Round::Rn);
    let bits = if direct {
        let how = if signed { "sitofp" } else { "uitofp" };
        let (t, f) = (int_type(from, e.lanes), float_type(mode.fmt, e.lanes));
        let x = e.text.def(format!("{how} {t} {a} to {f}"));
        e.as_bits(mode.fmt, &x)
    } else if mode.fmt == Fmt::F64 {
        round::integer_to_f64(e, signed, mode.round, a)
    } else {
        let x = round::integer_for_narrowing(e, from, signed, a);
        round::narrow(e, Fmt::F64, mode.fmt, mode.round, &x, true)
    };
    Ok(if mode.sat { e.saturate(mode.fmt, &bits) } else { bits })
}

/// Between formats.
pub fn convert(e: &mut Emit, from: Fmt, mode: FloatMode, relu: bool, a: &str) -> Result<String> {
    let to = mode.fmt;
    let single = from == Fmt::F32;
    let a = e.flush(from, mode.ftz && single, a);
    let flushes = mode.ftz && to == Fmt::F32 && from != Fmt::F16;
    // NaN: moved by bf16 to f32; kept, and made quiet by the processor, from and to f64; else canonical.
    let keep = from == Fmt::F64 || to == Fmt::F64;
    let a = if single && to == Fmt::F64 && mode.ftz { e.canonical(from, &a) } else { a };
    let bits = match (from, to) {
        (Fmt::BF16, Fmt::F32) => {
            let (_, x) = e.widen(from, &a);
            let bits = e.as_bits(to, &x);
            e.flush(to, flushes, &bits)
        }
        _ if from == to => {
            if keep {
                float::quiet(e, &a)
            } else {
                e.canonical(from, &a)
            }
        }
        _ => {
            let (wide, x) = e.widen(from, &a);
            if to.ty() > wide.ty() || to == wide {
                let x = e.extend(wide, to, &x);
                let bits = e.as_bits(to, &x);
                if keep { bits } else { e.canonical(to, &bits) }
            } else {
                let x = if flushes { e.flush_wide(mode, wide, &x) } else { x };
                round::narrow(e, wide, to, mode.round, &x, keep || mode.sat)
            }
        }
    };
    let bits = if mode.sat { e.saturate(to, &bits) } else { bits };
    if !relu {
        return Ok(bits);
    }
    // Of halves; the canonical NaN is positive.
    let zero = e.lit(to.ty(), 0);
    Ok(e.int_intrinsic("smax", to.ty(), &[&bits, &zero]))
}
