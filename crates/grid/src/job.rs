//! The state of a running launch that its workers share.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use wave::abi::{Needs, Workspace};

use crate::enter::Gate;
use crate::fault::{Fault, FaultKind};
use crate::launch::Launch;
use crate::signals;
use crate::stretches::Stretches;

/// A value on its own cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Aligned<T>(pub T);

/// A gate in a list, compared by address.
#[derive(Clone, Copy)]
struct Member(*const Gate);

// SAFETY: its worker, the handler and the watchdog share a gate only through atomics.
unsafe impl Send for Member {}

pub(crate) struct Job<'a> {
    pub launch: &'a Launch<'a>,
    /// What its code needs.
    pub needs: &'a Needs,
    /// Number of units of work: clusters, or blocks without clusters.
    pub units: u64,
    /// Number of blocks per unit.
    pub cluster: u32,
    pub threads: u32,
    pub warps: u32,
    /// Maximum number of workers that take part, including the caller.
    pub workers: u32,
    /// Whether every run must be the same.
    pub deterministic: bool,
    /// Maximum number of units that a worker takes while other workers are available.
    pub share: u64,
    next: Aligned<AtomicU64>,
    /// Whether units are taken in order, because they may wait for each other.
    ordered: bool,
    /// The units, if they are not taken in order.
    stretches: Stretches,
    failed: AtomicBool,
    fault: Mutex<Option<Fault>>,
    members: Mutex<Vec<Member>>,
    /// The slot in which the launch is published, plus 1; 0 for none.
    pub slot: AtomicU32,
    /// The workspace that the blocks of a cooperative launch share.
    pub workspace: Option<Aligned<Workspace>>,
    /// `%nsmid`.
    pub multiprocessors: u32,
    /// Number of workers that took part, the caller included.
    pub took_part: AtomicU32,
    /// Number of called workers that take part now.
    called: AtomicU32,
}

impl<'a> Job<'a> {
    /// Inlined, because moving it would take longer than making it.
    #[inline(always)]
    pub(crate) fn new(
        launch: &'a Launch<'a>,
        blocks: u64,
        threads: u32,
        workers: u32,
        deterministic: bool,
    ) -> Job<'a> {
        let cluster = launch.cluster_blocks().max(1);
        // A single unit needs no divisions: each takes a twentieth of the time of an empty launch.
        let units = if cluster == 1 { blocks } else { blocks / u64::from(cluster) };
        let needs = launch.code.needs();
        let lanes = needs.width.lanes() as u32;
        let ordered = needs.waits || launch.cluster.is_some() || launch.cooperative;
        Job {
            launch,
            needs,
            units,
            cluster,
            threads,
            // A power of two.
            warps: (threads + (lanes - 1)) >> lanes.trailing_zeros(),
            workers,
            deterministic,
            share: if units == 1 { 1 } else { units.div_ceil(u64::from(workers.max(1))) },
            next: Aligned(AtomicU64::new(0)),
            ordered,
            stretches: Stretches::new(units, workers, needs.together.into()),
            failed: AtomicBool::new(false),
            fault: Mutex::new(None),
            members: Mutex::new(Vec::new()),
            slot: AtomicU32::new(0),
            workspace: launch.cooperative.then(Aligned::default),
            multiprocessors: workers,
            took_part: AtomicU32::new(1),
            called: AtomicU32::new(0),
        }
    }

    /// Lets a called worker take part unless as many as may already do; [`Job::release`] undoes it.
    pub(crate) fn admit(&self) -> bool {
        let one_more = |called: u32| (called + 1 < self.workers).then_some(called + 1);
        let admitted = self.called.fetch_update(Ordering::AcqRel, Ordering::Relaxed, one_more).is_ok();
        if admitted && !self.launch.enter() {
            self.called.fetch_sub(1, Ordering::AcqRel);
            return false;
        }
        admitted
    }

    /// A called worker no longer takes part.
    pub(crate) fn release(&self) {
        self.launch.leave();
        self.called.fetch_sub(1, Ordering::AcqRel);
    }

    /// Takes the next units for a worker, if units do not wait for each other: see [`Stretches::take`].
    pub(crate) fn claim(&self, worker: u32, most: u64, alone: bool) -> Option<(u64, u64)> {
        if self.units == 1 {
            // Such a launch is not shared with other workers.
            let next = &self.next.0;
            let first = next.load(Ordering::Relaxed);
            next.store(1, Ordering::Relaxed);
            return (first == 0).then_some((0, 1));
        }
        self.stretches.take(worker, most, alone)
    }

    /// Takes one unit, in order if that matters.
    pub(crate) fn claim_next(&self, worker: u32) -> Option<u64> {
        if self.ordered { self.claim_one() } else { self.claim(worker, 1, false).map(|(first, _)| first) }
    }

    /// Takes the next units for a worker: the next one if their order matters, else see
    /// [`Stretches::take`].
    pub(crate) fn claim_some(&self, worker: u32, most: u64, alone: bool) -> Option<(u64, u64)> {
        if self.ordered { self.claim_one().map(|next| (next, 1)) } else { self.claim(worker, most, alone) }
    }

    /// Takes the next unit in order.
    pub(crate) fn claim_one(&self) -> Option<u64> {
        let next = &self.next.0;
        if self.workers == 1 {
            // No other worker counts.
            let first = next.load(Ordering::Relaxed);
            next.store(first.wrapping_add(u64::from(first < self.units)), Ordering::Relaxed);
            return (first < self.units).then_some(first);
        }
        // Each worker increments the counter at most once beyond the end.
        let first = next.fetch_add(1, Ordering::Relaxed);
        if first >= self.units {
            next.store(self.units, Ordering::Relaxed);
            return None;
        }
        Some(first)
    }

    /// Number of units that have not been taken.
    pub(crate) fn left(&self) -> u64 {
        let taken = self.next.0.load(Ordering::Relaxed) + self.stretches.taken();
        self.units.saturating_sub(taken)
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Whether a grid has failed for which this one may wait.
    pub(crate) fn others_failed(&self) -> bool {
        self.launch.host.others_failed().is_some_and(|failed| failed.load(Ordering::Acquire))
    }

    /// The flag that is set when the launch fails.
    pub(crate) fn failed(&self) -> &AtomicBool {
        &self.failed
    }

    /// Fails the launch with this fault, unless it has failed already. Returns whether this fault was the
    /// first.
    pub(crate) fn fail(&self, fault: Fault) -> bool {
        let mut slot = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        let first = slot.is_none();
        slot.get_or_insert(fault);
        self.failed.store(true, Ordering::Release);
        first
    }

    /// Whether the watchdog has ended the launch; workers then add their positions to the fault.
    pub(crate) fn timed_out(&self) -> bool {
        let slot = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        slot.as_ref().is_some_and(|f| f.kind == FaultKind::Timeout)
    }

    /// Adds to the fault's explanation, and sets its position if it has none.
    pub(crate) fn note(&self, text: &str, block: [u32; 3], line: Option<u32>) {
        let mut slot = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fault) = slot.as_mut() {
            fault.detail.push_str("; ");
            fault.detail.push_str(text);
            if fault.block.is_none() {
                fault.block = Some(block);
                fault.line = line.filter(|&l| l != 0);
            }
        }
    }

    pub(crate) fn take_fault(&self) -> Option<Fault> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Registers a gate that begins to run kernels of this launch.
    pub(crate) fn join(&self, gate: &Gate) {
        self.members.lock().unwrap_or_else(PoisonError::into_inner).push(Member(gate));
    }

    /// Unregisters a gate, if it is registered.
    pub(crate) fn leave(&self, gate: &Gate) {
        let mut members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        members.retain(|m| !std::ptr::eq(m.0, gate));
    }

    /// Interrupts the kernels that still run after the launch has failed.
    pub(crate) fn interrupt_all(&self) {
        for member in self.members.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            // SAFETY: members leave the list before their gate is dropped.
            signals::interrupt(unsafe { &*member.0 });
        }
    }
}
