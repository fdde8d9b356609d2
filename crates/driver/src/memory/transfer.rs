//! Copies as programs ask for them: two sides, each with its kind of memory, its offsets and its pitches.
//!
//! [`Transfer::check`] finds the plain addresses of both sides; a range that leaves an allocation, of whatever kind, is refused.
//! [`Checked::run`] copies them in the order of a stream. As on the hardware a call returns at once where neither side is memory that
//! the program may change as soon as it does.

use std::any::Any;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::stream::Stream;

use super::copy::Block;
use super::{array, find_range};

/// What an address is said to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The program's memory; the driver's own does as well.
    Host(u64),
    /// Memory that the driver knows.
    Device(u64),
    /// Either; the address tells.
    Any(u64),
    /// An array.
    Array(Handle),
}

/// One side of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// Where.
    pub place: Place,
    /// Bytes in the row, rows, slices to leave out.
    pub offset: [u64; 3],
    /// Bytes from row to row, rows from slice to slice; 0: as many as are copied. Arrays know their own.
    pub pitch: [u64; 2],
}

impl Side {
    /// A place from its first byte on.
    pub fn at(place: Place) -> Self {
        Side { place, offset: [0; 3], pitch: [0; 2] }
    }

    /// A place in an array's first row.
    pub fn array(handle: Handle, offset: u64) -> Self {
        Side { place: Place::Array(handle), offset: [offset, 0, 0], pitch: [0; 2] }
    }
}

/// A copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// What is written.
    pub to: Side,
    /// What is read.
    pub from: Side,
    /// Bytes of a row, rows, slices.
    pub extent: [u64; 3],
}

/// No pitch is larger.
const MAX_PITCH: u64 = 0x7fff_ffff;
/// Up to so many bytes of the program's memory are read before an asynchronous copy returns, rather than waiting for the stream.
const STAGED: u64 = 64 << 10;
/// Up to so many bytes are copied at once where nothing is in the way, rather than by another thread.
const INLINE: u64 = 64 << 10;

/// What a side lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    /// Memory that the driver does not know.
    Pageable,
    /// Memory of the driver's on the host.
    Host,
    /// Device memory or an array.
    Device,
}

/// An allocation or array, kept until the copy has ended.
type Keep = Option<Arc<dyn Any + Send + Sync>>;

struct End {
    address: u64,
    pitch: [u64; 2],
    within: Within,
    keep: Keep,
}

impl Side {
    fn check(&self, extent: [u64; 3]) -> Result<End> {
        let [x, y, z] = self.offset;
        let last = |offset: u64, length: u64| offset.checked_add(length).ok_or(Error::InvalidValue);
        let (right, bottom, back) = (last(x, extent[0])?, last(y, extent[1])?, last(z, extent[2])?);
        let offset = |row: u64, slice: u64| {
            let rows = y.checked_mul(row)?;
            z.checked_mul(slice)?.checked_add(rows)?.checked_add(x)
        };
        if let Place::Array(handle) = self.place {
            let array = array::get(handle).map_err(|_| Error::InvalidValue)?;
            let [width, height, depth] = array.extent;
            let whole = array.block.is_none_or(|b| x.is_multiple_of(b) && right.is_multiple_of(b));
            if right > width || bottom > height || back > depth || !whole {
                return Err(Error::InvalidValue);
            }
            let pitch = [width, width.saturating_mul(height)];
            let at = offset(pitch[0], pitch[1]).and_then(|o| array.base.checked_add(o));
            let address = at.ok_or(Error::InvalidValue)?;
            return Ok(End { address, pitch, within: Within::Device, keep: Some(array) });
        }
        let row = if self.pitch[0] == 0 { right } else { self.pitch[0] };
        let rows = if self.pitch[1] == 0 { bottom } else { self.pitch[1] };
        if self.pitch[0] > MAX_PITCH || row < right || (rows < bottom && extent[2] > 1) {
            return Err(Error::InvalidValue);
        }
        let slice =
            row.checked_mul(rows).or((extent[2] <= 1 && z == 0).then_some(0)).ok_or(Error::InvalidValue)?;
        let pitch = [row, slice];
        let (Place::Host(base) | Place::Device(base) | Place::Any(base) | Place::Array(base)) = self.place;
        if base == 0 {
            return Err(Error::InvalidValue);
        }
        let before = offset(row, slice).ok_or(Error::InvalidValue)?;
        let address = base.checked_add(before).ok_or(Error::InvalidValue)?;
        let span = Block::span(extent, pitch).ok_or(Error::InvalidValue)?;
        let (within, keep): (Within, Keep) = match find_range(base, before, span)? {
            None if matches!(self.place, Place::Device(_)) => return Err(Error::InvalidValue),
            None => (Within::Pageable, None),
            Some(a) if a.on_host() => (Within::Host, Some(a)),
            Some(a) => (Within::Device, Some(a)),
        };
        Ok(End { address, pitch, within, keep })
    }
}

impl Transfer {
    /// `size` bytes in a row.
    pub fn line(to: Place, from: Place, size: u64) -> Self {
        Transfer { to: Side::at(to), from: Side::at(from), extent: [size, 1, 1] }
    }

    /// Checks both sides and copies in the order of the stream that `stream` gives; `wait` as for [`Checked::run`].
    ///
    /// # Safety
    /// As for [`Checked::run`].
    pub unsafe fn run<E: From<Error>>(
        &self,
        stream: impl FnOnce() -> std::result::Result<Arc<Stream>, E>,
        wait: bool,
    ) -> std::result::Result<(), E> {
        let checked = self.check()?;
        let stream = stream()?;
        match checked {
            None => Ok(()),
            // SAFETY: by the caller's promise.
            Some(checked) => Ok(unsafe { checked.run(&stream, wait) }?),
        }
    }

    /// Checks both sides. `None`: there is nothing to copy.
    pub fn check(&self) -> Result<Option<Checked>> {
        if self.extent.contains(&0) {
            return Ok(None);
        }
        let (from, to) = (self.from.check(self.extent)?, self.to.check(self.extent)?);
        let block = Block {
            from: from.address,
            to: to.address,
            extent: self.extent,
            from_pitch: from.pitch,
            to_pitch: to.pitch,
        };
        let bytes = self.extent.iter().fold(1u64, |product, n| product.saturating_mul(*n));
        let keep = [from.keep, to.keep];
        Ok(Some(Checked { block: block.joined(), bytes, from: from.within, to: to.within, keep }))
    }
}

/// A copy whose sides have been checked.
pub struct Checked {
    block: Block,
    bytes: u64,
    from: Within,
    to: Within,
    keep: [Keep; 2],
}

impl Checked {
    /// Copies in the order of `stream`. `wait`: the call is one that returns when the copy is done (a copy within the device need not be).
    ///
    /// # Safety
    /// Memory that the driver does not know must be accessible, and stay so until the copy has ended.
    pub unsafe fn run(self, stream: &Arc<Stream>, wait: bool) -> Result<()> {
        let device = self.from == Within::Device && self.to == Within::Device;
        let staged = self.from == Within::Pageable && self.bytes <= STAGED;
        let pageable = self.to == Within::Pageable || (self.from == Within::Pageable && !staged);
        // The hardware may return once it has read small memory of the program's; programs rely on its being quick, and read the result in
        // streams that do not wait for this one.
        let must = (wait && !device) || pageable;
        if (must || self.bytes <= INLINE)
            && let Some(_now) = stream.begin()
        {
            stream.context()?.check()?;
            // SAFETY: both sides were checked or are vouched for by the caller.
            unsafe { self.block.run() };
            return Ok(());
        }
        let (mut block, mut copy) = (self.block, None);
        if staged && !must {
            // SAFETY: the side that is read is vouched for by the caller.
            let bytes = unsafe { block.gather() };
            block.from = bytes.as_ptr() as u64;
            block.from_pitch = block.packed();
            copy = Some(bytes);
        }
        let keep = (copy, self.keep);
        let end = stream.enqueue(
            false,
            Box::new(move || {
                // SAFETY: the allocations and the staged bytes live in `keep`, which this closure owns; other memory is there until the
                // call returns, which waits for it.
                unsafe { block.run() };
                drop(keep);
                Ok(())
            }),
        );
        if must {
            end.wait();
            return stream.context()?.check();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(pitch: [u64; 2], offset: [u64; 3]) -> Side {
        Side { place: Place::Host(0x10_0000), offset, pitch }
    }

    #[test]
    fn sides_of_host_memory() {
        let end = side([10, 4], [3, 1, 1]).check([5, 2, 2]).ok().map(|e| (e.address, e.pitch));
        assert_eq!(end, Some((0x10_0000 + 40 + 10 + 3, [10, 40])));
        let packed = side([0, 0], [0; 3]).check([5, 2, 2]).ok().map(|e| e.pitch);
        assert_eq!(packed, Some([5, 10]));
        for (wrong, extent) in [
            (side([4, 0], [0; 3]), [5, 1, 1]),
            (side([10, 0], [6, 0, 0]), [5, 1, 1]),
            (side([10, 2], [0, 1, 0]), [5, 2, 2]),
            (side([1 << 31, 0], [0; 3]), [5, 1, 1]),
            (side([0, 0], [u64::MAX, 0, 0]), [5, 1, 1]),
            (side([10, 0], [0, u64::MAX, 0]), [5, 1, 1]),
            (Side::at(Place::Host(0)), [1, 1, 1]),
            (Side::at(Place::Device(0x1234)), [1, 1, 1]),
            (Side::array(0x1234, 0), [1, 1, 1]),
        ] {
            assert_eq!(wrong.check(extent).err(), Some(Error::InvalidValue), "{wrong:?} {extent:?}");
        }
    }

    #[test]
    fn nothing_is_always_right() {
        let nothing = Transfer::line(Place::Device(0), Place::Host(0), 0);
        assert!(matches!(nothing.check(), Ok(None)));
    }
}
