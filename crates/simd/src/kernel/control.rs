//! Control flow: partial linearisation (after Moll and Hack, PLDI 2018).
//!
//! Blocks are emitted in an order in which loops are contiguous. A divergent branch adds each side's lanes to
//! that side's mask and jumps to whichever block comes first. The other targets stay *pending* and are
//! carried along until their turn. A loop with divergent exits ends in a *latch*, which branches back while
//! any lane is left and then continues with the pending targets. Places are numbered `2 * position` for
//! blocks and `2 * last position + 1` for latches.

use std::collections::BTreeSet;

use wave::op::Op;
use wave::{BlockCall, BlockData, Function, Terminator, Value};

use super::cfg::Cfg;
use super::names::{self, BLOCK, DONE, FAULT, LIVE, WARP};
use super::pending::Chain;
use super::value::Rep;
use super::{Kernel, Result, Unsupported, offset, stop};
use crate::ir::{Callee, Cmp, Name, Operand, Type};

/// Values that need slots: block parameters, and values used outside the block that defines them.
pub fn crossing(func: &Function, cfg: &Cfg) -> BTreeSet<Value> {
    let mut home: Vec<Option<usize>> = vec![None; func.values.len()];
    let mut set = BTreeSet::new();
    for &b in &cfg.order {
        for p in &func.blocks[b].params {
            set.insert(*p);
            home[p.index()] = Some(b);
        }
        for i in &func.blocks[b].insts {
            for r in &i.results {
                home[r.index()] = Some(b);
                if i.op.suspends() {
                    set.insert(*r);
                }
            }
        }
    }
    for &b in &cfg.order {
        let data = &func.blocks[b];
        for v in data.insts.iter().flat_map(|i| i.args.iter().copied()).chain(data.term.uses()) {
            if home[v.index()] != Some(b) {
                set.insert(v);
            }
        }
    }
    set
}

impl Kernel<'_> {
    pub fn place(&self, b: usize) -> usize {
        2 * self.facts.cfg.position[b].unwrap_or(0)
    }

    /// The latches of the divergent loops whose round ends at this edge: it exits the loop or is its back
    /// edge.
    fn latches(&self, from: usize, to: usize) -> Vec<usize> {
        // If a round goes on in a loop, it goes on in the loops around it.
        let ends = |l: &super::cfg::Loop| !l.contains[to] || l.header == to;
        let loops = self.facts.cfg.around(from).rev().take_while(|(_, l)| ends(l));
        loops.filter(|(i, _)| self.facts.uniformity.divergent_loop[*i]).map(|(_, l)| 2 * l.last + 1).collect()
    }

    /// The next place to run among what is pending and other places. Records the rest as pending there.
    fn go(&mut self, pending: Chain, places: Vec<usize>) -> Name {
        self.cursor.pending.with(pending, places).first().map_or(DONE, names::place)
    }

    /// Emits all blocks.
    pub fn body(&mut self) -> Result<()> {
        self.begin_frame();
        for v in self.facts.slotted.clone() {
            self.declare_slot(v);
        }
        for b in 0..self.facts.func.blocks.len() {
            if self.facts.uniformity.masked[b] {
                self.place_slot(names::coming(b), self.width().mask());
                self.place_slot(names::here(b), self.width().mask());
            }
        }
        // Liveness matters only at stops.
        let live = if self.facts.suspends && !self.facts.in_frame {
            stop::live_in(&self.facts.func, &self.facts.cfg)
        } else {
            Vec::new()
        };
        if self.facts.suspends && !self.facts.in_frame {
            self.make_homes(&live);
        }
        self.out.begin = self.beginnings();
        let order = self.facts.cfg.order.clone();
        for (position, &b) in order.iter().enumerate() {
            self.block(b, &live)?;
            let loops = self
                .facts
                .cfg
                .around(b)
                .filter(|(i, l)| l.last == position && self.facts.uniformity.divergent_loop[*i]);
            let ending: Vec<usize> = loops.map(|(i, _)| i).collect();
            if ending.len() > 1 {
                return Err(Unsupported("divergent loops that end together".into()));
            }
            for i in ending {
                self.latch(i);
            }
        }
        Ok(())
    }

    /// Loads the mask of the lanes that reached block `b`, saves it as the block's own mask, and clears the
    /// incoming one.
    fn take_mask(&mut self, b: usize) -> Operand {
        let m = self.load_slot(names::coming(b), self.width().mask());
        self.store_slot(names::here(b), m);
        self.store_slot(names::coming(b), self.width().none());
        m
    }

    fn latch(&mut self, index: usize) {
        let (header, last) = (self.facts.cfg.loops[index].header, self.facts.cfg.loops[index].last);
        let place = 2 * last + 1;
        let pending = self.cursor.pending.at(place);
        self.out.ir.label(names::place(place));
        let m = self.take_mask(header);
        let bits = self.bits_of(m);
        let any = self.out.ir.icmp_int(Cmp::Ne, bits, 0);
        let next = self.go(pending, vec![]);
        self.out.ir.br_if(any, names::body(header), next);
    }

    fn block(&mut self, b: usize, live: &[BTreeSet<Value>]) -> Result<()> {
        let place = self.place(b);
        let data = self.block_data(b).clone();
        let pending = self.cursor.pending.at(place);
        self.cursor.forget();
        self.out.ir.label(names::place(place));
        if self.facts.uniformity.masked[b] {
            let m = self.take_mask(b);
            let cheap = data.insts.len() <= 6
                && data.insts.iter().all(|i| i.op.is_pure())
                && matches!(data.term, Terminator::Jump(_))
                && !self.facts.cfg.around(b).any(|(_, l)| l.header == b);
            if cheap {
                self.out.ir.br(names::body(b));
            } else {
                let bits = self.bits_of(m);
                let any = self.out.ir.icmp_int(Cmp::Ne, bits, 0);
                let skip = self.go(pending, vec![]);
                self.out.ir.br_if(any, names::body(b), skip);
            }
            self.out.ir.label(names::body(b));
            self.cursor.mask = self.load_slot(names::here(b), self.width().mask());
        } else {
            self.out.ir.br(names::body(b));
            self.out.ir.label(names::body(b));
            self.cursor.mask = if self.facts.always_full { self.width().all() } else { self.live() };
        }
        if let Some(clear) = self.out.begin.remove(&Some(b)) {
            self.out.ir.splice(clear);
        }
        self.cursor.full = self.facts.always_full && !self.facts.uniformity.masked[b];
        self.cursor.few = if self.cursor.full { None } else { self.few_lanes(b) };
        if self.cursor.full || !self.worth_two_versions(b) {
            return self.contents(b, &data, pending, live);
        }
        // Most of the time all lanes are active. A copy for the full mask needs neither masking nor blending.
        let mask = self.cursor.mask;
        let bits = self.bits_of(mask);
        let all = self.out.ir.icmp_int(Cmp::Eq, bits, -1);
        let (whole, part) = (names::full(b), self.out.ir.fresh("part"));
        self.out.ir.br_if(all, whole, part);
        for (label, mask, full) in [(whole, self.width().all(), true), (part, mask, false)] {
            self.out.ir.label(label);
            self.cursor.forget();
            self.cursor.mask = mask;
            self.cursor.full = full;
            self.contents(b, &data, pending, live)?;
        }
        Ok(())
    }

    /// Whether a block is emitted a second time for a full mask: it loads or stores vectors, or blends values
    /// in a loop.
    fn worth_two_versions(&self, b: usize) -> bool {
        let data = self.block_data(b);
        let vectors = |i: &wave::Inst| {
            matches!(i.op, Op::Load { .. } | Op::Store { .. })
                && !self.facts.uniformity.values[i.args[0].index()].is_uniform()
        };
        let loops = self.in_divergent_loop(b) && data.insts.len() >= 4;
        // A second copy would make a large kernel too large.
        !self.facts.in_frame
            && data.insts.len() <= 400
            && (data.insts.iter().any(vectors) || loops)
            && self.few_lanes(b).is_none()
    }

    pub fn in_divergent_loop(&self, b: usize) -> bool {
        self.facts.cfg.around(b).any(|(i, _)| self.facts.uniformity.divergent_loop[i])
    }

    /// Emits a block's operations and its terminator.
    fn contents(
        &mut self,
        b: usize,
        data: &BlockData,
        pending: Chain,
        live: &[BTreeSet<Value>],
    ) -> Result<()> {
        let in_divergent_loop = self.in_divergent_loop(b);
        for (i, inst) in data.insts.iter().enumerate() {
            self.cursor.at = (b, i);
            if inst.op.suspends() {
                // Lanes that wait elsewhere would never be resumed.
                if !pending.is_empty() || in_divergent_loop {
                    return Err(Unsupported(
                        "a barrier or a wait that only some lanes of a warp reach".into(),
                    ));
                }
                return self.stop(b, inst, &data.term, live);
            }
            if inst.op.is_convergent()
                && (!pending.is_empty() || in_divergent_loop)
                && !matches!(inst.op, Op::ActiveMask)
                && !self.members_are_here(b, inst)
            {
                return Err(Unsupported("an operation between lanes that only some of them reach".into()));
            }
            self.instruction(inst)?;
        }
        self.terminator(b, data, pending)
    }

    /// Emits an edge: assigns the target's parameters and updates its mask.
    pub fn edge(&mut self, from: usize, to: &BlockCall, mask: Option<Operand>) -> Result<()> {
        let target = to.block.index();
        let params = self.block_data(target).params.clone();
        let dispatches = self.dispatches();
        let moves = |&(p, a): &(Value, Value)| {
            let exact = self.facts.raw.contains(&a) && !self.facts.raw.contains(&p);
            exact || !dispatches || !self.facts.sharing.together(p, a)
        };
        let copies: Vec<(Value, Value)> =
            params.iter().copied().zip(to.args.iter().copied()).filter(moves).collect();
        let reps: Vec<Rep> = copies
            .iter()
            .map(|&(p, a)| if self.facts.raw.contains(&p) { self.rep(a) } else { self.exact_rep(a) })
            .collect();
        let own = self.cursor.mask;
        // At a join, the other lanes keep the values they brought.
        let own_mask = mask.or(self.facts.uniformity.masked[from].then_some(own));
        let mut written = Vec::new();
        for ((p, a), rep) in copies.into_iter().zip(reps) {
            let variation = self.facts.uniformity.values[p.index()].clone();
            let rep = if variation.is_uniform() || variation.is_pattern() {
                rep
            } else if self.is_grouped(p) {
                self.regrouped(a, p)
            } else {
                // If its guard fails, a pattern's offsets are wrong; only its vector holds the lanes' values.
                let rep = self.complete(a, rep);
                let from = self.facts.uniformity.values[a.index()].clone();
                Rep::Vector(self.spread(self.func_ty(a), &rep, &from))
            };
            let rep = self.complete_for(a, p, rep);
            let rep = self.fit(p, rep);
            let guard = variation.needs_guard().then(|| self.guard(a).unwrap_or(Operand::TRUE));
            written.push((p, rep, guard));
        }
        // All arguments are read before the first parameter is written, since parameters may be permuted.
        for (p, rep, guard) in written {
            let kept = self.facts.uniformity.joins[target] || self.facts.uniformity.escaping[p.index()];
            self.write_slot(p, &rep, guard, own_mask.filter(|_| kept));
        }
        if self.per_lane() {
            let bits = self.bits_of(mask.unwrap_or(own));
            self.join_word(names::coming(target), bits);
            self.woken(from, target, mask.map(|_| bits));
        } else if self.facts.uniformity.masked[target] {
            let m = mask.unwrap_or(own);
            let slot = names::coming(target);
            let old = self.load_slot(slot, self.width().mask());
            let new = self.either_mask(old, m);
            self.store_slot(slot, new);
        }
        Ok(())
    }

    /// Whether a block does nothing but end its lanes.
    fn only_ends(&self, b: usize) -> bool {
        let data = self.block_data(b);
        self.facts.suspends
            && data.insts.is_empty()
            && matches!(data.term, Terminator::Exit | Terminator::Return(_))
    }

    /// Removes these lanes from the live lanes.
    fn end_lanes(&mut self, mask: Operand) {
        let alive = self.live();
        let left = self.without_lanes(alive, mask);
        self.store_slot(LIVE, left);
    }

    /// The places that an edge adds to what is pending.
    fn after_edge(&self, from: usize, to: usize, pending: Chain) -> Result<Vec<usize>> {
        if self.per_lane() {
            return Ok(Vec::new());
        }
        let mut places = self.latches(from, to);
        let back = self.facts.cfg.is_back_edge(from, to);
        let header_waits = back
            && self
                .facts
                .cfg
                .around(to)
                .any(|(i, l)| l.header == to && self.facts.uniformity.divergent_loop[i]);
        // A uniform loop branches back directly. Nothing may be pending that its header does not know of.
        let known = || places.is_empty() && self.cursor.pending.knows(self.place(to), pending);
        if back && !header_waits && !known() {
            return Err(Unsupported("a loop that leaves lanes pending at its back edge".into()));
        }
        if !header_waits {
            places.push(self.place(to));
        }
        Ok(places)
    }

    /// Emits a block's terminator.
    pub fn terminator(&mut self, b: usize, data: &BlockData, pending: Chain) -> Result<()> {
        let uniform = super::uniformity::chosen_uniformly(&self.facts.uniformity, &data.term);
        match &data.term {
            Terminator::Jump(to) => {
                self.edge(b, to, None)?;
                let places = self.after_edge(b, to.block.index(), pending)?;
                let next = self.go(pending, places);
                self.out.ir.br(next);
            }
            Terminator::Branch { cond, then, els } if uniform => {
                let c = self.first_lane(*cond);
                let (a, e) = (self.out.ir.fresh("then"), self.out.ir.fresh("else"));
                self.out.ir.br_if(c, a, e);
                self.chosen(b, a, then, pending)?;
                self.chosen(b, e, els, pending)?;
            }
            Terminator::Switch { index, targets } if uniform => {
                let index = self.first_lane(*index);
                let labels: Vec<Name> = targets.iter().map(|_| self.out.ir.fresh("case")).collect();
                let Some((&last, others)) = labels.split_last() else {
                    return Err(Unsupported("an empty branch table".into()));
                };
                let cases = others.iter().enumerate().map(|(i, l)| (i as i64, *l)).collect();
                self.out.ir.switch(index, last, cases);
                for (&label, to) in labels.iter().zip(targets) {
                    self.chosen(b, label, to, pending)?;
                }
            }
            Terminator::Branch { cond, then, els } => {
                self.all_lanes_alike(b, *cond, then, els, pending)?;
                let c = self.vector(*cond);
                let own = self.cursor.mask;
                let yes = self.those(own, c);
                let no = self.others(own, yes);
                let mut places = Vec::new();
                self.read_overwritten(&[then, els]);
                for (to, m) in [(then, yes), (els, no)] {
                    if self.facts.before_stop[b] && self.only_ends(to.block.index()) {
                        self.end_lanes(m);
                        places.extend(self.latches(b, to.block.index()));
                        continue;
                    }
                    self.edge(b, to, Some(m))?;
                    places.extend(self.after_edge(b, to.block.index(), pending)?);
                }
                let next = self.go(pending, places);
                self.out.ir.br(next);
            }
            Terminator::Switch { index, targets } => {
                let mut places = Vec::new();
                let v = self.vector(*index);
                let mut left = self.cursor.mask;
                self.read_overwritten(&targets.iter().collect::<Vec<_>>());
                for (i, to) in targets.iter().enumerate() {
                    let m = if i + 1 == targets.len() {
                        left
                    } else {
                        let hit = self.out.ir.icmp_int(Cmp::Eq, v, i as i64);
                        let m = self.those(left, hit);
                        left = self.others(left, m);
                        m
                    };
                    self.edge(b, to, Some(m))?;
                    places.extend(self.after_edge(b, to.block.index(), pending)?);
                }
                let next = self.go(pending, places);
                self.out.ir.br(next);
            }
            Terminator::Return(_) | Terminator::Exit => {
                if pending.is_empty() {
                    self.out.ir.br(DONE);
                    return Ok(());
                }
                let own = self.cursor.mask;
                self.end_lanes(own);
                let next = self.go(pending, vec![]);
                self.out.ir.br(next);
            }
            Terminator::Trap => {
                self.set_field(offset::W_LINE, Operand::i32(i64::from(data.term_loc.line)));
                let runtime = self.field(BLOCK, offset::RUNTIME, Type::PTR);
                let f = self.field(runtime, offset::TRAP, Type::PTR);
                let bits = self.mask_argument();
                self.out.ir.call(Callee::Pointer(f), Type::Void, [WARP.into(), bits.into()]);
                self.out.ir.br(FAULT);
            }
        }
        Ok(())
    }

    /// Where one scalar tells that all lanes take the same side, branches there before any mask is computed:
    /// the body of `if (i < n)` then runs without one. What follows is for the other warps.
    fn all_lanes_alike(
        &mut self,
        b: usize,
        cond: Value,
        then: &BlockCall,
        els: &BlockCall,
        pending: Chain,
    ) -> Result<()> {
        let Some(sure) = self.cursor.sure.get(&cond).copied() else { return Ok(()) };
        let to = if sure.side { then } else { els };
        let ends = self.facts.before_stop[b] && self.only_ends(to.block.index());
        if !self.cursor.full || self.per_lane() || ends {
            return Ok(());
        }
        let (all, some) = (self.out.ir.fresh("all"), self.out.ir.fresh("some"));
        self.out.ir.br_if(sure.condition, all, some);
        self.out.ir.label(all);
        let (env, guards, lanes) =
            (self.cursor.env.clone(), self.cursor.guards.clone(), self.cursor.lanes.clone());
        self.edge(b, to, None)?;
        (self.cursor.env, self.cursor.guards, self.cursor.lanes) = (env, guards, lanes);
        let target = to.block.index();
        let places = self.after_edge(b, target, pending)?;
        let mut next = self.go(pending, places);
        let masked = self.facts.uniformity.masked[target];
        let clears = self.out.begin.contains_key(&Some(target));
        if next == names::place(self.place(target)) && masked && !clears && self.worth_two_versions(target) {
            // Past the tests of the mask, which LLVM would otherwise compute from the condition.
            let (all, none) = (self.width().all(), self.width().none());
            self.store_slot(names::coming(target), none);
            self.store_slot(names::here(target), all);
            next = names::full(target);
        }
        self.out.ir.br(next);
        self.out.ir.label(some);
        Ok(())
    }

    /// Reads the arguments of a divergent branch's edges that an edge emitted before theirs overwrites. A
    /// lane that leaves a loop takes the parameters of its last round along, not those of the next.
    fn read_overwritten(&mut self, targets: &[&BlockCall]) {
        let mut written = BTreeSet::new();
        for to in targets {
            for &a in &to.args {
                if written.contains(&self.value_slot(a)) {
                    self.rep(a);
                    self.guard(a);
                }
            }
            written.extend(self.block_data(to.block.index()).params.iter().map(|&p| self.value_slot(p)));
        }
    }

    /// Emits the edge to a target that the whole warp takes.
    fn chosen(&mut self, b: usize, label: Name, to: &BlockCall, pending: Chain) -> Result<()> {
        self.out.ir.label(label);
        let before = self.cursor.env.clone();
        self.edge(b, to, None)?;
        self.cursor.env = before;
        let places = self.after_edge(b, to.block.index(), pending)?;
        let next = self.go(pending, places);
        self.out.ir.br(next);
        Ok(())
    }
}
