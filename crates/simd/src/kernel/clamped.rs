//! Loads at clamped indices. Stencils read a neighbour at `max(i - 1, first)` or `i == 0 ? i : i - 1`: a row
//! of consecutive elements, but for the lanes at a border. Such a load gets two versions, between which a
//! vote of the lanes that perform it decides: if none of their indices is clamped, it reads the row at the
//! plain index. Loads that nothing else separates share the vote.
//!
//! What depends on a clamped index, through sums, products and the rounds of a loop, is computed once more
//! from the plain one (its *shadow*). The shadow equals it in every lane that no clamp has changed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use wave::op::{IntCmp, IntOp, IntUnOp, Op, Order, ShiftOp, Space, VoteMode};
use wave::{Block, BlockCall, BlockData, Function, Inst, Terminator, Ty, Value};

use super::Result;
use super::cfg::Cfg;
use super::passes::Analyses;
use super::specialisation::Specialisation;
use super::uniformity::Uniformity;

/// Loads of a kernel that get two versions.
const MOST: usize = 24;
/// Operations of the largest kernel that is looked at.
const LARGEST: usize = 4000;

/// Gives loads at clamped indices their versions; whether there are any.
///
/// # Errors
/// If the control flow cannot be linearised.
pub fn split(func: &mut Function, facts: &Analyses, spec: &Specialisation) -> Result<bool> {
    if func.blocks.iter().map(|b| b.insts.len()).sum::<usize>() > LARGEST {
        return Ok(false);
    }
    let clamps = clamps(func, &facts.cfg, &facts.uniformity);
    if clamps.is_empty() {
        return Ok(false);
    }
    let plain = Analyses::of(&with_plain(func, &clamps), spec)?;
    let loads = rows(func, &facts.uniformity, &plain.uniformity);
    if loads.is_empty() {
        return Ok(false);
    }
    let mut shadows = Shadows::new(func, &facts.cfg, clamps);
    let mut versions = BTreeMap::new();
    for (b, result, address) in loads {
        let Some(on) = shadows.clamped(func, address).filter(|on| !on.is_empty()) else { continue };
        let here = |c: &Value| shadows.home.get(c).is_some_and(|&home| facts.cfg.dominates(home, b));
        if on.iter().all(here) {
            let shadow = shadows.of(func, address);
            versions.insert(result, (shadow, on));
        }
    }
    if versions.is_empty() {
        return Ok(false);
    }
    shadows.write(func, &versions);
    Ok(true)
}

/// A value that is clamped in some lanes.
struct Clamp {
    /// What it is in the others.
    plain: Value,
    /// The condition under which it is clamped, or not; none for a minimum or maximum.
    cond: Option<(Value, bool)>,
}

/// The operations that clamp a row's index.
fn clamps(func: &Function, cfg: &Cfg, uniformity: &Uniformity) -> BTreeMap<Value, Clamp> {
    let insts = || cfg.order.iter().flat_map(|&b| &func.blocks[b].insts);
    let made: BTreeMap<Value, &Inst> = insts().flat_map(|i| i.results.iter().map(move |r| (*r, i))).collect();
    let mut found: BTreeMap<Value, Clamp> = BTreeMap::new();
    for inst in insts() {
        let choice = match (&inst.op, &inst.args[..]) {
            (Op::Select(Ty::I32 | Ty::I64), &[_, x, y]) => [x, y],
            (Op::Int(IntOp::MinS | IntOp::MaxS | IntOp::MinU | IntOp::MaxU, _), &[x, y]) => [x, y],
            _ => continue,
        };
        let variation = |v: Value| &uniformity.values[v.index()];
        if variation(inst.results[0]).is_whole() {
            continue;
        }
        let is_row =
            |v: Value| found.contains_key(&v) || variation(v).is_pattern() && !variation(v).is_flat();
        let is_whole = |v: Value| found.contains_key(&v) || variation(v).is_whole();
        let which = match choice.map(is_row) {
            [true, false] => 0,
            [false, true] => 1,
            // A number rarely equals the one that it is compared with.
            _ if matches!(inst.op, Op::Select(_)) && choice.into_iter().all(is_whole) => {
                match made.get(&inst.args[0]).map(|inst| &inst.op) {
                    Some(Op::IntCmp(IntCmp::Eq, _)) => 1,
                    Some(Op::IntCmp(IntCmp::Ne, _)) => 0,
                    _ => continue,
                }
            }
            _ => continue,
        };
        let cond = matches!(inst.op, Op::Select(_)).then(|| (inst.args[0], which == 1));
        found.insert(inst.results[0], Clamp { plain: choice[which], cond });
    }
    found
}

/// Operations of which a row's operand makes a row.
fn passes(op: &Op) -> bool {
    matches!(
        op,
        Op::Int(IntOp::Add | IntOp::Sub | IntOp::Mul, _)
            | Op::Shift(ShiftOp::Shl, _)
            | Op::Sext { .. }
            | Op::Zext { .. }
            | Op::ToGeneric(_)
    )
}

/// The function as if nothing were clamped, except for the conditions of its branches.
fn with_plain(func: &Function, clamps: &BTreeMap<Value, Clamp>) -> Function {
    let plain = |v: &mut Value| {
        while let Some(clamp) = clamps.get(v) {
            *v = clamp.plain;
        }
    };
    let mut out = func.clone();
    for data in &mut out.blocks {
        for inst in &mut data.insts {
            let is_clamp = inst.results.first().is_some_and(|r| clamps.contains_key(r));
            if passes(&inst.op) || is_clamp {
                inst.args.iter_mut().for_each(plain);
            } else if let Op::Load { .. } = inst.op {
                plain(&mut inst.args[0]);
            }
        }
        data.term.targets_mut().flat_map(|t| &mut t.args).for_each(plain);
    }
    out
}

/// The loads that read a row only where nothing is clamped: block, first result, address.
fn rows(func: &Function, now: &Uniformity, plain: &Uniformity) -> Vec<(usize, Value, Value)> {
    let mut found = Vec::new();
    for (b, data) in func.blocks.iter().enumerate() {
        for inst in &data.insts {
            let Op::Load { mem, ty, count, .. } = inst.op else { continue };
            let spaces = matches!(mem.space, Space::Global | Space::Shared | Space::Generic | Space::Const);
            if mem.order != Order::Weak || !spaces || ty < Ty::I32 {
                continue;
            }
            let (address, size) = (inst.args[0], i64::from(ty.bytes()) * i64::from(count));
            let [now, plain] = [now, plain].map(|u| &u.values[address.index()]);
            if !now.is_whole() && plain.is_pattern() && plain.has_stride(size) {
                found.push((b, inst.results[0], address));
            }
        }
    }
    found.truncate(MOST);
    found
}

/// The shadows of a function's values.
struct Shadows<'a> {
    cfg: &'a Cfg,
    clamps: BTreeMap<Value, Clamp>,
    /// By value: the operation that makes it, or the place of a parameter.
    made: BTreeMap<Value, Inst>,
    params: BTreeMap<Value, usize>,
    /// The block that defines a value.
    home: BTreeMap<Value, usize>,
    known: BTreeMap<Value, Value>,
    /// The parameters that have shadows.
    carried: Vec<(Value, Value)>,
    /// What follows the operation that makes a value.
    after: BTreeMap<Value, Vec<Inst>>,
    /// Flags of the lanes in which a value is clamped.
    flags: BTreeMap<Value, Value>,
}

impl<'a> Shadows<'a> {
    fn new(func: &Function, cfg: &'a Cfg, clamps: BTreeMap<Value, Clamp>) -> Shadows<'a> {
        let (mut made, mut params, mut home) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for &b in &cfg.order {
            for (at, p) in func.blocks[b].params.iter().enumerate() {
                params.insert(*p, at);
                home.insert(*p, b);
            }
            for inst in &func.blocks[b].insts {
                for r in &inst.results {
                    made.insert(*r, inst.clone());
                    home.insert(*r, b);
                }
            }
        }
        let (known, carried, after, flags) = Default::default();
        Shadows { cfg, clamps, made, params, home, known, carried, after, flags }
    }

    /// The values that a shadow of `v` would be computed from, `v` included; `None` if they are many.
    fn sources(&self, func: &Function, v: Value) -> Option<BTreeSet<Value>> {
        /// More than indices are made of.
        const MANY: usize = 200;
        let (mut seen, mut open) = (BTreeSet::new(), vec![v]);
        while let Some(v) = open.pop() {
            if seen.len() > MANY {
                return None;
            }
            if !seen.insert(v) {
                continue;
            }
            if let Some(clamp) = self.clamps.get(&v) {
                open.push(clamp.plain);
            } else if self.params.contains_key(&v) {
                open.extend(self.brought(func, v).into_iter().map(|(_, arg)| arg));
            } else if let Some(inst) = self.made.get(&v).filter(|inst| passes(&inst.op)) {
                open.extend(&inst.args);
            }
        }
        Some(seen)
    }

    /// What the edges bring to a parameter, with the blocks that they come from.
    fn brought(&self, func: &Function, param: Value) -> Vec<(usize, Value)> {
        let (Some(&at), Some(&b)) = (self.params.get(&param), self.home.get(&param)) else { return vec![] };
        let edges = self.cfg.preds[b].iter().flat_map(|&from| {
            func.blocks[from].term.targets().filter(|t| t.block.index() == b).map(move |t| (from, t.args[at]))
        });
        edges.collect()
    }

    /// The clamped values on which a value depends; `None` if the shadow would not be known where it is
    /// needed: what a parameter depends on must be older than its block, since the flags of other rounds are
    /// gone.
    fn clamped(&self, func: &Function, v: Value) -> Option<BTreeSet<Value>> {
        let seen = self.sources(func, v)?;
        let of = |seen: &BTreeSet<Value>| -> BTreeSet<Value> {
            seen.iter().copied().filter(|v| self.clamps.contains_key(v)).collect()
        };
        for p in seen.iter().filter(|v| self.params.contains_key(v)) {
            let at = *self.home.get(p)?;
            let older =
                |c: &Value| self.home.get(c).is_some_and(|&home| home != at && self.cfg.dominates(home, at));
            if !of(&self.sources(func, *p)?).iter().all(older) {
                return None;
            }
        }
        Some(of(&seen))
    }

    /// The shadow of a value: itself, if it depends on nothing that is clamped.
    fn of(&mut self, func: &mut Function, v: Value) -> Value {
        if let Some(known) = self.known.get(&v) {
            return *known;
        }
        if self.clamped(func, v).is_none_or(|on| on.is_empty()) {
            self.known.insert(v, v);
            return v;
        }
        if let Some(plain) = self.clamps.get(&v).map(|clamp| clamp.plain) {
            let shadow = self.of(func, plain);
            self.known.insert(v, shadow);
            return shadow;
        }
        let shadow = func.new_value(func.ty(v));
        self.known.insert(v, shadow);
        if self.params.contains_key(&v) {
            self.carried.push((v, shadow));
            for (_, arg) in self.brought(func, v) {
                self.of(func, arg);
            }
        } else if let Some(inst) = self.made.get(&v).cloned() {
            let args = inst.args.iter().map(|a| self.of(func, *a)).collect();
            let made = Inst { args, results: [shadow].into_iter().collect(), ..inst };
            self.after.entry(v).or_default().push(made);
        }
        shadow
    }

    /// The flag of the lanes in which a value is clamped.
    fn flag(&mut self, func: &mut Function, v: Value) -> Value {
        if let Some(known) = self.flags.get(&v) {
            return *known;
        }
        let (cond, plain) = (self.clamps[&v].cond, self.clamps[&v].plain);
        let (op, args) = match cond {
            Some((cond, true)) => {
                self.flags.insert(v, cond);
                return cond;
            }
            Some((cond, false)) => (Op::IntUn(IntUnOp::Not, Ty::I1), vec![cond]),
            None => (Op::IntCmp(IntCmp::Ne, func.ty(v)), vec![v, plain]),
        };
        let loc = self.made.get(&v).map(|inst| inst.loc).unwrap_or_default();
        let flag = func.new_value(Ty::I1);
        let inst = Inst { op, args: args.into(), results: [flag].into_iter().collect(), loc };
        self.after.entry(v).or_default().push(inst);
        self.flags.insert(v, flag);
        flag
    }

    /// Writes the shadows and the loads' versions. `versions`: by a load's first result the shadow of its
    /// address, and what is clamped in the address.
    fn write(mut self, func: &mut Function, versions: &BTreeMap<Value, (Value, BTreeSet<Value>)>) {
        let mut asked = Asked::new();
        for (result, (address, on)) in versions {
            let flags = on.iter().map(|v| self.flag(func, *v)).collect();
            asked.insert(*result, (*address, flags));
        }
        for (param, shadow) in std::mem::take(&mut self.carried) {
            let (at, b) = (self.params[&param], self.home[&param]);
            for &from in &self.cfg.preds[b] {
                let targets = func.blocks[from].term.targets_mut().filter(|t| t.block.index() == b);
                for target in targets {
                    let arg = target.args[at];
                    target.args.push(self.known.get(&arg).copied().unwrap_or(arg));
                }
            }
            func.blocks[b].params.push(shadow);
        }
        for data in &mut func.blocks {
            for inst in std::mem::take(&mut data.insts) {
                let first = inst.results.first().copied();
                data.insts.push(inst);
                data.insts.extend(first.and_then(|r| self.after.remove(&r)).unwrap_or_default());
            }
        }
        let uses = uses(func);
        for b in func.block_ids() {
            let insts = std::mem::take(&mut func.block_mut(b).insts);
            let (mut block, mut done) = (b, 0);
            for section in sections(&insts, &asked) {
                func.block_mut(block).insts.extend_from_slice(&insts[done..section.start]);
                done = section.end;
                block = in_two(func, block, &insts[section], &asked, &uses);
            }
            func.block_mut(block).insts.extend_from_slice(&insts[done..]);
        }
    }
}

/// By the first result of a load: its address where nothing is clamped, and the flags of what is clamped in
/// it.
type Asked = BTreeMap<Value, (Value, Vec<Value>)>;

/// How often each value is used.
fn uses(func: &Function) -> Vec<usize> {
    let mut uses = vec![0; func.values.len()];
    for data in &func.blocks {
        let passed = data.term.targets().flat_map(|t| &t.args).copied();
        let all = data.insts.iter().flat_map(|i| &i.args).copied().chain(passed).chain(data.term.condition());
        all.for_each(|v| uses[v.index()] += 1);
    }
    uses
}

/// The parts of a block that get two versions: one load, or several, for which one vote suffices. Between
/// them are operations that do the same in any order.
fn sections(insts: &[Inst], asked: &Asked) -> Vec<Range<usize>> {
    /// Operations of the longest part with several loads: they are written twice.
    const LONGEST: usize = 40;
    let mut sections: Vec<Range<usize>> = Vec::new();
    for (at, inst) in insts.iter().enumerate() {
        let Some((_, flags)) = inst.results.first().and_then(|r| asked.get(r)) else { continue };
        let mut asks = flags.iter().copied().chain(inst.guard().map(|(guard, _)| guard));
        let joins = sections.last().is_some_and(|last| {
            let part = &insts[last.start..at];
            let moves = |i: &Inst| match i.op {
                Op::Load { mem, .. } => mem.order == Order::Weak,
                Op::Prefetch(..) => true,
                _ => i.op.is_pure(),
            };
            let made_in = |v: Value| part.iter().any(|i| i.results.contains(&v));
            part.len() < LONGEST && part.iter().all(moves) && !asks.any(made_in)
        });
        match sections.last_mut() {
            Some(last) if joins => last.end = at + 1,
            _ => sections.push(at..at + 1),
        }
    }
    sections
}

/// Ends a block with the two versions of some operations, and returns the block that follows them.
fn in_two(func: &mut Function, block: Block, section: &[Inst], asked: &Asked, uses: &[usize]) -> Block {
    let of = |inst: &Inst| inst.results.first().and_then(|r| asked.get(r));
    let loc = section.first().map(|inst| inst.loc).unwrap_or_default();
    let mask = func.width.mask();
    let mut add = |op: Op, args: &[Value], ty: Ty| {
        let result = func.new_value(ty);
        let results = [result].into_iter().collect();
        func.block_mut(block).insts.push(Inst { op, args: args.into(), results, loc });
        result
    };
    let mut clamped: Option<Value> = None;
    let mut seen = BTreeSet::new();
    for inst in section {
        let Some((_, flags)) = of(inst) else { continue };
        for &flag in flags {
            let guard = inst.guard().map(|(guard, _)| guard);
            if !seen.insert((flag, guard)) {
                continue;
            }
            let flag = guard.map_or(flag, |guard| add(Op::Int(IntOp::And, Ty::I1), &[flag, guard], Ty::I1));
            clamped = Some(clamped.map_or(flag, |a| add(Op::Int(IntOp::Or, Ty::I1), &[a, flag], Ty::I1)));
        }
    }
    let Some(clamped) = clamped else { return block };
    let members = add(Op::Const { ty: mask, bits: 0 }, &[], mask);
    let any = add(Op::Vote { mode: VoteMode::Any, sync: false }, &[clamped, members], Ty::I1);
    let used_in = |v: Value| section.iter().flat_map(|i| &i.args).filter(|a| **a == v).count();
    let results = || section.iter().flat_map(|i| &i.results).copied();
    let left: Vec<Value> = results().filter(|v| uses[v.index()] > used_in(*v)).collect();
    let [row, anywhere, rest] = [(); 3].map(|()| func.new_block());
    for version in [row, anywhere] {
        let mut own: BTreeMap<Value, Value> = BTreeMap::new();
        let mut insts = Vec::new();
        for inst in section {
            let mut one = inst.clone();
            if let (true, Some((address, _))) = (version == row, of(inst)) {
                one.args[0] = *address;
            }
            one.args.iter_mut().for_each(|v| *v = own.get(v).copied().unwrap_or(*v));
            for r in &mut one.results {
                let new = func.new_value(func.ty(*r));
                own.insert(*r, new);
                *r = new;
            }
            insts.push(one);
        }
        let args = left.iter().map(|v| own[v]).collect();
        let term = Terminator::Jump(BlockCall { block: rest, args });
        *func.block_mut(version) = BlockData { params: vec![], insts, term, term_loc: loc };
    }
    let data = func.block_mut(block);
    let (then, els) = (BlockCall::to(anywhere), BlockCall::to(row));
    let term = std::mem::replace(&mut data.term, Terminator::Branch { cond: any, then, els });
    let term_loc = std::mem::replace(&mut data.term_loc, loc);
    *func.block_mut(rest) = BlockData { params: left, insts: vec![], term, term_loc };
    rest
}
