//! Values with a pattern in each group of 16 or 8 lanes, as in a block that is 16 threads wide.
//!
//! Besides the vector, the parts of addresses are computed on scalars for each group's first lane. An access
//! takes its rows' addresses from these scalars; only other uses need the vector. LLVM removes whichever is
//! unused.

use wave::op::{IntOp, Op, ShiftOp};
use wave::{Inst, Ty, Value};

use super::uniformity::Variation;
use super::value::Rep;
use super::{Kernel, Result};
use crate::ir::{Bin, Cast, Cmp, Lanes, Operand, Type};
use crate::lanewise;

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
            Rep::Pattern { guarded: Some(_), .. } | Rep::Vector(_) => {
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
