//! What an address is: the attributes that CUDA and HIP number alike.

use std::sync::atomic::Ordering;

use driver::memory::{self, Allocation, Kind};
use driver::{Error, Result};

use crate::Out;

/// The attribute that can be set: memory operations are synchronous.
pub const SYNC_MEMOPS: u32 = 6;

/// What an attribute's place holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// One byte: a truth value.
    Byte,
    /// Four bytes.
    Word,
    /// Eight bytes.
    Long,
    /// `CUDA_POINTER_ATTRIBUTE_P2P_TOKENS`.
    Tokens,
}

/// What the device number is where there is no device.
const NO_DEVICE: u64 = -2i32 as u32 as u64;

/// An attribute.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    /// Its number.
    pub number: u32,
    /// What its place holds.
    pub size: Size,
    /// What an address that the driver does not know has.
    pub unknown: u64,
    /// What an address in an allocation has; `None`: it has no such attribute.
    pub value: fn(&Allocation, u64) -> Option<u64>,
}

/// One row an attribute, in the fields' order.
type Row = (u32, Size, u64, fn(&Allocation, u64) -> Option<u64>);

fn device_side(a: &Allocation) -> bool {
    !a.on_host()
}

const ROWS: &[Row] = &[
    // Context; memory type: 1 host, 2 device; address on the device and on the host.
    (1, Size::Long, 0, |a, _| Some(a.context.0)),
    (2, Size::Word, 0, |a, _| Some(if a.on_host() { 1 } else { 2 })),
    (3, Size::Long, 0, |_, p| Some(p)),
    (4, Size::Long, 0, |a, p| a.host_accessible().then_some(p)),
    // Tokens for other drivers, synchronous memory operations, number of the allocation, managed, device.
    (5, Size::Tokens, 0, |a, _| device_side(a).then_some(0)),
    (6, Size::Byte, 0, |a, _| Some(u64::from(a.sync_memops.load(Ordering::Relaxed) != 0))),
    (7, Size::Long, 0, |a, _| Some(a.id)),
    (8, Size::Byte, 0, |a, _| Some(u64::from(a.kind == Kind::Managed || a.managed))),
    (9, Size::Word, NO_DEVICE, |a, _| Some(u64::from(a.device))),
    // Can be shared with another process by the old functions; start, size, mapped.
    (10, Size::Byte, 0, |a, _| Some(u64::from(a.kind == Kind::Device))),
    (11, Size::Long, 0, |a, _| Some(a.base)),
    (12, Size::Long, 0, |a, _| Some(a.size)),
    (13, Size::Byte, 0, |_, _| Some(1)),
    // Handle types, GPU-direct, access (both ways), pool.
    (14, Size::Word, 0, |_, _| Some(0)),
    (15, Size::Byte, 0, |_, _| Some(0)),
    (16, Size::Word, 0, |_, _| Some(3)),
    (17, Size::Long, 0, |a, _| Some(a.pool)),
    // Size, start and number of what is mapped as one; decompression in hardware.
    (18, Size::Long, 0, |a, _| Some(a.size)),
    (19, Size::Long, 0, |a, _| Some(a.base)),
    (20, Size::Long, 0, |a, _| Some(a.id)),
    (21, Size::Byte, 0, |_, _| Some(0)),
];

/// The attribute of a number.
pub fn attribute(number: u32) -> Result<Attribute> {
    let row = ROWS.iter().find(|r| r.0 == number).ok_or(Error::InvalidValue)?;
    let (number, size, unknown, value) = *row;
    Ok(Attribute { number, size, unknown, value })
}

impl Size {
    /// Writes an attribute to its place.
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

/// Sets whether memory operations on what an address lies in are synchronous. `None`: the driver does not know the address.
pub fn set_synchronous(address: u64, on: bool) -> Option<()> {
    memory::find(address).map(|a| a.sync_memops.store(u32::from(on), Ordering::Relaxed))
}
