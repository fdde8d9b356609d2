//! Mapped memory with guard pages, and copies that survive invalid addresses.

use std::ptr::NonNull;

/// Inaccessible bytes on either side of the pages, to catch indices that are slightly out of bounds.
pub(crate) const GUARD: usize = 64 << 10;

/// Number of bytes that a 32-bit address can reach.
const REACH: usize = 4 << 30;

const PAGE: usize = 4096;

/// Zeroed memory between guard pages, which the host provides page by page on first access.
#[derive(Debug)]
pub struct GuardedPages {
    map: NonNull<u8>,
    size: usize,
    /// Inaccessible bytes after the memory.
    tail: usize,
}

// SAFETY: they are owned memory, and no more bound to a thread than a `Vec`.
unsafe impl Send for GuardedPages {}
// SAFETY: see above; its contents are accessed only through raw pointers.
unsafe impl Sync for GuardedPages {}

impl GuardedPages {
    /// At least `size` bytes, page aligned. `None` if the host has no address space.
    pub fn new(size: usize) -> Option<GuardedPages> {
        GuardedPages::with_tail(size, GUARD)
    }

    /// Same as [`GuardedPages::new`], but everything within the reach of 32 bits after it is inaccessible: if
    /// kernels compute with such addresses, none that is too large hits anything else. If the host does not
    /// have that much address space, it has the same guard as [`GuardedPages::new`].
    pub(crate) fn window(size: usize) -> Option<GuardedPages> {
        GuardedPages::with_tail(size, REACH + GUARD).or_else(|| GuardedPages::new(size))
    }

    fn with_tail(size: usize, tail: usize) -> Option<GuardedPages> {
        let pages = GuardedPages::reserve(size, tail)?;
        pages.open(0, pages.size).then_some(pages)
    }

    /// Reserves address space without memory.
    fn reserve(size: usize, tail: usize) -> Option<GuardedPages> {
        let size = size.max(1).checked_next_multiple_of(PAGE)?;
        let whole = size.checked_add(GUARD)?.checked_add(tail)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at an address that the kernel chooses; nothing existing is changed.
        let map = unsafe { libc::mmap(std::ptr::null_mut(), whole, libc::PROT_NONE, flags, -1, 0) };
        if map == libc::MAP_FAILED {
            return None;
        }
        Some(GuardedPages { map: NonNull::new(map.cast())?, size, tail })
    }

    /// Makes whole pages of it accessible.
    fn open(&self, at: usize, size: usize) -> bool {
        if at > self.size || size > self.size - at {
            return false;
        }
        let start = self.start().wrapping_add(at);
        // SAFETY: the pages are in the mapping, which is ours.
        unsafe { libc::mprotect(start.cast(), size, libc::PROT_READ | libc::PROT_WRITE) == 0 }
    }

    /// Address of the first byte.
    pub fn start(&self) -> *mut u8 {
        self.map.as_ptr().wrapping_add(GUARD)
    }

    /// Size in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// One past the last byte.
    pub(crate) fn end(&self) -> *mut u8 {
        self.start().wrapping_add(self.size)
    }
}

/// Regions at equal distances. Everything between them is inaccessible, and so is everything after them, as
/// for [`GuardedPages::window`].
#[derive(Debug)]
pub(crate) struct Windows {
    whole: GuardedPages,
    count: usize,
    each: usize,
}

impl Windows {
    /// `count` regions of at least `size` bytes, `distance` apart. `None` if the host has no address space,
    /// or they do not fit.
    pub(crate) fn new(count: usize, size: usize, distance: usize) -> Option<Windows> {
        let each = size.max(1).checked_next_multiple_of(PAGE)?;
        if each > distance || !distance.is_multiple_of(PAGE) {
            return None;
        }
        let reach = count.checked_sub(1)?.checked_mul(distance)?.checked_add(each)?;
        let whole =
            GuardedPages::reserve(reach, REACH + GUARD).or_else(|| GuardedPages::reserve(reach, GUARD))?;
        (0..count).all(|n| whole.open(n * distance, each)).then_some(Windows { whole, count, each })
    }

    /// Address of the first region's first byte.
    pub(crate) fn start(&self) -> *mut u8 {
        self.whole.start()
    }

    /// Total size of the regions in bytes.
    pub(crate) fn size(&self) -> usize {
        self.count * self.each
    }

    /// Whether there are `count` regions of `size` bytes.
    pub(crate) fn hold(&self, count: usize, size: usize) -> bool {
        self.count >= count && self.each >= size
    }
}

impl Drop for GuardedPages {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and no longer in use.
        unsafe { libc::munmap(self.map.as_ptr().cast(), GUARD + self.size + self.tail) };
    }
}

/// Whether the `size` bytes at `address` are within the `len` bytes at `start`.
pub(crate) fn within(address: u64, size: u64, start: u64, len: u64) -> bool {
    address >= start && size <= len && address - start <= len - size
}

/// The bytes cannot be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inaccessible;

impl std::fmt::Display for Inaccessible {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("memory is not accessible")
    }
}

impl std::error::Error for Inaccessible {}

std::arch::global_asm!(
    ".pushsection .text.anywarp_copy,\"ax\",@progbits",
    ".hidden anywarp_copy_begin",
    ".hidden anywarp_touch",
    ".hidden anywarp_copy_failed",
    ".hidden anywarp_copy_end",
    ".globl anywarp_copy_begin",
    ".globl anywarp_touch",
    ".globl anywarp_copy_failed",
    ".globl anywarp_copy_end",
    ".p2align 4",
    "anywarp_copy_begin:",
    "mov rcx, rdx",
    "rep movsb",
    "xor eax, eax",
    "ret",
    "anywarp_touch:",
    "test esi, esi",
    "jz 2f",
    "lock or byte ptr [rdi], 0",
    "xor eax, eax",
    "ret",
    "2: movzx eax, byte ptr [rdi]",
    "xor eax, eax",
    "ret",
    "anywarp_copy_failed:",
    "mov eax, 1",
    "ret",
    "anywarp_copy_end:",
    ".popsection",
);

unsafe extern "C" {
    fn anywarp_copy_begin(to: *mut u8, from: *const u8, size: usize) -> u32;
    fn anywarp_touch(address: *const u8, write: u32) -> u32;
    fn anywarp_copy_failed();
    fn anywarp_copy_end();
}

/// Where to continue after a fault at `ip`, if it is in the guarded copy. For the signal handler.
pub(crate) fn recovery(ip: usize) -> Option<usize> {
    let inside =
        (anywarp_copy_begin as *const () as usize..anywarp_copy_end as *const () as usize).contains(&ip);
    inside.then_some(anywarp_copy_failed as *const () as usize)
}

/// Copies memory that may be inaccessible on either side. After an error, some bytes may have been copied.
///
/// # Errors
/// A page could not be read or written.
///
/// # Safety
/// If `to` is mapped, it may be overwritten: it contains nothing that Rust manages. The ranges do not
/// overlap.
pub unsafe fn copy_guarded(to: *mut u8, from: *const u8, size: usize) -> Result<(), Inaccessible> {
    let _turn = crate::signals::ready();
    // SAFETY: the caller allows the write; the handler catches a fault inside and makes it return 1.
    match unsafe { anywarp_copy_begin(to, from, size) } {
        0 => Ok(()),
        _ => Err(Inaccessible),
    }
}

/// Whether the byte at an address can be read, or written. Changes nothing.
pub fn is_accessible(address: u64, write: bool) -> bool {
    let _turn = crate::signals::ready();
    // SAFETY: reads a byte, or combines it with 0 atomically, which other threads cannot see; the handler
    // catches a fault inside and makes it return 1.
    unsafe { anywarp_touch(address as *const u8, u32::from(write)) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_usable_to_their_ends_and_guarded_beyond() {
        let pages = GuardedPages::new(5000).unwrap();
        assert_eq!(pages.size(), 8192);
        let byte = 7u8;
        let mut back = 0u8;
        for at in [0, 8191] {
            let place = pages.start().wrapping_add(at);
            // SAFETY: the pages' bytes may be written.
            unsafe {
                copy_guarded(place, &byte, 1).unwrap();
                copy_guarded(&mut back, place, 1).unwrap();
            }
            assert_eq!(back, 7);
        }
        for bad in [pages.end(), pages.start().wrapping_sub(1), std::ptr::null_mut()] {
            // SAFETY: these are guard pages and null, which contain nothing.
            unsafe {
                assert_eq!(copy_guarded(bad, &byte, 1), Err(Inaccessible));
                assert_eq!(copy_guarded(&mut back, bad, 1), Err(Inaccessible));
            }
        }
    }

    #[test]
    fn nothing_is_within_reach_of_a_window() {
        let window = GuardedPages::window(5000).unwrap();
        let start = window.start() as u64;
        assert!(is_accessible(start, true) && is_accessible(start + 8191, true));
        for distance in [8192, 1 << 20, 1 << 28, 1 << 31, u64::from(u32::MAX)] {
            assert!(!is_accessible(start + distance, false), "{distance:#x}");
        }
    }

    #[test]
    fn windows_lie_apart() {
        let windows = Windows::new(3, 5000, 1 << 24).unwrap();
        let start = windows.start() as u64;
        assert_eq!(windows.size(), 3 * 8192);
        assert!(windows.hold(2, 8192) && !windows.hold(4, 1) && !windows.hold(1, 8193));
        for n in 0..3 {
            let window = start + (n << 24);
            assert!(is_accessible(window, true) && is_accessible(window + 8191, true));
            assert!(!is_accessible(window + 8192, false) && !is_accessible(window + (1 << 23), false));
        }
        assert!(
            !is_accessible(start + (3 << 24), false) && !is_accessible(start + u64::from(u32::MAX), false)
        );
        assert!(Windows::new(2, 8193, 8192).is_none());
    }

    #[test]
    fn accessible_bytes() {
        static CONSTANT: [u8; 4] = [1; 4];
        let mut own = 5u8;
        let pages = GuardedPages::new(1).unwrap();
        let at = &raw mut own as u64;
        assert!(is_accessible(at, false) && is_accessible(at, true));
        assert_eq!(own, 5);
        assert!(is_accessible(CONSTANT.as_ptr() as u64, false));
        // Constants are in pages that cannot be written.
        assert!(!is_accessible(CONSTANT.as_ptr() as u64, true));
        for bad in [0, pages.end() as u64, pages.start() as u64 - 1] {
            assert!(!is_accessible(bad, false) && !is_accessible(bad, true));
        }
    }

    #[test]
    fn within_does_not_wrap() {
        assert!(within(16, 4, 16, 4));
        assert!(!within(17, 4, 16, 4));
        assert!(!within(15, 1, 16, 4));
        assert!(!within(u64::MAX, 4, 16, 4));
        assert!(!within(20, u64::MAX, 16, 100));
    }
}
