//! Pointer attributes, with the memory type numbers of HIP 5 and HIP 6.

use capi::pointer::{Attribute, SYNC_MEMOPS, Size, attribute, set_synchronous};
use driver::memory::{self, Allocation, Kind, array};

use crate::abi::{In, Out};
use crate::types::PointerAttributes;
use crate::{Error, Result, api};

/// Values of `hipMemoryType`.
#[derive(Clone, Copy, Debug)]
struct Types {
    host: u32,
    device: u32,
    array: u32,
    managed: u32,
    /// The type of memory unknown to the driver; `None` if the query fails.
    unknown: Option<u32>,
}

const SIX: Types = Types { host: 1, device: 2, array: 10, managed: 3, unknown: Some(0) };
/// HIP 5 has no number for managed memory; it counts as host memory.
const FIVE: Types = Types { host: 0, device: 1, array: 2, managed: 0, unknown: None };

/// `hipInvalidDeviceId`.
const NO_DEVICE: i32 = -2;

/// Attributes whose value differs from CUDA's.
mod number {
    pub const MEMORY_TYPE: u32 = 2;
    pub const P2P_TOKENS: u32 = 5;
    pub const BUFFER_ID: u32 = 7;
    pub const RANGE_SIZE: u32 = 12;
    pub const ACCESS_FLAGS: u32 = 16;
    /// The highest attribute in HIP.
    pub const MEMPOOL_HANDLE: u32 = 17;
}

fn managed(a: &Allocation) -> bool {
    a.kind == Kind::Managed || a.managed
}

/// The flags of an allocation; 0 for managed memory.
fn flags(a: &Allocation) -> u32 {
    if managed(a) { 0 } else { a.flags }
}

fn attributes(out: Out<PointerAttributes>, address: u64, types: &Types) -> Result<()> {
    if out.is_null() || address == 0 {
        return Err(Error::InvalidValue);
    }
    let Some(a) = memory::find(address) else {
        out.set(PointerAttributes {
            memory_type: types.unknown.ok_or(Error::InvalidValue)?,
            device: NO_DEVICE,
            device_pointer: 0,
            host_pointer: 0,
            is_managed: 0,
            allocation_flags: 0,
        });
        return Ok(());
    };
    let managed = managed(&a);
    out.set(PointerAttributes {
        memory_type: match () {
            () if managed => types.managed,
            () if a.on_host() => types.host,
            () => types.device,
        },
        device: a.device as i32,
        device_pointer: address,
        host_pointer: if a.host_accessible() { address } else { 0 },
        is_managed: i32::from(managed),
        allocation_flags: flags(&a),
    });
    Ok(())
}

/// Writes one attribute. If the memory lacks it, writes the value for unknown addresses and fails.
fn write(place: Out<u8>, number: u32, address: u64, types: &Types) -> Result<()> {
    if number > number::MEMPOOL_HANDLE {
        return Err(Error::InvalidValue);
    }
    let Attribute { size, unknown, value, .. } = attribute(number)?;
    let known = memory::find(address);
    let (size, value) = match (number, known) {
        (number::P2P_TOKENS, _) => return Err(Error::NotSupported),
        (number::MEMORY_TYPE, Some(a)) => {
            let host = a.on_host() || managed(&a);
            (size, Some(u64::from(if host { types.host } else { types.device })))
        }
        (number::MEMORY_TYPE, None) if array::get(address).is_ok() => (size, Some(u64::from(types.array))),
        (number::ACCESS_FLAGS, known) => (size, Some(known.map_or(0, |a| u64::from(flags(&a))))),
        // Four bytes; the CUDA driver has eight.
        (number::BUFFER_ID | number::RANGE_SIZE, known) => {
            (Size::Word, known.and_then(|a| value(&a, address)))
        }
        (_, known) => (size, known.and_then(|a| value(&a, address))),
    };
    size.write(place, value.unwrap_or(unknown));
    value.map(|_| ()).ok_or(Error::InvalidValue)
}

fn one(place: Out<u8>, number: u32, address: u64, types: &Types) -> Result<()> {
    if place.is_null() || address == 0 {
        return Err(Error::InvalidValue);
    }
    write(place, number, address, types)
}

/// An upper bound of the number of attributes in one call.
const MAX_ATTRIBUTES: u32 = 1 << 10;

/// Writes several attributes. An attribute that the memory lacks does not fail the call.
fn several(count: u32, numbers: In<u32>, places: In<Out<u8>>, address: u64, types: &Types) -> Result<()> {
    if count == 0 || count > MAX_ATTRIBUTES || numbers.is_null() || places.is_null() || address == 0 {
        return Err(Error::InvalidValue);
    }
    for i in 0..count as usize {
        let (number, place) = (numbers.at(i)?, places.at(i)?);
        if !place.is_null() {
            let _told = write(place, number, address, types);
        }
    }
    Ok(())
}

api! {
    Device Legal fn hipPointerGetAttributes(out: Out<PointerAttributes>, address: u64) {
        attributes(out, address, &SIX)
    }

    Device Legal fn hipPointerGetAttributes_in_5(out: Out<PointerAttributes>, address: u64) {
        attributes(out, address, &FIVE)
    }

    Device Legal fn hipPointerGetAttribute(place: Out<u8>, number: u32, address: u64) {
        one(place, number, address, &SIX)
    }

    Device Legal fn hipPointerGetAttribute_in_5(place: Out<u8>, number: u32, address: u64) {
        one(place, number, address, &FIVE)
    }

    Device Legal fn hipDrvPointerGetAttributes(
        count: u32, numbers: In<u32>, places: In<Out<u8>>, address: u64,
    ) {
        several(count, numbers, places, address, &SIX)
    }

    Device Legal fn hipDrvPointerGetAttributes_in_5(
        count: u32, numbers: In<u32>, places: In<Out<u8>>, address: u64,
    ) {
        several(count, numbers, places, address, &FIVE)
    }

    /// The only attribute that can be set is the one for synchronous memory operations.
    Device Legal fn hipPointerSetAttribute(value: In<u32>, number: u32, address: u64) {
        if value.is_null() || address == 0 || number != SYNC_MEMOPS {
            return Err(Error::InvalidValue);
        }
        let on = match value.get()? {
            0 => false,
            1 => true,
            _ => return Err(Error::InvalidValue),
        };
        set_synchronous(address, on).ok_or(Error::InvalidDevicePointer)
    }
}
