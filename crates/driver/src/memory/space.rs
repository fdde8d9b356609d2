//! The reserved address range for device memory.
//!
//! Small allocations share blocks of 2 MiB, at multiples of 512 bytes: those that other processes may open in
//! one kind of block, the others in another. Larger ones have their own pages, followed by a guard page.
//! Unused pages are inaccessible, so a kernel that reads or writes out of bounds faults.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use host::mapped::Watched;

use crate::error::{Error, Result};
use crate::handle::lock;
use crate::log;

use super::files::Files;
use super::limit;

/// The alignment of small allocations.
const UNIT: u64 = 512;
/// The size of blocks of small allocations, and the alignment of large ones.
pub(super) const BLOCK: u64 = 2 << 20;
/// Allocations of this size or more have their own pages.
pub(super) const LARGE: u64 = 1 << 20;
pub(super) const PAGE: u64 = 4096;

/// Free ranges, never adjacent, except at the borders of blocks of small allocations.
#[derive(Default)]
struct Ranges {
    /// Sizes by start address.
    sizes: BTreeMap<u64, u64>,
    /// Sizes and start addresses.
    by_size: BTreeSet<(u64, u64)>,
}

impl Ranges {
    /// Takes `size` bytes from the smallest range that is large enough.
    fn take(&mut self, size: u64) -> Option<u64> {
        let (length, start) = *self.by_size.range((size, 0)..).next()?;
        self.remove(start);
        if length > size {
            self.insert(start + size, length - size);
        }
        Some(start)
    }

    fn insert(&mut self, start: u64, size: u64) {
        self.sizes.insert(start, size);
        self.by_size.insert((size, start));
    }

    fn remove(&mut self, start: u64) -> Option<u64> {
        let size = self.sizes.remove(&start)?;
        self.by_size.remove(&(size, start));
        Some(size)
    }

    fn give(&mut self, start: u64, size: u64) {
        self.join(start, size, |_| true);
    }

    /// Gives a part of a block: no allocation reaches into the next block, which may lie elsewhere in the
    /// file.
    fn give_part(&mut self, start: u64, size: u64) {
        self.join(start, size, |border| !border.is_multiple_of(BLOCK));
    }

    fn join(&mut self, mut start: u64, mut size: u64, joins: impl Fn(u64) -> bool) {
        if joins(start)
            && let Some((before, length)) = self.sizes.range(..start).next_back().map(|(s, l)| (*s, *l))
            && before + length == start
        {
            self.remove(before);
            start = before;
            size += length;
        }
        if joins(start + size)
            && let Some(after) = self.remove(start + size)
        {
            size += after;
        }
        self.insert(start, size);
    }
}

/// Parts of blocks that are free. Those freed last are kept apart by size, so that programs which free and
/// allocate the same sizes again and again need not join and split ranges.
struct Parts {
    free: Ranges,
    /// Start addresses by size, the smallest first.
    last: [Vec<u64>; Self::SIZES],
}

impl Default for Parts {
    fn default() -> Parts {
        Parts { free: Ranges::default(), last: [const { Vec::new() }; Self::SIZES] }
    }
}

impl Parts {
    /// The number of sizes kept apart.
    const SIZES: usize = 64;
    /// The most parts of a size.
    const OF_A_SIZE: usize = 32;

    /// Where parts of a size are kept apart.
    fn kept(&mut self, size: u64) -> Option<&mut Vec<u64>> {
        self.last.get_mut((size / UNIT) as usize - 1)
    }

    fn take(&mut self, size: u64) -> Option<u64> {
        if let Some(start) = self.kept(size).and_then(Vec::pop) {
            return Some(start);
        }
        self.free.take(size).or_else(|| {
            self.join();
            self.free.take(size)
        })
    }

    fn give(&mut self, start: u64, size: u64) {
        match self.kept(size) {
            Some(kept) if kept.len() < Self::OF_A_SIZE => kept.push(start),
            _ => self.free.give_part(start, size),
        }
    }

    /// Joins what is kept apart with its neighbours.
    fn join(&mut self) {
        for (kept, size) in self.last.iter_mut().zip((UNIT..).step_by(UNIT as usize)) {
            kept.drain(..).for_each(|start| self.free.give_part(start, size));
        }
    }
}

/// Start and size of the reservation.
static RESERVED: (AtomicU64, AtomicU64) = (AtomicU64::new(0), AtomicU64::new(0));

/// Start and size of the reservation below [`NARROW_END`].
static NARROW: (AtomicU64, AtomicU64) = (AtomicU64::new(0), AtomicU64::new(0));
/// The first address that 32 bits cannot hold.
const NARROW_END: u64 = 1 << 32;

/// Whether an address lies in a reservation.
pub(super) fn contains(address: u64) -> bool {
    [&RESERVED, &NARROW].iter().any(|(start, size)| {
        address.wrapping_sub(start.load(Ordering::Acquire)) < size.load(Ordering::Acquire)
    })
}

/// Who may use an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum For {
    /// This process; a child of a fork gets a copy.
    Process,
    /// Other processes too, by handle ([`share`]).
    Others,
}

/// A range in use.
struct Taken {
    /// The bytes taken from the free ranges.
    size: u64,
    /// The kind of block.
    whose: For,
}

struct Space {
    large: Ranges,
    /// Parts of blocks for this process, and of blocks for others too.
    small: [Parts; 2],
    /// Pages with addresses of 32 bits; reserved by the first allocation that needs one.
    narrow: Option<Ranges>,
    /// Ranges in use, by start address.
    taken: BTreeMap<u64, Taken>,
    files: Files,
    /// The reserved addresses: a kernel's texture may lie in memory that was freed.
    watched: Vec<Watched>,
}

fn space() -> Option<&'static Mutex<Space>> {
    static SPACE: OnceLock<Option<Mutex<Space>>> = OnceLock::new();
    SPACE
        .get_or_init(|| {
            let most = limit::address_space().unwrap_or(u64::MAX).min(MOST);
            let sizes = std::iter::successors(Some(most), |size| Some(size / 2 / BLOCK * BLOCK));
            let reserved = sizes
                .take_while(|size| *size >= 2 * BLOCK)
                .find_map(|size| Some((reserve(0, size as usize)?, size)));
            let Some((start, size)) = reserved else {
                log::say(log::Level::Error, || "cannot reserve device addresses; check ulimit -v".into());
                return None;
            };
            RESERVED.0.store(start, Ordering::Release);
            RESERVED.1.store(size, Ordering::Release);
            let first = start.next_multiple_of(BLOCK);
            let mut large = Ranges::default();
            large.give(first, (start + size - first) / BLOCK * BLOCK);
            Some(Mutex::new(Space {
                large,
                small: Default::default(),
                narrow: None,
                taken: BTreeMap::new(),
                files: Files::default(),
                watched: vec![host::mapped::watch_for_kernels(start, size)],
            }))
        })
        .as_ref()
}

/// The maximum reservation in bytes.
pub(super) const MOST: u64 = 1 << 43;

/// The bytes of the reservation, which is made now if it does not exist yet; `None` if it cannot be made.
pub(super) fn reserved() -> Option<u64> {
    space().map(|_| RESERVED.1.load(Ordering::Acquire))
}

/// Reserves addresses, at `hint` if nothing is mapped there.
fn reserve(hint: u64, size: usize) -> Option<u64> {
    // SAFETY: a new private mapping, which replaces none.
    let address = unsafe {
        libc::mmap(
            hint as *mut libc::c_void,
            size,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    (address != libc::MAP_FAILED).then_some(address as u64)
}

fn commit(start: u64, size: u64) -> bool {
    let at = start as *mut libc::c_void;
    // SAFETY: the pages lie in the reservation and were just taken from its free ranges.
    unsafe {
        if libc::mprotect(at, size as usize, libc::PROT_READ | libc::PROT_WRITE) != 0 {
            return false;
        }
        if size >= 2 * BLOCK {
            libc::madvise(at, size as usize, libc::MADV_HUGEPAGE);
        }
    }
    true
}

fn release(start: u64, size: u64) {
    // SAFETY: the pages lie in the reservation, and their allocation is being freed. Mapping them anew drops
    // their contents.
    unsafe {
        libc::mmap(
            start as *mut libc::c_void,
            size as usize,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED,
            -1,
            0,
        );
    }
}

/// Allocates `size` bytes, readable and writable, at a multiple of 512 bytes, or of 2 MiB if large.
pub(super) fn alloc(size: u64, whose: For) -> Option<u64> {
    if size == 0 || size > 1 << 46 {
        return None;
    }
    let space = &mut *lock(space()?);
    if size < LARGE {
        let size = size.next_multiple_of(UNIT);
        let small = &mut space.small[whose as usize];
        let start = match small.take(size) {
            Some(start) => start,
            None => {
                let block = space.large.take(BLOCK)?;
                let in_file = whose == For::Others && space.files.add_block(block, BLOCK).is_ok();
                if !in_file && !commit(block, BLOCK) {
                    space.large.give(block, BLOCK);
                    return None;
                }
                small.give(block, BLOCK);
                small.take(size)?
            }
        };
        space.taken.insert(start, Taken { size, whose });
        return Some(start);
    }
    let pages = size.next_multiple_of(PAGE);
    let whole = (pages + PAGE).next_multiple_of(BLOCK);
    let start = space.large.take(whole)?;
    if !commit(start, pages) {
        space.large.give(start, whole);
        return None;
    }
    space.taken.insert(start, Taken { size: whole, whose });
    Some(start)
}

/// The largest range of addresses of 32 bits that nothing is mapped at.
fn reserve_narrow() -> Ranges {
    let mut ranges = Ranges::default();
    let places = (1..=4u32).flat_map(|part| (1..8).map(move |n| (NARROW_END >> part, n * (NARROW_END / 8))));
    for (size, hint) in places {
        let Some(start) = reserve(hint, size as usize) else { continue };
        if start + size <= NARROW_END {
            NARROW.0.store(start, Ordering::Release);
            NARROW.1.store(size, Ordering::Release);
            ranges.give(start, size);
            return ranges;
        }
        // SAFETY: the range was just reserved, and nothing uses it.
        unsafe { libc::munmap(start as *mut libc::c_void, size as usize) };
    }
    ranges
}

/// Allocates `size` bytes whose addresses have 32 bits, in pages of their own.
pub(super) fn alloc_narrow(size: u64) -> Option<u64> {
    if size == 0 || size > NARROW_END {
        return None;
    }
    let space = &mut *lock(space()?);
    let pages = size.next_multiple_of(PAGE);
    let watched = &mut space.watched;
    let narrow = space.narrow.get_or_insert_with(|| {
        let ranges = reserve_narrow();
        let (start, size) = (NARROW.0.load(Ordering::Acquire), NARROW.1.load(Ordering::Acquire));
        watched.push(host::mapped::watch_for_kernels(start, size));
        ranges
    });
    let start = narrow.take(pages + PAGE)?;
    if !commit(start, pages) {
        narrow.give(start, pages + PAGE);
        return None;
    }
    space.taken.insert(start, Taken { size: pages + PAGE, whose: For::Others });
    Some(start)
}

/// Frees a range from [`alloc`] or [`alloc_narrow`].
pub(super) fn free(start: u64) {
    let Some(space) = space() else { return };
    let mut space = lock(space);
    let Some(Taken { size, whose }) = space.taken.remove(&start) else { return };
    if start < NARROW_END
        && let Some(narrow) = &mut space.narrow
    {
        release(start, size);
        narrow.give(start, size);
        space.files.forget(start);
    } else if size < LARGE {
        space.small[whose as usize].give(start, size);
    } else {
        release(start, size);
        space.files.forget(start);
        space.large.give(start, size);
    }
}

/// Drops the contents of the whole pages of a range from [`alloc`] for this process alone; the range stays
/// usable.
pub(super) fn discard(start: u64, size: u64) {
    let (first, end) = (start.next_multiple_of(PAGE), (start + size) / PAGE * PAGE);
    if first < end {
        // SAFETY: the pages lie in one allocation, whose contents nothing needs any more.
        unsafe { libc::madvise(first as *mut libc::c_void, (end - first) as usize, libc::MADV_DONTNEED) };
    }
}

/// The start and size of the pages that are shared with an allocation of `size` bytes: its own, or its block.
fn pages(base: u64, size: u64) -> (u64, u64) {
    let own_pages = size >= LARGE || base < NARROW_END;
    if own_pages { (base, size.next_multiple_of(PAGE)) } else { (base / BLOCK * BLOCK, BLOCK) }
}

/// Whether the memory of an allocation of `size` bytes already lies in a file ([`share`]).
pub(super) fn is_in_file(base: u64, size: u64) -> bool {
    let (start, bytes) = pages(base, size);
    space().is_some_and(|space| lock(space).files.find(start, bytes).is_some())
}

/// Passes the file in which an allocation of `size` bytes lies, and its offset there, to `then`. Memory that
/// lies in none is moved to one: [`Files::take_over`].
pub(super) fn share<T>(
    base: u64,
    size: u64,
    all_can_wait: bool,
    then: impl FnOnce(&File, u64) -> Result<T>,
) -> Result<T> {
    let mut space = lock(space().ok_or(Error::OutOfMemory)?);
    let (start, bytes) = pages(base, size);
    if space.files.find(start, bytes).is_none() {
        space.files.take_over(start, bytes, all_can_wait)?;
    }
    let (file, offset) = space.files.find(start, bytes).ok_or(Error::OutOfMemory)?;
    then(file, offset + (base - start))
}

/// Whether the program has mapped the pages at an address.
pub(super) fn mapped(address: u64, size: u64) -> bool {
    let first = address / PAGE * PAGE;
    let Some(end) = address.checked_add(size) else { return false };
    // SAFETY: msync with MS_ASYNC changes nothing; it fails with ENOMEM if a page is not mapped.
    unsafe { libc::msync(first as *mut libc::c_void, (end - first) as usize, libc::MS_ASYNC) == 0 }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn neighbours_coalesce() {
        let mut r = Ranges::default();
        r.give(0, 100);
        assert_eq!(r.take(10), Some(0));
        assert_eq!(r.take(10), Some(10));
        assert_eq!(r.take(100), None);
        r.give(0, 10);
        assert_eq!(r.take(15), Some(20));
        r.give(10, 10);
        assert_eq!(r.take(20), Some(0));
    }

    #[test]
    fn blocks_do_not_coalesce() {
        let mut r = Ranges::default();
        r.give_part(BLOCK, BLOCK);
        assert_eq!(r.take(BLOCK - 512), Some(BLOCK));
        r.give_part(2 * BLOCK, BLOCK);
        assert_eq!(r.take(1024), Some(2 * BLOCK));
        assert_eq!(r.take(512), Some(2 * BLOCK - 512));
        r.give_part(2 * BLOCK, 1024);
        r.give_part(2 * BLOCK - 512, 512);
        r.give_part(BLOCK, BLOCK - 512);
        assert_eq!((r.take(BLOCK), r.take(BLOCK), r.take(1)), (Some(BLOCK), Some(2 * BLOCK), None));
    }

    #[test]
    fn parts_of_a_size_are_taken_again_and_joined_for_larger_ones() {
        let mut p = Parts::default();
        p.give(BLOCK, BLOCK);
        let parts: Vec<u64> = (0..BLOCK / 512).map(|_| p.take(512).unwrap()).collect();
        assert_eq!(p.take(512), None);
        p.give(parts[7], 512);
        p.give(parts[9], 512);
        assert_eq!((p.take(512), p.take(512), p.take(512)), (Some(parts[9]), Some(parts[7]), None));
        parts[..2000].iter().for_each(|start| p.give(*start, 512));
        assert_eq!(p.take(1969 * 512), Some(BLOCK));
        assert_eq!(p.take(32 * 512), None);
        assert_eq!(p.take(31 * 512), Some(BLOCK + 1969 * 512));
        assert_eq!(p.take(512), None);
    }

    #[test]
    fn shared_memory_takes_what_was_written() {
        const SIZE: u64 = 1 << 34;
        let at = alloc(SIZE, For::Others).unwrap();
        let byte = |offset: u64| (at + offset) as *mut u8;
        for offset in [5, 77 << 20, SIZE - 1] {
            // SAFETY: memory of that size was just allocated.
            unsafe { byte(offset).write(9) };
        }
        assert!(!is_in_file(at, SIZE));
        let blocks = share(at, SIZE, true, |file, offset| {
            let file = file.metadata().unwrap();
            assert_eq!((file.len(), offset), (SIZE, 0));
            Ok(std::os::unix::fs::MetadataExt::blocks(&file))
        });
        assert!(is_in_file(at, SIZE));
        assert!(blocks.unwrap() * 512 < 64 << 20, "{blocks:?}");
        for (offset, expected) in [(5, 9), (6, 0), (77 << 20, 9), (SIZE / 2, 0), (SIZE - 1, 9)] {
            // SAFETY: as above.
            assert_eq!(unsafe { byte(offset).read() }, expected, "{offset}");
        }
        free(at);
    }

    #[test]
    fn small_allocations_for_others_lie_in_one_file_and_the_rest_in_none() {
        const SIZE: u64 = 700 << 10;
        let others: Vec<u64> = (0..8).map(|_| alloc(SIZE, For::Others).unwrap()).collect();
        let ours: Vec<u64> = (0..8).map(|_| alloc(SIZE, For::Process).unwrap()).collect();
        let mut inodes = Vec::new();
        for (number, at) in others.iter().enumerate() {
            assert!(is_in_file(*at, SIZE));
            // SAFETY: memory of that size was just allocated.
            unsafe { std::ptr::write_bytes(*at as *mut u8, number as u8 + 1, SIZE as usize) };
            let first_and_last = share(*at, SIZE, true, |file, offset| {
                let mut bytes = [[0u8]; 2];
                file.read_exact_at(&mut bytes[0], offset).unwrap();
                file.read_exact_at(&mut bytes[1], offset + SIZE - 1).unwrap();
                inodes.push(std::os::unix::fs::MetadataExt::ino(&file.metadata().unwrap()));
                assert!(file.set_len(0).is_err(), "nobody can take the memory away");
                Ok(bytes.concat())
            });
            assert_eq!(first_and_last.unwrap(), [number as u8 + 1; 2]);
        }
        assert!(inodes.iter().all(|inode| *inode == inodes[0]));
        let of_block = |at: &u64| at / BLOCK;
        assert!(ours.iter().all(|at| !is_in_file(*at, SIZE)));
        assert!(ours.iter().map(of_block).all(|block| !others.iter().map(of_block).any(|b| b == block)));
        others.into_iter().chain(ours).for_each(free);
    }

    #[test]
    fn narrow_allocations_have_addresses_of_32_bits() {
        for _ in 0..3 {
            let all: Vec<u64> = [1, 4096, (1 << 20) + 1].map(|size| alloc_narrow(size).unwrap()).to_vec();
            for at in &all {
                assert!(*at < NARROW_END && contains(*at), "{at:#x}");
                // SAFETY: a page of that address was just allocated.
                unsafe { (*at as *mut u8).write(1) };
            }
            all.into_iter().for_each(free);
        }
        assert_eq!(alloc_narrow(NARROW_END), None);
    }

    #[test]
    fn allocations_do_not_overlap() {
        let sizes = [1, 512, 513, 4096, 1 << 20, (4 << 20) + 1];
        let all: Vec<(u64, u64)> = sizes.iter().map(|&s| (alloc(s, For::Process).unwrap(), s)).collect();
        for (i, a) in all.iter().enumerate() {
            assert_eq!(a.0 % 512, 0);
            for b in &all[..i] {
                assert!(a.0 + a.1 <= b.0 || b.0 + b.1 <= a.0, "{a:?} {b:?}");
            }
            // SAFETY: memory of that size was just allocated.
            unsafe {
                std::ptr::write_bytes(a.0 as *mut u8, 1, a.1 as usize);
            }
        }
        for a in &all {
            free(a.0);
        }
        assert!(!mapped(0x1000, 16));
    }
}
