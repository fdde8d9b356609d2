//! How a value varies over the lanes of a warp.
//!
//! A variation states that inside each aligned group of `group` lanes, the value is that of the group's first
//! lane plus a known offset. One group of 32 with offsets 0 is a uniform value; offsets 0, 4, 8… are the
//! addresses of consecutive words; groups of 16 with offsets 0 are a row number in a 16×16 block. Some
//! variations hold only at run time, so code tests a *guard*: a widened 32-bit pattern may have wrapped, a
//! pattern's sign may change within the warp, or a select between a pattern and a uniform value may be
//! uniform.

use std::rc::Rc;

use crate::ir::Width;

/// Offsets from the first lane of each lane's group.
pub type Offsets = Rc<[i64]>;

/// The variation of one value.
#[derive(Clone, Debug, PartialEq)]
pub struct Variation {
    /// Lanes per group: all that run together, 32, 16, 8, 4, 2 or 1.
    pub group: usize,
    /// Offset of each lane from the first lane of its group.
    pub offsets: Offsets,
    /// Number of low bits of the first lane's value known to be zero (only for one group).
    pub zeros: u32,
    /// The greatest unsigned value, if known. The value has then not wrapped.
    pub max: Option<u64>,
    /// The part that depends on a test at run time.
    pub guard: Guard,
}

/// Which part of a variation holds only if a test at run time succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guard {
    /// None: all of it always holds.
    None,
    /// The offsets; without them all lanes of a group have their first lane's value.
    Flat,
    /// The offsets. Lanes with equal offsets have equal values in any case.
    Offsets,
    /// All of it.
    All,
}

impl Variation {
    pub(super) fn with(group: usize, offsets: impl IntoIterator<Item = i64>) -> Variation {
        Variation { group, offsets: offsets.into_iter().collect(), zeros: 0, max: None, guard: Guard::None }
    }

    /// A different value in each lane.
    pub fn varying(width: Width) -> Variation {
        Variation { group: 1, ..Variation::uniform(width) }
    }

    /// The same value in all lanes.
    pub fn uniform(width: Width) -> Variation {
        Variation::with(width.lanes(), std::iter::repeat_n(0, width.lanes()))
    }

    /// The number of lanes that run together.
    pub fn lanes(&self) -> usize {
        self.offsets.len()
    }

    /// Whether all lanes are one group.
    pub fn is_whole(&self) -> bool {
        self.group == self.lanes()
    }

    /// Whether all lanes always have the same value.
    pub fn is_uniform(&self) -> bool {
        self.is_whole() && self.is_flat() && self.guard != Guard::All
    }

    /// Whether all lanes of a group have the same value.
    pub fn is_flat(&self) -> bool {
        self.offsets.iter().all(|&o| o == 0)
    }

    /// Whether it is a scalar plus known offsets. The offsets are all 0 if only a guard decides that the
    /// value is uniform.
    pub fn is_pattern(&self) -> bool {
        self.is_whole() && !self.is_uniform()
    }

    /// Whether a guard decides if the offsets hold.
    pub fn needs_guard(&self) -> bool {
        self.group > 1
            && match self.guard {
                Guard::None => false,
                Guard::Flat | Guard::Offsets => !self.is_flat(),
                Guard::All => true,
            }
    }

    /// Whether the first lane's value and the guard tell every lane's value.
    pub fn is_pattern_or_flat(&self) -> bool {
        self.guard == Guard::Flat && self.is_pattern()
    }

    /// Whether consecutive lanes of a group are `stride` apart.
    pub fn has_stride(&self, stride: i64) -> bool {
        let expected = |l: usize| ((l % self.group) as i64).wrapping_mul(stride);
        self.offsets.iter().enumerate().all(|(l, o)| *o == expected(l))
    }

    /// Whether the values are, or follow, a multiple of the number of lanes by less than that number, so that
    /// adding the offsets carries into no higher bit.
    pub(super) fn stays_in_run(&self) -> bool {
        let lanes = self.lanes();
        self.zeros >= lanes.trailing_zeros() && self.offsets.iter().all(|o| (0..lanes as i64).contains(o))
    }

    /// The least and the greatest offset.
    pub fn extremes(&self) -> (i64, i64) {
        self.offsets.iter().fold((0, 0), |(least, greatest), &o| (least.min(o), greatest.max(o)))
    }

    /// The same variation with smaller groups.
    pub fn regroup(&self, group: usize) -> Variation {
        if group >= self.group {
            return self.clone();
        }
        let from_first = |(l, o): (usize, &i64)| o.wrapping_sub(self.offsets[l / group * group]);
        let offsets = self.offsets.iter().enumerate().map(from_first).collect();
        let guard = if group == 1 { Guard::None } else { self.guard };
        Variation { group, offsets, zeros: 0, guard, ..self.clone() }
    }

    /// The largest groups whose lanes always have one value.
    pub fn flat(&self) -> Variation {
        if self.guard == Guard::All {
            return Variation { max: self.max, ..self.regroup(1) };
        }
        let mut s = self.clone();
        while !s.is_flat() {
            s = s.regroup(s.group / 2);
        }
        s
    }

    /// The variation that holds for both.
    pub(super) fn meet(&self, other: &Variation) -> Variation {
        let max = self.max.zip(other.max).map(|(a, b)| a.max(b));
        let guard = self.guard.max(other.guard);
        let mut group = self.group.min(other.group);
        loop {
            let (a, b) = (self.regroup(group), other.regroup(group));
            if a.offsets == b.offsets || group == 1 {
                return Variation { zeros: self.zeros.min(other.zeros), max, guard, ..a };
            }
            group /= 2;
        }
    }

    pub(super) fn map(&self, f: impl Fn(i64) -> i64) -> Variation {
        let offsets = self.offsets.iter().map(|&o| f(o)).collect();
        Variation { offsets, zeros: 0, max: None, ..self.clone() }
    }

    pub(super) fn add(&self, other: &Variation, sign: i64) -> Variation {
        if self.guard.max(other.guard) != Guard::None && !self.is_flat() && !other.is_flat() {
            // Both patterns may fail their guards: the sum is known only in groups where both are flat.
            let group = self.flat().group.min(other.flat().group);
            return Variation { max: None, guard: Guard::None, ..self.map(|_| 0) }.regroup(group);
        }
        let group = self.group.min(other.group);
        let (a, b) = (self.regroup(group), other.regroup(group));
        let pairs = a.offsets.iter().zip(b.offsets.iter());
        let offsets = pairs.map(|(a, b)| a.wrapping_add(b.wrapping_mul(sign))).collect();
        Variation {
            group,
            offsets,
            zeros: a.zeros.min(b.zeros),
            max: None,
            guard: self.guard.max(other.guard),
        }
    }
}
