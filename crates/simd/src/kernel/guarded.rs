//! Memory accesses that only some of the active lanes perform: those whose guard is true.

use wave::op::Op;
use wave::{Inst, Ty, Value};

use super::value::Rep;
use super::{Kernel, Result};
use crate::ir::{Cmp, Lanes, Operand};

impl Kernel<'_> {
    /// Emits an access behind a branch that is taken if any lane performs it. The access then runs with the
    /// mask of these lanes, as it would in a block of its own.
    pub fn guarded(&mut self, inst: &Inst, guard: Value, fallbacks: &[Value]) -> Result<()> {
        let plain = inst.unguarded();
        let known = self.facts.constants.get(&guard).copied();
        if known == Some(1) {
            return self.operation(&plain);
        }
        let results: Vec<Value> =
            inst.results.iter().copied().filter(|r| self.facts.used.contains(r)).collect();
        let (mut slots, mut others) = (Vec::new(), Vec::new());
        for (i, &r) in inst.results.iter().enumerate().filter(|(_, r)| results.contains(r)) {
            let lanes = if self.is_scalar(r) { Lanes::One } else { Lanes::Warp };
            let other = match (fallbacks.get(i), lanes) {
                (None, _) => Operand::zero(self.width().int(self.func_ty(r), lanes)),
                (Some(&v), Lanes::One) => self.first_lane(v),
                (Some(&v), Lanes::Warp) => self.vector(v),
            };
            let slot = self.scratch(other.ty());
            self.out.ir.store(other, slot);
            slots.push(slot);
            others.push(other);
        }
        if known != Some(0) {
            self.where_true(&plain, guard, &results, &slots, &others)?;
        }
        for ((&r, slot), other) in results.iter().zip(slots).zip(others) {
            let v = self.out.ir.load(other.ty(), slot);
            self.define(r, if self.is_scalar(r) { Rep::Uniform(v) } else { Rep::Vector(v) })?;
        }
        Ok(())
    }

    /// Whether a result is one scalar for all lanes.
    fn is_scalar(&self, r: Value) -> bool {
        self.facts.uniformity.values[r.index()].is_uniform()
    }

    /// Whether an access is one of neighbouring elements, which needs its mask as a vector.
    fn is_row(&self, plain: &Inst) -> bool {
        matches!(plain.op, Op::Load { .. } | Op::Store { .. })
            && plain.args.first().is_some_and(|a| self.facts.uniformity.values[a.index()].is_pattern())
    }

    /// The branch, and the access by the lanes whose guard is true. Writes its results to the slots.
    fn where_true(
        &mut self,
        plain: &Inst,
        guard: Value,
        results: &[Value],
        slots: &[Operand],
        others: &[Operand],
    ) -> Result<()> {
        let one = self.facts.uniformity.values[guard.index()].is_uniform();
        let outside = (self.cursor.mask, self.cursor.full, self.cursor.few);
        let few = self.few_by_guard(guard);
        let any = if one {
            self.first_lane(guard)
        } else {
            let those = self.vector(guard);
            let those = self.those(self.cursor.mask, those);
            (self.cursor.mask, self.cursor.full) = (those, false);
            let bits = self.mask_bits();
            if self.is_row(plain) {
                // Before the branch, so that LLVM makes one vector for all accesses with this guard.
                self.cursor.mask = self.out.ir.spread(those);
            }
            self.out.ir.icmp_int(Cmp::Ne, bits, 0)
        };
        if let Some((lanes, together)) = few {
            self.cursor.few = Some(lanes);
            if together && outside.1 {
                // Behind the branch.
                self.cursor.mask = self.out.ir.lanes(Ty::I1, |lane| i64::from(lane < lanes));
            }
        }
        let (some, end) = (self.out.ir.fresh("guarded"), self.out.ir.fresh("guarded.end"));
        self.out.ir.br_if(any, some, end);
        self.out.ir.label(some);
        // What is computed here is not available after the join.
        let before = (self.cursor.env.clone(), self.cursor.guards.clone(), self.cursor.lanes.clone());
        self.operation(plain)?;
        for ((&r, &slot), &other) in results.iter().zip(slots).zip(others) {
            let v = match (self.is_scalar(r), one) {
                (true, _) => self.first_lane(r),
                (false, true) => self.vector(r),
                (false, false) => {
                    let v = self.vector(r);
                    self.out.ir.select(self.cursor.mask, v, other)
                }
            };
            self.out.ir.store(v, slot);
        }
        (self.cursor.env, self.cursor.guards, self.cursor.lanes) = before;
        (self.cursor.mask, self.cursor.full, self.cursor.few) = outside;
        self.out.ir.br(end);
        self.out.ir.label(end);
        Ok(())
    }
}
