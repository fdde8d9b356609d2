//! What an address is.

use std::sync::atomic::Ordering;

use driver::memory::{self, Allocation, Kind};
use driver::{Error, Result};

use crate::abi::{In, Out};
use crate::api;
use crate::types::CUdeviceptr;

/// What an attribute's place holds.
#[derive(Clone, Copy)]
enum Size {
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

/// One row an attribute: number, size, what an address that the driver does not know has, what one that it does know has (`None`: it has
/// no such attribute).
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

fn write(place: Out<u8>, size: Size, value: u64) {
    let bytes = value.to_ne_bytes();
    match size {
        Size::Byte => place.set_all(&bytes[..1]),
        Size::Word => place.set_all(&bytes[..4]),
        Size::Long => place.set_all(&bytes),
        Size::Tokens => {
            place.set_all(&[0; 16]);
        }
    }
}

fn row(number: u32) -> Result<&'static Row> {
    ROWS.iter().find(|r| r.0 == number).ok_or(Error::InvalidValue)
}

api! {
    Init fn cuPointerGetAttribute(place: Out<u8>, number: u32, address: CUdeviceptr) {
        place.required()?;
        let (_, size, _, value) = row(number)?;
        let allocation = memory::find(address).ok_or(Error::InvalidValue)?;
        write(place, *size, value(&allocation, address).ok_or(Error::InvalidValue)?);
        Ok(())
    }

    /// An address that the driver does not know is none of its errors here.
    Init fn cuPointerGetAttributes(count: u32, numbers: In<u32>, places: In<Out<u8>>, address: CUdeviceptr) {
        if count == 0 {
            return Err(Error::InvalidValue);
        }
        let count = count as usize;
        let rows: Vec<&Row> = numbers.list(count)?.into_iter().map(row).collect::<Result<_>>()?;
        let allocation = memory::find(address);
        for ((_, size, unknown, value), place) in rows.into_iter().zip(places.list(count)?) {
            let known = allocation.as_ref().and_then(|a| value(a, address));
            write(place.required()?, *size, known.unwrap_or(*unknown));
        }
        Ok(())
    }

    /// Only that memory operations are synchronous can be set.
    Init fn cuPointerSetAttribute(value: In<u32>, number: u32, address: CUdeviceptr) {
        let value = value.get()?;
        if number != 6 {
            return Err(Error::InvalidValue);
        }
        let allocation = memory::find(address).ok_or(Error::InvalidValue)?;
        allocation.sync_memops.store(u32::from(value != 0), Ordering::Relaxed);
        Ok(())
    }
}
