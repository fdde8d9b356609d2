//! What the compiler knows of a kernel, in readable form: its wave IR after each pass, and notes on each line
//! of it.
//!
//! `anywarp compile --emit uniformity`, `--emit ranges` and `--after PASS` print this. The tests in
//! `tests/wave` compare it with their expectations.

use std::cell::RefCell;
use std::collections::BTreeSet;

use wave::range::{Range, Ranges};
use wave::{Block, FuncId, Function, Line, Module, Terminator, Ty, Value};

use super::cfg::Cfg;
use super::passes::{self, Analyses};
use super::uniformity::Uniformity;
use super::variation::{Guard, Variation};
use super::{Kernel, Result, Unsupported, stop};
use crate::key::CodeKey;

/// An event during a kernel's emission.
pub enum Told<'e> {
    /// A pass has run; the function is its result.
    Pass(&'static str, &'e Function),
    /// The kernel cannot be linearised, for this reason.
    Refused(&'e str),
    /// The kernel has been emitted.
    Kernel(&'e Kernel<'e>),
}

/// The observer of a kernel's emission.
pub type Watch<'w> = &'w dyn Fn(Told<'_>);

/// The subject of the notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// How values vary over the lanes of a warp, which branches are divergent, and which values live across
    /// stops. Facts marked *guarded* hold only if a test at run time succeeds.
    Uniformity,
    /// The ranges of values.
    Ranges,
}

/// Names and descriptions of all passes, in order. The linearised and the per-lane mode share some names.
pub fn passes() -> Vec<(&'static str, &'static str)> {
    let mut list: Vec<(&str, &str)> = Vec::new();
    for pass in [passes::FIRST, passes::TOGETHER, passes::APART, passes::APART_LARGE].into_iter().flatten() {
        if list.iter().all(|(name, _)| *name != pass.name) {
            list.push((pass.name, pass.about));
        }
    }
    list
}

/// The function after each pass of its compilation.
pub fn stages(module: &Module, kernel: FuncId, code: CodeKey<'_>) -> Result<Vec<(&'static str, Function)>> {
    let stages: RefCell<Vec<(&'static str, Function)>> = RefCell::default();
    super::emit(module, kernel, code, &|told| {
        let mut stages = stages.borrow_mut();
        match told {
            Told::Pass(name, func) => {
                // A kernel that turns out to be large runs through the passes again.
                if let Some(at) = stages.iter().position(|(known, _)| *known == name) {
                    stages.truncate(at);
                }
                stages.push((name, func.clone()));
            }
            Told::Refused(_) => stages.truncate(passes::FIRST.len()),
            Told::Kernel(_) => {}
        }
    })?;
    Ok(stages.into_inner())
}

/// A kernel's wave IR with notes on its lines: in its final form, or `after` a pass.
pub fn explain(
    module: &Module,
    kernel: FuncId,
    code: CodeKey<'_>,
    view: View,
    after: Option<&str>,
) -> Result<String> {
    if let Some(after) = after {
        let stages = stages(module, kernel, code)?;
        let stage = stages.into_iter().find(|(name, _)| *name == after);
        let (_, func) = stage.ok_or_else(|| Unsupported(format!("its compilation has no pass `{after}`")))?;
        let Analyses { cfg, uniformity, ranges } = Analyses::of(&func, &code.spec)?;
        let notes = Notes::new(&func, &cfg, &uniformity, &ranges, None);
        return Ok(notes.text(module, view));
    }
    let (reason, text) = (RefCell::new(None), RefCell::new(String::new()));
    super::emit(module, kernel, code, &|told| match told {
        Told::Pass(..) => {}
        Told::Refused(why) => *reason.borrow_mut() = Some(why.to_owned()),
        Told::Kernel(k) => {
            let notes =
                Notes::new(&k.facts.func, &k.facts.cfg, &k.facts.uniformity, &k.facts.ranges, Some(k));
            let how = match &*reason.borrow() {
                Some(why) => format!("; per-lane mode: {why}\n"),
                None => "; lanes run together\n".to_owned(),
            };
            *text.borrow_mut() = how + &notes.head(view) + &notes.text(module, view);
        }
    })?;
    Ok(text.into_inner())
}

/// A function and what is known of it.
struct Notes<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    uniformity: &'a Uniformity,
    ranges: &'a Ranges,
    /// The kernel, if its code has been emitted.
    kernel: Option<&'a Kernel<'a>>,
    /// The defining block, by value.
    made: Vec<Option<Block>>,
}

fn list<T: std::fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|i| i.to_string()).collect::<Vec<_>>().join(", ")
}

impl<'a> Notes<'a> {
    fn new(
        func: &'a Function,
        cfg: &'a Cfg,
        uniformity: &'a Uniformity,
        ranges: &'a Ranges,
        kernel: Option<&'a Kernel<'a>>,
    ) -> Notes<'a> {
        let mut made = vec![None; func.values.len()];
        for block in func.block_ids() {
            let data = func.block(block);
            let results = data.insts.iter().flat_map(|i| i.results.iter());
            data.params.iter().chain(results).for_each(|v| made[v.index()] = Some(block));
        }
        Notes { func, cfg, uniformity, ranges, kernel, made }
    }

    /// Notes on the whole kernel.
    fn head(&self, view: View) -> String {
        let Some(k) = self.kernel.filter(|_| view == View::Uniformity) else { return String::new() };
        let mut text = format!("; order: {}\n", list(self.cfg.order.iter().map(|b| Block(*b as u32))));
        let facts = [
            (k.facts.always_full, "; no lane exits early\n"),
            (k.facts.flushes, "; the processor flushes subnormals\n"),
            (k.sweeps(), "; one loop runs all warps from barrier to barrier\n"),
        ];
        facts.iter().filter(|(holds, _)| *holds).for_each(|(_, line)| text += line);
        if k.out.resumes > 0 && !k.per_lane() {
            text += &self.regions();
        }
        text
    }

    /// The regions: blocks that a warp may run from its start or a stop to the next stop.
    fn regions(&self) -> String {
        let stops = |b: usize| self.func.blocks[b].insts.last().is_some_and(|i| i.op.suspends());
        let region = |start: usize| {
            let (mut seen, mut todo) = (BTreeSet::new(), vec![start]);
            while let Some(b) = todo.pop() {
                if seen.insert(b) && !stops(b) {
                    todo.extend(&self.cfg.succs[b]);
                }
            }
            let order = self.cfg.order.iter().filter(|b| seen.contains(b));
            list(order.map(|b| Block(*b as u32)))
        };
        let mut text = format!("; region from the start: {}\n", region(0));
        for &b in self.cfg.order.iter().filter(|b| stops(**b)) {
            let next = self.cfg.succs[b].iter().map(|&next| region(next));
            next.for_each(|blocks| text += &format!("; region after {}: {blocks}\n", Block(b as u32)));
        }
        text
    }

    fn text(&self, module: &Module, view: View) -> String {
        let live = self
            .kernel
            .filter(|k| k.out.resumes > 0 && !k.facts.in_frame)
            .map(|_| stop::live_in(self.func, self.cfg));
        let notes = |line: Line| {
            let notes = match view {
                View::Uniformity => self.uniformity_notes(line, live.as_deref().unwrap_or_default()),
                View::Ranges => self.range_notes(line),
            };
            notes.join("; ")
        };
        module.annotated(self.func, &notes).to_string()
    }

    fn uniformity_notes(&self, line: Line, live: &[BTreeSet<Value>]) -> Vec<String> {
        let value = |v: &Value| {
            let raw = self.kernel.is_some_and(|k| k.facts.raw.contains(v));
            format!("{v} {}{}", shown(&self.uniformity.values[v.index()]), if raw { ", any NaN" } else { "" })
        };
        match line {
            Line::Head(block) => self.head_notes(block, &value),
            Line::Inst(block, at) => {
                let inst = &self.func.block(block).insts[at];
                let mut notes: Vec<String> = inst.results.iter().map(value).collect();
                if let Some(k) = self.kernel {
                    if k.facts.aligned.contains(&(block.index(), at)) {
                        notes.push("known aligned".into());
                    }
                    notes.extend(self.kept(k, block, at, live));
                }
                notes
            }
            Line::End(block) => {
                let term = &self.func.block(block).term;
                let parts = self.uniformity.divergent[block.index()];
                match term {
                    Terminator::Branch { .. } | Terminator::Switch { .. } if parts => {
                        vec!["divergent".into()]
                    }
                    _ => Vec::new(),
                }
            }
        }
    }

    fn head_notes(&self, block: Block, value: &dyn Fn(&Value) -> String) -> Vec<String> {
        let b = block.index();
        if self.cfg.position[b].is_none() {
            return vec!["unreachable".into()];
        }
        let mut notes: Vec<String> = self.func.block(block).params.iter().map(value).collect();
        if let Some(k) = self.kernel.filter(|k| k.per_lane()) {
            let waits = [(&k.waits().meetings, "waits for members"), (&k.waits().stops, "waits at a stop")];
            notes
                .extend(waits.iter().filter(|(set, _)| set.contains(&b)).map(|(_, what)| (*what).to_owned()));
            return notes;
        }
        for (i, l) in self.cfg.loops.iter().enumerate().filter(|(_, l)| l.header == b) {
            let apart = if self.uniformity.divergent_loop[i] { ", divergent" } else { "" };
            notes.push(format!("loop of {}{apart}", list(l.blocks.iter().map(|b| Block(*b as u32)))));
        }
        if self.uniformity.masked[b] {
            notes.push("masked".into());
        }
        if self.uniformity.joins[b] {
            notes.push("join".into());
        }
        notes
    }

    /// The values that a stop keeps in the warp's frame.
    fn kept(&self, k: &Kernel, block: Block, at: usize, live: &[BTreeSet<Value>]) -> Option<String> {
        let data = self.func.block(block);
        let Terminator::Jump(next) = &data.term else { return None };
        if live.is_empty() || at + 1 != data.insts.len() || !data.insts[at].op.suspends() {
            return None;
        }
        let kept = k.kept(next.block.index(), data.insts[at].results.first().copied(), live);
        let early = |v: &Value| k.out.frame_slots.get(v).is_some_and(|slots| slots.eager);
        let names =
            kept.iter().map(|v| format!("{v}{}", if early(v) { " (stored when defined)" } else { "" }));
        Some(if kept.is_empty() { "keeps nothing".into() } else { format!("keeps {}", list(names)) })
    }

    fn range_notes(&self, line: Line) -> Vec<String> {
        let at = |v: Value, block: Block| bounds(self.ranges.at(v, block), self.func.ty(v));
        let made = |v: &Value, block: Block| format!("{v} {}", at(*v, block));
        match line {
            Line::Head(block) if self.cfg.position[block.index()].is_none() => {
                vec!["unreachable".into()]
            }
            Line::Head(block) => {
                let data = self.func.block(block);
                let mut notes: Vec<String> = data.params.iter().map(|v| made(v, block)).collect();
                // Ranges that branches imply for values from other blocks.
                let args = data.insts.iter().flat_map(|i| i.args.iter().copied());
                let used: BTreeSet<Value> = args.chain(data.term.uses()).collect();
                let elsewhere = used.into_iter().filter_map(|v| Some((v, self.made[v.index()]?)));
                let narrower = elsewhere.filter(|(v, from)| *from != block && at(*v, *from) != at(*v, block));
                notes.extend(narrower.map(|(v, _)| format!("{v} {} here", at(v, block))));
                notes
            }
            Line::Inst(block, n) => {
                self.func.block(block).insts[n].results.iter().map(|v| made(v, block)).collect()
            }
            Line::End(_) => Vec::new(),
        }
    }
}

/// A variation in words.
fn shown(variation: &Variation) -> String {
    let mut text = pattern(variation);
    match variation.guard {
        _ if !variation.needs_guard() => {}
        Guard::All => text += ", guarded",
        Guard::Flat => text += " or uniform",
        _ => text += ", offsets guarded",
    }
    if let Some(max) = variation.max {
        text += &format!(", at most {max}");
    }
    if variation.is_whole() && (1..32).contains(&variation.zeros) {
        text += &format!(", first a multiple of {}", 1u64 << variation.zeros);
    }
    text
}

/// `uniform`, `stride 4`, `stride 1 in rows of 16`, `uniform in groups of 8`, `varying`.
fn pattern(variation: &Variation) -> String {
    if variation.group == 1 {
        return "varying".into();
    }
    let groups =
        if variation.is_whole() { String::new() } else { format!(" in groups of {}", variation.group) };
    if variation.is_flat() {
        return format!("uniform{groups}");
    }
    let offsets = &variation.offsets[..variation.group];
    if variation.has_stride(offsets[1]) {
        return format!("stride {}{groups}", offsets[1]);
    }
    // Rows of `n` lanes, and the step between their first lanes.
    let rows = [2, 4, 8, 16, 32].into_iter().filter(|&n| n < variation.group).find_map(|n| {
        let (step, between) = (offsets[1], offsets[n]);
        let fits = |l: usize| (l % n) as i64 * step + (l / n) as i64 * between == offsets[l];
        let row = if step == 0 { "uniform".to_owned() } else { format!("stride {step}") };
        (0..variation.group)
            .all(fits)
            .then(|| format!("{row} in rows of {n} that are {between} apart{groups}"))
    });
    rows.unwrap_or_else(|| format!("offsets {}{groups}", list(offsets)))
}

/// A range in words.
fn bounds(range: Range, ty: Ty) -> String {
    let full = Range::full(ty);
    match range.constant() {
        _ if ty == Ty::I128 => "any".into(),
        Some(_) if ty == Ty::I1 => range.umin.to_string(),
        Some(_) => range.smin.to_string(),
        None if range == full => "any".into(),
        None if (range.smin, range.smax) == (full.smin, full.smax) => {
            format!("unsigned {}..={}", range.umin, range.umax)
        }
        None => format!("{}..={}", range.smin, range.smax),
    }
}

#[cfg(test)]
mod tests {
    use wave::LANES;

    use super::*;
    use crate::ir::Width;

    fn offsets(group: usize, of: impl Fn(usize) -> i64) -> Variation {
        let offsets = (0..LANES).map(|l| of(l % group)).collect();
        Variation { group, offsets, ..Variation::varying(Width::WARP) }
    }

    #[test]
    fn variations_in_words() {
        let cases = [
            (Variation::varying(Width::WARP), "varying"),
            (Variation::uniform(Width::WARP), "uniform"),
            (offsets(32, |l| 4 * l as i64), "stride 4"),
            (offsets(16, |l| -(l as i64)), "stride -1 in groups of 16"),
            (offsets(8, |_| 0), "uniform in groups of 8"),
            (offsets(32, |l| (l % 16) as i64), "stride 1 in rows of 16 that are 0 apart"),
            (offsets(32, |l| (l / 16) as i64), "uniform in rows of 16 that are 1 apart"),
            (offsets(4, |l| [0, 3, 1, 7][l]), "offsets 0, 3, 1, 7 in groups of 4"),
            (
                Variation { max: Some(9), zeros: 2, ..Variation::uniform(Width::WARP) },
                "uniform, at most 9, first a multiple of 4",
            ),
            (Variation { guard: Guard::All, ..Variation::uniform(Width::WARP) }, "uniform, guarded"),
            (Variation { guard: Guard::Offsets, ..Variation::uniform(Width::WARP) }, "uniform"),
            (Variation { guard: Guard::Offsets, ..offsets(32, |l| l as i64) }, "stride 1, offsets guarded"),
            (Variation { guard: Guard::Flat, ..offsets(32, |l| l as i64) }, "stride 1 or uniform"),
        ];
        for (variation, words) in cases {
            assert_eq!(shown(&variation), words);
        }
    }

    #[test]
    fn ranges_in_words() {
        let cases = [
            (Ty::I32, Range::full(Ty::I32), "any"),
            (Ty::I32, Range::unsigned(Ty::I32, 0, 255), "0..=255"),
            (Ty::I32, Range::signed(Ty::I32, -3, 4), "-3..=4"),
            (Ty::I32, Range::unsigned(Ty::I32, 1, u32::MAX.into()), "unsigned 1..=4294967295"),
            (Ty::I8, Range::exactly(Ty::I8, 255), "-1"),
            (Ty::I1, Range::exactly(Ty::I1, 1), "1"),
            (Ty::I1, Range::full(Ty::I1), "any"),
        ];
        for (ty, range, words) in cases {
            assert_eq!(bounds(range, ty), words);
        }
    }
}
