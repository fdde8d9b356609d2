//! Managed memory.

use capi::memory::{get_range_attribute, location_of};
use driver::memory::managed::{self, HOST_NUMA, HOST_NUMA_CURRENT, Location, NOWHERE, advice, attach};
use driver::memory::{self};
use driver::{Error, Result, driver};

use crate::abi::{In, Out};
use crate::api;
use crate::api::{check_default, current, stream};
use crate::types::{CUdevice, CUdeviceptr, Handle, MemLocation};

fn advise(address: u64, size: usize, advice: u32, location: Location) -> Result<()> {
    managed::advise(address, size as u64, advice, location, driver()?.devices.len())
}

/// Whether this kind of advice takes a location; the other kinds ignore it.
fn takes_location(number: u32) -> bool {
    matches!(number, advice::SET_PREFERRED_LOCATION | advice::SET_ACCESSED_BY | advice::UNSET_ACCESSED_BY)
}

fn prefetch(address: u64, size: usize, to: Location, flags: u32, handle: Handle, own: bool) -> Result<()> {
    check_default(handle)?;
    if flags != 0 {
        return Err(Error::InvalidValue);
    }
    managed::prefetch(address, size as u64, to, driver()?.devices.len())?;
    stream(handle, own)?.check_not_capturing()
}

/// The maximum number of attributes in one call.
const MAX_ATTRIBUTES: usize = 64;

api! {
    Context Unsafe fn cuMemAllocManaged(out: Out<CUdeviceptr>, size: usize, flags: u32) {
        out.required()?;
        out.set(memory::alloc_managed(&*current()?, size as u64, flags)?);
        Ok(())
    }

    Context Unsafe fn cuMemAdvise(address: CUdeviceptr, size: usize, number: u32, device: CUdevice) {
        let location = location_of(device);
        if takes_location(number) {
            managed::range(address, size as u64)?;
            location.checked(driver()?.devices.len())?;
        }
        advise(address, size, number, location)
    }

    /// Advice of every kind takes a location of a known type; only devices and the host can access memory.
    Context Unsafe fn cuMemAdvise_v2(address: CUdeviceptr, size: usize, number: u32, location: MemLocation) {
        let node = matches!(location.kind, HOST_NUMA | HOST_NUMA_CURRENT);
        let accesses = matches!(number, advice::SET_ACCESSED_BY | advice::UNSET_ACCESSED_BY);
        if location.kind == NOWHERE || location.kind > HOST_NUMA_CURRENT || (node && accesses) {
            return Err(Error::InvalidValue);
        }
        advise(address, size, number, location.into())
    }

    Object Invalidates fn cuMemPrefetchAsync / cuMemPrefetchAsync_ptsz (
        address: CUdeviceptr, size: usize, device: CUdevice, in_stream: Handle,
    ) |own| {
        prefetch(address, size, location_of(device), 0, in_stream, own)
    }

    Object Invalidates fn cuMemPrefetchAsync_v2 / cuMemPrefetchAsync_v2_ptsz (
        address: CUdeviceptr, size: usize, location: MemLocation, flags: u32, in_stream: Handle,
    ) |own| {
        prefetch(address, size, location.into(), flags, in_stream, own)
    }

    Context Legal fn cuMemRangeGetAttribute(
        data: Out<i32>, size: usize, number: u32, address: CUdeviceptr, length: usize,
    ) {
        get_range_attribute(data, size, number, address, length)
    }

    Context Legal fn cuMemRangeGetAttributes(
        data: In<Out<i32>>, sizes: In<usize>, numbers: In<u32>, count: usize, address: CUdeviceptr,
        length: usize,
    ) {
        if count == 0 || count > MAX_ATTRIBUTES {
            return Err(Error::InvalidValue);
        }
        for i in 0..count {
            get_range_attribute(data.at(i)?, sizes.at(i)?, numbers.at(i)?, address, length)?;
        }
        Ok(())
    }

    /// All memory is always visible to all streams and the host; only the arguments are checked.
    Object Invalidates fn cuStreamAttachMemAsync / cuStreamAttachMemAsync_ptsz (
        handle: Handle, address: CUdeviceptr, length: usize, flags: u32,
    ) |own| {
        let stream = stream(handle, own)?;
        let allocation = managed::range(address, 1)?;
        let whole = length == 0 || (length as u64 == allocation.size && address == allocation.base);
        let single = flags == attach::SINGLE;
        let known = matches!(flags, attach::GLOBAL | attach::HOST | attach::SINGLE);
        if !whole || !known || (single && stream.handle == 0) {
            return Err(Error::InvalidValue);
        }
        stream.check_not_capturing()
    }
}
