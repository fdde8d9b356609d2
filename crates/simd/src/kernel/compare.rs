//! Comparisons of consecutive values with a uniform one, as in `if (i < n)`. The number of lanes below the
//! bound is the difference between the bound and the first lane's value, so the mask is computed on scalars.

use wave::op::{IntCmp, IntOp, IntUnOp, Op};
use wave::{Block, Inst, Ty, Value};

use super::Kernel;
use super::value::Rep;
use super::variation::Variation;
use crate::ir::{Bin, Cast, Cmp, Operand, Type};
use crate::lanewise::predicate;

/// Larger than any index known to be below it.
const FAR: i64 = 1 << 62;

/// A scalar that tells of some warps that a condition is the same for all of their lanes.
#[derive(Clone, Copy, Debug)]
pub struct Sure {
    /// If true, all lanes have the condition's value `side`. If false, nothing is known.
    pub condition: Operand,
    pub side: bool,
}

/// How the lanes of a group differ.
#[derive(Clone, Copy, PartialEq)]
enum Row {
    /// All have the same value.
    Flat,
    /// Each value is one more than that of the lane before.
    Consecutive,
}

/// The largest groups, of at least eight lanes, whose lanes are equal or consecutive.
fn rows(variation: &Variation) -> Option<(usize, Row)> {
    [variation.lanes(), 32, 16, 8].into_iter().filter(|&g| g <= variation.group).find_map(|size| {
        let s = variation.regroup(size);
        let row = if s.is_flat() {
            Row::Flat
        } else if s.has_stride(1) {
            Row::Consecutive
        } else {
            return None;
        };
        Some((size, row))
    })
}

impl Kernel<'_> {
    /// The mask of a comparison, if scalars suffice to compute it.
    pub fn compared_by_rows(&mut self, inst: &Inst) -> Option<Operand> {
        let Op::IntCmp(cmp, ty @ (Ty::I32 | Ty::I64)) = inst.op else { return None };
        let [x, y] = inst.args[..] else { return None };
        let uniform = |k: &Self, v: Value| k.facts.uniformity.values[v.index()].is_uniform();
        let (v, bound, cmp) = if uniform(self, y) {
            (x, y, cmp)
        } else if uniform(self, x) {
            (y, x, cmp.exchanged())
        } else {
            return None;
        };
        let variation = self.facts.uniformity.values[v.index()].clone();
        let (size, row) = rows(&variation).filter(|_| !variation.needs_guard())?;
        let signed = self.orders_as_signed(cmp, ty, v, bound, size as i128 - 1);
        if row == Row::Consecutive && signed.is_none() {
            return None;
        }
        let n = self.first_lane(bound);
        let mut bits: Option<Operand> = None;
        for first in (0..self.width().lanes()).step_by(size) {
            let one = self.lane(v, first);
            let part = match (row, signed) {
                (Row::Consecutive, Some(extends)) => {
                    let beyond = self.beyond(v, ty, one, n, extends);
                    let (bits, sure) = self.lanes_of_row(cmp, beyond, size);
                    if let (true, [result]) = (size == self.width().lanes(), &inst.results[..]) {
                        self.cursor.sure.insert(*result, sure);
                    }
                    bits
                }
                _ => {
                    let yes = self.out.ir.icmp(predicate(cmp), one, n);
                    let (all, none) = (self.first_lanes(size), self.first_lanes(0));
                    self.out.ir.select(yes, all, none)
                }
            };
            let part = if first == 0 { part } else { self.out.ir.bin_int(Bin::Shl, part, first as i64) };
            bits = Some(match bits {
                None => part,
                Some(before) => self.out.ir.bin(Bin::Or, before, part),
            });
        }
        // An inactive lane's value may be poison, and its bit shares the word with the others'.
        let bits = self.out.ir.freeze(bits?);
        Some(self.mask_from(bits))
    }

    /// Combines conditions that are words without turning them into vectors.
    pub fn combined_masks(&mut self, inst: &Inst) -> Option<Operand> {
        let op = match inst.op {
            Op::Int(IntOp::And, Ty::I1) => Bin::And,
            Op::Int(IntOp::Or, Ty::I1) => Bin::Or,
            Op::Int(IntOp::Xor, Ty::I1) | Op::IntUn(IntUnOp::Not, Ty::I1) => Bin::Xor,
            _ => return None,
        };
        let bits = self.width().bits();
        let mut words = vec![Operand::int(bits, -1)];
        for &v in &inst.args {
            words.push(match self.rep(v) {
                Rep::Uniform(one) => self.out.ir.cast(Cast::SExt, one, bits),
                Rep::Vector(mask) => self.mask_word(mask)?,
                Rep::Pattern { .. } | Rep::Groups { .. } => return None,
            });
        }
        if let (Some(sure), [result]) = (self.combined_sure(inst), &inst.results[..]) {
            self.cursor.sure.insert(*result, sure);
        }
        let [.., a, b] = words[..] else { return None };
        let bits = self.out.ir.bin(op, a, b);
        Some(self.out.ir.mask(bits))
    }

    /// Whether the values of a row compare as signed ones, without a wrap among its lanes; if so, how the
    /// bound is widened.
    fn orders_as_signed(&self, cmp: IntCmp, ty: Ty, v: Value, bound: Value, last: i128) -> Option<Cast> {
        let block = Block(self.cursor.at.0 as u32);
        let (mine, other) = (self.facts.ranges.at(v, block), self.facts.ranges.at(bound, block));
        let least = wave::range::Range::full(ty).smin;
        match cmp {
            IntCmp::Eq | IntCmp::Ne => None,
            IntCmp::LtS | IntCmp::LeS | IntCmp::GtS | IntCmp::GeS => {
                (mine.smin - last >= least).then_some(Cast::SExt)
            }
            _ if !mine.is_natural() => None,
            _ if ty == Ty::I32 => Some(Cast::ZExt),
            _ => other.is_natural().then_some(Cast::SExt),
        }
    }

    /// The mask of the first `count` lanes, all or less than 64 of them, as a word.
    fn first_lanes(&self, count: usize) -> Operand {
        let bits = if count == self.width().lanes() { -1 } else { (1 << count) - 1 };
        Operand::int(self.width().bits(), bits)
    }

    /// The distance from a row's first value to the bound, as a signed 64-bit number. Larger distances may be
    /// replaced by smaller ones beyond the row.
    fn beyond(&mut self, v: Value, ty: Ty, first: Operand, bound: Operand, extend: Cast) -> Operand {
        if ty == Ty::I32 {
            let first = self.out.ir.cast(Cast::SExt, first, Type::I64);
            let bound = self.out.ir.cast(extend, bound, Type::I64);
            return self.out.ir.bin(Bin::SubNsw, bound, first);
        }
        let mine = self.facts.ranges.at(v, Block(self.cursor.at.0 as u32));
        if !mine.is_natural() || mine.smax >= i128::from(FAR) {
            return self.out.ir.intrinsic_of("llvm.ssub.sat", &[bound, first]);
        }
        // The exact value of a bound beyond all lanes does not matter. The clamped one is the same for
        // all warps, and nothing overflows.
        let bound = self.out.ir.intrinsic_of("llvm.smax", &[bound, Operand::i64(-1)]);
        let bound = self.out.ir.intrinsic_of("llvm.smin", &[bound, Operand::i64(FAR)]);
        self.out.ir.bin(Bin::SubNsw, bound, first)
    }

    /// The lanes of one row of consecutive values for which the comparison holds, as the low bits of a word,
    /// from the distance to the bound. Also when that is all or none of them.
    fn lanes_of_row(&mut self, cmp: IntCmp, beyond: Operand, size: usize) -> (Operand, Sure) {
        let (all, none) = (self.first_lanes(size), self.first_lanes(0));
        // Lanes below the bound, or up to it.
        let with_it = matches!(cmp, IntCmp::LeS | IntCmp::GtS | IntCmp::LeU | IntCmp::GtU);
        let (least, most) = if with_it { (-1, size as i64 - 1) } else { (0, size as i64) };
        // A full row gets a comparison of its own, since code for full masks depends on that alone.
        let whole = self.out.ir.icmp_int(Cmp::Sge, beyond, most);
        let count = self.out.ir.intrinsic_of("llvm.smax", &[beyond, Operand::i64(least)]);
        let how = if self.width().lanes() > 64 { Cast::SExt } else { Cast::Trunc };
        let count = self.out.ir.cast(how, count, self.width().bits());
        let count = if with_it { self.out.ir.bin_int(Bin::Add, count, 1) } else { count };
        let count = self.out.ir.bin_int(Bin::And, count, self.width().lanes() as i64 - 1);
        let others = self.out.ir.bin(Bin::Shl, Operand::int(self.width().bits(), -1), count);
        let bits = self.out.ir.bin_int(Bin::Xor, others, -1);
        let below = matches!(cmp, IntCmp::LtS | IntCmp::LeS | IntCmp::LtU | IntCmp::LeU);
        let sure = Sure { condition: whole, side: below };
        if below {
            return (self.out.ir.select(whole, all, bits), sure);
        }
        let bits = self.out.ir.bin(Bin::And, others, all);
        (self.out.ir.select(whole, none, bits), sure)
    }

    /// When a combination of conditions is the same for all lanes.
    fn combined_sure(&mut self, inst: &Inst) -> Option<Sure> {
        // Conditions of which one decides have this side.
        let deciding = match inst.op {
            Op::IntUn(IntUnOp::Not, Ty::I1) => {
                let sure = self.cursor.sure.get(inst.args.first()?)?;
                return Some(Sure { condition: sure.condition, side: !sure.side });
            }
            Op::Int(IntOp::And, Ty::I1) => false,
            Op::Int(IntOp::Or, Ty::I1) => true,
            _ => return None,
        };
        let [a, b] = inst.args[..] else { return None };
        let known = |k: &Self, v: Value| k.cursor.sure.get(&v).copied();
        if let Some(sure) = [a, b].into_iter().filter_map(|v| known(self, v)).find(|s| s.side == deciding) {
            return Some(sure);
        }
        let mut conditions = Vec::new();
        for v in [a, b] {
            conditions.push(match (known(self, v), self.rep(v)) {
                (Some(sure), _) => sure.condition,
                (None, Rep::Uniform(one)) if deciding => self.out.ir.bin(Bin::Xor, one, Operand::TRUE),
                (None, Rep::Uniform(one)) => one,
                _ => return None,
            });
        }
        let [a, b] = conditions[..] else { return None };
        Some(Sure { condition: self.out.ir.bin(Bin::And, a, b), side: !deciding })
    }
}
