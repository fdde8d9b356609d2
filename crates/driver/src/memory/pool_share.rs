//! Pools shared between processes: a descriptor stands for the pool, 64 bytes for a pointer into it.

use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::FileExt;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::shared::{self, Name, Of};

use super::managed::{DEVICE, Location};
use super::{Kind, find, pool, share};

/// What this process shares of a pool with others, or what it knows of another process's pool.
#[derive(Debug)]
pub(super) enum Shared {
    /// The file that stands for this process's pool.
    Ours(File),
    /// The id of the process that owns the pool.
    Of(u32),
}

impl Shared {
    /// A file for a new pool that names its process.
    pub(super) fn new() -> Result<Shared> {
        let file = shared::memory_file(size_of::<Name>() as u64)?;
        let name = shared::name(Of::Pool, &file, [0; 3])?;
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

/// Imports the pool behind a descriptor made by [`export`], for a device of this process.
///
/// # Errors
/// [`Error::InvalidValue`]: the descriptor stands for no pool.
pub fn import(device: &Device, descriptor: RawFd) -> Result<Handle> {
    let file = shared::duplicate(descriptor).map_err(|_| Error::InvalidValue)?;
    let mut name: Name = [0; 64];
    file.read_exact_at(&mut name, 0).map_err(|_| Error::InvalidValue)?;
    let named = shared::read(Of::Pool, &name).ok_or(Error::InvalidValue)?;
    let location = Location { kind: DEVICE, id: device.ordinal as i32 };
    pool::imported(location, Shared::Of(named.process))
}

/// The name by which another process opens memory of a pool.
///
/// # Errors
/// [`Error::InvalidValue`]: the address is not in a pool that can be exported.
pub fn export_pointer(address: u64) -> Result<Name> {
    let allocation = find(address).filter(|a| a.kind == Kind::Pool).ok_or(Error::InvalidValue)?;
    match pool::get(allocation.pool)?.shared {
        Some(Shared::Ours(_)) => share::name_of(&allocation),
        _ => Err(Error::InvalidValue),
    }
}

/// Opens memory of an imported pool.
///
/// # Errors
/// [`Error::InvalidValue`]: the pool is not imported, or the memory belongs to a different process.
pub fn import_pointer(handle: Handle, name: &Name) -> Result<u64> {
    let pool = pool::get(handle)?;
    let Some(Shared::Of(process)) = pool.shared else { return Err(Error::InvalidValue) };
    share::open_of_pool(pool.location.id as u32, handle, process, name)
}
