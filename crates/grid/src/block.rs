//! One block: its memory, its warps, and their way from barrier to barrier.

use std::ffi::c_void;
use std::ptr;

use crate::barriers::Barriers;
use wave::LANES;
use wave::abi::{BlockCtx, Code, Stop, WarpCtx, warp_lanes};

use crate::buffer::Buffer;
use crate::fault::{self, Fault, FaultKind};
use crate::launch::Running;
use crate::runtime;

/// Where a worker runs a block; used again for the next one.
#[derive(Debug, Default)]
pub struct Slot {
    shared: Buffer,
    local: Buffer,
    frames: Buffer,
    ctx: Option<Box<BlockCtx>>,
    warps: Vec<WarpCtx>,
    begun: usize,
    barriers: Barriers,
}

/// What a turn of a block came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// All its warps are done.
    Done,
    /// Its warps wait for what others must do.
    Blocked,
    /// The launch has failed.
    Failed,
}

// SAFETY: the raw pointers lead into buffers that the slot owns and to the launch, which outlives its slots' use.
unsafe impl Send for Slot {}

impl Slot {
    /// Makes the context for blocks of a launch, beginning with block `number`.
    pub fn prepare(
        &mut self,
        running: &Running,
        number: u64,
        worker: u32,
        workers: u32,
    ) -> Option<&mut BlockCtx> {
        let launch = running.launch;
        let threads = (launch.threads() as usize).next_multiple_of(LANES);
        let [fixed, dynamic] = launch.shared;
        let total = fixed.checked_add(dynamic)?;
        let stride = launch.code.local_size().next_multiple_of(16);
        let shared = self.shared.get(total as usize + LANES * 16)?;
        let local = if stride > 0 { self.local.get(threads.checked_mul(stride)?)? } else { ptr::null_mut() };
        let ctx = BlockCtx {
            params: launch.params.as_ptr(),
            shared,
            image: launch.image as *mut u8,
            local,
            local_stride: stride as u64,
            runtime: &runtime::TABLE,
            launch: ptr::from_ref(running).cast_mut().cast::<c_void>(),
            grid_id: launch.id,
            ctaid: launch.block_at(number),
            nctaid: launch.grid,
            ntid: launch.block,
            smid: worker,
            nsmid: workers,
            shared_dynamic: dynamic,
            shared_total: total,
            reserved: 0,
        };
        match &mut self.ctx {
            Some(old) => **old = ctx,
            None => self.ctx = Some(Box::new(ctx)),
        }
        self.ctx.as_deref_mut()
    }

    /// Begins block `number` of code that suspends. `None` when there is no memory.
    pub fn begin(&mut self, running: &Running, number: u64, worker: u32, workers: u32) -> Option<()> {
        let code = running.launch.code;
        let threads = running.launch.threads();
        let count = (threads as usize).div_ceil(LANES);
        let size = code.frame_size().next_multiple_of(64);
        let frames = self.frames.get(size * count)?;
        let ctx: *const BlockCtx = self.prepare(running, number, worker, workers)?;
        self.warps.clear();
        for i in 0..count {
            let lanes = warp_lanes(i as u32, threads);
            self.warps.push(WarpCtx {
                block: ctx,
                // SAFETY: `frames` has `size` bytes for each of the warps.
                frame: unsafe { frames.add(i * size) },
                index: i as u32,
                lanes,
                live: lanes,
                waiting: 0,
                resume: 0,
                line: 0,
                bar_id: 0,
                bar_threads: 0,
                bar_mode: 0,
                bar_lanes: 0,
                bar_preds: 0,
                sleep: 0,
                bar_result: [0; 16],
            });
        }
        self.begun = 0;
        for warp in &mut self.warps {
            // SAFETY: the frame is there, aligned to 64.
            unsafe { code.begin_warp(warp) };
            self.begun += 1;
        }
        self.barriers.begin(count, threads);
        Some(())
    }

    /// Lets the warps run until all are done or none can go on.
    pub fn turn(&mut self, running: &Running) -> Turn {
        let code = running.launch.code;
        loop {
            let (mut moved, mut yielded, mut left) = (false, false, 0usize);
            for i in 0..self.warps.len() {
                while self.warps[i].live & !self.warps[i].waiting != 0 {
                    let before = self.warps[i].live;
                    let stop = resume(code, &mut self.warps[i], running);
                    let after = if stop == Stop::Done { 0 } else { self.warps[i].live };
                    self.warps[i].live = after;
                    if before != after {
                        moved = true;
                        self.barriers.exited(&mut self.warps, before, after);
                    }
                    match stop {
                        Stop::Done => break,
                        Stop::Barrier => {
                            moved = true;
                            self.barriers.arrive(&mut self.warps, i);
                        }
                        Stop::Yield => {
                            yielded = true;
                            break;
                        }
                        Stop::Fault => {
                            running.fail_at(&self.warps[i], FaultKind::Trap, "the kernel stopped");
                            return Turn::Failed;
                        }
                    }
                }
                left += usize::from(self.warps[i].live != 0);
            }
            if left == 0 {
                return Turn::Done;
            }
            if running.stopped.load(std::sync::atomic::Ordering::Acquire) {
                return Turn::Failed;
            }
            if !moved {
                if yielded {
                    return Turn::Blocked;
                }
                if self.warps.iter().all(|w| w.live & !w.waiting == 0) {
                    running.fail(self.deadlock(running));
                    return Turn::Failed;
                }
            }
        }
    }

    fn deadlock(&self, running: &Running) -> Fault {
        let at = self.warps.first().map(|w| w.block);
        // SAFETY: the context lives in this slot.
        let block = at.map(|b| unsafe { (*b).ctaid }).unwrap_or_default();
        let places: Vec<String> = self
            .barriers
            .waiting()
            .into_iter()
            .map(|(id, warps)| {
                let lines: Vec<String> =
                    warps.iter().map(|&w| format!("{w} (line {})", self.warps[w].line)).collect();
                format!("at barrier {id} wait warps {}", lines.join(", "))
            })
            .collect();
        Fault {
            kind: FaultKind::Timeout,
            message: format!(
                "kernel {}, block ({}, {}, {}): no warp can go on: {}",
                running.launch.name,
                block[0],
                block[1],
                block[2],
                places.join("; ")
            ),
        }
    }

    /// Releases the warps of the block.
    pub fn end(&mut self, code: &dyn Code) {
        for warp in self.warps.iter_mut().take(self.begun) {
            // SAFETY: these were begun and not ended.
            unsafe { code.end_warp(warp) };
        }
        self.begun = 0;
    }
}

/// One resume, with faults of kernel code caught.
fn resume(code: &dyn Code, warp: &mut WarpCtx, running: &Running) -> Stop {
    // SAFETY: the slot's buffers and the launch make the context valid.
    let caught = fault::catch(&mut || unsafe { code.resume(warp) });
    caught.unwrap_or_else(|signal| {
        running.fail_at(warp, signal.kind(), &signal.describe());
        Stop::Fault
    })
}
