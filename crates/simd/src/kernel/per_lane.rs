//! The per-lane mode: every lane has a place of its own in the text, and goes on for itself.
//!
//! For control flow that cannot be linearised, and for lanes that wait for other lanes of their warp. Each block has the set of lanes that are
//! to run it. One *sweep* goes over all blocks in reverse post-order and runs those that have lanes, so that lanes meet where they do in
//! structured code; who goes back waits for the next sweep. No lane ever waits for another one's loop to end.
//!
//! - A `.sync` operation runs for members that are all there; others stay (see [`super::rendezvous`]).
//! - Lanes at a barrier stay until the sweep's end, where the warp stops for one barrier at a time. Those that wait there are kept apart
//!   until the scheduler no longer counts them among the waiting.
//! - Where all lanes that ran only went round loops that wait for others, the warp yields.

use std::fmt::Write as _;

use wave::op::{BarMode, Op};
use wave::{Inst, LANES, Terminator, Ty};

use super::rendezvous::members_operand;
use super::value::Rep;
use super::{Kernel, Result, Unsupported, offset};
use crate::text::vector;

/// Slots beyond which values lie in the warp's frame even where the warp never stops: LLVM's time grows faster than their number.
const MANY: usize = 96;

/// Whether values should lie in the frame.
pub fn in_frame(suspends: bool, slots: usize) -> bool {
    suspends || slots > MANY
}

impl Kernel<'_> {
    fn word(&mut self, name: &str) -> String {
        let p = self.slot(name);
        self.text.def(format!("load i32, ptr {p}"))
    }

    fn set_word(&mut self, name: &str, bits: &str) {
        let p = self.slot(name);
        self.text.line(format!("store i32 {bits}, ptr {p}"));
    }

    /// Adds lanes to a set.
    pub fn join_word(&mut self, name: &str, bits: &str) {
        let old = self.word(name);
        let new = self.text.def(format!("or i32 {old}, {bits}"));
        self.set_word(name, &new);
    }

    fn without(&mut self, all: &str, bits: &str) -> String {
        let not = self.text.def(format!("xor i32 {bits}, -1"));
        self.text.def(format!("and i32 {all}, {not}"))
    }

    /// Takes lanes from a set.
    fn leave_word(&mut self, name: &str, bits: &str) {
        let old = self.word(name);
        let new = self.without(&old, bits);
        self.set_word(name, &new);
    }

    fn branch_if_any(&mut self, bits: &str, then: &str, els: &str) {
        let any = self.text.def(format!("icmp ne i32 {bits}, 0"));
        self.text.line(format!("br i1 {any}, label %{then}, label %{els}"));
    }

    /// Emits all blocks, one sweep after the other.
    pub fn per_lane_body(&mut self) -> Result<()> {
        for v in self.slotted.clone() {
            self.declare_slot(v);
        }
        let order = self.cfg.order.clone();
        for &b in &order {
            self.place_slot(&format!("%m{b}"), "i32");
            self.start += &self.set_at_start(&format!("%m{b}"), "i32", "0");
        }
        for &b in &self.waits.stops.clone() {
            self.place_slot(&format!("%w{b}"), "i32");
            self.start += &self.set_at_start(&format!("%w{b}"), "i32", "0");
        }
        self.start += &self.set_at_start("%m0", "i32", "%lanes");
        for name in ["ran", "spun", "force", "left"] {
            let _ = writeln!(self.slots, "  %{name} = alloca i32\n  store i32 0, ptr %{name}");
        }
        for &b in &order {
            self.apart(b)?;
        }
        self.sweep_end(order.len())?;
        self.way_back_in()
    }

    /// One block of a sweep.
    fn apart(&mut self, b: usize) -> Result<()> {
        let place = self.place(b);
        let (again, next) = (place + 1, place + 2);
        let data = self.block_data(b).clone();
        self.env.clear();
        self.lanes.clear();
        self.guards.clear();
        self.text.label(&format!("p{place}"));
        if self.waits.stops.contains(&b) {
            self.text.line(format!("br label %p{next}"));
            return Ok(());
        }
        let meeting = self.waits.meetings.contains(&b);
        let (here, body) = (self.word(&format!("%m{b}")), format!("body{b}"));
        let bits = if meeting {
            self.text.line(format!("store i32 {here}, ptr %left"));
            self.text.line(format!("br label %p{again}"));
            self.text.label(&format!("p{again}"));
            self.who_meets(b, &data.insts, &format!("p{again}"), &format!("p{next}"))?
        } else {
            self.branch_if_any(&here, &body, &format!("p{next}"));
            self.text.label(&body);
            self.set_word(&format!("%m{b}"), "0");
            here
        };
        self.mask = self.mask_from(&bits);
        self.full = false;
        self.join_word("%ran", &bits);
        self.leave_word("%spun", &bits);
        for (i, inst) in data.insts.iter().enumerate() {
            self.at = (b, i);
            if matches!(inst.op, Op::Yield) {
                self.set_field(offset::W_LINE, &inst.loc.line.to_string());
                self.join_word("%spun", &bits);
            } else {
                self.instruction(inst)?;
            }
        }
        let then = if meeting { again } else { next };
        self.terminator(b, &data, &[then].into())
    }

    /// The lanes among those left that do an operation together: those that name the same members, if all of them have come. Goes to `again` with
    /// the others where they have not, on where nobody is left.
    fn who_meets(&mut self, b: usize, insts: &[Inst], again: &str, next: &str) -> Result<String> {
        let operand = insts.iter().find_map(|i| Some(*i.args.get(members_operand(&i.op)?)?));
        let Some(operand) = operand else { return Err(Unsupported("a meeting without members".into())) };
        let left = self.word("%left");
        let some = self.text.fresh("asked");
        self.branch_if_any(&left, &some, next);
        self.text.label(&some);
        let leader = self.first_set(&left);
        let members = self.vector(operand);
        let named = self.text.def(format!("extractelement <32 x i32> {members}, i32 {leader}"));
        let wide = self.text.splat(Ty::I32, &named);
        let same = self.text.def(format!("icmp eq <32 x i32> {members}, {wide}"));
        let same = self.text.def(format!("freeze <32 x i1> {same}"));
        let same = self.bits_of(&same);
        let together = self.text.def(format!("and i32 {same}, {left}"));
        self.leave_word("%left", &together);
        let live = self.live();
        let live = self.bits_of(&live);
        let missing = self.text.def(format!("and i32 {named}, {live}"));
        let missing = self.without(&missing, &together);
        let force = self.word("%force");
        let force = self.text.def(format!("icmp ne i32 {force}, 0"));
        let missing = self.text.def(format!("select i1 {force}, i32 0, i32 {missing}"));
        self.branch_if_any(&missing, again, &format!("body{b}"));
        self.text.label(&format!("body{b}"));
        self.leave_word(&format!("%m{b}"), &together);
        self.text.line("store i32 0, ptr %force");
        // What was read for all lanes is read again for these.
        self.env.clear();
        self.lanes.clear();
        Ok(together)
    }

    /// What the warp does when no lane can go on in this sweep: stops, or goes over the blocks again.
    fn sweep_end(&mut self, blocks: usize) -> Result<()> {
        let mut label = format!("p{}", 2 * blocks);
        for b in self.waits.stops.clone() {
            let (some, none) = (self.text.fresh("stop"), self.text.fresh("nobody"));
            self.text.label(&label);
            let here = self.word(&format!("%m{b}"));
            self.branch_if_any(&here, &some, &none);
            self.text.label(&some);
            self.stop_apart(b, &here)?;
            label = none;
        }
        self.text.label(&label);
        let live = self.live();
        let live = self.bits_of(&live);
        let ran = self.word("%ran");
        let spun = self.word("%spun");
        self.text.line("store i32 0, ptr %ran");
        self.branch_if_any(&live, "alive", "done");
        self.text.label("alive");
        self.branch_if_any(&ran, "moved", "idle");
        self.text.label("moved");
        if self.suspends {
            let busy = self.without(&ran, &spun);
            self.branch_if_any(&busy, "p0", "yield");
            self.text.label("yield");
            self.set_field(offset::W_SLEEP, "0");
            self.leave(2);
            // All that live wait: those at barriers may come to the others' operation later. Without them, members will never come.
            self.text.label("idle");
            let waiting = self.field("%warp", offset::W_WAITING, "i32");
            let waiting = self.text.def(format!("and i32 {waiting}, {live}"));
            self.branch_if_any(&waiting, "yield", "forced");
            self.text.label("forced");
        } else {
            self.text.line("br label %p0");
            self.text.label("idle");
        }
        self.text.line("store i32 1, ptr %force\n  br label %p0");
        Ok(())
    }

    /// Returns to the scheduler.
    fn leave(&mut self, code: u32) {
        let live = self.live();
        let live = self.bits_of(&live);
        self.set_field(offset::W_LIVE, &live);
        self.set_field(offset::W_RESUME, "1");
        self.text.line(format!("ret i32 {code}"));
    }

    /// The lanes at one barrier arrive, as far as they name the same, or all lanes at a sleep begin it.
    fn stop_apart(&mut self, b: usize, here: &str) -> Result<()> {
        let data = self.block_data(b).clone();
        let (Some(inst), Terminator::Jump(next)) = (data.insts.first(), &data.term) else {
            return Err(Unsupported("a stop before a branch".into()));
        };
        self.env.clear();
        self.lanes.clear();
        self.guards.clear();
        self.set_field(offset::W_LINE, &inst.loc.line.to_string());
        self.mask = self.mask_from(here);
        let Op::Bar { mode } = inst.op else {
            let own = self.mask.clone();
            let ns = self.vector(inst.args[0]);
            let ns =
                self.text.def(format!("select <32 x i1> {own}, <32 x i32> {ns}, <32 x i32> zeroinitializer"));
            let ns = self.text.intrinsic("i32", "llvm.vector.reduce.umax.v32i32", &[(vector(Ty::I32), ns)]);
            self.set_field(offset::W_SLEEP, &ns);
            self.set_word(&format!("%m{b}"), "0");
            self.edge(b, next, Some(&own))?;
            self.leave(2);
            return Ok(());
        };
        let leader = self.first_set(here);
        let mut same = self.mask.clone();
        for (&a, field) in inst.args.iter().zip([offset::W_BAR_ID, offset::W_BAR_THREADS]) {
            let all = self.vector(a);
            let one = self.text.def(format!("extractelement <32 x i32> {all}, i32 {leader}"));
            let wide = self.text.splat(Ty::I32, &one);
            let equal = self.text.def(format!("icmp eq <32 x i32> {all}, {wide}"));
            same = self.text.def(format!("and <32 x i1> {same}, {equal}"));
            self.set_field(field, &one);
        }
        let bits = self.bits_of(&same);
        let preds = match inst.args.get(2) {
            Some(&p) => {
                let p = self.vector(p);
                let p = self.bits_of(&p);
                self.text.def(format!("and i32 {p}, {bits}"))
            }
            None => "0".into(),
        };
        self.leave_word(&format!("%m{b}"), &bits);
        if !mode.waits() {
            self.mask = same.clone();
            self.edge(b, next, Some(&same))?;
        } else {
            self.join_word(&format!("%w{b}"), &bits);
        }
        let mode = BarMode::ALL.iter().position(|&m| m == mode).unwrap_or(0).to_string();
        self.set_field(offset::W_BAR_MODE, &mode);
        self.set_field(offset::W_BAR_LANES, &bits);
        self.set_field(offset::W_BAR_PREDS, &preds);
        self.leave(1);
        Ok(())
    }

    /// Where the warp is resumed: lanes whose barrier has opened go on, with its result.
    fn way_back_in(&mut self) -> Result<()> {
        if !self.suspends {
            return Ok(());
        }
        self.resumes = 1;
        self.text.label("resume1");
        let live = self.field("%warp", offset::W_LIVE, "i32");
        let live = self.mask_from(&live);
        self.store_slot("%live", super::value::MASK, &live);
        let waiting = self.field("%warp", offset::W_WAITING, "i32");
        for b in self.waits.stops.clone() {
            let data = self.block_data(b).clone();
            let (Some(inst), Terminator::Jump(next)) = (data.insts.first(), &data.term) else { continue };
            if !matches!(inst.op, Op::Bar { .. }) {
                continue;
            }
            let (some, none) = (self.text.fresh("open"), self.text.fresh("closed"));
            let here = self.word(&format!("%w{b}"));
            let out = self.without(&here, &waiting);
            self.branch_if_any(&out, &some, &none);
            self.text.label(&some);
            self.env.clear();
            self.lanes.clear();
            self.guards.clear();
            self.leave_word(&format!("%w{b}"), &out);
            self.mask = self.mask_from(&out);
            if let Some(&r) = inst.results.first() {
                let rep = self.barrier_results(inst);
                let rep = if self.func_ty(r) == Ty::I1 {
                    self.text.def(format!("icmp ne <32 x i32> {rep}, zeroinitializer"))
                } else {
                    rep
                };
                self.define(r, Rep::Vector(rep))?;
            }
            let own = self.mask.clone();
            self.edge(b, next, Some(&own))?;
            self.text.line(format!("br label %{none}"));
            self.text.label(&none);
        }
        self.text.line("br label %p0");
        Ok(())
    }

    /// Each lane's result of its barrier.
    fn barrier_results(&mut self, inst: &Inst) -> String {
        let ids = self.vector(inst.args[0]);
        let ids = self.text.def(format!("and <32 x i32> {ids}, splat (i32 15)"));
        let results = self.text.def(format!("getelementptr i8, ptr %warp, i64 {}", offset::W_BAR_RESULT));
        let mut all = "poison".to_string();
        for lane in 0..LANES {
            let id = self.text.def(format!("extractelement <32 x i32> {ids}, i32 {lane}"));
            let id = self.text.def(format!("zext i32 {id} to i64"));
            let at = self.text.def(format!("getelementptr i32, ptr {results}, i64 {id}"));
            let one = self.text.def(format!("load i32, ptr {at}"));
            all = self.text.def(format!("insertelement <32 x i32> {all}, i32 {one}, i32 {lane}"));
        }
        all
    }
}
