//! Reading and writing elements of memory.

use crate::descriptor::{Channel, Format, Plane};

/// The address of an element of a plane. Inside it if the indices are.
pub fn address(plane: &Plane, format: Format, x: u32, y: u32, slice: u32) -> u64 {
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

/// The channels of an element; those that it has not are 0.
pub fn read(format: Format, at: u64) -> [u32; 4] {
    let mut channels = [0; 4];
    for (index, c) in channels.iter_mut().enumerate().take(usize::from(format.channels)) {
        *c = channel(format, at, index as u64);
    }
    channels
}
