//! Memory fills.

use driver::memory::copy::{Fill, fill_all};
use driver::memory::rights::Rights;

use crate::api::copy::Order;
use crate::current::{Handle, stream};
use crate::types::{Extent, PitchedPointer};
use crate::{Error, Result, api};

fn fill(fills: &[Fill], order: Order) -> Result<()> {
    for fill in fills {
        // Where a size wraps around, the CUDA driver's hardware faults; HIP refuses the call.
        let end = fill.width.checked_mul(fill.element.into()).and_then(|bytes| fill.to.checked_add(bytes));
        end.ok_or(Error::InvalidValue)?;
    }
    fill_all(fills, || stream(order.stream, order.own), order.wait, Rights::Ignored)
}

fn row(to: u64, element: u32, value: u32, count: usize, order: Order) -> Result<()> {
    fill(&[Fill { to, pitch: 0, width: count as u64, height: 1, element, value }], order)
}

/// Rows of elements with several bytes.
fn rows(
    to: u64,
    pitch: usize,
    element: u32,
    value: u32,
    width: usize,
    height: usize,
    order: Order,
) -> Result<()> {
    fill(
        &[Fill { to, pitch: pitch as u64, width: width as u64, height: height as u64, element, value }],
        order,
    )
}

/// The value of `hipMemset`: the low byte.
fn byte(value: i32) -> u32 {
    u32::from(value as u8)
}

/// The maximum number of slices. Slices with gaps between them are filled one by one; no allocation has more.
const MAX_SLICES: u64 = 1 << 16;

fn volume(to: PitchedPointer, value: i32, extent: Extent, order: Order) -> Result<()> {
    let (pitch, rows) = (to.pitch as u64, to.height as u64);
    let (width, height, depth) = (extent.width as u64, extent.height as u64, extent.depth as u64);
    let slice = |to, height| Fill { to, pitch, width, height, element: 1, value: byte(value) };
    if depth <= 1 || height == rows {
        let height = height.checked_mul(depth).ok_or(Error::InvalidValue)?;
        return fill(&[slice(to.pointer, height)], order);
    }
    if rows < height || depth > MAX_SLICES {
        return Err(Error::InvalidValue);
    }
    let bytes = pitch.checked_mul(rows).ok_or(Error::InvalidValue)?;
    let at = |z: u64| z.checked_mul(bytes).and_then(|offset| to.pointer.checked_add(offset));
    let slices: Option<Vec<Fill>> = (0..depth).map(|z| at(z).map(|to| slice(to, height))).collect();
    fill(&slices.ok_or(Error::InvalidValue)?, order)
}

fn plane(to: u64, pitch: usize, value: i32, width: usize, height: usize, order: Order) -> Result<()> {
    let to = PitchedPointer { pointer: to, pitch, width, height };
    volume(to, value, Extent { width, height, depth: 1 }, order)
}

api! {
    Context Invalidates fn hipMemset / hipMemset_spt (to: u64, value: i32, count: usize) |own| {
        row(to, 1, byte(value), count, Order::now(own))
    }

    Context Appends fn hipMemsetAsync / hipMemsetAsync_spt (
        to: u64, value: i32, count: usize, handle: Handle,
    ) |own| {
        row(to, 1, byte(value), count, Order::later(handle, own))
    }

    Context Invalidates fn hipMemsetD8(to: u64, value: u8, count: usize) {
        row(to, 1, u32::from(value), count, Order::now(false))
    }

    Context Appends fn hipMemsetD8Async(to: u64, value: u8, count: usize, handle: Handle) {
        row(to, 1, u32::from(value), count, Order::later(handle, false))
    }

    Context Invalidates fn hipMemsetD16(to: u64, value: u16, count: usize) {
        row(to, 2, u32::from(value), count, Order::now(false))
    }

    Context Appends fn hipMemsetD16Async(to: u64, value: u16, count: usize, handle: Handle) {
        row(to, 2, u32::from(value), count, Order::later(handle, false))
    }

    Context Invalidates fn hipMemsetD32(to: u64, value: i32, count: usize) {
        row(to, 4, value as u32, count, Order::now(false))
    }

    Context Appends fn hipMemsetD32Async(to: u64, value: i32, count: usize, handle: Handle) {
        row(to, 4, value as u32, count, Order::later(handle, false))
    }

    Context Invalidates fn hipMemsetD2D8(to: u64, pitch: usize, value: u8, width: usize, height: usize) {
        rows(to, pitch, 1, u32::from(value), width, height, Order::now(false))
    }

    Context Appends fn hipMemsetD2D8Async(
        to: u64, pitch: usize, value: u8, width: usize, height: usize, handle: Handle,
    ) {
        rows(to, pitch, 1, u32::from(value), width, height, Order::later(handle, false))
    }

    Context Invalidates fn hipMemsetD2D16(to: u64, pitch: usize, value: u16, width: usize, height: usize) {
        rows(to, pitch, 2, u32::from(value), width, height, Order::now(false))
    }

    Context Appends fn hipMemsetD2D16Async(
        to: u64, pitch: usize, value: u16, width: usize, height: usize, handle: Handle,
    ) {
        rows(to, pitch, 2, u32::from(value), width, height, Order::later(handle, false))
    }

    Context Invalidates fn hipMemsetD2D32(to: u64, pitch: usize, value: u32, width: usize, height: usize) {
        rows(to, pitch, 4, value, width, height, Order::now(false))
    }

    Context Appends fn hipMemsetD2D32Async(
        to: u64, pitch: usize, value: u32, width: usize, height: usize, handle: Handle,
    ) {
        rows(to, pitch, 4, value, width, height, Order::later(handle, false))
    }

    Context Invalidates fn hipMemset2D / hipMemset2D_spt (
        to: u64, pitch: usize, value: i32, width: usize, height: usize,
    ) |own| {
        plane(to, pitch, value, width, height, Order::now(own))
    }

    Context Appends fn hipMemset2DAsync / hipMemset2DAsync_spt (
        to: u64, pitch: usize, value: i32, width: usize, height: usize, handle: Handle,
    ) |own| {
        plane(to, pitch, value, width, height, Order::later(handle, own))
    }

    Context Invalidates fn hipMemset3D / hipMemset3D_spt (
        to: PitchedPointer, value: i32, extent: Extent,
    ) |own| {
        volume(to, value, extent, Order::now(own))
    }

    Context Appends fn hipMemset3DAsync / hipMemset3DAsync_spt (
        to: PitchedPointer, value: i32, extent: Extent, handle: Handle,
    ) |own| {
        volume(to, value, extent, Order::later(handle, own))
    }
}
