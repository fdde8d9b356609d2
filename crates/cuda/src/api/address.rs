//! Virtual memory management.

use std::sync::Arc;

use capi::memory::{FILE_DESCRIPTOR, PINNED};
use driver::device::Device;
use driver::memory::address::{self, Purpose};
use driver::memory::managed::{DEVICE, HOST, HOST_NUMA, Location};
use driver::{Error, Result, driver};

use crate::abi::{In, Out};
use crate::api;
use crate::types::{AccessDesc, AllocationProp, CUdeviceptr, Handle, MemLocation};

/// The device and the location in a description. Host memory counts as the first device's.
fn place(location: MemLocation) -> Result<(&'static Arc<Device>, Location)> {
    let driver = driver()?;
    let place = Location::from(location).checked(driver.devices.len())?;
    let device = driver.device(if place.kind == DEVICE { place.id } else { 0 })?;
    Ok((device, place))
}

/// `CU_MEM_HANDLE_TYPE_WIN32`, `CU_MEM_HANDLE_TYPE_WIN32_KMT`, `CU_MEM_HANDLE_TYPE_FABRIC`.
const WIN32: u32 = 2;
const WIN32_KMT: u32 = 4;
const FABRIC: u32 = 8;
/// `CU_MEM_ALLOCATION_COMP_GENERIC`.
const COMPRESSED: u8 = 1;
/// `CU_MEM_CREATE_USAGE_TILE_POOL`, `CU_MEM_CREATE_USAGE_HW_DECOMPRESS`.
const FOR_TILES: u16 = 1;
const FOR_DECOMPRESSION: u16 = 2;

/// What memory of these properties is for.
///
/// # Errors
/// [`Error::InvalidValue`]: no memory has them all. [`Error::NotPermitted`]: there is no fabric to share it
/// on.
fn check_kinds(properties: &AllocationProp) -> Result<Purpose> {
    let AllocationProp { handle_types: types, location, flags, .. } = *properties;
    let [compression, for_others, low, high, ..] = flags;
    let usage = u16::from_le_bytes([low, high]);
    let wrong = match compression {
        0 => usage & FOR_TILES != 0 && for_others != 0,
        COMPRESSED => usage & (FOR_TILES | FOR_DECOMPRESSION) != 0,
        _ => true,
    };
    let known = matches!(location.kind, DEVICE | HOST_NUMA) || (location.kind == HOST && types == 0);
    if wrong || !known || types & (WIN32 | WIN32_KMT) != 0 {
        return Err(Error::InvalidValue);
    }
    if types & FABRIC != 0 {
        return Err(Error::NotPermitted);
    }
    Ok(Purpose { shareable: types & FILE_DESCRIPTOR != 0, for_tiles: usage & FOR_TILES != 0 })
}

api! {
    Live Legal fn cuMemGetAllocationGranularity(
        out: Out<usize>, properties: In<AllocationProp>, option: u32,
    ) {
        out.required()?;
        properties.get()?;
        if option > 1 {
            return Err(Error::InvalidValue);
        }
        out.set(address::GRANULARITY as usize);
        Ok(())
    }

    Live Legal fn cuMemAddressReserve(
        out: Out<CUdeviceptr>, size: usize, alignment: usize, hint: CUdeviceptr, flags: u64,
    ) {
        out.required()?;
        if flags != 0 {
            return Err(Error::InvalidValue);
        }
        out.set(address::reserve(size as u64, alignment as u64, hint)?);
        Ok(())
    }

    Live Legal fn cuMemAddressFree(start: CUdeviceptr, size: usize) {
        address::free(start, size as u64)
    }

    Live Legal fn cuMemCreate(out: Out<Handle>, size: usize, properties: In<AllocationProp>, flags: u64) {
        out.required()?;
        let properties = properties.get()?;
        if flags != 0 || properties.kind != PINNED {
            return Err(Error::InvalidValue);
        }
        let purpose = check_kinds(&properties)?;
        let (device, location) = place(properties.location)?;
        out.set(address::create(device, location, size as u64, purpose)?);
        Ok(())
    }

    Live Legal fn cuMemRelease(handle: Handle) {
        address::release(handle)
    }

    Live Unsafe fn cuMemMap(start: CUdeviceptr, size: usize, offset: usize, handle: Handle, flags: u64) {
        if flags != 0 {
            return Err(Error::InvalidValue);
        }
        address::map(start, size as u64, offset as u64, handle)
    }

    Live Unsafe fn cuMemUnmap(start: CUdeviceptr, size: usize) {
        address::unmap_range(start, size as u64)
    }

    Live Unsafe fn cuMemSetAccess(
        start: CUdeviceptr, size: usize, descriptions: In<AccessDesc>, count: usize,
    ) {
        let mut wanted = Vec::new();
        for description in descriptions.each(count.max(1)) {
            let description = description?;
            wanted.push((place(description.location)?.1, description.flags));
        }
        address::set_access(start, size as u64, &wanted)
    }

    Live Legal fn cuMemGetAccess(flags: Out<u64>, location: In<MemLocation>, at: CUdeviceptr) {
        flags.required()?;
        let (_, location) = place(location.get()?)?;
        flags.set(u64::from(address::access_at(at, location)?));
        Ok(())
    }

    Live Legal fn cuMemRetainAllocationHandle(out: Out<Handle>, at: u64) {
        out.required()?;
        out.set(address::retain(at)?);
        Ok(())
    }

    Live Legal fn cuMemGetAllocationPropertiesFromHandle(out: Out<AllocationProp>, handle: Handle) {
        let memory = address::get(handle)?;
        out.required()?.set(AllocationProp {
            kind: PINNED,
            handle_types: if memory.shareable { FILE_DESCRIPTOR } else { 0 },
            // Memory of the host is its first node's.
            location: match memory.location.kind {
                HOST => Location { kind: HOST_NUMA, id: 0 }.into(),
                _ => memory.location.into(),
            },
            meta_data: 0,
            flags: [0; 8],
        });
        Ok(())
    }

    Live Legal fn cuMemExportToShareableHandle(out: Out<i32>, handle: Handle, kind: u32, flags: u64) {
        out.required()?;
        if kind != FILE_DESCRIPTOR || flags != 0 {
            return Err(Error::InvalidValue);
        }
        out.set(address::export(handle)?);
        Ok(())
    }

    /// The API passes the descriptor in a pointer argument.
    Live Legal fn cuMemImportFromShareableHandle(out: Out<Handle>, descriptor: u64, kind: u32) {
        out.required()?;
        match kind {
            FILE_DESCRIPTOR => {}
            WIN32 | WIN32_KMT | FABRIC => return Err(Error::NotSupported),
            _ => return Err(Error::InvalidValue),
        }
        let descriptor = i32::try_from(descriptor).map_err(|_| Error::Unknown)?;
        out.set(address::import(driver()?.device(0)?, descriptor)?);
        Ok(())
    }
}
