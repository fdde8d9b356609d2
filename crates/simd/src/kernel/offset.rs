//! Byte offsets of the fields of `wave::abi`'s structures, as kernels read and write them.

use std::mem::offset_of;

use wave::abi::{BlockCtx, Runtime, WarpCtx};

/// The offset of x, y or z in a field of three words such as [`CTAID`].
pub const fn axis(field: usize, axis: usize) -> usize {
    field + axis * size_of::<u32>()
}

/// Bytes of a warp's context.
pub const WARP_SIZE: usize = size_of::<WarpCtx>();

// `BlockCtx`.
pub const PARAMS: usize = offset_of!(BlockCtx, params);
pub const SHARED: usize = offset_of!(BlockCtx, shared);
pub const IMAGE: usize = offset_of!(BlockCtx, image);
pub const LOCAL: usize = offset_of!(BlockCtx, local);
pub const LOCAL_STRIDE: usize = offset_of!(BlockCtx, local_stride);
pub const RUNTIME: usize = offset_of!(BlockCtx, runtime);
pub const GRID_ID: usize = offset_of!(BlockCtx, grid_id);
pub const CTAID: usize = offset_of!(BlockCtx, ctaid);
pub const NCTAID: usize = offset_of!(BlockCtx, nctaid);
pub const SMID: usize = offset_of!(BlockCtx, smid);
pub const NSMID: usize = offset_of!(BlockCtx, nsmid);
pub const SHARED_DYNAMIC: usize = offset_of!(BlockCtx, shared_dynamic);
pub const SHARED_TOTAL: usize = offset_of!(BlockCtx, shared_total);
pub const WORKSPACE: usize = offset_of!(BlockCtx, workspace);
pub const SHARED_REACH: usize = offset_of!(BlockCtx, shared_reach);
pub const CLUSTER_ID: usize = offset_of!(BlockCtx, cluster.id);
pub const CLUSTER_COUNT: usize = offset_of!(BlockCtx, cluster.count);
pub const CLUSTER_CTAID: usize = offset_of!(BlockCtx, cluster.ctaid);
pub const CLUSTER_SIZE: usize = offset_of!(BlockCtx, cluster.size);
pub const CLUSTER_RANK: usize = offset_of!(BlockCtx, cluster.rank);
pub const CLUSTER_BLOCKS: usize = offset_of!(BlockCtx, cluster.blocks);
pub const CLUSTER_EXPLICIT: usize = offset_of!(BlockCtx, cluster.explicit);

// `WarpCtx`.
pub const W_BLOCK: usize = offset_of!(WarpCtx, block);
pub const W_INDEX: usize = offset_of!(WarpCtx, index);
pub const W_LANES: usize = offset_of!(WarpCtx, lanes);
pub const W_LIVE: usize = offset_of!(WarpCtx, live);
pub const W_WAITING: usize = offset_of!(WarpCtx, waiting);
pub const W_RESUME: usize = offset_of!(WarpCtx, resume);
pub const W_LINE: usize = offset_of!(WarpCtx, line);
pub const W_BAR_ID: usize = offset_of!(WarpCtx, bar_id);
pub const W_BAR_THREADS: usize = offset_of!(WarpCtx, bar_threads);
pub const W_BAR_MODE: usize = offset_of!(WarpCtx, bar_mode);
pub const W_BAR_LANES: usize = offset_of!(WarpCtx, bar_lanes);
pub const W_BAR_PREDS: usize = offset_of!(WarpCtx, bar_preds);
pub const W_SLEEP: usize = offset_of!(WarpCtx, sleep);
pub const W_BAR_RESULT: usize = offset_of!(WarpCtx, bar_result);

// `Runtime`.
pub const BUILTIN: usize = offset_of!(Runtime, builtin);
pub const TRAP: usize = offset_of!(Runtime, trap);
pub const BAD_ACCESS: usize = offset_of!(Runtime, bad_access);
pub const MATRIX: usize = offset_of!(Runtime, matrix);
