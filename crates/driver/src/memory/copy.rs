//! Copies and fills.

use std::sync::Arc;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::stream::Stream;

/// A block of rows to copy: plain addresses, already checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// First byte to read.
    pub from: u64,
    /// First byte to write.
    pub to: u64,
    /// Bytes of a row, rows of a slice, slices.
    pub extent: [u64; 3],
    /// Bytes from row to row and from slice to slice where it is read.
    pub from_pitch: [u64; 2],
    /// The same where it is written.
    pub to_pitch: [u64; 2],
}

impl Block {
    /// `size` bytes in a row.
    pub fn line(to: u64, from: u64, size: u64) -> Self {
        Block { from, to, extent: [size, 1, 1], from_pitch: [size, size], to_pitch: [size, size] }
    }

    /// Copies.
    ///
    /// # Safety
    /// Every byte of both sides must be accessible.
    pub unsafe fn run(&self) {
        let [width, height, depth] = self.extent;
        if width == 0 || height == 0 || depth == 0 {
            return;
        }
        for z in 0..depth {
            for y in 0..height {
                let from = self
                    .from
                    .wrapping_add(z.wrapping_mul(self.from_pitch[1]))
                    .wrapping_add(y.wrapping_mul(self.from_pitch[0]));
                let to = self
                    .to
                    .wrapping_add(z.wrapping_mul(self.to_pitch[1]))
                    .wrapping_add(y.wrapping_mul(self.to_pitch[0]));
                // SAFETY: by the caller's promise; `copy` allows overlap.
                unsafe { std::ptr::copy(from as *const u8, to as *mut u8, width as usize) };
            }
        }
    }

    /// The bytes from the first to the last one that is touched with these pitches.
    pub fn span(extent: [u64; 3], pitch: [u64; 2]) -> Option<u64> {
        let [width, height, depth] = extent;
        if width == 0 || height == 0 || depth == 0 {
            return Some(0);
        }
        let slices = (depth - 1).checked_mul(pitch[1])?;
        let rows = (height - 1).checked_mul(pitch[0])?;
        slices.checked_add(rows)?.checked_add(width)
    }
}

/// Rows to fill: plain addresses, already checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// The first byte.
    pub to: u64,
    /// Bytes from row to row.
    pub pitch: u64,
    /// Elements of a row.
    pub width: u64,
    /// Rows.
    pub height: u64,
    /// Bytes of an element: 1, 2 or 4.
    pub element: u32,
    /// Its value, in the low bytes.
    pub value: u32,
}

impl Fill {
    /// Fills.
    ///
    /// # Safety
    /// Every byte must be writable and the address a multiple of the element's size.
    pub unsafe fn run(&self) {
        for y in 0..self.height {
            let row = self.to.wrapping_add(y.wrapping_mul(self.pitch));
            let width = self.width as usize;
            // SAFETY: by the caller's promise.
            unsafe {
                match self.element {
                    1 => std::ptr::write_bytes(row as *mut u8, self.value as u8, width),
                    2 => std::slice::from_raw_parts_mut(row as *mut u16, width).fill(self.value as u16),
                    _ => std::slice::from_raw_parts_mut(row as *mut u32, width).fill(self.value),
                }
            }
        }
    }
}

/// How a copy or fill is ordered.
pub enum Order {
    /// The call returns when it is done.
    Now(Arc<Stream>),
    /// The call returns at once.
    In(Arc<Stream>),
}

/// Copies in order. `pageable`: one side is memory that the program may change or free as soon as the call returns, so the call waits.
///
/// # Safety
/// As for [`Block::run`], for as long as the copy may run.
pub unsafe fn copy(context: &Context, order: Order, blocks: Vec<Block>, pageable: bool) -> Result<()> {
    match order {
        Order::In(stream) if !pageable => {
            stream.enqueue(
                false,
                Box::new(move || {
                    for block in &blocks {
                        // SAFETY: by the caller's promise.
                        unsafe { block.run() };
                    }
                    Ok(())
                }),
            );
            Ok(())
        }
        Order::In(stream) | Order::Now(stream) => {
            context.synchronize_default(&stream)?;
            for block in &blocks {
                // SAFETY: by the caller's promise.
                unsafe { block.run() };
            }
            Ok(())
        }
    }
}

/// Fills in order.
///
/// # Safety
/// As for [`Fill::run`], for as long as the fill may run.
pub unsafe fn fill(context: &Context, order: Order, fill: Fill) -> Result<()> {
    match order {
        Order::In(stream) => {
            stream.enqueue(
                false,
                Box::new(move || {
                    // SAFETY: by the caller's promise.
                    unsafe { fill.run() };
                    Ok(())
                }),
            );
        }
        Order::Now(stream) => {
            context.synchronize_default(&stream)?;
            // SAFETY: by the caller's promise.
            unsafe { fill.run() };
        }
    }
    Ok(())
}

/// Checks a fill and says whether its size wraps around (then the hardware faults when it runs it).
pub fn check_fill(f: &Fill) -> Result<bool> {
    let element = u64::from(f.element);
    if f.width == 0 || f.height == 0 {
        return Ok(false);
    }
    if f.to == 0 || f.to % element != 0 || (f.height > 1 && f.pitch % element != 0) {
        return Err(Error::InvalidValue);
    }
    let Some(row) = f.width.checked_mul(element).filter(|r| f.to.checked_add(*r).is_some()) else {
        super::check_device(f.to, 0)?;
        return Ok(true);
    };
    if f.height > 1 && f.pitch < row {
        return Err(Error::InvalidValue);
    }
    let span = Block::span([row, f.height, 1], [f.pitch, 0]).ok_or(Error::InvalidValue)?;
    super::check_device(f.to, span)?;
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_slices() {
        let from: Vec<u8> = (0..60).collect();
        let mut to = [0u8; 60];
        let block = Block {
            from: from.as_ptr() as u64,
            to: to.as_mut_ptr() as u64,
            extent: [2, 2, 2],
            from_pitch: [5, 20],
            to_pitch: [4, 10],
        };
        // SAFETY: all of it lies in the two arrays.
        unsafe { block.run() };
        let written: Vec<(usize, u8)> = to.iter().copied().enumerate().filter(|w| w.1 != 0).collect();
        assert_eq!(written, [(1, 1), (4, 5), (5, 6), (10, 20), (11, 21), (14, 25), (15, 26)]);
        assert_eq!(Block::span(block.extent, block.to_pitch), Some(16));
        assert_eq!(Block::span([1, u64::MAX, 1], [4, 0]), None);
    }
}
