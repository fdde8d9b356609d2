//! One kernel as LLVM IR, all lanes of a warp at a time.
//!
//! Values that one block makes and another uses live in *slots* (stack variables of vector type); so do the masks of blocks that not all
//! lanes reach. LLVM's first pass turns slots into SSA values, which keeps emission simple where control flow is not. Values with a
//! uniform shape are scalars, known patterns a scalar and constant offsets, the rest vectors.

mod atomic;
mod begin;
pub mod cfg;
mod control;
mod flush;
mod groups;
mod lanes;
mod matrix;
mod members;
mod memory;
mod module;
mod nan;
mod per_lane;
mod rendezvous;
mod routine;
mod runs;
pub mod shape;
mod spin;
mod stop;
mod threads;
mod tidy;
mod value;
mod warp;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use wave::abi::{BULK, TEXTURE, WINDOW_BITS};
use wave::module::KernelInfo;
use wave::op::{Builtin, Op, SReg, Scope};
use wave::{Block, FuncId, Function, Inst, LANES, Module, Terminator, Ty, Value};

use crate::effort::{self, Effort, FORMS, Form};
use crate::lanewise;
use crate::target::Target;
use crate::text::{Lanes, Text, vector};
use cfg::Cfg;
use rendezvous::Waits;
use routine::Routines;
use shape::{Shapes, Specialisation};
use value::Rep;

/// Why a kernel is not compiled; it is interpreted then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported(pub String);

impl From<lanewise::Unsupported> for Unsupported {
    fn from(u: lanewise::Unsupported) -> Self {
        Unsupported(u.0)
    }
}

/// What emission answers.
pub type Result<T> = std::result::Result<T, Unsupported>;

/// How much of a kernel became vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Operations on scalars for the whole warp.
    pub uniform: u32,
    /// Operations on vectors.
    pub vector: u32,
    /// Memory accesses of whole vectors or scalars.
    pub wide: u32,
    /// Memory accesses lane by lane.
    pub scattered: u32,
    /// Each lane goes on for itself: control flow that is not linearised, or lanes that wait for one another.
    pub per_lane: bool,
    /// How hard LLVM tries.
    pub effort: Effort,
}

/// A kernel's IR.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// The module's text.
    pub ir: String,
    /// Bytes of a warp's frame.
    pub frame: usize,
    /// Bytes of local memory a thread, at least.
    pub local: u64,
    /// Whether the launch may give more local memory, for recursion.
    pub keeps_stack: bool,
    /// Whether it is a coroutine.
    pub suspends: bool,
    /// What became vectors, and how hard LLVM is to try.
    pub report: Report,
}

/// Names of the entry points.
pub const RESUME: &str = "anywarp_resume";
/// The entry for kernels that never stop.
pub const RUN_BLOCKS: &str = "anywarp_run_blocks";

/// Byte offsets in `wave::abi::BlockCtx` and `WarpCtx`.
mod offset {
    pub const PARAMS: usize = 0;
    pub const SHARED: usize = 8;
    pub const IMAGE: usize = 16;
    pub const LOCAL: usize = 24;
    pub const LOCAL_STRIDE: usize = 32;
    pub const RUNTIME: usize = 40;
    pub const MATRIX: usize = 32;
    pub const GRID_ID: usize = 56;
    pub const CTAID: usize = 64;
    pub const NCTAID: usize = 76;
    pub const SMID: usize = 100;
    pub const NSMID: usize = 104;
    pub const SHARED_DYNAMIC: usize = 108;
    pub const SHARED_TOTAL: usize = 112;
    pub const WORKSPACE: usize = 120;
    pub const SHARED_REACH: usize = 128;
    pub const CLUSTER_ID: usize = 136;
    pub const CLUSTER_COUNT: usize = 148;
    pub const CLUSTER_CTAID: usize = 160;
    pub const CLUSTER_SIZE: usize = 172;
    pub const CLUSTER_RANK: usize = 184;
    pub const CLUSTER_BLOCKS: usize = 188;
    pub const CLUSTER_EXPLICIT: usize = 192;
    pub const W_BLOCK: usize = 0;
    pub const W_INDEX: usize = 16;
    pub const W_LANES: usize = 20;
    pub const W_LIVE: usize = 24;
    pub const W_WAITING: usize = 28;
    pub const W_RESUME: usize = 32;
    pub const W_LINE: usize = 36;
    pub const W_BAR_ID: usize = 40;
    pub const W_BAR_THREADS: usize = 44;
    pub const W_BAR_MODE: usize = 48;
    pub const W_BAR_LANES: usize = 52;
    pub const W_BAR_PREDS: usize = 56;
    pub const W_SLEEP: usize = 60;
    pub const W_BAR_RESULT: usize = 64;
}

/// The state of emitting one kernel.
struct Kernel<'a> {
    module: &'a Module,
    func: Function,
    cfg: Cfg,
    shapes: Shapes,
    spec: Specialisation,
    avx512: bool,
    text: Text,
    /// Values of the block in hand.
    env: BTreeMap<Value, Rep>,
    /// Why the kernel cannot be emitted after all, where the one who found it could not say so at once.
    refused: Option<String>,
    /// The block where each value is made, and the operation that makes it.
    defs: BTreeMap<Value, (usize, Inst)>,
    /// Guards of the block in hand, for values held as vectors.
    guards: BTreeMap<Value, String>,
    /// Single lanes' values of the block in hand, see [`groups`].
    lanes: BTreeMap<(Value, usize), String>,
    /// Places in the warp's frame of values that live across a stop.
    homes: BTreeMap<Value, stop::Home>,
    /// Values with slots.
    slotted: BTreeSet<Value>,
    /// Declarations of slots on the stack, for the entry block.
    slots: String,
    /// Places of slots in the warp's frame.
    places: HashMap<String, usize>,
    /// Bytes of the operands and of the results of matrix instructions, at most.
    matrices: Option<[usize; 2]>,
    /// What is stored before the first block, in the per-lane mode.
    start: String,
    /// What clears masks and slots, by the block that does it, see [`begin`].
    begin: BTreeMap<Option<usize>, String>,
    /// What must still run after each place in the order, see [`control`].
    pending: BTreeMap<usize, BTreeSet<usize>>,
    /// The mask of the block in hand, `<32 x i1>`.
    mask: String,
    frame: usize,
    /// Places to resume at.
    resumes: usize,
    /// All 32 lanes are there in the block in hand, known when compiling.
    full: bool,
    /// No lane ever leaves early, and no warp is partial.
    always_full: bool,
    /// Whether a stop may come after each block.
    before_stop: Vec<bool>,
    /// Values that anything uses.
    used: BTreeSet<Value>,
    /// Loads and stores that the processor does lane by lane where their addresses are not known, at most.
    by_lanes: usize,
    /// Rooms on the stack, see [`lanes`].
    rooms: BTreeSet<String>,
    constants: BTreeMap<Value, u128>,
    /// What is known about each thread, once something asked.
    threads: Option<threads::Threads>,
    /// The processor flushes subnormals, see [`flush`].
    flushes: bool,
    /// Values that may hold any NaN, see [`nan`].
    raw: BTreeSet<Value>,
    /// Bytes of local memory that a thread's slots take.
    local_frame: u64,
    /// Bytes of local memory a thread, if they are known when compiling; else the launch decides them.
    local_size: Option<u64>,
    param_size: u32,
    shared: BTreeMap<u32, u64>,
    slot_offsets: Vec<u64>,
    report: Report,
    suspends: bool,
    /// Each lane goes on for itself, see [`per_lane`].
    per_lane: bool,
    /// Slots lie in the warp's frame.
    in_frame: bool,
    /// Where lanes wait in the per-lane mode.
    waits: Waits,
    /// Operations that are calls.
    routines: Routines,
    /// Vectors read from the frame since another state of memory began, where a kernel is so large that it matters.
    row: Option<usize>,
    /// The words that masks were made of, for AVX2.
    words: HashMap<String, String>,
}

/// Whether some lanes may end while others go on. Where a stop may follow, lanes end as soon as nothing is left for them to do.
fn leaves_early(func: &Function, cfg: &Cfg, shapes: &Shapes, before_stop: &[bool]) -> bool {
    let ends = |b: &usize| matches!(func.blocks[*b].term, Terminator::Exit | Terminator::Return(_));
    let at_once = |b: usize| cfg.preds[b].iter().any(|&p| shapes.divergent[p] && before_stop[p]);
    cfg.order.iter().copied().filter(ends).any(|b| shapes.masked[b] || at_once(b))
}

/// Whether a stop may come after each block.
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

/// Writes a kernel's IR. What cannot be linearised goes lane by lane, see [`per_lane`].
pub fn emit(module: &Module, kernel: FuncId, spec: Specialisation, target: &Target) -> Result<Emitted> {
    let source = &module.functions[kernel.index()];
    let Some(info) = &source.kernel else { return Err(Unsupported("not a kernel".into())) };
    let mut func = wave::recurse::without_calls(module, kernel);
    let [nx, ny, nz] = spec.block.map(u128::from);
    wave::fold::fold(&mut func, |op| match op {
        Op::Special(SReg::NtidX) => Some(nx),
        Op::Special(SReg::NtidY) => Some(ny),
        Op::Special(SReg::NtidZ) => Some(nz),
        Op::Special(reg) if !spec.clusters => alone(*reg),
        _ => None,
    });
    let calls = func
        .blocks
        .iter()
        .flat_map(|b| &b.insts)
        .any(|i| matches!(i.op, Op::Call(_) | Op::CallIndirect { .. }));
    if calls {
        return Err(Unsupported("a call of what is not there, or is too much to be put in its place".into()));
    }
    let unit = Unit { module, info, spec, target };
    let large = target.effort.is_some_and(Effort::in_frame) || size(&func) > effort::MANY;
    let forced = target.effort.is_some();
    let bounded = |make: &dyn Fn(&Form) -> Result<Emitted>| {
        // Only its text shows how much there is to compile.
        let mut least = 0;
        for form in FORMS.iter().filter(|f| f.in_frame || !large && (!forced || f.routines.is_some())) {
            if form.bytes < least {
                continue;
            }
            let emitted = make(form)?;
            if emitted.ir.len() <= form.bytes || form.in_frame || forced {
                return Ok(emitted);
            }
            least = emitted.ir.len() / effort::SHRINKS;
        }
        Err(Unsupported("no form".into()))
    };
    let checked = |emitted: Emitted| match effort::allows(emitted.report.effort, emitted.ir.len()) {
        _ if forced => Ok(emitted),
        true => Ok(emitted),
        false => {
            let size = emitted.ir.len() >> 20;
            Err(Unsupported(format!(
                "{size} MiB of LLVM IR: making code of it takes longer than a kernel may take"
            )))
        }
    };
    let apart = || bounded(&|form| unit.apart(func.clone(), form));
    if target.per_lane {
        return apart().and_then(checked);
    }
    match bounded(&|form| unit.together(func.clone(), form)) {
        Err(Unsupported(reason)) => {
            let emitted = apart()?;
            tracing::debug!(kernel = source.name, reason, "compiled so that each lane goes on for itself");
            checked(emitted)
        }
        done => done.and_then(checked),
    }
}

/// Operations of a function.
fn size(func: &Function) -> usize {
    func.blocks.iter().map(|b| b.insts.len()).sum()
}

/// What a block that is its whole cluster reads of the cluster, as far as it is always the same.
fn alone(reg: SReg) -> Option<u128> {
    match reg {
        SReg::ClusterCtaidX | SReg::ClusterCtaidY | SReg::ClusterCtaidZ => Some(0),
        SReg::ClusterRank | SReg::ExplicitCluster => Some(0),
        SReg::ClusterNctaidX | SReg::ClusterNctaidY | SReg::ClusterNctaidZ => Some(1),
        SReg::ClusterBlocks => Some(1),
        _ => None,
    }
}

/// What is compiled, and for what.
#[derive(Clone, Copy)]
struct Unit<'a> {
    module: &'a Module,
    info: &'a KernelInfo,
    spec: Specialisation,
    target: &'a Target,
}

impl<'a> Unit<'a> {
    /// With lanes that run together where their ways meet.
    fn together(self, mut func: Function, form: &Form) -> Result<Emitted> {
        let cfg = Cfg::new(&func).map_err(|e| Unsupported(e.into()))?;
        tidy::without_copies(&mut func, &cfg);
        tidy::one_way_back(&mut func, &cfg);
        let cfg = Cfg::new(&func).map_err(|e| Unsupported(e.into()))?;
        tidy::close_loops(&mut func, &cfg);
        spin::mark(&mut func, &cfg);
        let func = stop::split_at_stops(&func);
        let cfg = Cfg::new(&func).map_err(|e| Unsupported(e.into()))?;
        let shapes = shape::analyse(&func, &cfg, &self.spec);
        let before_stop = before_stop(&func, &cfg);
        let always_full = self.spec.threads().is_multiple_of(LANES as u32)
            && !leaves_early(&func, &cfg, &shapes, &before_stop);
        let mut k = self.kernel(func, cfg, shapes);
        k.before_stop = before_stop;
        k.always_full = always_full;
        k.in_frame = form.in_frame;
        k.suspends |= form.in_frame;
        k.routines = Routines::from(form.routines);
        k.row = form.in_frame.then_some(0);
        if form.in_frame {
            k.slotted.retain(|v| !k.constants.contains_key(v));
        }
        k.body()?;
        k.emitted(self.target)
    }

    /// With lanes that each go on for themselves, likewise.
    fn apart(self, mut func: Function, form: &Form) -> Result<Emitted> {
        let cfg = Cfg::of_any_shape(&func);
        tidy::without_copies(&mut func, &cfg);
        spin::mark(&mut func, &cfg);
        let mut waits = rendezvous::isolate(&mut func);
        let cfg = Cfg::of_any_shape(&func);
        // Nobody waits where nobody comes.
        let reached: BTreeSet<usize> = cfg.order.iter().copied().collect();
        waits.stops.retain(|b| reached.contains(b));
        let shapes = shape::apart(&func, &cfg, &self.spec);
        let mut k = self.kernel(func, cfg, shapes);
        k.slotted.retain(|v| !k.constants.contains_key(v));
        k.per_lane = true;
        k.waits = waits;
        k.routines = Routines::from(form.routines);
        k.row = form.in_frame.then_some(0);
        k.in_frame = form.in_frame || per_lane::in_frame(k.suspends, k.slotted.len());
        k.suspends = k.in_frame;
        k.report.per_lane = true;
        k.per_lane_body()?;
        k.emitted(self.target)
    }

    fn kernel(self, func: Function, cfg: Cfg, shapes: Shapes) -> Kernel<'a> {
        let insts = || func.blocks.iter().flat_map(|b| &b.insts);
        let suspends = insts().any(|i| i.op.suspends());
        let constants = insts()
            .filter_map(|i| if let Op::Const { bits, .. } = i.op { Some((i.results[0], bits)) } else { None })
            .collect();
        let made = |(b, data): (usize, &wave::BlockData)| -> Vec<(Value, (usize, Inst))> {
            data.insts.iter().flat_map(|i| i.results.iter().map(move |&r| (r, (b, i.clone())))).collect()
        };
        let defs = func.blocks.iter().enumerate().flat_map(made).collect();
        let (local_frame, slot_offsets) = wave::layout::frame(&func);
        let keeps_stack = wave::layout::keeps_stack(&func);
        Kernel {
            module: self.module,
            spec: self.spec,
            avx512: self.target.avx512,
            text: Text::default(),
            env: BTreeMap::new(),
            guards: BTreeMap::new(),
            lanes: BTreeMap::new(),
            defs,
            refused: None,
            homes: BTreeMap::new(),
            slotted: control::crossing(&func, &cfg),
            slots: String::new(),
            places: HashMap::new(),
            matrices: None,
            start: String::new(),
            begin: BTreeMap::new(),
            pending: BTreeMap::new(),
            mask: String::new(),
            frame: 0,
            resumes: 0,
            full: false,
            always_full: false,
            before_stop: vec![false; func.blocks.len()],
            used: used_values(&func),
            rooms: BTreeSet::new(),
            by_lanes: memory::done_by_lanes(&func, self.target.avx512),
            constants,
            threads: None,
            raw: nan::raw(&func, &cfg),
            flushes: flush::by_processor(&func, &cfg, suspends),
            local_frame,
            local_size: if keeps_stack { None } else { Some(local_frame) },
            param_size: self.info.param_size,
            shared: self.info.shared.iter().map(|(id, offset)| (id.0, *offset)).collect(),
            slot_offsets,
            report: Report::default(),
            suspends,
            per_lane: false,
            in_frame: false,
            waits: Waits::default(),
            routines: Routines::default(),
            row: None,
            words: HashMap::new(),
            func,
            cfg,
            shapes,
        }
    }
}

impl Kernel<'_> {
    fn emitted(mut self, target: &Target) -> Result<Emitted> {
        if let Some(why) = self.refused.take() {
            return Err(Unsupported(why));
        }
        let ir = self.finish(target);
        let frame = self.frame.next_multiple_of(64);
        self.report.effort = match target.effort {
            _ if !self.in_frame => Effort::Full,
            Some(effort) => effort,
            None => effort::in_frame(ir.len()),
        };
        let keeps_stack = self.local_size.is_none();
        let local = self.local_frame + if keeps_stack { wave::layout::RECURSION_STACK } else { 0 };
        Ok(Emitted { ir, frame, local, keeps_stack, suspends: self.suspends, report: self.report })
    }

    fn emitter(&mut self, lanes: Lanes) -> lanewise::Emit<'_> {
        lanewise::Emit {
            text: &mut self.text,
            lanes,
            avx512: self.avx512,
            any_nan: false,
            flushes: self.flushes,
        }
    }

    /// Loads a field of a context.
    fn field(&mut self, base: &str, at: usize, ty: &str) -> String {
        let p = self.text.def(format!("getelementptr i8, ptr {base}, i64 {at}"));
        self.text.def(format!("load {ty}, ptr {p}"))
    }

    /// Where the block's shared memory begins among its cluster's, an `i32`; none where launches have no clusters.
    fn window(&mut self) -> Option<String> {
        let rank = self.spec.clusters.then(|| self.field("%block", offset::CLUSTER_RANK, "i32"))?;
        Some(self.text.def(format!("shl i32 {rank}, {WINDOW_BITS}")))
    }

    /// Stores a field of the warp's context.
    fn set_field(&mut self, at: usize, v: &str) {
        let p = self.text.def(format!("getelementptr i8, ptr %warp, i64 {at}"));
        self.text.line(format!("store i32 {v}, ptr {p}"));
    }

    /// The mask in hand as an i32.
    fn mask_bits(&mut self) -> String {
        let m = self.mask.clone();
        self.text.def(format!("bitcast <32 x i1> {m} to i32"))
    }

    fn instruction(&mut self, inst: &Inst) -> Result<()> {
        self.text.place = match inst.op {
            Op::Load { .. } | Op::Store { .. } | Op::Atom { .. } => inst.loc.line,
            _ => 0,
        };
        let done = self.operation(inst);
        self.text.place = 0;
        done
    }

    fn operation(&mut self, inst: &Inst) -> Result<()> {
        match &inst.op {
            Op::Load { mem, ty, count, offset } => self.load(inst, *mem, *ty, *count, *offset),
            Op::Store { mem, ty, count, offset } => self.store(inst, *mem, *ty, *count, *offset),
            Op::Atom { op, ty, mem, offset } => self.atomic(inst, *op, *ty, *mem, *offset),
            // The warps of a block run on one thread.
            Op::Fence { scope: Scope::Cta, .. } => {
                self.compiler_fence();
                Ok(())
            }
            Op::Fence { .. } => {
                self.text.line("fence seq_cst");
                Ok(())
            }
            Op::Special(reg) => self.special(inst, *reg),
            Op::GlobalAddr(id, off) => {
                let at = self.module.globals[id.index()].offset.wrapping_add(*off as u64);
                let v = self.text.def(format!("add i64 %image, {}", at as i64));
                self.define(inst.results[0], Rep::Uniform(v))
            }
            Op::SharedAddr(id, off) => {
                let at = self.shared.get(&id.0).copied().unwrap_or(0).wrapping_add(*off as u64);
                let mut at = (at as i64).to_string();
                if let Some(window) = self.window() {
                    let window = self.text.def(format!("zext i32 {window} to i64"));
                    at = self.text.def(format!("add i64 {window}, {at}"));
                }
                self.define(inst.results[0], Rep::Uniform(at))
            }
            Op::LocalAddr(slot) => {
                let at = self.slot_offsets.get(*slot as usize).copied().unwrap_or(0);
                self.define(inst.results[0], Rep::Uniform(at.to_string()))
            }
            Op::FuncAddr(f) => {
                self.define(inst.results[0], Rep::Uniform(Module::func_handle(*f).to_string()))
            }
            Op::ToGeneric(space) | Op::FromGeneric(space) => {
                self.cast_space(inst, *space, matches!(inst.op, Op::ToGeneric(_)))
            }
            Op::IsSpace(space) => self.is_space(inst, *space),
            Op::Builtin(b) if *b != Builtin::NanoSleep => self.builtin(inst, *b),
            Op::Texture(access) => self.call_runtime(inst, TEXTURE | access.number()),
            Op::Bulk(bulk) => match bulk.number() {
                Some(number) => self.call_runtime(inst, BULK | number),
                None => Err(Unsupported(format!("bulk.{bulk}"))),
            },
            Op::Nop => Ok(()),
            op if op.suspends() => Err(Unsupported("a stop inside a block".into())),
            op if op.is_convergent() => self.convergent(inst),
            Op::Call(_) | Op::CallIndirect { .. } => Err(Unsupported("a call".into())),
            _ => self.pure(inst),
        }
    }

    /// As `emitter`; f32 results may be any NaN if `raw`.
    fn any_nan(&mut self, lanes: Lanes, raw: bool) -> lanewise::Emit<'_> {
        lanewise::Emit { any_nan: raw, ..self.emitter(lanes) }
    }

    /// An operation's operands; raw ones as they are if the operation or its own result cares for no NaN's bits.
    fn operands(&mut self, inst: &Inst, raw: bool, lanes: Lanes) -> Vec<String> {
        let tolerant = raw || nan::tolerates(&inst.op);
        let one = |k: &mut Self, v: Value| match (lanes, tolerant) {
            (Lanes::One, true) => k.raw_first_lane(v),
            (Lanes::One, false) => k.first_lane(v),
            (Lanes::Warp, true) => k.raw_vector(v),
            (Lanes::Warp, false) => k.vector(v),
        };
        inst.args.iter().map(|&v| one(self, v)).collect()
    }

    /// An operation lane by lane: on scalars where the result is uniform or a pattern, else on vectors.
    fn pure(&mut self, inst: &Inst) -> Result<()> {
        let shapes: Vec<shape::Shape> =
            inst.results.iter().map(|r| self.shapes.values[r.index()].clone()).collect();
        let scalar = shapes.iter().all(|s| s.is_uniform() || s.is_pattern());
        let raw = inst.results.first().is_some_and(|r| self.raw.contains(r));
        let mut scalars = Vec::new();
        if scalar {
            let args = self.operands(inst, raw, Lanes::One);
            scalars = lanewise::emit(&mut self.any_nan(Lanes::One, raw), &inst.op, &args)?;
            self.report.uniform += 1;
        }
        let mut vectors = Vec::new();
        if !scalar {
            let args = self.operands(inst, raw, Lanes::Warp);
            vectors = self.on_vectors(inst, raw, &args)?;
            self.scalars_of_groups(inst)?;
            self.report.vector += 1;
        }
        for (i, &r) in inst.results.iter().enumerate() {
            let rep = if !scalar {
                if shapes[i].needs_guard() {
                    let guard = self.guard_of(inst, &shapes[i]);
                    self.guards.insert(r, guard);
                }
                Rep::Vector(vectors[i].clone())
            } else if shapes[i].is_uniform() {
                Rep::Uniform(scalars[i].clone())
            } else if shapes[i].needs_guard() {
                let guard = self.guard_of(inst, &shapes[i]);
                Rep::Pattern { base: scalars[i].clone(), guarded: Some((guard, None)) }
            } else {
                Rep::Pattern { base: scalars[i].clone(), guarded: None }
            };
            self.define(r, rep)?;
        }
        Ok(())
    }

    /// The condition under which a widened pattern holds: its operand does not wrap inside the warp, and its operands' guards hold.
    fn guard_of(&mut self, inst: &Inst, shape: &shape::Shape) -> String {
        let mut guard = "true".to_string();
        for a in inst.args.clone() {
            if let Some(g) = self.guard(a) {
                guard = if guard == "true" { g } else { self.text.def(format!("and i1 {guard}, {g}")) };
            }
        }
        let (Op::Sext { from, to } | Op::Zext { from, to }) = inst.op else { return guard };
        let source = self.shapes.values[inst.args[0].index()].clone();
        if to <= from || source.is_flat() {
            return guard;
        }
        let signed = matches!(inst.op, Op::Sext { .. });
        let (low, high) = (
            shape.offsets.iter().min().copied().unwrap_or(0),
            shape.offsets.iter().max().copied().unwrap_or(0),
        );
        let (min, max) =
            if signed { (i64::from(i32::MIN), i64::from(i32::MAX)) } else { (0, i64::from(u32::MAX)) };
        // Every value may be the first of its group.
        let (min, max) = (min.saturating_sub(low).max(min), max.saturating_sub(high).min(max));
        let both = if shape.group == LANES {
            let base = self.first_lane(inst.args[0]);
            self.within(&base, signed, min, max)
        } else if let Some(groups) = self.groups_within(inst.args[0], signed, min, max) {
            groups
        } else {
            let v = self.vector(inst.args[0]);
            let v = self.text.def(format!("freeze <32 x i32> {v}"));
            let (le, ge) = if signed { ("sle", "sge") } else { ("ule", "uge") };
            let a = self.text.def(format!("icmp {le} <32 x i32> {v}, splat (i32 {})", max as i32));
            let b = self.text.def(format!("icmp {ge} <32 x i32> {v}, splat (i32 {})", min as i32));
            let both = self.text.def(format!("and <32 x i1> {a}, {b}"));
            let bits = self.text.def(format!("bitcast <32 x i1> {both} to i32"));
            self.text.def(format!("icmp eq i32 {bits}, -1"))
        };
        if guard == "true" { both } else { self.text.def(format!("and i1 {guard}, {both}")) }
    }

    fn special(&mut self, inst: &Inst, reg: SReg) -> Result<()> {
        use offset as o;
        let r = inst.results[0];
        let shape = self.shapes.values[r.index()].clone();
        let [nx, ny, nz] = self.spec.block;
        let uniform = |k: &mut Self, at: usize, ty: &str| {
            let v = k.field("%block", at, ty);
            Rep::Uniform(v)
        };
        let rep = match reg {
            SReg::TidX | SReg::TidY | SReg::TidZ => {
                let split = |k: &mut Self, lanes: Lanes, thread: &str| -> Result<String> {
                    let ty = if lanes == Lanes::One { "i32".to_string() } else { vector(Ty::I32) };
                    let c = |v: u32| crate::text::literal(Ty::I32, lanes, u128::from(v.max(1)));
                    Ok(match reg {
                        SReg::TidX if ny * nz == 1 => thread.to_string(),
                        SReg::TidX => k.text.def(format!("urem {ty} {thread}, {}", c(nx))),
                        SReg::TidY => {
                            let row = k.text.def(format!("udiv {ty} {thread}, {}", c(nx)));
                            if nz == 1 { row } else { k.text.def(format!("urem {ty} {row}, {}", c(ny))) }
                        }
                        _ => k.text.def(format!("udiv {ty} {thread}, {}", c(nx.saturating_mul(ny)))),
                    })
                };
                let thread = self.text.def("shl i32 %index, 5");
                if shape.is_uniform() || shape.is_pattern() {
                    let v = split(self, Lanes::One, &thread)?;
                    if shape.is_uniform() { Rep::Uniform(v) } else { Rep::Pattern { base: v, guarded: None } }
                } else {
                    let lanes = lane_numbers();
                    let t = self.text.splat(Ty::I32, &thread);
                    let t = self.text.def(format!("add <32 x i32> {t}, {lanes}"));
                    Rep::Vector(split(self, Lanes::Warp, &t)?)
                }
            }
            SReg::LaneId => Rep::Pattern { base: "0".into(), guarded: None },
            SReg::NtidX => Rep::Uniform(nx.to_string()),
            SReg::NtidY => Rep::Uniform(ny.to_string()),
            SReg::NtidZ => Rep::Uniform(nz.to_string()),
            SReg::CtaidX => uniform(self, o::CTAID, "i32"),
            SReg::CtaidY => uniform(self, o::CTAID + 4, "i32"),
            SReg::CtaidZ => uniform(self, o::CTAID + 8, "i32"),
            SReg::NctaidX => uniform(self, o::NCTAID, "i32"),
            SReg::NctaidY => uniform(self, o::NCTAID + 4, "i32"),
            SReg::NctaidZ => uniform(self, o::NCTAID + 8, "i32"),
            SReg::ClusterIdX | SReg::ClusterIdY | SReg::ClusterIdZ => {
                let axis = reg as usize - SReg::ClusterIdX as usize;
                uniform(self, if self.spec.clusters { o::CLUSTER_ID } else { o::CTAID } + 4 * axis, "i32")
            }
            SReg::NClusterIdX | SReg::NClusterIdY | SReg::NClusterIdZ => {
                let axis = reg as usize - SReg::NClusterIdX as usize;
                uniform(self, if self.spec.clusters { o::CLUSTER_COUNT } else { o::NCTAID } + 4 * axis, "i32")
            }
            SReg::ClusterCtaidX => uniform(self, o::CLUSTER_CTAID, "i32"),
            SReg::ClusterCtaidY => uniform(self, o::CLUSTER_CTAID + 4, "i32"),
            SReg::ClusterCtaidZ => uniform(self, o::CLUSTER_CTAID + 8, "i32"),
            SReg::ClusterNctaidX => uniform(self, o::CLUSTER_SIZE, "i32"),
            SReg::ClusterNctaidY => uniform(self, o::CLUSTER_SIZE + 4, "i32"),
            SReg::ClusterNctaidZ => uniform(self, o::CLUSTER_SIZE + 8, "i32"),
            SReg::ClusterRank => uniform(self, o::CLUSTER_RANK, "i32"),
            SReg::ClusterBlocks => uniform(self, o::CLUSTER_BLOCKS, "i32"),
            SReg::ExplicitCluster => uniform(self, o::CLUSTER_EXPLICIT, "i32"),
            SReg::WarpId => Rep::Uniform("%index".into()),
            SReg::NWarpId => Rep::Uniform(self.spec.threads().div_ceil(LANES as u32).to_string()),
            SReg::SmId => uniform(self, o::SMID, "i32"),
            SReg::NSmId => uniform(self, o::NSMID, "i32"),
            SReg::GridId64 => uniform(self, o::GRID_ID, "i64"),
            SReg::Workspace64 => uniform(self, o::WORKSPACE, "i64"),
            SReg::DynSharedSize => uniform(self, o::SHARED_DYNAMIC, "i32"),
            SReg::TotalSharedSize => uniform(self, o::SHARED_TOTAL, "i32"),
            SReg::LocalSize64 => Rep::Uniform(self.local_size()),
            SReg::LaneMaskEq | SReg::LaneMaskLe | SReg::LaneMaskLt | SReg::LaneMaskGe | SReg::LaneMaskGt => {
                let of = |l: u32| {
                    let bit = 1u32 << l;
                    match reg {
                        SReg::LaneMaskEq => bit,
                        SReg::LaneMaskLe => bit | (bit - 1),
                        SReg::LaneMaskLt => bit - 1,
                        SReg::LaneMaskGe => !(bit - 1),
                        _ => !(bit | (bit - 1)),
                    }
                };
                Rep::Vector(constant_vector(Ty::I32, &std::array::from_fn(|l| i64::from(of(l as u32)))))
            }
            SReg::Clock | SReg::Clock64 | SReg::GlobalTimer64 => {
                let t = self.text.intrinsic("i64", "llvm.readcyclecounter", &[]);
                Rep::Uniform(if reg == SReg::Clock {
                    self.text.def(format!("trunc i64 {t} to i32"))
                } else {
                    t
                })
            }
        };
        self.define(r, rep)
    }

    fn builtin(&mut self, inst: &Inst, which: Builtin) -> Result<()> {
        let number = Builtin::ALL.iter().position(|&b| b == which).unwrap_or(0);
        self.call_runtime(inst, number as u32)
    }

    /// Calls the runtime with operands as arrays of 32.
    fn call_runtime(&mut self, inst: &Inst, number: u32) -> Result<()> {
        let words = |values: usize| format!("[{} x i64]", values.max(1) * LANES);
        let args = self.room("args", &words(inst.args.len()));
        let results = self.room("results", &words(inst.results.len()));
        for (i, &a) in inst.args.iter().enumerate() {
            let v = self.vector(a);
            let ty = self.func_ty(a);
            let v = self.emitter(Lanes::Warp).cast("zext", ty, Ty::I64, &v);
            let p = self.text.def(format!("getelementptr i8, ptr {args}, i64 {}", i * LANES * 8));
            self.text.line(format!("store <32 x i64> {v}, ptr {p}"));
        }
        self.set_field(offset::W_LINE, &inst.loc.line.to_string());
        let runtime = self.field("%block", offset::RUNTIME, "ptr");
        let f = self.field(&runtime, 0, "ptr");
        let bits = self.mask_bits();
        let code = self
            .text
            .def(format!("call i32 {f}(ptr %warp, i32 {number}, i32 {bits}, ptr {args}, ptr {results})"));
        let failed = self.text.def(format!("icmp ne i32 {code}, 0"));
        let next = self.text.fresh("called");
        self.text.line(format!("br i1 {failed}, label %fault, label %{next}"));
        self.text.label(&next);
        for (i, &r) in inst.results.iter().enumerate() {
            let p = self.text.def(format!("getelementptr i8, ptr {results}, i64 {}", i * LANES * 8));
            let v = self.text.def(format!("load <32 x i64>, ptr {p}"));
            let ty = self.func_ty(r);
            let v = self.emitter(Lanes::Warp).cast("zext", Ty::I64, ty, &v);
            self.define(r, Rep::Vector(v))?;
        }
        Ok(())
    }

    fn func_ty(&self, v: Value) -> Ty {
        self.func.ty(v)
    }

    fn block_data(&self, b: usize) -> &wave::BlockData {
        self.func.block(Block(b as u32))
    }
}

/// 0, 1, 2 … 31.
fn lane_numbers() -> String {
    constant_vector(Ty::I32, &std::array::from_fn(|l| l as i64))
}

/// A constant of 32 values.
fn constant_vector(ty: Ty, values: &[i64; LANES]) -> String {
    let bits = ty.bits();
    let list: Vec<String> = values
        .iter()
        .map(|v| {
            let v = if bits >= 64 { *v } else { (*v as u64 & ty.mask() as u64) as i64 };
            if ty == Ty::I1 { format!("i1 {}", v & 1 == 1) } else { format!("i{bits} {v}") }
        })
        .collect();
    format!("<{}>", list.join(", "))
}
