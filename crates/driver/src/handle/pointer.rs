//! Handles that are pointers, for objects whose structure an interface publishes.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::{Handle, lock};

/// Bytes of memory behind a handle.
pub const ROOM: usize = 128;
const PAGE: usize = 4096;
/// Pages mapped at once.
const PAGES: usize = 64;
/// Pages of ended handles that wait before one is reused, so that a dead handle stays invalid for the next
/// 2^25 objects. Waiting pages take 4 GiB of addresses but no memory.
const REST: usize = 1 << 20;

/// The objects of one kind whose handles point to [`ROOM`] bytes that the program may read and write.
///
/// The driver never uses these bytes; it finds an object by its handle alone. They are never unmapped, so
/// that access through a dead handle does not fault.
pub struct Pointers<T> {
    objects: RwLock<BTreeMap<Handle, Arc<T>>>,
    free: Mutex<Free>,
}

struct Free {
    fresh: Vec<Handle>,
    /// The number of ended handles by page.
    ended: BTreeMap<u64, usize>,
    /// Pages on which all handles have ended, the oldest first.
    resting: VecDeque<u64>,
    /// The number of these pages that must wait.
    rest: usize,
}

impl<T> Default for Pointers<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Pointers<T> {
    /// An empty table.
    pub const fn new() -> Self {
        Self::with_rest(REST)
    }

    const fn with_rest(rest: usize) -> Self {
        Self {
            objects: RwLock::new(BTreeMap::new()),
            free: Mutex::new(Free {
                fresh: Vec::new(),
                ended: BTreeMap::new(),
                resting: VecDeque::new(),
                rest,
            }),
        }
    }

    /// Inserts an object and returns its handle, which points to zeroed bytes. `None` if memory runs out.
    pub fn insert(&self, object: Arc<T>) -> Option<Handle> {
        let handle = lock(&self.free).take()?;
        self.objects.write().unwrap_or_else(PoisonError::into_inner).insert(handle, object);
        Some(handle)
    }

    /// The object of a live handle.
    pub fn get(&self, handle: Handle) -> Option<Arc<T>> {
        self.objects.read().unwrap_or_else(PoisonError::into_inner).get(&handle).cloned()
    }

    /// Ends a handle and returns its object.
    pub fn remove(&self, handle: Handle) -> Option<Arc<T>> {
        let object = self.objects.write().unwrap_or_else(PoisonError::into_inner).remove(&handle)?;
        lock(&self.free).give(handle);
        Some(object)
    }

    /// Ends the handles of all objects for which `gone` holds.
    pub fn remove_where(&self, gone: impl Fn(&T) -> bool) {
        let handles: Vec<Handle> = {
            let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
            objects.iter().filter(|(_, object)| gone(object)).map(|(handle, _)| *handle).collect()
        };
        for handle in handles {
            self.remove(handle);
        }
    }
}

impl Free {
    fn take(&mut self) -> Option<Handle> {
        if self.fresh.is_empty() {
            let rested = (self.resting.len() > self.rest).then(|| self.resting.pop_front()).flatten();
            let pages = match rested {
                Some(page) => vec![page],
                None => match pages() {
                    Some(pages) => pages,
                    // No address space is left: reusing a page early is better than failing.
                    None => vec![self.resting.pop_front()?],
                },
            };
            let rooms = |page: u64| (0..PAGE / ROOM).map(move |i| page + (i * ROOM) as u64);
            self.fresh.extend(pages.into_iter().flat_map(rooms));
        }
        self.fresh.pop()
    }

    fn give(&mut self, handle: Handle) {
        let page = handle & !(PAGE as u64 - 1);
        let ended = self.ended.entry(page).or_default();
        *ended += 1;
        if *ended == PAGE / ROOM {
            self.ended.remove(&page);
            // SAFETY: the page is one of `pages` and holds no live handle. It stays mapped, and is all zero
            // from now on.
            unsafe { libc::madvise(page as *mut libc::c_void, PAGE, libc::MADV_DONTNEED) };
            self.resting.push_back(page);
        }
    }
}

/// New pages, all zero.
fn pages() -> Option<Vec<u64>> {
    // SAFETY: a new private mapping at an address the kernel chooses.
    let first = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            PAGES * PAGE,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    (first != libc::MAP_FAILED).then(|| (0..PAGES).map(|i| first as u64 + (i * PAGE) as u64).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_a_place_and_dead_and_foreign_ones_are_none() {
        let a: Pointers<usize> = Pointers::new();
        let handles: Vec<Handle> = (0..200).map(|i| a.insert(Arc::new(i)).unwrap()).collect();
        for (i, handle) in handles.iter().enumerate() {
            assert_eq!(a.get(*handle).as_deref(), Some(&i));
            // SAFETY: the bytes behind a handle are the program's to read and write.
            unsafe {
                assert_eq!(*(*handle as *const [u8; ROOM]), [0; ROOM]);
                *(*handle as *mut [u8; ROOM]) = [i as u8; ROOM];
            }
        }
        for wrong in [0, 1, handles[0] + 1, handles[0] + 8, !0] {
            assert!(a.get(wrong).is_none(), "{wrong:#x}");
        }
        assert_eq!(a.remove(handles[7]).as_deref(), Some(&7));
        assert!(a.get(handles[7]).is_none());
        assert!(a.remove(handles[7]).is_none());
        a.remove_where(|i| i % 2 == 0);
        assert_eq!(handles.iter().filter(|h| a.get(**h).is_some()).count(), 99);
    }

    #[test]
    fn rooms_are_used_again_but_not_soon() {
        const FEW: usize = 128;
        let a: Pointers<usize> = Pointers::with_rest(FEW);
        let kept = a.insert(Arc::new(0)).unwrap();
        let mut seen = BTreeMap::new();
        for i in 0..FEW * PAGE / ROOM * 4 {
            let handle = a.insert(Arc::new(i)).unwrap();
            if let Some(before) = seen.insert(handle, i) {
                assert!(i - before > FEW * PAGE / ROOM, "{i} after {before}");
            }
            // SAFETY: the bytes behind a handle are the program's to read and write.
            unsafe {
                assert_eq!(*(handle as *const [u8; ROOM]), [0; ROOM]);
                *(handle as *mut [u8; ROOM]) = [1; ROOM];
            }
            a.remove(handle);
            assert!(a.get(handle).is_none());
        }
        assert!(seen.len() < 2 * (FEW + PAGES) * PAGE / ROOM, "{}", seen.len());
        assert_eq!(a.get(kept).as_deref(), Some(&0));
    }
}
