//! Rows that the lanes of a warp access in exchanged places: an index that is a row's, xor one number for all
//! lanes. Sorting networks and Fourier transforms pair their elements so.
//!
//! Whatever the number is, for lanes that fill a vector register its upper bits choose another place in
//! memory and its lower ones exchange the register's lanes. So each register is loaded or stored as one, and
//! permuted.

use std::collections::BTreeMap;

use wave::op::{IntOp, Op, ShiftOp};
use wave::{Inst, Ty, Value};

use super::memory::Access;
use super::uniformity::Uniformity;
use super::{Facts, Kernel};
use crate::ir::{Bin, Cast, Cmp, Operand, Type};

/// A row whose lanes are exchanged.
#[derive(Clone, Copy)]
pub struct Exchanged {
    /// The address to which indices are added.
    pub base: Operand,
    /// The index of the element that the row's first register begins with.
    first: Operand,
    /// By lane of a register: the lane that it is exchanged with.
    source: Operand,
}

impl Exchanged {
    /// The same with another base.
    pub fn from(self, base: Operand) -> Exchanged {
        Exchanged { base, ..self }
    }
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
        if lanes != self.warp() || self.per_lane() {
            return None;
        }
        let Facts { defs, constants, uniformity, .. } = &self.facts;
        let Parts { row, number, base } = Made { defs, constants, uniformity }.parts(address)?;
        if ![row, number, base].iter().all(|v| self.is_here(*v)) {
            return None;
        }
        let [row, number, base] = [row, number, base].map(|v| self.first_lane(v));
        let register = self.register();
        let other = self.out.ir.bin_int(Bin::And, number, -(register as i64));
        let first = self.out.ir.bin(Bin::Xor, row, other);
        let within = self.out.ir.bin_int(Bin::And, number, register as i64 - 1);
        let within = self.out.ir.splat(within);
        let lane = self.out.ir.lane_numbers();
        let source = self.out.ir.bin(Bin::Xor, lane, within);
        let source = self.out.ir.shuffle(source, None, 0..register);
        Some(Exchanged { base, first, source })
    }

    /// Words in a vector register.
    fn register(&self) -> usize {
        if self.facts.avx512 { 16 } else { 8 }
    }

    /// Loads an exchanged row.
    pub fn load_exchanged(&mut self, a: Access, row: Exchanged) -> Operand {
        let register = self.register();
        let parts = (0..self.width().lanes())
            .step_by(register)
            .map(|lane| {
                let (at, mask) = self.exchanged_part(row, lane);
                let part = self.load_row(a, at, register, mask);
                self.exchange(part, row.source)
            })
            .collect();
        self.concat(parts)
    }

    /// Stores an exchanged row.
    pub fn store_exchanged(&mut self, a: Access, row: Exchanged, value: Operand) {
        let register = self.register();
        for lane in (0..self.width().lanes()).step_by(register) {
            let (at, mask) = self.exchanged_part(row, lane);
            let part = self.out.ir.shuffle(value, None, lane..lane + register);
            let part = self.exchange(part, row.source);
            self.store_row(a, at, part, mask);
        }
    }

    /// The address of the register that begins with a lane, and the mask of the elements there that active
    /// lanes access; `None` if all lanes are active.
    fn exchanged_part(&mut self, row: Exchanged, lane: usize) -> (Operand, Option<Operand>) {
        let index = self.out.ir.bin_int(Bin::Xor, row.first, lane as i64);
        let index = self.out.ir.cast(Cast::ZExt, index, Type::I64);
        let offset = self.out.ir.bin_int(Bin::Shl, index, 2);
        let at = self.out.ir.bin(Bin::Add, row.base, offset);
        let register = self.register();
        let mask = self.element_mask(lane, register, 1).map(|mask| {
            let words = row.source.ty();
            let set = self.out.ir.select(mask, Operand::int(words, -1), Operand::zero(words));
            let set = self.exchange(set, row.source);
            self.out.ir.icmp_int(Cmp::Ne, set, 0)
        });
        (at, mask)
    }

    /// Exchanges the lanes of a register.
    fn exchange(&mut self, register: Operand, source: Operand) -> Operand {
        let name = if self.facts.avx512 { "llvm.x86.avx512.permvar.si.512" } else { "llvm.x86.avx2.permd" };
        self.out.ir.intrinsic(name, [None; 2], register.ty(), &[register, source])
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
