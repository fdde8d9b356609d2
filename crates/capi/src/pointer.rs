//! Pointer attributes that have the same numbers in CUDA and HIP.

use std::sync::atomic::Ordering;

use driver::memory::{self, Allocation, Kind, rights};
use driver::{Error, Result};

use crate::Out;

/// Synchronous memory operations, the only attribute that can be set.
pub const SYNC_MEMOPS: u32 = 6;

/// The type of an attribute's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// A boolean of one byte.
    Byte,
    /// Four bytes.
    Word,
    /// Eight bytes.
    Long,
    /// `CUDA_POINTER_ATTRIBUTE_P2P_TOKENS`.
    Tokens,
}

/// The device number if there is no device.
const NO_DEVICE: u64 = -2i32 as u32 as u64;

/// A pointer attribute.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    /// The number.
    pub number: u32,
    /// The type of the value.
    pub size: Size,
    /// The value for an address unknown to the driver.
    pub unknown: u64,
    /// The value for an address in an allocation; `None` if the allocation lacks the attribute.
    pub value: fn(&Allocation, u64) -> Option<u64>,
}

/// The fields of an [`Attribute`], in order.
type Row = (u32, Size, u64, fn(&Allocation, u64) -> Option<u64>);

fn device_side(a: &Allocation) -> bool {
    !a.on_host()
}

const ROWS: &[Row] = &[
    // Context; memory type (1 host, 2 device); device address, host address.
    (1, Size::Long, 0, |a, _| Some(a.context.0)),
    (2, Size::Word, 0, |a, _| Some(if a.on_host() { 1 } else { 2 })),
    (3, Size::Long, 0, |_, p| Some(p)),
    (4, Size::Long, 0, |a, p| a.host_accessible().then_some(p)),
    // P2P tokens, synchronous memory operations, buffer id, managed, device ordinal.
    (5, Size::Tokens, 0, |a, _| device_side(a).then_some(0)),
    (6, Size::Byte, 0, |a, _| Some(u64::from(a.sync_memops.load(Ordering::Relaxed) != 0))),
    (7, Size::Long, 0, |a, _| Some(a.id)),
    (8, Size::Byte, 0, |a, _| Some(u64::from(a.kind == Kind::Managed || a.managed))),
    (9, Size::Word, NO_DEVICE, |a, _| Some(u64::from(a.device))),
    // Legacy IPC capable; range start, range size, mapped.
    (10, Size::Byte, 0, |a, _| Some(u64::from(a.kind == Kind::Device))),
    (11, Size::Long, 0, |a, _| Some(a.base)),
    (12, Size::Long, 0, |a, _| Some(a.size)),
    (13, Size::Byte, 0, |_, _| Some(1)),
    // Allowed handle types, GPUDirect RDMA capable, access flags, pool.
    (14, Size::Word, 0, |_, _| Some(0)),
    (15, Size::Byte, 0, |_, _| Some(0)),
    (16, Size::Word, 0, |a, p| Some(u64::from(rights::reported(a, p)))),
    (17, Size::Long, 0, |a, _| Some(a.pool)),
    // Mapping size, mapping start, memory block id; hardware decompression capable.
    (18, Size::Long, 0, |a, _| Some(a.size)),
    (19, Size::Long, 0, |a, _| Some(a.base)),
    (20, Size::Long, 0, |a, _| Some(a.id)),
    (21, Size::Byte, 0, |a, _| Some(u64::from(a.can_be_decompressed()))),
];

/// The attribute with a number.
pub fn attribute(number: u32) -> Result<Attribute> {
    let row = ROWS.iter().find(|r| r.0 == number).ok_or(Error::InvalidValue)?;
    let (number, size, unknown, value) = *row;
    Ok(Attribute { number, size, unknown, value })
}

impl Size {
    /// Writes an attribute's value.
    pub fn write(self, place: Out<u8>, value: u64) {
        let bytes = value.to_ne_bytes();
        match self {
            Size::Byte => place.set_all(&bytes[..1]),
            Size::Word => place.set_all(&bytes[..4]),
            Size::Long => place.set_all(&bytes),
            Size::Tokens => place.set_all(&[0; 16]),
        }
    }
}

/// Sets synchronous memory operations for the allocation at an address; `None` if the driver does not know
/// it.
pub fn set_synchronous(address: u64, on: bool) -> Option<()> {
    memory::find(address).map(|a| a.sync_memops.store(u32::from(on), Ordering::Relaxed))
}
