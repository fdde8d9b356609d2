//! The heap of device-side `malloc` and `free`.
//!
//! The bookkeeping is outside the heap's memory, so that a kernel that writes beyond its allocation cannot
//! corrupt it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::memory::{GuardedPages, within};

/// Alignment of allocations in bytes.
const ALIGN: u64 = 16;

#[derive(Debug, Default)]
struct Books {
    /// Free ranges: offset to size.
    free: BTreeMap<u64, u64>,
    /// The same ranges as (size, offset).
    by_size: BTreeSet<(u64, u64)>,
    /// Allocated ranges: offset to size.
    used: HashMap<u64, u64>,
}

impl Books {
    fn add(&mut self, offset: u64, size: u64) {
        self.free.insert(offset, size);
        self.by_size.insert((size, offset));
    }

    fn remove(&mut self, offset: u64, size: u64) {
        self.free.remove(&offset);
        self.by_size.remove(&(size, offset));
    }
}

/// A heap, which lives as long as the context whose kernels use it.
#[derive(Debug)]
pub struct Heap {
    /// Reserved by the first allocation.
    memory: OnceLock<GuardedPages>,
    limit: AtomicU64,
    books: Mutex<Books>,
}

impl Heap {
    /// CUDA's default size in bytes (see `cuCtxSetLimit`).
    pub const DEFAULT_SIZE: u64 = 8 << 20;

    /// A heap of `limit` bytes. The host provides memory as it is used.
    pub fn new(limit: u64) -> Heap {
        Heap { memory: OnceLock::new(), limit: AtomicU64::new(limit), books: Mutex::default() }
    }

    /// Sets the size. As on hardware, the size is fixed after the first allocation. Returns whether it was
    /// set.
    pub fn set_limit(&self, bytes: u64) -> bool {
        let _books = self.books();
        let open = self.memory.get().is_none();
        if open {
            self.limit.store(bytes, Ordering::Relaxed);
        }
        open
    }

    /// Size of the heap in bytes.
    pub fn limit(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The address of the heap, which is reserved on first use.
    fn start(&self, books: &mut Books) -> Option<u64> {
        if let Some(memory) = self.memory.get() {
            return Some(memory.start() as u64);
        }
        let size = self.limit() / ALIGN * ALIGN;
        let memory = GuardedPages::new(usize::try_from(size).ok().filter(|&s| s != 0)?)?;
        books.add(0, size);
        Some(self.memory.get_or_init(|| memory).start() as u64)
    }

    /// Allocates `size` bytes, aligned to 16. Returns 0 if no free range is large enough.
    pub fn allocate(&self, size: u64) -> u64 {
        let Some(size) = size.max(1).checked_next_multiple_of(ALIGN) else { return 0 };
        let mut books = self.books();
        let Some(start) = self.start(&mut books) else { return 0 };
        let Some(&(found, offset)) = books.by_size.range((size, 0)..).next() else { return 0 };
        books.remove(offset, found);
        if found > size {
            books.add(offset + size, found - size);
        }
        books.used.insert(offset, size);
        start + offset
    }

    /// Frees an allocation; freeing 0 does nothing. Returns false if [`Heap::allocate`] did not return the
    /// address, or it was already freed.
    pub fn free(&self, address: u64) -> bool {
        if address == 0 {
            return true;
        }
        let Some(memory) = self.memory.get() else { return false };
        let Some(mut offset) = address.checked_sub(memory.start() as u64) else { return false };
        let mut books = self.books();
        let Some(mut size) = books.used.remove(&offset) else { return false };
        if let Some((&before, &len)) = books.free.range(..offset).next_back()
            && before + len == offset
        {
            books.remove(before, len);
            (offset, size) = (before, size + len);
        }
        if let Some(&after) = books.free.get(&(offset + size)) {
            books.remove(offset + size, after);
            size += after;
        }
        books.add(offset, size);
        true
    }

    /// Whether the `size` bytes at `address` are inside the heap's memory, allocated or not.
    pub fn contains(&self, address: u64, size: u64) -> bool {
        self.memory.get().is_some_and(|m| within(address, size, m.start() as u64, self.limit()))
    }

    /// Number of live allocations.
    pub fn allocations(&self) -> usize {
        self.books().used.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_then_free_again() {
        let heap = Heap::new(1024);
        let all: Vec<u64> = (0..16).map(|_| heap.allocate(50)).collect();
        assert!(all.iter().all(|&a| a != 0 && a % 16 == 0 && heap.contains(a, 64)));
        assert_eq!(heap.allocate(1), 0);
        // Neighbours are merged, in whatever order they are freed.
        for i in [3, 1, 2, 0, 15, 7, 8, 14, 4, 5, 6, 9, 11, 10, 13, 12] {
            assert!(heap.free(all[i]));
        }
        assert_eq!(heap.allocations(), 0);
        assert_eq!(heap.allocate(1024), all[0]);
        assert_eq!(heap.allocate(u64::MAX), 0);
    }

    #[test]
    fn allocations_do_not_overlap() {
        let heap = Heap::new(4096);
        let mut live: Vec<(u64, u64)> = Vec::new();
        let mut seed = 1u64;
        for _ in 0..2000 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let size = (seed >> 33) % 300;
            if seed >> 60 < 9 {
                let address = heap.allocate(size);
                if address != 0 {
                    assert!(heap.contains(address, size));
                    assert!(live.iter().all(|&(a, s)| address + size <= a || a + s <= address));
                    live.push((address, size));
                }
            } else if !live.is_empty() {
                let (address, _) = live.swap_remove((seed >> 20) as usize % live.len());
                assert!(heap.free(address));
            }
        }
        assert_eq!(heap.allocations(), live.len());
    }

    #[test]
    fn wrong_frees() {
        let heap = Heap::new(1024);
        assert!(!heap.free(64));
        let a = heap.allocate(100);
        assert!(heap.free(0));
        assert!(!heap.free(a + 16));
        assert!(!heap.free(1));
        assert!(heap.free(a));
        assert!(!heap.free(a));
    }

    #[test]
    fn the_size_is_fixed_by_the_first_allocation() {
        let heap = Heap::new(16);
        assert!(heap.set_limit(64));
        assert_ne!(heap.allocate(64), 0);
        assert!(!heap.set_limit(4096));
        assert_eq!(heap.limit(), 64);
        assert_eq!(Heap::new(0).allocate(1), 0);
    }
}
