//! Pools shared between processes: a descriptor stands for the pool, 64 bytes for a pointer into it.

use std::fs::File;
use std::ops::Range;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::Arc;

use crate::driver;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::shared::{self, Name, Of};

use super::managed::{DEVICE, HOST_NUMA, Location};
use super::{Allocation, Kind, find, pool, share};

/// What this process shares of a pool with others, or what it knows of another process's pool.
#[derive(Debug)]
pub(super) enum Shared {
    /// The file that stands for this process's pool.
    Ours(File),
    /// The id of the process that owns the pool, and the inode number of the file that stands for it.
    Of(u32, u64),
}

impl Shared {
    /// A file for a new pool at a location, which names its process and tells the kind of the location and
    /// the device.
    pub(super) fn new(location: Location) -> Result<Shared> {
        let file = shared::memory_file(size_of::<Name>() as u64)?;
        let mark = match location.kind == DEVICE {
            true => shared::mark(driver()?.device(location.id)?),
            false => 0,
        };
        let name = shared::name(Of::Pool, &file, [u64::from(location.kind), mark, 0])?;
        file.write_all_at(&name, 0).map_err(|_| Error::OperatingSystem)?;
        Ok(Shared::Ours(file))
    }
}

/// Exports a pool as a file descriptor, which the caller closes.
///
/// # Errors
/// [`Error::InvalidValue`]: the pool was not created for other processes, or belongs to another one.
pub fn export(handle: Handle) -> Result<RawFd> {
    match &pool::get(handle)?.shared {
        Some(Shared::Ours(file)) => {
            shared::duplicate(file.as_raw_fd()).map(std::os::fd::IntoRawFd::into_raw_fd)
        }
        _ => Err(Error::InvalidValue),
    }
}

/// Imports the pool behind a descriptor made by [`export`]: for the same device, or as a pool of the host's
/// first NUMA node.
///
/// # Errors
/// [`Error::Unknown`]: no such descriptor. [`Error::InvalidValue`]: it stands for no pool, or this process
/// does not see the device.
pub fn import(descriptor: RawFd) -> Result<Handle> {
    let file = shared::duplicate(descriptor).map_err(|_| Error::Unknown)?;
    let mut name: Name = [0; 64];
    file.read_exact_at(&mut name, 0).map_err(|_| Error::InvalidValue)?;
    let named = shared::read(Of::Pool, &name).ok_or(Error::InvalidValue)?;
    let [kind, mark, _] = named.more;
    let location = match kind == u64::from(HOST_NUMA) {
        true => Location { kind: HOST_NUMA, id: 0 },
        false => {
            let device = shared::marked(mark).ok_or(Error::InvalidValue)?;
            Location { kind: DEVICE, id: device.ordinal as i32 }
        }
    };
    pool::imported(location, Shared::Of(named.process, named.inode))
}

/// The name by which another process opens memory of a pool.
///
/// # Errors
/// [`Error::InvalidValue`]: the address is not that of an allocation in a pool that can be exported.
pub fn export_pointer(address: u64) -> Result<Name> {
    find(address).filter(|a| a.base == address).ok_or(Error::InvalidValue)?;
    export_inner_pointer(address)
}

/// The same for any address inside an allocation, as in AMD's runtime: the other process gets this address.
///
/// # Errors
/// As for [`export_pointer`].
pub fn export_inner_pointer(address: u64) -> Result<Name> {
    let of_pool = |a: &Arc<Allocation>| matches!(a.kind, Kind::Pool | Kind::Host) && a.pool != 0;
    let allocation = find(address).filter(of_pool).ok_or(Error::InvalidValue)?;
    let pool = pool::get(allocation.pool)?;
    let Some(Shared::Ours(file)) = &pool.shared else { return Err(Error::InvalidValue) };
    let inode = file.metadata().map_err(|_| Error::OperatingSystem)?.ino();
    let mut name = share::name_of(&allocation)?;
    for (range, word) in [(POOL, inode), (OFFSET, address - allocation.base)] {
        if let Some(place) = name.get_mut(range) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
    }
    Ok(name)
}

/// The bytes of a pointer's name that [`shared::name`] leaves free: the inode number of the pool's file, and
/// the pointer's distance from the beginning of its allocation.
const POOL: Range<usize> = 48..56;
const OFFSET: Range<usize> = 56..64;

/// Opens memory of an imported pool.
///
/// # Errors
/// [`Error::InvalidValue`]: the pool is not imported, or the memory belongs to another pool.
pub fn import_pointer(handle: Handle, name: &Name) -> Result<u64> {
    let pool = pool::get(handle)?;
    let Some(Shared::Of(process, inode)) = pool.shared else { return Err(Error::InvalidValue) };
    if name.get(POOL) != Some(inode.to_ne_bytes().as_slice()) {
        return Err(Error::InvalidValue);
    }
    let offset = name.get(OFFSET).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_ne_bytes);
    share::open_of_pool(pool.device(), handle, process, name, offset)
}
