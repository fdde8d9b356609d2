//! Kernels written as Rust functions, and a host for them.
#![allow(missing_docs, dead_code, reason = "helpers, of which each test file uses some")]

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32};

use grid::{Fault, Heap, Host, Launch, Workers};
use wave::Width;
use wave::abi::{BlockCtx, Code, Needs, Stop, Swept, WarpCtx, warp_lanes};
use wave::op::BarMode;

/// What a program of warps needs.
pub const WARPS: Needs = Needs {
    frame: 64,
    local: 16,
    width: Width::W32,
    whole_warps: false,
    recursive: false,
    suspends: true,
    waits: true,
    together: 1,
};

/// The program of a warp: inspects `warp.resume`, does some work, and returns why it stops.
pub struct Warps<F>(pub F);

impl<F: Fn(&mut WarpCtx) -> Stop + Send + Sync> Code for Warps<F> {
    fn needs(&self) -> &Needs {
        &WARPS
    }
    unsafe fn resume(&self, warp: &mut WarpCtx) -> Stop {
        (self.0)(warp)
    }
    unsafe fn run_blocks(&self, _: &mut BlockCtx, _: u64) -> Stop {
        Stop::Fault
    }
}

/// The same for a program that stops at barriers only, so that its blocks need no order.
pub struct AtBarriers<F>(pub F);

impl<F: Fn(&mut WarpCtx) -> Stop + Send + Sync> Code for AtBarriers<F> {
    fn needs(&self) -> &Needs {
        const { &Needs { waits: false, ..WARPS } }
    }
    unsafe fn resume(&self, warp: &mut WarpCtx) -> Stop {
        (self.0)(warp)
    }
    unsafe fn run_blocks(&self, _: &mut BlockCtx, _: u64) -> Stop {
        Stop::Fault
    }
}

/// Goes to the next block in launch order.
fn advance(block: &mut BlockCtx) {
    for d in 0..3 {
        block.ctaid[d] += 1;
        if block.ctaid[d] < block.nctaid[d] {
            break;
        }
        block.ctaid[d] = 0;
    }
}

/// A program that runs block after block. For each, the function tells whether warp 1 ends at once while warp
/// 0 waits at a barrier; then the scheduler continues, and calls the second function where warp 0 ends.
pub struct Sweeps<F, G>(pub F, pub G);

impl<F, G> Code for Sweeps<F, G>
where
    F: Fn(&BlockCtx) -> bool + Send + Sync,
    G: Fn(&WarpCtx) + Send + Sync,
{
    fn needs(&self) -> &Needs {
        const { &Needs { waits: false, ..WARPS } }
    }
    unsafe fn resume(&self, warp: &mut WarpCtx) -> Stop {
        (self.1)(warp);
        Stop::Done
    }
    unsafe fn sweep(
        &self,
        warps: &mut [WarpCtx],
        left: &mut u64,
        _: &AtomicU32,
        _: &AtomicBool,
    ) -> Option<Swept> {
        let (count, first) = (warps.len(), warps.first_mut()?);
        // SAFETY: the scheduler has prepared the block, which only this code uses now.
        let block = unsafe { &mut *first.block.cast_mut() };
        loop {
            if (self.0)(block) {
                first.resume = 1;
                return (sync(first) == Stop::Barrier).then_some(Swept {
                    warp: 1,
                    ended: false,
                    stop: Stop::Done,
                });
            }
            *left -= 1;
            if *left == 0 {
                return Some(Swept { warp: count, ended: true, stop: Stop::Done });
            }
            advance(block);
        }
    }
    unsafe fn run_blocks(&self, _: &mut BlockCtx, _: u64) -> Stop {
        Stop::Fault
    }
}

/// A program for whole blocks, which never stops early.
pub struct Blocks<F>(pub F);

impl<F: Fn(&BlockCtx) -> Stop + Send + Sync> Code for Blocks<F> {
    fn needs(&self) -> &Needs {
        const { &Needs { frame: 0, local: 0, suspends: false, waits: false, ..WARPS } }
    }
    unsafe fn resume(&self, _: &mut WarpCtx) -> Stop {
        Stop::Fault
    }
    unsafe fn run_blocks(&self, block: &mut BlockCtx, count: u64) -> Stop {
        for i in 0..count {
            let stop = (self.0)(block);
            if stop != Stop::Done {
                return stop;
            }
            if i + 1 < count {
                advance(block);
            }
        }
        Stop::Done
    }
}

pub struct TestHost {
    pub heap: Heap,
    pub printed: Mutex<Vec<u8>>,
    pub errors: Mutex<Vec<u8>>,
}

impl Default for TestHost {
    fn default() -> Self {
        TestHost { heap: Heap::new(Heap::DEFAULT_SIZE), printed: Mutex::default(), errors: Mutex::default() }
    }
}

impl TestHost {
    pub fn printed(&self) -> String {
        String::from_utf8(self.printed.lock().unwrap().clone()).unwrap()
    }
    pub fn errors(&self) -> String {
        String::from_utf8(self.errors.lock().unwrap().clone()).unwrap()
    }
}

impl Host for TestHost {
    fn accessible(&self, address: u64, _: u32, _: bool) -> bool {
        address == 0x1234_5678
    }
    fn print(&self, text: &[u8]) {
        self.printed.lock().unwrap().extend_from_slice(text);
    }
    fn heap(&self) -> &Heap {
        &self.heap
    }
    fn print_error(&self, text: &[u8]) {
        self.errors.lock().unwrap().extend_from_slice(text);
    }
}

/// A launch of `grid` blocks of `block` threads with 4 KiB of shared memory.
pub fn launch<'a>(code: &'a dyn Code, host: &'a TestHost, grid: u32, block: u32) -> Launch<'a> {
    Launch {
        name: "test",
        code,
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        params: &[],
        image: 0,
        shared: [1024, 3072],
        stack: 0,
        cluster: None,
        cooperative: false,
        most_workers: None,
        busy: None,
        spent: std::time::Duration::ZERO,
        id: 7,
        host,
    }
}

/// Runs a launch made by [`launch`].
pub fn run(workers: &Workers, code: &dyn Code, grid: u32, block: u32) -> Result<(), Box<Fault>> {
    let host = TestHost::default();
    workers.run(&launch(code, &host, grid, block))
}

/// Stops at a barrier with all active lanes.
pub fn barrier(warp: &mut WarpCtx, id: u32, threads: u32, mode: BarMode) -> Stop {
    warp.bar_id = id;
    warp.bar_threads = threads;
    warp.bar_mode = BarMode::ALL.iter().position(|&m| m == mode).unwrap() as u32;
    warp.bar_lanes = warp.live;
    Stop::Barrier
}

/// `__syncthreads()`.
pub fn sync(warp: &mut WarpCtx) -> Stop {
    barrier(warp, 0, 0, BarMode::Sync)
}

/// The warp's block.
pub fn block(warp: &WarpCtx) -> &BlockCtx {
    // SAFETY: contexts of running code are valid.
    unsafe { &*warp.block }
}

/// The `n`th u32 of shared memory.
#[allow(clippy::mut_from_ref, reason = "shared memory is shared; one worker runs a block")]
pub fn shared(warp: &WarpCtx, n: usize) -> &mut u32 {
    let block = block(warp);
    assert!(n * 4 + 4 <= block.shared_total as usize);
    // SAFETY: inside the block's shared memory, which is aligned; tests hold no reference across a stop.
    unsafe { &mut *block.shared.cast::<u32>().add(n) }
}

/// All lanes of the warp's block, for assertions.
pub fn lanes(warp: &WarpCtx) -> u64 {
    warp_lanes(warp.index, block(warp).threads(), wave::Width::W32)
}

/// Pools for every test: one worker, one per core, and more than there are cores.
pub fn pools() -> Vec<Workers> {
    [1, 2, 5].map(Workers::new).into()
}
