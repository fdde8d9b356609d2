//! Keeps LLVM from registering destructors.
//!
//! C++ registers the destructor of a function's static variable with `__cxa_atexit` when the function is
//! first called. In LLVM that happens during a compilation, after any handler of ours is registered. The
//! opened library calls `__cxa_atexit` through a slot that the loader filled. This module replaces the slot's
//! contents by a function that registers nothing, so those variables live until the process exits. If the
//! library's layout is not the one linkers produce, nothing is changed.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use libc::{Elf64_Phdr, dl_phdr_info};

/// The lower half of `r_info`: slots that hold a function's address (psABI for x86-64, table 4.10).
const GLOB_DAT: u64 = 6;
const JUMP_SLOT: u64 = 7;

/// Tags in `.dynamic` (gABI, chapter 5).
const PLTRELSZ: u64 = 2;
const STRTAB: u64 = 5;
const SYMTAB: u64 = 6;
const RELA: u64 = 7;
const RELASZ: u64 = 8;
const STRSZ: u64 = 10;
const JMPREL: u64 = 23;

#[repr(C)]
#[derive(Clone, Copy)]
struct Dyn {
    tag: u64,
    value: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Rela {
    offset: u64,
    info: u64,
    addend: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Symbol {
    name: u32,
    kind: u8,
    other: u8,
    section: u16,
    value: u64,
    size: u64,
}

/// Registers nothing and returns success.
unsafe extern "C" fn register_nothing(
    _destructor: *const c_void,
    _object: *const c_void,
    _library: *const c_void,
) -> c_int {
    0
}

/// A loaded library, described by its program headers.
struct Library<'a> {
    base: usize,
    headers: &'a [Elf64_Phdr],
}

impl Library<'_> {
    /// The address range of a segment.
    fn range(&self, header: &Elf64_Phdr) -> std::ops::Range<usize> {
        let start = self.base.wrapping_add(header.p_vaddr as usize);
        start..start.saturating_add(header.p_memsz as usize)
    }

    /// Whether `size` bytes lie in one loaded segment with these flags.
    fn holds(&self, address: usize, size: usize, flags: u32) -> bool {
        let Some(end) = address.checked_add(size) else { return false };
        let loaded = self.headers.iter().filter(|h| h.p_type == libc::PT_LOAD && h.p_flags & flags == flags);
        loaded.map(|h| self.range(h)).any(|r| r.start <= address && end <= r.end)
    }

    /// `count` items at an address, if they lie in the library.
    fn items<T: Copy>(&self, address: usize, count: usize) -> Option<&[T]> {
        let whole = self.holds(address, count.checked_mul(size_of::<T>())?, libc::PF_R);
        if !whole || !address.is_multiple_of(align_of::<T>()) {
            return None;
        }
        // SAFETY: the bytes lie in a readable segment, which stays mapped for the loader's walk, and `T`
        // consists of plain numbers. The loader wrote them before; nothing else writes them.
        Some(unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(address), count) })
    }

    /// The slots through which the library calls the function with this name.
    fn slots(&self, function: &[u8]) -> Option<Vec<usize>> {
        let dynamic = self.headers.iter().find(|h| h.p_type == libc::PT_DYNAMIC)?;
        let range = self.range(dynamic);
        let entries: &[Dyn] = self.items(range.start, range.len() / size_of::<Dyn>())?;
        let value = |tag| entries.iter().find(|d| d.tag == tag).map(|d| d.value as usize);
        // The loader may have replaced offsets by addresses.
        let address = |tag| value(tag).map(|v| if v < self.base { v.wrapping_add(self.base) } else { v });
        let names: &[u8] = self.items(address(STRTAB)?, value(STRSZ)?)?;
        let symbols = address(SYMTAB)?;
        let named = |index: u64| {
            let symbol: &[Symbol] = self.items(symbols + index as usize * size_of::<Symbol>(), 1)?;
            names.get(symbol.first()?.name as usize..)?.split(|b| *b == 0).next()
        };
        let mut slots = Vec::new();
        for (table, size) in [(JMPREL, PLTRELSZ), (RELA, RELASZ)] {
            let (Some(start), Some(size)) = (address(table), value(size)) else { continue };
            let relocations: &[Rela] = self.items(start, size / size_of::<Rela>())?;
            let calls = relocations.iter().filter(|r| matches!(r.info & 0xFFFF_FFFF, GLOB_DAT | JUMP_SLOT));
            let ours = calls.filter(|r| named(r.info >> 32) == Some(function));
            slots.extend(ours.map(|r| self.base.wrapping_add(r.offset as usize)));
        }
        Some(slots)
    }

    /// Stores an address in a slot; returns whether it could.
    fn fill(&self, slot: usize, with: usize) -> bool {
        if !slot.is_multiple_of(align_of::<usize>()) || !self.holds(slot, size_of::<usize>(), libc::PF_W) {
            return false;
        }
        const PAGE: usize = 4096;
        let page = std::ptr::with_exposed_provenance_mut(slot & !(PAGE - 1));
        let sealed =
            self.headers.iter().any(|h| h.p_type == libc::PT_GNU_RELRO && self.range(h).contains(&slot));
        // SAFETY: the page belongs to the library; the loader made it read-only after filling it.
        if sealed && unsafe { libc::mprotect(page, PAGE, libc::PROT_READ | libc::PROT_WRITE) } != 0 {
            return false;
        }
        // SAFETY: the slot is aligned and lies in a segment that is writable now; concurrent calls through it
        // read it as a whole.
        let slot = unsafe { AtomicUsize::from_ptr(std::ptr::with_exposed_provenance_mut(slot)) };
        slot.store(with, Ordering::Relaxed);
        if sealed {
            // SAFETY: as above. If it fails, the page stays writable, as it was while the library was loaded.
            unsafe { libc::mprotect(page, PAGE, libc::PROT_READ) };
        }
        true
    }
}

/// The state of the walk over the loaded libraries: what to look for, what to do with the library found, and
/// the result.
struct Search {
    inside: usize,
    work: fn(&Library, &[usize]) -> bool,
    result: Option<bool>,
}

unsafe extern "C" fn visit(info: *mut dl_phdr_info, _size: usize, search: *mut c_void) -> c_int {
    // SAFETY: the loader passes a valid description, and `search` is the pointer that `of_library` passed.
    let (info, search) = unsafe { (&*info, &mut *search.cast::<Search>()) };
    if info.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: the loader reports that number of headers, valid as long as the library is loaded.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let library = Library { base: info.dlpi_addr as usize, headers };
    if !library.holds(search.inside, 1, libc::PF_X) {
        return 0;
    }
    let slots = library.slots(b"__cxa_atexit").filter(|slots| !slots.is_empty());
    search.result = slots.map(|slots| (search.work)(&library, &slots));
    1
}

/// Applies `work` to the slots of the library that contains a function; `None` if it has none.
fn of_library(function: *const c_void, work: fn(&Library, &[usize]) -> bool) -> Option<bool> {
    let mut search = Search { inside: function.expose_provenance(), work, result: None };
    // SAFETY: the callback keeps its contract, and `search` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    search.result
}

fn nothing() -> usize {
    (register_nothing as *const c_void).expose_provenance()
}

/// Keeps the library that contains a function from registering destructors from now on; returns whether it
/// could.
pub(super) fn suppress(function: *const c_void) -> bool {
    let fill = |library: &Library, slots: &[usize]| slots.iter().all(|slot| library.fill(*slot, nothing()));
    of_library(function, fill).unwrap_or(false)
}

/// Whether the library that contains a function registers destructors; `None` if unknown.
#[cfg(test)]
pub(super) fn registering(function: *const c_void) -> Option<bool> {
    of_library(function, |library, slots| {
        slots.iter().any(|slot| library.items::<usize>(*slot, 1) != Some(&[nothing()]))
    })
}
