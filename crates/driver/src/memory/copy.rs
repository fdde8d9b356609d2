//! Copies and fills.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::stream::{Operation, Policy, Stream};

use super::Allocation;
use super::rights::{self, Rights, Use, User};

/// Bytes that are copied or filled between two looks at whether memory is gone: each of its pages costs a
/// signal and a page.
const PART: u64 = 4 << 20;

/// How often the calling thread has found that memory is gone; nothing can be gone if none was ever watched.
#[inline]
fn lost() -> u64 {
    if host::mapped::any() { host::mapped::lost() } else { 0 }
}

/// A block of rows to copy between checked plain addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Source address.
    pub from: u64,
    /// Destination address.
    pub to: u64,
    /// Bytes per row, rows per slice, slices.
    pub extent: [u64; 3],
    /// Source pitches: bytes from row to row and from slice to slice.
    pub from_pitch: [u64; 2],
    /// Destination pitches.
    pub to_pitch: [u64; 2],
}

impl Block {
    /// The pitches of rows and slices without gaps.
    pub fn packed(&self) -> [u64; 2] {
        let [width, height, _] = self.extent;
        [width, width.wrapping_mul(height)]
    }

    /// The same copy with rows and slices merged where neither side has gaps between them.
    pub fn joined(mut self) -> Self {
        for _ in 0..2 {
            let [width, height, depth] = self.extent;
            if self.from_pitch[0] == width
                && self.to_pitch[0] == width
                && (height > 1 || depth > 1)
                && let Some(bytes) = width.checked_mul(height)
            {
                self.extent = [bytes, depth, 1];
                self.from_pitch[0] = self.from_pitch[1];
                self.to_pitch[0] = self.to_pitch[1];
            }
        }
        self
    }

    /// Reads the source into a buffer without gaps.
    ///
    /// # Safety
    /// Every source byte must be accessible.
    pub unsafe fn gather(&self) -> Vec<u8> {
        let bytes = self.extent.iter().fold(1u64, |product, n| product.saturating_mul(*n));
        let mut packed = vec![0u8; bytes as usize];
        let copy = Block { to: packed.as_mut_ptr() as u64, to_pitch: self.packed(), ..*self };
        // SAFETY: the caller guarantees the source, and the vector has capacity for all rows.
        unsafe { copy.run() };
        packed
    }

    /// Copies, until it finds that memory is gone ([`host::mapped`]).
    ///
    /// # Safety
    /// Every byte of both sides must be accessible.
    pub unsafe fn run(&self) {
        let [width, height, depth] = self.extent;
        if width == 0 || height == 0 || depth == 0 {
            return;
        }
        let lost = lost();
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
                // Rows that overlap are copied whole: parts of them could overwrite each other.
                let part = if from.abs_diff(to) < width { width } else { width.min(PART) };
                let mut done = 0;
                while done < width {
                    let (from, to) = (from.wrapping_add(done), to.wrapping_add(done));
                    let bytes = part.min(width - done);
                    // SAFETY: guaranteed by the caller; `copy` allows overlap.
                    unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes as usize) };
                    if lost != self::lost() {
                        return;
                    }
                    done += bytes;
                }
            }
        }
    }

    /// The number of bytes from the first to the last one that such a copy touches.
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

/// Rows to fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Destination address.
    pub to: u64,
    /// Bytes from row to row.
    pub pitch: u64,
    /// Elements per row.
    pub width: u64,
    /// Rows.
    pub height: u64,
    /// Bytes per element: 1, 2 or 4.
    pub element: u32,
    /// The value, in the low bytes.
    pub value: u32,
}

impl Fill {
    /// Fills, until it finds that memory is gone.
    ///
    /// # Safety
    /// Every byte must be writable, and the address and the pitch multiples of the element's size.
    pub unsafe fn run(&self) {
        // A value whose bytes are all equal is filled fastest byte by byte.
        let bytes = self.value.to_le_bytes();
        let equal = bytes.iter().take(self.element as usize).all(|b| *b == bytes[0]);
        let lost = lost();
        for y in 0..self.height {
            let row = self.to.wrapping_add(y.wrapping_mul(self.pitch));
            for at in (0..self.width).step_by(PART as usize) {
                let start = row.wrapping_add(at * u64::from(self.element));
                let width = PART.min(self.width - at) as usize;
                // SAFETY: guaranteed by the caller.
                unsafe {
                    match self.element {
                        n if equal => std::ptr::write_bytes(start as *mut u8, bytes[0], width * n as usize),
                        2 => std::slice::from_raw_parts_mut(start as *mut u16, width).fill(self.value as u16),
                        _ => std::slice::from_raw_parts_mut(start as *mut u32, width).fill(self.value),
                    }
                }
                if lost != self::lost() {
                    return;
                }
            }
        }
    }
}

/// A checked fill, as a stream operation.
#[derive(Clone, Debug)]
pub struct Filling {
    fill: Fill,
    /// The allocation that holds the destination.
    within: Arc<Allocation>,
}

impl Filling {
    /// Fails if the destination is memory of a graph that is not allocated.
    #[inline]
    pub(crate) fn check_present(&self) -> Result<()> {
        self.within.check_present()
    }

    /// The rows that it fills.
    pub(crate) fn fill(&self) -> Fill {
        self.fill
    }

    /// The number of bytes that it writes.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        let Fill { width, height, element, .. } = self.fill;
        width.saturating_mul(height).saturating_mul(u64::from(element))
    }

    /// Whether it writes memory that host code can read without a driver call.
    #[inline]
    pub(crate) fn reaches_host(&self) -> bool {
        self.within.host_accessible()
    }

    /// Fails if the memory is closed to a context.
    #[inline]
    fn check_open(&self, what: Use, user: impl FnOnce() -> Result<User>) -> Result<()> {
        let range = || {
            let Fill { to, pitch, width, height, element, .. } = self.fill;
            let span = Block::span([width.saturating_mul(u64::from(element)), height, 1], [pitch, 0]);
            Ok((to, span.unwrap_or(0)))
        };
        rights::check(what, &self.within, user, range).map(|_| ())
    }

    /// Fails if the memory is closed to the context of a node.
    pub(crate) fn check_open_to(&self, context: Handle) -> Result<()> {
        self.check_open(Use::FillNode, || User::named(context))
    }

    pub(crate) fn run(&self) {
        // SAFETY: `Fill::operation` checked that the fill stays in the allocation, which `within` keeps
        // alive.
        unsafe { self.fill.run() };
    }
}

/// The outcome of checking a fill.
enum Checked {
    /// There is nothing to fill.
    Nothing,
    /// It stays within this memory.
    Within(Arc<Allocation>),
    Faults,
}

impl Fill {
    /// Checks the fill and makes a stream operation of it; `None` if there is nothing to fill.
    pub fn operation(self) -> Result<Option<Operation>> {
        Ok(match self.check()? {
            Checked::Nothing => None,
            Checked::Within(within) => Some(Operation::Fill(Filling { fill: self, within })),
            Checked::Faults => Some(Operation::Fault(Error::IllegalAddress)),
        })
    }

    /// Submits a checked fill.
    #[inline]
    fn submit(&self, checked: Checked, stream: &Arc<Stream>, policy: Policy, rights: Rights) -> Result<()> {
        match checked {
            Checked::Nothing => Ok(()),
            Checked::Within(within) => {
                let filling = Filling { fill: *self, within };
                if rights != Rights::Ignored {
                    filling.check_open(Use::Fill, || Ok(User::of(stream)))?;
                }
                stream.submit(Operation::Fill(filling), policy)
            }
            Checked::Faults => stream.submit(Operation::Fault(Error::IllegalAddress), policy),
        }
    }

    fn check(&self) -> Result<Checked> {
        let element = u64::from(self.element);
        if self.width == 0 || self.height == 0 {
            return Ok(Checked::Nothing);
        }
        let aligned =
            self.to.is_multiple_of(element) && (self.height == 1 || self.pitch.is_multiple_of(element));
        if self.to == 0 || !aligned {
            return Err(Error::InvalidValue);
        }
        let row = self.width.checked_mul(element).filter(|row| self.to.checked_add(*row).is_some());
        let Some(row) = row else {
            // The hardware accepts a size that wraps around, and faults when the fill runs.
            super::check_device(self.to, 0)?;
            return Ok(Checked::Faults);
        };
        if self.height > 1 && self.pitch < row {
            return Err(Error::InvalidValue);
        }
        let span = Block::span([row, self.height, 1], [self.pitch, 0]).ok_or(Error::InvalidValue)?;
        super::check_device(self.to, span).map(Checked::Within)
    }
}

/// Checks fills and submits them to the stream that `stream` returns. With `wait` the call is synchronous: it
/// returns after memory that host code can read has been filled.
pub fn fill_all<E: From<Error>>(
    fills: &[Fill],
    stream: impl FnOnce() -> std::result::Result<Arc<Stream>, E>,
    wait: bool,
    rights: Rights,
) -> std::result::Result<(), E> {
    let policy = Policy::waiting(wait);
    if let [fill] = fills {
        let checked = fill.check()?;
        return Ok(fill.submit(checked, &stream()?, policy, rights)?);
    }
    let all = fills.iter().map(Fill::check).collect::<Result<Vec<_>>>()?;
    let stream = stream()?;
    for (fill, checked) in fills.iter().zip(all) {
        fill.submit(checked, &stream, policy, rights)?;
    }
    Ok(())
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
        // SAFETY: both arrays hold the whole block.
        unsafe { block.run() };
        let written: Vec<(usize, u8)> = to.iter().copied().enumerate().filter(|w| w.1 != 0).collect();
        assert_eq!(written, [(1, 1), (4, 5), (5, 6), (10, 20), (11, 21), (14, 25), (15, 26)]);
        assert_eq!(Block::span(block.extent, block.to_pitch), Some(16));
        assert_eq!(Block::span([1, u64::MAX, 1], [4, 0]), None);
        // SAFETY: the array holds the whole block.
        assert_eq!(unsafe { block.gather() }, [0, 1, 5, 6, 20, 21, 25, 26]);
    }

    #[test]
    fn rows_without_gaps_are_joined() {
        let block = |extent, from_pitch, to_pitch| {
            let b = Block { from: 0, to: 0, extent, from_pitch, to_pitch }.joined();
            (b.extent, b.from_pitch[0], b.to_pitch[0])
        };
        assert_eq!(block([4, 3, 2], [4, 12], [4, 12]).0, [24, 1, 1]);
        assert_eq!(block([4, 3, 1], [4, 12], [4, 99]).0, [12, 1, 1]);
        assert_eq!(block([4, 3, 2], [4, 12], [4, 20]), ([12, 2, 1], 12, 20));
        assert_eq!(block([4, 3, 2], [5, 15], [4, 12]), ([4, 3, 2], 5, 4));
    }
}
