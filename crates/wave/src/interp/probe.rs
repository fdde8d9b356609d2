//! Runs one block again to find out which lane faults: compiled code makes one access for all lanes of a
//! warp, and the processor reports only one address.
//!
//! Stores are buffered, so the block changes nothing but its own shared and local memory. The first run may
//! have changed what the block reads now, so the caller compares the result with the fault that occurred.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::memory;

/// Instructions of warps after which the block is given up: it may wait for another one.
const STEPS: u64 = 1 << 20;

/// The block, and what it has stored.
#[derive(Debug)]
pub struct Probe {
    /// Its index, whatever block runs.
    pub ctaid: [u32; 3],
    /// The dimensions of its grid.
    pub nctaid: [u32; 3],
    stored: Mutex<HashMap<u64, u8>>,
    left: AtomicU64,
}

impl Probe {
    /// A probe of a block of a grid.
    pub fn new(ctaid: [u32; 3], nctaid: [u32; 3]) -> Probe {
        Probe { ctaid, nctaid, stored: Mutex::default(), left: AtomicU64::new(STEPS) }
    }

    /// Counts an instruction; `false` if the block is given up.
    pub(super) fn step(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        left != 0
    }

    /// Gives the block up: what comes next would have an effect.
    pub(super) fn give_up(&self) {
        self.left.store(0, Ordering::Relaxed);
    }

    /// Reads `size` bytes at a checked address.
    ///
    /// # Safety
    /// As for [`memory::read`].
    pub(super) unsafe fn read(&self, address: u64, size: u32) -> u128 {
        // SAFETY: the caller's promise.
        let real = unsafe { memory::read(address, size, address.is_multiple_of(u64::from(size))) };
        let mut bytes = real.to_le_bytes();
        let stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        for (at, byte) in (address..).zip(bytes.iter_mut().take(size as usize)) {
            if let Some(new) = stored.get(&at) {
                *byte = *new;
            }
        }
        u128::from_le_bytes(bytes)
    }

    /// Keeps what would be written.
    pub(super) fn write(&self, address: u64, size: u32, value: u128) {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        stored.extend((address..).zip(value.to_le_bytes().into_iter().take(size as usize)));
    }
}
