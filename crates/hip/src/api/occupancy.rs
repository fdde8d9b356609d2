//! Occupancy of functions and host stubs.

use std::sync::Arc;

use driver::device::attribute;
use driver::module::Function;
use driver::occupancy;

use crate::abi::Out;
use crate::current::Handle;
use crate::{Error, Result, api};

use super::function::{of, of_host};

/// `hipOccupancyDisableCachingOverride`, the only valid flag.
const KNOWN_FLAGS: u32 = 1;

fn blocks(out: Out<i32>, function: &Arc<Function>, block: i32, shared: usize, flags: u32) -> Result<()> {
    if flags & !KNOWN_FLAGS != 0 {
        return Err(Error::InvalidValue);
    }
    let block = u32::try_from(block).ok().filter(|b| *b > 0).ok_or(Error::InvalidValue)?;
    let most = function.device().attribute(attribute::MAX_THREADS_PER_BLOCK)?;
    let fits = i64::from(block) <= i64::from(most);
    out.set(if fits { occupancy::max_active_blocks(function, block, shared as u64) as i32 } else { 0 });
    Ok(())
}

fn best(
    grid: Out<i32>,
    block: Out<i32>,
    function: &Arc<Function>,
    shared: usize,
    limit: i32,
    flags: u32,
) -> Result<()> {
    if flags & !KNOWN_FLAGS != 0 {
        return Err(Error::InvalidValue);
    }
    // A limit out of range counts as no limit.
    let most = function.device().attribute(attribute::MAX_THREADS_PER_BLOCK)?;
    let limit = if (1..=most).contains(&limit) { limit } else { 0 };
    let (g, b) = occupancy::max_potential_block(function, |_| shared as u64, limit)?;
    grid.set(g as i32);
    block.set(b as i32);
    Ok(())
}

fn places(grid: Out<i32>, block: Out<i32>) -> Result<()> {
    grid.required()?;
    block.required()?;
    Ok(())
}

/// A function; null is an invalid value.
fn given(handle: Handle) -> Result<Arc<Function>> {
    if handle == 0 { Err(Error::InvalidValue) } else { of(handle) }
}

api! {
    Context Legal fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
        out: Out<i32>, handle: Handle, block: i32, shared: usize,
    ) {
        out.required()?;
        blocks(out, &given(handle)?, block, shared, 0)
    }

    Context Legal fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        out: Out<i32>, handle: Handle, block: i32, shared: usize, flags: u32,
    ) {
        out.required()?;
        blocks(out, &given(handle)?, block, shared, flags)
    }

    Context Legal fn hipModuleOccupancyMaxPotentialBlockSize(
        grid: Out<i32>, block: Out<i32>, handle: Handle, shared: usize, limit: i32,
    ) {
        places(grid, block)?;
        best(grid, block, &given(handle)?, shared, limit, 0)
    }

    Context Legal fn hipModuleOccupancyMaxPotentialBlockSizeWithFlags(
        grid: Out<i32>, block: Out<i32>, handle: Handle, shared: usize, limit: i32, flags: u32,
    ) {
        places(grid, block)?;
        best(grid, block, &given(handle)?, shared, limit, flags)
    }

    Context Legal fn hipOccupancyMaxActiveBlocksPerMultiprocessor(
        out: Out<i32>, host: u64, block: i32, shared: usize,
    ) {
        out.required()?;
        blocks(out, &of_host(host)?, block, shared, 0)
    }

    Context Legal fn hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        out: Out<i32>, host: u64, block: i32, shared: usize, flags: u32,
    ) {
        out.required()?;
        blocks(out, &of_host(host)?, block, shared, flags)
    }

    Context Legal fn hipOccupancyAvailableDynamicSMemPerBlock(
        out: Out<usize>, host: u64, count: i32, block: i32,
    ) {
        out.required()?;
        if count <= 0 || block <= 0 {
            return Err(Error::InvalidValue);
        }
        out.set(occupancy::available_dynamic_shared(&*of_host(host)?, count, block)? as usize);
        Ok(())
    }

    Context Legal fn hipOccupancyMaxPotentialBlockSize(
        grid: Out<i32>, block: Out<i32>, host: u64, shared: usize, limit: i32,
    ) {
        places(grid, block)?;
        best(grid, block, &of_host(host)?, shared, limit, 0)
    }
}
