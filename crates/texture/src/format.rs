//! Conversions of texels to numbers, before and after filtering.

use crate::descriptor::{Channel, Code, Format, Sampler};

/// How a channel of a texel is converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Integers of 8 or 16 bits, extended to 32.
    Integer,
    /// Unsigned integers of 32 bits.
    Unsigned,
    /// Signed integers of 32 bits.
    Signed,
    /// Unsigned, in units of 1/3.
    Unorm2,
    /// Unsigned, in units of 1/255.
    Unorm8,
    /// Unsigned, in units of 1/1023.
    Unorm10,
    /// Unsigned, in units of 1/65535.
    Unorm16,
    /// Signed, in units of 1/127.
    Snorm8,
    /// Signed, in units of 1/32767.
    Snorm16,
    /// 8-bit sRGB.
    Srgb,
    /// f16.
    Half,
    /// f32.
    Float,
}

impl Class {
    /// The conversion of a channel.
    pub fn of(format: Format, sampler: &Sampler, channel: usize) -> Class {
        let colour = channel == 0 || (format.channels == 4 && channel < 3);
        let norm = matches!(format.channel, Channel::Unorm | Channel::Snorm);
        if format.code == Code::Tens {
            return if channel < 3 { Class::Unorm10 } else { Class::Unorm2 };
        }
        match (format.channel, format.bytes) {
            (Channel::Float, 2) => Class::Half,
            (Channel::Float, _) => Class::Float,
            (Channel::Signed, 4..) => Class::Signed,
            (_, 4..) => Class::Unsigned,
            _ if sampler.integers && !norm => Class::Integer,
            (Channel::Unsigned | Channel::Unorm, 1) if (sampler.srgb || format.srgb) && colour => Class::Srgb,
            (Channel::Unsigned | Channel::Unorm, 1) => Class::Unorm8,
            (Channel::Unsigned | Channel::Unorm, _) => Class::Unorm16,
            (Channel::Signed | Channel::Snorm, 1) => Class::Snorm8,
            (Channel::Signed | Channel::Snorm, _) => Class::Snorm16,
        }
    }

    /// Whether results are integers.
    pub fn is_integer(self) -> bool {
        matches!(self, Class::Integer | Class::Unsigned | Class::Signed)
    }

    /// The result bits for the channel of a single texel.
    pub fn read(self, raw: u32) -> u32 {
        match self {
            Class::Integer | Class::Unsigned | Class::Signed | Class::Float => raw,
            Class::Unorm2 if raw & EXACT != 0 => ((raw & !EXACT) as f32 / 65535.0).to_bits(),
            Class::Unorm2 => (raw as f32 / 3.0).to_bits(),
            Class::Unorm8 => (raw as f32 / 255.0).to_bits(),
            Class::Unorm10 => (raw as f32 / 1023.0).to_bits(),
            Class::Unorm16 => (raw as f32 / 65535.0).to_bits(),
            Class::Snorm8 => (signed(raw, 127) as f32 / 127.0).to_bits(),
            Class::Snorm16 => (signed(raw, 32767) as f32 / 32767.0).to_bits(),
            Class::Srgb => srgb(raw),
            Class::Half => half_to_float(raw as u16),
        }
    }
}

/// A signed number, clamped to at least `-most`.
pub fn signed(raw: u32, most: i32) -> i32 {
    (raw as i32).max(-most)
}

/// Converts f16 to f32 exactly; a NaN keeps its bits.
pub fn half_to_float(half: u16) -> u32 {
    let sign = u32::from(half >> 15) << 31;
    let (exponent, fraction) = (u32::from(half >> 10 & 31), u32::from(half & 0x3ff));
    match (exponent, fraction) {
        (0, 0) => sign,
        (0, _) => {
            let shift = fraction.leading_zeros() - 21;
            sign | (113 - shift) << 23 | (fraction << shift & 0x3ff) << 13
        }
        (31, _) => sign | 0x7f80_0000 | fraction << 13,
        _ => sign | (exponent + 112) << 23 | fraction << 13,
    }
}

/// Converts f32 to f16, to nearest, ties to even; NaN becomes the canonical one.
pub fn float_to_half(bits: u32) -> u16 {
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return 0x7fff;
    }
    let exponent = (magnitude >> 23) as i32 - 127;
    if exponent >= 16 {
        return sign | 0x7c00;
    }
    let fraction = u64::from(magnitude & 0x7f_ffff | 0x80_0000);
    // In units of the lowest f16 bit at this exponent.
    let drop = if exponent < -14 { (-14 - exponent + 13).min(40) } else { 13 } as u32;
    let (whole, rest) = (fraction >> drop, fraction & ((1 << drop) - 1));
    let tie = 1u64 << (drop - 1);
    let rounded = whole + u64::from(rest > tie || (rest == tie && whole & 1 == 1));
    let base = if exponent < -14 { 0 } else { ((exponent + 14) as u64) << 10 };
    sign | (base + rounded) as u16
}

/// Marks a value in units of 1/65535 where narrower units are expected: that of a border.
pub const EXACT: u32 = 1 << 31;

/// The linear value of an sRGB byte. Larger values belong to a border and are the float itself.
pub fn srgb(byte: u32) -> u32 {
    SRGB.get(byte as usize).map_or(byte, |upper| u32::from(*upper) << 16)
}

/// The float whose exponent a filter uses for an sRGB byte: the largest of the eight bytes with the same
/// upper bits.
pub fn srgb_reach(byte: u32) -> u32 {
    srgb(if byte < 256 { byte | 7 } else { byte })
}

/// The upper halves of the floats: the hardware keeps eight significant bits, fewer for small values.
static SRGB: [u16; 256] = [
    0x0000, 0x39a0, 0x3a20, 0x3a70, 0x3aa0, 0x3ac8, 0x3af0, 0x3b0c, 0x3b20, 0x3b34, 0x3b48, 0x3b5c, 0x3b70,
    0x3b84, 0x3b90, 0x3b9c, 0x3baa, 0x3bb8, 0x3bc6, 0x3bd6, 0x3be6, 0x3bf6, 0x3c03, 0x3c0c, 0x3c16, 0x3c1f,
    0x3c29, 0x3c34, 0x3c3e, 0x3c49, 0x3c55, 0x3c60, 0x3c6c, 0x3c7a, 0x3c83, 0x3c8a, 0x3c91, 0x3c98, 0x3c9f,
    0x3ca6, 0x3cae, 0x3cb6, 0x3cbe, 0x3cc6, 0x3cce, 0x3cd7, 0x3ce0, 0x3ce9, 0x3cf2, 0x3cfc, 0x3d03, 0x3d08,
    0x3d0d, 0x3d12, 0x3d17, 0x3d1c, 0x3d22, 0x3d28, 0x3d2d, 0x3d33, 0x3d39, 0x3d3f, 0x3d45, 0x3d4c, 0x3d52,
    0x3d58, 0x3d60, 0x3d66, 0x3d6c, 0x3d74, 0x3d7a, 0x3d81, 0x3d85, 0x3d88, 0x3d8c, 0x3d90, 0x3d94, 0x3d98,
    0x3d9c, 0x3da0, 0x3da4, 0x3da9, 0x3dad, 0x3db1, 0x3db6, 0x3dba, 0x3dbf, 0x3dc3, 0x3dc8, 0x3dcd, 0x3dd1,
    0x3dd6, 0x3ddb, 0x3de0, 0x3de5, 0x3dea, 0x3df0, 0x3df4, 0x3dfa, 0x3e00, 0x3e02, 0x3e05, 0x3e08, 0x3e0b,
    0x3e0e, 0x3e11, 0x3e14, 0x3e17, 0x3e1a, 0x3e1d, 0x3e20, 0x3e23, 0x3e26, 0x3e29, 0x3e2c, 0x3e30, 0x3e33,
    0x3e36, 0x3e3a, 0x3e3d, 0x3e40, 0x3e44, 0x3e47, 0x3e4b, 0x3e4e, 0x3e52, 0x3e56, 0x3e59, 0x3e5d, 0x3e61,
    0x3e65, 0x3e68, 0x3e6c, 0x3e70, 0x3e74, 0x3e78, 0x3e7c, 0x3e80, 0x3e82, 0x3e84, 0x3e86, 0x3e88, 0x3e8a,
    0x3e8d, 0x3e8f, 0x3e91, 0x3e93, 0x3e95, 0x3e98, 0x3e9a, 0x3e9c, 0x3e9e, 0x3ea1, 0x3ea3, 0x3ea5, 0x3ea8,
    0x3eaa, 0x3ead, 0x3eaf, 0x3eb2, 0x3eb4, 0x3eb6, 0x3eb9, 0x3ebc, 0x3ebe, 0x3ec1, 0x3ec3, 0x3ec6, 0x3ec8,
    0x3ecb, 0x3ece, 0x3ed1, 0x3ed3, 0x3ed6, 0x3ed9, 0x3edb, 0x3ede, 0x3ee1, 0x3ee4, 0x3ee7, 0x3eea, 0x3eed,
    0x3ef0, 0x3ef2, 0x3ef6, 0x3ef8, 0x3efc, 0x3efe, 0x3f01, 0x3f02, 0x3f04, 0x3f05, 0x3f07, 0x3f09, 0x3f0a,
    0x3f0c, 0x3f0d, 0x3f0f, 0x3f11, 0x3f12, 0x3f14, 0x3f16, 0x3f17, 0x3f19, 0x3f1b, 0x3f1c, 0x3f1e, 0x3f20,
    0x3f21, 0x3f23, 0x3f25, 0x3f27, 0x3f29, 0x3f2a, 0x3f2c, 0x3f2e, 0x3f30, 0x3f32, 0x3f33, 0x3f35, 0x3f37,
    0x3f39, 0x3f3b, 0x3f3d, 0x3f3f, 0x3f41, 0x3f43, 0x3f45, 0x3f47, 0x3f49, 0x3f4b, 0x3f4d, 0x3f4f, 0x3f51,
    0x3f53, 0x3f55, 0x3f57, 0x3f59, 0x3f5b, 0x3f5d, 0x3f5f, 0x3f61, 0x3f63, 0x3f65, 0x3f68, 0x3f6a, 0x3f6c,
    0x3f6e, 0x3f70, 0x3f72, 0x3f74, 0x3f76, 0x3f7a, 0x3f7c, 0x3f7e, 0x3f80,
];
