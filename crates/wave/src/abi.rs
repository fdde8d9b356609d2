//! The interface between running code and the scheduler.
//!
//! A kernel, compiled or interpreted, is a coroutine for one *warp*: [`Code::resume`] runs the warp until it
//! ends or has to wait, and returns why it stopped. The scheduler (crate `grid`) handles barriers and
//! fairness; the code saves what is live across a stop in the warp's frame. Barriers in loops, named
//! barriers, barriers after some warps have exited, spin loops and co-resident blocks are then all the same
//! case. A kernel that never stops midway also provides [`Code::run_blocks`], which runs whole blocks without
//! the scheduler.
//!
//! The structures are `repr(C)`: compiled code reads them by offset.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU32};

use crate::barrier;
use crate::types::Width;

/// State shared by all warps of a block.
#[repr(C)]
#[derive(Debug)]
pub struct BlockCtx {
    /// Parameter buffer of the launch.
    pub params: *const u8,
    /// The cluster's shared memory, in which the block's own begins at [`ClusterCtx::window`]: static
    /// variables first, then dynamic memory.
    pub shared: *mut u8,
    /// Address of the module's image: `GlobalAddr` is this plus the global's offset.
    pub image: *mut u8,
    /// Local memory of thread 0; thread `t` (= warp * width + lane) begins at `local + t * local_stride`.
    pub local: *mut u8,
    /// Bytes of local memory per thread.
    pub local_stride: u64,
    /// Functions of the runtime.
    pub runtime: *const Runtime,
    /// The launch, for the runtime's use.
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
    /// Lanes in a warp, 32 or 64.
    pub width: u32,
    /// The workspace of a cooperative launch; null for other launches.
    pub workspace: *const Workspace,
    /// Bytes from [`BlockCtx::shared`] to the end of the shared memory that the block can access: its own, or
    /// the cluster's.
    pub shared_reach: u64,
    /// The block's position in its cluster.
    pub cluster: ClusterCtx,
}

/// A block's position in its cluster. Without clusters, every block is its own cluster.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ClusterCtx {
    /// This cluster.
    pub id: [u32; 3],
    /// Number of clusters in the grid.
    pub count: [u32; 3],
    /// This block in the cluster.
    pub ctaid: [u32; 3],
    /// Blocks in the cluster.
    pub size: [u32; 3],
    /// Rank of this block in the cluster, x fastest. Its shared memory begins at [`ClusterCtx::window`].
    pub rank: u32,
    /// Total number of blocks in the cluster.
    pub blocks: u32,
    /// 1 if the launch requested clusters, otherwise 0.
    pub explicit: u32,
    /// Keeps the layout explicit.
    pub reserved: u32,
}

/// In every shared address, the shared memory of the block with rank r begins r << 24 bytes after that of
/// rank 0, as on the hardware.
pub const WINDOW_BITS: u32 = 24;

/// The size of a thread's local memory is a multiple of this, as is its address: the widest type and the
/// stack slots of one activation need no more.
pub const LOCAL_ALIGN: usize = 16;

/// The size of a warp's frame is a multiple of this, as is its address: the widest vector.
pub const FRAME_ALIGN: usize = 64;

/// The maximum number of blocks in a cluster.
pub const MAX_CLUSTER: u32 = 16;

impl ClusterCtx {
    /// For a block that is its whole cluster.
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

    /// Offset of the block's shared memory in the cluster's.
    pub fn window(&self) -> u64 {
        u64::from(self.rank) << WINDOW_BITS
    }
}

/// The workspace shared by the blocks of a cooperative launch, in the layout that NVIDIA's cooperative groups
/// use (`%envreg1` and `%envreg2` hold its address): code compiled with them counts arrivals at the grid
/// barrier here. Before the launch it is zero except for the size.
#[repr(C)]
#[derive(Debug)]
pub struct Workspace {
    /// Its size in bytes.
    pub size: u32,
    /// The number of arrivals; the top bit flips when all blocks have arrived.
    pub barrier: AtomicU32,
}

impl Workspace {
    /// Its size in bytes.
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

    /// Whether the `size` bytes at a shared address are inside one block's shared memory.
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
    /// [`Needs::frame`] bytes, aligned to [`FRAME_ALIGN`], kept while the warp is suspended.
    pub frame: *mut u8,
    /// Lanes that exist (a block's last warp may be partial). Masks have a bit per lane from the lowest on;
    /// code for 32 lanes uses the lower half, and the upper one is zero.
    pub lanes: u64,
    /// Lanes that have not exited. Set to `lanes` before the first resume.
    pub live: u64,
    /// Lanes that wait at a barrier. The scheduler sets them at a stop and clears them when the barrier
    /// opens.
    pub waiting: u64,
    /// At [`Stop::Barrier`]: the lanes that arrive.
    pub bar_lanes: u64,
    /// Those of them with a true predicate.
    pub bar_preds: u64,
    /// Index in the block; the first thread is `index * width`.
    pub index: u32,
    /// Where to continue: 0 initially, then whatever the code wrote.
    pub resume: u32,
    /// Line ([`crate::Loc::line`]) of the current trap, runtime call or barrier, for messages.
    pub line: u32,
    /// At [`Stop::Barrier`]: the barrier's number, 0 to 15.
    pub bar_id: u32,
    /// Number of threads that the barrier waits for; 0 for all active ones.
    pub bar_threads: u32,
    /// [`crate::op::BarMode`] as its index in `ALL`.
    pub bar_mode: u32,
    /// At [`Stop::Yield`]: nanoseconds that the warp asks to sleep, or 0.
    pub sleep: u32,
    /// Results of reductions, by barrier: a count, or 0 and 1.
    pub bar_result: [u32; barrier::COUNT],
}

/// Why code stopped. Compiled code returns these numbers.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// All lanes have exited.
    Done = 0,
    /// Lanes have arrived at a barrier; see the `bar_*` fields. If they only arrive
    /// ([`crate::op::BarMode::waits`]), the warp continues at once. If only some lanes have arrived
    /// (`waiting` does not cover `live`), resume the warp again: the other lanes have work.
    Barrier = 1,
    /// Other warps should run first.
    Yield = 2,
    /// The launch has failed; the runtime knows why, or `line` holds the position of the trap.
    Fault = 3,
}

impl Stop {
    /// Converts compiled code's return value; unknown numbers are faults.
    pub const fn from_code(code: u32) -> Stop {
        match code {
            0 => Stop::Done,
            1 => Stop::Barrier,
            2 => Stop::Yield,
            _ => Stop::Fault,
        }
    }
}

/// How a sweep over the warps of a block ended ([`Code::sweep`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swept {
    /// The first warp that stopped in another way than those before it; those after it have not run in this
    /// turn. The number of warps if all have ended, or if the launch had failed after a turn.
    pub warp: usize,
    /// Whether the warps before it have ended; otherwise they have arrived at the barrier that the contexts
    /// name.
    pub ended: bool,
    /// How it stopped.
    pub stop: Stop,
}

/// Set in the number of a runtime call for a texture or surface access; the rest is
/// [`texture::Access::number`].
pub const TEXTURE: u32 = 1 << 31;

/// Set in the number of a runtime call for a bulk copy; the rest is [`crate::op::Bulk::number`].
pub const BULK: u32 = 1 << 30;

/// Signature of a runtime call: the warp, the builtin (its index in [`crate::op::Builtin::ALL`], or
/// [`TEXTURE`], or [`BULK`]), the calling lanes, and operands and results as `[operand][lane]`, with as many
/// lanes as the warp has, zero-extended to 64 bits. Returns 0 to continue; otherwise the code must stop with
/// [`Stop::Fault`].
pub type BuiltinFn = unsafe extern "C" fn(
    warp: *mut WarpCtx,
    which: u32,
    mask: u64,
    args: *const u64,
    results: *mut u64,
) -> u32;

/// Signature of a matrix instruction: the warp, [`tensor::Matrix::number`], the calling lanes of a warp of
/// 32, and operands and results as `[register][lane]` ([`tensor::Matrix::run`]). Returns 0 to continue;
/// otherwise the code must stop with [`Stop::Fault`].
pub type MatrixFn = unsafe extern "C" fn(
    warp: *mut WarpCtx,
    number: u64,
    mask: u32,
    args: *const u32,
    results: *mut u32,
) -> u32;

/// Functions that running code calls.
#[repr(C)]
#[derive(Debug)]
pub struct Runtime {
    /// Builtins of the IR.
    pub builtin: BuiltinFn,
    /// Reports a `trap`, whose position is in `warp.line`. The code then stops with [`Stop::Fault`].
    pub trap: unsafe extern "C" fn(warp: *mut WarpCtx, mask: u64),
    /// Reports a memory fault that the code found itself (the interpreter checks every access): address,
    /// size, whether it is a write, whether it was only misaligned, and the lanes (0 if they are not known).
    pub bad_access: unsafe extern "C" fn(
        warp: *mut WarpCtx,
        address: u64,
        size: u32,
        write: bool,
        misaligned: bool,
        lanes: u64,
    ),
    /// Whether the `size` bytes at `address` may be read (or written), for code that must not fault, such as
    /// the interpreter.
    pub accessible: unsafe extern "C" fn(warp: *mut WarpCtx, address: u64, size: u32, write: bool) -> bool,
    /// Executes matrix instructions.
    pub matrix: MatrixFn,
}

/// What a scheduler must know of a kernel's code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Bytes of frame per warp; a multiple of [`FRAME_ALIGN`].
    pub frame: usize,
    /// Bytes of local memory per thread; a multiple of [`LOCAL_ALIGN`].
    pub local: usize,
    /// Lanes in a warp.
    pub width: Width,
    /// Whether all lanes of a warp execute, also those without a thread.
    pub whole_warps: bool,
    /// Whether calls may recurse. A thread then gets as much local memory as the launch allows for its stack,
    /// if that is more than [`Needs::local`].
    pub recursive: bool,
    /// Whether [`Code::resume`] may stop before the end. If not, [`Code::run_blocks`] is faster.
    pub suspends: bool,
    /// Whether its blocks may wait for each other, so that they should begin in order: it has loops that wait
    /// for memory, or it sleeps. Barriers alone only wait for the own block.
    pub waits: bool,
    /// Blocks of a row of the grid that run as one if [`Code::run_blocks`] gets them together; at least 1.
    pub together: u8,
}

/// A kernel ready to run.
pub trait Code: Send + Sync {
    /// What it needs.
    fn needs(&self) -> &Needs;

    /// Prepares a warp's frame before its first resume.
    ///
    /// # Safety
    /// `warp.frame` points to [`Needs::frame`] bytes aligned to [`FRAME_ALIGN`].
    unsafe fn begin_warp(&self, _warp: &mut WarpCtx) {}

    /// Releases what `begin_warp` created. Called once for each begun warp, even after a fault.
    ///
    /// # Safety
    /// Same as for `begin_warp`, which must have been called before.
    unsafe fn end_warp(&self, _warp: &mut WarpCtx) {}

    /// Runs the warp until it stops.
    ///
    /// # Safety
    /// The context's pointers are valid for the launch: parameters, shared memory, image, local memory for
    /// every thread, and runtime. The kernel's own accesses may still fault; see the scheduler's fault
    /// handling.
    unsafe fn resume(&self, warp: &mut WarpCtx) -> Stop;

    /// Runs all warps of a block in turns, as long as each turn brings all of them to the same barrier of the
    /// whole block ([`crate::op::BarMode::Sync`], with all live lanes), or to their end. Goes on in the same
    /// way with the next blocks in launch order until it has run `left`, which it reduces by those that have
    /// ended. The contexts then belong to the block that has not, as if it alone had run; the block's context
    /// names it. Stores the running warp's index in `current`. `None` means that such code does not exist and
    /// nothing has run.
    ///
    /// # Safety
    /// Same as for `resume`, for every warp; all of them have live lanes, resume at the same place, and none
    /// of them waits. These are all warps of the block, whose frames follow each other. `left` is not 0. If
    /// it is more than 1, no warp has run yet.
    unsafe fn sweep(
        &self,
        _warps: &mut [WarpCtx],
        _left: &mut u64,
        _current: &AtomicU32,
        _failed: &AtomicBool,
    ) -> Option<Swept> {
        None
    }

    /// Runs `count` whole blocks with all their warps, beginning with `block.ctaid` and continuing in launch
    /// order (x fastest), without stopping. Changes `block.ctaid`. Only if [`Needs::suspends`] is false.
    ///
    /// # Safety
    /// Same as for `resume`.
    unsafe fn run_blocks(&self, block: &mut BlockCtx, count: u64) -> Stop;
}

/// The mask of the lanes that warp `index` has in a block of `threads`.
pub fn warp_lanes(index: u32, threads: u32, width: Width) -> u64 {
    let lanes = width.lanes() as u64;
    let left = u64::from(threads).saturating_sub(u64::from(index) * lanes).min(lanes);
    u64::MAX.checked_shr(64 - left as u32).unwrap_or(0)
}
