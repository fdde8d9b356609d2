//! Occupancy.

use std::sync::Arc;

use driver::cluster;
use driver::launch::Config;
use driver::library::function_or_kernel;
use driver::module::Function;
use driver::{Error, Result, occupancy};

use crate::abi::{In, Out};
use crate::api;
use crate::api::current;
use crate::types::{Handle, LaunchConfig};

/// `CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE`, the only valid flag.
const KNOWN_FLAGS: u32 = 1;

/// The program's callback that returns the dynamic shared memory for a block size.
type SharedOfBlock = extern "C" fn(i32) -> usize;

fn of(handle: Handle) -> Result<Arc<Function>> {
    function_or_kernel(handle, current)
}

/// A function and a launch of it. A null function is an invalid value here.
fn cluster_launch(handle: Handle, config: In<LaunchConfig>) -> Result<(Arc<Function>, Config)> {
    let config = config.get()?;
    if handle == 0 {
        return Err(Error::InvalidValue);
    }
    let function = of(handle)?;
    let config = super::launch::shape(&function, &config)?;
    Ok((function, config))
}

fn blocks(out: Out<i32>, handle: Handle, block: i32, shared: usize, flags: u32) -> Result<()> {
    let function = of(handle)?;
    out.required()?;
    let block = u32::try_from(block).ok().filter(|b| *b > 0).ok_or(Error::InvalidValue)?;
    if flags & !KNOWN_FLAGS != 0 {
        return Err(Error::InvalidValue);
    }
    out.set(occupancy::max_active_blocks(&function, block, shared as u64) as i32);
    Ok(())
}

fn best(
    grid: Out<i32>,
    block: Out<i32>,
    handle: Handle,
    shared_of: Option<SharedOfBlock>,
    shared: usize,
    limit: i32,
    flags: u32,
) -> Result<()> {
    let function = of(handle)?;
    if grid.is_null() || block.is_null() || flags & !KNOWN_FLAGS != 0 {
        return Err(Error::InvalidValue);
    }
    let shared = |block: u32| shared_of.map_or(shared, |f| f(block as i32)) as u64;
    let (g, b) = occupancy::max_potential_block(&function, shared, limit)?;
    grid.set(g as i32);
    block.set(b as i32);
    Ok(())
}

api! {
    Object Legal fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        out: Out<i32>, handle: Handle, block: i32, shared: usize,
    ) {
        blocks(out, handle, block, shared, 0)
    }

    Object Legal fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        out: Out<i32>, handle: Handle, block: i32, shared: usize, flags: u32,
    ) {
        blocks(out, handle, block, shared, flags)
    }

    Object Legal fn cuOccupancyMaxPotentialBlockSize(
        grid: Out<i32>, block: Out<i32>, handle: Handle, shared_of: Option<SharedOfBlock>, shared: usize,
        limit: i32,
    ) {
        best(grid, block, handle, shared_of, shared, limit, 0)
    }

    Object Legal fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        grid: Out<i32>, block: Out<i32>, handle: Handle, shared_of: Option<SharedOfBlock>, shared: usize,
        limit: i32, flags: u32,
    ) {
        best(grid, block, handle, shared_of, shared, limit, flags)
    }

    Object Legal fn cuOccupancyAvailableDynamicSMemPerBlock(
        out: Out<usize>, handle: Handle, count: i32, block: i32,
    ) {
        let function = of(handle)?;
        out.required()?.set(occupancy::available_dynamic_shared(&function, count, block)? as usize);
        Ok(())
    }

    Object Legal fn cuOccupancyMaxPotentialClusterSize(
        out: Out<i32>, handle: Handle, config: In<LaunchConfig>,
    ) {
        let (function, config) = cluster_launch(handle, config)?;
        out.required()?.set(cluster::max_potential_size(&function, &config)? as i32);
        Ok(())
    }

    Object Legal fn cuOccupancyMaxActiveClusters(out: Out<i32>, handle: Handle, config: In<LaunchConfig>) {
        let (function, config) = cluster_launch(handle, config)?;
        out.required()?.set(cluster::max_active(&function, &config)? as i32);
        Ok(())
    }
}
