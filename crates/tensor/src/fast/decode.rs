//! Decodes the elements of registers to f32, which holds them exactly.

use super::{COLUMNS, Register, Row};
use crate::LANES;
use crate::format::Format;

/// Legal biased exponents of bf16 and tf32 elements, as f32: 2^±50.
const ELEMENTS: std::ops::RangeInclusive<u32> = 77..=177;

/// Maximum number of elements per register: eight per word.
pub const MOST: usize = 8 * LANES;

/// Number of elements of a format per word.
pub const fn per_register(format: Format) -> usize {
    (32 / format.bits()) as usize
}

/// Converts the bits of an f16 to f32. The caller excludes infinities and NaNs.
#[inline(always)]
pub fn half(bits: u16) -> f32 {
    let magnitude = u32::from(bits & 0x7fff);
    let normal = f32::from_bits((magnitude << 13).wrapping_add(112 << 23));
    let subnormal = magnitude as i32 as f32 * 5.960_464_5e-8;
    let value = if magnitude < 0x400 { subnormal } else { normal };
    f32::from_bits(value.to_bits() | u32::from(bits & 0x8000) << 16)
}

/// Whether both halves of a word are finite.
#[inline(always)]
pub fn are_numbers(word: u32) -> bool {
    (word & 0x7c00 != 0x7c00) & (word & 0x7c00_0000 != 0x7c00_0000)
}

/// Converts the bits of an e4m3 to f32.
#[inline(always)]
fn e4m3(bits: u32) -> f32 {
    let magnitude = bits & 0x7f;
    let normal = f32::from_bits((magnitude << 20) + (120 << 23));
    let subnormal = magnitude as i32 as f32 * (1.0 / 512.0);
    let value = if magnitude < 8 { subnormal } else { normal };
    f32::from_bits(value.to_bits() | (bits & 0x80) << 24)
}

/// Whether the fast path can handle a value: zero, or a number with an exponent in the range.
#[inline(always)]
pub fn ordinary(bits: u32, range: &std::ops::RangeInclusive<u32>) -> bool {
    let exponent = bits >> 23 & 255;
    (bits << 1 == 0) | ((*range.start() <= exponent) & (exponent <= *range.end()))
}

/// Decodes an element from the low bits of a word. Also returns whether the fast path can handle it.
#[inline(always)]
fn element(format: Format, bits: u32) -> (f32, bool) {
    match format {
        Format::F16 => (half(bits as u16), bits & 0x7c00 != 0x7c00),
        Format::BF16 => (f32::from_bits(bits << 16), ordinary(bits << 16, &ELEMENTS)),
        Format::TF32 => (f32::from_bits(bits & !0x1fff), ordinary(bits & !0x1fff, &ELEMENTS)),
        Format::E4M3 => (e4m3(bits), bits & 0x7f != 0x7f),
        Format::E5M2 => (half((bits << 8) as u16), bits & 0x7c != 0x7c),
        Format::S8 => (i32::from(bits as i8) as f32, true),
        Format::U8 => (i32::from(bits as u8) as f32, true),
        Format::S4 => (((bits << 28) as i32 >> 28) as f32, true),
        Format::U4 => ((bits & 15) as i32 as f32, true),
        _ => (0.0, false),
    }
}

/// Evaluates an expression with `$one`, the decoder of this format's elements, so that the loops in it are
/// specialised for one format each.
macro_rules! of_format {
    ($format:expr, $one:ident => $body:expr; $($name:ident)*) => {
        match $format {
            $(Format::$name => {
                let $one = |bits: u32| element(Format::$name, bits);
                $body
            })*
            _ => false,
        }
    };
    ($format:expr, $one:ident => $body:expr) => {
        of_format!($format, $one => $body; F16 BF16 TF32 E4M3 E5M2 S8 U8 S4 U4)
    };
}

/// Decodes elements of narrower words. Returns whether the fast path can handle all of them.
#[inline(always)]
fn elements<W: Copy + Into<u32>>(from: &[W], to: &mut [f32; MOST], one: impl Fn(u32) -> (f32, bool)) -> bool {
    let mut fine = true;
    for (to, &bits) in to.iter_mut().zip(from) {
        let (value, good) = one(bits.into());
        fine &= good;
        *to = value;
    }
    fine
}

/// The elements of a register, ordered by lane; false if the fast path cannot handle one of them.
#[inline(always)]
pub fn in_order(format: Format, from: &Register, to: &mut [f32; MOST]) -> bool {
    of_format!(format, one => match per_register(format) {
        1 => elements(from, to, one),
        2 => {
            let halves: [u16; 2 * LANES] = std::array::from_fn(|n| (from[n / 2] >> (16 * (n % 2))) as u16);
            elements(&halves, to, one)
        }
        4 => {
            let bytes: [u8; 4 * LANES] = std::array::from_fn(|n| (from[n / 4] >> (8 * (n % 4))) as u8);
            elements(&bytes, to, one)
        }
        _ => {
            let parts: [u8; 8 * LANES] = std::array::from_fn(|n| (from[n / 8] >> (4 * (n % 8))) as u8);
            elements(&parts, to, one)
        }
    })
}

/// The elements of a register as rows of eight columns; false if the fast path cannot handle one of them.
#[inline(always)]
pub fn in_rows(format: Format, from: &Register, to: &mut [Row]) -> bool {
    let (per, bits) = (per_register(format), format.bits());
    of_format!(format, one => {
        let mut fine = true;
        for (own, to) in to.chunks_exact_mut(per).take(4).enumerate() {
            let words: [u32; COLUMNS] = std::array::from_fn(|column| from[4 * column + own]);
            for (part, to) in to.iter_mut().enumerate() {
                for (to, word) in to.iter_mut().zip(words) {
                    let (value, good) = one(word >> (bits as usize * part));
                    fine &= good;
                    *to = value;
                }
            }
        }
        fine
    })
}
