//! Comparisons of consecutive numbers with one for all lanes, as in `if (i < n)`: how many lanes stay below it is the difference to the first
//! lane's number, so that the mask is made of scalars.

use wave::op::{IntCmp, IntOp, IntUnOp, Op};
use wave::{Block, Inst, LANES, Ty, Value};

use super::Kernel;
use super::shape::Shape;
use super::value::Rep;
use crate::lanewise::predicate;

/// More than any index that is known to be below it.
const FAR: i64 = 1 << 62;

/// How the lanes of a group differ.
#[derive(Clone, Copy, PartialEq)]
enum Row {
    /// Not at all.
    Flat,
    /// Each is one more than the lane before.
    Consecutive,
}

/// The largest groups, of eight lanes at least, whose lanes are alike or consecutive.
fn rows(shape: &Shape) -> Option<(usize, Row)> {
    [LANES, 16, 8].into_iter().filter(|&g| g <= shape.group).find_map(|size| {
        let s = shape.regroup(size);
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
    /// The mask of a comparison's lanes, if scalars tell it.
    pub fn compared_by_rows(&mut self, inst: &Inst) -> Option<String> {
        let Op::IntCmp(cmp, ty @ (Ty::I32 | Ty::I64)) = inst.op else { return None };
        let [x, y] = inst.args[..] else { return None };
        let uniform = |k: &Self, v: Value| k.shapes.values[v.index()].is_uniform();
        let (v, bound, cmp) = if uniform(self, y) {
            (x, y, cmp)
        } else if uniform(self, x) {
            (y, x, cmp.exchanged())
        } else {
            return None;
        };
        let shape = self.shapes.values[v.index()].clone();
        let (size, row) = rows(&shape).filter(|_| !shape.needs_guard())?;
        let signed = self.orders_as_signed(cmp, ty, v, bound, size as i128 - 1);
        if row == Row::Consecutive && signed.is_none() {
            return None;
        }
        let n = self.first_lane(bound);
        let mut bits: Option<String> = None;
        for first in (0..LANES).step_by(size) {
            let one = self.lane(v, first);
            let part = match (row, signed) {
                (Row::Consecutive, Some(extends)) => {
                    let beyond = self.beyond(v, ty, &one, &n, extends);
                    self.lanes_of_row(cmp, &beyond, size)
                }
                _ => {
                    let yes = self.text.def(format!("icmp {} i{} {one}, {n}", predicate(cmp), ty.bits()));
                    let all = (1u64 << size) - 1;
                    self.text.def(format!("select i1 {yes}, i32 {}, i32 0", all as u32 as i32))
                }
            };
            let part = if first == 0 { part } else { self.text.def(format!("shl i32 {part}, {first}")) };
            bits = Some(match bits {
                None => part,
                Some(before) => self.text.def(format!("or i32 {before}, {part}")),
            });
        }
        // What a lane that is not there holds may be poison, and the others' bits are in the same word.
        let bits = self.text.def(format!("freeze i32 {}", bits?));
        Some(self.mask_from(&bits))
    }

    /// Conditions that are words stay words.
    pub fn combined_masks(&mut self, inst: &Inst) -> Option<String> {
        let op = match inst.op {
            Op::Int(IntOp::And, Ty::I1) => "and",
            Op::Int(IntOp::Or, Ty::I1) => "or",
            Op::Int(IntOp::Xor, Ty::I1) | Op::IntUn(IntUnOp::Not, Ty::I1) => "xor",
            _ => return None,
        };
        let mut words = vec!["-1".to_owned()];
        for &v in &inst.args {
            words.push(match self.rep(v) {
                Rep::Uniform(one) => self.text.def(format!("sext i1 {one} to i32")),
                Rep::Vector(mask) => self.mask_word(&mask)?,
                Rep::Pattern { .. } => return None,
            });
        }
        let [.., a, b] = &words[..] else { return None };
        let bits = self.text.def(format!("{op} i32 {a}, {b}"));
        Some(self.text.mask(&bits))
    }

    /// Whether the numbers of a row order as signed ones without a wrap among its lanes, and then how the bound is widened.
    fn orders_as_signed(
        &self,
        cmp: IntCmp,
        ty: Ty,
        v: Value,
        bound: Value,
        last: i128,
    ) -> Option<&'static str> {
        let block = Block(self.at.0 as u32);
        let (mine, other) = (self.ranges.at(v, block), self.ranges.at(bound, block));
        let least = wave::range::Range::full(ty).smin;
        match cmp {
            IntCmp::Eq | IntCmp::Ne => None,
            IntCmp::LtS | IntCmp::LeS | IntCmp::GtS | IntCmp::GeS => {
                (mine.smin - last >= least).then_some("sext")
            }
            _ if !mine.is_natural() => None,
            _ if ty == Ty::I32 => Some("zext"),
            _ => other.is_natural().then_some("sext"),
        }
    }

    /// How far a bound lies beyond the first number of a row, as a signed number of 64 bits that may stand
    /// for any that is further away.
    fn beyond(&mut self, v: Value, ty: Ty, first: &str, bound: &str, extend: &str) -> String {
        if ty == Ty::I32 {
            let first = self.text.def(format!("sext i32 {first} to i64"));
            let bound = self.text.def(format!("{extend} i32 {bound} to i64"));
            return self.text.def(format!("sub nsw i64 {bound}, {first}"));
        }
        let mine = self.ranges.at(v, Block(self.at.0 as u32));
        if !mine.is_natural() || mine.smax >= i128::from(FAR) {
            return self.binary64("llvm.ssub.sat.i64", bound, first);
        }
        // What is below all of them or above all of them may as well be nearer: that is one value for all
        // warps, and nothing overflows.
        let bound = self.binary64("llvm.smax.i64", bound, "-1");
        let bound = self.binary64("llvm.smin.i64", &bound, &FAR.to_string());
        self.text.def(format!("sub nsw i64 {bound}, {first}"))
    }

    /// The lanes of one row of consecutive numbers, as the low bits of a word, from how far the bound is
    /// beyond the first.
    fn lanes_of_row(&mut self, cmp: IntCmp, beyond: &str, size: usize) -> String {
        let all = ((1u64 << size) - 1) as u32 as i32;
        // Those below the bound, or up to it.
        let with_it = matches!(cmp, IntCmp::LeS | IntCmp::GtS | IntCmp::LeU | IntCmp::GtU);
        let (least, most) = if with_it { (-1, size as i64 - 1) } else { (0, size as i64) };
        // That all of them are is a comparison of its own: code for whole warps comes after it alone.
        let whole = self.text.def(format!("icmp sge i64 {beyond}, {most}"));
        let count = self.binary64("llvm.smax.i64", beyond, &least.to_string());
        let count = self.text.def(format!("trunc i64 {count} to i32"));
        let count = if with_it { self.text.def(format!("add i32 {count}, 1")) } else { count };
        let count = self.text.def(format!("and i32 {count}, 31"));
        let others = self.text.def(format!("shl i32 -1, {count}"));
        let bits = self.text.def(format!("xor i32 {others}, -1"));
        let below = matches!(cmp, IntCmp::LtS | IntCmp::LeS | IntCmp::LtU | IntCmp::LeU);
        if below {
            return self.text.def(format!("select i1 {whole}, i32 {all}, i32 {bits}"));
        }
        let bits = self.text.def(format!("and i32 {others}, {all}"));
        self.text.def(format!("select i1 {whole}, i32 0, i32 {bits}"))
    }

    fn binary64(&mut self, name: &str, a: &str, b: &str) -> String {
        self.text.intrinsic("i64", name, &[("i64".into(), a.into()), ("i64".into(), b.into())])
    }
}
