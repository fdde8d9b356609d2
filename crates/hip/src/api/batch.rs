//! Batches of copies, and of prefetches and discards of managed memory.

use std::sync::Arc;

use capi::copy::starts;
use capi::types::{CopyAttributes, MemLocation};
use driver::memory::managed::{self, Location};
use driver::memory::transfer::{Place, Transfer};
use driver::memory::{self};
use driver::stream::{Operation, Policy, Stream};

use crate::abi::{In, Out};
use crate::current::{self, Handle, stream};
use crate::types::{BatchCopy, CopyOperand, Extent, Memcpy3DParameters, PitchedPointer};
use crate::{Error, Result, api};

use super::copy::{DEFAULT, Order};
use super::rect::{element_of, volume};

/// The maximum number of entries in a batch.
const MAX_BATCH: usize = 1 << 24;

/// `hipMemcpySrcAccessOrder`: in stream order, during the call, at any time.
const SOURCE_ORDERS: std::ops::RangeInclusive<u32> = 1..=3;

/// `hipMemcpyFlagExtOpSwap`, `…IndirectSrc` and `…IndirectDst` of headers after HIP 7.2, which change what is
/// copied. The other flags are hints.
const OTHER_COPIES: u32 = 0xe00;

/// Checks the attributes of a batch of copies.
fn check_attributes(list: In<CopyAttributes>, first: In<usize>, number: usize, count: usize) -> Result<()> {
    if number == 0 {
        return Ok(());
    }
    if list.is_null() || first.is_null() || number > count {
        return Err(Error::InvalidValue);
    }
    starts(first.each(number), count)?;
    for i in 0..number {
        let CopyAttributes { source_order, flags, .. } = list.at(i)?;
        if !SOURCE_ORDERS.contains(&source_order) {
            return Err(Error::InvalidValue);
        }
        if flags & OTHER_COPIES != 0 {
            capi::named_once("hipMemcpyBatchAsync that swaps or goes through addresses in memory");
            return Err(Error::NotSupported);
        }
    }
    Ok(())
}

/// A batch stream; an unknown one is an invalid handle.
fn named(handle: Handle) -> Result<Arc<Stream>> {
    stream(handle, false).map_err(|_| Error::InvalidHandle)
}

/// `hipMemcpy3DOperandType`.
const POINTER: u32 = 1;
const ARRAY: u32 = 2;

/// An operand as `hipMemcpy3D` has it: array, position in it, pitched pointer. Lengths without a value are
/// those of the copy; they count elements.
fn operand(o: &CopyOperand, extent: Extent, element: u64) -> Result<(Handle, Extent, PitchedPointer)> {
    let none = PitchedPointer { pointer: 0, pitch: 0, width: 0, height: 0 };
    match o.kind {
        POINTER => {
            let [row, layer] = o.sizes;
            let row = if row == 0 { extent.width } else { row };
            let height = if layer == 0 { extent.height } else { layer };
            let pitch = usize::try_from(element).ok().and_then(|size| row.checked_mul(size));
            let pitch = pitch.ok_or(Error::InvalidValue)?;
            let pointer = PitchedPointer { pointer: o.place, pitch, width: pitch, height };
            Ok((0, Extent { width: 0, height: 0, depth: 0 }, pointer))
        }
        ARRAY => {
            let [x, y] = o.sizes;
            Ok((o.place, Extent { width: x, height: y, depth: o.rest }, none))
        }
        _ => Err(Error::InvalidValue),
    }
}

/// Runs one copy of a batch.
fn copy(one: &BatchCopy, order: Order) -> Result<()> {
    if one.flags & OTHER_COPIES != 0 {
        capi::named_once("hipMemcpy3DBatchAsync that swaps or goes through addresses in memory");
        return Err(Error::NotSupported);
    }
    let element = match [&one.src, &one.dst].into_iter().find(|o| o.kind == ARRAY) {
        Some(array) => element_of(array.place)?,
        None => 1,
    };
    let (src_array, src_position, src_pointer) = operand(&one.src, one.extent, element)?;
    let (dst_array, dst_position, dst_pointer) = operand(&one.dst, one.extent, element)?;
    let parameters = Memcpy3DParameters {
        src_array,
        src_position,
        src_pointer,
        dst_array,
        dst_position,
        dst_pointer,
        extent: one.extent,
        kind: DEFAULT,
    };
    volume(&parameters, order)
}

/// The ranges of a batch of prefetches or discards.
fn ranges(addresses: In<u64>, sizes: In<usize>, count: usize, flags: u64) -> Result<Vec<(u64, usize)>> {
    if count == 0 || count > MAX_BATCH || flags != 0 {
        return Err(Error::InvalidValue);
    }
    let checked = |(address, size): (driver::Result<u64>, driver::Result<usize>)| {
        let (address, size) = (address?, size?);
        if address == 0 || size == 0 {
            return Err(Error::InvalidValue);
        }
        memory::check_device(address, size as u64)?;
        Ok((address, size))
    };
    addresses.each(count).zip(sizes.each(count)).map(checked).collect()
}

/// Checks the stream of such a batch, which cannot be the null stream.
fn check_stream(handle: Handle) -> Result<()> {
    match handle {
        0 => Err(Error::InvalidValue),
        _ => stream(handle, false).map(|_| ()).map_err(|_| Error::InvalidValue),
    }
}

/// The locations of prefetches, and the ranges from which on they apply.
#[derive(Clone, Copy, Debug)]
struct Targets {
    locations: In<MemLocation>,
    first: In<usize>,
    number: usize,
}

/// Checks the locations of a batch of prefetches; returns one for each range.
fn targets(all: Targets, count: usize) -> Result<Vec<Location>> {
    if all.number == 0 || all.number > count {
        return Err(Error::InvalidValue);
    }
    let starts = starts(all.first.each(all.number), count)?;
    let devices = current::driver()?.devices.len();
    let checked = |location: driver::Result<MemLocation>| {
        Location::from(location?).checked(devices).map_err(|_| Error::InvalidValue)
    };
    let locations = all.locations.each(all.number).map(checked).collect::<Result<Vec<_>>>()?;
    let at = |i: usize| starts.iter().zip(&locations).rfind(|(start, _)| **start <= i).map(|(_, to)| *to);
    (0..count).map(|i| at(i).ok_or(Error::InvalidValue)).collect()
}

/// Nothing moves; for managed memory the locations are recorded.
fn prefetch(ranges: &[(u64, usize)], to: &[Location]) -> Result<()> {
    let devices = current::driver()?.devices.len();
    for ((address, size), to) in ranges.iter().zip(to) {
        if managed::range(*address, *size as u64).is_ok() {
            managed::prefetch(*address, *size as u64, *to, devices)?;
        }
    }
    Ok(())
}

/// Checks ranges to discard, which have to be managed memory. Discarded memory may have any contents, so it
/// keeps those it has.
fn check_managed(ranges: &[(u64, usize)]) -> Result<()> {
    ranges.iter().try_for_each(|(address, size)| Ok(managed::range(*address, *size as u64).map(|_| ())?))
}

api! {
    Context Appends fn hipMemcpyBatchAsync(
        to: In<u64>, from: In<u64>, sizes: In<usize>, count: usize, list: In<CopyAttributes>, first: In<usize>,
        number: usize, failed: Out<usize>, in_stream: Handle,
    ) {
        let stream = named(in_stream)?;
        if count == 0 || count > MAX_BATCH {
            return Err(Error::InvalidValue);
        }
        // A null list is not read.
        to.get()?;
        from.get()?;
        sizes.get()?;
        check_attributes(list, first, number, count)?;
        failed.set(usize::MAX);
        let mut copies = Vec::new();
        let each = to.each(count).zip(from.each(count)).zip(sizes.each(count));
        for (i, ((to, from), size)) in each.enumerate() {
            let (to, from) = (to?, from?);
            let transfer = Transfer::line(Place::Any(to), Place::Any(from), size? as u64);
            // SAFETY: by the contract of the API, the program guarantees memory that the driver does not
            // know.
            let copy = unsafe { transfer.check() };
            let copy = copy.ok().flatten().filter(|_| to != 0 && from != 0).ok_or(Error::InvalidValue);
            copies.push(copy.inspect_err(|_| failed.set(i))?);
        }
        copies.into_iter().try_for_each(|copy| Ok(stream.submit(Operation::Copy(copy), Policy::Later)?))
    }

    Context Appends fn hipMemcpy3DBatchAsync(
        count: usize, list: In<BatchCopy>, failed: Out<usize>, flags: u64, in_stream: Handle,
    ) {
        if flags != 0 || list.is_null() || count == 0 || count > MAX_BATCH {
            return Err(Error::InvalidValue);
        }
        named(in_stream)?;
        failed.set(usize::MAX);
        for (i, one) in list.each(count).enumerate() {
            copy(&one?, Order::later(in_stream, false)).inspect_err(|_| failed.set(i))?;
        }
        Ok(())
    }

    Context Invalidates fn hipMemPrefetchBatchAsync(
        addresses: In<u64>, sizes: In<usize>, count: usize, locations: In<MemLocation>, first: In<usize>,
        number: usize, flags: u64, in_stream: Handle,
    ) {
        let ranges = ranges(addresses, sizes, count, flags)?;
        let to = targets(Targets { locations, first, number }, count)?;
        check_stream(in_stream)?;
        prefetch(&ranges, &to)
    }

    Context Invalidates fn hipMemDiscardBatchAsync / hipDrvMemDiscardBatchAsync (
        addresses: In<u64>, sizes: In<usize>, count: usize, flags: u64, in_stream: Handle,
    ) {
        let ranges = ranges(addresses, sizes, count, flags)?;
        check_stream(in_stream)?;
        check_managed(&ranges)
    }

    Context Invalidates fn hipMemDiscardAndPrefetchBatchAsync / hipDrvMemDiscardAndPrefetchBatchAsync (
        addresses: In<u64>, sizes: In<usize>, count: usize, locations: In<MemLocation>, first: In<usize>,
        number: usize, flags: u64, in_stream: Handle,
    ) {
        let ranges = ranges(addresses, sizes, count, flags)?;
        let to = targets(Targets { locations, first, number }, count)?;
        check_stream(in_stream)?;
        check_managed(&ranges)?;
        prefetch(&ranges, &to)
    }
}
