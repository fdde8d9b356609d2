//! Several warps as one.
//!
//! A warp reads 128 bytes of a row of 32-bit words, and in a loop that moves far it then reads elsewhere: the
//! memory opens a row for every 128 bytes. Warps that run together read as many times more at each place.
//! They may do so if no lane can tell: their lanes exchange nothing, and nothing asks for a lane's or a
//! warp's number.
//!
//! They are several warps of a block, or, if a block's rows are one warp long, the same warp of several
//! blocks side by side (*across*): several warps of such a block would read 128 bytes in each of several
//! rows.

use std::collections::{BTreeMap, BTreeSet};

use wave::op::{BarMode, Op, SReg, Space};
use wave::{Function, Inst, Terminator, Ty, Value};

use super::cfg::Cfg;
use super::specialisation::Specialisation;
use super::uniformity::Uniformity;
use super::{skip, stop};
use crate::ir::Width;

/// The numbers of warps that may run together, most first.
pub const COUNTS: [u16; 3] = [8, 4, 2];

/// The number of warps that may run together by the kernel's number of operations: longer vectors take longer
/// to compile, most of all on paths where lanes differ.
const BY_SIZE: [(usize, u16); 2] = [(600, 8), (1000, 4)];

/// Bytes of vector registers, which a loop's values may take while more than two warps run together; operands
/// that are loaded need none of them.
pub const fn registers(avx512: bool) -> usize {
    if avx512 { 2048 } else { 512 }
}

/// Whether no lane of a kernel can tell how many warps of its block run together.
pub fn may_widen(func: &Function, cfg: &Cfg) -> bool {
    no_lane_tells(func, cfg, |_| false)
}

/// Whether waves of 64 lanes hold two rows of a block.
pub fn has_short_rows(spec: &Specialisation) -> bool {
    spec.warp == wave::Width::W64 && !spec.whole && !spec.clusters && spec.block[0] == 32
}

/// Whether waves with two rows are to run as two warps: no lane can tell, and there is no loop whose rounds
/// share the rows' addresses. Barriers of the whole block are the same for warps of any size.
pub fn may_part(func: &Function, cfg: &Cfg) -> bool {
    let zeros: BTreeSet<Value> = cfg
        .order
        .iter()
        .flat_map(|&b| &func.blocks[b].insts)
        .filter(|i| matches!(i.op, Op::Const { bits: 0, .. }))
        .flat_map(|i| i.results.iter().copied())
        .collect();
    let of_block = |i: &Inst| i.op == Op::Bar { mode: BarMode::Sync } && zeros.contains(&i.args[1]);
    cfg.loops.is_empty() && no_lane_tells(func, cfg, of_block)
}

/// Whether no lane can tell, except by operations that `but` allows.
fn no_lane_tells(func: &Function, cfg: &Cfg, but: impl Fn(&Inst) -> bool) -> bool {
    let tells = |op: &Op| match op {
        // Emitted for any number of lanes; what votes decide is judged in `skip`.
        Op::Agree(_) => false,
        op if skip::is_any(op) => false,
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
        // A sleep stops one warp.
        Op::Builtin(_) | Op::Texture(_) | Op::Bulk(_) => true,
        op => op.is_convergent() || op.suspends(),
    };
    // A trap names the lanes of one warp.
    let mut blocks = cfg.order.iter().map(|&b| &func.blocks[b]);
    blocks.all(|b| !matches!(b.term, Terminator::Trap) && !b.insts.iter().any(|i| tells(&i.op) && !but(i)))
}

/// Whether the same warp of several blocks may run as one: a block's rows are one warp long, and its code has
/// nothing of the block's own but its place in the grid. The caller has checked [`may_widen`].
pub fn may_go_across(func: &Function, cfg: &Cfg, spec: &Specialisation) -> bool {
    let of_block = |op: &Op| match op {
        Op::Special(reg) => !matches!(
            reg,
            SReg::TidX
                | SReg::TidY
                | SReg::TidZ
                | SReg::NtidX
                | SReg::NtidY
                | SReg::NtidZ
                | SReg::CtaidX
                | SReg::CtaidY
                | SReg::CtaidZ
                | SReg::NctaidX
                | SReg::NctaidY
                | SReg::NctaidZ
        ),
        Op::Load { mem, .. } | Op::Store { mem, .. } | Op::Atom { mem, .. } => {
            matches!(mem.space, Space::Shared | Space::Local | Space::Generic)
        }
        op => !op.is_pure() && !matches!(op, Op::Prefetch(..)) && !skip::is_any(op),
    };
    let rows = spec.warp == wave::Width::W32 && !spec.whole && spec.block[0] == 32;
    let mut blocks = cfg.order.iter().map(|&b| &func.blocks[b]);
    rows && !spec.clusters && !blocks.any(|b| b.insts.iter().any(|i| of_block(&i.op)))
}

/// Whether blocks consist of whole groups of this many warps of 32 lanes.
pub fn divides(spec: &Specialisation, warps: u16) -> bool {
    let one = spec.warp == wave::Width::W32;
    one && spec.threads().is_multiple_of(Width::warps(warps).lanes() as u32)
}

/// Makes code of waves of 64 lanes code of warps of 32, if no lane can tell: only the type of masks differs,
/// which votes of [`skip::is_any`] name.
pub fn of_narrow_warps(func: &mut Function) {
    func.width = wave::Width::W32;
    for b in 0..func.blocks.len() {
        let mut insts = Vec::new();
        for mut inst in std::mem::take(&mut func.blocks[b].insts) {
            if skip::is_any(&inst.op) {
                let members = func.new_value(func.width.mask());
                let op = Op::Const { ty: func.width.mask(), bits: 0 };
                let results = [members].into_iter().collect();
                insts.push(Inst { op, args: Default::default(), results, loc: inst.loc });
                inst.args[1] = members;
            }
            insts.push(inst);
        }
        func.blocks[b].insts = insts;
    }
}

/// Whether what is uniform in each warp stays so in all: no branch and no loop diverges that did not.
pub fn keeps(narrow: &Uniformity, wide: &Uniformity) -> bool {
    narrow.divergent == wide.divergent && narrow.divergent_loop == wide.divergent_loop
}

/// The greatest number of warps whose values stay in registers in the loops that read far; at least two.
pub fn most(func: &Function, cfg: &Cfg, uniformity: &Uniformity, registers: usize) -> u16 {
    let size: usize = cfg.order.iter().map(|&b| func.blocks[b].insts.len()).sum();
    let most = BY_SIZE.into_iter().find(|(bound, _)| size <= *bound).map_or(2, |(_, warps)| warps);
    let bytes = live_in_far_loops(func, cfg, uniformity).max(1);
    let fits = |warps: &u16| *warps <= most && Width::warps(*warps).lanes() * bytes <= registers;
    COUNTS.into_iter().find(fits).unwrap_or(2)
}

/// The bytes of each lane's values that are live at one point of a loop with a prefetch, or of any loop if
/// none has one. Values that are the same for all lanes, or follow from the first lane's, do not count, and
/// neither do loaded ones with one use: it can be their load.
fn live_in_far_loops(func: &Function, cfg: &Cfg, uniformity: &Uniformity) -> usize {
    let is_far = |b: &usize| func.blocks[*b].insts.iter().any(|i| matches!(i.op, Op::Prefetch(..)));
    let mut loops: Vec<_> = cfg.loops.iter().filter(|l| l.blocks.iter().any(is_far)).collect();
    if loops.is_empty() {
        loops = cfg.loops.iter().collect();
    }
    let live = stop::live_in(func, cfg);
    let mut uses: BTreeMap<Value, usize> = BTreeMap::new();
    for &b in &cfg.order {
        let data = &func.blocks[b];
        for v in data.insts.iter().flat_map(|i| i.args.iter().copied()).chain(data.term.uses()) {
            *uses.entry(v).or_default() += 1;
        }
    }
    let size = |v: Value| {
        let variation = &uniformity.values[v.index()];
        let scalar = variation.is_uniform() || variation.is_pattern() || func.ty(v) == Ty::I1;
        if scalar { 0 } else { func.ty(v).bytes() as usize }
    };
    let mut most = 0;
    for l in loops {
        let near: BTreeSet<Value> = l
            .blocks
            .iter()
            .map(|&b| &func.blocks[b])
            .flat_map(|data| data.insts.iter().flat_map(|i| i.args.iter().copied()).chain(data.term.uses()))
            .collect();
        for &b in &l.blocks {
            let data = &func.blocks[b];
            let mut now: BTreeSet<Value> = data.term.uses().into_iter().collect();
            for &s in &cfg.succs[b] {
                now.extend(live[s].iter().filter(|v| !func.blocks[s].params.contains(v)));
            }
            now.retain(|v| near.contains(v));
            let mut bytes: usize = now.iter().map(|v| size(*v)).sum();
            most = most.max(bytes);
            for inst in data.insts.iter().rev() {
                for r in &inst.results {
                    bytes -= if now.remove(r) { size(*r) } else { 0 };
                }
                let folded = |v: &Value| uses.get(v) == Some(&1) && loaded(data, *v);
                for v in inst.args.iter().filter(|v| !folded(v)) {
                    bytes += if now.insert(*v) { size(*v) } else { 0 };
                }
                most = most.max(bytes);
            }
        }
    }
    most
}

/// Whether a block loads a value.
fn loaded(data: &wave::BlockData, v: Value) -> bool {
    data.insts.iter().any(|i| matches!(i.op, Op::Load { .. }) && i.results.contains(&v))
}
