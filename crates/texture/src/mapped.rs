//! Which parts of an array have memory.

use std::sync::atomic::{AtomicU64, Ordering};

/// The size of a part: arrays get their memory in tiles of this many bytes.
pub const TILE: u64 = 64 << 10;

/// The parts of a range of addresses that have memory. The others read as 0, and writes to them must be
/// dropped: their pages hold zeros that all arrays share, or belong to nobody.
#[derive(Debug)]
pub struct Mapped {
    base: u64,
    parts: Box<[AtomicU64]>,
}

impl Mapped {
    /// A range without any memory.
    pub fn new(base: u64, size: u64) -> Self {
        let words = size.div_ceil(TILE).div_ceil(64) as usize;
        Mapped { base, parts: (0..words).map(|_| AtomicU64::new(0)).collect() }
    }

    /// The first address of the range.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Whether there is memory at an address of the range.
    #[inline]
    pub fn contains(&self, address: u64) -> bool {
        let part = address.wrapping_sub(self.base) / TILE;
        let word = self.parts.get((part / 64) as usize);
        word.is_some_and(|word| word.load(Ordering::Acquire) >> (part % 64) & 1 != 0)
    }

    /// Notes that `count` parts from a number on have memory, or have none.
    pub fn set(&self, first: u64, count: u64, present: bool) {
        for part in first..first.saturating_add(count) {
            let Some(word) = self.parts.get((part / 64) as usize) else { return };
            let bit = 1 << (part % 64);
            if present {
                word.fetch_or(bit, Ordering::AcqRel);
            } else {
                word.fetch_and(!bit, Ordering::AcqRel);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_noted_one_by_one() {
        let mapped = Mapped::new(1 << 20, 100 * TILE);
        let at = |part: u64| (1 << 20) + part * TILE;
        assert!(!mapped.contains(at(0)) && !mapped.contains(at(99)));
        mapped.set(60, 10, true);
        assert!(mapped.contains(at(60)) && mapped.contains(at(70) - 1));
        assert!(!mapped.contains(at(60) - 1) && !mapped.contains(at(70)));
        mapped.set(63, 2, false);
        assert!(mapped.contains(at(62)) && !mapped.contains(at(63)) && !mapped.contains(at(64)));
        assert!(mapped.contains(at(65)) && !mapped.contains(0) && !mapped.contains(u64::MAX));
        // Parts beyond the range are ignored.
        mapped.set(1000, 1, true);
        assert!(!mapped.contains(at(1000)));
    }
}
