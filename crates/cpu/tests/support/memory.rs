//! Memory for launches.

use std::sync::Mutex;

use grid::{Heap, Host};

/// The memory of a launch: its buffers and the module's image.
pub struct Memory {
    ranges: Vec<(u64, u64)>,
    heap: Heap,
    printed: Mutex<String>,
}

impl Memory {
    /// Memory that consists of ranges of address and length.
    pub fn new(ranges: Vec<(u64, u64)>) -> Self {
        Memory { ranges, heap: Heap::new(8 << 20), printed: Mutex::default() }
    }

    /// The printed output.
    pub fn printed(&self) -> String {
        self.printed.lock().expect("no printer panics").clone()
    }
}

impl Host for Memory {
    fn accessible(&self, address: u64, size: u32, _write: bool) -> bool {
        let inside = |&(start, len): &(u64, u64)| {
            address >= start && address.checked_add(u64::from(size)).is_some_and(|end| end <= start + len)
        };
        self.ranges.iter().any(inside) || self.heap.contains(address, u64::from(size))
    }

    fn print(&self, text: &[u8]) {
        self.printed.lock().expect("no printer panics").push_str(&String::from_utf8_lossy(text));
    }

    fn heap(&self) -> &Heap {
        &self.heap
    }
}

/// Bytes aligned to 256, like device memory.
pub struct Aligned {
    words: Vec<u128>,
    start: usize,
    len: usize,
}

impl Aligned {
    /// A copy of bytes.
    pub fn new(bytes: &[u8]) -> Self {
        let mut a = Aligned::zeroed(bytes.len());
        a.bytes().copy_from_slice(bytes);
        a
    }

    /// `len` zeroes.
    pub fn zeroed(len: usize) -> Self {
        let words = vec![0; len / 16 + 33];
        let start = (256 - words.as_ptr() as usize % 256) % 256;
        Aligned { words, start, len }
    }

    /// The bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the allocation has 33 words more than the bytes need, which covers the aligned start.
        unsafe {
            std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast::<u8>().add(self.start), self.len)
        }
    }

    /// Address and length.
    pub fn range(&self) -> (u64, u64) {
        (self.address(), self.len as u64)
    }

    /// The address of the first byte.
    pub fn address(&self) -> u64 {
        self.words.as_ptr() as u64 + self.start as u64
    }
}
