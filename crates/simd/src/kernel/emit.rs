//! Emits a kernel of wave IR as LLVM IR: inlines its calls, chooses a form by its size, and linearises it or
//! falls back to the per-lane mode.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use wave::abi::FRAME_ALIGN;
use wave::module::KernelInfo;
use wave::op::Op;
use wave::range::Ranges;
use wave::{FuncId, Function, Inst, Module, Terminator, Value};

use super::aligned;
use super::cfg::Cfg;
use super::explain::{Told, Watch};
use super::passes::{self, Analyses, Pass, Widen, Work};
use super::product::Dots;
use super::sharing::Sharing;
use super::specialisation::Specialisation;
use super::uniformity::{self, Uniformity};
use super::{
    Cursor, Emitted, Facts, Kernel, Output, Report, Result, Strategy, Unsupported, control, exchange, flush,
    groups, memory, nan, per_lane,
};
use crate::effort::{self, Effort, FORMS, Form};
use crate::ir::Builder;
use crate::key::{CodeKey, Forced};
use crate::target::Target;

/// Emits a kernel's IR. A kernel that cannot be linearised is emitted in the per-lane mode, see
/// [`super::per_lane`]. `watch` observes each step.
pub fn emit(module: &Module, kernel: FuncId, code: CodeKey<'_>, watch: Watch) -> Result<Emitted> {
    let CodeKey { spec, target, forced } = code;
    let source = &module.functions[kernel.index()];
    let whole = source.kernel.as_ref().is_some_and(|info| info.whole_warps);
    let spec = Specialisation { whole, ..spec.of_warps(source.width) };
    let Some(info) = &source.kernel else { return Err(Unsupported("not a kernel".into())) };
    let mut func = Function::clone(source);
    let unit = Unit { module, kernel, info, spec, target, forced, watch };
    unit.passes(passes::FIRST, &mut unit.alone(), &mut func)?;
    let (any_size, bound) = (forced.effort.is_some(), forced.most(target));
    // Emits the first form whose text fits its bound. If none fits, returns the last one's
    // size.
    let bounded = |apart: bool, make: &dyn Fn(&Form) -> Result<Emitted>| -> Result<Bounded> {
        // In the per-lane mode any block may follow any other, so values are live everywhere and LLVM takes
        // longer for the same text.
        let (share, many) = if apart { (2, effort::MANY_APART) } else { (1, effort::MANY) };
        let large = forced.effort.is_some_and(Effort::in_frame) || size(&func) > many;
        // The size is known only once the text exists.
        let mut bytes = 0;
        for form in FORMS.iter().filter(|f| f.in_frame || !large && (!any_size || f.outlined.is_some())) {
            let bound = if apart && form.in_frame { bound * effort::APART } else { bound };
            let bytes_of = |bytes: usize| if any_size { usize::MAX } else { bytes.min(bound) };
            let most = bytes_of(form.bytes.map_or(bound, |bytes| bytes / share));
            // The per-lane form in the frame is another one, not only outlined.
            if most < bytes / effort::SHRINKS && !(apart && form.in_frame) {
                continue;
            }
            let emitted = make(form)?;
            bytes = emitted.ir.len();
            if bytes <= most {
                return Ok(Ok(emitted));
            }
        }
        Ok(Err((bytes, if apart { bound * effort::APART } else { bound })))
    };
    let checked = |made: Bounded| made.map_err(|(bytes, bound)| too_large(bytes, bound, target));
    let apart = || bounded(true, &|form| unit.apart(func.clone(), form));
    if forced.per_lane {
        watch(Told::Refused("requested"));
        return apart().and_then(checked);
    }
    match bounded(false, &|form| unit.together(func.clone(), form)) {
        Err(Unsupported(reason)) => {
            watch(Told::Refused(&reason));
            let made = apart()?;
            tracing::debug!(kernel = source.name, reason, "compiled in the per-lane mode");
            checked(made)
        }
        done => done.and_then(checked),
    }
}

/// A kernel's IR, or its size in bytes and the bound that it exceeds.
type Bounded = std::result::Result<Emitted, (usize, usize)>;

/// The error for a kernel whose IR is too large to compile.
fn too_large(bytes: usize, bound: usize, target: &Target) -> Unsupported {
    let (size, most) = (bytes.div_ceil(1024), bound / 1024);
    let vectors = if target.avx512 { "AVX-512" } else { "AVX2" };
    Unsupported(format!("{size} KiB of LLVM IR is more than {most} KiB, the limit for {vectors}"))
}

/// Number of operations in a function.
fn size(func: &Function) -> usize {
    func.blocks.iter().map(|b| b.insts.len()).sum()
}

/// What is compiled, and for what.
#[derive(Clone, Copy)]
struct Unit<'a> {
    module: &'a Module,
    kernel: FuncId,
    info: &'a KernelInfo,
    spec: Specialisation,
    target: &'a Target,
    forced: &'a Forced,
    watch: Watch<'a>,
}

impl<'a> Unit<'a> {
    /// Emits the linearised form, in which lanes reconverge.
    fn together(self, mut func: Function, form: &Form) -> Result<Emitted> {
        let widen = match self.forced.warps {
            _ if form.in_frame => Widen::Never,
            Some(most) => Widen::Always(most),
            None => Widen::WhereFar,
        };
        let mut work = Work::new(self.kernel, self.spec, widen, self.target);
        self.passes(passes::TOGETHER, &mut work, &mut func)?;
        let analyses = work.analyses(&func)?;
        let facts = Unit { spec: work.spec, ..self }.facts(func, analyses, &Strategy::Linear, form);
        let mut k = Kernel::new(facts, Strategy::Linear, form);
        k.body()?;
        (self.watch)(Told::Kernel(&k));
        k.emitted(self.target, self.forced)
    }

    /// Runs a list of passes over a function.
    fn passes(self, list: &[Pass], work: &mut Work, func: &mut Function) -> Result<()> {
        let told = |name: &'static str, func: &Function| (self.watch)(Told::Pass(name, func));
        wave::pass::run(list, self.module, work, func, &told)
    }

    /// The state before the first pass of a form that runs warps one by one.
    fn alone(self) -> Work {
        Work::new(self.kernel, self.spec, Widen::Never, self.target)
    }

    /// Emits the per-lane form.
    fn apart(self, mut func: Function, form: &Form) -> Result<Emitted> {
        let mut work = self.alone();
        let list = if form.in_frame { passes::APART_LARGE } else { passes::APART };
        self.passes(list, &mut work, &mut func)?;
        let mut waits = work.waits;
        let cfg = Cfg::of_any_shape(&func);
        // A stop that no lane reaches has no waiters.
        let reached: BTreeSet<usize> = cfg.order.iter().copied().collect();
        waits.stops.retain(|b| reached.contains(b));
        let ranges = Ranges::of(&func, &|reg| uniformity::register(reg, &self.spec));
        let uniformity = uniformity::apart(&func, &cfg, &self.spec, &ranges);
        let visit = if form.in_frame { per_lane::Visit::Dispatched } else { per_lane::Visit::InOrder };
        let strategy = Strategy::PerLane(waits, visit);
        let facts = self.facts(func, Analyses { cfg, uniformity, ranges }, &strategy, form);
        let mut k = Kernel::new(facts, strategy, form);
        k.per_lane_body()?;
        (self.watch)(Told::Kernel(&k));
        k.emitted(self.target, self.forced)
    }

    /// Collects what is known of a function in its final form.
    fn facts(self, func: Function, analyses: Analyses, strategy: &Strategy, form: &Form) -> Facts<'a> {
        let Analyses { cfg, uniformity, ranges } = analyses;
        let insts = || func.blocks.iter().flat_map(|b| &b.insts);
        let stops = insts().any(|i| i.op.suspends());
        let constants: BTreeMap<Value, u128> = insts()
            .filter_map(|i| if let Op::Const { bits, .. } = i.op { Some((i.results[0], bits)) } else { None })
            .collect();
        let made = |(b, data): (usize, &wave::BlockData)| -> Vec<(Value, (usize, Inst))> {
            data.insts.iter().flat_map(|i| i.results.iter().map(move |&r| (r, (b, i.clone())))).collect()
        };
        let defs: BTreeMap<Value, (usize, Inst)> = func.blocks.iter().enumerate().flat_map(made).collect();
        let mut slotted = control::crossing(&func, &cfg);
        let linear = matches!(strategy, Strategy::Linear);
        if form.in_frame || !linear {
            // Constants are written where they are used.
            slotted.retain(|v| !constants.contains_key(v));
        }
        let made = exchange::Made { defs: &defs, constants: &constants, uniformity: &uniformity };
        if linear && !stops && !form.in_frame {
            for &b in &cfg.order {
                slotted.extend(func.blocks[b].insts.iter().flat_map(|i| made.needed(b, i)));
            }
        }
        let own = |v: Value| {
            let all = &uniformity.values[v.index()];
            let plain = !all.is_uniform() && !all.is_pattern() && !all.needs_guard();
            plain && uniformity.escaping[v.index()] && !constants.contains_key(&v)
        };
        let sharing = match strategy {
            Strategy::PerLane(_, per_lane::Visit::Dispatched) => Sharing::of(&func, &cfg, &mut slotted, &own),
            _ => Sharing::default(),
        };
        let mut raw = nan::raw(&func, &cfg);
        if matches!(strategy, Strategy::PerLane(_, per_lane::Visit::Dispatched)) {
            nan::without_copies(&func, &cfg, &mut raw);
        }
        let in_frame = form.in_frame || !linear && per_lane::in_frame(stops, slotted.len());
        // Per-lane code looks for stops by itself.
        let before_stop = if linear { before_stop(&func, &cfg) } else { vec![false; func.blocks.len()] };
        // The last blocks of a row may be fewer than those that run together.
        let whole_warps = !self.spec.across
            && (self.spec.whole || self.spec.threads().is_multiple_of(self.spec.width.lanes() as u32));
        let always_full = linear && whole_warps && !leaves_early(&func, &cfg, &uniformity, &before_stop);
        let grouped =
            if linear && !in_frame { groups::grouped(&func, &cfg, &uniformity) } else { BTreeSet::new() };
        let (local_frame, slot_offsets) = wave::layout::frame(&func);
        let keeps_stack = wave::layout::keeps_stack(&func);
        Facts {
            module: self.module,
            spec: self.spec,
            avx512: self.target.avx512,
            maker: self.target.maker,
            dots: Dots { halves: self.target.has_bf16(), bytes: self.target.has_vnni() },
            slotted,
            sharing,
            grouped,
            in_frame,
            suspends: stops || in_frame,
            always_full,
            loose_words: func.kernel.as_ref().is_some_and(|info| info.loose_words),
            before_stop,
            used: used_values(&func),
            by_lanes: memory::done_by_lanes(&func, self.target.avx512),
            aligned: aligned::shown(&func, &cfg, &defs, &constants),
            flushes: flush::by_processor(&func, &cfg, stops),
            raw,
            local_frame,
            local_size: if keeps_stack { None } else { Some(local_frame) },
            slot_offsets,
            param_size: self.info.param_size,
            shared: self.info.shared.iter().map(|(id, offset)| (id.0, *offset)).collect(),
            outlined_from: form.outlined,
            by_lane: RefCell::default(),
            threads: RefCell::default(),
            defs,
            constants,
            func,
            cfg,
            uniformity,
            ranges,
        }
    }
}

impl<'a> Kernel<'a> {
    fn new(facts: Facts<'a>, strategy: Strategy, form: &Form) -> Self {
        let per_lane = matches!(strategy, Strategy::PerLane(..));
        let out = Output {
            report: Report { per_lane, ..Report::default() },
            ir: Builder { width: facts.spec.width, ..Builder::default() },
            ..Output::default()
        };
        let cursor = Cursor::new(facts.spec.width, form.in_frame.then_some(0));
        Kernel { facts, strategy, cursor, out }
    }
}

impl Kernel<'_> {
    /// Bytes of a warp's frame, once all code has been emitted.
    pub fn frame_size(&self) -> usize {
        self.out.frame.next_multiple_of(FRAME_ALIGN)
    }

    fn emitted(mut self, target: &Target, forced: &Forced) -> Result<Emitted> {
        if let Some(why) = self.out.refused.take() {
            return Err(Unsupported(why));
        }
        let (ir, sweep) = self.finish(target);
        let frame = self.frame_size();
        self.out.report.effort = match forced.effort {
            _ if !self.facts.in_frame => Effort::Full,
            Some(effort) => effort,
            None => effort::in_frame(ir.len()),
        };
        let insts = self.facts.cfg.order.iter().flat_map(|&b| &self.facts.func.blocks[b].insts);
        let elsewhere = insts.filter(|i| i.op.suspends()).any(|i| !matches!(i.op, Op::Bar { .. }));
        let waits = self.facts.suspends && (elsewhere || self.per_lane());
        let keeps_stack = self.facts.local_size.is_none();
        let local = self.facts.local_frame + if keeps_stack { wave::layout::RECURSION_STACK } else { 0 };
        Ok(Emitted {
            ir,
            sweep,
            width: self.facts.spec.warp,
            whole_warps: self.facts.spec.whole,
            together: if self.facts.spec.across { self.facts.spec.width.lanes() / self.warp() } else { 1 }
                as u8,
            frame,
            local,
            keeps_stack,
            suspends: self.facts.suspends,
            stops: self.out.resumes,
            waits,
            report: self.out.report,
        })
    }
}

/// Whether some lanes may end while others continue. If a stop may follow, lanes end as soon as nothing is
/// left for them to do.
fn leaves_early(func: &Function, cfg: &Cfg, uniformity: &Uniformity, before_stop: &[bool]) -> bool {
    let ends = |b: &usize| matches!(func.blocks[*b].term, Terminator::Exit | Terminator::Return(_));
    let at_once = |b: usize| cfg.preds[b].iter().any(|&p| uniformity.divergent[p] && before_stop[p]);
    cfg.order.iter().copied().filter(ends).any(|b| uniformity.masked[b] || at_once(b))
}

/// By block: whether a stop may follow it.
fn before_stop(func: &Function, cfg: &Cfg) -> Vec<bool> {
    let stops = |b: usize| func.blocks[b].insts.iter().any(|i| i.op.suspends());
    let mut before = vec![false; func.blocks.len()];
    loop {
        let mut changed = false;
        for &b in cfg.order.iter().rev() {
            let now = cfg.succs[b].iter().any(|&s| stops(s) || before[s]);
            changed |= now != std::mem::replace(&mut before[b], now);
        }
        if !changed {
            return before;
        }
    }
}

fn used_values(func: &Function) -> BTreeSet<Value> {
    let insts = func.blocks.iter().flat_map(|b| &b.insts).flat_map(|i| i.args.iter().copied());
    insts.chain(func.blocks.iter().flat_map(|b| b.term.uses())).collect()
}
