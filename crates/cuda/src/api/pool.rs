//! Memory pools and allocation in the order of a stream.

use std::sync::Arc;

use capi::memory::{PINNED, alloc_in_order, create_pool, get_pool_attribute, set_pool_attribute};
use driver::device::Device;
use driver::memory::managed::DEVICE;
use driver::memory::pool;
use driver::{Error, Result, driver};

use crate::abi::{In, Out};
use crate::api;
use crate::api::stream;
use crate::types::{AccessDesc, CUdeviceptr, Handle, MemLocation, PoolProps};

/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`.
const READ_WRITE: u32 = 3;

/// The device of a location; of another kind or none: [`Error::InvalidValue`].
fn device_of(location: MemLocation) -> Result<&'static Arc<Device>> {
    if location.kind != DEVICE {
        return Err(Error::InvalidValue);
    }
    driver()?.device(location.id).map_err(|_| Error::InvalidValue)
}

/// The device that a location and a type of allocation stand for.
fn home(location: In<MemLocation>, kind: u32) -> Result<&'static Arc<Device>> {
    let location = location.get()?;
    if kind != PINNED {
        return Err(Error::InvalidValue);
    }
    device_of(location)
}

api! {
    Context fn cuMemAllocAsync / cuMemAllocAsync_ptsz (out: Out<CUdeviceptr>, size: usize, in_stream: Handle) |own| {
        alloc_in_order(out, size, None, &stream(in_stream, own)?)
    }

    Context fn cuMemAllocFromPoolAsync / cuMemAllocFromPoolAsync_ptsz (
        out: Out<CUdeviceptr>, size: usize, pool: Handle, in_stream: Handle,
    ) |own| {
        alloc_in_order(out, size, Some(pool), &stream(in_stream, own)?)
    }

    Context fn cuMemFreeAsync / cuMemFreeAsync_ptsz (address: CUdeviceptr, in_stream: Handle) |own| {
        pool::free(address, &stream(in_stream, own)?)
    }

    Init fn cuMemPoolCreate(out: Out<Handle>, properties: In<PoolProps>) {
        create_pool(out, properties, |location| device_of(location).cloned())
    }

    Init fn cuMemPoolDestroy(pool: Handle) {
        pool::destroy(pool, &driver()?.devices)
    }

    /// Freed memory is given back at once: there is never any to trim.
    Init fn cuMemPoolTrimTo(pool: Handle, _keep: usize) {
        pool::get(pool).map(|_| ())
    }

    Init fn cuMemPoolGetAttribute(pool: Handle, attribute: u32, value: Out<u32>) {
        get_pool_attribute(&*pool::get(pool)?, attribute, value)
    }

    Init fn cuMemPoolSetAttribute(pool: Handle, attribute: u32, value: In<u32>) {
        set_pool_attribute(&*pool::get(pool)?, attribute, value)
    }

    /// Every device can always reach every pool.
    Init fn cuMemPoolGetAccess(flags: Out<u32>, pool: Handle, location: In<MemLocation>) {
        pool::get(pool)?;
        flags.required()?;
        device_of(location.get()?)?;
        flags.set(READ_WRITE);
        Ok(())
    }

    Init fn cuMemPoolSetAccess(pool: Handle, descriptions: In<AccessDesc>, count: usize) {
        let pool = pool::get(pool)?;
        for i in 0..count {
            let AccessDesc { location, flags } = descriptions.at(i)?;
            let device = device_of(location)?;
            match flags {
                READ_WRITE => {}
                // The pool's own device cannot be kept out.
                0 if device.ordinal == pool.device => return Err(Error::InvalidDevice),
                0 => {}
                _ => return Err(Error::InvalidValue),
            }
        }
        Ok(())
    }

    Init fn cuMemGetDefaultMemPool(out: Out<Handle>, location: In<MemLocation>, kind: u32) {
        out.required()?.set(pool::default_pool(home(location, kind)?)?);
        Ok(())
    }

    Init fn cuMemGetMemPool(out: Out<Handle>, location: In<MemLocation>, kind: u32) {
        out.required()?.set(pool::current(home(location, kind)?)?);
        Ok(())
    }

    Init fn cuMemSetMemPool(location: In<MemLocation>, kind: u32, pool: Handle) {
        pool::set_current(home(location, kind)?, pool)
    }
}
