//! Memory that a worker keeps from block to block.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// Bytes aligned to 256, grown when more is asked for; contents are then lost.
#[derive(Debug)]
pub struct Buffer {
    start: NonNull<u8>,
    size: usize,
}

// SAFETY: the buffer owns its bytes; whoever has it may use them from any thread.
unsafe impl Send for Buffer {}

const ALIGN: usize = 256;

impl Default for Buffer {
    fn default() -> Self {
        Buffer { start: NonNull::dangling(), size: 0 }
    }
}

impl Buffer {
    fn layout(size: usize) -> Option<Layout> {
        Layout::from_size_align(size, ALIGN).ok()
    }

    /// At least `size` bytes; `None` when there is no memory.
    pub fn get(&mut self, size: usize) -> Option<*mut u8> {
        if size > self.size {
            let layout = Self::layout(size.next_multiple_of(4096))?;
            // SAFETY: the size is not zero.
            let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
            self.release();
            self.start = start;
            self.size = layout.size();
        }
        Some(self.start.as_ptr())
    }

    fn release(&mut self) {
        if let (true, Some(layout)) = (self.size > 0, Self::layout(self.size)) {
            // SAFETY: allocated with this layout in `get`.
            unsafe { dealloc(self.start.as_ptr(), layout) };
            self.size = 0;
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.release();
    }
}
