//! Rows that the lanes of a warp access in exchanged places: an index that is a row's, xor one number for all
//! lanes. Sorting networks and Fourier transforms pair their elements so.
//!
//! Whatever the number is, its upper bits choose another row and its lower ones exchange lanes, so the access
//! is one of a row and a permutation of lanes.

use std::collections::BTreeMap;

use wave::op::{IntOp, Op, ShiftOp};
use wave::{Inst, Ty, Value};

use super::uniformity::Uniformity;
use super::{Facts, Kernel};
use crate::ir::{Bin, Cast, Cmp, Operand, Type};

/// A row whose lanes are exchanged.
pub struct Exchanged {
    /// The address of its first element.
    pub base: Operand,
    /// By lane: the element that it accesses.
    pub source: Operand,
}

/// What makes an address: the row of consecutive indices, the number for all lanes, and the base.
struct Parts {
    row: Value,
    number: Value,
    base: Value,
}

/// The defining instructions, with their blocks, and the constants of a function.
#[derive(Clone, Copy)]
pub struct Made<'a> {
    pub defs: &'a BTreeMap<Value, (usize, Inst)>,
    pub constants: &'a BTreeMap<Value, u128>,
    pub uniformity: &'a Uniformity,
}

impl Made<'_> {
    /// The parts of an address that is a base plus 4 times the widened index.
    fn parts(self, address: Value) -> Option<Parts> {
        let sum = self.by(address, |op| *op == Op::Int(IntOp::Add, Ty::I64))?;
        let (scaled, base) = self.varying_and_uniform(sum)?;
        let scale = |op: &Op| matches!(op, Op::Int(IntOp::Mul, Ty::I64) | Op::Shift(ShiftOp::Shl, Ty::I64));
        let scale = self.by(scaled, scale)?;
        let by = if matches!(scale.op, Op::Shift(..)) { 2 } else { 4 };
        let [wide, factor] = scale.args[..] else { return None };
        self.constants.get(&factor).filter(|&&factor| factor == by)?;
        let widened = self.by(wide, |op| *op == Op::Zext { from: Ty::I32, to: Ty::I64 })?;
        let index = self.by(*widened.args.first()?, |op| *op == Op::Int(IntOp::Xor, Ty::I32))?;
        let (row, number) = self.varying_and_uniform(index)?;
        let variation = &self.uniformity.values[row.index()];
        let consecutive = variation.is_pattern() && !variation.needs_guard() && variation.has_stride(1);
        let whole = variation.zeros >= variation.lanes().trailing_zeros();
        (consecutive && whole).then_some(Parts { row, number, base })
    }

    /// The instruction that makes a value, if its operation is one of these.
    fn by(&self, v: Value, is: impl Fn(&Op) -> bool) -> Option<&Inst> {
        self.defs.get(&v).map(|(_, inst)| inst).filter(|inst| is(&inst.op))
    }

    /// The operands of an operation on a varying and a uniform one, in this order.
    fn varying_and_uniform(&self, inst: &Inst) -> Option<(Value, Value)> {
        let [a, b] = inst.args[..] else { return None };
        let uniform = |v: Value| self.uniformity.values[v.index()].is_uniform();
        match (uniform(a), uniform(b)) {
            (false, true) => Some((a, b)),
            (true, false) => Some((b, a)),
            _ => None,
        }
    }

    /// The values of other blocks that an access to such a row reads.
    pub fn needed(self, b: usize, inst: &Inst) -> Vec<Value> {
        let word = matches!(
            inst.op,
            Op::Load { ty: Ty::I32, count: 1, .. } | Op::Store { ty: Ty::I32, count: 1, .. }
        );
        let parts = inst.args.first().filter(|_| word).and_then(|&address| self.parts(address));
        let values = parts.map(|Parts { row, number, base }| [row, number, base]);
        values.into_iter().flatten().filter(|v| self.defs.get(v).is_some_and(|(d, _)| *d != b)).collect()
    }
}

impl Kernel<'_> {
    /// The row of words that an address selects so.
    pub fn exchanged(&mut self, address: Value) -> Option<Exchanged> {
        let lanes = self.width().lanes();
        if !self.facts.avx512 || lanes != self.warp() || self.per_lane() {
            return None;
        }
        let Facts { defs, constants, uniformity, .. } = &self.facts;
        let Parts { row, number, base } = Made { defs, constants, uniformity }.parts(address)?;
        if ![row, number, base].iter().all(|v| self.is_here(*v)) {
            return None;
        }
        let [row, number, base] = [row, number, base].map(|v| self.first_lane(v));
        let other = self.out.ir.bin_int(Bin::And, number, -(lanes as i64));
        let first = self.out.ir.bin(Bin::Xor, row, other);
        let first = self.out.ir.cast(Cast::ZExt, first, Type::I64);
        let first = self.out.ir.bin_int(Bin::Shl, first, 2);
        let base = self.out.ir.bin(Bin::Add, base, first);
        let within = self.out.ir.bin_int(Bin::And, number, lanes as i64 - 1);
        let within = self.out.ir.splat(within);
        let lane = self.out.ir.lane_numbers();
        Some(Exchanged { base, source: self.out.ir.bin(Bin::Xor, lane, within) })
    }

    /// The mask of the elements that active lanes access; `None` if all lanes are active.
    pub fn exchanged_mask(&mut self, source: Operand) -> Option<Operand> {
        if self.cursor.full {
            return None;
        }
        let words = self.width().words();
        let set = self.out.ir.select(self.cursor.mask, Operand::int(words, -1), Operand::zero(words));
        let set = self.permute(set, source);
        Some(self.out.ir.icmp_int(Cmp::Ne, set, 0))
    }

    /// Whether the current block can read a value that it does not use by itself, with the contents that its
    /// users saw.
    fn is_here(&self, v: Value) -> bool {
        let b = self.cursor.at.0;
        let Some((made, _)) = self.facts.defs.get(&v) else { return false };
        let kept = self.facts.slotted.contains(&v) && !self.facts.suspends;
        *made == b || kept && self.facts.cfg.around(*made).all(|(_, l)| l.contains[b])
    }
}
