//! Memory pools and stream-ordered allocation.

use std::sync::Arc;

use capi::memory::{
    FILE_DESCRIPTOR, PINNED, alloc_in_order, create_pool, get_pool_attribute, set_pool_attribute,
};
use capi::types::{AccessDesc, IpcHandle, MemLocation, PoolProps};
use driver::device::Device;
use driver::memory::managed::{DEVICE, Location};
use driver::memory::{pool, pool_share};
use driver::stream::Stream;

use crate::abi::{In, Out};
use crate::current::{self, Handle};
use crate::{Error, Result, api};

/// `hipMemAccessFlagsProtNone` and `hipMemAccessFlagsProtReadWrite`.
const NO_ACCESS: u32 = 0;
const READ_WRITE: u32 = 3;

/// The stream of a handle; an unknown one is an invalid handle here.
fn stream(handle: Handle) -> Result<Arc<Stream>> {
    current::stream(handle, false).map_err(|_| Error::InvalidHandle)
}

/// The device with an ordinal; an unknown one is an invalid value here.
fn device(ordinal: i32) -> Result<Arc<Device>> {
    current::device_at(ordinal).map_err(|_| Error::InvalidValue)
}

fn device_of(location: MemLocation) -> Result<Arc<Device>> {
    if location.kind == DEVICE { device(location.id) } else { Err(Error::InvalidValue) }
}

/// `hipMemAllocationTypeManaged`.
const MANAGED: u32 = 2;

/// Checks a kind of memory for which a device has a current pool; logs `name` if it is managed memory.
fn pinned(name: &'static str, kind: u32) -> Result<()> {
    match kind {
        PINNED => Ok(()),
        MANAGED => {
            capi::named_once(name);
            Err(Error::NotSupported)
        }
        _ => Err(Error::InvalidValue),
    }
}

api! {
    Context Appends fn hipMallocAsync(out: Out<u64>, size: usize, in_stream: Handle) {
        out.required()?;
        Ok(alloc_in_order(out, size, None, &stream(in_stream)?)?)
    }

    Context Appends fn hipMallocFromPoolAsync(out: Out<u64>, size: usize, pool: Handle, in_stream: Handle) {
        out.required()?;
        if pool == 0 {
            return Err(Error::InvalidValue);
        }
        Ok(alloc_in_order(out, size, Some(pool), &stream(in_stream)?)?)
    }

    Context Appends fn hipFreeAsync(address: u64, in_stream: Handle) {
        if address == 0 {
            return Err(Error::InvalidValue);
        }
        Ok(pool::free(address, &stream(in_stream)?)?)
    }

    Device Legal fn hipDeviceGetDefaultMemPool(out: Out<Handle>, ordinal: i32) {
        out.required()?;
        out.set(pool::default_pool(&*current::device_at(ordinal)?)?);
        Ok(())
    }

    Device Legal fn hipDeviceGetMemPool(out: Out<Handle>, ordinal: i32) {
        out.required()?;
        out.set(pool::current(&*device(ordinal)?)?);
        Ok(())
    }

    Device Legal fn hipDeviceSetMemPool(ordinal: i32, handle: Handle) {
        let device = device(ordinal)?;
        if pool::get(handle)?.device() != Some(device.ordinal) {
            return Err(Error::InvalidDevice);
        }
        Ok(pool::set_current(&device, handle)?)
    }

    /// Pools of managed memory are refused.
    Device Unsafe fn hipMemSetMemPool(location: In<MemLocation>, kind: u32, handle: Handle) {
        if location.is_null() || handle == 0 {
            return Err(Error::InvalidValue);
        }
        let device = device_of(location.get()?)?;
        pinned("hipMemSetMemPool of managed memory", kind)?;
        if pool::get(handle)?.device() != Some(device.ordinal) {
            return Err(Error::InvalidValue);
        }
        Ok(pool::set_current(&device, handle)?)
    }

    Device Legal fn hipMemGetMemPool(out: Out<Handle>, location: In<MemLocation>, kind: u32) {
        out.required()?;
        let device = device_of(location.get()?)?;
        pinned("hipMemGetMemPool of managed memory", kind)?;
        out.set(pool::current(&device)?);
        Ok(())
    }

    Device Legal fn hipMemPoolCreate(out: Out<Handle>, properties: In<PoolProps>) {
        create_pool(out, properties, false, |asked| {
            device_of(asked).map(|device| Location { kind: DEVICE, id: device.ordinal as i32 })
        })
    }

    Device Legal fn hipMemPoolDestroy(handle: Handle) {
        Ok(pool::destroy(handle, &current::driver()?.devices)?)
    }

    /// Freed memory is released at once, so there is nothing to trim.
    Device Legal fn hipMemPoolTrimTo(handle: Handle, _keep: usize) {
        pool::get(handle)?;
        Ok(())
    }

    Device Legal fn hipMemPoolGetAttribute(handle: Handle, attribute: u32, value: Out<u32>) {
        Ok(get_pool_attribute(&*pool::get(handle)?, attribute, value)?)
    }

    Device Legal fn hipMemPoolSetAttribute(handle: Handle, attribute: u32, value: In<u32>) {
        Ok(set_pool_attribute(&*pool::get(handle)?, attribute, value)?)
    }

    /// Every device can always access every pool.
    Device Legal fn hipMemPoolGetAccess(flags: Out<u32>, handle: Handle, location: In<MemLocation>) {
        pool::get(handle)?;
        flags.required()?;
        device_of(location.get()?)?;
        flags.set(READ_WRITE);
        Ok(())
    }

    /// Access cannot be revoked.
    Device Legal fn hipMemPoolSetAccess(handle: Handle, descriptions: In<AccessDesc>, count: usize) {
        pool::get(handle)?;
        if descriptions.is_null() {
            return Err(Error::InvalidValue);
        }
        if count > current::driver()?.devices.len() {
            return Err(Error::InvalidDevice);
        }
        for i in 0..count {
            let AccessDesc { location, flags } = descriptions.at(i)?;
            if location.kind != DEVICE {
                return Err(Error::InvalidValue);
            }
            current::device_at(location.id)?;
            match flags {
                NO_ACCESS => return Err(Error::InvalidDevice),
                1..=READ_WRITE => {}
                _ => return Err(Error::InvalidValue),
            }
        }
        Ok(())
    }

    /// Only pools that were created for this kind of handle have one.
    Device Legal fn hipMemPoolExportToShareableHandle(
        out: Out<i32>, handle: Handle, kind: u32, flags: u32,
    ) {
        if out.is_null() || handle == 0 || flags != 0 || kind != FILE_DESCRIPTOR {
            return Err(Error::InvalidValue);
        }
        out.set(pool_share::export(handle)?);
        Ok(())
    }

    /// The API passes the descriptor in a pointer argument.
    Device Legal fn hipMemPoolImportFromShareableHandle(
        out: Out<Handle>, shared: u64, kind: u32, flags: u32,
    ) {
        if out.is_null() || shared == 0 || flags != 0 || kind == 0 {
            return Err(Error::InvalidValue);
        }
        if kind != FILE_DESCRIPTOR {
            return Err(Error::NotSupported);
        }
        // AMD's runtime reads the descriptor from the low half.
        out.set(pool_share::import(shared as u32 as i32).map_err(|_| Error::OutOfMemory)?);
        Ok(())
    }

    Device Legal fn hipMemPoolExportPointer(out: Out<IpcHandle>, address: u64) {
        if out.is_null() || address == 0 {
            return Err(Error::InvalidValue);
        }
        let name = pool_share::export_inner_pointer(address).map_err(|_| Error::OutOfMemory)?;
        out.set(IpcHandle { name });
        Ok(())
    }

    Device Legal fn hipMemPoolImportPointer(out: Out<u64>, handle: Handle, data: In<IpcHandle>) {
        if out.is_null() || handle == 0 || data.is_null() {
            return Err(Error::InvalidValue);
        }
        pool::get(handle)?;
        out.set(pool_share::import_pointer(handle, &data.get()?.name).map_err(|_| Error::OutOfMemory)?);
        Ok(())
    }
}
