//! What a thread needs to run blocks: a stack, and the memory of the blocks that are resident on it.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::c_void;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use wave::abi::Stop;

use crate::block::{Resident, TurnEnd};
use crate::code;
use crate::enter::{Crash, Gate};
use crate::fault::{Fault, FaultKind, thread_index};
use crate::job::Job;
use crate::pace::Sharing;
use crate::pool::Pool;
use crate::runtime::waits::Waits;

/// Maximum number of resident blocks per worker that wait for each other in a launch that is not cooperative.
const RESIDENTS: usize = 4096;

/// Maximum memory of these resident blocks per worker, in bytes.
const RESIDENT_MEMORY: usize = 1 << 30;

/// Maximum memory of resident blocks that is kept for the next launch, in bytes.
const KEPT: usize = 64 << 20;

/// The target of a pointer in each block's context, through which runtime calls find the multiprocessor.
pub(crate) struct Link {
    pub gate: *const Gate,
    pub job: *const Job<'static>,
    /// Why the code is about to stop with a fault.
    pub pending: RefCell<Option<Fault>>,
    /// The lanes that wait for barriers in memory.
    pub waits: RefCell<Waits>,
}

/// The resources of a worker.
pub(crate) struct Multiprocessor {
    gate: Box<Gate>,
    link: Box<Link>,
    residents: Vec<Box<Resident>>,
    /// The units in progress: groups of residents that hold the blocks of a cluster, or single residents
    /// without clusters.
    active: Vec<usize>,
    /// The other units.
    idle: Vec<usize>,
    /// The resident whose code is running, for faults.
    running: AtomicUsize,
    smid: u32,
}

// SAFETY: the pointers in the links and contexts point into the multiprocessor itself, or are set again by
// the launch that uses them.
unsafe impl Send for Multiprocessor {}

/// The argument of `body`.
struct Call<'a> {
    multiprocessor: &'a mut Multiprocessor,
    job: &'a Job<'a>,
    pool: Option<&'a Pool>,
}

/// Runs on the gate's stack.
unsafe extern "C" fn body(call: *mut c_void) {
    // SAFETY: `Multiprocessor::run` passes a `Call` that lives until this returns or is abandoned.
    let call = unsafe { &mut *call.cast::<Call>() };
    let (job, pool) = (call.job, call.pool);
    let multiprocessor = &mut *call.multiprocessor;
    // SAFETY: this runs on the gate's stack, as `drive` requires.
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| unsafe { multiprocessor.drive(job, pool) })) {
        call.multiprocessor.panicked(job, &*panic);
    }
}

impl Multiprocessor {
    /// A machine with `stack` bytes of stack. `None` if there is no memory.
    pub(crate) fn new(smid: u32, stack: usize) -> Option<Multiprocessor> {
        let gate = Gate::new(stack)?;
        let link = Link {
            gate: &raw const *gate,
            job: std::ptr::null(),
            pending: RefCell::new(None),
            waits: RefCell::default(),
        };
        Some(Multiprocessor {
            gate,
            link: Box::new(link),
            residents: Vec::new(),
            active: Vec::new(),
            idle: Vec::new(),
            running: AtomicUsize::new(0),
            smid,
        })
    }

    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Takes part in a launch until no block is left. The caller's machine gets `pool`, so that it can call
    /// other workers.
    pub(crate) fn run(&mut self, job: &Job, pool: Option<&Pool>) {
        self.link.job = std::ptr::from_ref(job).cast();
        self.link.pending.replace(None);
        self.link.waits.borrow_mut().clear();
        self.gate.interrupt.store(false, Ordering::Relaxed);
        self.active.clear();
        let gate: *const Gate = &raw const *self.gate;
        let mut call = Call { multiprocessor: self, job, pool };
        // SAFETY: `body` takes a `Call` and does not unwind; everything that its callees own is in the
        // machine. The gate lives as long as the multiprocessor and is used only by this thread.
        let crash = unsafe { (*gate).run(body, (&raw mut call).cast()) };
        self.gate.in_code.store(false, Ordering::Relaxed);
        if let Some(crash) = crash {
            self.gate.take_lost();
            self.crashed(job, crash);
        } else if let Some(lost) = self.gate.take_lost() {
            self.lost(job, lost);
        }
        if job.has_failed() {
            self.clear_away(job, crash.is_some());
        }
        self.link.job = std::ptr::null();
        self.trim();
    }

    /// Prepares the residents of a unit for the launch, one per block of a cluster.
    fn prepare(&mut self, job: &Job, unit: usize) -> Option<()> {
        let ready = self.prepare_unit(job, unit);
        if ready.is_none() {
            let detail = "no memory for a block's shared memory, local memory or frames";
            job.fail(Fault::new(FaultKind::OutOfMemory, job.launch.name, detail));
        }
        ready
    }

    fn prepare_unit(&mut self, job: &Job, unit: usize) -> Option<()> {
        let owner = (&raw const *self.link).cast_mut().cast::<c_void>();
        let mut shared = None;
        for index in residents_of(job, unit) {
            while index >= self.residents.len() {
                self.residents.push(Resident::new());
            }
            let resident = self.residents.get_mut(index)?;
            resident.prepare(job, self.smid, owner, shared)?;
            shared = Some(resident.block.shared);
        }
        Some(())
    }

    /// Begins unit number `ticket`.
    fn start(&mut self, job: &Job, unit: usize, ticket: u64) {
        let residents = self.residents.get_mut(residents_of(job, unit)).unwrap_or_default();
        for (rank, resident) in (0..).zip(residents) {
            resident.start(job, ticket, rank);
        }
    }

    /// Runs a unit until it ends or waits for something outside. Returns the resident that reported this.
    ///
    /// # Safety
    /// Same as for `drive`; the unit has been prepared and started.
    unsafe fn turn(&mut self, job: &Job, unit: usize) -> (usize, TurnEnd) {
        let residents = residents_of(job, unit);
        let first = residents.start;
        let (mut all_moved, mut nap) = (false, u32::MAX);
        loop {
            let mut yielded = false;
            for index in residents.clone() {
                let Some(resident) = self.residents.get_mut(index) else { return (index, TurnEnd::Stopped) };
                if resident.has_ended() {
                    continue;
                }
                self.running.store(index, Ordering::Relaxed);
                // SAFETY: the same contract.
                match unsafe { resident.step(&self.gate.in_code, job) } {
                    TurnEnd::Done => all_moved = true,
                    TurnEnd::Yielded { moved, sleep } => {
                        yielded = true;
                        all_moved |= moved;
                        nap = nap.min(sleep);
                    }
                    TurnEnd::Waiting => {}
                    end => return (index, end),
                }
            }
            let blocks = self.residents.get_mut(residents.clone()).unwrap_or_default();
            if blocks.iter().all(|r| r.has_ended()) {
                return (first, TurnEnd::Done);
            }
            if blocks.iter().any(|r| r.cluster.has_arrivals()) && blocks.iter().all(|r| r.has_arrived()) {
                blocks.iter_mut().for_each(|r| r.open_cluster());
                all_moved = true;
            } else if yielded {
                return (
                    first,
                    TurnEnd::Yielded { moved: all_moved, sleep: if all_moved { 0 } else { nap } },
                );
            } else {
                let waits = residents.clone().zip(blocks).find(|(_, r)| !r.has_ended());
                return (waits.map_or(first, |(index, _)| index), TurnEnd::Deadlock);
            }
        }
    }

    /// # Safety
    /// Must run on the gate's stack.
    unsafe fn drive(&mut self, job: &Job, pool: Option<&Pool>) {
        let mut sharing = pool.map_or(Sharing::ALONE, |pool| Sharing::begin(pool, job));
        if self.prepare(job, 0).is_none() {
            return;
        }
        self.active.push(0);
        self.running.store(0, Ordering::Relaxed);
        // SAFETY: the same contract.
        unsafe {
            match (job.needs.suspends, job.launch.cluster) {
                (true, _) => self.coroutines(job, &mut sharing),
                (false, None) => self.whole_blocks(job, &mut sharing),
                (false, Some(_)) => self.whole_clusters(job, &mut sharing),
            }
        }
        if !job.has_failed() {
            sharing.end(job);
        }
    }

    /// Runs code that never stops midway.
    ///
    /// # Safety
    /// Same as for `drive`.
    unsafe fn whole_blocks(&mut self, job: &Job, sharing: &mut Sharing) {
        while !job.has_failed() {
            let most = if job.deterministic { 1 } else { sharing.most() };
            let Some((first, count)) = job.claim(self.smid, most, sharing.alone()) else { return };
            let Some(resident) = self.residents.first_mut() else { return };
            resident.fill_shared(job);
            resident.block.ctaid = job.launch.block_index(first);
            // SAFETY: the context has been prepared for this launch.
            if !unsafe { self.run_blocks(job, 0, count) } {
                return;
            }
            sharing.after(job, count);
        }
    }

    /// The same with clusters: blocks of such code do not wait for each other, so they run in sequence.
    ///
    /// # Safety
    /// Same as for `drive`.
    unsafe fn whole_clusters(&mut self, job: &Job, sharing: &mut Sharing) {
        while !job.has_failed() {
            let Some(ticket) = job.claim_one() else { return };
            for (rank, index) in (0..).zip(residents_of(job, 0)) {
                let Some(resident) = self.residents.get_mut(index) else { return };
                resident.place(job, ticket, rank);
                self.running.store(index, Ordering::Relaxed);
                // SAFETY: the context has been prepared for this launch.
                if !unsafe { self.run_blocks(job, index, 1) } {
                    return;
                }
            }
            sharing.after(job, 1);
        }
    }

    /// Runs blocks, beginning with the resident's current one. Returns whether all succeeded.
    ///
    /// # Safety
    /// The resident has been prepared for this launch, whose code never stops midway.
    unsafe fn run_blocks(&mut self, job: &Job, index: usize, count: u64) -> bool {
        let Some(resident) = self.residents.get_mut(index) else { return false };
        self.gate.in_code.store(true, Ordering::Relaxed);
        // SAFETY: the same contract.
        let stop = unsafe { job.launch.code.run_blocks(&mut resident.block, count) };
        self.gate.in_code.store(false, Ordering::Relaxed);
        match stop {
            Stop::Done => return true,
            Stop::Fault => self.fail(job, index, FaultKind::Trap, None, ""),
            Stop::Barrier | Stop::Yield => {
                let detail = "code that must not stop midway has stopped";
                self.fail(job, index, FaultKind::Internal, None, detail);
            }
        }
        false
    }

    /// Runs code that stops midway.
    ///
    /// # Safety
    /// Same as for `drive`.
    unsafe fn coroutines(&mut self, job: &Job, sharing: &mut Sharing) {
        while !job.has_failed() {
            let most = if job.deterministic { 1 } else { sharing.most() };
            let Some((first, count)) = job.claim_some(self.smid, most, sharing.alone()) else { return };
            let (mut next, end) = (first, first + count);
            while next < end {
                if job.has_failed() {
                    return;
                }
                self.start(job, 0, next);
                let Some(resident) = self.residents.first_mut() else { return };
                resident.left = end - next;
                // SAFETY: the unit has just been prepared and started.
                let (index, ended) = unsafe { self.turn(job, 0) };
                // Those that compiled code has run, or the first one that it has not run to its end.
                let left = self.residents.first().map_or(0, |resident| resident.left);
                let ran = (end - next) - left.saturating_sub(1);
                next += ran;
                match ended {
                    TurnEnd::Done => sharing.after(job, ran),
                    TurnEnd::Yielded { .. } => {
                        sharing.force(job);
                        // SAFETY: the same contract.
                        unsafe { self.crowd(job, sharing) };
                        self.active.clear();
                        self.active.push(0);
                        self.running.store(0, Ordering::Relaxed);
                    }
                    end => self.fail_turn(job, index, end),
                }
            }
        }
    }

    /// Runs units that wait for each other in turn, and begins others when all of them wait, until all have
    /// ended.
    ///
    /// # Safety
    /// Same as for `drive`; unit 0 has begun.
    unsafe fn crowd(&mut self, job: &Job, sharing: &mut Sharing) {
        let limit = self.limit(job);
        self.idle.clear();
        let mut units = (self.residents.len() / job.cluster as usize).max(1);
        self.idle.extend((1..units).rev());
        let mut ready = 1;
        let mut fruitless = 0usize;
        // A chain of units that wait for each other ends in one round if the round follows the chain.
        // Alternate rounds go backwards, because units wait for earlier ones as well as for later ones.
        let mut backward = true;
        while !job.has_failed() {
            backward = !backward;
            let (mut progress, mut nap) = (false, u32::MAX);
            let mut next = if backward { self.active.len() } else { 0 };
            loop {
                let place = if backward { next.wrapping_sub(1) } else { next };
                let Some(&index) = self.active.get(place) else { break };
                // SAFETY: active units have been prepared and started.
                let ended = match unsafe { self.turn(job, index) } {
                    (_, TurnEnd::Done) => {
                        self.active.remove(place);
                        self.idle.push(index);
                        sharing.after(job, 1);
                        progress = true;
                        true
                    }
                    (_, TurnEnd::Yielded { moved, sleep }) => {
                        progress |= moved;
                        nap = nap.min(sleep);
                        false
                    }
                    (resident, end) => return self.fail_turn(job, resident, end),
                };
                next = if backward || ended { place } else { place + 1 };
            }
            if self.active.is_empty() {
                return;
            }
            if progress {
                fruitless = 0;
                continue;
            }
            fruitless += 1;
            let count = self.active.len();
            let mut begun = 0;
            while begun < more(job, count, fruitless).min(limit.saturating_sub(count))
                && let Some(ticket) = job.claim_next(self.smid)
            {
                let index = self.idle.pop().unwrap_or(units);
                units = units.max(index + 1);
                if index >= ready {
                    if self.prepare(job, index).is_none() {
                        return;
                    }
                    ready = index + 1;
                }
                self.active.push(index);
                self.start(job, index, ticket);
                begun += 1;
            }
            if begun != 0 {
                fruitless = 0;
                continue;
            }
            rest(fruitless, nap);
        }
    }

    /// Maximum number of units that may be resident here at the same time.
    fn limit(&self, job: &Job) -> usize {
        if job.launch.cooperative {
            return usize::MAX;
        }
        let first = self.residents.get(residents_of(job, 0)).unwrap_or_default();
        let size = first.iter().map(|r| r.footprint()).sum::<usize>().max(1);
        (RESIDENT_MEMORY / size).min(RESIDENTS / first.len().max(1)).max(2)
    }

    /// Records the fault that the code has reported, or the given one.
    fn fail(&self, job: &Job, resident: usize, kind: FaultKind, warp: Option<u32>, detail: &str) {
        let pending = self.link.pending.take();
        let mut fault = pending.unwrap_or_else(|| Fault::new(kind, job.launch.name, detail));
        self.place(&mut fault, resident, warp);
        job.fail(fault);
    }

    /// Fills in the missing parts of a fault's position.
    fn place(&self, fault: &mut Fault, resident: usize, warp: Option<u32>) {
        let Some(resident) = self.residents.get(resident) else { return };
        fault.block = fault.block.or(Some(resident.block.ctaid));
        fault.warp = fault.warp.or(warp);
        if let Some(warp) = warp.and_then(|w| resident.warps.get(w as usize)) {
            fault.line = fault.line.or(Some(warp.line).filter(|&l| l != 0));
        }
        if let (None, Some(warp), Some(lanes @ 1..)) = (fault.thread, fault.warp, fault.lanes) {
            let first = warp.wrapping_mul(resident.block.width).wrapping_add(lanes.trailing_zeros());
            fault.thread = Some(thread_index(first, resident.block.ntid));
        }
    }

    fn fail_turn(&self, job: &Job, resident: usize, end: TurnEnd) {
        match end {
            TurnEnd::Done | TurnEnd::Yielded { .. } | TurnEnd::Waiting | TurnEnd::Stopped => {}
            TurnEnd::Fault(warp) => self.fail(job, resident, FaultKind::Trap, Some(warp), ""),
            TurnEnd::Invalid(warp, invalid) => {
                let detail = format!("barrier {} (mode {})", invalid.id, invalid.mode);
                self.fail(job, resident, FaultKind::InvalidBarrier, Some(warp), &detail);
            }
            TurnEnd::Deadlock => {
                let (detail, line) =
                    self.residents.get(resident).map(|r| r.describe(job)).unwrap_or_default();
                let mut fault = Fault::new(FaultKind::Deadlock, job.launch.name, detail);
                fault.line = line.filter(|&l| l != 0);
                self.place(&mut fault, resident, None);
                job.fail(fault);
            }
        }
    }

    fn panicked(&self, job: &Job, panic: &(dyn Any + Send)) {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic");
        let running = self.running.load(Ordering::Relaxed);
        let warp = self.residents.get(running).map(|r| r.current.load(Ordering::Relaxed));
        self.fail(job, running, FaultKind::Internal, warp, text);
    }

    /// The runtime met memory that was gone, and the kernel has gone on.
    fn lost(&self, job: &Job, crash: Crash) {
        let detail = "read or written for the kernel, as of a texture";
        let mut fault = Fault::new(FaultKind::IllegalAddress, job.launch.name, detail);
        fault.address = Some(crash.address as u64);
        job.fail(fault);
    }

    /// Handles a kernel that was left by a signal.
    fn crashed(&self, job: &Job, crash: Crash) {
        let running = self.running.load(Ordering::Relaxed);
        let resident = self.residents.get(running);
        let warp = resident.filter(|r| !r.warps.is_empty()).map(|r| r.current.load(Ordering::Relaxed));
        let warp = warp.filter(|_| job.needs.suspends);
        let place = code::place(crash.ip);
        if crash.interrupt() {
            if job.timed_out() {
                let block = resident.map_or([0; 3], |r| r.block.ctaid);
                let mut text = format!("block {block:?}");
                if let Some(warp) = warp {
                    text.push_str(&format!(" warp {warp}"));
                }
                text.push_str(" runs");
                if let Some(place) = &place {
                    let at = job.launch.host.place(place.line);
                    text.push_str(&format!(" at {at} {}", place.detail));
                }
                job.note(text.trim_end(), block, place.map(|p| p.line));
            }
            return;
        }
        let (kind, detail) = explain(crash);
        let mut fault = Fault::new(kind, job.launch.name, detail);
        if kind == FaultKind::IllegalAddress && crash.code != libc::SI_KERNEL {
            fault.address = Some(crash.address as u64);
        }
        if let Some(place) = place {
            fault.line = Some(place.line);
            fault.detail = [fault.detail, place.detail].join(" ").trim().to_owned();
        }
        self.place(&mut fault, running, warp);
        job.fail(fault);
    }

    /// After a failed launch: releases the current blocks, and reports their positions if the watchdog asks.
    fn clear_away(&mut self, job: &Job, crashed: bool) {
        let suspends = job.needs.suspends;
        let report = suspends && !crashed && job.timed_out();
        let running = self.running.load(Ordering::Relaxed);
        let units = self.active.iter();
        for (n, index) in units.flat_map(|&unit| residents_of(job, unit)).enumerate() {
            let Some(resident) = self.residents.get_mut(index).filter(|_| suspends) else { continue };
            if report && n < 8 && resident.warps.iter().any(|w| w.live != 0) {
                let (text, line) = resident.describe(job);
                let block = resident.block.ctaid;
                job.note(&format!("block {block:?}: {text}"), block, line);
            }
            let lost = (crashed && index == running).then(|| resident.current.load(Ordering::Relaxed));
            resident.abandon(job, lost);
        }
        self.active.clear();
    }

    /// Frees the memory of residents beyond the limit.
    fn trim(&mut self) {
        if self.residents.len() > 1 {
            let mut total = 0;
            let keep = self.residents.iter().take_while(|r| {
                total += r.footprint();
                total <= KEPT
            });
            let keep = keep.count().max(1);
            self.residents.truncate(keep);
        }
    }
}

/// The residents that hold the blocks of a unit.
#[inline]
fn residents_of(job: &Job, unit: usize) -> Range<usize> {
    let blocks = job.cluster as usize;
    unit * blocks..(unit + 1) * blocks
}

/// Rounds without progress after which a cooperative launch begins more units than this worker's share.
const COOPERATIVE_PATIENCE: usize = 1024;
/// Rounds without progress after which a worker that runs the launch alone begins more units. With other
/// workers, which may be about to provide what is waited for, this times the number of units, up to
/// [`MOST_PATIENT`].
const PATIENCE: usize = 16;
const MOST_PATIENT: usize = 4;
/// The longest sleep for `nanosleep`, in nanoseconds; PTX limits it to 1 ms.
const MAX_NAP: u32 = 1_000_000;
/// Fruitless rounds that spin before the thread yields.
const SPINS: usize = 32;

/// Number of units to begin after this many rounds in which none of `count` units made progress. It grows
/// with `count`, so that the turns taken until all units of a launch have begun are proportional to their
/// number.
fn more(job: &Job, count: usize, fruitless: usize) -> usize {
    let (patience, more) = if !job.launch.cooperative {
        (PATIENCE * if job.workers == 1 { 1 } else { count.min(MOST_PATIENT) }, (count / 4).max(1))
    } else if (count as u64) < job.share {
        // All blocks must be resident; each worker takes its share.
        (1, usize::try_from(job.share).map_or(usize::MAX, |share| share - count))
    } else {
        // More only if the other workers do not come.
        (COOPERATIVE_PATIENCE, count)
    };
    if fruitless >= patience { more } else { 0 }
}

/// Lets other threads run when no unit here can continue.
fn rest(fruitless: usize, nap: u32) {
    match nap {
        1.. if nap != u32::MAX => std::thread::sleep(Duration::from_nanos(u64::from(nap.min(MAX_NAP)))),
        _ if fruitless < SPINS => std::hint::spin_loop(),
        _ => std::thread::yield_now(),
    }
}

/// The meaning of a signal in a kernel.
fn explain(crash: Crash) -> (FaultKind, &'static str) {
    const BUS_ADRALN: i32 = 1;
    match crash.signal {
        _ if crash.overflow => (FaultKind::StackOverflow, "the kernel's stack is full"),
        libc::SIGILL => (FaultKind::IllegalInstruction, ""),
        libc::SIGFPE => (FaultKind::Arithmetic, ""),
        libc::SIGBUS if crash.code == BUS_ADRALN => (FaultKind::MisalignedAddress, ""),
        libc::SIGSEGV if crash.code == libc::SI_KERNEL => {
            (FaultKind::IllegalAddress, "the address is not canonical, or misaligned")
        }
        _ => (FaultKind::IllegalAddress, ""),
    }
}
