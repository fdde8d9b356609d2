//! Copies as programs request them: two sides, each with a kind of memory, offsets and pitches.
//!
//! [`Transfer::check`] makes a [`Copy`](struct@Copy), a stream operation, from a request. It refuses ranges
//! that exceed an allocation of any kind, and keeps the memory alive. As on the hardware, the call returns at
//! once unless one side is memory that the program may change afterwards.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::profile;
use crate::stream::{Operation, Policy, Stream};

use super::array::{self, Array};
use super::copy::Block;
use super::rights::{self, Rights, Use, User};
use super::{Allocation, find_range, space};

/// The memory of one side, as the program declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Host memory: the program's, or page-locked memory of the driver.
    Host(u64),
    /// Memory known to the driver.
    Device(u64),
    /// Either of them, decided by the address.
    Any(u64),
    /// An array.
    Array(Handle),
}

impl Place {
    /// The address; `None` for an array.
    #[inline]
    fn address(self) -> Option<u64> {
        match self {
            Place::Host(base) | Place::Device(base) | Place::Any(base) => Some(base),
            Place::Array(_) => None,
        }
    }

    /// Checks one row of bytes from an address on, and finds what keeps its memory alive.
    #[inline]
    fn check_line(self, base: u64, bytes: u64) -> Result<Keep> {
        if base == 0 {
            return Err(Error::InvalidValue);
        }
        self.known(base, 0, bytes)
    }

    /// What keeps bytes alive that start `before` bytes after an address.
    #[inline]
    fn known(self, base: u64, before: u64, bytes: u64) -> Result<Keep> {
        match find_range(base, before, bytes)? {
            // Addresses of the driver that nothing has: memory that was freed, or never mapped.
            None if matches!(self, Place::Device(_)) || space::contains(base) => Err(Error::InvalidValue),
            None => Ok(Keep::Program),
            Some(allocation) => Ok(Keep::Allocation(allocation)),
        }
    }
}

/// One side of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// The memory.
    pub place: Place,
    /// Bytes, rows and slices to skip.
    pub offset: [u64; 3],
    /// Bytes from row to row and rows from slice to slice; 0 stands for the extent of the copy. Arrays use
    /// their own.
    pub pitch: [u64; 2],
}

impl Side {
    /// Memory from its start on.
    #[inline]
    pub fn at(place: Place) -> Self {
        Side { place, offset: [0; 3], pitch: [0; 2] }
    }

    /// The first row of an array, from a byte offset on.
    pub fn array(handle: Handle, offset: u64) -> Self {
        Side { place: Place::Array(handle), offset: [offset, 0, 0], pitch: [0; 2] }
    }
}

/// A copy as a program requests it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The destination.
    pub to: Side,
    /// The source.
    pub from: Side,
    /// Bytes per row, rows per slice, slices.
    pub extent: [u64; 3],
}

impl Transfer {
    /// Whether it copies more than one row.
    pub(crate) fn has_rows(&self) -> bool {
        self.extent[1] > 1 || self.extent[2] > 1
    }

    /// What it copies apart from where: the extent and the pitches.
    pub(crate) fn shape(&self) -> ([u64; 3], [[u64; 2]; 2]) {
        (self.extent, [self.from.pitch, self.to.pitch])
    }
}

/// The maximum pitch.
const MAX_PITCH: u64 = 0x7fff_ffff;
/// Program memory up to this size is read before an asynchronous copy returns, so that the call need not wait
/// for the stream.
const STAGED: u64 = 64 << 10;

/// What keeps the memory of a side alive.
#[derive(Clone)]
enum Keep {
    /// Nothing: memory unknown to the driver. The creator of the copy guarantees it.
    Program,
    /// The allocation.
    Allocation(Arc<Allocation>),
    /// The array.
    Array(Arc<Array>),
    /// The contents of the program's memory at submission.
    Bytes(Arc<Vec<u8>>),
}

impl Keep {
    fn is_program(&self) -> bool {
        matches!(self, Keep::Program)
    }

    fn check_present(&self) -> Result<()> {
        match self {
            Keep::Allocation(allocation) => allocation.check_present(),
            Keep::Program | Keep::Array(_) | Keep::Bytes(_) => Ok(()),
        }
    }

    /// The array whose memory is not rows at a fixed pitch, or may be absent.
    fn mapped_array(&self) -> Option<&Array> {
        match self {
            Keep::Array(array) if array.mapped().is_some() => Some(array),
            _ => None,
        }
    }

    fn is_device(&self) -> bool {
        match self {
            Keep::Program | Keep::Bytes(_) => false,
            Keep::Allocation(allocation) => !allocation.on_host(),
            Keep::Array(_) => true,
        }
    }
}

/// The memory layout of a side.
struct Layout {
    base: u64,
    /// Bytes to skip before the first copied byte.
    before: u64,
    /// Bytes from row to row and from slice to slice.
    pitch: [u64; 2],
}

impl Side {
    /// The layout; `None` if it exceeds the address space.
    fn layout(&self, extent: [u64; 3], array: Option<&Array>) -> Option<Layout> {
        let [x, y, z] = self.offset;
        let (base, pitch) = match (self.place, array) {
            (_, Some(array)) => {
                let [width, height, _] = array.extent;
                (array.base, [width, width.saturating_mul(height)])
            }
            (Place::Host(base) | Place::Device(base) | Place::Any(base) | Place::Array(base), None) => {
                let row = if self.pitch[0] == 0 { x.checked_add(extent[0])? } else { self.pitch[0] };
                let rows = if self.pitch[1] == 0 { y.checked_add(extent[1])? } else { self.pitch[1] };
                let slice = row.checked_mul(rows).or((extent[2] <= 1 && z == 0).then_some(0))?;
                (base, [row, slice])
            }
        };
        let before = z.checked_mul(pitch[1])?.checked_add(y.checked_mul(pitch[0])?)?.checked_add(x)?;
        Some(Layout { base, before, pitch })
    }

    /// Checks the side and finds what keeps its memory alive.
    fn check(&self, extent: [u64; 3]) -> Result<Keep> {
        let [x, y, z] = self.offset;
        let last = |offset: u64, length: u64| offset.checked_add(length).ok_or(Error::InvalidValue);
        let (right, bottom, back) = (last(x, extent[0])?, last(y, extent[1])?, last(z, extent[2])?);
        if let Place::Array(handle) = self.place {
            let array = array::get(handle).map_err(|_| Error::InvalidValue)?;
            let [width, height, depth] = array.extent;
            let whole = array.block.is_none_or(|b| x.is_multiple_of(b) && right.is_multiple_of(b));
            if right > width || bottom > height || back > depth || !whole {
                return Err(Error::InvalidValue);
            }
            return Ok(Keep::Array(array));
        }
        let Layout { base, before, pitch } = self.layout(extent, None).ok_or(Error::InvalidValue)?;
        // Whole rows of device memory may be skipped as bytes. The manual forbids it, but Dr.Jit has relied
        // on it since 2022. A row that is skipped in part must still hold the copied bytes (tests/probe).
        let right = match (self.place, self.pitch[0]) {
            (Place::Device(_), pitch @ 1..) => last(x % pitch, extent[0])?,
            _ => right,
        };
        let short_slice = self.pitch[1] != 0 && self.pitch[1] < bottom;
        if self.pitch[0] > MAX_PITCH || pitch[0] < right || short_slice || base == 0 {
            return Err(Error::InvalidValue);
        }
        let span = Block::span(extent, pitch).ok_or(Error::InvalidValue)?;
        base.checked_add(before).ok_or(Error::InvalidValue)?;
        self.place.known(base, before, span)
    }

    /// The first byte and the pitches of a checked side.
    fn resolve(&self, extent: [u64; 3], keep: &Keep) -> Result<(u64, [u64; 2])> {
        let array = if let Keep::Array(array) = keep { Some(&**array) } else { None };
        let Layout { base, before, pitch } = self.layout(extent, array).ok_or(Error::InvalidValue)?;
        Ok((base.wrapping_add(before), pitch))
    }
}

/// Whether every page of a range can be read, so far as the system tells.
fn is_mapped(address: u64, size: u64) -> bool {
    const PAGE: u64 = 4096;
    /// Pages asked about at once.
    const MOST: usize = 512;
    let Some(last) = address.checked_add(size.saturating_sub(1)) else { return false };
    let pages = (address / PAGE + 1..=last / PAGE).map(|page| page * PAGE);
    let mut bytes = std::iter::once(address).chain(pages).peekable();
    let mut copy = [0u8; MOST];
    let into = libc::iovec { iov_base: copy.as_mut_ptr().cast(), iov_len: MOST };
    while bytes.peek().is_some() {
        let some: Vec<_> = bytes
            .by_ref()
            .take(MOST)
            .map(|at| libc::iovec { iov_base: at as *mut libc::c_void, iov_len: 1 })
            .collect();
        let count = some.len() as libc::c_ulong;
        // SAFETY: the call only writes to the array, which has room for a byte of each page; it fails for
        // pages that this process cannot read.
        let read =
            unsafe { libc::process_vm_readv(libc::getpid(), &raw const into, 1, some.as_ptr(), count, 0) };
        let unknown = || std::io::Error::last_os_error().raw_os_error() != Some(libc::EFAULT);
        if usize::try_from(read) != Ok(some.len()) {
            // Some systems forbid the call.
            return read < 0 && unknown();
        }
    }
    true
}

impl Transfer {
    /// A copy of `size` contiguous bytes.
    #[inline]
    pub fn line(to: Place, from: Place, size: u64) -> Self {
        Transfer { to: Side::at(to), from: Side::at(from), extent: [size, 1, 1] }
    }

    /// Checks both sides and submits the copy to the stream that `stream` returns. With `wait` the call is
    /// synchronous and returns after the copy, except for a copy within the device.
    ///
    /// # Safety
    /// As for [`Transfer::check`].
    #[inline]
    pub unsafe fn run<E: From<Error>>(
        &self,
        stream: impl FnOnce() -> std::result::Result<Arc<Stream>, E>,
        wait: bool,
        rights: Rights,
    ) -> std::result::Result<(), E> {
        // SAFETY: the caller's.
        let checked = unsafe { self.check() }?;
        let stream = stream()?;
        match checked {
            Some(copy) => copy.submit(&stream, wait, rights)?,
            // A copy that waits concerns a capture also if it copies nothing (recorded on an H200).
            None if wait => stream.check_not_capturing()?,
            None => {}
        }
        Ok(())
    }

    /// Checks both sides; `None` if there is nothing to copy.
    ///
    /// # Safety
    /// Memory unknown to the driver must be accessible when the copy is submitted, and until the submitting
    /// call returns.
    #[inline]
    pub unsafe fn check(&self) -> Result<Option<Copy>> {
        if self.extent.contains(&0) {
            return Ok(None);
        }
        if let Some((line, [to, from])) = self.as_line() {
            let from = line.from.check_line(from, line.bytes)?;
            let to = line.to.check_line(to, line.bytes)?;
            return Ok(Some(Copy { asked: Asked::Line(line), from, to }));
        }
        self.check_block().map(Some)
    }

    fn check_block(&self) -> Result<Copy> {
        let (from, to) = (self.from.check(self.extent)?, self.to.check(self.extent)?);
        Ok(Copy { asked: Asked::Block(Box::new(*self)), from, to })
    }

    /// The same as one row of bytes, and the addresses of the destination and the source.
    #[inline]
    fn as_line(&self) -> Option<(Line, [u64; 2])> {
        let plain = |side: &Side| side.offset == [0; 3] && side.pitch == [0; 2];
        if self.has_rows() || !plain(&self.to) || !plain(&self.from) {
            return None;
        }
        let Transfer { to: Side { place: to, .. }, from: Side { place: from, .. }, extent } = *self;
        Some((Line { to, from, bytes: extent[0] }, [to.address()?, from.address()?]))
    }
}

/// One row of bytes between addresses.
#[derive(Clone, Copy)]
struct Line {
    to: Place,
    from: Place,
    bytes: u64,
}

/// What a program asked for. Most copies are of one row, and their operations are small: moving a large one
/// takes as long as many small copies.
#[derive(Clone)]
enum Asked {
    Line(Line),
    Block(Box<Transfer>),
}

/// A checked copy, as a stream operation.
#[derive(Clone)]
pub struct Copy {
    /// The program's request.
    asked: Asked,
    from: Keep,
    to: Keep,
}

impl Copy {
    /// What the program asked for.
    pub(crate) fn asked(&self) -> Transfer {
        match &self.asked {
            Asked::Line(Line { to, from, bytes }) => Transfer::line(*to, *from, *bytes),
            Asked::Block(transfer) => **transfer,
        }
    }

    #[inline]
    fn submit(self, stream: &Arc<Stream>, wait: bool, rights: Rights) -> Result<()> {
        self.check_open_in(stream, rights)?;
        stream.submit(Operation::Copy(self), Policy::waiting(wait))
    }

    /// Fails if a side is closed to the context that uses it in a stream.
    #[inline]
    pub fn check_open_in(&self, stream: &Stream, rights: Rights) -> Result<()> {
        self.check_open(rights, |handle| User::of_copy(handle, stream))
    }

    /// Fails if a side is closed to the context that `user` returns for its handle.
    #[inline]
    pub(crate) fn check_open(&self, rights: Rights, user: impl Fn(Handle) -> Result<User>) -> Result<()> {
        let Rights::Of([to, from]) = rights else { return Ok(()) };
        let span = |at, extent, pitch| Ok((at, Block::span(extent, pitch).unwrap_or(0)));
        if let Keep::Allocation(memory) = &self.to {
            let range = || self.block().and_then(|block| span(block.to, block.extent, block.to_pitch));
            rights::check(Use::CopyTo, memory, || user(to), range)?;
        }
        if let Keep::Allocation(memory) = &self.from {
            let range = || self.block().and_then(|block| span(block.from, block.extent, block.from_pitch));
            rights::check(Use::CopyFrom, memory, || user(from), range)?;
        }
        Ok(())
    }

    /// What a profile calls it.
    pub(crate) fn kind(&self) -> profile::Kind {
        match (self.from.is_device(), self.to.is_device()) {
            (true, true) => profile::Kind::DeviceToDevice,
            (true, false) => profile::Kind::DeviceToHost,
            (false, true) => profile::Kind::HostToDevice,
            (false, false) => profile::Kind::HostToHost,
        }
    }

    /// The number of bytes that it copies.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        match &self.asked {
            Asked::Line(line) => line.bytes,
            Asked::Block(asked) => asked.extent.iter().fold(1, |product: u64, n| product.saturating_mul(*n)),
        }
    }

    /// Whether all memory that the driver does not know can be read. Asks the system, so only copies that the
    /// program can expect to be checked do it.
    pub fn is_mapped(&self) -> bool {
        let Ok(block) = self.block() else { return false };
        let extent = block.extent;
        let sides = [(&self.from, block.from, block.from_pitch), (&self.to, block.to, block.to_pitch)];
        sides.into_iter().all(|(keep, at, pitch)| {
            !keep.is_program() || Block::span(extent, pitch).is_some_and(|size| is_mapped(at, size))
        })
    }

    /// The resolved addresses and pitches of both sides.
    #[inline]
    fn block(&self) -> Result<Block> {
        let Transfer { to, from, extent } = match &self.asked {
            Asked::Line(line) => return line.block(&self.from),
            Asked::Block(asked) => &**asked,
        };
        let (to, to_pitch) = to.resolve(*extent, &self.to)?;
        let (from, from_pitch) = match &self.from {
            Keep::Bytes(bytes) => (bytes.as_ptr() as u64, [extent[0], extent[0].wrapping_mul(extent[1])]),
            keep => from.resolve(*extent, keep)?,
        };
        Ok(Block { from, to, extent: *extent, from_pitch, to_pitch })
    }

    /// Whether the source is program memory that is small enough to be read at submission.
    fn can_be_staged(&self) -> bool {
        self.from.is_program() && self.bytes() <= STAGED
    }

    /// Whether the submitting call must wait for the copy. The hardware's driver may return once it has read
    /// small program memory. Programs rely on that, and read the result in streams that do not wait for this
    /// one.
    #[inline]
    pub(crate) fn must_end(&self, wait: bool) -> bool {
        let within_device = self.from.is_device() && self.to.is_device();
        let uses_program = self.to.is_program() || (self.from.is_program() && !self.can_be_staged());
        (wait && !within_device) || uses_program
    }

    /// Reads the program's memory now if it is small.
    pub(crate) fn stage(&mut self) {
        if self.can_be_staged()
            && let Ok(block) = self.block()
        {
            // SAFETY: the creator of the copy guarantees the source until this call returns.
            self.from = Keep::Bytes(Arc::new(unsafe { block.gather() }));
        }
    }

    /// Fails if a side is memory of a graph that is not allocated.
    #[inline]
    pub(crate) fn check_present(&self) -> Result<()> {
        self.from.check_present()?;
        self.to.check_present()
    }

    /// Copies from or to an array that the program maps: what has no memory reads as 0 and drops writes.
    fn run_by_parts(&self) -> Result<()> {
        let (block, asked) = (self.block()?, self.asked());
        let [width, height, depth] = asked.extent;
        let at = |side: &Side, keep: &Keep, base: u64, pitch: [u64; 2], [x, y, z]: [u64; 3]| match keep
            .mapped_array()
        {
            Some(array) => array.find(side.offset[0] + x, side.offset[1] + y, side.offset[2] + z),
            None => (
                base.wrapping_add(z.wrapping_mul(pitch[1])).wrapping_add(y.wrapping_mul(pitch[0])) + x,
                width - x,
                true,
            ),
        };
        for (z, y) in (0..depth).flat_map(|z| (0..height).map(move |y| (z, y))) {
            let mut x = 0;
            while x < width {
                let place = [x, y, z];
                let (from, one, readable) = at(&asked.from, &self.from, block.from, block.from_pitch, place);
                let (to, other, writable) = at(&asked.to, &self.to, block.to, block.to_pitch, place);
                let bytes = one.min(other).min(width - x).max(1);
                // SAFETY: both sides were checked, and `self` keeps their memory alive (see `run`).
                unsafe {
                    let (from, to) = (from as *const u8, to as *mut u8);
                    match (writable, readable) {
                        (false, _) => {}
                        (true, false) => to.write_bytes(0, bytes as usize),
                        (true, true) => to.copy_from(from, bytes as usize),
                    }
                }
                x += bytes;
            }
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn run(&self) -> Result<()> {
        if self.from.mapped_array().is_some() || self.to.mapped_array().is_some() {
            return self.run_by_parts();
        }
        let block = self.block()?.joined();
        // SAFETY: both sides were checked, and `self` keeps their memory alive. The creator of the copy
        // guarantees the program's own memory until the submitting call returns, which waits for the copy to
        // end (`must_end`).
        unsafe { block.run() };
        Ok(())
    }
}

impl Line {
    #[inline]
    fn block(&self, source: &Keep) -> Result<Block> {
        let Line { to, from, bytes } = *self;
        let (Some(to), Some(mut from)) = (to.address(), from.address()) else {
            return Err(Error::InvalidValue);
        };
        if let Keep::Bytes(staged) = source {
            from = staged.as_ptr() as u64;
        }
        Ok(Block { from, to, extent: [bytes, 1, 1], from_pitch: [bytes; 2], to_pitch: [bytes; 2] })
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
        let resolved = |side: Side| {
            let keep = side.check([5, 2, 2])?;
            assert!(keep.is_program() && !keep.is_device());
            side.resolve([5, 2, 2], &keep)
        };
        assert_eq!(resolved(side([10, 4], [3, 1, 1])), Ok((0x10_0000 + 40 + 10 + 3, [10, 40])));
        assert_eq!(resolved(side([0, 0], [0; 3])), Ok((0x10_0000, [5, 10])));
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
    fn memory_that_is_not_mapped() {
        let bytes = vec![0u8; 3 << 12];
        let at = bytes.as_ptr() as u64;
        assert!(is_mapped(at, 3 << 12) && is_mapped(at, 1) && is_mapped(at, 0));
        assert!(!is_mapped(0x1230, 16) && !is_mapped(0x1230, at) && !is_mapped(u64::MAX, 2));
        let large = vec![0u8; 600 << 12];
        assert!(is_mapped(large.as_ptr() as u64 + 1, (600 << 12) - 1));
        let (flags, size) = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, 2 << 12);
        // SAFETY: an address of the kernel's choice.
        let pages = unsafe { libc::mmap(std::ptr::null_mut(), size, libc::PROT_READ, flags, -1, 0) };
        assert_ne!(pages, libc::MAP_FAILED);
        // SAFETY: the second of these pages, which nothing else uses.
        assert_eq!(unsafe { libc::mprotect(pages.byte_add(4096), 4096, libc::PROT_NONE) }, 0);
        assert!(is_mapped(pages as u64 + 4095, 1) && !is_mapped(pages as u64 + 4095, 2));
        // SAFETY: as above.
        assert_eq!(unsafe { libc::munmap(pages, size) }, 0);
    }

    #[test]
    fn nothing_is_always_right() {
        let nothing = Transfer::line(Place::Device(0), Place::Host(0), 0);
        // SAFETY: nothing is copied.
        assert!(matches!(unsafe { nothing.check() }, Ok(None)));
    }

    #[test]
    fn small_memory_of_the_program_is_read_when_the_copy_is_staged() {
        let (from, to) = ([1u8, 2, 3, 4, 5, 6], [0u8; 6]);
        let at = |bytes: &[u8; 6]| Side { pitch: [3, 0], ..Side::at(Place::Host(bytes.as_ptr() as u64)) };
        let transfer = Transfer { to: at(&to), from: at(&from), extent: [2, 2, 1] };
        // SAFETY: the arrays outlive the copies.
        let mut copy = unsafe { transfer.check() }.unwrap().unwrap();
        assert!(copy.must_end(false), "the program reads what is written");
        copy.stage();
        let Keep::Bytes(bytes) = &copy.from else { panic!("not staged") };
        assert_eq!(bytes[..], [1, 2, 4, 5]);
        let block = copy.block().unwrap();
        assert_eq!((block.from_pitch, block.to_pitch[0]), ([2, 4], 3));
        assert!(block.from != from.as_ptr() as u64 && block.to == to.as_ptr() as u64);
    }
}
