//! Prefetching for loops whose loads move far from round to round, and for later blocks.
//!
//! A warp's lanes read rows, and from one round to the next the row often moves by the number of threads in
//! the grid, or by a matrix's width: too far for the processor's own prefetchers. The stride is found by
//! differentiating the address with respect to the loop's counters. A wrong guess costs a few instructions
//! and changes no result.

use std::collections::BTreeMap;

use wave::op::{CacheLevel, IntOp, Op, Order, SReg, ShiftOp, Space};
use wave::{Function, Inst, Loc, Ty, Value};

use super::Kernel;
use super::cfg::{Cfg, Loop};
use super::spin::Made;
use super::uniformity::Uniformity;
use crate::ir::Bin;
use crate::target::Maker;

/// Prefetch distance in a loop without stops, in operations of wave IR.
const OPERATIONS: usize = 240;
/// Maximum prefetch distance in rounds.
const ROUNDS: usize = 8;
/// Prefetch distance in blocks, where a block begins.
const BLOCKS: i64 = 4;
/// Maximum prefetch distance in bytes in kernels without stops and loops, but at least one block.
const BYTES: i64 = 4096;
/// Maximum number of prefetched loads per loop. If there are more, most are neighbours that one prefetch
/// covers (a stencil of seven loads ran a tenth slower).
const ACCESSES: usize = 4;
/// Maximum number of loads that are looked at.
const LOOKED: usize = 32;
/// The processor's own prefetchers follow strides below this, in bytes.
const NEAR: u64 = 2048;
/// Minimum number of lanes whose addresses follow from the first lane's.
const ROW: usize = 8;

/// The stride of a value: its change per round.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// A constant.
    By(i64),
    /// A 64-bit value that is the same in all rounds.
    Far(Value),
}

/// What [`ask`] inserted.
pub struct Asked {
    /// Anything at all.
    pub any: bool,
    /// For a loop that reads far from round to round.
    pub far: bool,
    /// A loop reads far from round to round, but with more loads than are prefetched.
    pub many: bool,
}

/// Inserts [`Op::Prefetch`] before loads with a large stride, in innermost loops and in loops with stops.
/// Also for a later block before the loads with which a block begins, in kernels with stops, whose other
/// regions keep the processor from seeing those early enough, and in kernels without loops: a warp has many
/// more instructions for a row than a loop over arrays would have, so the processor sees less far ahead. On a
/// Xeon of Intel's fourth generation, saxpy of arrays in memory took 0.8 of the time, and of arrays in caches
/// as long as before. On an EPYC with AVX-512 it took 1.06, so kernels without loops do not prefetch there.
///
/// Rows that are far apart, in a loop or in a block, are prefetched into the second level on AMD's
/// processors: the first can wait for about 24 lines only, and rows a power of two apart fall into the same
/// few of its sets.
pub fn ask(func: &mut Function, cfg: &Cfg, uniformity: &Uniformity, maker: Maker) -> Asked {
    let made = Made::new(func, cfg);
    let mut asked: Vec<(usize, usize, Vec<Inst>)> = Vec::new();
    let mut types = Vec::new();
    let mut many = false;
    let level = if maker == Maker::Amd { CacheLevel::L2 } else { CacheLevel::L1 };
    for (i, l) in cfg.loops.iter().enumerate() {
        let own = |b: usize| cfg.around(b).last().is_some_and(|(_, inner)| inner.header == l.header);
        let insts = || l.blocks.iter().flat_map(|&b| &func.blocks[b].insts);
        let stops = insts().any(|i| i.op.suspends());
        let innermost = l.blocks.iter().all(|&b| own(b));
        let diverges = uniformity.divergent_loop[i];
        if diverges && stops || !(stops || innermost) {
            continue;
        }
        let rounds = if stops { 1 } else { (OPERATIONS / insts().count().max(1)).clamp(1, ROUNDS) };
        let blocks = l.blocks.iter().copied().filter(|&b| own(b));
        let loads = rows(func, uniformity, blocks);
        let prefetched = loads.len() <= ACCESSES;
        for (b, at, address) in loads {
            let before = types.len();
            let mut walk = Walk::new(func, cfg, &made, Along::Loop(l), &mut types);
            let step = match walk.step(address, DEPTH) {
                Some(Step::Far(v)) => walk.times(v, rounds as i64),
                Some(Step::By(n)) if n.unsigned_abs() >= NEAR => walk.constant(n.wrapping_mul(rounds as i64)),
                _ => continue,
            };
            if !prefetched {
                types.truncate(before);
                many = true;
                break;
            }
            asked.push((b, at, walk.asking(address, step, level)));
        }
    }
    let far = !asked.is_empty();
    let stops = func.blocks.iter().flat_map(|b| &b.insts).any(|i| i.op.suspends());
    if stops || cfg.loops.is_empty() && maker != Maker::Amd {
        let loads = rows(func, uniformity, before_stops(func, cfg).into_iter());
        let few = loads.len() <= ACCESSES;
        let sums = Sums { func, made: &made };
        let mut had: Vec<Sum> = Vec::new();
        for (b, at, address) in loads.into_iter().filter(|_| few) {
            let before = types.len();
            let mut walk = Walk::new(func, cfg, &made, Along::Rows, &mut types);
            let near = matches!(walk.step(address, DEPTH), Some(Step::By(n)) if n.unsigned_abs() < NEAR);
            let level = if near { CacheLevel::L1 } else { level };
            types.truncate(before);
            let mut walk = Walk::new(func, cfg, &made, Along::Blocks, &mut types);
            let Some(Step::By(step @ 1..)) = walk.step(address, DEPTH) else { continue };
            // From a row that is prefetched the processor's own prefetchers read on.
            let sum = sums.of(address);
            if had.iter().any(|h| sums.apart(h, &sum).is_some_and(|n| n.unsigned_abs() < NEAR)) {
                continue;
            }
            had.push(sum);
            let blocks = if stops { BLOCKS } else { (BYTES / step).clamp(1, BLOCKS) };
            let step = walk.constant(step.wrapping_mul(blocks));
            asked.push((b, at, walk.asking(address, step, level)));
        }
    }
    func.values.extend(types);
    asked.sort_by_key(|(b, at, _)| (*b, *at));
    // In reverse, so that earlier positions stay valid.
    for (b, at, new) in asked.iter().rev() {
        func.blocks[*b].insts.splice(at..at, new.iter().cloned());
    }
    Asked { any: !asked.is_empty(), far, many }
}

/// The blocks outside loops that run before any stop, which a warp reaches in its first turn.
fn before_stops(func: &Function, cfg: &Cfg) -> Vec<usize> {
    let stops = |b: usize| func.blocks[b].insts.iter().any(|i| i.op.suspends());
    let mut reached = vec![false; func.blocks.len()];
    let mut order = Vec::new();
    for &b in &cfg.order {
        let first = order.is_empty() || cfg.preds[b].iter().any(|&p| reached[p] && !stops(p));
        reached[b] = first;
        if first {
            order.push(b);
        }
    }
    order.retain(|&b| cfg.around(b).next().is_none());
    order
}

/// The global loads whose lanes read rows or one value, as block, index and address; the first ones.
fn rows(
    func: &Function,
    uniformity: &Uniformity,
    blocks: impl Iterator<Item = usize>,
) -> Vec<(usize, usize, Value)> {
    let mut loads: Vec<(usize, usize, Value)> = Vec::new();
    for b in blocks {
        for (at, inst) in func.blocks[b].insts.iter().enumerate() {
            if let Op::Load { mem, .. } = inst.op
                && mem.space == Space::Global
                && mem.order == Order::Weak
                && uniformity.values[inst.args[0].index()].group >= ROW
                && loads.iter().all(|l| l.2 != inst.args[0])
            {
                loads.push((b, at, inst.args[0]));
                if loads.len() > LOOKED {
                    return loads;
                }
            }
        }
    }
    loads
}

/// Maximum number of operations followed back from an address or from a counter's next value.
const DEPTH: usize = 24;
const NEXT: usize = 6;
/// The same for the terms of an address, which are visited once for each way to them.
const TERMS: usize = 8;

/// What counts the rounds between which addresses are compared.
#[derive(Clone, Copy)]
enum Along<'f> {
    /// A loop.
    Loop(&'f Loop),
    /// The blocks, each a round of the whole kernel: their index in x.
    Blocks,
    /// The rows of a block: the thread's index in y.
    Rows,
}

impl Along<'_> {
    fn contains(self, block: usize) -> bool {
        match self {
            Along::Loop(l) => l.contains[block],
            Along::Blocks | Along::Rows => true,
        }
    }

    /// Whether a block of the function begins a round, with values from the round before.
    fn begins(self, block: usize) -> bool {
        matches!(self, Along::Loop(l) if l.header == block)
    }
}

struct Walk<'f> {
    func: &'f Function,
    cfg: &'f Cfg,
    made: &'f Made,
    along: Along<'f>,
    /// Types of the new values.
    types: &'f mut Vec<Ty>,
    /// The strides found so far; `None` if unknown.
    steps: BTreeMap<Value, Option<Step>>,
    /// The instructions that compute them.
    out: Vec<Inst>,
}

impl<'f> Walk<'f> {
    fn new(
        func: &'f Function,
        cfg: &'f Cfg,
        made: &'f Made,
        along: Along<'f>,
        types: &'f mut Vec<Ty>,
    ) -> Walk<'f> {
        Walk { func, cfg, made, along, types, steps: BTreeMap::new(), out: Vec::new() }
    }

    fn emit(&mut self, op: Op, args: &[Value]) -> Value {
        let v = Value((self.func.values.len() + self.types.len()) as u32);
        self.types.push(Ty::I64);
        let results = [v].into_iter().collect();
        self.out.push(Inst { op, args: args.iter().copied().collect(), results, loc: Loc::default() });
        v
    }

    /// The instructions that prefetch what lies a stride behind an address.
    fn asking(mut self, address: Value, step: Value, level: CacheLevel) -> Vec<Inst> {
        let to = self.emit(Op::Int(IntOp::Add, Ty::I64), &[address, step]);
        let (args, results) = ([to].into_iter().collect(), Default::default());
        self.out.push(Inst { op: Op::Prefetch(Space::Global, level), args, results, loc: Loc::default() });
        self.out
    }

    fn constant(&mut self, n: i64) -> Value {
        self.emit(Op::Const { ty: Ty::I64, bits: u128::from(n as u64) }, &[])
    }

    fn times(&mut self, v: Value, n: i64) -> Value {
        let n = self.constant(n);
        self.emit(Op::Int(IntOp::Mul, Ty::I64), &[v, n])
    }

    fn inst(&self, v: Value) -> Option<&Inst> {
        self.made.inst(self.func, v)
    }

    fn is_inside(&self, v: Value) -> bool {
        self.made.place(v).is_some_and(|(b, _)| self.along.contains(b))
    }

    /// A constant's signed value.
    fn bits(&self, v: Value) -> Option<i64> {
        self.made.signed(self.func, v)
    }

    /// A loop-invariant value as a stride.
    fn fixed(&mut self, v: Value) -> Option<Step> {
        if let Some(n) = self.bits(v) {
            return Some(Step::By(n));
        }
        match self.func.ty(v) {
            _ if self.is_inside(v) => None,
            Ty::I64 => Some(Step::Far(v)),
            Ty::I32 => Some(Step::Far(self.emit(Op::Sext { from: Ty::I32, to: Ty::I64 }, &[v]))),
            _ => None,
        }
    }

    /// What is added to a counter; for a select, the operand that is not 0.
    fn added(&mut self, v: Value, depth: usize) -> Option<Step> {
        let depth = depth.checked_sub(1)?;
        let inst = self.inst(v).filter(|_| self.is_inside(v)).cloned();
        match inst.as_ref().map(|i| (&i.op, &i.args)) {
            Some((Op::Select(_), args)) => {
                let either = [self.added(args[1], depth), self.added(args[2], depth)];
                either.into_iter().flatten().find(|s| *s != Step::By(0))
            }
            Some((Op::Zext { from: Ty::I1, .. }, _)) => Some(Step::By(1)),
            Some((Op::Zext { .. } | Op::Sext { .. }, args)) => self.added(args[0], depth),
            _ => self.fixed(v),
        }
    }

    fn sum(&mut self, a: Step, b: Step, op: IntOp) -> Step {
        match (a, b) {
            (Step::By(x), Step::By(y)) if op == IntOp::Sub => Step::By(x.wrapping_sub(y)),
            (Step::By(x), Step::By(y)) => Step::By(x.wrapping_add(y)),
            (a, Step::By(0)) => a,
            (Step::By(0), b) if op == IntOp::Add => b,
            (a, b) => {
                let [a, b] = [a, b].map(|s| match s {
                    Step::By(n) => self.constant(n),
                    Step::Far(v) => v,
                });
                Step::Far(self.emit(Op::Int(op, Ty::I64), &[a, b]))
            }
        }
    }

    fn product(&mut self, step: Step, by: Step) -> Step {
        match (step, by) {
            (Step::By(0), _) => Step::By(0),
            (Step::By(x), Step::By(y)) => Step::By(x.wrapping_mul(y)),
            (Step::Far(v), Step::By(n)) | (Step::By(n), Step::Far(v)) => Step::Far(self.times(v, n)),
            (Step::Far(a), Step::Far(b)) => Step::Far(self.emit(Op::Int(IntOp::Mul, Ty::I64), &[a, b])),
        }
    }

    /// The arguments that the loop's own blocks pass to a parameter.
    fn given(&self, v: Value) -> Vec<Value> {
        let Some((b, at)) = self.made.place(v) else { return Vec::new() };
        let Some(at) = at.checked_sub(self.func.blocks[b].insts.len()) else { return Vec::new() };
        let inside = self.cfg.preds[b].iter().filter(|p| self.along.contains(**p));
        let targets = inside.flat_map(|&p| self.func.blocks[p].term.targets());
        targets.filter(|t| t.block.index() == b).filter_map(|t| t.args.get(at).copied()).collect()
    }

    /// A value's stride, if it can be determined.
    fn step(&mut self, v: Value, depth: usize) -> Option<Step> {
        if !self.is_inside(v) {
            return Some(Step::By(0));
        }
        if let Some(&known) = self.steps.get(&v) {
            return known;
        }
        let depth = depth.checked_sub(1)?;
        // Counters that take each other's values, such as two buffers that change places, would not end.
        self.steps.insert(v, None);
        let step = self.derived(v, depth);
        self.steps.insert(v, step);
        step
    }

    fn derived(&mut self, v: Value, depth: usize) -> Option<Step> {
        let Some(inst) = self.inst(v).cloned() else {
            let given = self.given(v);
            if self.made.place(v).is_some_and(|(b, _)| self.along.begins(b)) {
                return given.into_iter().find_map(|next| self.moved(next, v, NEXT));
            }
            return given.into_iter().find_map(|g| self.step(g, depth));
        };
        match inst.op {
            Op::Const { .. } => Some(Step::By(0)),
            Op::Special(SReg::CtaidX) => Some(Step::By(i64::from(matches!(self.along, Along::Blocks)))),
            Op::Special(SReg::TidY) if matches!(self.along, Along::Rows) => Some(Step::By(1)),
            // Kernels do not write parameters.
            Op::Load { mem, .. } if mem.space == Space::Param => {
                let all = !matches!(self.along, Along::Loop(_));
                let fixed = all || self.step(inst.args[0], depth) == Some(Step::By(0));
                fixed.then_some(Step::By(0))
            }
            Op::Int(op @ (IntOp::Add | IntOp::Sub), _) => {
                let (a, b) = (self.step(inst.args[0], depth)?, self.step(inst.args[1], depth)?);
                Some(self.sum(a, b, op))
            }
            Op::Int(IntOp::Mul, _) => {
                let (a, b) = (self.step(inst.args[0], depth)?, self.step(inst.args[1], depth)?);
                match (a, b) {
                    (Step::By(0), Step::By(0)) => Some(Step::By(0)),
                    (a, Step::By(0)) => self.fixed(inst.args[1]).map(|by| self.product(a, by)),
                    (Step::By(0), b) => self.fixed(inst.args[0]).map(|by| self.product(b, by)),
                    _ => None,
                }
            }
            Op::Shift(ShiftOp::Shl, _) => {
                let a = self.step(inst.args[0], depth)?;
                let by = u32::try_from(self.bits(inst.args[1])?).ok().filter(|n| *n < 32)?;
                Some(self.product(a, Step::By(1 << by)))
            }
            Op::Sext { .. } | Op::Zext { .. } | Op::ToGeneric(_) | Op::FromGeneric(_) => {
                self.step(inst.args[0], depth)
            }
            Op::Select(_) => self.step(inst.args[1], depth).or_else(|| self.step(inst.args[2], depth)),
            // Terms for the sign or for wrap-around rarely change.
            Op::Shift(ShiftOp::ShrS, _) | Op::Int(IntOp::And, _) => Some(Step::By(0)),
            op if op.is_pure() && inst.args.iter().all(|&a| self.step(a, depth) == Some(Step::By(0))) => {
                Some(Step::By(0))
            }
            _ => None,
        }
    }

    /// The difference between the next round's value and this round's.
    fn moved(&mut self, next: Value, now: Value, depth: usize) -> Option<Step> {
        if next == now {
            return Some(Step::By(0));
        }
        let depth = depth.checked_sub(1)?;
        if !self.is_inside(next) {
            return None;
        }
        let Some(inst) = self.inst(next).cloned() else {
            if self.made.place(next).is_some_and(|(b, _)| self.along.begins(b)) {
                // It takes another counter's value one round later, so it has the same stride.
                return self.step(next, depth);
            }
            return self.given(next).into_iter().find_map(|g| self.moved(g, now, depth));
        };
        match inst.op {
            Op::Int(op @ (IntOp::Add | IntOp::Sub), _) => {
                let pairs = [(inst.args[0], inst.args[1]), (inst.args[1], inst.args[0])];
                let pairs = pairs.into_iter().take(if op == IntOp::Add { 2 } else { 1 });
                pairs.into_iter().find_map(|(base, by)| {
                    let base = self.moved(base, now, depth)?;
                    let by = self.added(by, depth)?;
                    Some(self.sum(base, by, op))
                })
            }
            Op::Select(_) => {
                self.moved(inst.args[1], now, depth).or_else(|| self.moved(inst.args[2], now, depth))
            }
            Op::Sext { .. } | Op::Zext { .. } => self.moved(inst.args[0], now, depth),
            _ => None,
        }
    }
}

/// An address as a constant and a sum of other values, each times a constant.
#[derive(Default)]
struct Sum {
    constant: i64,
    terms: Vec<(Value, i64)>,
}

/// Compares addresses. Sums of 32 bits are taken not to wrap: a wrong guess changes no result.
struct Sums<'f> {
    func: &'f Function,
    made: &'f Made,
}

impl Sums<'_> {
    fn of(&self, address: Value) -> Sum {
        let mut sum = Sum::default();
        self.add(&mut sum, address, 1, TERMS);
        sum
    }

    /// The distance from one address to another, if it is a constant.
    fn apart(&self, from: &Sum, to: &Sum) -> Option<i64> {
        let mut terms = to.terms.clone();
        from.terms.iter().for_each(|&(v, times)| self.term(&mut terms, v, times.wrapping_neg()));
        terms.iter().all(|t| t.1 == 0).then(|| to.constant.wrapping_sub(from.constant))
    }

    fn add(&self, sum: &mut Sum, v: Value, times: i64, depth: usize) {
        if let Some(n) = self.made.signed(self.func, v) {
            sum.constant = sum.constant.wrapping_add(n.wrapping_mul(times));
            return;
        }
        let inst = self.made.inst(self.func, v).filter(|_| depth > 0);
        let constant = |at: usize| inst.and_then(|i| self.made.signed(self.func, i.args[at]));
        let scaled = inst.and_then(|i| match i.op {
            Op::Sext { .. } | Op::Zext { .. } | Op::ToGeneric(_) | Op::FromGeneric(_) => Some((0, 1)),
            Op::Shift(ShiftOp::Shl, _) => constant(1).filter(|n| (0..32).contains(n)).map(|n| (0, 1 << n)),
            Op::Int(IntOp::Mul, _) => constant(1).map(|n| (0, n)).or_else(|| constant(0).map(|n| (1, n))),
            _ => None,
        });
        match (inst, scaled) {
            (Some(inst), Some((at, by))) => {
                self.add(sum, inst.args[at], times.wrapping_mul(by), depth - 1);
            }
            (Some(inst), None) if matches!(inst.op, Op::Int(IntOp::Add | IntOp::Sub, _)) => {
                let second =
                    if matches!(inst.op, Op::Int(IntOp::Sub, _)) { times.wrapping_neg() } else { times };
                self.add(sum, inst.args[0], times, depth - 1);
                self.add(sum, inst.args[1], second, depth - 1);
            }
            _ => self.term(&mut sum.terms, v, times),
        }
    }

    fn term(&self, terms: &mut Vec<(Value, i64)>, v: Value, times: i64) {
        match terms.iter_mut().find(|(known, _)| self.same(*known, v, TERMS)) {
            Some((_, sum)) => *sum = sum.wrapping_add(times),
            None => terms.push((v, times)),
        }
    }

    /// Whether two values are the same, or computed alike from the same.
    fn same(&self, a: Value, b: Value, depth: usize) -> bool {
        if a == b {
            return true;
        }
        let [Some(x), Some(y)] = [a, b].map(|v| self.made.inst(self.func, v)) else { return false };
        let fixed = |op: &Op| match op {
            Op::Load { mem, .. } => mem.space == Space::Param,
            op => op.is_pure(),
        };
        depth > 0
            && x.op == y.op
            && fixed(&x.op)
            && x.results.iter().position(|r| *r == a) == y.results.iter().position(|r| *r == b)
            && x.args.len() == y.args.len()
            && x.args.iter().zip(&y.args).all(|(&a, &b)| self.same(a, b, depth - 1))
    }
}

/// Bytes of a cache line.
const LINE: i64 = 64;

impl Kernel<'_> {
    /// Prefetches a warp's addresses if they cover only a few lines.
    pub fn prefetch(&mut self, address: Value, space: Space, level: CacheLevel) {
        // With AMD's processors locality 1 was a little faster than 2 for the second level.
        let locality = if level == CacheLevel::L1 { 3 } else { 1 };
        let variation = self.facts.uniformity.values[address.index()].clone();
        if !matches!(space, Space::Global | Space::Generic) {
            return;
        }
        let group = variation.group;
        if group < ROW {
            return;
        }
        for lane in (0..self.width().lanes()).step_by(group) {
            // The first lane's address does not depend on the guard that other lanes may need.
            let first = if lane == 0 { self.first_lane(address) } else { self.lane(address, lane) };
            let offsets = &variation.offsets[lane..lane + group];
            let mut lines: Vec<i64> = offsets.iter().map(|o| o.div_euclid(LINE) * LINE).collect();
            lines.sort_unstable();
            lines.dedup();
            for line in lines.into_iter().take((self.width().lanes() / 16).max(4)) {
                let at = self.out.ir.bin_int(Bin::Add, first, line);
                let p = self.out.ir.pointer(at);
                self.out.ir.prefetch(p, locality);
            }
        }
    }
}
