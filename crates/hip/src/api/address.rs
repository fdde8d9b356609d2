//! Virtual memory management.

use std::sync::Arc;

use capi::memory::PINNED;
use capi::types::{AccessDesc, AllocationProp, MemLocation};
use driver::device::Device;
use driver::memory::address::{self, GRANULARITY, Purpose};
use driver::memory::managed::{DEVICE, Location};
use driver::memory::{self};

use crate::abi::{In, Out};
use crate::current::{self, Handle};
use crate::types::AllocationPropIn5;
use crate::{Error, Result, api};

/// `hipMemHandleTypePosixFileDescriptor`.
const FILE_DESCRIPTOR: u32 = 1;
/// `hipMemAllocationGranularityRecommended`, the highest option.
const LAST_OPTION: u32 = 1;

/// The device of a location; an invalid value if the location is not a device.
fn device_of(location: MemLocation) -> Result<Arc<Device>> {
    if location.kind != DEVICE {
        return Err(Error::InvalidValue);
    }
    current::device_at(location.id).map_err(|_| Error::InvalidValue)
}

/// The same as the driver's location.
fn place_of(location: MemLocation) -> Result<Location> {
    Ok(Location { kind: DEVICE, id: device_of(location)?.ordinal as i32 })
}

fn granularity(out: Out<usize>, properties: In<impl Into<AllocationProp> + Copy>, option: u32) -> Result<()> {
    out.required()?;
    let properties: AllocationProp = properties.get()?.into();
    wrong(properties.kind != PINNED || option > LAST_OPTION)?;
    device_of(properties.location)?;
    out.set(GRANULARITY as usize);
    Ok(())
}

fn create(
    out: Out<Handle>,
    size: usize,
    properties: In<impl Into<AllocationProp> + Copy>,
    flags: u64,
) -> Result<()> {
    wrong(out.is_null() || size == 0 || flags != 0)?;
    let properties: AllocationProp = properties.get()?.into();
    wrong(properties.kind != PINNED)?;
    let device = device_of(properties.location)?;
    let shareable = match properties.handle_types {
        0 => false,
        FILE_DESCRIPTOR => true,
        _ => return Err(Error::NotSupported),
    };
    let purpose = Purpose { shareable, for_tiles: false };
    out.set(address::create(&device, Location::from(properties.location), size as u64, purpose)?);
    Ok(())
}

fn properties(out: Out<impl From<AllocationProp> + Copy>, handle: Handle) -> Result<()> {
    out.required()?;
    let memory = address::get(handle)?;
    let properties = AllocationProp {
        kind: PINNED,
        handle_types: if memory.shareable { FILE_DESCRIPTOR } else { 0 },
        location: memory.location.into(),
        meta_data: 0,
        flags: [0; 8],
    };
    out.set(properties.into());
    Ok(())
}

fn wrong(condition: bool) -> Result<()> {
    if condition { Err(Error::InvalidValue) } else { Ok(()) }
}

/// `hipMemRangeHandleTypeDmaBufFd`.
const DMA_BUF: u32 = 1;

api! {
    Device Legal fn hipMemGetAllocationGranularity(
        out: Out<usize>, properties: In<AllocationProp>, option: u32,
    ) {
        granularity(out, properties, option)
    }

    Device Legal fn hipMemGetAllocationGranularity_in_5(
        out: Out<usize>, properties: In<AllocationPropIn5>, option: u32,
    ) {
        granularity(out, properties, option)
    }

    /// An invalid size or alignment is reported as out of memory.
    Device Legal fn hipMemAddressReserve(
        out: Out<u64>, size: usize, alignment: usize, hint: u64, flags: u64,
    ) {
        wrong(out.is_null() || flags != 0)?;
        let (size, alignment) = (size as u64, alignment as u64);
        if size == 0 || !size.is_multiple_of(GRANULARITY) || alignment & alignment.wrapping_sub(1) != 0 {
            return Err(Error::OutOfMemory);
        }
        out.set(address::reserve(size, alignment, hint)?);
        Ok(())
    }

    Device Legal fn hipMemAddressFree(start: u64, size: usize) {
        wrong(start == 0 || size == 0)?;
        Ok(address::free(start, size as u64)?)
    }

    Device Unsafe fn hipMemCreate(out: Out<Handle>, size: usize, properties: In<AllocationProp>, flags: u64) {
        create(out, size, properties, flags)
    }

    Device Unsafe fn hipMemCreate_in_5(
        out: Out<Handle>, size: usize, properties: In<AllocationPropIn5>, flags: u64,
    ) {
        create(out, size, properties, flags)
    }

    Device Legal fn hipMemRelease(handle: Handle) {
        Ok(address::release(handle)?)
    }

    Device Unsafe fn hipMemMap(start: u64, size: usize, offset: usize, handle: Handle, flags: u64) {
        wrong(start == 0 || handle == 0 || size == 0 || offset != 0 || flags != 0)?;
        Ok(address::map(start, size as u64, 0, handle)?)
    }

    Device Unsafe fn hipMemUnmap(start: u64, size: usize) {
        wrong(start == 0 || size == 0)?;
        Ok(address::unmap_range(start, size as u64)?)
    }

    Device Unsafe fn hipMemSetAccess(start: u64, size: usize, descriptions: In<AccessDesc>, count: usize) {
        wrong(start == 0 || size == 0 || descriptions.is_null() || count == 0)?;
        let mut wanted = Vec::new();
        for description in descriptions.each(count) {
            let description = description?;
            wanted.push((place_of(description.location)?, description.flags));
        }
        Ok(address::set_access(start, size as u64, &wanted)?)
    }

    Device Legal fn hipMemGetAccess(flags: Out<u64>, location: In<MemLocation>, at: u64) {
        wrong(flags.is_null() || at == 0)?;
        flags.set(u64::from(address::access_at(at, place_of(location.get()?)?)?));
        Ok(())
    }

    Device Legal fn hipMemRetainAllocationHandle(out: Out<Handle>, at: u64) {
        wrong(out.is_null() || at == 0)?;
        out.set(address::retain(at)?);
        Ok(())
    }

    Device Legal fn hipMemGetAllocationPropertiesFromHandle(out: Out<AllocationProp>, handle: Handle) {
        properties(out, handle)
    }

    Device Legal fn hipMemGetAllocationPropertiesFromHandle_in_5(
        out: Out<AllocationPropIn5>, handle: Handle,
    ) {
        properties(out, handle)
    }

    Device Legal fn hipMemExportToShareableHandle(out: Out<i32>, handle: Handle, kind: u32, flags: u64) {
        wrong(out.is_null() || handle == 0 || flags != 0 || kind != FILE_DESCRIPTOR)?;
        out.set(address::export(handle)?);
        Ok(())
    }

    /// The API passes the descriptor in a pointer argument.
    Device Legal fn hipMemImportFromShareableHandle(out: Out<Handle>, descriptor: u64, kind: u32) {
        wrong(out.is_null() || descriptor == 0 || kind != FILE_DESCRIPTOR)?;
        let descriptor = i32::try_from(descriptor).map_err(|_| Error::InvalidValue)?;
        out.set(address::import(&*current::device()?, descriptor)?);
        Ok(())
    }

    /// There are no buffers for the kernel's DMA-BUF interface: valid calls are refused.
    Device Legal fn hipMemGetHandleForAddressRange(
        out: Out<u64>, address: u64, size: usize, kind: u32, flags: u64,
    ) {
        wrong(out.is_null() || address == 0 || size == 0 || kind != DMA_BUF || flags != 0)?;
        memory::check_device(address, size as u64)?;
        capi::named_once("hipMemGetHandleForAddressRange");
        Err(Error::NotSupported)
    }

    /// There are no sparse arrays.
    Device Invalidates fn hipMemMapArrayAsync(list: u64, count: u32, _stream: Handle) {
        wrong(list == 0 || count == 0)?;
        Err(Error::NotSupported)
    }
}
