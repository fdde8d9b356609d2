//! Surface loads, stores and reductions.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::access::{Access, Clamp, Operation, Reduction};
use crate::descriptor::{Channel, Descriptor, Format};
use crate::{Fault, Lanes, lanes, texel};

/// The target of a lane's access: an address, nothing, or a fault.
enum Where {
    At(u64),
    Nowhere,
    Outside,
    Misaligned,
}

fn place(access: Access, descriptor: &Descriptor, args: &[Lanes], lane: usize, bytes: u64) -> Where {
    let word = |k: usize| args.get(k).and_then(|a| a.get(lane)).copied().unwrap_or_default() as u32;
    let plane = descriptor.levels.first().copied().unwrap_or_default();
    let element = descriptor.format.element().max(1);
    let (layered, count) = (access.geometry.layered(), access.geometry.coordinates());
    let first = usize::from(layered);
    let layers = descriptor.layers * descriptor.faces();
    let x = if access.elements {
        i64::from(word(first) as i32) * element as i64
    } else {
        i64::from(word(first) as i32)
    };
    if x & (bytes as i64 - 1) != 0 && !access.elements {
        return Where::Misaligned;
    }
    let row = i64::from(plane.width) * element as i64;
    let inside_or = |value: i64, size: i64, clamped: i64| -> Option<i64> {
        if (0..size).contains(&value) {
            return Some(value);
        }
        (access.clamp == Clamp::Clamp).then_some(if value < 0 { 0 } else { clamped })
    };
    let size = |k: usize| i64::from([plane.width, plane.height, plane.depth][k]);
    let x = inside_or(x, row, row - bytes as i64);
    let axis = |k: usize| {
        if k < count { inside_or(i64::from(word(first + k) as i32), size(k), size(k) - 1) } else { Some(0) }
    };
    let (y, z) = (axis(1), axis(2));
    // Only 16 bits of the layer's number count.
    let layer = if layered {
        inside_or(i64::from(word(0) & 0xffff), i64::from(layers), i64::from(layers) - 1)
    } else {
        Some(0)
    };
    match (x, y, z, layer) {
        (Some(x), Some(y), Some(z), Some(layer)) if x >= 0 && x + bytes as i64 <= row.max(bytes as i64) => {
            let slice = (if layered { layer } else { z }) as u32;
            let (at, rest) = ((x / element as i64) as u32, (x % element as i64) as u64);
            Where::At(texel::address(&plane, descriptor.format, at, y as u32, slice).wrapping_add(rest))
        }
        _ if access.clamp == Clamp::Trap => Where::Outside,
        _ => Where::Nowhere,
    }
}

/// Runs a surface access.
pub fn run(
    access: Access,
    descriptor: &Descriptor,
    mask: u32,
    args: &[Lanes],
    results: &mut [Lanes],
) -> Result<(), Fault> {
    let formatted = access.operation == Operation::StoreFormatted;
    let width = 1u64 << (access.width.clamp(3, 6) - 3);
    let count = 1usize << access.count.min(2);
    let bytes = if formatted { descriptor.format.element() } else { width * count as u64 };
    let first = usize::from(access.geometry.layered()) + access.geometry.coordinates();
    let operand =
        |k: usize, lane: usize| args.get(first + k).and_then(|a| a.get(lane)).copied().unwrap_or_default();
    let (mut outside, mut misaligned) = (0u32, 0u32);
    for lane in lanes(mask) {
        let address = match place(access, descriptor, args, lane, bytes) {
            // Unmapped tiles read as 0 and ignore writes, like texels outside.
            Where::At(address) => descriptor.is_mapped(address).then_some(address),
            Where::Nowhere => None,
            Where::Outside => {
                outside |= 1 << lane;
                continue;
            }
            Where::Misaligned => {
                misaligned |= 1 << lane;
                continue;
            }
        };
        match (access.operation, address) {
            (Operation::Load, _) => {
                for (k, result) in results.iter_mut().enumerate().take(count) {
                    if let Some(r) = result.get_mut(lane) {
                        *r = address.map_or(0, |at| load(at.wrapping_add(k as u64 * width), width));
                    }
                }
            }
            (Operation::Store, Some(at)) => {
                for k in 0..count {
                    store(at.wrapping_add(k as u64 * width), width, operand(k, lane));
                }
            }
            (Operation::StoreFormatted, Some(at)) => {
                let format = descriptor.format;
                for k in 0..usize::from(format.channels) {
                    let value = if k < count { operand(k, lane) as u32 } else { 0 };
                    let at = at.wrapping_add(k as u64 * u64::from(format.bytes));
                    store(at, u64::from(format.bytes), u64::from(convert(format, value)));
                }
            }
            (Operation::Reduce, Some(at)) => reduce(access, at, operand(0, lane)),
            _ => {}
        }
    }
    match (misaligned, outside) {
        (0, 0) => Ok(()),
        (0, _) => Err(Fault::Outside(outside)),
        _ => Err(Fault::Misaligned(misaligned)),
    }
}

fn load(at: u64, bytes: u64) -> u64 {
    // SAFETY: `place` keeps accesses inside the descriptor's memory; any bits are valid.
    unsafe {
        match bytes {
            1 => u64::from((at as *const u8).read_volatile()),
            2 => u64::from((at as *const u16).read_unaligned()),
            4 => u64::from((at as *const u32).read_unaligned()),
            _ => (at as *const u64).read_unaligned(),
        }
    }
}

fn store(at: u64, bytes: u64, value: u64) {
    // SAFETY: see `load`.
    unsafe {
        match bytes {
            1 => (at as *mut u8).write_volatile(value as u8),
            2 => (at as *mut u16).write_unaligned(value as u16),
            4 => (at as *mut u32).write_unaligned(value as u32),
            _ => (at as *mut u64).write_unaligned(value),
        }
    }
}

/// Converts a value to a channel's format.
fn convert(format: Format, value: u32) -> u32 {
    match (format.channel, format.bytes) {
        (Channel::Float, 2) => u32::from(float_to_half_cut(value)),
        (Channel::Float, _) | (_, 4) => value,
        (Channel::Unsigned | Channel::Unorm, 1) => value.min(255),
        (Channel::Unsigned | Channel::Unorm, _) => value.min(65535),
        (Channel::Signed | Channel::Snorm, 1) => (value as i32).clamp(-128, 127) as u32,
        (Channel::Signed | Channel::Snorm, _) => (value as i32).clamp(-32768, 32767) as u32,
    }
}

fn reduce(access: Access, at: u64, value: u64) {
    let signed = access.signed;
    let change = |old: u64, value: u64| match access.reduction {
        Reduction::Add => old.wrapping_add(value),
        Reduction::Min if signed => (old as i64).min(value as i64) as u64,
        Reduction::Max if signed => (old as i64).max(value as i64) as u64,
        Reduction::Min => old.min(value),
        Reduction::Max => old.max(value),
        Reduction::And => old & value,
        Reduction::Or => old | value,
    };
    if access.width >= 6 {
        // SAFETY: see `load`; `place` has checked the alignment: rows of arrays begin at multiples of their
        // element size.
        let cell = unsafe { AtomicU64::from_ptr(at as *mut u64) };
        let _ = cell.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |old| Some(change(old, value)));
    } else {
        // The lower half of a 64-bit result, if the order is the same as for 32 bits.
        let wide = |word: u32| if signed { i64::from(word as i32) as u64 } else { u64::from(word) };
        // SAFETY: see above.
        let cell = unsafe { AtomicU32::from_ptr(at as *mut u32) };
        let _ = cell.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |old| {
            Some(change(wide(old), wide(value as u32)) as u32)
        });
    }
}

/// Converts f32 to f16, truncating; clamped to the largest f16.
fn float_to_half_cut(bits: u32) -> u16 {
    let sign = (bits >> 16 & 0x8000) as u16;
    let (exponent, fraction) = ((bits >> 23 & 255) as i32, bits & 0x7f_ffff);
    match exponent - 112 {
        143 if fraction != 0 => sign | 0x7c00 | (fraction >> 13) as u16,
        31.. => sign | 0x7bff,
        e @ 1..=30 => sign | (e as u16) << 10 | (fraction >> 13) as u16,
        e => sign | ((fraction | 0x80_0000).checked_shr((14 - e) as u32).unwrap_or(0)) as u16,
    }
}
