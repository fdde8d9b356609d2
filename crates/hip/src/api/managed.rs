//! Managed memory.

use capi::memory::{get_range_attribute, location_of};
use capi::types::MemLocation;
use driver::memory::managed::{self, Location, attach, attribute as range_attribute};
use driver::memory::{self, Kind};

use crate::abi::{In, Out};
use crate::current::{self, Handle, stream};
use crate::{Error, Result, api};

/// `hipMemoryAdvise`: HIP's own advice to set coarse grain, and the highest advice that CUDA shares.
const SET_COARSE_GRAIN: u32 = 100;
const UNSET_COARSE_GRAIN: u32 = 101;
const LAST_ADVICE: u32 = 6;
/// Read-mostly advice, which takes no device.
const READ_MOSTLY: [u32; 2] = [1, 2];

/// `hipMemRangeAttributeCoherencyMode`, and its values for fine and coarse grain.
const COHERENCY: u32 = 100;
/// The maximum number of attributes in one call.
const MAX_ATTRIBUTES: usize = 64;

/// What the driver knows of a range: managed, unknown, or another kind of memory.
enum Range {
    Managed,
    Unknown,
    Other,
}

fn range(address: u64, size: usize) -> Result<Range> {
    if address == 0 || size == 0 {
        return Err(Error::InvalidValue);
    }
    Ok(match memory::find_range(address, 0, size as u64)? {
        None => Range::Unknown,
        Some(a) if a.kind == Kind::Managed || a.managed => Range::Managed,
        Some(_) => Range::Other,
    })
}

fn devices() -> Result<usize> {
    Ok(current::driver()?.devices.len())
}

/// Nothing moves; for managed memory the location is recorded.
fn prefetch(address: u64, size: usize, to: Location, in_stream: Handle) -> Result<()> {
    if address == 0 || size == 0 {
        return Err(Error::InvalidValue);
    }
    stream(in_stream, false)?.check_not_capturing()?;
    let range = range(address, size)?;
    let to = to.checked(devices()?)?;
    if let Range::Managed = range {
        managed::prefetch(address, size as u64, to, devices()?)?;
    }
    Ok(())
}

fn advise(address: u64, size: usize, advice: u32, location: Location) -> Result<()> {
    if !READ_MOSTLY.contains(&advice) {
        location.checked(devices()?)?;
    }
    let range = range(address, size)?;
    let coarse = matches!(advice, SET_COARSE_GRAIN | UNSET_COARSE_GRAIN);
    match range {
        _ if !coarse && !(1..=LAST_ADVICE).contains(&advice) => Err(Error::InvalidValue),
        Range::Other => Err(Error::InvalidValue),
        // For host memory of the program the advice is accepted and has no effect.
        Range::Unknown => Ok(()),
        Range::Managed if coarse => {
            Ok(managed::set_coarse_grain(address, size as u64, advice == SET_COARSE_GRAIN)?)
        }
        Range::Managed => Ok(managed::advise(address, size as u64, advice, location, devices()?)?),
    }
}

fn attribute(data: Out<i32>, size: usize, number: u32, address: u64, length: usize) -> Result<()> {
    data.required()?;
    if address == 0 {
        return Err(Error::InvalidValue);
    }
    if number == COHERENCY && size == 4 {
        data.set(i32::from(managed::advice_of(address, length as u64)?.coarse_grain));
        return Ok(());
    }
    // HIP does not have the CUDA driver's higher numbers.
    if number > range_attribute::LAST_PREFETCH_LOCATION {
        return Err(Error::InvalidValue);
    }
    Ok(get_range_attribute(data, size, number, address, length)?)
}

api! {
    Context Unsafe fn hipMallocManaged(out: Out<u64>, size: usize, flags: u32) {
        out.required()?;
        out.set(memory::alloc_managed(&*current::context()?, size as u64, flags)?);
        Ok(())
    }

    Context Invalidates fn hipMemPrefetchAsync(address: u64, size: usize, device: i32, in_stream: Handle) {
        prefetch(address, size, location_of(device), in_stream)
    }

    Context Invalidates fn hipMemPrefetchAsync_v2(
        address: u64, size: usize, location: MemLocation, flags: u32, in_stream: Handle,
    ) {
        if flags != 0 {
            return Err(Error::InvalidValue);
        }
        prefetch(address, size, location.into(), in_stream)
    }

    Context Legal fn hipMemAdvise(address: u64, size: usize, advice: u32, device: i32) {
        advise(address, size, advice, location_of(device))
    }

    Context Legal fn hipMemAdvise_v2(address: u64, size: usize, advice: u32, location: MemLocation) {
        if Location::from(location).checked(devices()?) == Err(driver::Error::InvalidValue) {
            return Err(Error::InvalidValue);
        }
        advise(address, size, advice, location.into())
    }

    Context Legal fn hipMemRangeGetAttribute(
        data: Out<i32>, size: usize, number: u32, address: u64, length: usize,
    ) {
        attribute(data, size, number, address, length)
    }

    Context Legal fn hipMemRangeGetAttributes(
        data: In<Out<i32>>, sizes: In<usize>, numbers: In<u32>, count: usize, address: u64, length: usize,
    ) {
        if count == 0 || count > MAX_ATTRIBUTES {
            return Err(Error::InvalidValue);
        }
        for i in 0..count {
            attribute(data.at(i)?, sizes.at(i)?, numbers.at(i)?, address, length)?;
        }
        Ok(())
    }

    /// All memory is always visible to all streams and the host; only the arguments are checked.
    Context Invalidates fn hipStreamAttachMemAsync(handle: Handle, address: u64, length: usize, flags: u32) {
        if address == 0 {
            return Err(Error::InvalidValue);
        }
        stream(handle, false)?.check_not_capturing()?;
        let known = matches!(flags, attach::GLOBAL | attach::HOST | attach::SINGLE);
        if !known || (flags == attach::SINGLE && handle == 0) {
            return Err(Error::InvalidValue);
        }
        match memory::find(address) {
            None if length == 0 => Err(Error::InvalidValue),
            Some(a) if a.host_accessible() && length != 0 && length as u64 != a.size => Err(Error::InvalidValue),
            _ => Ok(()),
        }
    }
}
