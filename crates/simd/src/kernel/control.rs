//! Control flow: partial linearisation (after Moll and Hack, PLDI 2018), and stops.
//!
//! Blocks are emitted in an order in which loops are contiguous. A branch on which lanes differ notes each side's lanes in the side's mask and
//! goes to whichever block comes first; the others stay *pending* and travel along until their turn. A loop that lanes leave at different
//! times ends in a *latch* that goes round while any lane is left, and only then on to what is pending. Places are numbered
//! `2 * position` for blocks and `2 * last position + 1` for latches.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use wave::op::{BarMode, Op};
use wave::{Block, BlockCall, BlockData, Function, LANES, Terminator, Value};

use super::cfg::Cfg;
use super::value::Rep;
use super::{Kernel, RESUME, RUN_BLOCKS, Result, Unsupported, offset};
use crate::target::Target;

/// Debug information of the module, but for the lines.
const LINE_TABLES: &str = "\
!llvm.dbg.cu = !{!2}
!llvm.module.flags = !{!3, !8}
!2 = distinct !DICompileUnit(language: DW_LANG_C, file: !4, emissionKind: LineTablesOnly)
!3 = !{i32 2, !\"Debug Info Version\", i32 3}
!4 = !DIFile(filename: \"kernel\", directory: \"\")
!5 = distinct !DISubprogram(name: \"warp\", file: !4, line: 1, unit: !2, type: !9, spFlags: DISPFlagDefinition)
!6 = distinct !DISubprogram(name: \"blocks\", file: !4, line: 1, unit: !2, type: !9, spFlags: DISPFlagDefinition)
!7 = !DILocation(line: 0, scope: !6)
!8 = !{i32 7, !\"Dwarf Version\", i32 4}
!9 = !DISubroutineType(types: !0)
!10 = !{!\"branch_weights\", i32 1048575, i32 1}
";

/// Where a value lies in the warp's frame while the warp is stopped.
#[derive(Clone, Debug, Default)]
pub struct Home {
    /// Offsets of its parts, as [`Kernel::slot_parts`] lists them.
    pub at: Vec<usize>,
    /// Written where the value is made, not at each stop.
    pub eager: bool,
}

/// Splits blocks behind every operation that stops, so that a stop is always a block's last operation, and what follows does not need
/// its result at once.
pub fn split_at_stops(func: &Function) -> Function {
    let mut out = func.clone();
    let mut b = 0;
    while b < out.blocks.len() {
        let data = &out.blocks[b];
        let needed = |at: usize| data.term.uses().into_iter().any(|v| data.insts[at].results.contains(&v));
        let at = data.insts.iter().position(|i| i.op.suspends());
        if let Some(at) = at
            && (at + 1 < data.insts.len() || !matches!(data.term, Terminator::Jump(_)) || needed(at))
        {
            let rest = out.blocks[b].insts.split_off(at + 1);
            let next = Block(out.blocks.len() as u32);
            let term = std::mem::replace(&mut out.blocks[b].term, Terminator::Jump(BlockCall::to(next)));
            let term_loc = out.blocks[b].term_loc;
            out.blocks.push(BlockData { params: vec![], insts: rest, term, term_loc });
        }
        b += 1;
    }
    out
}

/// Values that need slots: block parameters, and what is used in another block than it is made in.
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

/// Values that are needed at the beginning of each block, where no lane waits elsewhere.
fn live_in(func: &Function, cfg: &Cfg) -> Vec<BTreeSet<Value>> {
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
    fn place(&self, b: usize) -> usize {
        2 * self.cfg.position[b].unwrap_or(0)
    }

    /// The divergent loops around an edge that ends their round: it leaves them or goes back.
    fn latches(&self, from: usize, to: usize) -> Vec<usize> {
        let ends = |l: &super::cfg::Loop| l.contains[from] && (!l.contains[to] || l.header == to);
        let loops = self.cfg.loops.iter().enumerate();
        loops
            .filter(|(i, l)| self.shapes.divergent_loop[*i] && ends(l))
            .map(|(_, l)| 2 * l.last + 1)
            .collect()
    }

    /// Where control goes when `set` is pending, noting what stays pending there.
    fn go(&mut self, set: &BTreeSet<usize>) -> String {
        match set.first() {
            None => "done".into(),
            Some(&first) => {
                let rest: Vec<usize> = set.iter().copied().filter(|p| *p != first).collect();
                self.pending.entry(first).or_default().extend(rest);
                format!("p{first}")
            }
        }
    }

    /// Values that a stop before `target` keeps.
    fn kept(&self, target: usize, result: Option<Value>, live: &[BTreeSet<Value>]) -> Vec<Value> {
        let mut keep: BTreeSet<Value> = live[target].clone();
        keep.extend(&self.block_data(target).params);
        keep.into_iter().filter(|v| Some(*v) != result && self.slotted.contains(v)).collect()
    }

    /// Gives every value that lives across a stop its home. A value is written there where it is made, unless that is deeper in loops than
    /// every stop it lives across.
    fn make_homes(&mut self, live: &[BTreeSet<Value>]) {
        let depth = |b: usize| self.cfg.loops.iter().filter(|l| l.contains[b]).count();
        let mut made: BTreeMap<Value, usize> = BTreeMap::new();
        let mut deepest: BTreeMap<Value, usize> = BTreeMap::new();
        for &b in &self.cfg.order {
            let data = self.block_data(b);
            for &p in &data.params {
                // Parameters are written at the edges that lead here.
                made.insert(p, self.cfg.preds[b].iter().map(|&f| depth(f)).max().unwrap_or(0));
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
        // The first word is the mask of live lanes.
        let mut frame = 4;
        for (v, stop) in deepest {
            let mut at = Vec::new();
            for (_, ty) in self.slot_parts(v) {
                let size = type_size(&ty);
                frame = usize::next_multiple_of(frame, size.min(64));
                at.push(frame);
                frame += size;
            }
            let eager = made.get(&v).is_some_and(|&d| d <= stop);
            self.homes.insert(v, Home { at, eager });
        }
        self.frame = frame;
    }

    /// Emits all blocks.
    pub fn body(&mut self) -> Result<()> {
        for v in self.slotted.clone() {
            self.declare_slot(v);
        }
        for b in 0..self.func.blocks.len() {
            if self.shapes.masked[b] {
                let _ = writeln!(
                    self.slots,
                    "  %m{b} = alloca <32 x i1>, align 64\n  %c{b} = alloca <32 x i1>, align 64"
                );
            }
        }
        let live = live_in(&self.func, &self.cfg);
        if self.suspends {
            self.make_homes(&live);
        }
        let order = self.cfg.order.clone();
        for (position, &b) in order.iter().enumerate() {
            self.block(b, &live)?;
            let ending: Vec<usize> = (0..self.cfg.loops.len())
                .rev()
                .filter(|&i| self.cfg.loops[i].last == position && self.shapes.divergent_loop[i])
                .collect();
            if ending.len() > 1 {
                return Err(Unsupported("divergent loops that end together".into()));
            }
            for i in ending {
                self.latch(i);
            }
        }
        Ok(())
    }

    fn latch(&mut self, index: usize) {
        let (header, last) = (self.cfg.loops[index].header, self.cfg.loops[index].last);
        let place = 2 * last + 1;
        let set = self.pending.get(&place).cloned().unwrap_or_default();
        self.text.label(&format!("p{place}"));
        let m = self.text.def(format!("load <32 x i1>, ptr %m{header}"));
        self.text.line(format!("store <32 x i1> {m}, ptr %c{header}"));
        self.text.line(format!("store <32 x i1> zeroinitializer, ptr %m{header}"));
        let bits = self.text.def(format!("bitcast <32 x i1> {m} to i32"));
        let any = self.text.def(format!("icmp ne i32 {bits}, 0"));
        let next = self.go(&set);
        self.text.line(format!("br i1 {any}, label %body{header}, label %{next}"));
    }

    fn block(&mut self, b: usize, live: &[BTreeSet<Value>]) -> Result<()> {
        let place = self.place(b);
        let data = self.block_data(b).clone();
        let pending = self.pending.get(&place).cloned().unwrap_or_default();
        self.env.clear();
        self.guards.clear();
        self.text.label(&format!("p{place}"));
        if self.shapes.masked[b] {
            let m = self.text.def(format!("load <32 x i1>, ptr %m{b}"));
            self.text.line(format!("store <32 x i1> {m}, ptr %c{b}"));
            self.text.line(format!("store <32 x i1> zeroinitializer, ptr %m{b}"));
            let cheap = data.insts.len() <= 6
                && data.insts.iter().all(|i| i.op.is_pure())
                && matches!(data.term, Terminator::Jump(_))
                && !self.cfg.loops.iter().any(|l| l.header == b);
            if cheap {
                self.text.line(format!("br label %body{b}"));
            } else {
                let bits = self.text.def(format!("bitcast <32 x i1> {m} to i32"));
                let any = self.text.def(format!("icmp ne i32 {bits}, 0"));
                let skip = self.go(&pending);
                self.text.line(format!("br i1 {any}, label %body{b}, label %{skip}"));
            }
            self.text.label(&format!("body{b}"));
            self.mask = self.text.def(format!("load <32 x i1>, ptr %c{b}"));
        } else {
            self.text.line(format!("br label %body{b}"));
            self.text.label(&format!("body{b}"));
            self.mask = if self.always_full {
                "splat (i1 true)".into()
            } else {
                self.text.def("load <32 x i1>, ptr %live")
            };
        }
        self.full = self.always_full && !self.shapes.masked[b];
        if self.full || !self.worth_two_versions(b) {
            return self.contents(b, &data, &pending, live);
        }
        // Where all lanes are there, which is most of the time, nothing need be masked or blended.
        let mask = self.mask.clone();
        let bits = self.text.def(format!("bitcast <32 x i1> {mask} to i32"));
        let all = self.text.def(format!("icmp eq i32 {bits}, -1"));
        let (whole, part) = (self.text.fresh("whole"), self.text.fresh("part"));
        self.text.line(format!("br i1 {all}, label %{whole}, label %{part}"));
        for (label, mask, full) in [(whole, "splat (i1 true)".to_string(), true), (part, mask, false)] {
            self.text.label(&label);
            self.env.clear();
            self.guards.clear();
            self.mask = mask;
            self.full = full;
            self.contents(b, &data, &pending, live)?;
        }
        Ok(())
    }

    /// Whether a block is emitted a second time for a full mask: it has vectors to load or store, or blends values in a loop.
    fn worth_two_versions(&self, b: usize) -> bool {
        let data = self.block_data(b);
        let vectors = |i: &wave::Inst| {
            matches!(i.op, Op::Load { .. } | Op::Store { .. })
                && !self.shapes.values[i.args[0].index()].is_uniform()
        };
        let loops = self.in_divergent_loop(b) && data.insts.len() >= 4;
        data.insts.len() <= 400 && (data.insts.iter().any(vectors) || loops)
    }

    fn in_divergent_loop(&self, b: usize) -> bool {
        self.cfg.loops.iter().enumerate().any(|(i, l)| l.contains[b] && self.shapes.divergent_loop[i])
    }

    /// A block's operations and its end.
    fn contents(
        &mut self,
        b: usize,
        data: &BlockData,
        pending: &BTreeSet<usize>,
        live: &[BTreeSet<Value>],
    ) -> Result<()> {
        let in_divergent_loop = self.in_divergent_loop(b);
        for inst in &data.insts {
            if inst.op.suspends() {
                // Lanes that wait elsewhere would wait for ever.
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

    /// Writes an edge: the target's parameters, and its mask.
    fn edge(&mut self, from: usize, to: &BlockCall, mask: Option<&str>) -> Result<()> {
        let target = to.block.index();
        let params = self.block_data(target).params.clone();
        let reps: Vec<Rep> = params
            .iter()
            .zip(&to.args)
            .map(|(p, &a)| if self.raw.contains(p) { self.rep(a) } else { self.exact_rep(a) })
            .collect();
        let own = self.mask.clone();
        // Where lanes meet, others keep what they brought.
        let own_mask = mask.or(self.shapes.masked[from].then_some(own.as_str()));
        let mut written = Vec::new();
        for ((&p, &a), rep) in params.iter().zip(&to.args).zip(reps) {
            let shape = self.shapes.values[p.index()].clone();
            let rep = if shape.is_uniform() || shape.is_pattern() {
                rep
            } else {
                let from = self.shapes.values[a.index()].clone();
                Rep::Vector(self.spread(self.func_ty(a), &rep, &from.offsets))
            };
            let rep = self.complete(a, rep);
            let rep = self.fit(p, rep);
            let guard = shape.needs_guard().then(|| self.guard(a).unwrap_or_else(|| "true".into()));
            written.push((p, rep, guard));
        }
        // All are read before the first is written: parameters may change places.
        for (p, rep, guard) in written {
            let kept = self.shapes.joins[target] || self.shapes.escaping[p.index()];
            self.write_slot(p, &rep, guard, own_mask.filter(|_| kept));
        }
        if self.shapes.masked[target] {
            let m = mask.unwrap_or(&own).to_string();
            let old = self.text.def(format!("load <32 x i1>, ptr %m{target}"));
            let new = self.text.def(format!("or <32 x i1> {old}, {m}"));
            self.text.line(format!("store <32 x i1> {new}, ptr %m{target}"));
        }
        Ok(())
    }

    /// Whether a block does nothing but end its lanes.
    fn only_ends(&self, b: usize) -> bool {
        let data = self.block_data(b);
        self.suspends
            && data.insts.is_empty()
            && matches!(data.term, Terminator::Exit | Terminator::Return(_))
    }

    /// These lanes are no more.
    fn end_lanes(&mut self, mask: &str) {
        let alive = self.text.def("load <32 x i1>, ptr %live");
        let not = self.text.def(format!("xor <32 x i1> {mask}, splat (i1 true)"));
        let left = self.text.def(format!("and <32 x i1> {alive}, {not}"));
        self.text.line(format!("store <32 x i1> {left}, ptr %live"));
    }

    /// What is pending after an edge.
    fn after_edge(&self, from: usize, to: usize, pending: &BTreeSet<usize>) -> Result<BTreeSet<usize>> {
        let mut set = pending.clone();
        let latches = self.latches(from, to);
        set.extend(&latches);
        let back = self.cfg.is_back_edge(from, to);
        let header_waits = back
            && self
                .cfg
                .loops
                .iter()
                .enumerate()
                .any(|(i, l)| l.header == to && self.shapes.divergent_loop[i]);
        if back && !header_waits {
            // A uniform loop: straight back, with no more pending than the header knows.
            let known = self.pending.get(&self.place(to)).cloned().unwrap_or_default();
            if !set.is_subset(&known) {
                return Err(Unsupported("a loop whose rounds leave lanes behind".into()));
            }
            return Ok([self.place(to)].into_iter().collect());
        }
        if !header_waits {
            set.insert(self.place(to));
        }
        Ok(set)
    }

    fn terminator(&mut self, b: usize, data: &BlockData, pending: &BTreeSet<usize>) -> Result<()> {
        let uniform = super::shape::chosen_uniformly(&self.shapes, &data.term);
        match &data.term {
            Terminator::Jump(to) => {
                self.edge(b, to, None)?;
                let set = self.after_edge(b, to.block.index(), pending)?;
                let next = self.go(&set);
                self.text.line(format!("br label %{next}"));
            }
            Terminator::Branch { cond, then, els } if uniform => {
                let c = self.first_lane(*cond);
                let (a, e) = (self.text.fresh("then"), self.text.fresh("else"));
                self.text.line(format!("br i1 {c}, label %{a}, label %{e}"));
                self.chosen(b, &a, then, pending)?;
                self.chosen(b, &e, els, pending)?;
            }
            Terminator::Switch { index, targets } if uniform => {
                let index = self.first_lane(*index);
                let labels: Vec<String> = targets.iter().map(|_| self.text.fresh("case")).collect();
                let Some((last, others)) = labels.split_last() else {
                    return Err(Unsupported("a table of branches that is empty".into()));
                };
                let list: Vec<String> =
                    others.iter().enumerate().map(|(i, l)| format!("i32 {i}, label %{l}")).collect();
                self.text.line(format!("switch i32 {index}, label %{last} [ {} ]", list.join(" ")));
                for (label, to) in labels.iter().zip(targets) {
                    self.chosen(b, label, to, pending)?;
                }
            }
            Terminator::Branch { cond, then, els } => {
                let c = self.vector(*cond);
                let own = self.mask.clone();
                // Lanes that are not there may hold anything, even poison: a select leaves it out.
                let yes = self
                    .text
                    .def(format!("select <32 x i1> {own}, <32 x i1> {c}, <32 x i1> zeroinitializer"));
                let no = self.text.def(format!("xor <32 x i1> {own}, {yes}"));
                let mut set = pending.clone();
                for (to, m) in [(then, yes), (els, no)] {
                    if self.before_stop[b] && self.only_ends(to.block.index()) {
                        self.end_lanes(&m);
                        set.extend(self.latches(b, to.block.index()));
                        continue;
                    }
                    self.edge(b, to, Some(&m))?;
                    set.extend(self.after_edge(b, to.block.index(), pending)?);
                }
                let next = self.go(&set);
                self.text.line(format!("br label %{next}"));
            }
            Terminator::Switch { index, targets } => {
                let mut set = pending.clone();
                let v = self.vector(*index);
                let mut left = self.mask.clone();
                for (i, to) in targets.iter().enumerate() {
                    let m = if i + 1 == targets.len() {
                        left.clone()
                    } else {
                        let hit = self.text.def(format!("icmp eq <32 x i32> {v}, splat (i32 {i})"));
                        let m = self.text.def(format!(
                            "select <32 x i1> {left}, <32 x i1> {hit}, <32 x i1> zeroinitializer"
                        ));
                        left = self.text.def(format!("xor <32 x i1> {left}, {m}"));
                        m
                    };
                    self.edge(b, to, Some(&m))?;
                    set.extend(self.after_edge(b, to.block.index(), pending)?);
                }
                let next = self.go(&set);
                self.text.line(format!("br label %{next}"));
            }
            Terminator::Return(_) | Terminator::Exit => {
                if pending.is_empty() {
                    self.text.line("br label %done");
                    return Ok(());
                }
                let own = self.mask.clone();
                self.end_lanes(&own);
                let next = self.go(pending);
                self.text.line(format!("br label %{next}"));
            }
            Terminator::Trap => {
                self.set_field(offset::W_LINE, &data.term_loc.line.to_string());
                let runtime = self.field("%block", offset::RUNTIME, "ptr");
                let f = self.field(&runtime, 8, "ptr");
                let bits = self.mask_bits();
                self.text.line(format!("call void {f}(ptr %warp, i32 {bits})"));
                self.text.line("br label %fault");
            }
        }
        Ok(())
    }

    /// The way to a target that the whole warp takes.
    fn chosen(&mut self, b: usize, label: &str, to: &BlockCall, pending: &BTreeSet<usize>) -> Result<()> {
        self.text.label(label);
        let before = self.env.clone();
        self.edge(b, to, None)?;
        self.env = before;
        let set = self.after_edge(b, to.block.index(), pending)?;
        let next = self.go(&set);
        self.text.line(format!("br label %{next}"));
        Ok(())
    }

    /// A barrier or another stop: saves what lives on, says why, and returns; the next resume restores and goes on.
    fn stop(
        &mut self,
        b: usize,
        inst: &wave::Inst,
        term: &Terminator,
        live: &[BTreeSet<Value>],
    ) -> Result<()> {
        let Terminator::Jump(next) = term else { return Err(Unsupported("a stop before a branch".into())) };
        let target = next.block.index();
        let number = self.resumes + 1;
        let bits = self.mask_bits();
        let code = match inst.op {
            Op::Bar { mode } => {
                let id = self.first_lane(inst.args[0]);
                let threads = self.first_lane(inst.args[1]);
                for a in &inst.args[..2] {
                    if !self.shapes.values[a.index()].is_uniform() {
                        return Err(Unsupported("a barrier whose number differs between lanes".into()));
                    }
                }
                let preds = match inst.args.get(2) {
                    Some(&p) => {
                        let v = self.vector(p);
                        let v = self.text.def(format!("freeze <32 x i1> {v}"));
                        let v = self.text.def(format!("bitcast <32 x i1> {v} to i32"));
                        self.text.def(format!("and i32 {v}, {bits}"))
                    }
                    None => "0".into(),
                };
                let mode = BarMode::ALL.iter().position(|&m| m == mode).unwrap_or(0).to_string();
                self.set_field(offset::W_BAR_ID, &id);
                self.set_field(offset::W_BAR_THREADS, &threads);
                self.set_field(offset::W_BAR_MODE, &mode);
                self.set_field(offset::W_BAR_LANES, &bits);
                self.set_field(offset::W_BAR_PREDS, &preds);
                1
            }
            Op::Yield => {
                self.set_field(offset::W_SLEEP, "0");
                2
            }
            _ => {
                let v = self.vector(inst.args[0]);
                let ns =
                    self.text.intrinsic("i32", "llvm.vector.reduce.umax.v32i32", &[("<32 x i32>".into(), v)]);
                self.set_field(offset::W_SLEEP, &ns);
                2
            }
        };
        self.set_field(offset::W_LINE, &inst.loc.line.to_string());
        self.edge(b, next, None)?;
        let result = inst.results.first().copied();
        let mut saved = Vec::new();
        for v in self.kept(target, result, live) {
            let home = self.homes.get(&v).cloned().unwrap_or_default();
            for ((slot, ty), at) in self.slot_parts(v).into_iter().zip(home.at) {
                saved.push((slot, ty, at, !home.eager));
            }
        }
        if !self.always_full {
            saved.push(("%live".into(), "<32 x i1>".into(), 0, true));
        }
        for (slot, ty, at, now) in &saved {
            if *now {
                let v = self.text.def(format!("load {ty}, ptr {slot}"));
                self.store_home(ty, &v, *at);
            }
        }
        let alive = self.text.def("load <32 x i1>, ptr %live");
        let alive = self.text.def(format!("bitcast <32 x i1> {alive} to i32"));
        self.set_field(offset::W_LIVE, &alive);
        self.set_field(offset::W_RESUME, &number.to_string());
        self.text.line(format!("ret i32 {code}"));
        let place = self.place(target);
        self.pending.entry(place).or_default();
        // The way back in.
        self.text.label(&format!("resume{number}"));
        for (slot, ty, at, _) in &saved {
            let v = self.load_home(ty, *at);
            self.text.line(format!("store {ty} {v}, ptr {slot}"));
        }
        if self.shapes.masked[target] {
            // All live lanes go on.
            let m = self.text.def("load <32 x i1>, ptr %live");
            self.text.line(format!("store <32 x i1> {m}, ptr %m{target}"));
        }
        if let Some(r) = result {
            let id = self.field("%warp", offset::W_BAR_ID, "i32");
            let at = self.text.def(format!("zext i32 {id} to i64"));
            let p = self.text.def(format!("getelementptr i32, ptr %warp, i64 {at}"));
            let p = self.text.def(format!("getelementptr i8, ptr {p}, i64 {}", offset::W_BAR_RESULT));
            let v = self.text.def(format!("load i32, ptr {p}"));
            let v = if self.func_ty(r) == wave::Ty::I1 {
                self.text.def(format!("icmp ne i32 {v}, 0"))
            } else {
                v
            };
            self.env.clear();
            self.define(r, Rep::Uniform(v))?;
        }
        self.text.line(format!("br label %p{place}"));
        self.resumes = number;
        Ok(())
    }

    /// The whole module.
    pub fn finish(&mut self, target: &Target) -> String {
        let mut ir = self.helpers();
        let clear: String = (0..self.func.blocks.len())
            .filter(|&b| self.shapes.masked[b])
            .map(|b| format!("  store <32 x i1> zeroinitializer, ptr %m{b}\n"))
            .collect();
        let masked_entry = self.shapes.masked[0];
        let fields = |ir: &mut String| {
            for (name, at, ty) in [
                ("params", offset::PARAMS, "i64"),
                ("shared", offset::SHARED, "i64"),
                ("image", offset::IMAGE, "i64"),
                ("local", offset::LOCAL, "i64"),
                ("stride", offset::LOCAL_STRIDE, "i64"),
            ] {
                let _ = writeln!(ir, "  %{name}.at = getelementptr i8, ptr %block, i64 {at}");
                let _ = writeln!(ir, "  %{name} = load {ty}, ptr %{name}.at, !invariant.load !0");
            }
        };
        let start = if masked_entry { "  store <32 x i1> %lanes.mask, ptr %m0\n" } else { "" };
        if self.suspends {
            let _ = writeln!(
                ir,
                "define i32 @{RESUME}(ptr noalias %warp, ptr noalias %frame) #0 !dbg !5 {{\nentry:"
            );
            for (name, at, ty) in [
                ("block", offset::W_BLOCK, "ptr"),
                ("index", offset::W_INDEX, "i32"),
                ("lanes", offset::W_LANES, "i32"),
                ("at", offset::W_RESUME, "i32"),
            ] {
                let _ = writeln!(
                    ir,
                    "  %{name}.p = getelementptr i8, ptr %warp, i64 {at}\n  %{name} = load {ty}, ptr %{name}.p"
                );
            }
            fields(&mut ir);
            ir += &self.slots;
            ir += "  %live = alloca <32 x i1>, align 64\n  %lanes.mask = bitcast i32 %lanes to <32 x i1>\n";
            ir += "  store <32 x i1> %lanes.mask, ptr %live\n";
            ir += &clear;
            let cases: String = (1..=self.resumes).map(|i| format!(" i32 {i}, label %resume{i}")).collect();
            let _ = writeln!(ir, "  switch i32 %at, label %start [{cases} ]\nstart:\n{start}  br label %p0");
            ir += &self.text.out;
            ir += "done:\n  ret i32 0\nfault:\n  ret i32 3\n}\n";
        } else {
            let _ = writeln!(
                ir,
                "define internal i32 @warp(ptr noalias %warp, ptr noalias %block, i32 %index, i32 %lanes) alwaysinline #0 !dbg !5 {{\nentry:"
            );
            fields(&mut ir);
            ir += &self.slots;
            ir += "  %live = alloca <32 x i1>, align 64\n  %lanes.mask = bitcast i32 %lanes to <32 x i1>\n";
            ir += "  store <32 x i1> %lanes.mask, ptr %live\n";
            ir += &clear;
            let _ = writeln!(ir, "{start}  br label %p0");
            ir += &self.text.out;
            ir += "done:\n  ret i32 0\nfault:\n  ret i32 3\n}\n";
            ir += &self.run_blocks();
        }
        if self.flushes {
            self.flushing(&mut ir);
        }
        for d in &self.text.declarations {
            ir += d;
            ir.push('\n');
        }
        let width = if target.avx512 { "512" } else { "256" };
        let subnormals =
            if self.flushes { "\"denormal-fp-math\"=\"preserve-sign,preserve-sign\" " } else { "" };
        let _ = writeln!(
            ir,
            "attributes #0 = {{ nounwind null_pointer_is_valid {subnormals}\"prefer-vector-width\"=\"{width}\" \"min-legal-vector-width\"=\"{width}\" \"target-cpu\"=\"{}\" \"target-features\"=\"{}\" }}\n!0 = !{{}}\n!1 = !{{!\"branch_weights\", i32 1, i32 1048575}}",
            target.cpu, target.features
        );
        // Line tables only, so that a fault's address tells its line.
        ir += LINE_TABLES;
        for &line in &self.text.places {
            let _ =
                writeln!(ir, "!{} = !DILocation(line: {line}, scope: !5)", crate::text::Text::metadata(line));
        }
        ir
    }

    /// Puts a function around the entry that makes the processor flush subnormals meanwhile.
    fn flushing(&mut self, ir: &mut String) {
        let (name, second) = if self.suspends { (RESUME, "ptr") } else { (RUN_BLOCKS, "i64") };
        *ir = ir.replace(&format!("define i32 @{name}("), "define internal i32 @entered(");
        for (word, flushes) in [("flush", true), ("plain", false)] {
            self.text.declarations.insert(crate::lanewise::control_word(word, 0, flushes));
        }
        self.text.declarations.insert("declare void @llvm.x86.sse.ldmxcsr(ptr)".into());
        let _ = writeln!(
            ir,
            "define i32 @{name}(ptr %a, {second} %b) #0 {{\n  call void @llvm.x86.sse.ldmxcsr(ptr @mxcsr.flush)\n  %r = call i32 @entered(ptr %a, {second} %b) noinline\n  call void @llvm.x86.sse.ldmxcsr(ptr @mxcsr.plain)\n  ret i32 %r\n}}"
        );
    }

    /// What every kernel's code may call: the report of a misaligned address, and bytes that may always be read.
    fn helpers(&self) -> String {
        let mut s = String::from("@safe = internal constant [64 x i8] zeroinitializer, align 64\n");
        let _ = writeln!(
            s,
            "define internal void @misaligned(ptr %warp, ptr %block, i64 %address, i32 %size, i1 %write, i32 %line) cold noinline #0 {{\n  %line.p = getelementptr i8, ptr %warp, i64 {line}\n  store i32 %line, ptr %line.p\n  %runtime.p = getelementptr i8, ptr %block, i64 {runtime}\n  %runtime = load ptr, ptr %runtime.p\n  %f.p = getelementptr i8, ptr %runtime, i64 16\n  %f = load ptr, ptr %f.p\n  call void %f(ptr %warp, i64 %address, i32 %size, i1 zeroext %write, i1 zeroext true)\n  ret void\n}}",
            line = offset::W_LINE,
            runtime = offset::RUNTIME,
        );
        s
    }

    /// The loop over blocks and warps of a kernel that never stops.
    fn run_blocks(&self) -> String {
        let threads = self.spec.threads();
        let (full, rest) = (threads / LANES as u32, threads % LANES as u32);
        let tail = (1u64 << rest) - 1;
        let mut s = String::new();
        let _ = writeln!(
            s,
            "define i32 @{RUN_BLOCKS}(ptr noalias %block, i64 %count) #0 !dbg !6 {{\nentry:\n  %warp = alloca [128 x i8], align 64\n  store ptr %block, ptr %warp\n  %x.p = getelementptr i8, ptr %block, i64 {c}\n  %y.p = getelementptr i8, ptr %block, i64 {c4}\n  %z.p = getelementptr i8, ptr %block, i64 {c8}\n  %nx.p = getelementptr i8, ptr %block, i64 {n}\n  %ny.p = getelementptr i8, ptr %block, i64 {n4}\n  %nx = load i32, ptr %nx.p\n  %ny = load i32, ptr %ny.p\n  %index.p = getelementptr i8, ptr %warp, i64 {wi}\n  br label %blocks",
            c = offset::CTAID,
            c4 = offset::CTAID + 4,
            c8 = offset::CTAID + 8,
            n = offset::NCTAID,
            n4 = offset::NCTAID + 4,
            wi = offset::W_INDEX,
        );
        s += "blocks:\n  %left = phi i64 [ %count, %entry ], [ %left.next, %advance ]\n";
        s += "  %empty = icmp eq i64 %left, 0\n  br i1 %empty, label %end, label %warps.pre\n";
        s += "end:\n  ret i32 0\nfailed:\n  ret i32 3\n";
        if full > 0 {
            let _ = writeln!(
                s,
                "warps.pre:\n  br label %warps\nwarps:\n  %w = phi i32 [ 0, %warps.pre ], [ %w.next, %warps.next ]\n  store i32 %w, ptr %index.p\n  %code = call i32 @warp(ptr %warp, ptr %block, i32 %w, i32 -1), !dbg !7\n  %bad = icmp ne i32 %code, 0\n  br i1 %bad, label %failed, label %warps.next\nwarps.next:\n  %w.next = add i32 %w, 1\n  %more = icmp ult i32 %w.next, {full}\n  br i1 %more, label %warps, label %tail"
            );
        } else {
            s += "warps.pre:\n  br label %tail\n";
        }
        if rest > 0 {
            let _ = writeln!(
                s,
                "tail:\n  store i32 {full}, ptr %index.p\n  %tcode = call i32 @warp(ptr %warp, ptr %block, i32 {full}, i32 {}), !dbg !7\n  %tbad = icmp ne i32 %tcode, 0\n  br i1 %tbad, label %failed, label %advance",
                tail as u32 as i32
            );
        } else {
            s += "tail:\n  br label %advance\n";
        }
        s += "advance:\n  %left.next = sub i64 %left, 1\n  %x = load i32, ptr %x.p\n  %x1 = add i32 %x, 1\n  %x.over = icmp eq i32 %x1, %nx\n  %x2 = select i1 %x.over, i32 0, i32 %x1\n  store i32 %x2, ptr %x.p\n  %xc = zext i1 %x.over to i32\n";
        s += "  %y = load i32, ptr %y.p\n  %y1 = add i32 %y, %xc\n  %y.over = icmp eq i32 %y1, %ny\n  %y2 = select i1 %y.over, i32 0, i32 %y1\n  store i32 %y2, ptr %y.p\n  %yc = zext i1 %y.over to i32\n";
        s += "  %z = load i32, ptr %z.p\n  %z1 = add i32 %z, %yc\n  store i32 %z1, ptr %z.p\n  br label %blocks\n}\n";
        s
    }
}

/// Bytes of an LLVM type that a slot has.
fn type_size(ty: &str) -> usize {
    let bits = |t: &str| t.trim_start_matches('i').parse::<usize>().unwrap_or(64);
    match ty.strip_prefix("<32 x ") {
        Some(rest) => (bits(rest.trim_end_matches('>')) * LANES).div_ceil(8),
        None => bits(ty).div_ceil(8),
    }
}
