//! The formats of AMD's typed buffers (the sections "Buffer Data Formats" and "Buffer Instructions" of AMD's
//! instruction set manuals).
//!
//! [`spec`] decodes a format number: the field of the instruction or of the descriptor, its family, and the
//! descriptor's selection of channels where it counts.

use crate::access::{Access, Operation};
use crate::format::{float_to_half, half_to_float};
use crate::record::Family;
use crate::{Lanes, lanes};

/// How a channel's bits are a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// 0 to 1.
    Unorm,
    /// -1 to 1.
    Snorm,
    /// A float without fraction, not negative.
    Uscaled,
    /// A float without fraction.
    Sscaled,
    /// An unsigned integer.
    Uint,
    /// A signed integer.
    Sint,
    /// A float: of 32, 16, 11 or 10 bits; the latter two have no sign.
    Float,
}

use Number::*;

/// The number formats of gfx9 by their field; the seventh is reserved.
const NUMBERS: [Option<Number>; 8] =
    [Some(Unorm), Some(Snorm), Some(Uscaled), Some(Sscaled), Some(Uint), Some(Sint), None, Some(Float)];

const ALL: &[Number] = &[Unorm, Snorm, Uscaled, Sscaled, Uint, Sint, Float];
const SIX: &[Number] = &[Unorm, Snorm, Uscaled, Sscaled, Uint, Sint];
const WORDS: &[Number] = &[Uint, Sint, Float];
const FLOAT: &[Number] = &[Float];
const FOUR: &[Number] = &[Unorm, Snorm, Uint, Sint];

/// The data formats by the field of gfx9: the bits of the channels, the first lowest (AMD's names begin with
/// the highest); and the numbers that later families have, in the order in which their unified formats count
/// them: gfx10, gfx11 and later.
const DATA: [(&[u32], &[Number], &[Number]); 15] = [
    (&[], &[], &[]),
    (&[8], SIX, SIX),
    (&[16], ALL, ALL),
    (&[8, 8], SIX, SIX),
    (&[32], WORDS, WORDS),
    (&[16, 16], ALL, ALL),
    (&[11, 11, 10], ALL, FLOAT),
    (&[10, 11, 11], ALL, FLOAT),
    (&[2, 10, 10, 10], SIX, FOUR),
    (&[10, 10, 10, 2], SIX, SIX),
    (&[8, 8, 8, 8], SIX, SIX),
    (&[32, 32], WORDS, WORDS),
    (&[16, 16, 16, 16], ALL, ALL),
    (&[32, 32, 32], WORDS, WORDS),
    (&[32, 32, 32, 32], WORDS, WORDS),
];

/// The numbers of a data format in a family that counts them together.
fn numbers(family: Family, row: &(&[u32], &'static [Number], &'static [Number])) -> &'static [Number] {
    if family == Family::Gfx10 { row.1 } else { row.2 }
}

/// The channels of a format and what they are; `None` if there is no such format. Before gfx10 the field has
/// the data format in its low four bits, and the number format above them.
pub fn format(family: Family, field: u32) -> Option<(&'static [u32], Number)> {
    if family == Family::Gfx9 {
        let (bits, ..) = DATA.get(field as usize & 15).filter(|row| !row.0.is_empty())?;
        return Some((bits, NUMBERS.get(field as usize >> 4 & 7).copied()??));
    }
    let mut left = (field as usize).checked_sub(1)?;
    for row in &DATA {
        let all = numbers(family, row);
        if let Some(number) = all.get(left) {
            return Some((row.0, *number));
        }
        left -= all.len();
    }
    None
}

/// The field of a format in a family; `None` if it has none.
pub fn field(family: Family, channels: &[u32], number: Number) -> Option<u32> {
    (1..128).find(|&field| format(family, field) == Some((channels, number)))
}

/// Bytes of an element; 0 if there is no such format.
pub fn bytes(family: Family, field: u32) -> u32 {
    format(family, field).map_or(0, |(channels, _)| channels.iter().sum::<u32>() / 8)
}

/// Bits of [`spec`]: the family's number, the selection of channels, and that it counts.
pub mod spec {
    /// The lowest bit of the family.
    pub const FAMILY: u32 = 8;
    /// The lowest bit of the selection: three bits for each channel of the result.
    pub const SELECTION: u32 = 16;
    /// The selection counts.
    pub const SELECTS: u32 = 28;
}

/// A channel as a register has it.
pub fn decoded(raw: u32, bits: u32, number: Number) -> u32 {
    let most = u32::MAX >> (32 - bits);
    let signed = (raw << (32 - bits)) as i32 >> (32 - bits);
    match number {
        Unorm => (f64::from(raw) / f64::from(most)) as f32,
        Snorm => (f64::from(signed) / f64::from(most >> 1)).max(-1.0) as f32,
        Uscaled => raw as f32,
        Sscaled => signed as f32,
        Uint => return raw,
        Sint => return signed as u32,
        Float => {
            return match bits {
                32 => raw,
                16 => half_to_float(raw as u16),
                // The fractions are those of an f16, without the lowest bits.
                _ => half_to_float((raw << (15 - bits)) as u16),
            };
        }
    }
    .to_bits()
}

/// A register as a channel: what is too large or too small becomes the nearest number that there is.
pub fn encoded(word: u32, bits: u32, number: Number) -> u32 {
    let most = u32::MAX >> (32 - bits);
    let value = f64::from(f32::from_bits(word));
    let value = if value.is_nan() { 0.0 } else { value };
    let half = f64::from(most >> 1);
    match number {
        Unorm => (value.clamp(0.0, 1.0) * f64::from(most)).round_ties_even() as u32,
        Snorm => (value.clamp(-1.0, 1.0) * half).round_ties_even() as i64 as u32 & most,
        Uscaled => value.clamp(0.0, f64::from(most)) as u32,
        Sscaled => value.clamp(-half - 1.0, half) as i64 as u32 & most,
        Uint => word.min(most),
        Sint => i64::from(word as i32).clamp(-(half as i64) - 1, half as i64) as u32 & most,
        Float if bits == 32 => word,
        Float if bits == 16 => u32::from(float_to_half(word)),
        Float => small_float(word, bits),
    }
}

/// An f32 as a float of 11 or 10 bits without a sign, towards zero.
fn small_float(word: u32, bits: u32) -> u32 {
    let fraction = bits - 5;
    let infinity = 31 << fraction;
    if word << 1 > 0xff00_0000 {
        return infinity | 1 << (fraction - 1);
    }
    let value = f32::from_bits(word);
    if value <= 0.0 {
        return 0;
    }
    if value.is_infinite() {
        return infinity;
    }
    let exponent = (word >> 23) as i32 - 112;
    match exponent {
        31.. => infinity - 1,
        1..=30 => (exponent as u32) << fraction | (word & 0x7f_ffff) >> (23 - fraction),
        _ => {
            let whole = word & 0x7f_ffff | 0x80_0000;
            whole.checked_shr(23 - fraction + (1 - exponent) as u32).unwrap_or(0)
        }
    }
}

/// Runs a conversion. The first operand is the format's [`spec`].
pub fn run(access: Access, mask: u32, args: &[Lanes], results: &mut [Lanes]) {
    for lane in lanes(mask) {
        let at = |k: usize| args.get(k).and_then(|a| a.get(lane)).copied().unwrap_or_default() as u32;
        let (how, words) = (at(0), std::array::from_fn(|k| at(k + 1)));
        let answer = match access.operation {
            Operation::Unpack => unpacked(how, words, access.halves),
            _ => packed(how, words, access.halves),
        };
        for (result, value) in results.iter_mut().zip(answer) {
            if let Some(r) = result.get_mut(lane) {
                *r = u64::from(value);
            }
        }
    }
}

fn format_of(how: u32) -> Option<(&'static [u32], Number)> {
    format(Family::of_number(how >> spec::FAMILY & 3), how & 0xff)
}

fn unpacked(how: u32, words: [u32; 4], halves: bool) -> [u32; 4] {
    let Some((channels, number)) = format_of(how) else { return [0; 4] };
    let whole = words.iter().rev().fold(0u128, |all, word| all << 32 | u128::from(*word));
    let float = !matches!(number, Uint | Sint);
    let one = if float { 1f32.to_bits() } else { 1 };
    let mut all = [0, 0, 0, one];
    let mut at = 0;
    for (value, bits) in all.iter_mut().zip(channels) {
        *value = decoded((whole >> at) as u32 & u32::MAX >> (32 - bits), *bits, number);
        at += bits;
    }
    if how >> spec::SELECTS & 1 == 1 {
        all = std::array::from_fn(|k| match how >> (spec::SELECTION + 3 * k as u32) & 7 {
            1 => one,
            select @ 4.. => all[select as usize & 3],
            _ => 0,
        });
    }
    if halves {
        all = all.map(|v| if float { u32::from(float_to_half(v)) } else { v & 0xffff });
    }
    all
}

fn packed(how: u32, values: [u32; 4], halves: bool) -> [u32; 4] {
    let Some((channels, number)) = format_of(how) else { return [0; 4] };
    let (mut whole, mut at) = (0u128, 0);
    for (value, bits) in values.into_iter().zip(channels) {
        let value = match number {
            _ if !halves => value,
            Uint => value & 0xffff,
            Sint => value as u16 as i16 as u32,
            _ => half_to_float(value as u16),
        };
        whole |= u128::from(encoded(value, *bits, number)) << at;
        at += bits;
    }
    std::array::from_fn(|k| (whole >> (32 * k)) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers in "Buffer Image formats" of the manuals of RDNA 2 and RDNA 3, and in that of GCN 3.
    #[test]
    fn fields_are_those_of_the_manuals() {
        for (family, field, channels, number) in [
            (Family::Gfx10, 1, &[8][..], Unorm),
            (Family::Gfx10, 22, &[32], Float),
            (Family::Gfx10, 36, &[11, 11, 10], Float),
            (Family::Gfx10, 44, &[2, 10, 10, 10], Unorm),
            (Family::Gfx10, 56, &[8, 8, 8, 8], Unorm),
            (Family::Gfx10, 77, &[32, 32, 32, 32], Float),
            (Family::Gfx11, 30, &[11, 11, 10], Float),
            (Family::Gfx11, 42, &[8, 8, 8, 8], Unorm),
            (Family::Gfx11, 63, &[32, 32, 32, 32], Float),
            (Family::Gfx9, 4 | 7 << 4, &[32], Float),
            (Family::Gfx9, 9, &[10, 10, 10, 2], Unorm),
        ] {
            assert_eq!(format(family, field), Some((channels, number)), "{family:?} {field}");
            assert_eq!(self::field(family, channels, number), Some(field));
        }
        assert_eq!((format(Family::Gfx10, 0), format(Family::Gfx10, 78)), (None, None));
        assert_eq!((format(Family::Gfx9, 15), format(Family::Gfx9, 4 | 6 << 4)), (None, None));
        assert_eq!((bytes(Family::Gfx10, 72), bytes(Family::Gfx11, 6)), (12, 1));
    }

    #[test]
    fn channels_survive_both_ways() {
        for bits in [2u32, 8, 10, 16] {
            for number in [Unorm, Snorm, Uscaled, Sscaled, Uint, Sint] {
                for raw in 0..1u32 << bits {
                    let back = encoded(decoded(raw, bits, number), bits, number);
                    // The smallest signed fraction is -1, as the one above it.
                    let lowest = number == Snorm && raw == 1 << (bits - 1);
                    assert_eq!(back, if lowest { raw + 1 } else { raw }, "{number:?} {bits}");
                }
            }
        }
        for bits in [10u32, 11, 16] {
            for raw in 0..31u32 << (if bits == 16 { 10 } else { bits - 5 }) {
                assert_eq!(encoded(decoded(raw, bits, Float), bits, Float), raw, "{bits}");
            }
        }
        let value = |v: f32, bits, number| encoded(v.to_bits(), bits, number);
        assert_eq!((value(2.0, 8, Unorm), value(-3.0, 8, Unorm), value(f32::NAN, 8, Unorm)), (255, 0, 0));
        assert_eq!(
            (value(-1.0, 8, Snorm), value(-300.0, 8, Sscaled), value(7.9, 8, Uscaled)),
            (0x81, 0x80, 7)
        );
        assert_eq!(
            (value(-1.0, 11, Float), value(1.0, 11, Float), value(1e30, 11, Float)),
            (0, 0x3c0, 0x7bf)
        );
        assert_eq!((encoded(300, 8, Uint), encoded(-300i32 as u32, 8, Sint)), (255, 0x80));
    }

    #[test]
    fn missing_channels_are_those_of_opaque_black() {
        let words = [0xff80_0001, 0, 0, 0];
        let float = |v: f32| v.to_bits();
        // 8_8 as fractions, and with the selection Y, 1, X, 0.
        let gfx10 = 1 << spec::FAMILY;
        assert_eq!(unpacked(gfx10 | 18, words, false), [1, 0, 0, 1]);
        let selected = gfx10 | 14 | (5 | 1 << 3 | 4 << 6) << spec::SELECTION | 1 << spec::SELECTS;
        assert_eq!(unpacked(selected, [0xff00, 0, 0, 0], false), [float(1.0), float(1.0), 0, 0]);
        assert_eq!(unpacked(gfx10 | 18, words, true), [1, 0, 0, 1]);
        assert_eq!(unpacked(0, words, false), [0; 4]);
        assert_eq!(packed(gfx10 | 66, [float(-1.0); 4], false), [0x8001_8001, 0x8001_8001, 0, 0]);
    }
}
