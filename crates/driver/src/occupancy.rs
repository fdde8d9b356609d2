//! Occupancy: how many blocks a multiprocessor holds.

use crate::device::attribute;
use crate::error::{Error, Result};
use crate::module::Function;

const WARP: u32 = 32;

/// The number of blocks of `block` threads with `dynamic_shared` bytes that one multiprocessor holds at once;
/// 0 if the kernel cannot be launched with them.
pub fn max_active_blocks(function: &Function, block: u32, dynamic_shared: u64) -> u32 {
    let device = function.device();
    let info = function.info();
    if block == 0 || u64::from(block) > device.known(attribute::MAX_THREADS_PER_BLOCK) {
        return 0;
    }
    let shared = u64::from(info.static_shared).saturating_add(dynamic_shared);
    if shared > device.known(attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) {
        return 0;
    }
    let threads = u64::from(block.next_multiple_of(WARP));
    let by_threads = device.known(attribute::MAX_THREADS_PER_MULTIPROCESSOR) / threads;
    let reserved = device.known(attribute::RESERVED_SHARED_MEMORY_PER_BLOCK);
    let by_shared = device.known(attribute::MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)
        / shared.saturating_add(reserved).max(1);
    let by_blocks = device.known(attribute::MAX_BLOCKS_PER_MULTIPROCESSOR);
    let most = by_threads.min(by_shared).min(by_blocks) as u32;
    most.min(function.module.program.max_blocks_per_multiprocessor(function.index, block, dynamic_shared))
}

/// The block size with the highest occupancy, the largest if several have it: (grid that fills the device,
/// block). `shared` returns the dynamic shared memory for a block size; `limit` bounds the block size, 0 for
/// no bound.
pub fn max_potential_block(
    function: &Function,
    shared: impl Fn(u32) -> u64,
    limit: i32,
) -> Result<(u32, u32)> {
    let limit = u32::try_from(limit).map_err(|_| Error::InvalidValue)?;
    let most = function.max_threads();
    let most = if limit == 0 { most } else { most.min(limit) };
    let mut best = (0u32, 0u32);
    let mut block = if most < WARP { most } else { most / WARP * WARP };
    while block > 0 {
        let active = max_active_blocks(function, block, shared(block));
        if active.saturating_mul(block) > best.0.saturating_mul(best.1) {
            best = (active, block);
        }
        block = block.saturating_sub(WARP);
    }
    let multiprocessors = function.device().known(attribute::MULTIPROCESSOR_COUNT) as u32;
    Ok((best.0.saturating_mul(multiprocessors), best.1))
}

/// The dynamic shared memory per block if `blocks` blocks of `block` threads share a multiprocessor.
pub fn available_dynamic_shared(function: &Function, blocks: i32, block: i32) -> Result<u64> {
    let (blocks, block) = match (u32::try_from(blocks), u32::try_from(block)) {
        (Ok(n @ 1..), Ok(b @ 1..)) => (n, b),
        _ => return Err(Error::InvalidValue),
    };
    if blocks > max_active_blocks(function, block, 0) {
        return Err(Error::InvalidValue);
    }
    let device = function.device();
    let each = device.known(attribute::MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) / u64::from(blocks);
    let taken =
        device.known(attribute::RESERVED_SHARED_MEMORY_PER_BLOCK) + u64::from(function.info().static_shared);
    Ok((each.saturating_sub(taken) / 128 * 128).min(u64::from(function.max_dynamic_shared())))
}
