//! Clusters of blocks: what a launch's are, as its attributes and its kernel say.

use crate::device::attribute;
use crate::error::{Error, Result};
use crate::launch::Config;
use crate::module::Function;

/// Blocks of a cluster that every device takes; more only where the function allows what is not portable.
pub const PORTABLE: u32 = 8;
/// Blocks of the largest cluster.
pub const LARGEST: u32 = 16;

/// A number of blocks in each direction.
pub type Size = [u32; 3];

/// Blocks in all.
fn blocks(size: Size) -> u64 {
    size.iter().fold(1, |n, &d| n.saturating_mul(u64::from(d)))
}

/// The most blocks that a cluster of a function may have.
pub fn most(function: &Function) -> u32 {
    let device = if function.allows_large_clusters() { LARGEST } else { PORTABLE };
    match function.info().max_cluster {
        0 => device,
        n => n.min(device),
    }
}

/// The clusters of a launch: of the size that it asks for or its kernel requires, none where neither says.
///
/// # Errors
/// [`Error::InvalidClusterSize`]: the kernel requires another size, or some, the size is larger than it may be, or does not divide the grid.
/// [`Error::NotSupported`]: the device has no clusters.
pub fn of_launch(function: &Function, config: &Config) -> Result<Option<Size>> {
    let asked = config.cluster.filter(|size| *size != [0; 3]);
    let required = function.required_cluster();
    let size = match (asked, required) {
        (Some(asked), Some(required)) if asked != required => return Err(Error::InvalidClusterSize),
        (Some(size), _) | (None, Some(size)) => size,
        (None, None) if function.needs_cluster() => return Err(Error::InvalidClusterSize),
        (None, None) => return Ok(None),
    };
    if blocks(size) != 1 && function.device().known(attribute::CLUSTER_LAUNCH) == 0 {
        return Err(Error::NotSupported);
    }
    let divides = config.grid.iter().zip(&size).all(|(grid, &side)| side != 0 && grid.is_multiple_of(side));
    if !divides || blocks(size) > u64::from(most(function)) {
        return Err(Error::InvalidClusterSize);
    }
    Ok(Some(size))
}
