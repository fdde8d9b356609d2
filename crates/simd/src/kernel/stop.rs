//! Stops: where a warp waits, what it keeps in its frame meanwhile, and how it resumes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use wave::abi::Stop;
use wave::barrier;
use wave::op::{BarMode, Op};
use wave::{Block, BlockCall, BlockData, Function, Terminator, Value};

use super::cfg::Cfg;
use super::names::{self, LIVE, WARP};
use super::value::Rep;
use super::{Kernel, Result, Unsupported, offset};
use crate::effort;
use crate::ir::{Bin, Cast, Cmp, Name, Operand, Order, Reduction, Type};

/// Number of vectors reloaded from the frame between two fences, if there are more than [`MANY`]. For each 16
/// or 32 bytes loaded, LLVM's instruction selection compares all other loads of the same memory state, so
/// hundreds of loads in a row take minutes.
pub const ROW: usize = 16;
/// Up to this many vectors are reloaded without fences, so that LLVM stays free to reorder them in kernels
/// with small frames.
const MANY: usize = 64;

/// The frame slot of a value while the warp is stopped.
#[derive(Clone, Debug, Default)]
pub struct FrameSlots {
    /// Frame offsets of the parts that [`Kernel::slot_parts`] lists.
    pub at: Vec<usize>,
    /// Written at the definition, not at each stop.
    pub eager: bool,
}

/// What a stop with a number from here on means: all live lanes are at the barrier where the code resumes
/// with that number, less this. Within a module only; lower numbers are [`Stop`]'s.
pub const ARRIVED: i64 = 16;

/// A barrier at which a warp's live lanes wait for the whole block.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Its line, for messages.
    pub line: u32,
    /// Its number, below [`barrier::COUNT`].
    pub id: u32,
}

/// Splits blocks after every operation that stops. A stop is then always a block's last operation, and the
/// terminator does not use its result.
pub fn split_at_stops(func: &Function) -> Function {
    let mut out = func.clone();
    // Blocks to split: where, and how many instructions each part but the last has.
    let mut split: VecDeque<(usize, std::vec::IntoIter<wave::Inst>, VecDeque<usize>)> = VecDeque::new();
    for (b, data) in out.blocks.iter_mut().enumerate() {
        let last = data.insts.len().saturating_sub(1);
        let needed = |at: usize| data.term.uses().iter().any(|v| data.insts[at].results.contains(v));
        let ends = |at: usize| at < last || !matches!(data.term, Terminator::Jump(_)) || needed(at);
        let stops = (0..data.insts.len()).filter(|&at| data.insts[at].op.suspends() && ends(at));
        let mut before = 0;
        let parts: VecDeque<usize> =
            stops.map(|at| at + 1 - std::mem::replace(&mut before, at + 1)).collect();
        if !parts.is_empty() {
            split.push_back((b, std::mem::take(&mut data.insts).into_iter(), parts));
        }
    }
    while let Some((b, mut insts, mut parts)) = split.pop_front() {
        let Some(count) = parts.pop_front() else {
            out.blocks[b].insts = insts.collect();
            continue;
        };
        let next = Block(out.blocks.len() as u32);
        let data = &mut out.blocks[b];
        data.insts = insts.by_ref().take(count).collect();
        let term = std::mem::replace(&mut data.term, Terminator::Jump(BlockCall::to(next)));
        let term_loc = data.term_loc;
        out.blocks.push(BlockData { params: vec![], insts: vec![], term, term_loc });
        split.push_back((next.index(), insts, parts));
    }
    out
}

/// Values that are live at the start of each block, for kernels where no lane waits elsewhere.
pub fn live_in(func: &Function, cfg: &Cfg) -> Vec<BTreeSet<Value>> {
    let mut live: Vec<BTreeSet<Value>> = vec![BTreeSet::new(); func.blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for &b in cfg.order.iter().rev() {
            let data = &func.blocks[b];
            let mut set: BTreeSet<Value> = BTreeSet::new();
            for &s in &cfg.succs[b] {
                set.extend(live[s].iter().filter(|v| !func.blocks[s].params.contains(v)));
            }
            set.extend(data.term.uses());
            for i in data.insts.iter().rev() {
                i.results.iter().for_each(|r| {
                    set.remove(r);
                });
                set.extend(&i.args);
            }
            if set != live[b] {
                live[b] = set;
                changed = true;
            }
        }
    }
    live
}

impl Kernel<'_> {
    /// Separates loads before and after it with a compiler fence, which emits no instruction: LLVM compares
    /// each load with every other load of the same memory state.
    pub fn another_state(&mut self) {
        self.out.ir.fence(Order::AcqRel, true);
    }

    /// Reserves the frame's first bytes for the mask of live lanes.
    pub fn begin_frame(&mut self) {
        self.out.frame = self.width().bits().bytes();
    }

    /// Values that a stop before `target` must save. Values that already live in the frame are not among
    /// them.
    pub fn kept(&self, target: usize, result: Option<Value>, live: &[BTreeSet<Value>]) -> Vec<Value> {
        if self.facts.in_frame {
            return Vec::new();
        }
        let mut keep: BTreeSet<Value> = live[target].clone();
        keep.extend(&self.block_data(target).params);
        keep.into_iter().filter(|v| Some(*v) != result && self.facts.slotted.contains(v)).collect()
    }

    /// Assigns a frame slot to every value that lives across a stop. The value is written there at its
    /// definition, unless the definition is nested deeper in loops than every stop it lives across.
    pub fn make_homes(&mut self, live: &[BTreeSet<Value>]) {
        let depth = |b: usize| self.facts.cfg.around(b).count();
        let mut made: BTreeMap<Value, usize> = BTreeMap::new();
        let mut deepest: BTreeMap<Value, usize> = BTreeMap::new();
        for &b in &self.facts.cfg.order {
            let data = self.block_data(b);
            for &p in &data.params {
                // Parameters are written on the incoming edges.
                made.insert(p, self.facts.cfg.preds[b].iter().map(|&f| depth(f)).max().unwrap_or(0));
            }
            for i in &data.insts {
                i.results.iter().for_each(|&r| {
                    made.insert(r, depth(b));
                });
            }
            if let (Some(i), Terminator::Jump(next)) =
                (data.insts.last().filter(|i| i.op.suspends()), &data.term)
            {
                for v in self.kept(next.block.index(), i.results.first().copied(), live) {
                    let d = deepest.entry(v).or_insert(0);
                    *d = (*d).max(depth(b));
                }
            }
        }
        let mut frame = self.out.frame;
        for (v, stop) in deepest {
            let mut at = Vec::new();
            for (_, ty) in self.slot_parts(v) {
                let size = ty.bytes();
                frame = usize::next_multiple_of(frame, size.min(64));
                at.push(frame);
                frame += size;
            }
            let eager = made.get(&v).is_some_and(|&d| d <= stop);
            self.out.frame_slots.insert(v, FrameSlots { at, eager });
        }
        self.out.frame = frame;
    }

    /// The contents of a stack slot that are to be saved across a stop.
    fn load_kept(&mut self, slot: Name, ty: Type) -> Operand {
        if ty.is_mask() {
            return self.load_slot(slot, ty);
        }
        let at = self.slot(slot);
        self.out.ir.load(ty, at)
    }

    /// What is known at compile time of a barrier at which warps wait for their whole block.
    fn arrival(&self, inst: &wave::Inst) -> Option<Arrival> {
        if self.per_lane() || inst.op != (Op::Bar { mode: BarMode::Sync }) {
            return None;
        }
        let [id, threads @ ..] = inst.args.as_slice() else { return None };
        let id = self.constant(*id).filter(|&id| (id as usize) < barrier::COUNT)?;
        let all = threads.iter().all(|&v| self.constant(v) == Some(0));
        all.then_some(Arrival { line: inst.loc.line, id })
    }

    /// Returns from such a barrier: with its number alone if all live lanes arrive, for then the number tells
    /// everything; the scheduler's entry point or the sweep writes the context's fields if they are needed.
    fn arrive(&mut self, b: usize, number: usize, arrival: Arrival, bits: Operand) {
        self.out.arrivals.insert(number, arrival);
        let code = Operand::i32(ARRIVED + number as i64);
        if self.facts.always_full && !self.facts.uniformity.masked[b] {
            return self.out.ir.ret(code);
        }
        let alive = self.live();
        let alive = self.bits_of(alive);
        let all = self.out.ir.icmp(Cmp::Eq, bits, alive);
        let any = self.out.ir.icmp_int(Cmp::Ne, alive, 0);
        let all = self.out.ir.bin(Bin::And, all, any);
        let (whole, part) = (self.out.ir.fresh("arrive"), self.out.ir.fresh("part"));
        self.out.ir.br_if(all, whole, part);
        self.out.ir.label(whole);
        self.out.ir.ret(code);
        self.out.ir.label(part);
        self.set_field(offset::W_LINE, Operand::i32(i64::from(arrival.line)));
        self.set_field(offset::W_BAR_ID, Operand::i32(i64::from(arrival.id)));
        self.set_field(offset::W_BAR_THREADS, Operand::i32(0));
        self.set_field(offset::W_BAR_MODE, mode_number(BarMode::Sync));
        self.set_field(offset::W_BAR_LANES, bits);
        let none = self.no_bits();
        self.set_field(offset::W_BAR_PREDS, none);
        self.return_from(number, Stop::Barrier);
    }

    /// Returns from a stop whose reason is in the context already.
    fn return_from(&mut self, number: usize, why: Stop) {
        let alive = self.live();
        let alive = self.bits_of(alive);
        self.set_field(offset::W_LIVE, alive);
        self.set_field(offset::W_RESUME, Operand::i32(number as i64));
        self.out.ir.ret(Operand::i32(why as i64));
    }

    /// Writes into the context why the warp stops.
    fn record(&mut self, inst: &wave::Inst, bits: Operand) -> Result<Stop> {
        self.set_field(offset::W_LINE, Operand::i32(i64::from(inst.loc.line)));
        Ok(match inst.op {
            Op::Bar { mode } => {
                for (a, field) in inst.args.iter().zip([offset::W_BAR_ID, offset::W_BAR_THREADS]) {
                    if !self.facts.uniformity.values[a.index()].is_uniform() {
                        return Err(Unsupported("a barrier whose number differs between lanes".into()));
                    }
                    let one = self.first_lane(*a);
                    self.set_field(field, one);
                }
                let preds = match inst.args.get(2) {
                    Some(&p) => {
                        let v = self.vector(p);
                        let v = self.out.ir.freeze(v);
                        let v = self.out.ir.bitcast(v, self.width().bits());
                        self.out.ir.bin(Bin::And, v, bits)
                    }
                    None => self.no_bits(),
                };
                self.set_field(offset::W_BAR_MODE, mode_number(mode));
                self.set_field(offset::W_BAR_LANES, bits);
                self.set_field(offset::W_BAR_PREDS, preds);
                Stop::Barrier
            }
            Op::Yield => {
                self.set_field(offset::W_SLEEP, Operand::i32(0));
                Stop::Yield
            }
            _ => {
                let v = self.vector(inst.args[0]);
                let ns = self.out.ir.reduce(Reduction::MaxU, v);
                self.set_field(offset::W_SLEEP, ns);
                Stop::Yield
            }
        })
    }

    /// Emits a barrier or another stop: saves the live values, records the reason, and returns. The next
    /// resume restores the values and continues.
    pub fn stop(
        &mut self,
        b: usize,
        inst: &wave::Inst,
        term: &Terminator,
        live: &[BTreeSet<Value>],
    ) -> Result<()> {
        let Terminator::Jump(next) = term else { return Err(Unsupported("a stop before a branch".into())) };
        let target = next.block.index();
        // A block that has a copy for full warps stops twice and resumes at one place.
        let known = self.out.numbers.get(&b).copied();
        let number = known.unwrap_or(self.out.resumes + 1);
        if number > effort::MOST_STOPS {
            return Err(Unsupported(format!("more than {} barriers and other stops", effort::MOST_STOPS)));
        }
        let bits = self.mask_bits();
        let arrival = self.arrival(inst);
        let why = if arrival.is_some() { Stop::Barrier } else { self.record(inst, bits)? };
        self.edge(b, next, None)?;
        let result = inst.results.first().copied();
        let mut saved = Vec::new();
        for v in self.kept(target, result, live) {
            let slots = self.out.frame_slots.get(&v).cloned().unwrap_or_default();
            for ((slot, ty), at) in self.slot_parts(v).into_iter().zip(slots.at) {
                saved.push((slot, ty, at, !slots.eager));
            }
        }
        if !self.facts.always_full {
            saved.push((LIVE, self.width().mask(), 0, true));
        }
        for &(slot, ty, at, now) in &saved {
            if now {
                let v = self.load_kept(slot, ty);
                self.store_home(v, at);
            }
        }
        match arrival {
            Some(arrival) => self.arrive(b, number, arrival, bits),
            None => self.return_from(number, why),
        }
        if known.is_some() {
            return Ok(());
        }
        self.out.numbers.insert(b, number);
        let place = self.place(target);
        // The resume point.
        self.out.ir.label(names::resume(number));
        let wide = |ty: Type| ty.is_vector() && !ty.is_mask();
        let rows = saved.iter().filter(|(_, ty, ..)| wide(*ty)).count() > MANY;
        let mut row = 0;
        for &(slot, ty, at, _) in &saved {
            let v = self.load_home(ty, at);
            match ty.is_mask() {
                true => self.store_slot(slot, v),
                false => self.set_slot(slot, v),
            }
            row += usize::from(rows && wide(ty));
            if row == ROW {
                self.another_state();
                row = 0;
            }
        }
        if self.facts.uniformity.masked[target] {
            // All live lanes continue.
            let m = self.live();
            self.store_slot(names::coming(target), m);
        }
        if let Some(r) = result {
            let id = self.field(WARP, offset::W_BAR_ID, Type::I32);
            let at = self.out.ir.cast(Cast::ZExt, id, Type::I64);
            let p = self.out.ir.element(Type::I32, WARP, at);
            let p = self.out.ir.offset(p, offset::W_BAR_RESULT);
            let v = self.out.ir.load(Type::I32, p);
            let v = if self.func_ty(r) == wave::Ty::I1 { self.out.ir.icmp_int(Cmp::Ne, v, 0) } else { v };
            self.cursor.env.clear();
            self.cursor.lanes.clear();
            self.define(r, Rep::Uniform(v))?;
        }
        self.out.ir.br(names::place(place));
        self.out.resumes = number;
        Ok(())
    }
}

/// The number by which compiled code tells the scheduler a barrier's kind.
pub fn mode_number(mode: BarMode) -> Operand {
    Operand::i32(BarMode::ALL.iter().position(|&m| m == mode).unwrap_or(0) as i64)
}
