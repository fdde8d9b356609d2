//! How running code meets the scheduler.
//!
//! A kernel, compiled or interpreted, is a coroutine for one *warp*: [`Code::resume`] runs the warp until it
//! ends or has to wait, and says why it stopped. The scheduler (crate `grid`) knows barriers and fairness; the
//! code knows how to save what lives across a stop in the warp's frame. Barriers in loops, named
//! barriers, barriers that some warps have left, spin loops and co-resident blocks are then all the same
//! case. A kernel that never stops midway also has [`Code::run_blocks`], which runs whole blocks without
//! the scheduler.
//!
//! The structures are `repr(C)`: compiled code reads them by offset.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU32};

use crate::{LANES, barrier};

/// What is the same for all warps of a block.
#[repr(C)]
#[derive(Debug)]
pub struct BlockCtx {
    /// Parameter buffer of the launch.
    pub params: *const u8,
    /// The cluster's shared memory, in which the block's begins at [`ClusterCtx::window`]: static first, then dynamic.
    pub shared: *mut u8,
    /// Where the module's image lies: `GlobalAddr` is this plus the global's offset.
    pub image: *mut u8,
    /// Local memory of thread 0; thread `t` (= warp * 32 + lane) begins at `local + t * local_stride`.
    pub local: *mut u8,
    /// Bytes of local memory a thread.
    pub local_stride: u64,
    /// Calls into the runtime.
    pub runtime: *const Runtime,
    /// The launch, for the runtime.
    pub launch: *mut c_void,
    /// Number of the launch.
    pub grid_id: u64,
    /// This block.
    pub ctaid: [u32; 3],
    /// Blocks in the grid.
    pub nctaid: [u32; 3],
    /// Threads in a block.
    pub ntid: [u32; 3],
    /// Worker that runs the block.
    pub smid: u32,
    /// Workers.
    pub nsmid: u32,
    /// Bytes of dynamic shared memory.
    pub shared_dynamic: u32,
    /// Bytes of shared memory.
    pub shared_total: u32,
    /// Keeps the layout explicit.
    pub reserved: u32,
    /// The workspace of a cooperative launch; null for others.
    pub workspace: *const Workspace,
    /// Bytes from [`BlockCtx::shared`] to the end of the shared memory that the block reaches: its own, or the cluster's.
    pub shared_reach: u64,
    /// The block's place in its cluster.
    pub cluster: ClusterCtx,
}

/// A block's place in its cluster. In a launch without clusters every block is one of its own.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ClusterCtx {
    /// This cluster.
    pub id: [u32; 3],
    /// Clusters in the grid.
    pub count: [u32; 3],
    /// This block in the cluster.
    pub ctaid: [u32; 3],
    /// Blocks in the cluster.
    pub size: [u32; 3],
    /// Number of this block in the cluster, x fastest. Its shared memory begins at [`ClusterCtx::window`].
    pub rank: u32,
    /// Blocks in the cluster, in all.
    pub blocks: u32,
    /// 1 where the launch asked for clusters.
    pub explicit: u32,
    /// Keeps the layout explicit.
    pub reserved: u32,
}

/// The shared memory of the block of rank r begins r << 24 bytes behind that of rank 0, in every shared
/// address, as on the hardware.
pub const WINDOW_BITS: u32 = 24;

/// Blocks of a cluster, at most.
pub const MAX_CLUSTER: u32 = 16;

impl ClusterCtx {
    /// Of a block that is its whole cluster.
    pub const ALONE: ClusterCtx = ClusterCtx {
        id: [0; 3],
        count: [1; 3],
        ctaid: [0; 3],
        size: [1; 3],
        rank: 0,
        blocks: 1,
        explicit: 0,
        reserved: 0,
    };

    /// Where the block's shared memory begins among the cluster's.
    pub fn window(&self) -> u64 {
        u64::from(self.rank) << WINDOW_BITS
    }
}

/// What the blocks of a cooperative launch share, in the layout that NVIDIA's cooperative groups know (`%envreg1` and `%envreg2` hold its
/// address): code compiled with them counts arrivals at the grid's barrier here. Zeros before the launch, but for the size.
#[repr(C)]
#[derive(Debug)]
pub struct Workspace {
    /// Bytes of it.
    pub size: u32,
    /// The arrivals; the top bit changes when all blocks are there.
    pub barrier: AtomicU32,
}

impl Workspace {
    /// Bytes of it.
    pub const SIZE: u32 = size_of::<Workspace>() as u32;
}

impl Default for Workspace {
    fn default() -> Workspace {
        Workspace { size: Workspace::SIZE, barrier: AtomicU32::new(0) }
    }
}

impl BlockCtx {
    /// Threads in the block.
    pub fn threads(&self) -> u32 {
        self.ntid[0].wrapping_mul(self.ntid[1]).wrapping_mul(self.ntid[2])
    }

    /// Whether `size` bytes at a shared address lie in one block's shared memory.
    pub fn in_shared(&self, address: u64, size: u64) -> bool {
        let offset = address & ((1 << WINDOW_BITS) - 1);
        address < self.shared_reach && offset.saturating_add(size) <= u64::from(self.shared_total)
    }
}

/// One warp of a block.
#[repr(C)]
#[derive(Debug)]
pub struct WarpCtx {
    /// Its block.
    pub block: *const BlockCtx,
    /// [`Code::frame_size`] bytes, 64-byte aligned, kept while the warp is suspended.
    pub frame: *mut u8,
    /// Number in the block; the first thread is `index * 32`.
    pub index: u32,
    /// Lanes that exist (a block's last warp may be partial).
    pub lanes: u32,
    /// Lanes that have not exited. Set to `lanes` before the first resume.
    pub live: u32,
    /// Lanes that wait at a barrier. The scheduler sets them at a stop and clears them when the barrier opens.
    pub waiting: u32,
    /// Where to go on: 0 at first, then whatever the code wrote.
    pub resume: u32,
    /// Line ([`crate::Loc::line`]) of the trap, runtime call or barrier in hand, for messages.
    pub line: u32,
    /// At [`Stop::Barrier`]: which barrier, 0 to 15.
    pub bar_id: u32,
    /// Threads it waits for; 0 for all that live.
    pub bar_threads: u32,
    /// [`crate::op::BarMode`] as its index in `ALL`.
    pub bar_mode: u32,
    /// The lanes that arrive.
    pub bar_lanes: u32,
    /// Those of them whose predicate is true.
    pub bar_preds: u32,
    /// At [`Stop::Yield`]: nanoseconds the warp asks to sleep; 0 for none.
    pub sleep: u32,
    /// Results of the reductions, by barrier: a count, or 0 and 1.
    pub bar_result: [u32; barrier::COUNT],
}

/// Why code stopped. The numbers are what compiled code returns.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// All lanes have exited.
    Done = 0,
    /// Lanes arrived at a barrier; see the `bar_*` fields. Where they only arrive ([`crate::op::BarMode::waits`]) the warp goes on at once. Where
    /// only some lanes arrived (`waiting` does not cover `live`), resume again: the others have work.
    Barrier = 1,
    /// Others should run first.
    Yield = 2,
    /// The launch failed; the runtime has been told why, or `line` has the trap's place.
    Fault = 3,
}

impl Stop {
    /// From compiled code's answer; anything unknown is a fault.
    pub const fn from_code(code: u32) -> Stop {
        match code {
            0 => Stop::Done,
            1 => Stop::Barrier,
            2 => Stop::Yield,
            _ => Stop::Fault,
        }
    }
}

/// Set in the number of a runtime call that is a texture or surface access; the rest is [`texture::Access::number`].
pub const TEXTURE: u32 = 1 << 31;

/// Set in the number of a runtime call that is a bulk copy; the rest is [`crate::op::Bulk::number`].
pub const BULK: u32 = 1 << 30;

/// Signature of a runtime call: the warp, which builtin (index in [`crate::op::Builtin::ALL`], [`TEXTURE`], [`BULK`]), the lanes that call,
/// operands as `[operand][lane]` zero-extended to 64 bits, results likewise. Answers 0 to go on; otherwise the
/// code must stop with [`Stop::Fault`].
pub type BuiltinFn = unsafe extern "C" fn(
    warp: *mut WarpCtx,
    which: u32,
    mask: u32,
    args: *const u64,
    results: *mut u64,
) -> u32;

/// Signature of a matrix instruction: the warp, [`tensor::Matrix::number`], the lanes that call, operands and results as `[register][lane]`
/// ([`tensor::Matrix::run`]). Answers 0 to go on; otherwise the code must stop with [`Stop::Fault`].
pub type MatrixFn = unsafe extern "C" fn(
    warp: *mut WarpCtx,
    number: u64,
    mask: u32,
    args: *const u32,
    results: *mut u32,
) -> u32;

/// What running code calls.
#[repr(C)]
#[derive(Debug)]
pub struct Runtime {
    /// Builtins of the IR.
    pub builtin: BuiltinFn,
    /// A `trap`: `warp.line` has the place. The code then stops with [`Stop::Fault`].
    pub trap: unsafe extern "C" fn(warp: *mut WarpCtx, mask: u32),
    /// Memory faults that the code found itself (the interpreter checks every access): address, bytes, whether it
    /// writes, whether it was only misaligned.
    pub bad_access:
        unsafe extern "C" fn(warp: *mut WarpCtx, address: u64, size: u32, write: bool, misaligned: bool),
    /// Whether `size` bytes at `address` may be read (or written): for code that must not fault, such as the interpreter.
    pub accessible: unsafe extern "C" fn(warp: *mut WarpCtx, address: u64, size: u32, write: bool) -> bool,
    /// Matrix instructions.
    pub matrix: MatrixFn,
}

/// A kernel ready to run.
pub trait Code: Send + Sync {
    /// Bytes of frame a warp; a multiple of 64.
    fn frame_size(&self) -> usize;

    /// Bytes of local memory a thread; a multiple of 16.
    fn local_size(&self) -> usize;

    /// Whether calls may recurse: a thread then gets as much local memory as the launch allows its stack, if that is more than
    /// [`Code::local_size`].
    fn recursive(&self) -> bool {
        false
    }

    /// Whether [`Code::resume`] may stop before the end. If not, [`Code::run_blocks`] is the fast way.
    fn suspends(&self) -> bool;

    /// Prepares a warp's frame before its first resume.
    ///
    /// # Safety
    /// `warp.frame` points to `frame_size` bytes aligned to 64.
    unsafe fn begin_warp(&self, _warp: &mut WarpCtx) {}

    /// Releases what `begin_warp` made; called once for each begun warp, also after a fault.
    ///
    /// # Safety
    /// As for `begin_warp`, which came before.
    unsafe fn end_warp(&self, _warp: &mut WarpCtx) {}

    /// Runs the warp until it stops.
    ///
    /// # Safety
    /// The context's pointers are valid for the launch: parameters, shared memory, image, local memory for every thread,
    /// runtime. The kernel's own accesses may still fault; see the scheduler's fault handling.
    unsafe fn resume(&self, warp: &mut WarpCtx) -> Stop;

    /// Runs all warps of a block in turns, as long as each turn brings all of them to the same barrier of the
    /// whole block ([`crate::op::BarMode::Sync`], with all live lanes). `current` is told which warp runs.
    /// Answers the first warp that stopped in another way, and how: the warps before it have arrived, those
    /// behind it have not run in this turn. If `failed` is set after a full turn, the answer is the number of
    /// warps, with any [`Stop`]. `None`: there is no such code, and nothing has been done.
    ///
    /// # Safety
    /// As for `resume`, of every warp; all of them have lanes that live and none waits.
    unsafe fn sweep(
        &self,
        _warps: &mut [WarpCtx],
        _current: &AtomicU32,
        _failed: &AtomicBool,
    ) -> Option<(usize, Stop)> {
        None
    }

    /// Runs `count` whole blocks, beginning with `block.ctaid` and going on in launch order (x fastest), all warps of
    /// each, without a stop. Changes `block.ctaid`. Only where [`Code::suspends`] is false.
    ///
    /// # Safety
    /// As for `resume`.
    unsafe fn run_blocks(&self, block: &mut BlockCtx, count: u64) -> Stop;
}

/// Lanes of warp `index` in a block of `threads`, as a mask.
pub fn warp_lanes(index: u32, threads: u32) -> u32 {
    let first = u64::from(index) * LANES as u64;
    let left = u64::from(threads).saturating_sub(first).min(LANES as u64);
    ((1u64 << left) - 1) as u32
}
