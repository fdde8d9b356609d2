//! Memory fills.

use driver::Result;
use driver::memory::copy::{Fill, fill_all};
use driver::memory::rights::Rights;

use crate::api;
use crate::api::{check_default, stream};
use crate::types::{CUdeviceptr, Handle};

/// Fills in a stream. With `wait` the function is synchronous.
pub(super) fn fill(fill: Fill, handle: Handle, own: bool, wait: bool) -> Result<()> {
    check_default(handle)?;
    fill_all(&[fill], || stream(handle, own), wait, Rights::OWN)
}

pub(super) fn row(to: CUdeviceptr, element: u32, value: u32, count: usize) -> Fill {
    Fill { to, pitch: 0, width: count as u64, height: 1, element, value }
}

pub(super) fn rows(
    to: CUdeviceptr,
    pitch: usize,
    element: u32,
    value: u32,
    width: usize,
    height: usize,
) -> Fill {
    Fill { to, pitch: pitch as u64, width: width as u64, height: height as u64, element, value }
}

api! {
    Context Invalidates fn cuMemsetD8_v2 / cuMemsetD8_v2_ptds (
        to: CUdeviceptr, value: u8, count: usize,
    ) |own| {
        fill(row(to, 1, u32::from(value), count), 0, own, true)
    }

    Context Invalidates fn cuMemsetD16_v2 / cuMemsetD16_v2_ptds (
        to: CUdeviceptr, value: u16, count: usize,
    ) |own| {
        fill(row(to, 2, u32::from(value), count), 0, own, true)
    }

    Context Invalidates fn cuMemsetD32_v2 / cuMemsetD32_v2_ptds (
        to: CUdeviceptr, value: u32, count: usize,
    ) |own| {
        fill(row(to, 4, value, count), 0, own, true)
    }

    Context Invalidates fn cuMemsetD2D8_v2 / cuMemsetD2D8_v2_ptds (
        to: CUdeviceptr, pitch: usize, value: u8, width: usize, height: usize,
    ) |own| {
        fill(rows(to, pitch, 1, u32::from(value), width, height), 0, own, true)
    }

    Context Invalidates fn cuMemsetD2D16_v2 / cuMemsetD2D16_v2_ptds (
        to: CUdeviceptr, pitch: usize, value: u16, width: usize, height: usize,
    ) |own| {
        fill(rows(to, pitch, 2, u32::from(value), width, height), 0, own, true)
    }

    Context Invalidates fn cuMemsetD2D32_v2 / cuMemsetD2D32_v2_ptds (
        to: CUdeviceptr, pitch: usize, value: u32, width: usize, height: usize,
    ) |own| {
        fill(rows(to, pitch, 4, value, width, height), 0, own, true)
    }

    Object Appends fn cuMemsetD8Async / cuMemsetD8Async_ptsz (
        to: CUdeviceptr, value: u8, count: usize, handle: Handle,
    ) |own| {
        fill(row(to, 1, u32::from(value), count), handle, own, false)
    }

    Object Appends fn cuMemsetD16Async / cuMemsetD16Async_ptsz (
        to: CUdeviceptr, value: u16, count: usize, handle: Handle,
    ) |own| {
        fill(row(to, 2, u32::from(value), count), handle, own, false)
    }

    Object Appends fn cuMemsetD32Async / cuMemsetD32Async_ptsz (
        to: CUdeviceptr, value: u32, count: usize, handle: Handle,
    ) |own| {
        fill(row(to, 4, value, count), handle, own, false)
    }

    Object Appends fn cuMemsetD2D8Async / cuMemsetD2D8Async_ptsz (
        to: CUdeviceptr, pitch: usize, value: u8, width: usize, height: usize, handle: Handle,
    ) |own| {
        fill(rows(to, pitch, 1, u32::from(value), width, height), handle, own, false)
    }

    Object Appends fn cuMemsetD2D16Async / cuMemsetD2D16Async_ptsz (
        to: CUdeviceptr, pitch: usize, value: u16, width: usize, height: usize, handle: Handle,
    ) |own| {
        fill(rows(to, pitch, 2, u32::from(value), width, height), handle, own, false)
    }

    Object Appends fn cuMemsetD2D32Async / cuMemsetD2D32Async_ptsz (
        to: CUdeviceptr, pitch: usize, value: u32, width: usize, height: usize, handle: Handle,
    ) |own| {
        fill(rows(to, pitch, 4, value, width, height), handle, own, false)
    }
}
