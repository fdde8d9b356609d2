//! Pools that several processes use: a descriptor stands for the pool, and 64 bytes for a pointer into it.

use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::FileExt;

use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::shared::{self, Name, Of};

use super::managed::{DEVICE, Location};
use super::{Kind, find, pool, share};

/// What another process knows of a pool, or this one of another's.
pub(super) enum Shared {
    /// The file that stands for a pool of this process.
    Ours(File),
    /// The process whose pool it is.
    Of(u32),
}

impl Shared {
    /// A file for a new pool, which says whose it is.
    pub(super) fn new() -> Result<Shared> {
        let file = shared::memory_file(size_of::<Name>() as u64)?;
        let name = shared::name(Of::Pool, &file, [0; 3])?;
        file.write_all_at(&name, 0).map_err(|_| Error::OperatingSystem)?;
        Ok(Shared::Ours(file))
    }
}

/// A file descriptor that stands for a pool in other processes; the caller closes it.
///
/// # Errors
/// [`Error::InvalidValue`]: the pool was not made for other processes, or is another process's.
pub fn export(handle: Handle) -> Result<RawFd> {
    match &pool::get(handle)?.shared {
        Some(Shared::Ours(file)) => {
            shared::duplicate(file.as_raw_fd()).map(std::os::fd::IntoRawFd::into_raw_fd)
        }
        _ => Err(Error::InvalidValue),
    }
}

/// The pool that a descriptor made by [`export`] stands for, on a device of this process.
///
/// # Errors
/// [`Error::InvalidValue`]: the descriptor stands for none.
pub fn import(device: &Device, descriptor: RawFd) -> Result<Handle> {
    let file = shared::duplicate(descriptor).map_err(|_| Error::InvalidValue)?;
    let mut name: Name = [0; 64];
    file.read_exact_at(&mut name, 0).map_err(|_| Error::InvalidValue)?;
    let named = shared::read(Of::Pool, &name).ok_or(Error::InvalidValue)?;
    let location = Location { kind: DEVICE, id: device.ordinal as i32 };
    pool::imported(location, Shared::Of(named.process))
}

/// What another process opens memory of a pool by.
///
/// # Errors
/// [`Error::InvalidValue`]: the address is not one of such a pool.
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
/// [`Error::InvalidValue`]: the pool is not imported, or the memory is another process's than it.
pub fn import_pointer(context: &Context, handle: Handle, name: &Name) -> Result<u64> {
    let Some(Shared::Of(process)) = pool::get(handle)?.shared else { return Err(Error::InvalidValue) };
    share::open_of_pool(context, handle, process, name)
}
