//! Decides whether waking other workers is worthwhile.
//!
//! A launch of a few microseconds ends before a sleeping worker is awake. The time per block of a kernel is
//! remembered across launches; launches of unknown kernels are shared at once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::job::Job;
use crate::pool::Pool;

/// Minimum work in nanoseconds to wake a worker for.
const WORTH: u64 = 15_000;

/// Interval in nanoseconds at which the caller checks the time while it works alone.
const CHECK: u64 = 5_000;

const SLOTS: usize = 256;
const TAG: u64 = 0xffff << 48;

/// Nanoseconds per block, times 16, of kernels that have run. Kernels that share a slot overwrite each
/// other's, which costs only time.
#[derive(Debug)]
pub(crate) struct Paces([AtomicU64; SLOTS]);

impl Default for Paces {
    fn default() -> Self {
        Paces([const { AtomicU64::new(0) }; SLOTS])
    }
}

impl Paces {
    fn slot(&self, job: &Job) -> Option<(&AtomicU64, u64)> {
        let code = std::ptr::from_ref(job.launch.code).cast::<u8>() as u64;
        let key = (code ^ u64::from(job.threads) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0.get((key >> 20) as usize % SLOTS).map(|slot| (slot, key & TAG))
    }

    /// Nanoseconds per block of this kernel, times 16; 0 if unknown.
    fn get(&self, job: &Job) -> u64 {
        let Some((slot, tag)) = self.slot(job) else { return 0 };
        let value = slot.load(Ordering::Relaxed);
        if value & TAG == tag { value & !TAG } else { 0 }
    }

    fn set(&self, job: &Job, sixteenths: u64) {
        let old = self.get(job);
        let new = if old == 0 { sixteenths } else { old - old / 4 + sixteenths / 4 };
        if let Some((slot, tag)) = self.slot(job) {
            slot.store(tag | new.clamp(1, !TAG), Ordering::Relaxed);
        }
    }
}

fn nanoseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX).max(1)
}

/// The caller's view of a launch that others may join. It owns nothing, because a fault may abandon it.
#[derive(Clone, Copy)]
pub(crate) struct Sharing<'a> {
    /// Whether nobody else can take part, or all have been called.
    settled: bool,
    pool: Option<&'a Pool>,
    start: Option<Instant>,
    done: u64,
    check_at: u64,
    most: u64,
}

impl<'a> Sharing<'a> {
    /// For a worker that has been called, or a launch that cannot be shared.
    pub(crate) const ALONE: Sharing<'static> =
        Sharing { settled: true, pool: None, start: None, done: 0, check_at: 0, most: u64::MAX };

    /// For the caller: begins to share if that is known to be worthwhile, or if the kernel is unknown.
    #[inline]
    pub(crate) fn begin(pool: &'a Pool, job: &Job) -> Sharing<'a> {
        if job.workers == 1 || job.units == 1 { Self::ALONE } else { Self::begin_several(pool, job) }
    }

    fn begin_several(pool: &'a Pool, job: &Job) -> Sharing<'a> {
        let pace = pool.paces.get(job);
        let mut sharing = Sharing {
            settled: false,
            pool: Some(pool),
            start: Some(Instant::now()),
            done: 0,
            check_at: 1,
            most: u64::MAX,
        };
        let expected = u128::from(pace) * u128::from(job.units) / 16;
        if pace == 0 {
            sharing.call(job, u64::MAX);
        } else if expected > u128::from(WORTH) {
            sharing.call(job, u64::try_from(expected).unwrap_or(u64::MAX));
        } else {
            sharing.most = (CHECK * 16 / pace).max(1);
            sharing.check_at = sharing.most;
        }
        sharing
    }

    /// Whether no other worker has been called yet.
    pub(crate) fn alone(&self) -> bool {
        !self.settled
    }

    /// Maximum number of blocks to take at a time.
    pub(crate) fn most(&self) -> u64 {
        self.most
    }

    /// Wakes as many workers as this much work is worth.
    fn call(&mut self, job: &Job, nanoseconds: u64) {
        self.settled = true;
        self.most = u64::MAX;
        if let Some(pool) = self.pool {
            let helpers = u64::from(job.workers - 1).min(job.left().max(1)).min(nanoseconds / CHECK);
            pool.publish(job, helpers as u32);
        }
    }

    /// Calls all workers, because blocks wait for each other.
    pub(crate) fn force(&mut self, job: &Job) {
        if !self.settled {
            self.call(job, u64::MAX);
        }
    }

    /// Updates the decision after `count` more blocks.
    #[inline]
    pub(crate) fn after(&mut self, job: &Job, count: u64) {
        self.done += count;
        if !self.settled && self.done >= self.check_at {
            self.decide(job);
        }
    }

    fn decide(&mut self, job: &Job) {
        let Some(start) = self.start else { return };
        let spent = nanoseconds(start);
        let expected = u128::from(spent) * u128::from(job.left()) / u128::from(self.done);
        if expected > u128::from(WORTH) {
            self.call(job, u64::try_from(expected).unwrap_or(u64::MAX));
        } else {
            self.most = (u128::from(CHECK) * u128::from(self.done) / u128::from(spent)).max(1) as u64;
            self.check_at = self.done + self.most;
        }
    }

    /// Records the kernel's pace.
    pub(crate) fn end(&self, job: &Job) {
        if let (Some(pool), Some(start), 1..) = (self.pool, self.start, self.done) {
            let sixteenths = u128::from(nanoseconds(start)) * 16 / u128::from(self.done);
            pool.paces.set(job, u64::try_from(sixteenths).unwrap_or(u64::MAX));
        }
    }
}
