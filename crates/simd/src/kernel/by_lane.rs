//! Values that are known for each lane at compile time: computed from lane numbers and constants alone.
//!
//! The lane that a shuffle reads often is: AMD's compilers compute it from the lane's number, where PTX has a
//! distance. Such a shuffle is a fixed permutation.

use std::collections::BTreeMap;
use std::rc::Rc;

use wave::Value;
use wave::interp::eval::eval;
use wave::op::Op;

use super::Facts;
use super::threads::special;

/// What is known by value; `None` for values that depend on more than the lane.
pub type ByLane = BTreeMap<Value, Option<Rc<[u128]>>>;

/// Operations that a value may be away from lane numbers and constants.
const DEEPEST: u32 = 32;

impl Facts<'_> {
    /// A value in each lane of a warp, if it depends on the lane alone.
    pub fn by_lane(&self, v: Value) -> Option<Rc<[u128]>> {
        self.look_up(v, &mut self.by_lane.borrow_mut(), DEEPEST)
    }

    fn look_up(&self, v: Value, known: &mut ByLane, deepest: u32) -> Option<Rc<[u128]>> {
        if let Some(found) = known.get(&v) {
            return found.clone();
        }
        let found = deepest.checked_sub(1).and_then(|deepest| self.evaluate(v, known, deepest));
        known.insert(v, found.clone());
        found
    }

    fn evaluate(&self, v: Value, known: &mut ByLane, deepest: u32) -> Option<Rc<[u128]>> {
        let lanes = 0..self.spec.warp.lanes() as u32;
        if let Some(&constant) = self.constants.get(&v) {
            return Some(lanes.map(|_| constant).collect());
        }
        let (_, inst) = self.defs.get(&v)?;
        if let Op::Special(reg) = inst.op {
            // Without a block's shape no register of threads is known.
            return lanes.map(|lane| special(reg, lane, None, self.spec.warp).map(u128::from)).collect();
        }
        // Compiled code may round these differently.
        if !inst.op.is_pure() || matches!(inst.op, Op::Approx { .. }) {
            return None;
        }
        let args: Vec<Rc<[u128]>> =
            inst.args.iter().map(|&a| self.look_up(a, known, deepest)).collect::<Option<_>>()?;
        let result = inst.results.iter().position(|r| *r == v)?;
        lanes
            .map(|lane| {
                let one: Vec<u128> = args.iter().map(|a| a[lane as usize]).collect();
                eval(&inst.op, &one)?.get(result).copied()
            })
            .collect()
    }
}
