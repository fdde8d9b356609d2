//! The reserved address range for device memory.
//!
//! Small allocations share blocks of 2 MiB, at multiples of 512 bytes. Larger ones have their own pages,
//! followed by a guard page. Unused pages are inaccessible, so a kernel that reads or writes out of bounds
//! faults.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use crate::error::{Error, Result};
use crate::handle::lock;
use crate::log;
use crate::shared;

/// The alignment of small allocations.
const UNIT: u64 = 512;
/// The size of blocks of small allocations, and the alignment of large ones.
const BLOCK: u64 = 2 << 20;
/// Allocations of this size or more have their own pages.
pub(super) const LARGE: u64 = 1 << 20;
const PAGE: u64 = 4096;

/// Free ranges by start address, never adjacent.
#[derive(Default)]
struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Takes `size` bytes from the first range that is large enough.
    fn take(&mut self, size: u64) -> Option<u64> {
        let (start, length) = self.0.iter().find(|(_, l)| **l >= size).map(|(s, l)| (*s, *l))?;
        self.0.remove(&start);
        if length > size {
            self.0.insert(start + size, length - size);
        }
        Some(start)
    }

    fn give(&mut self, mut start: u64, mut size: u64) {
        if let Some((before, length)) = self.0.range(..start).next_back().map(|(s, l)| (*s, *l))
            && before + length == start
        {
            self.0.remove(&before);
            start = before;
            size += length;
        }
        if let Some(after) = self.0.remove(&(start + size)) {
            size += after;
        }
        self.0.insert(start, size);
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

struct Space {
    large: Ranges,
    small: Ranges,
    /// Pages with addresses of 32 bits; reserved by the first allocation that needs one.
    narrow: Option<Ranges>,
    /// Ranges in use: the bytes taken from the free ranges, by start address.
    taken: BTreeMap<u64, u64>,
    /// Pages backed by a file, by start address.
    shared: BTreeMap<u64, File>,
}

fn space() -> Option<&'static Mutex<Space>> {
    static SPACE: OnceLock<Option<Mutex<Space>>> = OnceLock::new();
    SPACE
        .get_or_init(|| {
            let most = within_limit().unwrap_or(u64::MAX).min(MOST);
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
                small: Ranges::default(),
                narrow: None,
                taken: BTreeMap::new(),
                shared: BTreeMap::new(),
            }))
        })
        .as_ref()
}

/// The maximum reservation in bytes.
const MOST: u64 = 1 << 43;

/// Address space that the process needs besides: LLVM, stacks, shared and local memory of blocks, the program
/// itself.
const BESIDE: u64 = 768 << 20;

/// The maximum reservation under the process's address space limit; `None` without a limit.
fn within_limit() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the call only fills the structure.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } == 0;
    if !known || limit.rlim_cur == libc::RLIM_INFINITY {
        return None;
    }
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let used = pages.split(' ').next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(0) * PAGE;
    Some(share_of(limit.rlim_cur.saturating_sub(used)))
}

/// The bytes of an address space of this size that device memory may take.
fn share_of(left: u64) -> u64 {
    let beside = (left / 4).max(BESIDE.min(left / 2));
    (left - beside) / BLOCK * BLOCK
}

/// The largest number of arenas of the C library's `malloc` in a process whose address space is limited. Each
/// takes 64 MiB of addresses, and by default every thread has its own.
const ARENAS: i32 = 2;

/// The maximum memory of all devices together, if the process's address space is limited.
pub(crate) fn bound() -> Option<u64> {
    within_limit()?;
    // SAFETY: the call only sets a number.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, ARENAS) };
    // If there is no address space at all, allocations report it.
    space().map(|_| RESERVED.1.load(Ordering::Acquire) - BLOCK)
}

/// About what [`bound`] would be, without reserving anything.
pub(crate) fn bound_now() -> Option<u64> {
    within_limit().map(|most| most.min(MOST).saturating_sub(BLOCK))
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
pub(super) fn alloc(size: u64) -> Option<u64> {
    if size == 0 || size > 1 << 46 {
        return None;
    }
    let mut space = lock(space()?);
    if size < LARGE {
        let size = size.next_multiple_of(UNIT);
        let start = match space.small.take(size) {
            Some(start) => start,
            None => {
                let block = space.large.take(BLOCK)?;
                if !commit(block, BLOCK) {
                    space.large.give(block, BLOCK);
                    return None;
                }
                space.small.give(block, BLOCK);
                space.small.take(size)?
            }
        };
        space.taken.insert(start, size);
        return Some(start);
    }
    let pages = size.next_multiple_of(PAGE);
    let whole = (pages + PAGE).next_multiple_of(BLOCK);
    let start = space.large.take(whole)?;
    if !commit(start, pages) {
        space.large.give(start, whole);
        return None;
    }
    space.taken.insert(start, whole);
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
    let mut space = lock(space()?);
    let pages = size.next_multiple_of(PAGE);
    let narrow = space.narrow.get_or_insert_with(reserve_narrow);
    let start = narrow.take(pages + PAGE)?;
    if !commit(start, pages) {
        narrow.give(start, pages + PAGE);
        return None;
    }
    space.taken.insert(start, pages + PAGE);
    Some(start)
}

/// Frees a range from [`alloc`] or [`alloc_narrow`].
pub(super) fn free(start: u64) {
    let Some(space) = space() else { return };
    let mut space = lock(space);
    let Some(size) = space.taken.remove(&start) else { return };
    if start < NARROW_END
        && let Some(narrow) = &mut space.narrow
    {
        release(start, size);
        narrow.give(start, size);
        space.shared.remove(&start);
    } else if size < LARGE {
        space.small.give(start, size);
    } else {
        release(start, size);
        space.shared.remove(&start);
        space.large.give(start, size);
    }
}

/// Drops the contents of the whole pages of a range from [`alloc`]; the range stays usable.
pub(super) fn discard(start: u64, size: u64) {
    let (first, end) = (start.next_multiple_of(PAGE), (start + size) / PAGE * PAGE);
    if first < end {
        // SAFETY: the pages lie in one allocation, whose contents nothing needs any more.
        unsafe { libc::madvise(first as *mut libc::c_void, (end - first) as usize, libc::MADV_DONTNEED) };
    }
}

/// Backs the pages of an allocation of `size` bytes with a file, unless they already are, and passes the file
/// and the pages' start and size to `then`. Addresses do not change. Nothing may use the memory meanwhile.
pub(super) fn share<T>(base: u64, size: u64, then: impl FnOnce(&File, u64, u64) -> Result<T>) -> Result<T> {
    let mut space = lock(space().ok_or(Error::OutOfMemory)?);
    let own_pages = size >= LARGE || base < NARROW_END;
    let (start, bytes) =
        if own_pages { (base, size.next_multiple_of(PAGE)) } else { (base / BLOCK * BLOCK, BLOCK) };
    if let Some(file) = space.shared.get(&start) {
        return then(file, start, bytes);
    }
    let file = shared::memory_file(bytes)?;
    // SAFETY: the pages are committed, and the caller guarantees that nothing writes them.
    let contents = unsafe { std::slice::from_raw_parts(start as *const u8, bytes as usize) };
    host::write::limited(|| copy_used(contents, &file)).map_err(|_| Error::OutOfMemory)?;
    // SAFETY: the driver owns the pages, and the file has the same contents.
    unsafe { shared::map(&file, bytes, Some(start))? };
    let result = then(&file, start, bytes);
    space.shared.insert(start, file);
    result
}

/// Copies whole pages to a new file of the same size. Pages that were never written, or are all zero, take no
/// memory there.
fn copy_used(contents: &[u8], file: &File) -> std::io::Result<()> {
    /// Pages that are looked up at once.
    const MANY: usize = 4096;
    /// Bits of an entry of the page map: the page is in memory, or swapped out.
    const USED: u64 = 3 << 62;
    let map = File::open("/proc/self/pagemap").ok();
    let mut entries = [0u8; MANY * 8];
    for (index, part) in contents.chunks(MANY * PAGE as usize).enumerate() {
        let at = part.as_ptr() as u64 / PAGE * 8;
        let known = entries.get_mut(..part.len() / PAGE as usize * 8);
        let is_known = map.as_ref().zip(known).is_some_and(|(map, into)| map.read_exact_at(into, at).is_ok());
        let (entries, _) = entries.as_chunks::<8>();
        for (number, page) in part.chunks(PAGE as usize).enumerate() {
            let entry = entries.get(number).map_or(USED, |entry| u64::from_ne_bytes(*entry));
            if (!is_known || entry & USED != 0) && page.iter().any(|byte| *byte != 0) {
                file.write_all_at(page, ((index * MANY + number) as u64) * PAGE)?;
            }
        }
    }
    Ok(())
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
    fn a_limit_leaves_room_for_the_rest() {
        assert_eq!(share_of(0), 0);
        assert_eq!(share_of(256 << 20), 128 << 20);
        assert_eq!(share_of(2 << 30), (2 << 30) - BESIDE);
        assert_eq!(share_of(100 << 30), 75 << 30);
    }

    #[test]
    fn shared_memory_takes_what_was_written() {
        const SIZE: u64 = 1 << 34;
        let at = alloc(SIZE).unwrap();
        let byte = |offset: u64| (at + offset) as *mut u8;
        for offset in [5, 77 << 20, SIZE - 1] {
            // SAFETY: memory of that size was just allocated.
            unsafe { byte(offset).write(9) };
        }
        let blocks = share(at, SIZE, |file, _, size| {
            assert_eq!(size, SIZE);
            Ok(std::os::unix::fs::MetadataExt::blocks(&file.metadata().unwrap()))
        });
        assert!(blocks.unwrap() * 512 < 64 << 20, "{blocks:?}");
        for (offset, expected) in [(5, 9), (6, 0), (77 << 20, 9), (SIZE / 2, 0), (SIZE - 1, 9)] {
            // SAFETY: as above.
            assert_eq!(unsafe { byte(offset).read() }, expected, "{offset}");
        }
        free(at);
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
        let all: Vec<(u64, u64)> = sizes.iter().map(|&s| (alloc(s).unwrap(), s)).collect();
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
