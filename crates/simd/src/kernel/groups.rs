//! Values with a pattern in each group of 16 or 8 lanes, as in a block that is 16 threads wide: beside the vector, what addresses are made of
//! is computed on scalars for each group's first lane. An access then takes its rows' places from them, and the vector is computed only where
//! something else asks for it. LLVM drops whichever is not used.

use wave::op::{IntOp, Op, ShiftOp};
use wave::{Inst, LANES, Ty, Value};

use super::shape::Shape;
use super::value::Rep;
use super::{Kernel, Result};
use crate::lanewise;
use crate::text::{Lanes, int, vector};

/// Operations that addresses are made of, which on a few scalars cost less than on a vector.
fn counts(op: &Op) -> bool {
    match op {
        Op::Int(IntOp::Add | IntOp::Sub | IntOp::Mul, ty) | Op::Shift(ShiftOp::Shl, ty) => {
            matches!(ty, Ty::I32 | Ty::I64)
        }
        Op::Zext { from: Ty::I32, to: Ty::I64 } | Op::Sext { from: Ty::I32, to: Ty::I64 } => true,
        _ => false,
    }
}

impl Shape {
    /// The first lanes of few large groups; none of a whole warp, nor of small groups.
    pub fn few_groups(&self) -> impl Iterator<Item = usize> + use<> {
        let group = self.group;
        let few = (8..LANES).contains(&group);
        (0..if few { LANES } else { 0 }).step_by(group.max(1))
    }
}

impl Kernel<'_> {
    /// Computes the scalars of a result's groups, where addresses may be made of it.
    pub fn scalars_of_groups(&mut self, inst: &Inst) -> Result<()> {
        let &[r] = inst.results.as_slice() else { return Ok(()) };
        if !counts(&inst.op) {
            return Ok(());
        }
        for lane in self.shapes.values[r.index()].few_groups() {
            let args: Vec<String> = inst.args.iter().map(|&a| self.lane(a, lane)).collect();
            let made = lanewise::emit(&mut self.emitter(Lanes::One), &inst.op, &args)?;
            if let Some(s) = made.into_iter().next() {
                self.lanes.insert((r, lane), s);
            }
        }
        Ok(())
    }

    /// One lane's value.
    pub fn lane(&mut self, v: Value, lane: usize) -> String {
        if let Some(s) = self.lanes.get(&(v, lane)) {
            return s.clone();
        }
        let shape = self.shapes.values[v.index()].clone();
        let ty = self.func_ty(v);
        match self.rep(v) {
            Rep::Uniform(s) => s,
            Rep::Pattern { base, guarded: None } => match shape.offsets[lane] {
                0 => base,
                o => self.text.def(format!("add {} {base}, {o}", int(ty, Lanes::One))),
            },
            Rep::Pattern { guarded: Some(_), .. } | Rep::Vector(_) => {
                let w = self.vector(v);
                self.text.def(format!("extractelement {} {w}, i32 {lane}", vector(ty)))
            }
        }
    }

    /// Whether `v` as `i64`, widened, lies within bounds in the first lane of each of its few groups; `None` where its groups are small.
    pub fn groups_within(&mut self, v: Value, signed: bool, min: i64, max: i64) -> Option<String> {
        let firsts: Vec<usize> = self.shapes.values[v.index()].few_groups().collect();
        let mut all: Option<String> = None;
        for lane in firsts {
            // A lane that is not there may hold anything.
            let one = self.lane(v, lane);
            let one = self.text.def(format!("freeze i32 {one}"));
            let one = self.within(&one, signed, min, max);
            all = Some(match all {
                None => one,
                Some(before) => self.text.def(format!("and i1 {before}, {one}")),
            });
        }
        all
    }

    /// Whether an `i32`, widened, lies within bounds.
    pub fn within(&mut self, scalar: &str, signed: bool, min: i64, max: i64) -> String {
        let wide = self.text.def(format!("{} i32 {scalar} to i64", if signed { "sext" } else { "zext" }));
        let a = self.text.def(format!("icmp sle i64 {wide}, {max}"));
        let b = self.text.def(format!("icmp sge i64 {wide}, {min}"));
        self.text.def(format!("and i1 {a}, {b}"))
    }

    /// Whether any group's first address has one of the bits `low`; and an address for the message.
    pub fn misaligned_group(&mut self, address: Value, offset: i64, low: i64) -> (String, String) {
        let firsts: Vec<usize> = self.shapes.values[address.index()].few_groups().collect();
        let mut bits = "0".to_string();
        let mut told = "0".to_string();
        for lane in firsts {
            let s = self.lane(address, lane);
            let s = if offset & low == 0 { s } else { self.text.def(format!("add i64 {s}, {offset}")) };
            let s = self.text.def(format!("freeze i64 {s}"));
            let b = self.text.def(format!("and i64 {s}, {low}"));
            bits = self.text.def(format!("or i64 {bits}, {b}"));
            let this = self.text.def(format!("icmp ne i64 {b}, 0"));
            told = self.text.def(format!("select i1 {this}, i64 {s}, i64 {told}"));
        }
        (self.text.def(format!("icmp ne i64 {bits}, 0")), told)
    }
}
