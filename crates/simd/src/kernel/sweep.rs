//! Compiled code that runs all warps of a block from barrier to barrier, and block after block.
//!
//! In most kernels with barriers, all warps of a block arrive at the same one. For each stop, a loop over the
//! warps runs a copy of the code that follows it, without a call per warp. Where a warp waits is then known
//! by the number that its code returned, and its context is not written. So the contexts are as new when a
//! block ends, and the next one begins at once. If a warp stops in another way than those before it, the
//! contexts are brought up to date and the scheduler takes over.

use std::collections::BTreeSet;

use wave::Inst;
use wave::abi::{Stop, WarpCtx};
use wave::op::BarMode;

use super::module::{INLINED, next_block};
use super::names::{FRAME, WARP};
use super::stop::{ARRIVED, mode_number};
use super::{ENDED, Kernel, SWEEP, offset};
use crate::ir::{
    Access, Argument, Attributes, Bin, Builder, Callee, Cast, Cmp, Elem, Function, Global, Initialiser,
    Likely, Name, Op, Operand, Order, Parameter, Place, Scope, Signature, Type,
};

/// Maximum number of instructions in all copies together, before LLVM removes what each cannot reach.
const MOST: usize = 1 << 14;

/// The answer of a sweep that cannot start where the warps resume, and has run nothing.
pub const NOT_RUN: i64 = -1;

/// The kernel's code, which both entry points inline.
pub const BODY: Name = Name::of("body");

/// The function that writes into a warp's context what the number of its barrier says.
pub const SETTLE: Name = Name::of("settle");

/// The function that ends a sweep in its middle.
const PARTED: Name = Name::of("parted");

/// A row of the table of barriers: a line, a barrier's number, 0 threads and a mode, as in [`WarpCtx`].
const ROW: Type = Type::Vector(4, Elem::Int(32));
const _: () = assert!(
    offset::W_BAR_ID == offset::W_LINE + 4
        && offset::W_BAR_THREADS == offset::W_LINE + 8
        && offset::W_BAR_MODE == offset::W_LINE + 12
);

impl Kernel<'_> {
    /// Whether the kernel gets this entry point: it has stops, and a copy of its code for each stop is not
    /// too large.
    pub fn sweeps(&self) -> bool {
        self.facts.suspends
            && !self.facts.in_frame
            && !self.per_lane()
            && !self.out.arrivals.is_empty()
            && self.out.ir.body.size() * (self.out.resumes + 2) <= MOST
    }

    /// The loop, as text to append to the module. The function takes the warps, all of which resume at the
    /// same place; their frames; where to store the number of the running warp; the flag that the launch has
    /// failed; and where the number of blocks to run stands, from the current one on, which it reduces. In
    /// its result, the lower half is the warp that stopped in another way than those before it, and the upper
    /// half how it stopped, with [`ENDED`] if those before it have ended. It is the number of warps if all
    /// have ended, and after a failure elsewhere, and [`NOT_RUN`] if nothing has run.
    pub fn sweep(&mut self) -> String {
        let mut functions = vec![self.loop_over_warps(), self.parted()];
        if self.facts.flushes {
            let outside = self.flushing(functions.remove(0));
            functions.extend(self.out.ir.module.functions.pop());
            functions.push(outside);
        }
        self.out.ir.module.print_more(&functions)
    }

    /// The code that begins at each resume point.
    fn regions(&self) -> Vec<Region> {
        let func = &self.facts.func;
        let mut starts = vec![0; self.out.resumes + 1];
        for (&b, &number) in &self.out.numbers {
            starts[number] = self.facts.cfg.succs[b].first().copied().unwrap_or(0);
        }
        let region = |start: usize| {
            let (mut seen, mut left, mut region) = (BTreeSet::new(), vec![start], Region::default());
            while let Some(b) = left.pop() {
                if !seen.insert(b) {
                    continue;
                }
                let insts = &func.blocks[b].insts;
                region.cost +=
                    insts.iter().filter(|i| !self.is_known_vote(i)).map(|i| cost(&i.op)).sum::<usize>();
                match insts.last() {
                    Some(last) if last.op.suspends() => region.stops.extend(self.out.numbers.get(&b)),
                    _ => left.extend(&self.facts.cfg.succs[b]),
                }
                // A loop would be repeated for each warp.
                region.loops |= self.facts.cfg.loops.iter().any(|l| {
                    l.header == b
                        && l.blocks
                            .iter()
                            .all(|b| !func.blocks[*b].insts.last().is_some_and(|i| i.op.suspends()))
                });
            }
            region.stops.retain(|number| self.out.arrivals.contains_key(number));
            region
        };
        starts.into_iter().map(region).collect()
    }

    fn loop_over_warps(&mut self) -> Function {
        let parameters =
            ["warps", "frames", "current", "failed", "left"].map(|word| (Type::PTR, Name::of(word)));
        let [warps, frames, current, failed, left] = parameters.map(|(ty, word)| Operand::local(ty, word));
        let [entry, refused, strange, failure, out, ended, again, another, all] =
            ["entry", "refused", "strange", "failure", "out", "ended", "again", "another", "all"]
                .map(Name::of);
        let numbered = |word: &'static str| move |k: usize| Name::numbered(word, k);
        let [from, check] = ["from", "check"].map(numbered);
        let regions = self.regions();
        let (width, threads) = (self.width(), self.facts.spec.threads() as usize);
        let count = threads.div_ceil(width.lanes());
        let whole = self.facts.spec.whole || threads.is_multiple_of(width.lanes());
        let unrolled = unrolled(&regions, count);
        let alone = count == 1;
        let (count, frame_size) = (Operand::i64(count as i64), self.frame_size() as i64);
        let outer = self.out.ir.begin();
        let ir = &mut self.out.ir;
        ir.label(entry);
        let at = ir.offset(warps, offset::W_RESUME);
        let first = ir.load(Type::I32, at);
        let block = ir.offset(warps, offset::W_BLOCK);
        let block = ir.load(Type::PTR, block);
        // Only where the scheduler opens a barrier or a warp has yielded do blocks enter in their middle.
        let entries = (0..=self.out.resumes).filter(|k| !self.out.arrivals.contains_key(k));
        ir.switch(first, refused, entries.map(|k| (k as i64, from(k))).collect());
        ir.label(refused);
        ir.ret(Operand::i64(NOT_RUN));
        let mut checked = BTreeSet::new();
        let mut stopped = Vec::new();
        for k in 0..=self.out.resumes {
            let [warp, next, done, opening] =
                ["warp", "next", "done", "opening"].map(|word| Name::numbered(word, k));
            let [after, usual] = ["after", "usual"].map(|word| Name::numbered(word, k));
            ir.label(from(k));
            ir.br(warp);
            ir.label(warp);
            let w = (Operand::local(Type::I64, after), next);
            let w = ir.phi(Type::I64, vec![(Operand::i64(0), from(k)), w]);
            let before = (Operand::local(Type::I32, usual), next);
            // With poison for the first warp, which nothing is compared with, LLVM sees where all must agree.
            let before = ir.phi(Type::I32, vec![(Operand::poison(Type::I32), from(k)), before]);
            let context = context_of(ir, warps, w);
            let number = if alone {
                // instcombine must not see which lanes the only warp's masks have.
                let at = ir.offset(context, offset::W_INDEX);
                ir.load(Type::I32, at)
            } else {
                ir.cast(Cast::Trunc, w, Type::I32)
            };
            ir.store(number, current);
            let frame = frame_of(ir, frames, w, frame_size);
            let lanes = match whole {
                true => Operand::int(width.bits(), -1),
                false => {
                    let at = ir.offset(context, offset::W_LANES);
                    ir.load(width.bits(), at)
                }
            };
            let arguments =
                [context, frame, Operand::i32(k as i64), block, number, lanes].map(Argument::from);
            let code =
                ir.call_at(Place::In(Scope::Sweep), Callee::Function(BODY), Type::I32, arguments, false);
            // The first warp decides what the others should do.
            let is_first = ir.icmp_int(Cmp::Eq, w, 0);
            let expected = ir.select(is_first, code, before);
            let same = ir.icmp(Cmp::Eq, code, expected);
            let arrived = ir.icmp_int(Cmp::Uge, code, ARRIVED);
            let at_end = ir.icmp_int(Cmp::Eq, code, Stop::Done as i64);
            let usable = ir.bin(Bin::Or, arrived, at_end);
            let goes_on = ir.bin(Bin::And, same, usable);
            let left = Name::numbered("left", k);
            ir.br_if(goes_on, next, left);
            ir.label(left);
            let before = ir.select(is_first, Operand::i32(Stop::Fault as i64), before);
            ir.br(out);
            ir.label(next);
            let usual = ir.named(usual, Op::Bin(Bin::Or, code, Operand::i32(0)));
            let after = ir.named(after, Op::Bin(Bin::Add, w, Operand::i64(1)));
            let more = ir.icmp(Cmp::Ult, after, count);
            let unrolled = if unrolled[k] { Likely::Unrolled } else { Likely::Unknown };
            ir.br_likely(more, warp, done, unrolled);
            ir.label(done);
            let is_end = ir.icmp_int(Cmp::Eq, usual, Stop::Done as i64);
            ir.br_if(is_end, ended, opening);
            ir.label(opening);
            let opened = ir.bin_int(Bin::Sub, usual, ARRIVED);
            // A loop looks whether the launch has failed.
            let target = |n: usize| if n > k { from(n) } else { check(n) };
            checked.extend(regions[k].stops.range(..=k));
            ir.switch(opened, strange, regions[k].stops.iter().map(|&n| (n as i64, target(n))).collect());
            // The barrier that has opened here; what the scheduler opens, the contexts say.
            let behind = if self.out.arrivals.contains_key(&k) { k as i64 } else { 0 };
            stopped.push([w, code, before, Operand::i32(behind)].map(|value| (value, left)));
        }
        ir.label(strange);
        ir.push(Op::Unreachable);
        for n in checked {
            ir.label(check(n));
            let stop = has_failed(ir, failed);
            ir.br_if(stop, failure, from(n));
        }
        ir.label(ended);
        let blocks = ir.load(Type::I64, left);
        let blocks = ir.bin_int(Bin::Sub, blocks, 1);
        ir.store(blocks, left);
        let more = ir.icmp_int(Cmp::Ne, blocks, 0);
        ir.br_if(more, again, all);
        ir.label(all);
        let answer = ir.bin_int(Bin::Or, count, ENDED);
        ir.ret(answer);
        ir.label(again);
        let stop = has_failed(ir, failed);
        ir.br_if(stop, failure, another);
        ir.label(another);
        next_block(ir, block, Operand::i32(1));
        ir.br(from(0));
        ir.label(failure);
        ir.ret(count);
        ir.label(out);
        let types = [Type::I64, Type::I32, Type::I32, Type::I32];
        let [w, code, before, behind]: [Operand; 4] =
            std::array::from_fn(|i| ir.phi(types[i], stopped.iter().map(|s| s[i]).collect()));
        let arguments = [warps, frames, count, w, before, code, behind].map(Argument::from);
        let answer =
            ir.call_at(Place::In(Scope::Sweep), Callee::Function(PARTED), Type::I64, arguments, true);
        ir.ret(answer);
        Function {
            name: Name::of(SWEEP),
            returns: Signature::One(Type::I64),
            parameters: ["warps", "frames", "current", "failed", "left"]
                .map(|word| match word {
                    "frames" => Parameter::alone(Name::of(word)),
                    _ => Parameter::new(Type::PTR, Name::of(word)),
                })
                .to_vec(),
            attributes: Attributes::default(),
            scope: Some(Scope::Sweep),
            blocks: self.out.ir.end(outer),
        }
    }

    /// The sweep's exit if a warp stops differently from those before it: writes into the contexts what only
    /// the numbers of the stops said until now.
    fn parted(&mut self) -> Function {
        let frame_size = self.frame_size() as i64;
        let parameters = [
            (Type::PTR, "warps"),
            (Type::PTR, "frames"),
            (Type::I64, "count"),
            (Type::I64, "w"),
            (Type::I32, "before"),
            (Type::I32, "code"),
            (Type::I32, "behind"),
        ];
        let [warps, frames, count, warp, before, code, behind] =
            parameters.map(|(ty, word)| Operand::local(ty, Name::of(word)));
        let [entry, each, settle, on, end] = ["entry", "each", "settle", "on", "end"].map(Name::of);
        let following = Name::of("following");
        let outer = self.out.ir.begin();
        let ir = &mut self.out.ir;
        ir.label(entry);
        let behind = ir.bin_int(Bin::Add, behind, ARRIVED);
        ir.br(each);
        ir.label(each);
        let i = vec![(Operand::i64(0), entry), (Operand::local(Type::I64, following), on)];
        let i = ir.phi(Type::I64, i);
        let earlier = ir.icmp(Cmp::Ult, i, warp);
        let later = ir.icmp(Cmp::Ugt, i, warp);
        let stop = ir.select(later, behind, code);
        let stop = ir.select(earlier, before, stop);
        // A warp that still waits for its first turn, or does not wait for its block, needs nothing settled.
        let known = ir.icmp_int(Cmp::Ugt, stop, ARRIVED);
        ir.br_if(known, settle, on);
        ir.label(settle);
        let number = ir.bin_int(Bin::Sub, stop, ARRIVED);
        let context = context_of(ir, warps, i);
        let frame = frame_of(ir, frames, i, frame_size);
        let arguments = [context, frame, number].map(Argument::from);
        ir.call_at(Place::None, Callee::Function(SETTLE), Type::Void, arguments, false);
        ir.br(on);
        ir.label(on);
        let next = ir.named(following, Op::Bin(Bin::Add, i, Operand::i64(1)));
        let more = ir.icmp(Cmp::Ult, next, count);
        ir.br_if(more, each, end);
        ir.label(end);
        let arrived = ir.icmp_int(Cmp::Uge, code, ARRIVED);
        let code = ir.select(arrived, Operand::i32(Stop::Barrier as i64), code);
        let code = ir.cast(Cast::ZExt, code, Type::I64);
        let code = ir.bin_int(Bin::Shl, code, 32);
        let answer = ir.bin(Bin::Or, warp, code);
        let ended = ir.icmp_int(Cmp::Eq, before, Stop::Done as i64);
        let ended = ir.select(ended, Operand::i64(ENDED), Operand::i64(0));
        let answer = ir.bin(Bin::Or, answer, ended);
        ir.ret(answer);
        Function {
            name: PARTED,
            returns: Signature::One(Type::I64),
            parameters: parameters.map(|(ty, word)| Parameter::new(ty, Name::of(word))).to_vec(),
            attributes: Attributes { internal: true, cold: true, no_inline: true, ..Attributes::default() },
            scope: None,
            blocks: self.out.ir.end(outer),
        }
    }

    /// The function that writes into a warp's context what the number of its barrier says; `None` if the
    /// kernel has no such barrier. [`WarpCtx`] has the fields in the order of the table's rows.
    pub fn settle(&mut self) -> Option<Function> {
        if self.out.arrivals.is_empty() {
            return None;
        }
        let sync = mode_number(BarMode::Sync).as_int().unwrap_or(0);
        let mut rows = Vec::new();
        for number in 0..=self.out.resumes {
            let at = self.out.arrivals.get(&number);
            let [line, id] = at.map_or([0; 2], |at| [at.line, at.id].map(i64::from));
            rows.extend([line, id, 0, sync]);
        }
        let table =
            Global { name: Name::of("arrivals"), value: Initialiser::Ints(Type::I32, rows), align: 16 };
        let table = self.out.ir.global(table);
        let lanes = self.width().bits();
        let full = self.facts.always_full;
        let [warp, number] = [WARP, Operand::local(Type::I32, Name::of("number"))];
        let outer = self.out.ir.begin();
        let ir = &mut self.out.ir;
        let row = ir.cast(Cast::ZExt, number, Type::I64);
        let row = ir.element(ROW, table, row);
        let row = ir.load(ROW, row);
        let line = ir.offset(warp, offset::W_LINE);
        ir.store_as(row, line, Access::aligned(4));
        let live = ir.offset(warp, offset::W_LIVE);
        // The frame has the live lanes if they change.
        let alive = if full {
            ir.load(lanes, live)
        } else {
            let alive = ir.load(lanes, FRAME);
            ir.store(alive, live);
            alive
        };
        for (at, value) in [
            (offset::W_BAR_LANES, alive),
            (offset::W_BAR_PREDS, Operand::int(lanes, 0)),
            (offset::W_RESUME, number),
        ] {
            let at = ir.offset(warp, at);
            ir.store(value, at);
        }
        ir.ret_void();
        Some(Function {
            name: SETTLE,
            returns: Signature::One(Type::Void),
            parameters: vec![
                Parameter::new(Type::PTR, Name::of("warp")),
                Parameter::new(Type::PTR, Name::of("frame")),
                Parameter::new(Type::I32, Name::of("number")),
            ],
            attributes: INLINED,
            scope: None,
            blocks: self.out.ir.end(outer),
        })
    }

    /// Whether an operation is a vote whose answer is known if the warp's number is.
    fn is_known_vote(&self, inst: &Inst) -> bool {
        let vote = matches!(inst.op, wave::Op::Vote { sync: false, .. });
        vote && (self.agrees(inst) || self.few_by_guard(inst.args[0]).is_some())
    }
}

/// The code from a resume point to the next stops.
#[derive(Default)]
struct Region {
    /// The barriers to which it can lead, by their numbers.
    stops: BTreeSet<usize>,
    /// About how much code one warp takes.
    cost: usize,
    /// Whether it has a loop of its own.
    loops: bool,
}

/// Maximum cost of all warps' code of a region whose loop over the warps is unrolled. The regions that gain
/// are those of a few operations; LLVM's time grows with each copy.
const UNROLLED: usize = 128;

/// The same for all regions of a kernel.
const ALL_UNROLLED: usize = 1152;

/// By region: whether its loop over the warps is unrolled, the smallest ones first.
fn unrolled(regions: &[Region], warps: usize) -> Vec<bool> {
    let mut order: Vec<usize> = (0..regions.len()).collect();
    order.sort_by_key(|&k| regions[k].cost);
    let (mut unrolled, mut total) = (vec![false; regions.len()], 0);
    for k in order {
        let cost = regions[k].cost * warps;
        total += cost;
        unrolled[k] = !regions[k].loops && cost <= UNROLLED && total <= ALL_UNROLLED;
    }
    unrolled
}

/// Estimated code size of an operation, in instructions on vectors. What follows from the thread's place
/// is known if the warp's number is.
fn cost(op: &wave::Op) -> usize {
    use wave::Op;
    match op {
        Op::Load { .. } | Op::Store { .. } => 4,
        Op::Atom { .. } | Op::Texture(_) | Op::Builtin(_) | Op::Bulk(_) | Op::Matrix(_) => 32,
        op if super::recompute::cheap(op) => 0,
        op if op.is_convergent() => 3,
        _ => 1,
    }
}

/// The context of a warp.
fn context_of(ir: &mut Builder, warps: Operand, number: Operand) -> Operand {
    let distance = ir.bin_int(Bin::Mul, number, size_of::<WarpCtx>() as i64);
    ir.element(Type::I8, warps, distance)
}

/// The frame of a warp: the frames of a block's warps follow each other.
fn frame_of(ir: &mut Builder, frames: Operand, number: Operand, size: i64) -> Operand {
    let distance = ir.bin_int(Bin::Mul, number, size);
    ir.element(Type::I8, frames, distance)
}

/// Whether the launch has failed.
fn has_failed(ir: &mut Builder, failed: Operand) -> Operand {
    let access = Access { order: Order::Monotonic, ..Access::aligned(1) };
    let stop = ir.load_as(Type::I8, failed, access);
    ir.icmp_int(Cmp::Ne, stop, 0)
}
