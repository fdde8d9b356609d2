//! The synchronisation state of a cooperative grid and of the other grids of its launch: `struct mg_info` of
//! AMD's device library (ROCm-Device-Libs, `ockl/src/cg.cl`), to which a hidden argument points.

use std::sync::atomic::{AtomicU64, Ordering};

use driver::backend::LaunchRequest;

/// Its words of 64 bits: the address of the word where several grids meet, the grid's number and the number
/// of grids, the threads of the grids before this one and of all, two words of 32 bits where the groups of
/// this grid meet, and their number. Behind it is the word where the grids of a launch meet if there is one.
const MEETING: usize = 0;
const GRIDS: usize = 1;
const BEFORE: usize = 2;
const THREADS: usize = 3;
const GROUPS: usize = 5;
const WORD: usize = 6;

/// The structure of a launch. Kernels access its words as atomics.
pub(crate) struct GridSync(Box<[AtomicU64; 8]>);

impl GridSync {
    /// That of a launch, with one grid or with others on other devices.
    pub fn of(launch: &LaunchRequest<'_>) -> GridSync {
        let product = |sizes: [u32; 3]| sizes.iter().fold(1u64, |n, &size| n.saturating_mul(u64::from(size)));
        let groups = product(launch.grid);
        let words: Box<[AtomicU64; 8]> = Box::default();
        let own = words.as_ptr().wrapping_add(WORD).addr() as u64;
        let threads = groups.saturating_mul(product(launch.block));
        let (meeting, number, grids, before, all) = match launch.among {
            Some(among) => (among.meeting(), among.number, among.grids, among.before, among.threads),
            None => (own, 0, 1, 0, threads),
        };
        let grids = u64::from(number) | u64::from(grids) << 32;
        let values = [(MEETING, meeting), (GRIDS, grids), (BEFORE, before), (THREADS, all), (GROUPS, groups)];
        for (index, value) in values {
            if let Some(word) = words.get(index) {
                word.store(value, Ordering::Relaxed);
            }
        }
        GridSync(words)
    }

    /// The address for the kernel.
    pub fn address(&self) -> u64 {
        self.0.as_ptr().addr() as u64
    }
}
