//! Reads and writes elements of memory.

use crate::descriptor::{Channel, Code, Format, Plane};

/// The address of an element of a plane, or of the block that contains it. It is inside the plane if the
/// indices are.
pub fn address(plane: &Plane, format: Format, x: u32, y: u32, slice: u32) -> u64 {
    plane.address(format.element(), [x / format.side(), y / format.side(), slice])
}

/// One channel at an address, sign-extended if it is signed, otherwise zero-extended.
fn channel(format: Format, at: u64, index: u64) -> u32 {
    let signed = matches!(format.channel, Channel::Signed | Channel::Snorm);
    let at = at.wrapping_add(index * u64::from(format.bytes));
    // SAFETY: a descriptor keeps its memory alive, and indices are kept inside it; elements of borrowed
    // memory are checked before. Reads may race with other kernels' writes, as on the hardware: the access is
    // volatile, and any bits are valid.
    unsafe {
        match format.bytes {
            1 => {
                let v = (at as *const u8).read_volatile();
                if signed { v as i8 as u32 } else { u32::from(v) }
            }
            2 => {
                let v = (at as *const u16).read_unaligned();
                if signed { v as i16 as u32 } else { u32::from(v) }
            }
            _ => (at as *const u32).read_unaligned(),
        }
    }
}

/// The eight bytes at an address.
fn word(at: u64) -> u64 {
    // SAFETY: see `channel`.
    unsafe { (at as *const u64).read_unaligned() }
}

/// The channels of the element at `x`, `y` of a slice; missing channels are 0.
pub fn read(plane: &Plane, format: Format, x: u32, y: u32, slice: u32) -> [u32; 4] {
    let at = address(plane, format, x, y, slice);
    match format.code {
        Code::Plain => {
            let mut channels = [0; 4];
            for (index, c) in channels.iter_mut().enumerate().take(usize::from(format.channels)) {
                *c = channel(format, at, index as u64);
            }
            channels
        }
        Code::Tens => {
            // SAFETY: see `channel`.
            let all = unsafe { (at as *const u32).read_unaligned() };
            [all & 1023, all >> 10 & 1023, all >> 20 & 1023, all >> 30]
        }
        Code::Block(block) => {
            let second = if block.bytes() > 8 { word(at.wrapping_add(8)) } else { 0 };
            block.texel([word(at), second], x, y)
        }
    }
}

/// The words of the element, or block, at a place; what is shorter than a word is extended with its sign if
/// `signed`, otherwise with zeros.
pub fn words(plane: &Plane, format: Format, [x, y, slice]: [u32; 3], signed: bool) -> [u32; 4] {
    let at = address(plane, format, x, y, slice);
    let size = format.element().min(16);
    let mut words = [0u32; 4];
    for byte in 0..size {
        // SAFETY: see `channel`.
        let value = unsafe { (at.wrapping_add(byte) as *const u8).read_volatile() };
        words[byte as usize / 4] |= u32::from(value) << (byte % 4 * 8);
    }
    if signed && size < 4 {
        let unused = 32 - 8 * size as u32;
        words[0] = ((words[0] << unused) as i32 >> unused) as u32;
    }
    words
}

/// Writes a channel.
pub fn write(at: u64, bytes: u8, value: u32) {
    // SAFETY: see `channel`.
    unsafe {
        match bytes {
            1 => (at as *mut u8).write_volatile(value as u8),
            2 => (at as *mut u16).write_unaligned(value as u16),
            _ => (at as *mut u32).write_unaligned(value),
        }
    }
}
