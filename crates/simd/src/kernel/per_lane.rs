//! The per-lane mode: every lane has its own position in the code and advances independently.
//!
//! It serves control flow that cannot be linearised, and lanes that wait for other lanes of their warp.
//! Each block has a set of lanes that are to run it. One *sweep* visits all blocks in reverse post-order
//! and runs those whose set is not empty, so lanes reconverge where they do in structured code. A lane that
//! takes a back edge waits for the next sweep. No lane ever waits for another lane's loop to end.
//!
//! - A `.sync` operation runs once all its members have arrived; until then they wait (see
//!   [`super::rendezvous`]).
//! - Lanes at a barrier wait for the end of the sweep, where the warp stops for one barrier at a time. They
//!   stay in a set of their own until the scheduler no longer counts them as waiting.
//! - Once every lane that ran has gone round a loop that waits for others, the warp yields. The lanes need
//!   not do so in the same sweep: inside a round each may go through loops of other lengths.

use wave::abi::Stop;
use wave::op::Op;
use wave::{Inst, Terminator, Ty, barrier};

use super::names::{self, DISPATCH, DONE, FORCE, LEFT, LIVE, RAN, SPUN, WARP};
use super::pending::Chain;
use super::rendezvous::members_operand;
use super::value::Rep;
use super::{Kernel, Result, Unsupported, offset};
use crate::ir::{Bin, Cast, Cmp, Name, Operand, Reduction, Type};

/// Above this number of slots, values live in the warp's frame even if the warp never stops: LLVM's compile
/// time grows superlinearly with the number of slots.
const MANY: usize = 96;

/// How a sweep finds the blocks that have lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// It asks every block.
    InOrder,
    /// A dispatcher finds them, see [`super::dispatch`]: for large kernels.
    Dispatched,
}

/// Whether values live in the frame.
pub fn in_frame(suspends: bool, slots: usize) -> bool {
    suspends || slots > MANY
}

impl Kernel<'_> {
    fn word(&mut self, name: Name) -> Operand {
        let p = self.slot(name);
        self.out.ir.load(self.width().bits(), p)
    }

    fn set_word(&mut self, name: Name, bits: Operand) {
        self.set_slot(name, bits);
    }

    /// Adds lanes to the set in slot `name`.
    pub fn join_word(&mut self, name: Name, bits: Operand) {
        let old = self.word(name);
        let new = self.out.ir.bin(Bin::Or, old, bits);
        self.set_word(name, new);
    }

    fn without(&mut self, all: Operand, bits: Operand) -> Operand {
        let not = self.out.ir.bin_int(Bin::Xor, bits, -1);
        self.out.ir.bin(Bin::And, all, not)
    }

    /// Removes lanes from the set in slot `name`.
    fn leave_word(&mut self, name: Name, bits: Operand) {
        let old = self.word(name);
        let new = self.without(old, bits);
        self.set_word(name, new);
    }

    pub fn branch_if_any(&mut self, bits: Operand, then: Name, els: Name) {
        let any = self.out.ir.icmp_int(Cmp::Ne, bits, 0);
        self.out.ir.br_if(any, then, els);
    }

    /// Emits all blocks in the order of a sweep.
    pub fn per_lane_body(&mut self) -> Result<()> {
        for v in self.facts.slotted.clone() {
            self.declare_slot(v);
        }
        let order = self.facts.cfg.order.clone();
        let stops = self.waits().stops.clone();
        let none = self.no_bits();
        let sets = |k: &mut Self| {
            order.iter().for_each(|&b| k.place_slot(names::coming(b), k.width().bits()));
            stops.iter().for_each(|&b| k.place_slot(names::waiting(b), k.width().bits()));
        };
        if self.dispatches() {
            self.reserve_awake(sets);
            self.clear_awake();
        } else {
            sets(self);
            let outer = self.out.ir.begin_aside();
            for &b in &order {
                self.set_slot(names::coming(b), none);
            }
            for &b in &stops {
                self.set_slot(names::waiting(b), none);
            }
            self.set_slot(names::coming(0), names::lanes(self.width()));
            self.out.start = self.out.ir.end_aside(outer);
        }
        for name in [RAN, SPUN, FORCE, LEFT] {
            let slot = self.declare(name, self.width().bits(), 1);
            let outer = self.out.ir.begin_aside();
            self.out.ir.store(none, slot);
            let clear = self.out.ir.end_aside(outer);
            self.out.slots.extend(clear);
        }
        let counts = self.counts();
        for &b in &order {
            self.apart(b, counts)?;
        }
        let end = names::place(2 * order.len());
        if self.counts() {
            self.sweep_end(end)?;
        } else {
            self.out.ir.label(end);
            self.sweep_again();
        }
        self.way_back_in()?;
        if self.dispatches() {
            self.dispatcher(end);
        }
        Ok(())
    }

    /// Whether the code counts the lanes that advance: unless no lane ever waits in a large kernel.
    fn counts(&self) -> bool {
        let waits = !self.waits().meetings.is_empty() || !self.waits().stops.is_empty();
        let mut insts = self.facts.func.blocks.iter().flat_map(|b| &b.insts);
        !self.dispatches() || waits || insts.any(|i| matches!(i.op, Op::Yield))
    }

    /// Where a sweep starts.
    fn first_place(&self) -> Name {
        if self.dispatches() { names::AGAIN } else { names::place(0) }
    }

    /// Emits one block of a sweep.
    fn apart(&mut self, b: usize, counts: bool) -> Result<()> {
        let place = self.place(b);
        let (again, next) = (place + 1, place + 2);
        let data = self.block_data(b).clone();
        self.cursor.forget();
        self.out.ir.label(names::place(place));
        if self.waits().stops.contains(&b) {
            self.out.ir.br(names::place(next));
            return Ok(());
        }
        let meeting = self.waits().meetings.contains(&b);
        let dispatches = self.dispatches();
        if dispatches && !meeting {
            self.look_after(b);
        }
        let met = (dispatches && meeting).then(|| self.out.ir.fresh("met"));
        let (here, body) = (self.word(names::coming(b)), names::body(b));
        let bits = if meeting {
            self.set_word(LEFT, here);
            self.out.ir.br(names::place(again));
            self.out.ir.label(names::place(again));
            self.who_meets(b, &data.insts, names::place(again), met.unwrap_or(names::place(next)))?
        } else {
            self.branch_if_any(here, body, if dispatches { DISPATCH } else { names::place(next) });
            self.out.ir.label(body);
            self.set_word(names::coming(b), self.no_bits());
            if dispatches {
                self.asleep(b);
            }
            here
        };
        self.cursor.mask = self.mask_from(bits);
        self.cursor.full = false;
        if counts {
            self.join_word(RAN, bits);
        }
        for (i, inst) in data.insts.iter().enumerate() {
            self.cursor.at = (b, i);
            if matches!(inst.op, Op::Yield) {
                self.set_field(offset::W_LINE, Operand::i32(i64::from(inst.loc.line)));
                self.join_word(SPUN, bits);
            } else {
                self.instruction(inst)?;
            }
        }
        let then = if meeting { again } else { next };
        self.terminator(b, &data, Chain::from(then))?;
        if let Some(met) = met {
            self.out.ir.label(met);
            let left = self.word(names::coming(b));
            self.still_awake(b, left);
            self.out.ir.br(names::place(next));
        }
        Ok(())
    }

    /// The lanes among those left that execute an operation together: they name the same members, and all of
    /// these have arrived. Branches to `again` to try the other lanes if some are missing, and to `next` if
    /// no lane is left.
    fn who_meets(&mut self, b: usize, insts: &[Inst], again: Name, next: Name) -> Result<Operand> {
        let operand = insts.iter().find_map(|i| Some(*i.args.get(members_operand(&i.op)?)?));
        let Some(operand) = operand else {
            return Err(Unsupported("an operation between lanes without members".into()));
        };
        let left = self.word(LEFT);
        let some = self.out.ir.fresh("asked");
        self.branch_if_any(left, some, next);
        self.out.ir.label(some);
        let leader = self.first_set(left);
        let members = self.vector(operand);
        let named = self.out.ir.extract(members, leader);
        let wide = self.out.ir.splat(named);
        let same = self.out.ir.icmp(Cmp::Eq, members, wide);
        let same = self.out.ir.freeze(same);
        let same = self.bits_of(same);
        let together = self.out.ir.bin(Bin::And, same, left);
        self.leave_word(LEFT, together);
        let live = self.live();
        let live = self.bits_of(live);
        let missing = self.out.ir.bin(Bin::And, named, live);
        let missing = self.without(missing, together);
        let force = self.word(FORCE);
        let force = self.out.ir.icmp_int(Cmp::Ne, force, 0);
        let missing = self.out.ir.select(force, self.no_bits(), missing);
        self.branch_if_any(missing, again, names::body(b));
        self.out.ir.label(names::body(b));
        self.leave_word(names::coming(b), together);
        self.set_word(FORCE, self.no_bits());
        // Values read under the previous mask must be read again under this one.
        self.cursor.env.clear();
        self.cursor.lanes.clear();
        Ok(together)
    }

    /// Emits the end of a sweep, where no lane can advance any further: the warp stops or starts the next
    /// sweep.
    fn sweep_end(&mut self, mut label: Name) -> Result<()> {
        let first = self.first_place();
        for b in self.waits().stops.clone() {
            let (some, none) = (self.out.ir.fresh("stop"), self.out.ir.fresh("nobody"));
            self.out.ir.label(label);
            let here = self.word(names::coming(b));
            self.branch_if_any(here, some, none);
            self.out.ir.label(some);
            self.stop_apart(b, here)?;
            label = none;
        }
        self.out.ir.label(label);
        let live = self.live();
        let live = self.bits_of(live);
        let ran = self.word(RAN);
        let spun = self.word(SPUN);
        self.set_word(RAN, self.no_bits());
        let [alive, moved, idle, again, forced] = ["alive", "moved", "idle", "yield", "forced"].map(Name::of);
        self.branch_if_any(live, alive, DONE);
        self.out.ir.label(alive);
        self.branch_if_any(ran, moved, idle);
        self.out.ir.label(moved);
        if self.facts.suspends {
            let busy = self.without(ran, spun);
            self.branch_if_any(busy, first, again);
            self.out.ir.label(again);
            self.set_word(SPUN, self.no_bits());
            self.set_field(offset::W_SLEEP, Operand::i32(0));
            self.leave(Stop::Yield);
            // All live lanes wait. Those at barriers may still join the others' operation; if there are none,
            // the missing members will never arrive.
            self.out.ir.label(idle);
            let waiting = self.field(WARP, offset::W_WAITING, self.width().bits());
            let waiting = self.out.ir.bin(Bin::And, waiting, live);
            self.branch_if_any(waiting, again, forced);
            self.out.ir.label(forced);
        } else {
            self.out.ir.br(first);
            self.out.ir.label(idle);
        }
        self.set_word(FORCE, Operand::int(self.width().bits(), 1));
        self.out.ir.br(first);
        Ok(())
    }

    /// Returns to the scheduler.
    fn leave(&mut self, why: Stop) {
        let live = self.live();
        let live = self.bits_of(live);
        self.set_field(offset::W_LIVE, live);
        self.set_field(offset::W_RESUME, Operand::i32(1));
        self.out.ir.ret(Operand::i32(why as i64));
    }

    /// Stops at a block's barrier with the lanes that name the same barrier, or at its sleep with all lanes.
    fn stop_apart(&mut self, b: usize, here: Operand) -> Result<()> {
        let data = self.block_data(b).clone();
        let (Some(inst), Terminator::Jump(next)) = (data.insts.first(), &data.term) else {
            return Err(Unsupported("a stop before a branch".into()));
        };
        self.cursor.forget();
        self.set_field(offset::W_LINE, Operand::i32(i64::from(inst.loc.line)));
        self.cursor.mask = self.mask_from(here);
        let Op::Bar { mode } = inst.op else {
            let own = self.cursor.mask;
            let ns = self.vector(inst.args[0]);
            let ns = self.out.ir.select(own, ns, Operand::int(self.width().words(), 0));
            let ns = self.out.ir.reduce(Reduction::MaxU, ns);
            self.set_field(offset::W_SLEEP, ns);
            self.set_word(names::coming(b), self.no_bits());
            self.edge(b, next, Some(own))?;
            self.leave(Stop::Yield);
            return Ok(());
        };
        let leader = self.first_set(here);
        let mut same = self.cursor.mask;
        for (&a, field) in inst.args.iter().zip([offset::W_BAR_ID, offset::W_BAR_THREADS]) {
            let all = self.vector(a);
            let one = self.out.ir.extract(all, leader);
            let wide = self.out.ir.splat(one);
            let equal = self.out.ir.icmp(Cmp::Eq, all, wide);
            same = self.out.ir.bin(Bin::And, same, equal);
            self.set_field(field, one);
        }
        let bits = self.bits_of(same);
        let preds = match inst.args.get(2) {
            Some(&p) => {
                let p = self.vector(p);
                let p = self.bits_of(p);
                self.out.ir.bin(Bin::And, p, bits)
            }
            None => self.no_bits(),
        };
        self.leave_word(names::coming(b), bits);
        if !mode.waits() {
            self.cursor.mask = same;
            self.edge(b, next, Some(same))?;
        } else {
            self.join_word(names::waiting(b), bits);
        }
        self.set_field(offset::W_BAR_MODE, super::stop::mode_number(mode));
        self.set_field(offset::W_BAR_LANES, bits);
        self.set_field(offset::W_BAR_PREDS, preds);
        self.leave(Stop::Barrier);
        Ok(())
    }

    /// Emits the resume point: lanes whose barrier has opened continue with its result.
    fn way_back_in(&mut self) -> Result<()> {
        if !self.facts.suspends {
            return Ok(());
        }
        self.out.resumes = 1;
        self.out.ir.label(names::resume(1));
        let live = self.field(WARP, offset::W_LIVE, self.width().bits());
        let live = self.mask_from(live);
        self.store_slot(LIVE, live);
        let waiting = self.field(WARP, offset::W_WAITING, self.width().bits());
        for b in self.waits().stops.clone() {
            let data = self.block_data(b).clone();
            let (Some(inst), Terminator::Jump(next)) = (data.insts.first(), &data.term) else { continue };
            if !matches!(inst.op, Op::Bar { .. }) {
                continue;
            }
            let (some, none) = (self.out.ir.fresh("open"), self.out.ir.fresh("closed"));
            let here = self.word(names::waiting(b));
            let out = self.without(here, waiting);
            self.branch_if_any(out, some, none);
            self.out.ir.label(some);
            self.cursor.forget();
            self.leave_word(names::waiting(b), out);
            self.cursor.mask = self.mask_from(out);
            if let Some(&r) = inst.results.first() {
                let rep = self.barrier_results(inst);
                let rep = if self.func_ty(r) == Ty::I1 { self.out.ir.icmp_int(Cmp::Ne, rep, 0) } else { rep };
                self.define(r, Rep::Vector(rep))?;
            }
            let own = self.cursor.mask;
            self.edge(b, next, Some(own))?;
            self.out.ir.br(none);
            self.out.ir.label(none);
        }
        self.out.ir.br(self.first_place());
        Ok(())
    }

    /// Each lane's result of its barrier.
    fn barrier_results(&mut self, inst: &Inst) -> Operand {
        let ids = self.vector(inst.args[0]);
        let ids = self.out.ir.bin_int(Bin::And, ids, barrier::COUNT as i64 - 1);
        let results = self.out.ir.offset(WARP, offset::W_BAR_RESULT);
        let mut all = Operand::poison(self.width().words());
        for lane in 0..self.width().lanes() {
            let id = self.out.ir.extract_lane(ids, lane);
            let id = self.out.ir.cast(Cast::ZExt, id, Type::I64);
            let at = self.out.ir.element(Type::I32, results, id);
            let one = self.out.ir.load(Type::I32, at);
            all = self.out.ir.insert(all, one, Operand::i32(lane as i64));
        }
        all
    }
}
