//! Pages that the driver's work may find missing or closed.
//!
//! An access beyond the end of a truncated file raises SIGBUS, one to pages whose rights were withdrawn
//! SIGSEGV. [`recover`], which the handlers of both signals call, puts a page in the place of the missing
//! one, so that the access and the process go on: an empty page, or a copy if the contents can be read. The
//! memory itself is not written. [`lost`], [`during`] and [`Watched::is_lost`] tell, so that the work that
//! used it can fail.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A watched range; `end` is 0 for an unused entry. The signal handler reads it, so that there is no lock.
#[derive(Debug)]
struct Entry {
    start: AtomicUsize,
    end: AtomicUsize,
    lost: AtomicBool,
}

/// The number of entries that are made at once.
const MANY: usize = 1024;
const PAGE: usize = 4096;

/// Entries, which are never freed.
struct Entries {
    all: [Entry; MANY],
    next: AtomicPtr<Entries>,
}

impl Entries {
    const fn new() -> Entries {
        let all = [const {
            Entry { start: AtomicUsize::new(0), end: AtomicUsize::new(0), lost: AtomicBool::new(false) }
        }; MANY];
        Entries { all, next: AtomicPtr::new(ptr::null_mut()) }
    }
}

static FIRST: Entries = Entries::new();
/// Whether anything was ever watched for more than kernels.
static ANY: AtomicBool = AtomicBool::new(false);
/// The unused entries. Only threads that watch or end a watch take the lock, never the handler.
static UNUSED: Mutex<Vec<&'static Entry>> = Mutex::new(Vec::new());
/// Number of threads in [`recover`].
static RECOVERING: AtomicU32 = AtomicU32::new(0);

fn entries() -> impl Iterator<Item = &'static Entry> {
    let next = |entries: &&'static Entries| {
        // SAFETY: null, or entries that are never freed.
        unsafe { entries.next.load(Ordering::Acquire).as_ref() }
    };
    std::iter::successors(Some(&FIRST), next).flat_map(|entries| &entries.all)
}

/// Entries that nothing has used. The caller holds the lock.
fn more_entries() -> &'static [Entry; MANY] {
    static IS_FIRST_TAKEN: AtomicBool = AtomicBool::new(false);
    if !IS_FIRST_TAKEN.swap(true, Ordering::Relaxed) {
        return &FIRST.all;
    }
    let more: &'static Entries = Box::leak(Box::new(Entries::new()));
    more.next.store(FIRST.next.load(Ordering::Acquire), Ordering::Relaxed);
    FIRST.next.store(ptr::from_ref(more).cast_mut(), Ordering::Release);
    &more.all
}

/// A range that is watched until this is dropped, which must be before it is unmapped.
#[derive(Debug)]
pub struct Watched(&'static Entry);

/// Watches a range of whole pages.
pub fn watch(start: u64, size: u64) -> Watched {
    ANY.store(true, Ordering::Release);
    watch_for_kernels(start, size)
}

/// Watches a range of whole pages that only kernels may find missing: what else the driver does holds its
/// memory.
pub fn watch_for_kernels(start: u64, size: u64) -> Watched {
    let entry = {
        let mut unused = UNUSED.lock().unwrap_or_else(PoisonError::into_inner);
        unused.pop().unwrap_or_else(|| {
            let [first, others @ ..] = more_entries();
            unused.extend(others.iter().rev());
            first
        })
    };
    entry.lost.store(false, Ordering::Relaxed);
    entry.start.store(start as usize, Ordering::Relaxed);
    entry.end.store(start.saturating_add(size) as usize, Ordering::Release);
    Watched(entry)
}

impl Watched {
    /// Whether contents of the range were lost.
    pub fn is_lost(&self) -> bool {
        self.0.lost.load(Ordering::Acquire)
    }

    /// The same, and forgets it: the caller is about to map the range again.
    pub fn take_lost(&self) -> bool {
        self.0.lost.swap(false, Ordering::AcqRel)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.0.end.store(0, Ordering::SeqCst);
        // A thread may have found the range and be about to map a page in it.
        while RECOVERING.load(Ordering::SeqCst) != 0 {
            std::hint::spin_loop();
        }
        UNUSED.lock().unwrap_or_else(PoisonError::into_inner).push(self.0);
    }
}

/// What the calling thread does, for the handler in the same thread.
struct Here {
    /// How deeply calls of [`during`] are nested.
    depth: Cell<u32>,
    /// How often it lost contents.
    lost: Cell<u64>,
}

thread_local! {
    static HERE: Here = const { Here { depth: Cell::new(0), lost: Cell::new(0) } };
}

/// How often the calling thread lost contents.
pub fn lost() -> u64 {
    HERE.with(|here| here.lost.get())
}

/// Whether anything was ever watched: otherwise nothing can be lost.
#[inline]
pub fn any() -> bool {
    ANY.load(Ordering::Acquire)
}

/// Runs work of the driver. Returns its result, and whether it lost contents of watched ranges. The caller
/// has prepared the thread's signals.
pub fn during<T>(work: impl FnOnce() -> T) -> (T, bool) {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            HERE.with(|here| here.depth.set(here.depth.get().saturating_sub(1)));
        }
    }
    let before = HERE.with(|here| {
        here.depth.set(here.depth.get() + 1);
        here.lost.get()
    });
    let leave = Leave;
    let result = work();
    drop(leave);
    (result, lost() != before)
}

/// For the handlers of SIGBUS and SIGSEGV: whether the address is in a watched range and can now be accessed.
/// `is_ours`: the thread is known to run the driver's work. Otherwise it must be in [`during`], unless the
/// signal is SIGBUS, since the program may read its managed memory.
pub fn recover(signal: i32, address: usize, is_ours: bool) -> bool {
    RECOVERING.fetch_add(1, Ordering::SeqCst);
    let recovered = recover_now(signal, address, is_ours);
    RECOVERING.fetch_sub(1, Ordering::SeqCst);
    recovered
}

fn recover_now(signal: i32, address: usize, is_ours: bool) -> bool {
    let holds = |entry: &&Entry| {
        let end = entry.end.load(Ordering::SeqCst);
        (entry.start.load(Ordering::Relaxed)..end).contains(&address)
    };
    let Some(entry) = entries().find(holds) else { return false };
    let is_ours = is_ours || HERE.try_with(|here| here.depth.get() != 0).unwrap_or(false);
    if !is_ours && signal != libc::SIGBUS {
        return false;
    }
    // SAFETY: the pointer to the thread's own word is always valid. The interrupted code may be about to read
    // it.
    let errno = unsafe { &mut *libc::__errno_location() };
    let before = *errno;
    let replaced = replace(address / PAGE * PAGE);
    *errno = before;
    if replaced {
        entry.lost.store(true, Ordering::Release);
        let _ = HERE.try_with(|here| here.lost.set(here.lost.get() + 1));
    }
    replaced
}

/// Maps a private page in the place of another, with its contents if they can be read. Makes system calls
/// only, which a signal handler may do.
fn replace(page: usize) -> bool {
    let (rights, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new page at an address that the kernel chooses.
    let fresh = unsafe { libc::mmap(ptr::null_mut(), PAGE, rights, flags, -1, 0) };
    if fresh == libc::MAP_FAILED {
        return false;
    }
    let into = libc::iovec { iov_base: fresh, iov_len: PAGE };
    let from = libc::iovec { iov_base: page as *mut libc::c_void, iov_len: PAGE };
    // SAFETY: the call writes to the new page only; it fails for contents that cannot be read. The page that
    // is replaced is one of a watched range, which the driver owns.
    unsafe {
        libc::process_vm_readv(libc::getpid(), &raw const into, 1, &raw const from, 1, 0);
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        if libc::mremap(fresh, PAGE, PAGE, flags, page as *mut libc::c_void) == libc::MAP_FAILED {
            libc::munmap(fresh, PAGE);
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(count: usize, rights: i32) -> usize {
        // SAFETY: a new mapping at an address that the kernel chooses.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            libc::mmap(ptr::null_mut(), count * PAGE, rights, flags, -1, 0) as usize
        }
    }

    #[test]
    fn only_watched_addresses_are_recovered() {
        let start = pages(3, libc::PROT_NONE);
        let (before, watched) = (lost(), watch(start as u64, 2 * PAGE as u64));
        let recover = |address| recover(libc::SIGBUS, address, false);
        assert!(!recover(start + 2 * PAGE) && !recover(start - 1) && !watched.is_lost());
        assert!(recover(start + PAGE + 100) && watched.is_lost());
        assert_eq!(lost(), before + 1);
        // SAFETY: the page was just mapped.
        unsafe { ((start + PAGE) as *mut u8).write(7) };
        assert!(watched.take_lost() && !watched.is_lost());
        drop(watched);
        assert!(!recover(start + PAGE));
        let many: Vec<Watched> =
            (0..2 * MANY + 1).map(|n| watch((1 << 40) + (n * PAGE) as u64, PAGE as u64)).collect();
        let again = watch(start as u64, PAGE as u64);
        assert!(recover(start) && again.is_lost());
        assert!(!many.iter().any(Watched::is_lost));
        drop(many);
        let made = entries().count();
        let more: Vec<Watched> = (0..2 * MANY).map(|n| watch((1 << 40) + n as u64, 1)).collect();
        assert_eq!(entries().count(), made, "entries are used again");
        drop(more);
    }

    #[test]
    fn closed_pages_are_for_the_drivers_work_alone() {
        let start = pages(2, libc::PROT_READ | libc::PROT_WRITE);
        let byte = (start + 5) as *mut u8;
        // SAFETY: the page was just mapped; afterwards it can be read.
        unsafe {
            byte.write(9);
            libc::mprotect(start as *mut libc::c_void, PAGE, libc::PROT_READ);
        }
        let _watched = watch(start as u64, PAGE as u64);
        assert!(!recover(libc::SIGSEGV, start, false), "the program's own access");
        let (recovered, lost) = during(|| recover(libc::SIGSEGV, start, false));
        assert!(recovered && lost);
        // SAFETY: the page can be written now.
        unsafe {
            assert_eq!(byte.read(), 9, "readable contents stay");
            byte.write(1);
        }
        assert!(!during(|| ()).1);
        assert!(!recover(libc::SIGSEGV, start, false));
        assert!(recover(libc::SIGSEGV, start, true), "on a kernel's stack");
    }
}
