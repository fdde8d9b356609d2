//! What AMD's kernels read of a texture or surface object: `hipTextureObject_t` is the address of a record.
//!
//! A record begins with the hardware's descriptor of the image or the typed buffer, eight words, whose fields
//! are true as far as they have room. Then come the words that AMD's device library reads: the type and the
//! order of channels, and the width. The descriptor of the sampler begins at the thirteenth word. (AMD's
//! instruction set manuals; the layout of later families is that of ROCr's image library.)
//!
//! The last word of the image's descriptor, which hardware uses for compressed images alone, is the object's
//! handle: image instructions find the object by it.

use std::alloc::{Layout, alloc};
use std::sync::{Mutex, PoisonError};

use crate::descriptor::{Address, Channel, Code, Descriptor};
use crate::typed::{self, Number};

/// Families of instruction sets that lay out descriptors alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// gfx9.
    Gfx9,
    /// gfx10.
    Gfx10,
    /// gfx11.
    Gfx11,
    /// gfx12.
    Gfx12,
}

impl Family {
    /// The family of a target, such as `gfx90a:sramecc+`.
    pub fn of_target(target: &str) -> Family {
        match target {
            _ if target.starts_with("gfx10") => Family::Gfx10,
            _ if target.starts_with("gfx11") => Family::Gfx11,
            _ if target.starts_with("gfx12") => Family::Gfx12,
            _ => Family::Gfx9,
        }
    }

    /// The family with a number.
    pub fn of_number(number: u32) -> Family {
        [Family::Gfx9, Family::Gfx10, Family::Gfx11, Family::Gfx12][number as usize & 3]
    }

    /// Its number.
    pub fn number(self) -> u32 {
        self as u32
    }
}

/// Words of a record.
const WORDS: usize = 20;
/// The word with the handle.
const HANDLE: usize = 7;
/// The first word of the sampler.
const SAMPLER: usize = 12;
/// Bytes from one record to the next.
const STRIDE: u64 = 128;
/// Bytes of memory for records. So much is never in the heap below 4 GiB, where addresses could be mistaken
/// for handles.
const SLAB: usize = 64 << 20;

/// Memory for records: what has been given back, and the part that was never used.
struct Memory {
    free: Vec<u64>,
    next: u64,
    end: u64,
}

static MEMORY: Mutex<Memory> = Mutex::new(Memory { free: Vec::new(), next: 0, end: 0 });

/// A record that no kernel can see yet, or no longer.
#[derive(Debug)]
pub struct Record {
    words: [u32; WORDS],
    address: u64,
}

impl Drop for Record {
    fn drop(&mut self) {
        MEMORY.lock().unwrap_or_else(PoisonError::into_inner).free.push(self.address);
    }
}

impl Record {
    /// The record of an object; `None` if there is no memory for it.
    pub fn new(descriptor: &Descriptor, family: Family) -> Option<Record> {
        let mut memory = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
        let address = match memory.free.pop() {
            Some(address) => address,
            None => {
                if memory.next == memory.end {
                    let layout = Layout::from_size_align(SLAB, STRIDE as usize).ok()?;
                    // SAFETY: the size is not 0.
                    let start = unsafe { alloc(layout) } as u64;
                    (start >> 32 != 0).then_some(())?;
                    (memory.next, memory.end) = (start, start + SLAB as u64);
                }
                memory.next += STRIDE;
                memory.next - STRIDE
            }
        };
        Some(Record { words: words(descriptor, family), address })
    }

    /// Writes the record for kernels, with this handle, and returns its address.
    pub fn publish(mut self, handle: u32) -> u64 {
        self.words[HANDLE] = handle;
        let address = self.address;
        // SAFETY: the address is that of STRIDE bytes which belong to this record alone.
        unsafe { (address as *mut [u32; WORDS]).write_volatile(self.words) };
        std::mem::forget(self);
        address
    }

    /// Takes a record back: what still reads it finds no object.
    ///
    /// # Safety
    /// [`Record::publish`] returned the address, and it was not taken back since.
    pub unsafe fn unpublish(address: u64) -> Record {
        let words = [0; WORDS];
        // SAFETY: as in `publish`, which the caller guarantees.
        unsafe { (address as *mut [u32; WORDS]).write_volatile(words) };
        Record { words, address }
    }
}

/// The bits of the channels, and what they are.
fn channels(descriptor: &Descriptor) -> ([u32; 4], usize, Number) {
    let format = descriptor.format;
    let integers = descriptor.sampler.integers || descriptor.surface || format.bytes == 4;
    let number = match format.channel {
        Channel::Float => Number::Float,
        Channel::Unsigned if integers => Number::Uint,
        Channel::Signed if integers => Number::Sint,
        Channel::Unsigned | Channel::Unorm => Number::Unorm,
        Channel::Signed | Channel::Snorm => Number::Snorm,
    };
    let bits = match format.code {
        Code::Tens => [10, 10, 10, 2],
        _ => [u32::from(format.bytes) * 8; 4],
    };
    (bits, usize::from(format.channels), number)
}

/// HSA's number of a channel's type.
fn channel_type(bits: u32, number: Number) -> u32 {
    let size = match bits {
        8 => 0,
        16 => 1,
        _ => 2,
    };
    match number {
        _ if bits == 10 => 7,
        Number::Snorm => size,
        Number::Unorm => 2 + size,
        Number::Sint => 8 + size,
        Number::Uint => 11 + size,
        _ => 13 + size,
    }
}

/// A level of detail with eight bits of fraction.
fn level(value: f32, most: u32) -> u32 {
    ((value.max(0.0) * 256.0) as u32).min(most)
}

fn words(descriptor: &Descriptor, family: Family) -> [u32; WORDS] {
    let mut words = [0; WORDS];
    let plane = descriptor.levels.first().copied().unwrap_or_default();
    let [_, height, depth] = descriptor.extent;
    let (bits, count, number) = channels(descriptor);
    // Blocks of texels have no number here.
    let plain = descriptor.format.side() == 1;
    let format = if plain { typed::field(family, &bits[..count], number).unwrap_or(0) } else { 0 };
    // The channels that there are, then 0, and 1 for the last: opaque.
    let select = (0..4).fold(0, |all, k| {
        let one = match k {
            _ if k < count => 4 + k as u32,
            3 => 1,
            _ => 0,
        };
        all | one << (3 * k)
    });
    let linear = descriptor.borrowed && height == 0;
    if linear {
        words[0] = plane.base as u32;
        words[1] = (plane.base >> 32) as u32 & 0xffff | (descriptor.format.element() as u32) << 16;
        words[2] = plane.width;
        words[3] = select
            | match family {
                Family::Gfx9 => (format >> 4) << 12 | (format & 15) << 15,
                Family::Gfx10 => format << 12 | 1 << 24,
                _ => format << 12,
            };
    } else {
        let faces = descriptor.faces();
        let (kind, slices) = match (descriptor.cube, descriptor.layered) {
            (true, _) => (11, descriptor.layers * faces),
            (_, true) if height == 0 => (12, descriptor.layers),
            (_, true) => (13, descriptor.layers),
            _ if depth != 0 => (10, plane.depth),
            _ if height != 0 => (9, 1),
            _ => (8, 1),
        };
        let less = |n: u32, bits: u32| n.max(1).wrapping_sub(1) & ((1 << bits) - 1);
        let (width, height) = (less(plane.width, 16), less(plane.height, 14));
        let last = (descriptor.levels.len() as u32).saturating_sub(1) & 15;
        words[0] = (plane.base >> 8) as u32;
        words[1] = (plane.base >> 40) as u32 & 0xff;
        words[2] = height << 14;
        words[3] = select | kind << 28;
        words[4] = less(slices, 13);
        match family {
            Family::Gfx9 => {
                words[1] |= (format & 15) << 20 | (format >> 4) << 26;
                words[2] |= width & 0x3fff;
                words[3] |= last << 16;
                words[4] |= less((plane.pitch / descriptor.format.element().max(1)) as u32, 16) << 13;
                words[5] = last << 28;
            }
            Family::Gfx10 => {
                words[1] |= format << 20 | (width & 3) << 30;
                words[2] |= width >> 2 & 0xfff | 1 << 31;
                words[3] |= last << 16;
                words[5] = last << 4;
            }
            Family::Gfx11 => {
                words[1] |= last << 16 | format << 20 | (width & 3) << 30;
                words[2] |= width >> 2 & 0xfff;
                words[3] |= last << 16;
            }
            Family::Gfx12 => {
                words[1] |= last << 12 | format << 17 | (width & 3) << 30;
                words[2] |= width >> 2 & 0x3fff;
                words[3] |= last << 15;
            }
        }
    }
    words[8] = channel_type(bits[0], number);
    words[9] = match count {
        1 => 1,
        2 => 3,
        _ => 8,
    };
    words[10] = plane.width;
    words[SAMPLER..SAMPLER + 4].copy_from_slice(&sampler(descriptor, family));
    words
}

fn sampler(descriptor: &Descriptor, family: Family) -> [u32; 4] {
    let sampler = &descriptor.sampler;
    let clamp = |k: usize| match sampler.address[k] {
        Address::Wrap => 0,
        Address::Mirror => 1,
        Address::Clamp => 2,
        Address::Border => 6,
    };
    let (room, most) = if family == Family::Gfx12 { (13, 0x1fff) } else { (12, 0xfff) };
    let linear = u32::from(sampler.linear);
    let levels = match (descriptor.levels.len(), sampler.linear_levels) {
        (..=1, _) => 0,
        (_, false) => 1,
        (_, true) => 2,
    };
    let border = match sampler.border {
        [1.0, 1.0, 1.0, 1.0] => 2,
        [0.0, 0.0, 0.0, 1.0] => 1,
        _ => 0,
    };
    [
        clamp(0) | clamp(1) << 3 | clamp(2) << 6 | u32::from(!sampler.normalized) << 15,
        level(sampler.least, most) | level(sampler.most, most) << room,
        linear << 20 | linear << 22 | levels << 26,
        border << 30,
    ]
}
