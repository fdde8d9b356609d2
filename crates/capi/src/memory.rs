//! Pool attributes and managed memory attributes, as C programs access them.

use std::sync::Arc;

use driver::memory::pool::{Pool, attribute};
use driver::memory::{managed, pool};
use driver::stream::Stream;
use driver::{Error, Result};

use crate::types::{MemLocation, PoolProps};
use crate::{In, Out};

/// Whether a pool attribute is 32 bits wide: the booleans are, the others have 64 bits.
fn is_word(number: u32) -> bool {
    (attribute::REUSE_FOLLOW_EVENT_DEPENDENCIES..attribute::RELEASE_THRESHOLD).contains(&number)
}

/// Writes the value of a pool attribute to the program's variable.
pub fn get_pool_attribute(pool: &Pool, attribute: u32, value: Out<u32>) -> Result<()> {
    value.required()?;
    let got = pool.attribute(attribute)?;
    value.set(got as u32);
    if !is_word(attribute) {
        value.after(1).set((got >> 32) as u32);
    }
    Ok(())
}

/// Sets a pool attribute from the program's variable.
pub fn set_pool_attribute(pool: &Pool, attribute: u32, value: In<u32>) -> Result<()> {
    let mut new = u64::from(value.get()?);
    if !is_word(attribute) {
        new |= u64::from(value.at(1)?) << 32;
    }
    pool.set_attribute(attribute, new)
}

/// Allocates in stream order, by default from the current pool of the stream's device.
pub fn alloc_in_order(out: Out<u64>, size: usize, pool: Option<u64>, stream: &Arc<Stream>) -> Result<()> {
    out.required()?;
    out.set(pool::alloc(stream, pool, size as u64)?);
    Ok(())
}

/// `CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR`, `hipMemHandleTypePosixFileDescriptor`.
pub const FILE_DESCRIPTOR: u32 = 1;

/// `CU_MEM_ALLOCATION_TYPE_PINNED`, `hipMemAllocationTypePinned`.
pub const PINNED: u32 = 1;

/// `CU_MEM_ALLOCATION_TYPE_MANAGED`.
pub const MANAGED: u32 = 2;

/// `CU_MEM_HANDLE_TYPE_FABRIC`: accepted in a list, but there is no fabric to export to.
const FABRIC: u32 = 8;

/// Creates a pool at the requested location, translated by `location_of`. CUDA's pools may be of managed
/// memory or of other handle types and have a limit, and nothing in their reserved bytes.
pub fn create_pool<E: From<Error>>(
    out: Out<u64>,
    properties: In<PoolProps>,
    of_cuda: bool,
    location_of: impl FnOnce(MemLocation) -> std::result::Result<managed::Location, E>,
) -> std::result::Result<(), E> {
    out.required()?;
    let PoolProps { alloc_type, handle_types, location, max_size, reserved, .. } = properties.get()?;
    let location = location_of(location)?;
    let known = match alloc_type {
        PINNED => location.kind != managed::NOWHERE,
        // Only CUDA has such pools, and they are this process's own.
        MANAGED => of_cuda && handle_types == 0,
        _ => false,
    };
    if !known || (of_cuda && reserved != [0; 54]) {
        return Err(Error::InvalidValue.into());
    }
    let for_others = match handle_types {
        0 => false,
        types if of_cuda && types & !(FILE_DESCRIPTOR | FABRIC) == 0 && location.kind != managed::HOST => {
            types & FILE_DESCRIPTOR != 0
        }
        FILE_DESCRIPTOR if !of_cuda => true,
        _ if of_cuda => return Err(Error::InvalidValue.into()),
        _ => return Err(Error::NotSupported.into()),
    };
    let most = if of_cuda { max_size as u64 } else { 0 };
    out.set(pool::create(pool::Properties { location, managed: alloc_type == MANAGED, for_others, most })?);
    Ok(())
}

/// Writes an attribute of a managed memory range to `size` bytes.
pub fn get_range_attribute(
    data: Out<i32>,
    size: usize,
    number: u32,
    address: u64,
    length: usize,
) -> Result<()> {
    data.required()?;
    if size == 0 || !size.is_multiple_of(4) {
        return Err(Error::InvalidValue);
    }
    data.set_all(&managed::attribute(address, length as u64, number, size / 4)?);
    Ok(())
}

/// The location for functions that take a device's ordinal, or -1 for the host.
pub fn location_of(device: i32) -> managed::Location {
    let kind = if device == -1 { managed::HOST } else { managed::DEVICE };
    managed::Location { kind, id: device }
}
