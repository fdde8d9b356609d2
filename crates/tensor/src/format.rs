//! Formats of matrix elements.

use names::names;

names! {
/// A format of elements.
#[derive(Default)]
pub enum Format {
    /// IEEE half precision.
    #[default]
    F16 = "f16",
    /// The upper half of an f32.
    BF16 = "bf16",
    /// An f32 whose lower 13 bits are ignored.
    TF32 = "tf32",
    /// IEEE single precision.
    F32 = "f32",
    /// IEEE double precision.
    F64 = "f64",
    /// Signed bytes.
    S8 = "s8",
    /// Unsigned bytes.
    U8 = "u8",
    /// Signed 4-bit integers.
    S4 = "s4",
    /// Unsigned 4-bit integers.
    U4 = "u4",
    /// Single bits.
    B1 = "b1",
    /// 32-bit integers.
    S32 = "s32",
    /// Eight bits with four exponent bits; no infinities, one NaN of each sign.
    E4M3 = "e4m3",
    /// Eight bits with five exponent bits.
    E5M2 = "e5m2",
    /// Six bits with three exponent bits; all codes are numbers.
    E3M2 = "e3m2",
    /// Six bits with two exponent bits; all codes are numbers.
    E2M3 = "e2m3",
    /// Four bits with two exponent bits; all codes are numbers.
    E2M1 = "e2m1",
}}

/// A decoded float. A number is ±`significand` × 2^(`exponent` − the format's fraction bits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Float {
    /// A number, possibly zero.
    Number {
        /// The sign bit.
        negative: bool,
        /// The exponent of the significand's unit; the smallest one for subnormals and zero.
        exponent: i32,
        /// The significand, including the implied bit.
        significand: u64,
    },
    /// An infinity.
    Infinite {
        /// The sign bit.
        negative: bool,
    },
    /// Not a number.
    Nan,
}

/// The layout of a float format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Number of exponent bits.
    pub exponent: u32,
    /// Number of fraction bits.
    pub fraction: u32,
    /// The exponent's bias.
    pub bias: i32,
    /// The meaning of the largest exponent.
    pub top: Top,
}

/// The meaning of the largest exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Top {
    /// Infinities and NaNs.
    Special,
    /// Numbers, except for a NaN with all bits set.
    OneNan,
    /// Numbers.
    Numbers,
}

impl Format {
    /// Bits of an element in a register.
    pub const fn bits(self) -> u32 {
        match self {
            Format::F64 => 64,
            Format::TF32 | Format::F32 | Format::S32 => 32,
            Format::F16 | Format::BF16 => 16,
            Format::S8 | Format::U8 | Format::E4M3 | Format::E5M2 => 8,
            // One per byte, as when floats of eight, six and four bits are mixed.
            Format::E3M2 | Format::E2M3 => 8,
            Format::S4 | Format::U4 | Format::E2M1 => 4,
            Format::B1 => 1,
        }
    }

    /// The layout of a float format; `None` for integers.
    pub const fn layout(self) -> Option<Layout> {
        let (exponent, fraction, top) = match self {
            Format::F16 => (5, 10, Top::Special),
            Format::BF16 => (8, 7, Top::Special),
            Format::TF32 => (8, 10, Top::Special),
            Format::F32 => (8, 23, Top::Special),
            Format::F64 => (11, 52, Top::Special),
            Format::E5M2 => (5, 2, Top::Special),
            Format::E4M3 => (4, 3, Top::OneNan),
            Format::E3M2 => (3, 2, Top::Numbers),
            Format::E2M3 => (2, 3, Top::Numbers),
            Format::E2M1 => (2, 1, Top::Numbers),
            _ => return None,
        };
        Some(Layout { exponent, fraction, bias: (1 << (exponent - 1)) - 1, top })
    }

    /// Decodes an integer element of four or eight bits.
    pub const fn integer(self, bits: u32) -> i32 {
        match self {
            Format::S8 => bits as u8 as i8 as i32,
            Format::U8 => bits as u8 as i32,
            Format::S4 => (bits << 28) as i32 >> 28,
            Format::U4 => (bits & 15) as i32,
            _ => bits as i32,
        }
    }

    /// Decodes a float element. Of a tf32, only the upper 19 bits count.
    pub fn float(self, bits: u64) -> Float {
        let Some(layout) = self.layout() else { return Float::Nan };
        let bits = if self == Format::TF32 { bits >> 13 } else { bits };
        let fraction = bits & ((1 << layout.fraction) - 1);
        let exponent = (bits >> layout.fraction & ((1 << layout.exponent) - 1)) as i32;
        let negative = bits >> (layout.fraction + layout.exponent) & 1 == 1;
        let top = exponent == (1 << layout.exponent) - 1;
        let all = fraction == (1 << layout.fraction) - 1;
        match layout.top {
            Top::Special if top && fraction == 0 => return Float::Infinite { negative },
            Top::Special if top => return Float::Nan,
            Top::OneNan if top && all => return Float::Nan,
            _ => {}
        }
        let implied = u64::from(exponent != 0) << layout.fraction;
        Float::Number { negative, exponent: exponent.max(1) - layout.bias, significand: fraction | implied }
    }
}
