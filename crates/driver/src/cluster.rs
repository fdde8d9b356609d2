//! Thread block clusters: their size, from a launch's attributes and its kernel.

use crate::device::attribute;
use crate::error::{Error, Result};
use crate::launch::Config;
use crate::module::Function;
use crate::occupancy;

/// The portable cluster size: every device supports it; larger clusters need the function's permission.
const PORTABLE: u32 = 8;
/// The largest cluster size in blocks.
const LARGEST: u32 = 16;

/// A number of blocks in each dimension.
pub type Size = [u32; 3];

/// The total number of blocks.
fn blocks(size: Size) -> u64 {
    size.iter().fold(1, |n, &d| n.saturating_mul(u64::from(d)))
}

/// The maximum cluster size in blocks for a function on its device.
pub(crate) fn most(function: &Function) -> u32 {
    if function.allows_large_clusters() { LARGEST } else { PORTABLE }
}

/// The cluster size of a launch: the requested or the required one; `None` if neither is given.
///
/// # Errors
/// [`Error::InvalidClusterSize`]: the kernel requires another size, or one must be given; the size exceeds
/// the maximum or does not divide the grid; or the preferred size is not a multiple of the size.
/// [`Error::NotSupported`]: the device has no clusters.
#[inline]
pub fn of_launch(function: &Function, config: &Config) -> Result<Option<Size>> {
    let given = config.cluster.is_some() || config.preferred_cluster.is_some();
    if !given && !function.may_have_clusters() {
        return Ok(None);
    }
    size_of_launch(function, config)
}

fn size_of_launch(function: &Function, config: &Config) -> Result<Option<Size>> {
    let asked = config.cluster.filter(|size| *size != [0; 3]);
    if let Some(preferred) = config.preferred_cluster {
        let of_several = match asked {
            None => preferred == [0; 3],
            Some(size) => preferred.iter().zip(&size).all(|(&p, &s)| p != 0 && s != 0 && p.is_multiple_of(s)),
        };
        if !of_several {
            return Err(Error::InvalidClusterSize);
        }
    }
    let size = match (asked, function.required_cluster()) {
        (Some(asked), Some(required)) => {
            let other = asked.iter().zip(&required).any(|(a, r)| *r != 0 && a != r);
            if other {
                return Err(Error::InvalidClusterSize);
            }
            asked
        }
        (Some(size), None) | (None, Some(size)) => size,
        (None, None) if function.needs_cluster() => return Err(Error::InvalidClusterSize),
        (None, None) => return Ok(None),
    };
    if blocks(size) != 1 && function.device().known(attribute::CLUSTER_LAUNCH) == 0 {
        return Err(Error::NotSupported);
    }
    let most = match function.info().max_cluster {
        0 => most(function),
        n => n.min(most(function)),
    };
    let counts_clusters = function.info().blocks_are_clusters;
    let fits = |(grid, &side): (&u32, &u32)| side != 0 && (counts_clusters || grid.is_multiple_of(side));
    if !config.grid.iter().zip(&size).all(fits) || blocks(size) > u64::from(most) {
        return Err(Error::InvalidClusterSize);
    }
    Ok(Some(size))
}

/// The grid size of a launch in blocks, even if its kernel counts clusters.
///
/// # Errors
/// [`Error::InvalidValue`]: the grid exceeds the maximum size.
#[inline]
pub fn blocks_of_grid(function: &Function, config: &Config) -> Result<Size> {
    if config.cluster.is_none() {
        return Ok(config.grid);
    }
    blocks_of_clusters(function, config)
}

fn blocks_of_clusters(function: &Function, config: &Config) -> Result<Size> {
    let (true, Some(size)) = (function.info().blocks_are_clusters, config.cluster) else {
        return Ok(config.grid);
    };
    let mut grid = config.grid;
    for ((blocks, side), axis) in grid.iter_mut().zip(size).zip(5..) {
        let product = u64::from(*blocks) * u64::from(side);
        // Attributes 5, 6 and 7 limit the grid.
        *blocks = u32::try_from(product)
            .ok()
            .filter(|_| product <= function.device().known(axis))
            .ok_or(Error::InvalidValue)?;
    }
    Ok(grid)
}

/// The cluster size of a launch in an occupancy query.
fn shape(function: &Function, config: &Config) -> Result<Option<Size>> {
    if config.grid.contains(&0) || config.block.contains(&0) {
        return Err(Error::InvalidValue);
    }
    of_launch(function, config)
}

/// Threads per block of a launch.
fn threads(config: &Config) -> u32 {
    config.block.iter().fold(1u32, |n, &side| n.saturating_mul(side))
}

/// The maximum cluster size in blocks for such a launch; 0 if not even one block fits.
///
/// # Errors
/// The launch is invalid.
pub fn max_potential_size(function: &Function, config: &Config) -> Result<u32> {
    shape(function, config)?;
    let each = occupancy::max_active_blocks(function, threads(config), u64::from(config.dynamic_shared));
    Ok(if each == 0 { 0 } else { most(function) })
}

/// The number of a launch's clusters that the device holds at once: one worker holds one, or as many as fill
/// it. 0 for a launch without clusters, as on the hardware.
///
/// # Errors
/// The launch is invalid.
pub fn max_active(function: &Function, config: &Config) -> Result<u32> {
    let Some(size) = shape(function, config)? else { return Ok(0) };
    let each = occupancy::max_active_blocks(function, threads(config), u64::from(config.dynamic_shared));
    if each == 0 {
        return Ok(0);
    }
    let blocks = u32::try_from(blocks(size)).map_err(|_| Error::InvalidClusterSize)?;
    let workers = function.device().known(attribute::MULTIPROCESSOR_COUNT) as u32;
    Ok(workers.saturating_mul((each / blocks.max(1)).max(1)))
}
