//! Memory pools and stream-ordered allocation.

use std::sync::Arc;

use capi::memory::{
    FILE_DESCRIPTOR, MANAGED, PINNED, alloc_in_order, create_pool, get_pool_attribute, set_pool_attribute,
};
use driver::device::Device;
use driver::memory::managed::{DEVICE, HOST, HOST_NUMA, HOST_NUMA_CURRENT, Location, NOWHERE};
use driver::memory::{pool, pool_share};
use driver::stream::capture::check_unsafe;
use driver::{Error, Result, driver};

use crate::abi::{In, Out};
use crate::api;
use crate::api::stream;
use crate::types::{AccessDesc, CUdeviceptr, Handle, IpcHandle, MemLocation, PoolProps};

/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`.
const READ_WRITE: u32 = 3;
/// `CU_MEM_ACCESS_FLAGS_PROT_READ`.
const READ_ONLY: u32 = 1;

/// `CU_MEM_HANDLE_TYPE_WIN32`.
const WIN32: u32 = 2;

/// A pool of this process. Nothing can be asked of or changed in one that belongs to another process.
fn own_pool(handle: Handle) -> Result<Arc<pool::Pool>> {
    let pool = pool::get(handle)?;
    if pool.is_imported() { Err(Error::InvalidValue) } else { Ok(pool) }
}

/// The device of a location. [`Error::InvalidValue`] if the location is not a device.
fn device_of(location: MemLocation) -> Result<&'static Arc<Device>> {
    if location.kind != DEVICE {
        return Err(Error::InvalidValue);
    }
    driver()?.device(location.id).map_err(|_| Error::InvalidValue)
}

/// The owner of the pool that a location and an allocation type denote.
enum Home {
    Device(&'static Arc<Device>),
    /// The host or one of its nodes, or managed memory.
    Of(Location, bool),
}

/// Pinned memory needs a place; managed memory may be nowhere in particular.
fn home(location: In<MemLocation>, kind: u32) -> Result<Home> {
    let location = location.get()?;
    match (kind, location.kind) {
        (_, HOST_NUMA_CURRENT..) => Err(Error::NotSupported),
        (PINNED | MANAGED, HOST_NUMA) if !pool::is_node(location.id) => Err(Error::InvalidValue),
        (PINNED, HOST) => Ok(Home::Of(Location { kind: HOST, id: 0 }, false)),
        (PINNED, HOST_NUMA) => Ok(Home::Of(location.into(), false)),
        (PINNED, _) => device_of(location).map(Home::Device),
        (MANAGED, NOWHERE) => Ok(Home::Of(Location::NONE, true)),
        (MANAGED, _) => place_of(location).map(|place| Home::Of(place, true)),
        _ => Err(Error::InvalidValue),
    }
}

/// The location in an access description.
fn place_of(location: MemLocation) -> Result<Location> {
    match location.kind {
        DEVICE => device_of(location).map(|device| Location { kind: DEVICE, id: device.ordinal as i32 }),
        kind @ (HOST | HOST_NUMA) => Ok(Location { kind, id: location.id }),
        _ => Err(Error::InvalidValue),
    }
}

/// An allocation in a stream that does not capture is not safe during a capture (recorded on an H200).
fn alloc(
    out: Out<CUdeviceptr>,
    size: usize,
    pool: Option<Handle>,
    in_stream: Handle,
    own: bool,
) -> Result<()> {
    let stream = stream(in_stream, own)?;
    if !stream.is_capturing() {
        check_unsafe()?;
    }
    alloc_in_order(out, size, pool, &stream)
}

api! {
    Object Appends fn cuMemAllocAsync / cuMemAllocAsync_ptsz (
        out: Out<CUdeviceptr>, size: usize, in_stream: Handle,
    ) |own| {
        alloc(out, size, None, in_stream, own)
    }

    Object Appends fn cuMemAllocFromPoolAsync / cuMemAllocFromPoolAsync_ptsz (
        out: Out<CUdeviceptr>, size: usize, pool: Handle, in_stream: Handle,
    ) |own| {
        alloc(out, size, Some(pool), in_stream, own)
    }

    Object Appends fn cuMemFreeAsync / cuMemFreeAsync_ptsz (address: CUdeviceptr, in_stream: Handle) |own| {
        pool::free(address, &stream(in_stream, own)?)
    }

    Init Unsafe fn cuMemPoolCreate(out: Out<Handle>, properties: In<PoolProps>) {
        create_pool(out, properties, true, |asked| Ok::<_, Error>(Location { kind: asked.kind, id: asked.id }))
    }

    Init Unsafe fn cuMemPoolDestroy(pool: Handle) {
        pool::destroy(pool, &driver()?.devices)
    }

    /// Freed memory is released at once, so there is nothing to trim.
    Init Unsafe fn cuMemPoolTrimTo(pool: Handle, _keep: usize) {
        own_pool(pool).map(|_| ())
    }

    Init Unsafe fn cuMemPoolGetAttribute(pool: Handle, attribute: u32, value: Out<u32>) {
        get_pool_attribute(&*own_pool(pool)?, attribute, value)
    }

    Init Unsafe fn cuMemPoolSetAttribute(pool: Handle, attribute: u32, value: In<u32>) {
        set_pool_attribute(&*own_pool(pool)?, attribute, value)
    }

    Init Legal fn cuMemPoolGetAccess(flags: Out<u32>, pool: Handle, location: In<MemLocation>) {
        let pool = pool::get(pool)?;
        flags.required()?;
        let open = pool.is_open_to(place_of(location.get()?)?);
        flags.set(if open { READ_WRITE } else { 0 });
        Ok(())
    }

    Init Legal fn cuMemPoolSetAccess(pool: Handle, descriptions: In<AccessDesc>, count: usize) {
        let pool = pool::get(pool)?;
        for description in descriptions.each(count) {
            let AccessDesc { location, flags } = description?;
            let place = place_of(location)?;
            match flags {
                READ_WRITE => pool.open_to(place, true)?,
                0 => pool.open_to(place, false)?,
                READ_ONLY => return Err(Error::NotSupported),
                _ => return Err(Error::InvalidValue),
            }
        }
        Ok(())
    }

    Init Legal fn cuMemPoolExportToShareableHandle(out: Out<i32>, pool: Handle, kind: u32, flags: u64) {
        out.required()?;
        if kind != FILE_DESCRIPTOR || flags != 0 {
            return Err(Error::InvalidValue);
        }
        out.set(pool_share::export(pool)?);
        Ok(())
    }

    /// The API passes the descriptor in a pointer argument.
    Init Legal fn cuMemPoolImportFromShareableHandle(
        out: Out<Handle>, descriptor: u64, kind: u32, flags: u64,
    ) {
        out.required()?;
        if kind == WIN32 {
            return Err(Error::NotSupported);
        }
        if kind != FILE_DESCRIPTOR || flags != 0 {
            return Err(Error::InvalidValue);
        }
        let descriptor = i32::try_from(descriptor).map_err(|_| Error::Unknown)?;
        out.set(pool_share::import(descriptor)?);
        Ok(())
    }

    Init Legal fn cuMemPoolExportPointer(out: Out<IpcHandle>, address: CUdeviceptr) {
        out.required()?;
        out.set(IpcHandle { name: pool_share::export_pointer(address)? });
        Ok(())
    }

    Init Legal fn cuMemPoolImportPointer(out: Out<CUdeviceptr>, pool: Handle, data: In<IpcHandle>) {
        out.required()?;
        out.set(pool_share::import_pointer(pool, &data.get()?.name)?);
        Ok(())
    }

    Init Legal fn cuMemGetDefaultMemPool(out: Out<Handle>, location: In<MemLocation>, kind: u32) {
        out.required()?;
        out.set(match home(location, kind)? {
            Home::Device(device) => pool::default_pool(device)?,
            Home::Of(place, managed) => pool::default_of(place, managed)?,
        });
        Ok(())
    }

    Init Legal fn cuMemGetMemPool(out: Out<Handle>, location: In<MemLocation>, kind: u32) {
        out.required()?;
        out.set(match home(location, kind)? {
            Home::Device(device) => pool::current(device)?,
            Home::Of(place, managed) => pool::current_of(place, managed)?,
        });
        Ok(())
    }

    Init Legal fn cuMemSetMemPool(location: In<MemLocation>, kind: u32, pool: Handle) {
        match home(location, kind)? {
            Home::Device(device) => pool::set_current(device, pool),
            Home::Of(place, managed) => pool::set_current_of(place, managed, pool),
        }
    }
}
