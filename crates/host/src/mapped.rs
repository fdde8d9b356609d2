//! Mapped files that others can truncate.
//!
//! An access beyond the end of a truncated file raises SIGBUS. [`recover`], which the handler of that signal
//! calls, puts an empty page in the place of the missing one, so that the access and the process go on. The
//! contents are lost: [`lost`] and [`Watched::is_lost`] tell, so that the work that used them can fail.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// A watched mapping; `end` is 0 for an unused entry. The signal handler reads it, so that there is no lock.
struct Entry {
    start: AtomicUsize,
    end: AtomicUsize,
    lost: AtomicBool,
}

/// The largest number of mappings that are watched at once.
const MOST: usize = 1024;
const PAGE: usize = 4096;

static ENTRIES: [Entry; MOST] =
    [const { Entry { start: AtomicUsize::new(0), end: AtomicUsize::new(0), lost: AtomicBool::new(false) } };
        MOST];
/// The entries from this number on were never used.
static USED: AtomicUsize = AtomicUsize::new(0);
static LOST: AtomicU64 = AtomicU64::new(0);
/// Held while an entry is taken.
static CHANGE: Mutex<()> = Mutex::new(());

/// A mapping that is watched until this is dropped, which must be before it is unmapped.
#[derive(Debug)]
pub struct Watched(Option<usize>);

/// Watches a mapping of whole pages. If too many are watched, this one is not.
pub fn watch(start: u64, size: u64) -> Watched {
    let _change = CHANGE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(index) = ENTRIES.iter().position(|entry| entry.end.load(Ordering::Acquire) == 0) else {
        return Watched(None);
    };
    if let Some(entry) = ENTRIES.get(index) {
        entry.lost.store(false, Ordering::Relaxed);
        entry.start.store(start as usize, Ordering::Relaxed);
        entry.end.store(start.saturating_add(size) as usize, Ordering::Release);
    }
    USED.fetch_max(index + 1, Ordering::AcqRel);
    Watched(Some(index))
}

impl Watched {
    fn entry(&self) -> Option<&'static Entry> {
        ENTRIES.get(self.0?)
    }

    /// Whether contents of the mapping were lost.
    pub fn is_lost(&self) -> bool {
        self.entry().is_some_and(|entry| entry.lost.load(Ordering::Acquire))
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(entry) = self.entry() {
            entry.end.store(0, Ordering::Release);
        }
    }
}

/// How often contents of mappings were lost.
#[inline]
pub fn lost() -> u64 {
    LOST.load(Ordering::Acquire)
}

/// For the handler of SIGBUS: whether the address is in a watched mapping and can now be accessed.
pub fn recover(address: usize) -> bool {
    let used = ENTRIES.get(..USED.load(Ordering::Acquire)).unwrap_or_default();
    let holds = |entry: &&Entry| {
        let end = entry.end.load(Ordering::Acquire);
        (entry.start.load(Ordering::Relaxed)..end).contains(&address)
    };
    let Some(entry) = used.iter().find(holds) else { return false };
    let page = address / PAGE * PAGE;
    // SAFETY: the page is one of a watched mapping, whose file has no contents for it. The call is a system
    // call, which a signal handler may make.
    let mapped = unsafe {
        libc::mmap(
            page as *mut libc::c_void,
            PAGE,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
            -1,
            0,
        )
    };
    if mapped == libc::MAP_FAILED {
        return false;
    }
    entry.lost.store(true, Ordering::Release);
    LOST.fetch_add(1, Ordering::AcqRel);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_watched_addresses_are_recovered() {
        // SAFETY: a new mapping at an address that the kernel chooses.
        let start = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            libc::mmap(std::ptr::null_mut(), 3 * PAGE, libc::PROT_NONE, flags, -1, 0)
        } as usize;
        let (before, watched) = (lost(), watch(start as u64, 2 * PAGE as u64));
        assert!(!recover(start + 2 * PAGE) && !recover(start - 1) && !watched.is_lost());
        assert!(recover(start + PAGE + 100) && watched.is_lost());
        assert_eq!(lost(), before + 1);
        // SAFETY: the page was just mapped.
        unsafe { ((start + PAGE) as *mut u8).write(7) };
        drop(watched);
        assert!(!recover(start + PAGE));
        let all: Vec<Watched> = (0..MOST + 1).map(|_| watch(start as u64, PAGE as u64)).collect();
        assert!(all.last().is_some_and(|last| last.0.is_none() && !last.is_lost()));
    }
}
