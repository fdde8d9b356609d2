//! How workers take units that do not wait for each other.
//!
//! Each worker begins with its own stretch of them, the same in every launch of a grid, because its caches
//! may have what the last launch left there. Then it helps with the others.

use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum number of stretches; more workers share them.
const MAX: usize = 16;

/// The units of a launch.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Stretches {
    units: u64,
    /// Number of stretches.
    count: u32,
    /// Units of a stretch; the last ones may have fewer.
    length: u64,
    /// A worker takes this part of what is left of a stretch.
    part: u64,
    /// A worker takes a multiple of this, unless fewer are left or asked for.
    together: u64,
    /// How many units of each stretch have been taken.
    taken: [AtomicU64; MAX],
}

impl Stretches {
    /// Divides `units` among `workers`, which take multiples of `together`.
    pub(crate) fn new(units: u64, workers: u32, together: u64) -> Stretches {
        let count = if units == 1 { 1 } else { workers.clamp(1, MAX as u32) };
        let (length, part) = if units == 1 {
            // No divisions: most launches of one unit are short.
            (1, 4)
        } else {
            let length = rounded(units.div_ceil(u64::from(count)), together);
            (length, 4 * u64::from(workers.div_ceil(count)).max(1))
        };
        Stretches { units, count, length, part, together, taken: [const { AtomicU64::new(0) }; MAX] }
    }

    /// Takes the next units for a worker: the first one's number and their number, at most `most`. Unless the
    /// worker is `alone` so far, the number shrinks towards the end of a stretch, so that all workers finish
    /// at about the same time.
    pub(crate) fn take(&self, worker: u32, most: u64, alone: bool) -> Option<(u64, u64)> {
        let own = worker % self.count;
        (own..self.count).chain(0..own).find_map(|stretch| self.take_of(stretch, most, alone))
    }

    fn take_of(&self, stretch: u32, most: u64, alone: bool) -> Option<(u64, u64)> {
        let counter = self.taken.get(stretch as usize)?;
        let from = self.length.saturating_mul(u64::from(stretch));
        let length = self.units.saturating_sub(from).min(self.length);
        let mut taken = counter.load(Ordering::Relaxed);
        loop {
            let left = length.checked_sub(taken).filter(|&left| left != 0)?;
            let part = if alone { left } else { left / self.part }.max(1);
            let count = rounded(part, self.together).min(left).clamp(1, most.max(1));
            match counter.compare_exchange_weak(taken, taken + count, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some((from + taken, count)),
                Err(now) => taken = now,
            }
        }
    }

    /// Number of units that have been taken.
    pub(crate) fn taken(&self) -> u64 {
        self.taken.iter().map(|counter| counter.load(Ordering::Relaxed)).sum()
    }
}

/// The next multiple, or the number itself if that is too large.
fn rounded(number: u64, of: u64) -> u64 {
    number.checked_next_multiple_of(of.max(1)).unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_begin_in_the_same_place_each_time() {
        for workers in [1, 2, 3, 16, 17, 64] {
            let (once, again) = (Stretches::new(1000, workers, 1), Stretches::new(1000, workers, 1));
            for worker in 0..workers {
                let first = once.take(worker, 1, false).map(|(first, _)| first / once.length);
                assert_eq!(first, Some(u64::from(worker % once.count)));
            }
            // The order in which the workers come does not matter.
            for worker in (0..workers).rev() {
                let first = again.take(worker, 1, false).map(|(first, _)| first / again.length);
                assert_eq!(first, Some(u64::from(worker % again.count)));
            }
        }
    }

    #[test]
    fn every_unit_is_taken_once() {
        for units in [0, 1, 2, 15, 16, 17, 1000] {
            for workers in [1, 2, 5, 16, 33] {
                let takes = [
                    (1, false, 1),
                    (3, true, 4),
                    (u64::MAX, false, 1),
                    (u64::MAX, false, 8),
                    (u64::MAX, true, 1),
                ];
                for (most, alone, together) in takes {
                    let stretches = Stretches::new(units, workers, together);
                    let mut seen = vec![0; units as usize];
                    let mut worker = 0;
                    while let Some((first, count)) = stretches.take(worker, most, alone) {
                        assert!(count <= most);
                        let whole = count % together == 0 || (first + count) % stretches.length == 0;
                        assert!(whole || first + count == units || count == most);
                        for unit in first..first + count {
                            seen[unit as usize] += 1;
                        }
                        worker = (worker * 5 + 3) % workers;
                    }
                    assert!(seen.iter().all(|&times| times == 1), "{units} units, {workers} workers");
                    assert_eq!(stretches.taken(), units);
                }
            }
        }
    }

    #[test]
    fn the_largest_grids_are_taken_whole() {
        let units = (u64::from(u32::MAX) >> 1) * 65_535 * 65_535;
        let stretches = Stretches::new(units, 16, 8);
        let mut taken = 0;
        while let Some((first, count)) = stretches.take(3, u64::MAX, true) {
            assert!(first + count <= units);
            taken += count;
        }
        assert_eq!(taken, units);
    }
}
