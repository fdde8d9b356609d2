//! The passes over a kernel's wave IR before emission, by name and in order.
//!
//! Every kernel runs through [`FIRST`], then through [`TOGETHER`]. If it cannot be linearised, it runs
//! through [`APART`] instead, or [`APART_LARGE`].

use wave::op::{Op, SReg};
use wave::range::Ranges;
use wave::{FuncId, Function, Module};

use super::cfg::Cfg;
use super::rendezvous::Waits;
use super::specialisation::Specialisation;
use super::uniformity::{self, Uniformity};
use super::{
    Result, Unsupported, ahead, clamped, hoist, order, recompute, rendezvous, rounds, skip, spin, stop, tidy,
    wide,
};
use crate::ir::Width;
use crate::target::{Maker, Target};

/// A pass of these lists.
pub type Pass = wave::pass::Pass<Work, Unsupported>;

type Run = fn(&Module, &mut Work, &mut Function) -> Result<()>;

/// A pass whose result satisfies the verifier.
const fn pass(name: &'static str, about: &'static str, run: Run) -> Pass {
    Pass { name, about, run, verified: true }
}

/// Passes for every kernel, run once.
pub const FIRST: &[Pass] = &[
    pass("inline", "inlines calls", inline),
    pass("recurse", "turns recursive calls into jumps", recurse),
    pass("fold", "computes constants, with the block's size known", fold),
    pass("untangle", "reads masks and halves of AMD code as flags and whole values", untangle),
    pass("simplify", "uses value ranges: decided branches, narrower arithmetic", simplify),
    pass("unreachable", "empties blocks that nothing leads to", unreachable),
];

/// Passes for the linearised form.
pub const TOGETHER: &[Pass] = &[
    pass("copies", "removes block parameters that are copies", copies),
    pass("diverge", "lets lanes branch by themselves where AMD code asks all of them", diverge),
    pass("single-latch", "gives each loop a single latch, the block with its back edge", single_latch),
    pass("lcssa", "passes values out of loops as parameters (loop-closed SSA)", lcssa),
    pass("yields", "lets other warps run in loops that wait", yields),
    pass("split-stops", "ends a block at each barrier and sleep", split_stops),
    pass("hoist", "computes before a stop what would keep more values across it", hoist),
    pass("recompute", "computes cheap values again after a stop, which need not keep them", again),
    pass("rounds", "duplicates loops for lanes that agree on the number of rounds", one_number),
    pass("prefetch", "prefetches loads that move far each round", prefetch),
    pass("widen", "runs several warps together where each round reads far from the last", widen),
    pass("order", "orders long blocks of AMD code so that fewer vectors live at once", order),
    pass("clamped", "loads a row where no lane's index is clamped", clamped),
];

/// Passes for the per-lane mode.
pub const APART: &[Pass] = &[COPIES_APART, YIELDS_APART, MEETINGS];

/// Passes for the per-lane mode of a large kernel.
pub const APART_LARGE: &[Pass] = &[
    COPIES_APART,
    pass("cycles", "removes block parameters that hand one value to each other", cycles_apart),
    YIELDS_APART,
    MEETINGS,
];

const COPIES_APART: Pass = pass("copies", "removes block parameters that are copies", copies_apart);
const YIELDS_APART: Pass = pass("yields", "lets other warps run in loops that wait", yields_apart);
// Several places share one block, so definitions no longer dominate their uses.
const MEETINGS: Pass = Pass {
    verified: false,
    ..pass("meetings", "gives operations at which lanes wait blocks of their own", meetings)
};

/// The passes' input besides the function, and their results for later passes.
pub struct Work {
    kernel: FuncId,
    /// What the code is specialised for; [`TOGETHER`] may make several warps run together.
    pub spec: Specialisation,
    /// When several warps run together.
    widen: Widen,
    /// Bytes of the processor's vector registers.
    registers: usize,
    /// Whether warps of several blocks may run together. The lanes at the edge of a grid seldom all take
    /// part, which costs little only if the processor has masks.
    across: bool,
    /// Whose processor the code is for.
    maker: Maker,
    /// Whether loads that move far each round were found.
    far: bool,
    /// Whether a loop has too many of them to prefetch.
    many: bool,
    /// The control-flow graph while it is valid.
    cfg: Option<Cfg>,
    /// The analyses while they are valid.
    facts: Option<Analyses>,
    /// Where lanes wait; set by [`APART`].
    pub waits: Waits,
}

/// When several warps of a block run together, if no lane can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Widen {
    /// Never.
    Never,
    /// Where loads move far each round, as many as the processor has registers for.
    WhereFar,
    /// Always, as many as a block can be divided into, up to this number.
    Always(u16),
}

/// The analyses of a function.
pub struct Analyses {
    pub cfg: Cfg,
    pub uniformity: Uniformity,
    pub ranges: Ranges,
}

impl Analyses {
    /// Analyses a function for the linearised form.
    pub fn of(func: &Function, spec: &Specialisation) -> Result<Analyses> {
        let cfg = Cfg::new(func).map_err(|e| Unsupported(e.into()))?;
        let ranges = Ranges::of(func, &|reg| uniformity::register(reg, spec));
        let uniformity = uniformity::analyse(func, &cfg, spec, &ranges);
        Ok(Analyses { cfg, uniformity, ranges })
    }
}

impl Work {
    /// The state before the first pass.
    pub fn new(kernel: FuncId, spec: Specialisation, widen: Widen, target: &Target) -> Work {
        let avx512 = target.avx512;
        let registers = wide::registers(avx512);
        Work {
            kernel,
            spec,
            widen,
            registers,
            across: avx512 || matches!(widen, Widen::Always(_)),
            maker: target.maker,
            far: false,
            many: false,
            cfg: None,
            facts: None,
            waits: Waits::default(),
        }
    }

    fn graph(&mut self, func: &Function) -> Result<&Cfg> {
        let cfg = match self.cfg.take() {
            Some(cfg) => cfg,
            None => Cfg::new(func).map_err(|e| Unsupported(e.into()))?,
        };
        Ok(self.cfg.insert(cfg))
    }

    /// The analyses of the function after [`TOGETHER`].
    pub fn analyses(&mut self, func: &Function) -> Result<Analyses> {
        match self.facts.take() {
            Some(facts) => Ok(facts),
            None => Analyses::of(func, &self.spec),
        }
    }
}

fn inline(module: &Module, work: &mut Work, func: &mut Function) -> Result<()> {
    wave::inline::inline(module, work.kernel, func);
    Ok(())
}

fn recurse(module: &Module, work: &mut Work, func: &mut Function) -> Result<()> {
    wave::recurse::without_recursion(module, work.kernel, func);
    let calls = |op: &Op| matches!(op, Op::Call(_) | Op::CallIndirect { .. });
    match func.blocks.iter().flat_map(|b| &b.insts).any(|i| calls(&i.op)) {
        true => {
            Err(Unsupported("a call of an undefined function, or of one that is too large to inline".into()))
        }
        false => Ok(()),
    }
}

fn fold(_: &Module, work: &mut Work, func: &mut Function) -> Result<()> {
    let spec = work.spec;
    let [nx, ny, nz] = spec.block.map(u128::from);
    wave::fold::fold(func, |op| match op {
        Op::Special(SReg::NtidX) => Some(nx),
        Op::Special(SReg::NtidY) => Some(ny),
        Op::Special(SReg::NtidZ) => Some(nz),
        Op::Special(reg) if !spec.clusters => alone(*reg),
        _ => None,
    });
    Ok(())
}

/// The constant value of a cluster register for a block that is its whole cluster, if it has one.
fn alone(reg: SReg) -> Option<u128> {
    match reg {
        SReg::ClusterCtaidX | SReg::ClusterCtaidY | SReg::ClusterCtaidZ => Some(0),
        SReg::ClusterRank | SReg::ExplicitCluster => Some(0),
        SReg::ClusterNctaidX | SReg::ClusterNctaidY | SReg::ClusterNctaidZ => Some(1),
        SReg::ClusterBlocks => Some(1),
        _ => None,
    }
}

fn untangle(_: &Module, _: &mut Work, func: &mut Function) -> Result<()> {
    wave::lanes::untangle(func);
    Ok(())
}

fn simplify(_: &Module, work: &mut Work, func: &mut Function) -> Result<()> {
    wave::simplify::simplify(func, &|reg| uniformity::register(reg, &work.spec));
    Ok(())
}

fn unreachable(_: &Module, _: &mut Work, func: &mut Function) -> Result<()> {
    wave::unreachable::empty(func);
    Ok(())
}

fn copies(_: &Module, work: &mut Work, func: &mut Function) -> Result<()> {
    tidy::without_copies(func, work.graph(func)?);
    Ok(())
}

fn diverge(_: &Module, work: &mut Work, func: &mut Function) -> Result<()> {
    wave::lanes::diverge(func);
    work.cfg = None;
    Ok(())
}

fn single_latch(_: &Module, work: &mut Work, func: &mut Function) -> Result<()> {
    tidy::single_latch(func, work.graph(func)?);
    work.cfg = None;
    Ok(())
}

fn lcssa(_: &Module, work: &mut Work, func: &mut Function) -> Result<()> {
    tidy::lcssa(func, work.graph(func)?);
    Ok(())
}

fn yields(_: &Module, work: &mut Work, func: &mut Function) -> Result<()> {
    spin::mark(func, work.graph(func)?);
    Ok(())
}

fn split_stops(_: &Module, work: &mut Work, func: &mut Function) -> Result<()> {
    *func = stop::split_at_stops(func);
    work.cfg = None;
    Ok(())
}

fn hoist(_: &Module, work: &mut Work, func: &mut Function) -> Result<()> {
    hoist::before_stops(func, work.graph(func)?);
    Ok(())
}

fn again(_: &Module, work: &mut Work, func: &mut Function) -> Result<()> {
    recompute::after_stops(func, work.graph(func)?);
    Ok(())
}

fn one_number(_: &Module, work: &mut Work, func: &mut Function) -> Result<()> {
    let mut facts = work.analyses(func)?;
    if let Some(twice) = rounds::for_one_number(func, &facts.cfg, &facts.uniformity) {
        let of_twice = Analyses::of(&twice, &work.spec)?;
        if rounds::gains(&facts.uniformity, &of_twice.uniformity) {
            (*func, facts) = (twice, of_twice);
        }
    }
    work.facts = Some(facts);
    Ok(())
}

fn prefetch(_: &Module, work: &mut Work, func: &mut Function) -> Result<()> {
    let facts = work.analyses(func)?;
    let asked = ahead::ask(func, &facts.cfg, &facts.uniformity, work.maker);
    (work.far, work.many) = (asked.far, asked.many);
    if !asked.any {
        work.facts = Some(facts);
    }
    Ok(())
}

fn widen(_: &Module, work: &mut Work, func: &mut Function) -> Result<()> {
    let wanted = match work.widen {
        Widen::Never => false,
        Widen::WhereFar => work.far || work.many && work.across,
        Widen::Always(_) => true,
    };
    if work.widen != Widen::Never && wide::has_short_rows(&work.spec) {
        let facts = work.analyses(func)?;
        let widens = wanted && wide::may_widen(func, &facts.cfg);
        let part = !widens && wide::may_part(func, &facts.cfg);
        if part && skip::only_skips(func, &facts.cfg, &facts.uniformity) {
            work.spec = work.spec.of_warps(wave::Width::W32);
            wide::of_narrow_warps(func);
            return Ok(());
        }
        work.facts = Some(facts);
    }
    if !wanted {
        return Ok(());
    }
    let narrow = work.analyses(func)?;
    // Waves of 64 lanes in which no lane can tell are two warps that run together.
    let base = if work.spec.whole { work.spec } else { work.spec.of_warps(wave::Width::W32) };
    let most = match work.widen {
        _ if !wide::may_widen(func, &narrow.cfg) => 1,
        Widen::Never => 1,
        Widen::WhereFar if base.warp != work.spec.warp => {
            // Two rows of a block in a wave look like values of the lanes.
            let one = Analyses::of(func, &base)?;
            wide::most(func, &one.cfg, &one.uniformity, work.registers)
        }
        Widen::WhereFar => wide::most(func, &narrow.cfg, &narrow.uniformity, work.registers),
        Widen::Always(most) => most,
    };
    let far = work.far || work.widen != Widen::WhereFar;
    let across = work.across && most > 1 && wide::may_go_across(func, &narrow.cfg, &base);
    let groups =
        [true, false].into_iter().filter(|&a| across || !a).flat_map(|a| wide::COUNTS.map(|n| (a, n)));
    // Without a prefetch, several rows of one block are not read together: planes and rows are often powers
    // of two apart and fall into the same cache sets.
    for (across, warps) in groups.filter(|&(across, warps)| warps <= most && (across || far)) {
        let spec = Specialisation { width: Width::warps(warps), across, ..base };
        if !across && (!wide::divides(&base, warps) || spec.width == work.spec.width) {
            continue;
        }
        let wide = Analyses::of(func, &spec)?;
        let alike = skip::only_skips(func, &wide.cfg, &wide.uniformity);
        let kept = || wide::keeps(&narrow.uniformity, &wide.uniformity);
        if alike && (matches!(work.widen, Widen::Always(_)) || kept()) {
            let fewer = spec.warp != work.spec.warp;
            (work.spec, work.facts) = (spec, Some(wide));
            if fewer {
                wide::of_narrow_warps(func);
                work.facts = None;
            }
            return Ok(());
        }
    }
    work.facts = Some(narrow);
    Ok(())
}

fn order(_: &Module, work: &mut Work, func: &mut Function) -> Result<()> {
    if func.kernel.as_ref().is_some_and(|info| info.loose_words) {
        let facts = work.analyses(func)?;
        let most = work.registers / work.spec.width.lanes();
        order::order(func, &facts.cfg, &facts.uniformity, most);
        work.facts = Some(facts);
    }
    Ok(())
}

fn clamped(_: &Module, work: &mut Work, func: &mut Function) -> Result<()> {
    let facts = work.analyses(func)?;
    if clamped::split(func, &facts, &work.spec)? {
        work.cfg = None;
    } else {
        work.facts = Some(facts);
    }
    Ok(())
}

fn copies_apart(_: &Module, _: &mut Work, func: &mut Function) -> Result<()> {
    // Each lane has its own values, including those that it carries out of a loop.
    let cfg = Cfg::of_any_shape(func);
    tidy::without_copies(func, &cfg);
    Ok(())
}

fn cycles_apart(_: &Module, _: &mut Work, func: &mut Function) -> Result<()> {
    let cfg = Cfg::of_any_shape(func);
    tidy::without_cycles(func, &cfg);
    Ok(())
}

fn yields_apart(_: &Module, _: &mut Work, func: &mut Function) -> Result<()> {
    if spin::may_wait(func) {
        let mut cfg = Cfg::of_any_shape(func);
        cfg.find_loops();
        spin::mark(func, &cfg);
    }
    Ok(())
}

fn meetings(_: &Module, work: &mut Work, func: &mut Function) -> Result<()> {
    work.waits = rendezvous::isolate(func);
    Ok(())
}
