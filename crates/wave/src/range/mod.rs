//! Range analysis: the integers that a value may be, at its definition and, given the branches on the path,
//! in each block.
//!
//! Ranges grow from nothing until they hold for every path into a block; bounds that keep moving are widened
//! (`interval.rs`). Two more rounds then tighten bounds that became too wide. A comparison holds in the
//! blocks that only its branch leads to. A range in a block describes only the lanes that are in the block;
//! other lanes may hold anything.
//!
//! A 64-bit counter that a loop moves by at most [`STEP`] in one direction is assumed not to wrap: [`ROUNDS`]
//! iterations would take too long.

mod interval;
#[cfg(test)]
mod tests;
mod transfer;

use crate::dominance::Dominators;
use crate::func::{Block, BlockCall, Function, Inst, Terminator, Value};
use crate::op::{IntCmp, IntOp, Op, SReg};
use crate::types::Ty;

pub use interval::Range;
use transfer::{refined, transfer};

/// The largest step of such a counter per iteration.
pub const STEP: i128 = 256;
/// More iterations than any loop makes: at one per nanosecond, 52 days.
pub const ROUNDS: i128 = 1 << 52;
/// Number of changes of a value's range before its bounds are widened, and before it is given up.
const PATIENCE: [u8; 2] = [3, 12];
/// Maximum number of comparisons that are kept per value.
const FACTS: usize = 16;
/// Maximum number of operations through which a counter's step is traced.
const DEPTH: u32 = 8;

/// A comparison that holds in a block and in those that the block dominates.
#[derive(Clone, Copy, Debug)]
struct Fact {
    block: Block,
    cmp: IntCmp,
    other: Value,
}

/// The ranges of a function's values.
#[derive(Debug)]
pub struct Ranges {
    /// By value; `None` if control never reaches the definition.
    base: Vec<Option<Range>>,
    facts: Vec<Vec<Fact>>,
    types: Vec<Ty>,
    dominators: Dominators,
}

impl Ranges {
    /// Analyses a function. `register` returns the range of a special register if it is known.
    pub fn of(func: &Function, register: &dyn Fn(SReg) -> Option<Range>) -> Ranges {
        Analysis::new(func, register).run()
    }

    /// The range of a value in the lanes that are in a block.
    pub fn at(&self, v: Value, block: Block) -> Range {
        let ty = self.types[v.index()];
        let mut range = self.base[v.index()].unwrap_or_else(|| Range::full(ty));
        for fact in &self.facts[v.index()] {
            if self.dominators.dominates(fact.block, block) {
                range = self.narrowed(range, ty, fact);
            }
        }
        range
    }

    /// Adds a value that was appended to the function after the analysis.
    pub(crate) fn know(&mut self, v: Value, ty: Ty, range: Range) {
        debug_assert_eq!(v.index(), self.base.len(), "values are appended in order");
        self.base.push(Some(range));
        self.facts.push(Vec::new());
        self.types.push(ty);
    }

    fn narrowed(&self, range: Range, ty: Ty, fact: &Fact) -> Range {
        match self.base[fact.other.index()] {
            Some(other) => refined(fact.cmp, ty, range, other),
            None => range,
        }
    }
}

struct Analysis<'a> {
    func: &'a Function,
    register: &'a dyn Fn(SReg) -> Option<Range>,
    ranges: Ranges,
    /// For each value, the instruction that defines it.
    made: Vec<Option<(Block, &'a Inst)>>,
    /// For each value, the block whose parameter it is, and its index.
    params: Vec<Option<(Block, usize)>>,
    order: Vec<Block>,
    /// For each block, the edges that lead to it: a block may have thousands of targets, so they are not
    /// searched there.
    edges: Vec<Vec<(Block, &'a BlockCall)>>,
    changes: Vec<u8>,
}

impl<'a> Analysis<'a> {
    fn new(func: &'a Function, register: &'a dyn Fn(SReg) -> Option<Range>) -> Self {
        let dominators = Dominators::of(func);
        let mut order = crate::dominance::postorder(func);
        order.reverse();
        let (n, blocks) = (func.values.len(), func.blocks.len());
        let mut edges = vec![Vec::new(); blocks];
        let (mut made, mut params) = (vec![None; n], vec![None; n]);
        for &b in &order {
            func.block(b).params.iter().enumerate().for_each(|(i, p)| params[p.index()] = Some((b, i)));
            func.block(b).term.targets().for_each(|call| edges[call.block.index()].push((b, call)));
            for inst in &func.block(b).insts {
                inst.results.iter().for_each(|r| made[r.index()] = Some((b, inst)));
            }
        }
        let ranges = Ranges {
            base: vec![None; n],
            facts: vec![Vec::new(); n],
            types: func.values.clone(),
            dominators,
        };
        Analysis { func, register, ranges, made, params, order, edges, changes: vec![0; n] }
    }

    fn run(mut self) -> Ranges {
        for b in self.order.clone() {
            // The only edge into its target.
            if let [(from, _)] = self.edges[b.index()][..]
                && let Some((cond, holds)) = self.decides(from, b)
            {
                for (v, fact) in self.implied(cond, holds, b, DEPTH) {
                    let facts = &mut self.ranges.facts[v.index()];
                    if facts.len() < FACTS {
                        facts.push(fact);
                    }
                }
            }
        }
        while self.round(Self::grow) {}
        for _ in 0..2 {
            self.round(Self::tighten);
        }
        self.ranges
    }

    /// The condition under which control goes from one block to another, and its value then.
    fn decides(&self, from: Block, to: Block) -> Option<(Value, bool)> {
        match &self.func.block(from).term {
            Terminator::Branch { cond, then, els } if then.block != els.block => {
                Some((*cond, then.block == to))
            }
            _ => None,
        }
    }

    /// Comparisons implied by a condition's value.
    fn implied(&self, cond: Value, holds: bool, block: Block, depth: u32) -> Vec<(Value, Fact)> {
        let Some((_, inst)) = self.made[cond.index()].filter(|_| depth > 0) else { return Vec::new() };
        let of = |v: Value, holds| self.implied(v, holds, block, depth - 1);
        match (&inst.op, inst.args.as_slice()) {
            (&Op::IntCmp(cmp, ty), &[a, b]) if ty != Ty::I128 => {
                let cmp = if holds { cmp } else { cmp.opposite() };
                let fact = |cmp, other| Fact { block, cmp, other };
                vec![(a, fact(cmp, b)), (b, fact(cmp.exchanged(), a))]
            }
            (Op::Int(IntOp::And, Ty::I1), &[a, b]) if holds => [of(a, true), of(b, true)].concat(),
            (Op::Int(IntOp::Or, Ty::I1), &[a, b]) if !holds => [of(a, false), of(b, false)].concat(),
            (Op::IntUn(crate::op::IntUnOp::Not, Ty::I1), &[a]) => of(a, !holds),
            _ => Vec::new(),
        }
    }

    /// One pass over all values. Returns whether anything changed.
    fn round(&mut self, settle: fn(&mut Self, Value, Range) -> bool) -> bool {
        let mut changed = false;
        for at in 0..self.order.len() {
            let b = self.order[at];
            let data = self.func.block(b);
            for (i, &p) in data.params.iter().enumerate() {
                let range = match at {
                    0 => Some(Range::full(self.func.ty(p))),
                    _ => self.incoming(b, i, p),
                };
                changed |= range.is_some_and(|r| settle(self, p, r));
            }
            for inst in &data.insts {
                let known = inst.args.iter().all(|a| self.ranges.base[a.index()].is_some());
                if !known {
                    continue;
                }
                let args: smallvec::SmallVec<[Range; 4]> =
                    inst.args.iter().map(|&a| self.ranges.at(a, b)).collect();
                for (i, &r) in inst.results.iter().enumerate() {
                    let range = transfer(&inst.op, i, &args, self.func.ty(r), self.register);
                    changed |= settle(self, r, range);
                }
            }
        }
        changed
    }

    /// Grows a value's range; ranges that keep growing are widened.
    fn grow(&mut self, v: Value, new: Range) -> bool {
        let (slot, ty) = (&mut self.ranges.base[v.index()], self.func.ty(v));
        let Some(old) = *slot else {
            *slot = Some(new);
            return true;
        };
        let mut joined = old.join(new);
        if joined == old {
            return false;
        }
        let count = &mut self.changes[v.index()];
        *count += 1;
        if *count > PATIENCE[1] {
            joined = Range::full(ty);
        } else if *count > PATIENCE[0] {
            joined = joined.widened(old, ty);
        }
        *slot = Some(joined);
        true
    }

    /// Replaces a value's range by a tighter one that also holds.
    fn tighten(&mut self, v: Value, new: Range) -> bool {
        let (slot, ty) = (&mut self.ranges.base[v.index()], self.func.ty(v));
        *slot = slot.map(|old| old.meet(new, ty));
        false
    }

    /// The range of a block's parameter, from the edges that are known to be taken.
    fn incoming(&self, b: Block, i: usize, param: Value) -> Option<Range> {
        let back = |p: Block| self.ranges.dominators.dominates(b, p);
        let over = |keep: &dyn Fn(Block) -> bool| {
            let edges = self.edges[b.index()].iter().filter(|(p, _)| keep(*p));
            edges.filter_map(|(p, call)| self.along(*p, call, i)).reduce(Range::join)
        };
        if let Some((lo, hi)) = self.counts(b, i, param)
            && let Some(first) = over(&|p| !back(p))
        {
            let ty = self.func.ty(param);
            return Some(Range::signed(ty, first.smin + lo * ROUNDS, first.smax + hi * ROUNDS));
        }
        over(&|_| true)
    }

    /// The range of argument `i` on an edge from `p`, given the edge's condition.
    fn along(&self, p: Block, call: &BlockCall, i: usize) -> Option<Range> {
        let v = call.args.get(i).copied()?;
        self.ranges.base[v.index()]?;
        let ty = self.func.ty(v);
        let mut range = self.ranges.at(v, p);
        if let Some((cond, holds)) = self.decides(p, call.block) {
            for (of, fact) in self.implied(cond, holds, call.block, DEPTH) {
                if of == v {
                    range = self.ranges.narrowed(range, ty, &fact);
                }
            }
        }
        Some(range)
    }

    /// The smallest and largest step of a 64-bit parameter that a loop moves a little in one direction.
    fn counts(&self, b: Block, i: usize, param: Value) -> Option<(i128, i128)> {
        if self.func.ty(param) != Ty::I64 {
            return None;
        }
        let (mut lo, mut hi, mut moves) = (0, 0, false);
        let edges = self.edges[b.index()].iter();
        for (_, call) in edges.filter(|(p, _)| self.ranges.dominators.dominates(b, *p)) {
            if let Some(v) = call.args.get(i) {
                let (l, h) = self.distance(*v, param, DEPTH)?;
                (lo, hi, moves) = (lo.min(l), hi.max(h), true);
            }
        }
        (moves && (lo == 0 || hi == 0) && -STEP <= lo && hi <= STEP).then_some((lo, hi))
    }

    /// The distance of `v` from `param`, if it is computed from it by additions.
    fn distance(&self, v: Value, param: Value, depth: u32) -> Option<(i128, i128)> {
        if v == param {
            return Some((0, 0));
        }
        let depth = depth.checked_sub(1)?;
        let of = |v: Value| self.distance(v, param, depth);
        if let Some((b, i)) = self.params[v.index()] {
            // Paths merge inside the loop.
            let args = self.edges[b.index()].iter().map(|(_, call)| call.args.get(i).copied());
            let join = |a: (i128, i128), b: (i128, i128)| (a.0.min(b.0), a.1.max(b.1));
            let all: Option<Vec<(i128, i128)>> = args.map(|v| of(v?)).collect();
            return all?.into_iter().reduce(join);
        }
        let (_, inst) = self.made[v.index()]?;
        let (lo, hi) = match (&inst.op, inst.args.as_slice()) {
            (Op::Int(IntOp::Add, _), &[x, y]) => {
                let (near, step) = of(x).map(|d| (d, y)).or_else(|| of(y).map(|d| (d, x)))?;
                let step = self.ranges.base[step.index()]?;
                (near.0 + step.smin, near.1 + step.smax)
            }
            (Op::Int(IntOp::Sub, _), &[x, y]) => {
                let (near, step) = (of(x)?, self.ranges.base[y.index()]?);
                (near.0 - step.smax, near.1 - step.smin)
            }
            (Op::Select(_), &[_, x, y]) => {
                let (x, y) = (of(x)?, of(y)?);
                (x.0.min(y.0), x.1.max(y.1))
            }
            _ => return None,
        };
        (lo.abs() <= STEP && hi.abs() <= STEP).then_some((lo, hi))
    }
}
