//! Two warps as one.
//!
//! A warp reads 128 bytes of a row of 32-bit words, and in a loop that moves far it then reads elsewhere: the
//! memory opens a row for every 128 bytes. Two warps that run together read twice as much at each place. They
//! may do so if no lane can tell: their lanes exchange nothing, and nothing asks for a lane's or a warp's
//! number.

use wave::op::{Builtin, Op, SReg};
use wave::{Function, Terminator};

use super::cfg::Cfg;
use super::uniformity::{Specialisation, Uniformity};
use crate::ir::Width;

/// Whether two warps of a block may run together.
pub fn may_pair(func: &Function, cfg: &Cfg, spec: &Specialisation) -> bool {
    let whole = spec.threads().is_multiple_of(Width::PAIR.lanes() as u32);
    let tells = |op: &Op| match op {
        // Emitted for any number of lanes.
        Op::Agree(_) => false,
        Op::Special(reg) => matches!(
            reg,
            SReg::LaneId
                | SReg::WarpId
                | SReg::NWarpId
                | SReg::LaneMaskEq
                | SReg::LaneMaskLe
                | SReg::LaneMaskLt
                | SReg::LaneMaskGe
                | SReg::LaneMaskGt
        ),
        Op::Builtin(builtin) => *builtin != Builtin::NanoSleep,
        Op::Texture(_) | Op::Bulk(_) => true,
        op => op.is_convergent() || op.suspends(),
    };
    // A trap names its lanes in a word of 32 bits.
    let mut blocks = cfg.order.iter().map(|&b| &func.blocks[b]);
    whole && blocks.all(|b| !matches!(b.term, Terminator::Trap) && !b.insts.iter().any(|i| tells(&i.op)))
}

/// Whether what is uniform in each warp stays so in both: no branch and no loop diverges that did not.
pub fn keeps(narrow: &Uniformity, wide: &Uniformity) -> bool {
    narrow.divergent == wide.divergent && narrow.divergent_loop == wide.divergent_loop
}
