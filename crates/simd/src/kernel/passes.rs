//! The passes over a kernel's wave IR before emission, by name and in order.
//!
//! Every kernel runs through [`FIRST`], then through [`TOGETHER`]. If it cannot be linearised, it runs
//! through [`APART`] instead.

use wave::op::{Op, SReg};
use wave::range::Ranges;
use wave::{FuncId, Function, Module};

use super::cfg::Cfg;
use super::rendezvous::Waits;
use super::uniformity::{self, Specialisation, Uniformity};
use super::{Result, Unsupported, ahead, rendezvous, rounds, spin, stop, tidy, wide};
use crate::ir::Width;

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
    pass("simplify", "uses value ranges: decided branches, narrower arithmetic", simplify),
    pass("unreachable", "empties blocks that nothing leads to", unreachable),
];

/// Passes for the linearised form.
pub const TOGETHER: &[Pass] = &[
    pass("copies", "removes block parameters that are copies", copies),
    pass("one-way-back", "gives each loop one back edge", one_way_back),
    pass("close-loops", "passes values out of loops as parameters", close_loops),
    pass("yields", "lets other warps run in loops that wait", yields),
    pass("split-stops", "ends a block at each barrier and sleep", split_stops),
    pass("rounds", "duplicates loops for lanes that agree on the number of rounds", one_number),
    pass("prefetch", "prefetches loads that move far each round", prefetch),
    pass("pairs", "runs two warps together where each round reads far from the last", pairs),
];

/// Passes for the per-lane mode.
pub const APART: &[Pass] = &[
    pass("copies", "removes block parameters that are copies", copies_apart),
    pass("yields", "lets other warps run in loops that wait", yields_apart),
    // Several places share one block, so definitions no longer dominate their uses.
    Pass {
        verified: false,
        ..pass("meetings", "gives operations at which lanes wait blocks of their own", meetings)
    },
];

/// The passes' input besides the function, and their results for later passes.
pub struct Work {
    kernel: FuncId,
    /// What the code is specialised for; [`TOGETHER`] may make two warps run together.
    pub spec: Specialisation,
    /// When two warps run together.
    pairs: Pairs,
    /// Whether loads that move far each round were found.
    far: bool,
    /// The control-flow graph while it is valid.
    cfg: Option<Cfg>,
    /// The analyses while they are valid.
    facts: Option<Analyses>,
    /// Where lanes wait; set by [`APART`].
    pub waits: Waits,
}

/// When two warps of a block run together, if no lane can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairs {
    /// Never.
    Never,
    /// Where loads move far each round.
    WhereFar,
    /// Always.
    Always,
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
    pub fn new(kernel: FuncId, spec: Specialisation, pairs: Pairs) -> Work {
        Work { kernel, spec, pairs, far: false, cfg: None, facts: None, waits: Waits::default() }
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

fn one_way_back(_: &Module, work: &mut Work, func: &mut Function) -> Result<()> {
    tidy::one_way_back(func, work.graph(func)?);
    work.cfg = None;
    Ok(())
}

fn close_loops(_: &Module, work: &mut Work, func: &mut Function) -> Result<()> {
    tidy::close_loops(func, work.graph(func)?);
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
    work.far = ahead::ask(func, &facts.cfg, &facts.uniformity);
    if !work.far {
        work.facts = Some(facts);
    }
    Ok(())
}

fn pairs(_: &Module, work: &mut Work, func: &mut Function) -> Result<()> {
    let wanted = match work.pairs {
        Pairs::Never => false,
        Pairs::WhereFar => work.far,
        Pairs::Always => true,
    };
    if !wanted {
        return Ok(());
    }
    let narrow = work.analyses(func)?;
    if !wide::may_pair(func, &narrow.cfg, &work.spec) {
        work.facts = Some(narrow);
        return Ok(());
    }
    let spec = Specialisation { width: Width::PAIR, ..work.spec };
    let wide = Analyses::of(func, &spec)?;
    if work.pairs == Pairs::Always || wide::keeps(&narrow.uniformity, &wide.uniformity) {
        work.spec = spec;
        work.facts = Some(wide);
    } else {
        work.facts = Some(narrow);
    }
    Ok(())
}

fn copies_apart(_: &Module, _: &mut Work, func: &mut Function) -> Result<()> {
    // Each lane has its own values, including those that it carries out of a loop.
    let cfg = Cfg::of_any_shape(func);
    tidy::without_copies(func, &cfg);
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
