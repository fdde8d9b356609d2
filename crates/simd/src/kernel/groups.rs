//! Values with a pattern in each group of 8 or more lanes, as in a block that is 16 threads wide.
//!
//! The parts of addresses are computed on scalars for each group's first lane, from which an access takes its
//! rows' addresses. Up to [`MOST`] groups whose values are made of such scalars alone have no vector
//! ([`Rep::Groups`]): other uses make it of the scalars. Other values have it besides, and LLVM removes
//! whichever is unused.

use std::collections::BTreeSet;

use wave::op::{IntOp, Op, ShiftOp};
use wave::{Function, Inst, Ty, Value};

use super::cfg::Cfg;
use super::uniformity::Uniformity;
use super::value::Rep;
use super::variation::{Guard, Variation};
use super::{Kernel, Result};
use crate::ir::{Bin, Cast, Cmp, Lanes, Operand, Type};
use crate::lanewise;

/// Most groups whose scalars stand for a vector.
pub const MOST: usize = 4;

/// Room for the scalars of groups.
pub const ROOM: [Operand; MOST] = [Operand::TRUE; MOST];

/// Operations that compute addresses and cost less on a few scalars than on a vector.
fn counts(op: &Op) -> bool {
    match op {
        Op::Int(IntOp::Add | IntOp::Sub | IntOp::Mul, ty) | Op::Shift(ShiftOp::Shl, ty) => {
            matches!(ty, Ty::I32 | Ty::I64)
        }
        Op::Zext { from: Ty::I32, to: Ty::I64 } | Op::Sext { from: Ty::I32, to: Ty::I64 } => true,
        _ => false,
    }
}

/// The values that are represented by their groups' scalars alone: parts of addresses made of others, of
/// uniform values and of patterns.
pub fn grouped(func: &Function, cfg: &Cfg, uniformity: &Uniformity) -> BTreeSet<Value> {
    let variation = |v: Value| &uniformity.values[v.index()];
    let candidate = |v: Value| {
        let of = variation(v);
        let count = of.few_groups().count();
        let known = matches!(of.guard, Guard::None | Guard::Offsets);
        (2..=MOST).contains(&count) && known && matches!(func.ty(v), Ty::I32 | Ty::I64)
    };
    let scalar = |v: Value| {
        let of = variation(v);
        of.is_uniform() || of.is_pattern() && !of.needs_guard()
    };
    let results = |b: &usize| func.blocks[*b].insts.iter().filter(|i| counts(&i.op)).map(|i| i.results[0]);
    let params = |b: &usize| func.blocks[*b].params.iter().copied();
    let mut all: BTreeSet<Value> = cfg.order.iter().flat_map(|b| results(b).chain(params(b))).collect();
    all.retain(|v| candidate(*v));
    loop {
        let before = all.len();
        for &b in &cfg.order {
            for inst in func.blocks[b].insts.iter().filter(|i| counts(&i.op)) {
                if !inst.args.iter().all(|v| scalar(*v) || all.contains(v)) {
                    all.remove(&inst.results[0]);
                }
            }
            for target in func.blocks[b].term.targets() {
                for (p, v) in func.blocks[target.block.index()].params.iter().zip(&target.args) {
                    if !scalar(*v) && !all.contains(v) {
                        all.remove(p);
                    }
                }
            }
        }
        if all.len() == before {
            return all;
        }
    }
}

impl Variation {
    /// The first lanes of the groups if these are few and large; none for a whole warp or for small groups.
    pub fn few_groups(&self) -> impl Iterator<Item = usize> + use<> {
        let group = self.group;
        let few = (8..self.lanes()).contains(&group);
        (0..if few { self.lanes() } else { 0 }).step_by(group.max(1))
    }
}

impl Kernel<'_> {
    /// Computes the scalars of a result's groups if addresses may depend on it.
    pub fn scalars_of_groups(&mut self, inst: &Inst) -> Result<()> {
        let &[r] = inst.results.as_slice() else { return Ok(()) };
        if !counts(&inst.op) {
            return Ok(());
        }
        for lane in self.facts.uniformity.values[r.index()].few_groups() {
            let args: Vec<Operand> = inst.args.iter().map(|&a| self.lane(a, lane)).collect();
            let made = lanewise::emit(&mut self.emitter(Lanes::One), &inst.op, &args)?;
            if let Some(s) = made.into_iter().next() {
                self.cursor.lanes.insert((r, lane), s);
            }
        }
        Ok(())
    }

    /// Whether a value is represented by its groups' scalars.
    pub fn is_grouped(&self, v: Value) -> bool {
        self.facts.grouped.contains(&v)
    }

    /// Emits an operation on the scalars of its result's groups.
    pub fn on_groups(&mut self, inst: &Inst) -> Result<Rep> {
        let r = inst.results[0];
        let variation = self.facts.uniformity.values[r.index()].clone();
        let mut bases = ROOM;
        for (base, lane) in bases.iter_mut().zip(variation.few_groups()) {
            let args: Vec<Operand> = inst.args.iter().map(|&a| self.lane(a, lane)).collect();
            *base = lanewise::emit(&mut self.emitter(Lanes::One), &inst.op, &args)?.remove(0);
        }
        let guarded = variation.needs_guard().then(|| (self.guard_of(inst, &variation), None));
        Ok(Rep::Groups { bases, guarded })
    }

    /// A value's representation by the scalars of the groups of another, which is grouped.
    pub fn regrouped(&mut self, v: Value, to: Value) -> Rep {
        let variation = self.facts.uniformity.values[to.index()].clone();
        let mut bases = ROOM;
        for (base, lane) in bases.iter_mut().zip(variation.few_groups()) {
            *base = self.lane(v, lane);
        }
        let guarded = variation.needs_guard().then(|| {
            let guard = self.guard(v).unwrap_or(Operand::TRUE);
            (guard, Some(self.vector(v)))
        });
        Rep::Groups { bases, guarded }
    }

    /// The vector of groups whose offsets hold.
    pub fn spread_groups(&mut self, ty: Ty, bases: [Operand; MOST], variation: &Variation) -> Operand {
        let (lanes, group) = (variation.lanes(), variation.group);
        let mut all = self.out.ir.splat(bases[0]);
        for (i, &base) in bases.iter().enumerate().take(lanes / group).skip(1) {
            let own = self.out.ir.splat(base);
            let picks = (0..lanes).map(|l| if l / group == i { lanes + l } else { l });
            all = self.out.ir.shuffle(all, Some(own), picks);
        }
        if variation.is_flat() {
            return all;
        }
        let offsets = self.out.ir.lanes(ty, |l| variation.offsets[l]);
        self.out.ir.bin(Bin::Add, all, offsets)
    }

    /// One lane's value.
    pub fn lane(&mut self, v: Value, lane: usize) -> Operand {
        if let Some(s) = self.cursor.lanes.get(&(v, lane)) {
            return *s;
        }
        let variation = self.facts.uniformity.values[v.index()].clone();
        match self.rep(v) {
            Rep::Uniform(_) => self.first_lane(v),
            Rep::Pattern { base, guarded: None } => match variation.offsets[lane] {
                0 => base,
                o => self.out.ir.bin_int(Bin::Add, base, o),
            },
            Rep::Groups { bases, .. } if lane.is_multiple_of(variation.group) => {
                bases[lane / variation.group]
            }
            Rep::Groups { bases, guarded: None } => {
                let base = bases[lane / variation.group];
                self.out.ir.bin_int(Bin::Add, base, variation.offsets[lane])
            }
            Rep::Pattern { guarded: Some(_), .. } | Rep::Groups { .. } | Rep::Vector(_) => {
                let w = self.vector(v);
                self.out.ir.extract_lane(w, lane)
            }
        }
    }

    /// Whether `v`, widened to `i64`, lies within bounds in the first lane of each of its few groups; `None`
    /// if its groups are small.
    pub fn groups_within(&mut self, v: Value, signed: bool, min: i64, max: i64) -> Option<Operand> {
        let firsts: Vec<usize> = self.facts.uniformity.values[v.index()].few_groups().collect();
        let mut all: Option<Operand> = None;
        for lane in firsts {
            // An inactive lane may hold anything.
            let one = self.lane(v, lane);
            let one = self.out.ir.freeze(one);
            let one = self.within(one, signed, min, max);
            all = Some(match all {
                None => one,
                Some(before) => self.out.ir.bin(Bin::And, before, one),
            });
        }
        all
    }

    /// Whether a widened `i32` lies within bounds.
    pub fn within(&mut self, scalar: Operand, signed: bool, min: i64, max: i64) -> Operand {
        let wide = self.out.ir.cast(if signed { Cast::SExt } else { Cast::ZExt }, scalar, Type::I64);
        let a = self.out.ir.icmp_int(Cmp::Sle, wide, max);
        let b = self.out.ir.icmp_int(Cmp::Sge, wide, min);
        self.out.ir.bin(Bin::And, a, b)
    }

    /// Whether any group's first address has one of the bits `low` set, and an address for the message.
    pub fn misaligned_group(&mut self, address: Value, offset: i64, low: i64) -> (Operand, Operand) {
        let firsts: Vec<usize> = self.facts.uniformity.values[address.index()].few_groups().collect();
        let mut bits = Operand::i64(0);
        let mut told = Operand::i64(0);
        for lane in firsts {
            let s = self.lane(address, lane);
            let s = if offset & low == 0 { s } else { self.out.ir.bin_int(Bin::Add, s, offset) };
            let s = self.out.ir.freeze(s);
            let b = self.out.ir.bin_int(Bin::And, s, low);
            bits = self.out.ir.bin(Bin::Or, bits, b);
            let this = self.out.ir.icmp_int(Cmp::Ne, b, 0);
            told = self.out.ir.select(this, s, told);
        }
        (self.out.ir.icmp_int(Cmp::Ne, bits, 0), told)
    }
}
