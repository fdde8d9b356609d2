//! The possible values of an integer: an interval of its signed values and one of its unsigned values.

use crate::types::Ty;

/// Bounds of a value, both ends included. The two intervals describe the same bits, and each is as tight as
/// the other implies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Smallest signed value.
    pub smin: i128,
    /// Largest signed value.
    pub smax: i128,
    /// Smallest unsigned value.
    pub umin: i128,
    /// Largest unsigned value.
    pub umax: i128,
}

/// The smallest signed value of a type of at most 64 bits.
pub(super) fn least(ty: Ty) -> i128 {
    -(1 << (ty.bits().min(64) - 1))
}

/// The largest signed value of a type of at most 64 bits.
pub(super) fn greatest(ty: Ty) -> i128 {
    !least(ty)
}

/// The largest unsigned value of a type of at most 64 bits.
pub(super) fn ones(ty: Ty) -> i128 {
    (1 << ty.bits().min(64)) - 1
}

impl Range {
    /// Every value of a type. 128-bit values are not analysed: they keep this range, which says nothing about
    /// their upper half.
    pub fn full(ty: Ty) -> Range {
        Range { smin: least(ty), smax: greatest(ty), umin: 0, umax: ones(ty) }
    }

    /// A single value, given by its bits.
    pub fn exactly(ty: Ty, bits: u128) -> Range {
        let bits = (bits & ty.mask()) as i128;
        Range::unsigned(ty, bits, bits)
    }

    /// The signed values from `lo` to `hi`; all values if these do not fit in the type.
    pub fn signed(ty: Ty, lo: i128, hi: i128) -> Range {
        if lo < least(ty) || hi > greatest(ty) || lo > hi {
            return Range::full(ty);
        }
        Range { smin: lo, smax: hi, ..Range::full(ty) }.settled(ty)
    }

    /// The unsigned values from `lo` to `hi`; all values if these do not fit in the type.
    pub fn unsigned(ty: Ty, lo: i128, hi: i128) -> Range {
        if lo < 0 || hi > ones(ty) || lo > hi {
            return Range::full(ty);
        }
        Range { umin: lo, umax: hi, ..Range::full(ty) }.settled(ty)
    }

    /// Tightens each interval with the other.
    fn settled(mut self, ty: Ty) -> Range {
        let turn = ones(ty) + 1;
        if self.smin >= 0 {
            self.umin = self.umin.max(self.smin);
            self.umax = self.umax.min(self.smax);
        } else if self.smax < 0 {
            self.umin = self.umin.max(self.smin + turn);
            self.umax = self.umax.min(self.smax + turn);
        }
        if self.umax <= greatest(ty) {
            self.smin = self.smin.max(self.umin);
            self.smax = self.smax.min(self.umax);
        } else if self.umin > greatest(ty) {
            self.smin = self.smin.max(self.umin - turn);
            self.smax = self.smax.min(self.umax - turn);
        }
        self
    }

    /// The value's bits if it can be only one.
    pub fn constant(self) -> Option<u128> {
        (self.umin == self.umax).then_some(self.umin as u128)
    }

    /// Whether it is non-negative as a signed number.
    pub fn is_natural(self) -> bool {
        self.smin >= 0
    }

    /// Whether its signed value is within these bounds.
    pub fn within(self, lo: i128, hi: i128) -> bool {
        lo <= self.smin && self.smax <= hi
    }

    /// The union: values in either range.
    #[must_use]
    pub fn join(self, other: Range) -> Range {
        Range {
            smin: self.smin.min(other.smin),
            smax: self.smax.max(other.smax),
            umin: self.umin.min(other.umin),
            umax: self.umax.max(other.umax),
        }
    }

    /// The intersection: values in both ranges. If it is empty, control never gets here, and `self` is kept.
    #[must_use]
    pub fn meet(self, other: Range, ty: Ty) -> Range {
        let both = Range {
            smin: self.smin.max(other.smin),
            smax: self.smax.min(other.smax),
            umin: self.umin.max(other.umin),
            umax: self.umax.min(other.umax),
        };
        let met = if both.is_empty() { self } else { both.settled(ty) };
        if met.is_empty() { self } else { met }
    }

    fn is_empty(self) -> bool {
        self.smin > self.smax || self.umin > self.umax
    }

    /// Widening: a bound that has moved since `old` moves on to the next of a few values where comparisons
    /// usually stop it, so that loops are not analysed one iteration at a time.
    #[must_use]
    pub(super) fn widened(self, old: Range, ty: Ty) -> Range {
        const STEPS: [i128; 6] = [-1, 0, 1, i32::MAX as i128, u32::MAX as i128, i64::MAX as i128];
        let up = |v: i128, most: i128| STEPS.into_iter().find(|&s| s >= v).unwrap_or(most).min(most);
        let down = |v: i128, most: i128| {
            let steps = [1, 0, -1, i128::from(i32::MIN), i128::from(i64::MIN)];
            steps.into_iter().find(|&s| s <= v).unwrap_or(most).max(most)
        };
        Range {
            smin: if self.smin < old.smin { down(self.smin, least(ty)) } else { self.smin },
            smax: if self.smax > old.smax { up(self.smax, greatest(ty)) } else { self.smax },
            umin: if self.umin < old.umin { down(self.umin, 0) } else { self.umin },
            umax: if self.umax > old.umax { up(self.umax, ones(ty)) } else { self.umax },
        }
    }
}
