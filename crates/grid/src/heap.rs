//! The heap for `malloc` in kernels.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Blocks that kernels allocated and have not freed; they live across launches, as CUDA says.
#[derive(Debug)]
pub struct Heap {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    limit: u64,
    used: u64,
    blocks: HashMap<u64, Layout>,
}

impl Heap {
    /// A heap of `limit` bytes.
    pub fn new(limit: u64) -> Self {
        Heap { state: Mutex::new(State { limit, used: 0, blocks: HashMap::new() }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the limit for allocations to come.
    pub fn set_limit(&self, bytes: u64) {
        self.state().limit = bytes;
    }

    /// An address aligned to 16, or 0 when the heap is full.
    pub fn allocate(&self, size: u64) -> u64 {
        let mut s = self.state();
        let Ok(layout) = Layout::from_size_align(size.max(1) as usize, 16) else { return 0 };
        if s.used.checked_add(size).is_none_or(|n| n > s.limit) {
            return 0;
        }
        // SAFETY: the size is not zero.
        let address = unsafe { alloc(layout) } as u64;
        if address != 0 {
            s.used += size;
            s.blocks.insert(address, layout);
        }
        address
    }

    /// Frees a block; false if `malloc` did not give it. Zero is fine.
    pub fn free(&self, address: u64) -> bool {
        if address == 0 {
            return true;
        }
        let mut s = self.state();
        let Some(layout) = s.blocks.remove(&address) else { return false };
        s.used = s.used.saturating_sub(layout.size() as u64);
        // SAFETY: `allocate` gave it with this layout, and it was in the table until now.
        unsafe { dealloc(address as *mut u8, layout) };
        true
    }

    /// Whether the bytes lie in a block.
    pub fn contains(&self, address: u64, size: u64) -> bool {
        let s = self.state();
        s.blocks
            .iter()
            .any(|(&start, l)| address >= start && address.saturating_add(size) <= start + l.size() as u64)
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        let s = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (address, layout) in s.blocks.drain() {
            // SAFETY: `allocate` gave it with this layout.
            unsafe { dealloc(address as *mut u8, layout) };
        }
    }
}
