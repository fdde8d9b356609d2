//! The weights of texels, and their interpolation.

use crate::format::{Class, EXACT, half_to_float, signed, srgb, srgb_reach};

/// Rounds to 256ths.
fn eighth(product: u32) -> u32 {
    (product + 128) >> 8
}

/// The weights of up to eight texels, x fastest, from the fractions of the axes, in 256ths. Their sum is
/// `level`, the weight of the level. It is divided between the slices; a slice's weight is divided along x,
/// and each part along y: the part of the upper x by its upper y, the other part by its lower y.
pub fn weights(level: u32, [x, y, z]: [u32; 3]) -> [u32; 8] {
    let mut weights = [0; 8];
    let front = eighth(level * (256 - z));
    for (slice, whole) in [front, level - front].into_iter().enumerate() {
        let right = eighth(whole * x);
        let left = whole - right;
        let upper = eighth(right * y);
        let lower = eighth(left * (256 - y));
        let base = slice * 4;
        for (w, value) in weights[base..base + 4].iter_mut().zip([lower, right - upper, left - lower, upper])
        {
            *w = value;
        }
    }
    weights
}

/// Maximum number of texels per slice.
pub const SLICE: usize = 4;

/// Interpolates one channel of texels with weights in 256ths. `taps` are ordered by slice, [`SLICE`] each,
/// including those with weight 0.
pub fn mix(class: Class, taps: &[(u32, u32)]) -> u32 {
    let sum = |value: fn(u32) -> i64| taps.iter().map(|&(w, raw)| i64::from(w) * value(raw)).sum::<i64>();
    match class {
        Class::Integer => ((sum(|raw| i64::from(raw as i32)) + 128) >> 8) as u32,
        // Rounded down, unlike shorter ones.
        Class::Unsigned => (sum(i64::from) >> 8) as u32,
        Class::Signed => (sum(|raw| i64::from(raw as i32)) >> 8) as u32,
        Class::Unorm2 => unorm(sum(|raw| exact_or(raw, |v| v * 0x5555))),
        Class::Unorm8 => unorm(sum(|raw| i64::from(raw) * 257)),
        Class::Unorm10 => unorm(sum(|raw| exact_or(raw, |v| v << 6 | v >> 4))),
        Class::Unorm16 => unorm(sum(i64::from)),
        Class::Snorm8 => snorm8(sum(|raw| i64::from(raw as i32))),
        Class::Snorm16 => snorm(sum(|raw| i64::from(signed(raw, 32767)))),
        Class::Srgb => float(taps, srgb, srgb_reach, COLOUR),
        Class::Half => {
            let value = |raw| half_to_float(raw as u16);
            float(taps, value, value, HALF)
        }
        Class::Float => float(taps, |raw| raw, |raw| raw, SINGLE),
    }
}

/// The precision of float interpolation.
#[derive(Clone, Copy)]
struct Precision {
    /// Fraction bits of a result.
    bits: i32,
    /// The exponent of the smallest normal result.
    least: i32,
    /// Fraction bits that are kept of a texel, below the largest exponent of the slice.
    kept: i32,
    /// Additional bits of a slice's sum when slices are added.
    extra: i32,
}

const HALF: Precision = Precision { bits: 11, least: -14, kept: 15, extra: 0 };
const SINGLE: Precision = Precision { bits: 24, least: -126, kept: 28, extra: 0 };
const COLOUR: Precision = Precision { bits: 11, least: -14, kept: 8, extra: 10 };

/// A sum in units of 1/256 · 1/65535, rounded to units of 1/65535.
fn unorm(sum: i64) -> u32 {
    (((sum + 128) >> 8) as f32 / 65535.0).to_bits()
}

/// A value in units of 1/65535: exact for a border, converted for a texel.
fn exact_or(raw: u32, widened: fn(u32) -> u32) -> i64 {
    i64::from(if raw & EXACT != 0 { raw & !EXACT } else { widened(raw) })
}

/// A sum in units of 1/256 · 1/127, converted to units of 1/32767: the increment grows in steps and is half a
/// unit in the middle.
fn snorm8(sum: i64) -> u32 {
    let widened = (129 * sum + 64 + 16 * (sum >> 12)) >> 7;
    (widened.clamp(-32767, 32767) as f32 / 32767.0).to_bits()
}

/// A sum in units of 1/256 · 1/32767, rounded to units of 1/32767.
fn snorm(sum: i64) -> u32 {
    (((sum + 128) >> 8) as f32 / 32767.0).to_bits()
}

/// Interpolates floats: the texels of a slice are truncated to the kept bits below the largest exponent;
/// their sum is exact, and is rounded to the format's bits, ties away from zero. `reach`: the float whose
/// exponent is used for a texel's.
fn float(
    taps: &[(u32, u32)],
    value: impl Fn(u32) -> u32,
    reach: impl Fn(u32) -> u32,
    format: Precision,
) -> u32 {
    let values = || taps.iter().filter(|t| t.0 != 0).map(|&(w, raw)| (w, value(raw)));
    if values().any(|(_, bits)| bits >> 23 & 255 == 255) {
        return infinite(values(), format);
    }
    // A zero is negative only if all its terms are.
    let zero = if values().all(|(_, bits)| bits >> 31 != 0) { 1 << 31 } else { 0 };
    // The sums of slices are truncated to a common unit and added. The unit is that of the slice with the
    // largest exponent, whose lowest two bits are ignored: alignment shifts are multiples of four bits.
    let sums = || taps.chunks(SLICE).filter_map(|slice| slice_sum(slice, &value, &reach, format));
    let Some(greatest) = sums().map(|(_, greatest)| greatest).max() else { return zero };
    let unit = |exponent: i32| exponent - 127 - (format.kept - 1) - 8;
    let common = unit(greatest & !3) - format.extra;
    match sums().map(|(sum, own)| in_units(sum, unit(own) - common)).sum() {
        0 => zero,
        total => round(total, common, format),
    }
}

/// Converts a number of units of 2^`by` to units of 1, rounding down.
fn in_units(value: i64, by: i32) -> i64 {
    if by < 0 { value >> (-by).min(63) } else { value << by.min(63) }
}

/// The sum of a slice and the largest exponent of its texels, biased; `None` if all texels are zero.
fn slice_sum(
    taps: &[(u32, u32)],
    value: impl Fn(u32) -> u32,
    reach: impl Fn(u32) -> u32,
    format: Precision,
) -> Option<(i64, i32)> {
    let weighty = || taps.iter().filter(|t| t.0 != 0);
    let values = || weighty().map(|&(w, raw)| (w, value(raw)));
    let exponent = |bits: u32| ((bits >> 23 & 255) as i32).max(1);
    let something = weighty().filter(|t| value(t.1) << 1 != 0);
    let greatest = something.map(|t| exponent(reach(t.1))).max()?;
    // Fractions have 24 bits; with four more, no kept bit is lost.
    let drop = 28 - format.kept;
    let mut sum = 0i64;
    for (weight, bits) in values() {
        // Subnormal floats count as zero.
        let fraction = if bits >> 23 & 255 == 0 { 0 } else { i64::from(bits & 0x7f_ffff | 0x80_0000) << 4 };
        let part = (fraction >> (greatest - exponent(bits) + drop).min(62)) * i64::from(weight);
        sum += if bits >> 31 != 0 { -part } else { part };
    }
    Some((sum, greatest))
}

/// Interpolates floats if one of them is an infinity or a NaN.
fn infinite(taps: impl Iterator<Item = (u32, u32)>, format: Precision) -> u32 {
    // All bits set, in the format.
    let nan = 0x7fff_ffff & !((1 << (24 - format.bits)) - 1);
    let mut result = None;
    for (_, bits) in taps {
        let magnitude = bits & 0x7fff_ffff;
        if magnitude > 0x7f80_0000 {
            return nan;
        }
        if magnitude == 0x7f80_0000 {
            match result {
                Some(other) if other != bits => return nan,
                _ => result = Some(bits),
            }
        }
    }
    result.unwrap_or(nan)
}

/// `sum × 2^unit` as a float of the format, ties away from zero.
fn round(sum: i64, unit: i32, format: Precision) -> u32 {
    let sign = if sum < 0 { 1u32 << 31 } else { 0 };
    let magnitude = sum.unsigned_abs().max(1);
    let exponent = (unit + 63 - magnitude.leading_zeros() as i32).max(format.least);
    // The exponent of the rounded number's lowest bit.
    let last = exponent - (format.bits - 1);
    let drop = last - unit;
    let rounded = match drop {
        ..=0 => magnitude << (-drop).min(63),
        1..=63 => (magnitude + (1 << (drop - 1))) >> drop,
        _ => 0,
    };
    if rounded == 0 {
        return sign;
    }
    // `rounded` has at most 25 bits, so it converts to float exactly.
    let top = 63 - rounded.leading_zeros() as i32;
    let power = last + top;
    if power > 127 {
        return sign | 0x7f80_0000;
    }
    let fraction = if top >= 23 { rounded >> (top - 23) } else { rounded << (23 - top) } as u32;
    if power < -126 {
        return sign;
    }
    sign | ((power + 127) as u32) << 23 | fraction & 0x7f_ffff
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::float_to_half;

    #[test]
    fn weights_add_up_and_lie_close_to_the_products() {
        for level in [256u32, 100, 1] {
            for x in (0..256).step_by(5) {
                for y in (0..256).step_by(7) {
                    for z in (0..256).step_by(51) {
                        let all = weights(level, [x, y, z]);
                        assert_eq!(all.iter().sum::<u32>(), level);
                        for (corner, w) in all.into_iter().enumerate() {
                            // The manual's formula (CUDA programming guide, "Texture Fetching").
                            let side = |bit: usize, f: u32| {
                                f64::from(if corner >> bit & 1 == 1 { f } else { 256 - f }) / 256.0
                            };
                            let exact = f64::from(level) * side(0, x) * side(1, y) * side(2, z);
                            assert!((f64::from(w) - exact).abs() < 2.0, "{level} {x} {y} {z} {corner}: {w}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn floats_are_mixed_as_the_sum_says() {
        let float = |taps: &[(u32, f32)]| {
            let taps: Vec<_> = taps.iter().map(|&(w, v)| (w, v.to_bits())).collect();
            f32::from_bits(mix(Class::Float, &taps))
        };
        assert_eq!(float(&[(128, 1.0), (128, 2.0)]), 1.5);
        assert_eq!(float(&[(64, -4.0), (192, 4.0)]), 2.0);
        assert_eq!(float(&[(128, f32::MAX), (128, f32::MAX)]), f32::MAX);
        assert_eq!(float(&[(128, f32::INFINITY), (128, 1.0)]), f32::INFINITY);
        assert!(float(&[(128, f32::INFINITY), (128, f32::NEG_INFINITY)]).is_nan());
        assert_eq!(float(&[(128, 0.0), (128, -0.0)]), 0.0);
        // The precision of f16: 11 bits.
        let halves = [(255, u32::from(float_to_half(1.0f32.to_bits()))), (1, 0x4000)];
        assert_eq!(f32::from_bits(mix(Class::Half, &halves)), 1.0 + 4.0 / 1024.0);
    }

    /// As an H200 computed them (`planarread` in `tests/probe`, and texels of 32 bits).
    #[test]
    fn integers_are_rounded_and_words_are_rounded_down() {
        assert_eq!(mix(Class::Integer, &[(128, 1), (128, 2)]), 2);
        assert_eq!(mix(Class::Integer, &[(128, -1i32 as u32), (128, -2i32 as u32)]), -1i32 as u32);
        assert_eq!(mix(Class::Integer, &[(256, 0xffff)]), 0xffff);
        let words = [(101, 1265993181u32), (57, 1378737797), (62, 2316363613), (36, 342546334)];
        assert_eq!(mix(Class::Unsigned, &words), 0x5460b2b6);
        assert_eq!(mix(Class::Signed, &words), 0x1660b2b6);
        assert_eq!(mix(Class::Signed, &[(255, 0), (1, -1i32 as u32)]), -1i32 as u32);
    }

    #[test]
    fn fractions_are_mixed_in_16_bits() {
        let value = |class, taps: &[(u32, u32)]| f32::from_bits(mix(class, taps));
        assert_eq!(value(Class::Unorm8, &[(128, 0), (128, 255)]), 32768.0 / 65535.0);
        assert_eq!(value(Class::Snorm16, &[(128, 32767), (128, -32768i32 as u32)]), 0.0);
    }
}
