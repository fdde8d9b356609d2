//! The decoded form of a tensor map.

/// Most dimensions of a tensor.
pub const MAX_RANK: usize = 5;

/// Fraction bits of an f32 that tf32 lacks.
const TF32_DROPPED: u32 = 13;
/// The smallest step between tf32 numbers in one binade, as f32 bits.
const TF32_STEP: u32 = 1 << TF32_DROPPED;

/// Declares an enumeration with the driver's numbers.
macro_rules! numbered {
    ($(#[$m:meta])* pub enum $n:ident { $($(#[$vm:meta])* $k:ident = $v:literal,)* }) => {
        $(#[$m])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        pub enum $n { $($(#[$vm])* $k = $v,)* }
        impl $n {
            /// The member with this number.
            pub const fn of(number: u32) -> Option<$n> {
                match number { $($v => Some($n::$k),)* _ => None }
            }
        }
    };
}

numbered! {
/// The elements' type, with the driver's numbers.
pub enum Element {
    /// `u8`.
    #[default]
    U8 = 0,
    /// `u16`.
    U16 = 1,
    /// `u32`.
    U32 = 2,
    /// `i32`.
    I32 = 3,
    /// `u64`.
    U64 = 4,
    /// `i64`.
    I64 = 5,
    /// `f16`.
    F16 = 6,
    /// `f32`.
    F32 = 7,
    /// `f64`.
    F64 = 8,
    /// `bf16`.
    Bf16 = 9,
    /// `f32`, flushing subnormals.
    F32Ftz = 10,
    /// `tf32`.
    Tf32 = 11,
    /// `tf32`, flushing subnormals.
    Tf32Ftz = 12,
}}

numbered! {
/// The layout of channels in memory.
pub enum Interleave {
    /// All channels of a pixel in sequence.
    #[default]
    None = 0,
    /// In slices of 16 bytes.
    Bytes16 = 1,
    /// In slices of 32 bytes.
    Bytes32 = 2,
}}

numbered! {
/// How 16-byte parts of a box are permuted in shared memory.
pub enum Swizzle {
    /// Not at all.
    #[default]
    None = 0,
    /// Within 32 bytes.
    Bytes32 = 1,
    /// Within 64 bytes.
    Bytes64 = 2,
    /// Within 128 bytes.
    Bytes128 = 3,
}}

impl Element {
    /// Size of an element in bytes.
    pub const fn bytes(self) -> u64 {
        match self {
            Element::U8 => 1,
            Element::U16 | Element::F16 | Element::Bf16 => 2,
            Element::U64 | Element::I64 | Element::F64 => 8,
            _ => 4,
        }
    }

    /// Whether the type is a float.
    pub const fn is_float(self) -> bool {
        !matches!(
            self,
            Element::U8 | Element::U16 | Element::U32 | Element::I32 | Element::U64 | Element::I64
        )
    }

    /// Converts an element as a load does: `tf32` is rounded to its 10 fraction bits, ties to even, after any
    /// NaN is replaced by the one with all bits set. Other types keep their bits.
    pub fn loaded(self, bytes: &mut [u8]) {
        if !matches!(self, Element::Tf32 | Element::Tf32Ftz) {
            return;
        }
        for word in bytes.as_chunks_mut().0 {
            let bits = u32::from_le_bytes(*word);
            let value = f32::from_bits(bits);
            let rounded = if value.is_nan() {
                u32::MAX >> 1
            } else if value.is_infinite() {
                bits
            } else {
                bits.wrapping_add(TF32_STEP / 2 - 1 + (bits >> TF32_DROPPED & 1))
            };
            *word = (rounded & !(TF32_STEP - 1)).to_le_bytes();
        }
    }
}

/// The 16-bit pattern of elements outside a tensor with NaN fill.
pub const NAN: u16 = 0x7ff7;

impl Swizzle {
    /// Number of bytes within which parts are permuted.
    pub const fn span(self) -> u64 {
        16 << self as u64
    }

    /// The swizzled position of the byte at a shared address: bits 4 to 6 are combined with those of its
    /// 128-byte line's number.
    pub const fn place(self, address: u64) -> u64 {
        let parts = (1 << self as u64) - 1;
        address ^ (address >> 7 & parts) << 4
    }
}

numbered! {
/// Bytes that the hardware's cache is asked to fetch (`CUtensorMapL2promotion`).
pub enum Promotion {
    /// As usual.
    #[default]
    None = 0,
    /// 64.
    Bytes64 = 1,
    /// 128.
    Bytes128 = 2,
    /// 256.
    Bytes256 = 3,
}
}

/// The elements of the tensor that a copy touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A box, given by its number of elements in each dimension.
    Tiled([u32; MAX_RANK]),
    /// Pixels inside a bounding box.
    Im2col {
        /// Offset of the first pixel from the tensor's first, W first.
        lower: [i32; 3],
        /// Offset of the end from the tensor's end.
        upper: [i32; 3],
        /// Number of channels per pixel.
        channels: u32,
        /// Number of pixels.
        pixels: u32,
        /// Whether it is im2col::w: the bounding box is one pixel high and deep, at the position that a copy
        /// gives.
        wide: bool,
    },
}

/// A tensor in global memory, and the parts of it that a copy moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Map {
    /// The elements.
    pub element: Element,
    /// Number of dimensions, 1 to [`MAX_RANK`].
    pub rank: usize,
    /// The tensor's address.
    pub address: u64,
    /// Number of elements in each dimension, innermost first.
    pub dims: [u64; MAX_RANK],
    /// Bytes from one element to the next in each dimension except the innermost.
    pub strides: [u64; MAX_RANK - 1],
    /// The step between moved elements in each dimension.
    pub steps: [u32; MAX_RANK],
    /// The moved elements.
    pub shape: Shape,
    /// The layout of channels.
    pub interleave: Interleave,
    /// The permutation in shared memory.
    pub swizzle: Swizzle,
    /// Bytes for the hardware's cache to fetch: a hint.
    pub promotion: Promotion,
    /// Whether elements outside the tensor are NaN rather than zero.
    pub nan: bool,
}

impl Map {
    /// Number of elements in a row of a box.
    pub const fn inner(&self) -> u32 {
        match self.shape {
            Shape::Tiled(size) => size[0],
            Shape::Im2col { channels, .. } => channels,
        }
    }

    /// Bytes per unit of the innermost coordinate: an element or, in an interleaved layout, a slice of
    /// channels.
    pub const fn unit(&self) -> u64 {
        match self.interleave {
            Interleave::None => self.element.bytes(),
            Interleave::Bytes16 => 16,
            Interleave::Bytes32 => 32,
        }
    }

    /// Number of these units in a row of a copy; interleaved pixels have one slice, whatever the number of
    /// channels.
    pub const fn row_units(&self) -> u32 {
        match (self.shape, self.interleave) {
            (Shape::Im2col { .. }, Interleave::Bytes16 | Interleave::Bytes32) => 1,
            _ => self.inner(),
        }
    }

    /// Bytes from one row of a box to the next in shared memory.
    pub const fn pitch(&self) -> u64 {
        let row = self.row_units() as u64 * self.unit();
        match (self.swizzle, self.interleave) {
            (Swizzle::None, _) | (_, Interleave::Bytes16 | Interleave::Bytes32) => row,
            _ => self.swizzle.span(),
        }
    }

    /// Bytes of a whole box, as the driver counts them: in dimensions with a step, only whole steps.
    pub fn bytes(&self) -> u64 {
        let elements = match self.shape {
            Shape::Tiled(size) => size
                .iter()
                .zip(self.steps)
                .take(self.rank)
                .fold(1u64, |n, (&size, step)| n.saturating_mul(u64::from(size / step.max(1)))),
            Shape::Im2col { channels, pixels, .. } => u64::from(channels) * u64::from(pixels),
        };
        elements.saturating_mul(self.element.bytes())
    }
}
