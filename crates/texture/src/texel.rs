//! Reading and writing elements of memory.

use crate::descriptor::{Channel, Code, Format, Plane};

/// The address of an element of a plane, or of the block that it is in. Inside the plane if the indices are.
pub fn address(plane: &Plane, format: Format, x: u32, y: u32, slice: u32) -> u64 {
    let (x, y) = (x / format.side(), y / format.side());
    plane
        .base
        .wrapping_add(u64::from(slice) * plane.slice)
        .wrapping_add(u64::from(y) * plane.pitch)
        .wrapping_add(u64::from(x) * format.element())
}

/// One channel at an address: signed ones sign-extended, the others by zeros.
fn channel(format: Format, at: u64, index: u64) -> u32 {
    let signed = matches!(format.channel, Channel::Signed | Channel::Snorm);
    let at = at.wrapping_add(index * u64::from(format.bytes));
    // SAFETY: descriptors are of memory that stays while they do, and indices are held inside it; elements of memory that is only
    // borrowed are checked before. Reading races with other kernels' writes as it does on the hardware: volatile, any bits are good.
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

/// Eight bytes at an address.
fn word(at: u64) -> u64 {
    // SAFETY: as for `channel`.
    unsafe { (at as *const u64).read_unaligned() }
}

/// The channels of the element at `x`, `y` of a slice; those that its format has not are 0.
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
            // SAFETY: as for `channel`.
            let all = unsafe { (at as *const u32).read_unaligned() };
            [all & 1023, all >> 10 & 1023, all >> 20 & 1023, all >> 30]
        }
        Code::Block(block) => {
            let second = if block.bytes() > 8 { word(at.wrapping_add(8)) } else { 0 };
            block.texel([word(at), second], x, y)
        }
    }
}
