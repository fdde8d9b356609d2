//! Whether the processor may flush subnormals for a kernel.
//!
//! x86 flushes as PTX's `.ftz` does (operands, and results that are tiny after rounding), for all operations at once and at no cost.
//! Kernels made for speed write `.ftz` on all their f32 operations: those run so. In the others flushing is written out.

use wave::op::{AtomTy, Builtin, Effect, FloatUnOp, Op, Round, Space};
use wave::types::Fmt;
use wave::{Function, Inst};

use super::cfg::Cfg;

/// Setting and resetting the processor's mode at each stop costs about as much as this many operations with written-out flushing.
const WORTH: usize = 4;

/// What an operation says to the processor's flushing.
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
        // Only bits are moved or masked.
        Op::FloatUn(FloatUnOp::Neg | FloatUnOp::Abs, _) | Op::CopySign(_) => Answer::Same,
        Op::Float(_, mode) | Op::Fma(mode) | Op::FloatUn(_, mode) => match mode.fmt {
            Fmt::F32 => if_flushed(mode.ftz),
            // Computed as f32 and f64, where its subnormals are none.
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
        // Coordinates are floats to the runtime.
        // Other formats are summed in a way that does not depend on it.
        Op::Matrix(matrix) if matrix.of_doubles() => Answer::Wrong,
        Op::Builtin(Builtin::Vprintf) | Op::Texture(_) => Answer::Wrong,
        Op::Bulk(bulk) if bulk.effect != Effect::Copy => Answer::Wrong,
        _ => Answer::Same,
    }
}

/// Whether all of a kernel's operations flush, or would give the same if they did.
pub fn by_processor(func: &Function, cfg: &Cfg, suspends: bool) -> bool {
    let insts = cfg.order.iter().flat_map(|&b| &func.blocks[b].insts);
    let answers: Vec<Answer> = insts.map(|i: &Inst| answer(&i.op)).collect();
    answers.iter().all(|a| !matches!(a, Answer::Wrong))
        && answers.iter().filter(|a| matches!(a, Answer::Wanted)).count() >= if suspends { WORTH } else { 1 }
}
