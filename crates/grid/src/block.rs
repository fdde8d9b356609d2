//! A block while a worker runs it: its memory, its warps and their barriers.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use wave::abi::{
    BlockCtx, ClusterCtx, FRAME_ALIGN, LOCAL_ALIGN, Stop, Swept, WINDOW_BITS, WarpCtx, Workspace, warp_lanes,
};
use wave::barrier::{self, Barriers, Invalid, MAX_WARPS};
use wave::cluster::ClusterLanes;
use wave::op::BarMode;

use crate::job::Job;
use crate::memory::{GuardedPages, Windows};

const SYNC: u32 = BarMode::Sync as u32;
const ARRIVE: u32 = BarMode::Arrive as u32;
const RED_POPC: u32 = BarMode::RedPopc as u32;
const RED_AND: u32 = BarMode::RedAnd as u32;
const CLUSTER_ARRIVE: u32 = BarMode::ClusterArrive as u32;
const CLUSTER_WAIT: u32 = BarMode::ClusterWait as u32;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Successive arrivals of one warp before the other warps get a turn.
const PATIENCE: u32 = 16;

/// Readable bytes after shared memory, for code that loads whole vectors.
const OVERREAD: usize = 512;

/// The result of a block's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnEnd {
    /// All its warps have ended.
    Done,
    /// Warps have stopped so that others may run. `moved`: something else happened as well. `sleep`:
    /// nanoseconds that all of them want to wait.
    Yielded { moved: bool, sleep: u32 },
    /// Its live warps wait, at least one of them at the cluster's barrier.
    Waiting,
    /// The launch has failed elsewhere.
    Stopped,
    /// This warp's code has reported a fault.
    Fault(u32),
    /// No warp can ever run again.
    Deadlock,
    /// A warp has named a barrier that does not exist.
    Invalid(u32, Invalid),
}

/// Memory and state for one block at a time, reused for many blocks.
pub(crate) struct Resident {
    /// The first field, so that compiled code's pointer to it also points to the resident.
    pub block: BlockCtx,
    pub warps: Vec<WarpCtx>,
    pub barriers: Barriers,
    /// The block's lanes at the cluster's barrier.
    pub cluster: ClusterLanes,
    frames: Option<GuardedPages>,
    shared: Option<GuardedPages>,
    /// The shared memory of a whole cluster, if this is its first block.
    windows: Option<Windows>,
    local: Option<GuardedPages>,
    /// Warps that have not ended, in order; used while all of them stop at the same barriers.
    order: [u8; MAX_WARPS],
    active: usize,
    /// Whether all warps are at the same point as far as barriers go.
    together: bool,
    /// Number of blocks that compiled code may run one after the other, from the current one on.
    pub left: u64,
    /// Mask of the warps whose frame is in use.
    begun: u32,
    /// The warp whose code is running, for faults.
    pub current: AtomicU32,
}

fn grown(
    slot: &mut Option<GuardedPages>,
    size: usize,
    make: fn(usize) -> Option<GuardedPages>,
) -> Option<*mut u8> {
    if slot.as_ref().is_none_or(|r| r.size() < size) {
        *slot = None;
        *slot = Some(make(size)?);
    }
    slot.as_ref().map(GuardedPages::start)
}

impl Resident {
    pub(crate) fn new() -> Box<Resident> {
        Box::new(Resident {
            block: BlockCtx {
                params: std::ptr::null(),
                shared: std::ptr::null_mut(),
                image: std::ptr::null_mut(),
                local: std::ptr::null_mut(),
                local_stride: 0,
                runtime: std::ptr::null(),
                launch: std::ptr::null_mut(),
                grid_id: 0,
                ctaid: [0; 3],
                nctaid: [0; 3],
                ntid: [0; 3],
                smid: 0,
                nsmid: 0,
                shared_dynamic: 0,
                shared_total: 0,
                width: 32,
                workspace: std::ptr::null(),
                shared_reach: 0,
                cluster: ClusterCtx::ALONE,
            },
            warps: Vec::new(),
            barriers: Barriers::default(),
            cluster: ClusterLanes::default(),
            frames: None,
            shared: None,
            windows: None,
            local: None,
            order: [0; MAX_WARPS],
            active: 0,
            together: true,
            left: 1,
            begun: 0,
            current: AtomicU32::new(0),
        })
    }

    /// Bytes of address space in use.
    pub(crate) fn footprint(&self) -> usize {
        let regions = [&self.frames, &self.shared, &self.local].into_iter().flatten().map(GuardedPages::size);
        regions.sum::<usize>() + self.windows.as_ref().map_or(0, Windows::size)
    }

    /// Allocates shared memory for the blocks of a cluster whose first block this is. Returns its start, or
    /// `None` if there is no memory.
    fn cluster_shared(&mut self, blocks: u32, size: usize) -> Option<*mut u8> {
        let count = blocks as usize;
        if !self.windows.as_ref().is_some_and(|w| w.hold(count, size)) {
            self.windows = None;
            self.windows = Some(Windows::new(count, size, 1 << WINDOW_BITS)?);
        }
        self.windows.as_ref().map(Windows::start)
    }

    /// Prepares for blocks of a launch. `shared` is the shared memory of the cluster, unless this is its
    /// first block. `None` if there is no memory.
    pub(crate) fn prepare(
        &mut self,
        job: &Job,
        smid: u32,
        owner: *mut std::ffi::c_void,
        cluster: Option<*mut u8>,
    ) -> Option<()> {
        let launch = job.launch;
        let needs = job.needs;
        let threads = job.threads as usize;
        let shared = launch.shared[0].checked_add(launch.shared[1])?;
        let stack = if needs.recursive { usize::try_from(launch.stack).ok()? } else { 0 };
        let mut local = needs.local.max(stack).checked_next_multiple_of(LOCAL_ALIGN)?;
        if needs.recursive {
            // An odd number of cache lines: the lanes of a warp are at similar depths, and their frames must
            // not all map to the same cache set.
            local = local.checked_next_multiple_of(2 * LINE)?.checked_add(LINE)?;
        }
        let window = (shared as usize).checked_add(OVERREAD)?;
        let base = match (launch.cluster, cluster) {
            (None, _) => grown(&mut self.shared, window, GuardedPages::window)?,
            (Some(_), None) => self.cluster_shared(job.cluster, window)?,
            (Some(_), Some(first)) => first,
        };
        let block = &mut self.block;
        block.shared = base;
        block.local = match local {
            0 => std::ptr::null_mut(),
            // For whole warps: code may access the memory of lanes that do not exist.
            _ => {
                let whole = threads.checked_next_multiple_of(needs.width.lanes())?;
                grown(&mut self.local, local.checked_mul(whole)?, GuardedPages::new)?
            }
        };
        block.params = launch.params.as_ptr();
        block.image = launch.image as *mut u8;
        block.local_stride = local as u64;
        block.runtime = &raw const crate::runtime::TABLE;
        block.launch = owner;
        block.grid_id = launch.id;
        block.workspace = job.workspace.as_ref().map_or(std::ptr::null(), |shared| &raw const shared.0);
        block.nctaid = launch.grid;
        block.ntid = launch.block;
        block.smid = smid;
        block.nsmid = job.multiprocessors;
        block.width = needs.width.lanes() as u32;
        self.barriers.set_width(needs.width);
        block.shared_dynamic = launch.shared[1];
        block.shared_total = shared;
        block.shared_reach = (u64::from(job.cluster - 1) << WINDOW_BITS) + u64::from(shared);
        block.cluster = ClusterCtx::ALONE;
        if !needs.suspends {
            return Some(());
        }
        let frame = needs.frame.checked_next_multiple_of(FRAME_ALIGN)?;
        let frames = grown(&mut self.frames, frame.checked_mul(job.warps as usize)?, GuardedPages::new)?;
        let block: *const BlockCtx = &raw const self.block;
        self.warps.clear();
        self.warps.extend((0..job.warps).map(|index| WarpCtx {
            block,
            frame: frames.wrapping_add(index as usize * frame),
            index,
            lanes: match needs.whole_warps {
                true => needs.width.all(),
                false => warp_lanes(index, job.threads, needs.width),
            },
            live: 0,
            waiting: 0,
            resume: 0,
            line: 0,
            bar_id: 0,
            bar_threads: 0,
            bar_mode: 0,
            bar_lanes: 0,
            bar_preds: 0,
            sleep: 0,
            bar_result: [0; barrier::COUNT],
        }));
        Some(())
    }

    /// Fills shared memory if every run must see the same contents.
    pub(crate) fn fill_shared(&mut self, job: &Job) {
        if job.deterministic {
            let own = self.block.shared.wrapping_add(self.block.cluster.window() as usize);
            // SAFETY: the block's shared memory has this many bytes, and no block is running in it.
            unsafe { own.write_bytes(0xa5, self.block.shared_total as usize) };
        }
    }

    /// Takes the position of the block with rank `rank` in cluster number `ticket`.
    pub(crate) fn place(&mut self, job: &Job, ticket: u64, rank: u32) {
        (self.block.ctaid, self.block.cluster) = job.launch.place(ticket, rank);
        self.fill_shared(job);
    }

    /// Begins the block with rank `rank` in cluster number `ticket`.
    pub(crate) fn start(&mut self, job: &Job, ticket: u64, rank: u32) {
        self.place(job, ticket, rank);
        self.barriers.reset();
        self.cluster.reset();
        self.together = true;
        self.left = 1;
        self.active = self.warps.len();
        for (i, (warp, place)) in self.warps.iter_mut().zip(&mut self.order).enumerate() {
            *place = i as u8;
            warp.live = warp.lanes;
            warp.waiting = 0;
            warp.resume = 0;
            warp.line = 0;
            warp.sleep = 0;
            // SAFETY: the frame has the size that the code asked for, and is page aligned or follows whole
            // frames.
            unsafe { job.launch.code.begin_warp(warp) };
            self.begun |= 1 << i;
        }
    }

    fn end_warp(begun: &mut u32, warp: &mut WarpCtx, job: &Job) {
        warp.live = 0;
        if *begun >> warp.index & 1 != 0 {
            *begun &= !(1 << warp.index);
            // SAFETY: the warp has begun and has not ended.
            unsafe { job.launch.code.end_warp(warp) };
        }
    }

    /// Releases the warps' resources after a failed launch, except those of the warp `lost`, whose code was
    /// left midway.
    pub(crate) fn abandon(&mut self, job: &Job, lost: Option<u32>) {
        if let Some(lost) = lost {
            self.begun &= !1u32.checked_shl(lost).unwrap_or(0);
        }
        for warp in &mut self.warps {
            Self::end_warp(&mut self.begun, warp, job);
        }
        self.begun = 0;
    }

    /// Runs the block until it ends or waits for something outside.
    ///
    /// # Safety
    /// The block has been prepared and started for this job, whose memory is valid. `in_code` belongs to the
    /// gate on whose stack this runs.
    pub(crate) unsafe fn step(&mut self, in_code: &AtomicBool, job: &Job) -> TurnEnd {
        loop {
            while self.together {
                if job.has_failed() {
                    return TurnEnd::Stopped;
                }
                // SAFETY: the same contract.
                if let Some(end) = unsafe { self.sweep(in_code, job) } {
                    return end;
                }
            }
            if job.has_failed() {
                return TurnEnd::Stopped;
            }
            // SAFETY: the same contract.
            if let Some(end) = unsafe { self.round(in_code, job) } {
                return end;
            }
        }
    }

    /// The fast path, which almost all kernels use: runs each warp once, as long as all of them reach the
    /// same barrier of the whole block, which then opens without counting.
    ///
    /// # Safety
    /// Same as for `step`.
    unsafe fn sweep(&mut self, in_code: &AtomicBool, job: &Job) -> Option<TurnEnd> {
        let code = job.launch.code;
        let (mut kept, mut at, mut begin) = (0usize, (0u32, SYNC), 0);
        let (mut trues, mut lanes) = (0u32, 0u32);
        // While no warp has ended, compiled code may take all of them from barrier to barrier.
        let mut before = None;
        let first = self.warps.first().map(|w| w.resume);
        if self.active == self.warps.len() && self.warps.iter().all(|w| Some(w.resume) == first) {
            // Once a warp has run, the contexts are the current block's only.
            let mut one = 1;
            let left = if first == Some(0) { &mut self.left } else { &mut one };
            in_code.store(true, Ordering::Relaxed);
            // SAFETY: the caller guarantees the block's memory.
            before = unsafe { code.sweep(&mut self.warps, left, &self.current, job.failed()) };
            in_code.store(false, Ordering::Relaxed);
        }
        if let (Some(Swept { warp: swept @ 1.., ended, .. }), Some(warp)) = (before, self.warps.first()) {
            begin = swept;
            if ended {
                for warp in self.warps.iter_mut().take(swept) {
                    Self::end_warp(&mut self.begun, warp, job);
                }
            } else {
                (kept, at) = (swept, (warp.bar_id, SYNC));
            }
        }
        for k in begin..self.active {
            let index = *self.order.get(k)?;
            let warp = self.warps.get_mut(usize::from(index))?;
            let stop = match before.take() {
                Some(swept) => swept.stop,
                None => {
                    self.current.store(u32::from(index), Ordering::Relaxed);
                    in_code.store(true, Ordering::Relaxed);
                    // SAFETY: the caller guarantees the block's memory.
                    let stop = unsafe { code.resume(warp) };
                    in_code.store(false, Ordering::Relaxed);
                    stop
                }
            };
            if stop == Stop::Barrier
                && warp.bar_lanes == warp.live
                && warp.live != 0
                && warp.bar_threads == 0
                && (kept == 0 || at == (barrier::number(warp.bar_id), warp.bar_mode))
                && !matches!(warp.bar_mode, ARRIVE | CLUSTER_ARRIVE | CLUSTER_WAIT)
            {
                at = (barrier::number(warp.bar_id), warp.bar_mode);
                if at.1 != SYNC {
                    trues += (warp.bar_preds & warp.live).count_ones();
                    lanes += warp.live.count_ones();
                }
                *self.order.get_mut(kept)? = index;
                kept += 1;
            } else if stop == Stop::Done {
                Self::end_warp(&mut self.begun, warp, job);
            } else {
                return self.part(job, usize::from(index), stop, kept);
            }
        }
        self.active = kept;
        if kept == 0 {
            return Some(TurnEnd::Done);
        }
        let (id, mode) = at;
        if mode != SYNC {
            let value = match mode {
                RED_POPC => trues,
                RED_AND => u32::from(trues == lanes),
                _ => u32::from(trues != 0),
            };
            for warp in &mut self.warps {
                *warp.bar_result.get_mut(id as usize)? = value;
            }
        }
        None
    }

    /// Leaves the fast path in the middle of a sweep: records the arrivals so far, and the stop of warp
    /// `index`.
    #[cold]
    #[inline(never)]
    fn part(&mut self, job: &Job, index: usize, stop: Stop, kept: usize) -> Option<TurnEnd> {
        self.together = false;
        for k in 0..kept {
            let arrived = usize::from(*self.order.get(k)?);
            if let Err(invalid) = self.barriers.arrive(&mut self.warps, arrived) {
                return Some(TurnEnd::Invalid(arrived as u32, invalid));
            }
        }
        // A yield that the round does not see only costs another turn of the same warp.
        self.stopped(job, index, stop, u64::MAX).err()
    }

    /// Handles one stop of warp `index`, whose live lanes were `before`. Returns whether anything other than
    /// a yield happened.
    fn stopped(&mut self, job: &Job, index: usize, stop: Stop, before: u64) -> Result<bool, TurnEnd> {
        let Some(warp) = self.warps.get_mut(index) else { return Ok(false) };
        if stop == Stop::Done {
            Self::end_warp(&mut self.begun, warp, job);
        }
        let exits = warp.live != before;
        match stop {
            Stop::Fault => return Err(TurnEnd::Fault(index as u32)),
            Stop::Barrier if warp.bar_mode == CLUSTER_ARRIVE => self.cluster.arrive(warp, index),
            Stop::Barrier if warp.bar_mode == CLUSTER_WAIT => self.cluster.wait(warp, index),
            Stop::Barrier => {
                let arrived = self.barriers.arrive(&mut self.warps, index);
                arrived.map_err(|invalid| TurnEnd::Invalid(index as u32, invalid))?;
            }
            Stop::Done | Stop::Yield => {}
        }
        if exits {
            self.barriers.exited(&mut self.warps);
        }
        Ok(exits || stop != Stop::Yield)
    }

    /// Gives each runnable warp a turn, with all arrivals counted.
    ///
    /// # Safety
    /// Same as for `step`.
    unsafe fn round(&mut self, in_code: &AtomicBool, job: &Job) -> Option<TurnEnd> {
        let code = job.launch.code;
        let (mut ran, mut moved, mut yields, mut sleep) = (false, false, 0, u32::MAX);
        for index in 0..self.warps.len() {
            let mut turns = 0;
            while let Some(warp) = self.warps.get_mut(index)
                && warp.live & !warp.waiting != 0
                && turns < PATIENCE
            {
                ran = true;
                turns += 1;
                let before = warp.live;
                warp.sleep = 0;
                self.current.store(index as u32, Ordering::Relaxed);
                in_code.store(true, Ordering::Relaxed);
                // SAFETY: the caller guarantees the block's memory.
                let stop = unsafe { code.resume(warp) };
                in_code.store(false, Ordering::Relaxed);
                let asked = warp.sleep;
                match self.stopped(job, index, stop, before) {
                    Ok(other) => moved |= other,
                    Err(end) => return Some(end),
                }
                if stop == Stop::Yield {
                    yields += 1;
                    sleep = sleep.min(asked);
                    break;
                }
            }
        }
        if self.warps.iter().all(|w| w.live == 0) {
            return Some(TurnEnd::Done);
        }
        if !ran {
            return Some(if self.cluster.is_waiting() { TurnEnd::Waiting } else { TurnEnd::Deadlock });
        }
        if yields != 0 {
            return Some(TurnEnd::Yielded { moved, sleep: if moved { 0 } else { sleep } });
        }
        if self.barriers.is_idle() && !self.cluster.is_waiting() {
            self.gather();
        }
        None
    }

    /// Whether the block has ended, or none has begun.
    pub(crate) fn has_ended(&self) -> bool {
        self.begun == 0
    }

    /// Whether all live threads have arrived at the cluster's barrier.
    pub(crate) fn has_arrived(&self) -> bool {
        self.cluster.is_complete(&self.warps)
    }

    /// Opens the cluster's barrier.
    pub(crate) fn open_cluster(&mut self) {
        self.cluster.open(&mut self.warps);
    }

    /// Returns to the fast path: no barrier has arrivals, so every live warp can run.
    fn gather(&mut self) {
        self.together = true;
        self.active = 0;
        for warp in self.warps.iter().filter(|w| w.live != 0) {
            if let Some(place) = self.order.get_mut(self.active) {
                *place = warp.index as u8;
                self.active += 1;
            }
        }
    }

    /// Describes where the block's warps are, and the line of the first one that waits.
    pub(crate) fn describe(&self, job: &Job) -> (String, Option<u32>) {
        use std::fmt::Write;
        let mut text = String::new();
        // Writing to a string cannot fail.
        for b in self.barriers.pending(&self.warps) {
            let whom =
                if b.expected == 0 { "all live threads".into() } else { format!("{} threads", b.expected) };
            let _ = write!(text, "barrier {} waits for {whom}, {} have arrived; ", b.id, b.arrived);
        }
        if self.cluster.has_arrivals() || self.cluster.is_waiting() {
            let (arrived, waiting) = self.cluster.counts();
            let _ = write!(
                text,
                "the cluster's barrier: {arrived} threads of this block have arrived, {waiting} wait; "
            );
        }
        let mut line = None;
        let mut living = self.warps.iter().filter(|w| w.live != 0);
        for warp in living.by_ref().take(8) {
            line = line.or(Some(warp.line));
            let _ = write!(text, "warp {}", warp.index);
            let runs = warp.live & !warp.waiting;
            if runs != 0 {
                let _ = write!(text, " lanes {runs:#010x} run");
            }
            if warp.waiting != 0 {
                let _ = write!(text, " lanes {:#010x} wait", warp.waiting);
            }
            if warp.line != 0 {
                let _ = write!(text, " at {}", job.launch.host.place(warp.line));
            }
            text.push_str(", ");
        }
        let more = living.count();
        if more != 0 {
            let _ = write!(text, "{more} more warps, ");
        }
        text.truncate(text.trim_end_matches([',', ' ', ';']).len());
        (text, line)
    }

    /// Whether the `size` bytes at `address` belong to the block: shared memory, local memory and, for reads,
    /// parameters.
    pub(crate) fn owns(block: &BlockCtx, params: usize, address: u64, size: u64, write: bool) -> bool {
        use crate::memory::within;
        let threads = u64::from(block.threads()).next_multiple_of(u64::from(block.width));
        address.checked_sub(block.shared as u64).is_some_and(|at| block.in_shared(at, size))
            || within(address, size, block.local as u64, block.local_stride.saturating_mul(threads))
            || !write && within(address, size, block.params as u64, params as u64)
            || !block.workspace.is_null()
                && within(address, size, block.workspace as u64, u64::from(Workspace::SIZE))
    }
}
