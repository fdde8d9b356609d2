//! Decides whether the processor flushes subnormals for a kernel.
//!
//! x86 can flush as PTX's `.ftz` does (operands, and results that are tiny after rounding), for all
//! operations at once and at no cost. Kernels compiled for speed have `.ftz` on all their f32 operations and
//! run in that mode. In other kernels flushing is emitted as instructions.

use wave::op::{AtomTy, Builtin, Effect, FloatUnOp, Op, Round, Space};
use wave::types::Fmt;
use wave::{Function, Inst};

use super::cfg::Cfg;

/// Number of flushing operations above which the processor's mode pays: setting and resetting it at each stop
/// costs about as much as this many operations with emitted flushing.
const WORTH: usize = 4;

/// How the processor's flushing affects an operation.
enum Answer {
    Wanted,
    Same,
    Wrong,
}

fn if_flushed(ftz: bool) -> Answer {
    if ftz { Answer::Wanted } else { Answer::Wrong }
}

fn answer(op: &Op) -> Answer {
    match *op {
        // These only move or mask bits.
        Op::FloatUn(FloatUnOp::Neg | FloatUnOp::Abs, _) | Op::CopySign(_) => Answer::Same,
        Op::Float(_, mode) | Op::Fma(mode) | Op::FloatUn(_, mode) => match mode.fmt {
            Fmt::F32 => if_flushed(mode.ftz),
            // Computed in f32 or f64, where f16 subnormals are normal numbers.
            Fmt::F16 => Answer::Same,
            Fmt::BF16 | Fmt::F64 => Answer::Wrong,
        },
        Op::Approx { fmt: Fmt::F32, ftz, .. } | Op::FloatCmp { fmt: Fmt::F32, ftz, .. } => if_flushed(ftz),
        Op::Approx { fmt, .. } | Op::FloatCmp { fmt, .. } if fmt != Fmt::F16 => Answer::Wrong,
        Op::FloatToInt { from: Fmt::F64, .. } => Answer::Wrong,
        Op::FloatToInt { from, round, ftz, .. } => {
            let away = matches!(round, Round::Rm | Round::Rp);
            if away && from != Fmt::F16 { if_flushed(ftz && from == Fmt::F32) } else { Answer::Same }
        }
        Op::FloatToFloat { from: Fmt::F64, .. } => Answer::Wrong,
        Op::FloatToFloat { from: Fmt::F16, .. } => Answer::Same,
        Op::FloatToFloat { mode, .. } if mode.fmt == Fmt::F16 && mode.round == Round::Rn => Answer::Same,
        Op::FloatToFloat { mode, .. } => if_flushed(mode.ftz),
        Op::Atom { ty: AtomTy::F32Kept | AtomTy::F64 | AtomTy::BF16 | AtomTy::BF16x2, .. } => Answer::Wrong,
        Op::Atom { ty: AtomTy::F32, mem, .. } if mem.space != Space::Global => Answer::Wrong,
        // Exact products of other formats do not depend on the processor's mode. The runtime computes texture
        // coordinates in floats.
        Op::Matrix(matrix) if matrix.of_doubles() || matrix.is_relaxed() => Answer::Wrong,
        Op::Builtin(Builtin::Vprintf) | Op::Texture(_) => Answer::Wrong,
        Op::Bulk(bulk) if bulk.effect != Effect::Copy => Answer::Wrong,
        _ => Answer::Same,
    }
}

/// Whether all of a kernel's operations flush, or would have the same result if they did.
pub fn by_processor(func: &Function, cfg: &Cfg, suspends: bool) -> bool {
    let insts = cfg.order.iter().flat_map(|&b| &func.blocks[b].insts);
    let answers: Vec<Answer> = insts.map(|i: &Inst| answer(&i.op)).collect();
    answers.iter().all(|a| !matches!(a, Answer::Wrong))
        && answers.iter().filter(|a| matches!(a, Answer::Wanted)).count() >= if suspends { WORTH } else { 1 }
}
