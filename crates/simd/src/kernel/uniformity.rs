//! Uniformity analysis: how each value varies over the lanes of a warp ([`Variation`]), and which branches
//! and loops are divergent.

use wave::op::{Builtin, CountOp, Guard as Performed, IntCmp, IntOp, MatchMode, Op, SReg, ShiftOp};
use wave::range::{Range, Ranges};
use wave::{BlockCall, Function, Terminator, Ty};

use super::cfg::Cfg;
use super::parting::Parting;
use super::specialisation::Specialisation;
use super::variation::{Guard, Variation};

/// Uniformity of all values of a function, and its divergent branches and loops.
#[derive(Debug)]
pub struct Uniformity {
    /// By value.
    pub values: Vec<Variation>,
    /// Blocks that end in a divergent branch.
    pub divergent: Vec<bool>,
    /// Loops that lanes exit in different rounds.
    pub divergent_loop: Vec<bool>,
    /// Blocks that not all live lanes reach together.
    pub masked: Vec<bool>,
    /// Blocks where lanes from different paths or different rounds join.
    pub joins: Vec<bool>,
    /// By value: inactive lanes must keep their value, because they read it outside the divergent loop that
    /// defines it.
    pub escaping: Vec<bool>,
}

/// Analyses a function. Variations start optimistic and are lowered to a fixed point.
pub fn analyse(func: &Function, cfg: &Cfg, spec: &Specialisation, ranges: &Ranges) -> Uniformity {
    let n = func.blocks.len();
    let mut s = Uniformity {
        values: vec![],
        divergent: vec![false; n],
        divergent_loop: vec![false; cfg.loops.len()],
        masked: vec![false; n],
        joins: vec![false; n],
        escaping: vec![],
    };
    let places = Places::new(func, cfg);
    let mut known: Vec<Option<Variation>> = vec![None; func.values.len()];
    let constants = constants(func);
    let mut seen = Seen::new(cfg);
    loop {
        let mut changed = false;
        s.parting(func, cfg, &mut seen);
        for &b in &cfg.order {
            changed |= params(func, cfg, &s, &places, spec, b, &mut known);
            for inst in &func.blocks[b].insts {
                let uniformity: Option<Vec<Variation>> =
                    inst.args.iter().map(|a| known[a.index()].clone()).collect();
                let Some(uniformity) = uniformity else { continue };
                let args: Vec<Option<u128>> = inst.args.iter().map(|a| constants[a.index()]).collect();
                for (i, r) in inst.results.iter().enumerate() {
                    let mut variation = transfer(&inst.op, i, &uniformity, &args, func.ty(*r), spec);
                    unguard(&mut variation, &uniformity, inst, b, ranges);
                    if places.escapes(cfg, &s, *r) {
                        variation = Variation::varying(spec.width);
                    }
                    changed |= lower(&mut known[r.index()], variation);
                }
            }
            if let Some(c) = func.blocks[b].term.condition()
                && known[c.index()].as_ref().is_some_and(|k| !k.is_uniform())
                && !std::mem::replace(&mut s.divergent[b], true)
            {
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    s.escaping = (0..func.values.len()).map(|v| places.escapes(cfg, &s, wave::Value(v as u32))).collect();
    s.values = known.into_iter().map(|k| k.unwrap_or_else(|| Variation::uniform(spec.width))).collect();
    s
}

/// Uniformity in the per-lane mode. Lanes at one block may be there in different sweeps, so only values that
/// are the same at all times have a variation: those computed from constants, special registers and
/// parameters alone. They are computed for all lanes, including those that are elsewhere.
pub fn apart(func: &Function, cfg: &Cfg, spec: &Specialisation, ranges: &Ranges) -> Uniformity {
    let n = func.blocks.len();
    let mut known: Vec<Option<Variation>> = vec![None; func.values.len()];
    let mut lasting = vec![false; func.values.len()];
    let constants = constants(func);
    for &b in &cfg.order {
        func.blocks[b].params.iter().for_each(|p| known[p.index()] = Some(Variation::varying(spec.width)));
    }
    // In this order a definition may come after its uses.
    let mut changed = true;
    while changed {
        changed = false;
        let insts = cfg.order.iter().flat_map(|&b| func.blocks[b].insts.iter().map(move |inst| (b, inst)));
        for (b, inst) in insts {
            let uniformity: Option<Vec<Variation>> =
                inst.args.iter().map(|a| known[a.index()].clone()).collect();
            let Some(uniformity) = uniformity else { continue };
            let same = match &inst.op {
                Op::Load { mem, guard: Performed::Always, .. } => {
                    mem.space == wave::op::Space::Param && uniformity[0].is_uniform()
                }
                op => op.is_pure(),
            } && inst.args.iter().all(|a| lasting[a.index()]);
            let args: Vec<Option<u128>> = inst.args.iter().map(|a| constants[a.index()]).collect();
            for (i, r) in inst.results.iter().enumerate() {
                let mut variation = transfer(&inst.op, i, &uniformity, &args, func.ty(*r), spec);
                unguard(&mut variation, &uniformity, inst, b, ranges);
                if !same {
                    variation = Variation { max: variation.max, ..Variation::varying(spec.width) };
                }
                lasting[r.index()] = same;
                changed |= lower(&mut known[r.index()], variation);
            }
        }
    }
    Uniformity {
        values: known.into_iter().map(|k| k.unwrap_or_else(|| Variation::varying(spec.width))).collect(),
        divergent: vec![true; n],
        divergent_loop: vec![true; cfg.loops.len()],
        masked: vec![true; n],
        joins: vec![true; n],
        escaping: lasting.iter().map(|l| !l).collect(),
    }
}

/// Removes the guard of a widened pattern whose operand cannot wrap between the lanes of a warp. The
/// operand's range holds only for lanes in the block, so it must leave room for the first lane, which may be
/// inactive.
fn unguard(
    variation: &mut Variation,
    operands: &[Variation],
    inst: &wave::Inst,
    block: usize,
    ranges: &Ranges,
) {
    let (Op::Sext { from, to } | Op::Zext { from, to }) = inst.op else { return };
    if to <= from
        || variation.guard == Guard::None
        || operands[0].guard != Guard::None
        || variation.group == 1
    {
        return;
    }
    let range = ranges.at(inst.args[0], wave::Block(block as u32));
    let all = Range::full(from);
    let (least, greatest) = variation.extremes();
    let (least, greatest) = (i128::from(least), i128::from(greatest));
    // Each lane's value minus its offset is the first lane's value, if that fits.
    let fits = match inst.op {
        Op::Sext { .. } => range.smin - greatest >= all.smin && range.smax - least <= all.smax,
        _ => range.umin - greatest >= all.umin && range.umax - least <= all.umax,
    };
    if fits {
        variation.guard = Guard::None;
    }
}

/// The range of a special register in a launch of this specialisation.
pub fn register(reg: SReg, spec: &Specialisation) -> Option<Range> {
    let dims = spec.block.map(|d| i128::from(d.max(1)));
    let below = |n: i128| Some(Range::unsigned(wave::Ty::I32, 0, n - 1));
    // Blocks of a grid in a dimension.
    let blocks = |axis: usize| if spec.small { (1i128 << 31) / dims[axis] } else { 1 << 32 };
    let count = |n: i128| Some(Range::unsigned(wave::Ty::I32, 1, n.min((1 << 32) - 1)));
    match reg {
        SReg::TidX => below(dims[0]),
        SReg::TidY => below(dims[1]),
        SReg::TidZ => below(dims[2]),
        SReg::NtidX => count(dims[0]),
        SReg::NtidY => count(dims[1]),
        SReg::NtidZ => count(dims[2]),
        SReg::CtaidX => below(blocks(0)),
        SReg::CtaidY => below(blocks(1)),
        SReg::CtaidZ => below(blocks(2)),
        SReg::NctaidX => count(blocks(0)),
        SReg::NctaidY => count(blocks(1)),
        SReg::NctaidZ => count(blocks(2)),
        SReg::LaneId => below(spec.width.lanes() as i128),
        SReg::WarpId => below(32),
        SReg::NWarpId => count(32),
        _ => None,
    }
}

fn constants(func: &Function) -> Vec<Option<u128>> {
    let mut c = vec![None; func.values.len()];
    for inst in func.blocks.iter().flat_map(|b| &b.insts) {
        if let Op::Const { bits, .. } = inst.op {
            c[inst.results[0].index()] = Some(bits);
        }
    }
    c
}

/// Replaces a variation by the meet of the old and the new one. Returns whether anything changed.
fn lower(slot: &mut Option<Variation>, new: Variation) -> bool {
    let next = match slot {
        None => new,
        Some(old) => {
            let mut m = old.meet(&new);
            // A bound that grows is dropped at once; otherwise loops would raise it step by step.
            if m.max != old.max {
                m.max = None;
            }
            m
        }
    };
    if slot.as_ref() == Some(&next) {
        return false;
    }
    *slot = Some(next);
    true
}

fn params(
    func: &Function,
    cfg: &Cfg,
    s: &Uniformity,
    places: &Places,
    spec: &Specialisation,
    b: usize,
    known: &mut [Option<Variation>],
) -> bool {
    let mut changed = false;
    for (i, p) in func.blocks[b].params.iter().enumerate() {
        let mut variation: Option<Variation> = None;
        let mut first = None;
        let (mut several, mut leaving) = (false, false);
        for &(from, target) in &places.edges[b] {
            let v = target.args[i];
            several |= first.replace(v).is_some_and(|f| f != v);
            leaving |= places.leaves(cfg, s, from, b, v);
            if let Some(k) = &known[v.index()] {
                variation = Some(variation.map_or(k.clone(), |s| s.meet(k)));
            }
        }
        if s.joins[b] && several || leaving || b == 0 || variation.is_some() && places.escapes(cfg, s, *p) {
            variation = Some(Variation::varying(spec.width));
        }
        if let Some(variation) = variation {
            changed |= lower(&mut known[p.index()], variation);
        }
    }
    changed
}

/// The block that defines each value, those that use it, and the edges to each block.
struct Places<'a> {
    made: Vec<usize>,
    used: Vec<Vec<usize>>,
    edges: Vec<Vec<(usize, &'a BlockCall)>>,
}

impl<'a> Places<'a> {
    fn new(func: &'a Function, cfg: &Cfg) -> Places<'a> {
        let n = func.values.len();
        let mut p = Places { made: vec![0; n], used: vec![Vec::new(); n], edges: cfg.edges(func) };
        for &b in &cfg.order {
            let data = &func.blocks[b];
            let results = data.insts.iter().flat_map(|i| i.results.iter());
            data.params.iter().chain(results).for_each(|v| p.made[v.index()] = b);
            let args = data.insts.iter().flat_map(|i| i.args.iter().copied());
            for v in args.chain(data.term.uses()) {
                if p.used[v.index()].last() != Some(&b) {
                    p.used[v.index()].push(b);
                }
            }
        }
        p
    }

    /// Whether a value defined in a divergent loop is used outside it: lanes then hold the values of
    /// different rounds. A value that a lane passes on as a parameter when it exits does not count.
    fn escapes(&self, cfg: &Cfg, s: &Uniformity, v: wave::Value) -> bool {
        let (made, used) = (self.made[v.index()], &self.used[v.index()]);
        // A block outside any of these loops is outside the innermost one.
        let innermost = cfg.around(made).rev().find(|(i, _)| s.divergent_loop[*i]);
        innermost.is_some_and(|(_, l)| used.iter().any(|&u| !l.contains[u]))
    }

    /// Whether lanes pass a value along an edge in different rounds: the edge exits a divergent loop that
    /// defines it.
    fn leaves(&self, cfg: &Cfg, s: &Uniformity, from: usize, to: usize, v: wave::Value) -> bool {
        let made = self.made[v.index()];
        let mut left = cfg.around(from).rev().take_while(|(_, l)| !l.contains[to]);
        left.any(|(i, l)| s.divergent_loop[i] && l.contains[made])
    }
}

/// The divergent branches and loops whose effects have been recorded. They stay divergent.
struct Seen<'a> {
    parting: Parting<'a>,
    branches: Vec<bool>,
    loops: Vec<bool>,
    /// Whether this round has found new divergent branches.
    any: bool,
}

impl<'a> Seen<'a> {
    fn new(cfg: &'a Cfg) -> Seen<'a> {
        let (branches, loops) = (vec![false; cfg.succs.len()], vec![false; cfg.loops.len()]);
        Seen { parting: Parting::new(cfg), branches, loops, any: false }
    }
}

impl Uniformity {
    /// Derives divergent loops, masked blocks and joins from the divergent branches.
    fn parting(&mut self, func: &Function, cfg: &Cfg, seen: &mut Seen) {
        seen.any = false;
        // Outer branches come first.
        for &b in &cfg.order {
            if self.divergent[b] && !std::mem::replace(&mut seen.branches[b], true) {
                self.part_at(func, cfg, &mut seen.parting, b);
                seen.any = true;
            }
        }
        // Lanes exit a divergent loop in different rounds: all its blocks are masked, and its exits are
        // joins.
        for (i, l) in cfg.loops.iter().enumerate() {
            if !self.divergent_loop[i] || std::mem::replace(&mut seen.loops[i], true) {
                continue;
            }
            for &b in &l.blocks {
                self.masked[b] = true;
                cfg.succs[b].iter().filter(|&&s| !l.contains[s]).for_each(|&s| self.joins[s] = true);
            }
        }
        // A header with several back edges joins the lanes of one round.
        for l in cfg.loops.iter().filter(|_| seen.any) {
            let backs = cfg.preds[l.header].iter().filter(|p| l.contains[**p]).count();
            if backs > 1 && l.blocks.iter().any(|&b| self.divergent[b]) {
                self.joins[l.header] = true;
            }
        }
    }

    /// Records the effects of a divergent branch in `b`.
    fn part_at(&mut self, func: &Function, cfg: &Cfg, parting: &mut Parting, b: usize) {
        parting.influence(b).into_iter().for_each(|r| self.masked[r] = true);
        parting.meetings(b).into_iter().for_each(|r| self.joins[r] = true);
        if let Some(j) = cfg.ipdom[b] {
            self.joins[j] = true;
        }
        // Several targets of a branch may be the same block.
        let mut targets: Vec<usize> = func.blocks[b].term.targets().map(|t| t.block.index()).collect();
        targets.sort_unstable();
        for pair in targets.windows(2).filter(|pair| pair[0] == pair[1]) {
            self.joins[pair[0]] = true;
        }
        for (i, l) in cfg.around(b) {
            if cfg.ipdom[b].is_none_or(|p| !l.contains[p] || p == l.header) {
                self.divergent_loop[i] = true;
            }
        }
    }
}

fn special(reg: SReg, spec: &Specialisation) -> Variation {
    let [nx, ny, nz] = spec.block.map(|d| d.max(1) as usize);
    let all = spec.lanes_of_block();
    let by_lane = |offset: &dyn Fn(usize) -> usize, max: usize| Variation {
        zeros: 0,
        max: Some(max as u64),
        ..Variation::with(spec.width.lanes(), (0..spec.width.lanes()).map(|l| offset(l % all) as i64))
    };
    // The number of low bits of a lane's number.
    let bits = all.trailing_zeros();
    let uniform = |max: u64| Variation { max: Some(max), ..Variation::uniform(spec.width) };
    let limit = |n: usize| if spec.small { (1u64 << 31) / n as u64 } else { u64::from(u32::MAX) };
    let row = all / nx.clamp(1, all);
    match reg {
        SReg::LaneId => Variation { zeros: bits, ..by_lane(&|l| l, all - 1) },
        SReg::TidX if ny * nz == 1 => {
            Variation { zeros: bits, ..by_lane(&|l| l, nx.next_multiple_of(all) - 1) }
        }
        SReg::TidX if nx.is_multiple_of(all) => {
            Variation { zeros: nx.trailing_zeros().min(bits), ..by_lane(&|l| l, nx - 1) }
        }
        SReg::TidX if all.is_multiple_of(nx) => Variation { zeros: 32, ..by_lane(&|l| l % nx, nx - 1) },
        SReg::TidY if ny * nz == 1 => uniform(0),
        SReg::TidY if nx.is_multiple_of(all) => uniform(ny as u64 - 1),
        SReg::TidY if all.is_multiple_of(nx) && (nz == 1 || ny.is_multiple_of(row)) => {
            let max = ny.next_multiple_of(row) - 1;
            Variation { zeros: row.trailing_zeros(), ..by_lane(&|l| l / nx, max) }
        }
        SReg::TidZ if nz == 1 => uniform(0),
        SReg::TidZ if (nx * ny).is_multiple_of(all) => uniform(nz as u64 - 1),
        SReg::TidX | SReg::TidY | SReg::TidZ => {
            Variation { max: Some(1024), ..Variation::varying(spec.width) }
        }
        SReg::NtidX => uniform(nx as u64),
        SReg::NtidY => uniform(ny as u64),
        SReg::NtidZ => uniform(nz as u64),
        SReg::CtaidX if spec.across => Variation {
            max: Some(limit(nx)),
            ..Variation::with(spec.width.lanes(), (0..spec.width.lanes()).map(|l| (l / all) as i64))
        },
        SReg::CtaidX | SReg::NctaidX => uniform(limit(nx)),
        SReg::CtaidY | SReg::NctaidY => uniform(limit(ny)),
        SReg::CtaidZ | SReg::NctaidZ => uniform(limit(nz)),
        SReg::WarpId | SReg::NWarpId => uniform(32),
        SReg::LaneMaskEq | SReg::LaneMaskLe | SReg::LaneMaskLt | SReg::LaneMaskGe | SReg::LaneMaskGt => {
            Variation::varying(spec.width)
        }
        _ => Variation::uniform(spec.width),
    }
}

/// The variation of result `i` of an operation.
fn transfer(
    op: &Op,
    i: usize,
    a: &[Variation],
    c: &[Option<u128>],
    ty: Ty,
    spec: &Specialisation,
) -> Variation {
    let flat = || {
        let one_if = |s: &Variation| s.guard == Guard::All && s.is_flat();
        if keeps_guard(op) && a.iter().any(one_if) && a.iter().all(|s| one_if(s) || s.is_uniform()) {
            return Variation { guard: Guard::All, ..Variation::uniform(spec.width) };
        }
        let group = a.iter().map(|s| s.flat().group).min().unwrap_or(spec.width.lanes());
        Variation::uniform(spec.width).regroup(group)
    };
    let capped = |max: Option<u64>| max.filter(|m| u128::from(*m) <= ty.mask());
    let both = || a[0].max.zip(a[1].max);
    match op {
        Op::Const { bits, .. } => {
            let zeros = if *bits == 0 { 32 } else { bits.trailing_zeros().min(32) };
            Variation { zeros, max: u64::try_from(*bits).ok(), ..Variation::uniform(spec.width) }
        }
        Op::Special(reg) => special(*reg, spec),
        Op::Int(IntOp::Add, _) => {
            let mut s = a[0].add(&a[1], 1);
            s.max = capped(both().and_then(|(x, y)| x.checked_add(y)));
            s
        }
        Op::Int(IntOp::Sub, _) => a[0].add(&a[1], -1),
        Op::Int(IntOp::Mul, _) => {
            let max = capped(both().and_then(|(x, y)| x.checked_mul(y)));
            let zeros = (a[0].zeros + a[1].zeros).min(32);
            let scaled = |s: &Variation, k: u128| {
                let k = ((k << (128 - ty.bits())) as i128 >> (128 - ty.bits())) as i64;
                s.map(|o| o.wrapping_mul(k))
            };
            let s = match (c[0], c[1]) {
                (_, Some(k)) => scaled(&a[0], k),
                (Some(k), _) => scaled(&a[1], k),
                _ => flat(),
            };
            Variation { zeros: if s.is_whole() { zeros } else { 0 }, max, ..s }
        }
        Op::Shift(ShiftOp::Shl, _) => match c[1] {
            Some(k) if k < u128::from(ty.bits()).min(63) => {
                let max = capped(a[0].max.and_then(|m| m.checked_mul(1 << k)));
                let s = a[0].map(|o| o.wrapping_shl(k as u32));
                Variation { zeros: (a[0].zeros + k as u32).min(32), max, ..s }
            }
            _ => flat(),
        },
        // All lanes have the same sign if the first and the last lane do.
        Op::Shift(ShiftOp::ShrS, _) if c[1] == Some(u128::from(ty.bits() - 1)) && a[0].is_pattern() => {
            Variation { guard: Guard::All, ..Variation::uniform(spec.width) }
        }
        Op::Shift(ShiftOp::ShrU, _) => match c[1] {
            Some(k) if k < 32 => {
                let max = a[0].max.map(|m| m >> k);
                let k = k as u32;
                let whole = a[0].is_whole() && a[0].zeros >= k && a[0].stays_in_run();
                let s = if whole || (a[0].is_whole() && a[0].zeros == 32) {
                    a[0].map(|o| o >> k)
                } else {
                    flat()
                };
                Variation { max, ..s }
            }
            _ => flat(),
        },
        Op::Int(IntOp::And, _) => {
            let (s, k) = match (c[0], c[1]) {
                (_, Some(k)) => (&a[0], k),
                (Some(k), _) => (&a[1], k),
                _ => return flat(),
            };
            let max = u64::try_from(k).ok();
            let low = (k + 1).is_power_of_two() && k < 1 << 32;
            let bits = (k + 1).trailing_zeros();
            // The offsets lie within the zero bits, so no carry leaves them.
            if low && s.is_whole() && s.stays_in_run() && (s.zeros >= bits || s.zeros == 32) {
                return Variation { zeros: 32, max, ..s.map(|o| o & k as i64) };
            }
            Variation { max, ..flat() }
        }
        Op::Int(IntOp::Or | IntOp::Xor, _) => flat(),
        Op::Zext { from, to } | Op::Sext { from, to } if to > from && *from != Ty::I1 => {
            let signed = matches!(op, Op::Sext { .. });
            let limit = if signed { (1u64 << (from.bits() - 1)) - 1 } else { (from.mask()) as u64 };
            let proven = a[0].max.is_some_and(|m| m <= limit) || a[0].is_flat();
            if !proven && (a[0].group == 1 || *from != Ty::I32) {
                return flat();
            }
            let guard = if proven { Guard::None } else { Guard::Offsets };
            Variation { guard: guard.max(a[0].guard), ..a[0].clone() }
        }
        Op::Zext { .. } | Op::Sext { .. } => {
            // Truncation: offsets stay correct modulo the width.
            let max = capped(a[0].max);
            Variation { max, ..if ty == Ty::I1 || a[0].guard != Guard::None { flat() } else { a[0].clone() } }
        }
        Op::ToGeneric(space) | Op::FromGeneric(space) => match space {
            wave::op::Space::Local => Variation::varying(spec.width),
            _ => Variation { max: None, zeros: 0, ..a[0].clone() },
        },
        // A cluster has at most sixteen blocks, each with its own window.
        Op::SharedAddr(..) if spec.clusters => {
            Variation { max: Some(16 << 24), ..Variation::uniform(spec.width) }
        }
        // A block's shared memory and a thread's local memory are far smaller than this.
        Op::SharedAddr(..) | Op::LocalAddr(_) => {
            Variation { max: Some(1 << 24), ..Variation::uniform(spec.width) }
        }
        Op::GlobalAddr(..) | Op::FuncAddr(_) | Op::ActiveMask | Op::Agree(_) => {
            Variation::uniform(spec.width)
        }
        // Lanes of a group may perform the access or not.
        Op::Load { guard: Performed::If | Performed::Else, .. } if !a[1].is_uniform() => {
            Variation::varying(spec.width)
        }
        Op::Load { mem, .. } => match mem.space {
            wave::op::Space::Local => Variation::varying(spec.width),
            _ if mem.order == wave::op::Order::Weak => flat(),
            _ => flat(),
        },
        Op::Vote { .. } => match a[1].is_uniform() {
            true => Variation::uniform(spec.width),
            false => Variation::varying(spec.width),
        },
        Op::Redux(_) | Op::Match(MatchMode::All, _) if a[1].is_uniform() => Variation::uniform(spec.width),
        Op::Bar { .. } => Variation::uniform(spec.width),
        Op::Elect if i == 0 && a[0].is_uniform() => Variation::uniform(spec.width),
        Op::Builtin(Builtin::MbarrierWait) if a.iter().all(Variation::is_uniform) => {
            Variation::uniform(spec.width)
        }
        Op::Atom { .. }
        | Op::Shfl { .. }
        | Op::Match(..)
        | Op::Redux(_)
        | Op::Elect
        | Op::Builtin(_)
        | Op::Matrix(_)
        | Op::Bulk(_)
        | Op::Texture(_) => Variation::varying(spec.width),
        Op::Call(_) | Op::CallIndirect { .. } => Variation::varying(spec.width),
        Op::IsSpace(wave::op::Space::Local) => Variation::varying(spec.width),
        Op::IntCmp(cmp, _)
            if compares_whole_warps(*cmp, &a[0], &a[1], c[1])
                || compares_whole_warps(cmp.exchanged(), &a[1], &a[0], c[0]) =>
        {
            Variation::uniform(spec.width)
        }
        Op::Select(_) if a[0].is_uniform() => match chosen_pattern(a) {
            Some(i) => {
                let max = a[1].max.zip(a[2].max).map(|(x, y)| x.max(y));
                Variation { zeros: 0, max, guard: Guard::Flat.max(a[i].guard), ..a[i].clone() }
            }
            None => {
                let both = a[1].meet(&a[2]);
                // The guard fails also where that of the other operand does.
                let guard = if both.guard == Guard::Flat { Guard::Offsets } else { both.guard };
                Variation { zeros: 0, guard, ..both }
            }
        },
        Op::Count(CountOp::Popc, _) => Variation { max: Some(64), ..flat() },
        _ => flat(),
    }
}

/// Integer operations that can be repeated on vectors. If their operands are uniform under a guard, so are
/// their results.
fn keeps_guard(op: &Op) -> bool {
    match op {
        Op::Int(_, ty) | Op::Shift(_, ty) | Op::IntUn(_, ty) => *ty != Ty::I1,
        Op::Zext { from, to } | Op::Sext { from, to } => *from != Ty::I1 && *to != Ty::I1,
        _ => false,
    }
}

/// The operand (1 or 2) of a select that is a pattern, if the other is uniform. The result has the pattern's
/// variation under the guard that all lanes choose the same operand.
pub fn chosen_pattern(a: &[Variation]) -> Option<usize> {
    let offsets = |s: &Variation| s.group > 1 && !s.is_flat();
    match a {
        [_, x, y] if offsets(x) && y.is_uniform() => Some(1),
        [_, x, y] if offsets(y) && x.is_uniform() => Some(2),
        _ => None,
    }
}

/// Whether comparing a pattern with a uniform value gives the same result in all lanes: the pattern takes
/// values from a multiple of the number of lanes on and fewer than that, and the bound does not fall inside
/// such a run.
fn compares_whole_warps(cmp: IntCmp, a: &Variation, b: &Variation, constant: Option<u128>) -> bool {
    let run = a.is_pattern() && a.guard == Guard::None && a.stays_in_run();
    let lanes = a.lanes();
    let bound = |extra: u128| constant.is_some_and(|k| (k + extra).is_multiple_of(lanes as u128));
    run && match cmp {
        IntCmp::LtS | IntCmp::LtU | IntCmp::GeS | IntCmp::GeU => {
            b.is_uniform() && (b.zeros >= lanes.trailing_zeros() || bound(0))
        }
        IntCmp::LeS | IntCmp::LeU | IntCmp::GtS | IntCmp::GtU => b.is_uniform() && bound(1),
        IntCmp::Eq | IntCmp::Ne => false,
    }
}

/// Whether all lanes choose the same target of a terminator.
pub fn chosen_uniformly(uniformity: &Uniformity, term: &Terminator) -> bool {
    term.condition().is_none_or(|c| uniformity.values[c.index()].is_uniform())
}
