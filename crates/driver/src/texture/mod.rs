//! Textures and surfaces: objects, references, and the descriptors behind both.
//!
//! A program describes memory ([`Resource`]), how it is read ([`Sampling`]) and perhaps under which format ([`View`]); [`object`] gives such a
//! description a handle that kernels can use, [`reference`](mod@reference) binds it to a variable of a module. The numbers in these structures are the
//! interfaces' own (address modes, filters, flags, formats): CUDA and HIP share them.

mod describe;
pub mod object;
pub mod reference;

use crate::handle::Handle;

pub(crate) use object::context_ended;

/// What lies under a texture or a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// An array.
    Array(Handle),
    /// A mipmapped array.
    Mipmap(Handle),
    /// Device memory, element after element.
    Linear {
        /// The first byte; a multiple of [`OFFSET_ALIGNMENT`].
        address: u64,
        /// The format of a channel.
        format: u32,
        /// Channels of an element.
        channels: u32,
        /// Bytes.
        size: u64,
    },
    /// Device memory in rows.
    Pitch {
        /// The first byte; a multiple of [`OFFSET_ALIGNMENT`].
        address: u64,
        /// The format of a channel.
        format: u32,
        /// Channels of an element.
        channels: u32,
        /// Elements of a row.
        width: u64,
        /// Rows.
        height: u64,
        /// Bytes from a row to the next; a multiple of [`PITCH_ALIGNMENT`].
        pitch: u64,
    },
}

/// What addresses of textures of plain memory are multiples of, in bytes (device attribute 14).
pub const OFFSET_ALIGNMENT: u64 = 512;
/// What pitches are multiples of, in bytes (device attribute 51).
pub const PITCH_ALIGNMENT: u64 = 32;
/// Elements of the longest texture of linear memory (device attribute 69).
pub const LONGEST: u64 = 1 << 28;
/// Elements of the widest texture with a pitch, and rows of the highest (device attributes 70 and 71).
pub const WIDEST: [u64; 2] = [131_072, 65_000];

/// Flags of a texture.
pub mod flag {
    /// Integers are read as they are.
    pub const INTEGERS: u32 = 1;
    /// Coordinates from 0 to 1.
    pub const NORMALIZED: u32 = 2;
    /// The colours of 8-bit channels are sRGB.
    pub const SRGB: u32 = 0x10;
    /// Filters go over the edges of a cube.
    pub const SEAMLESS: u32 = 0x40;
    /// Every flag that any texture may have.
    pub const MASK: u32 = 0x7f;
}

/// How a texture is read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampling {
    /// Address modes by axis: 0 wrap, 1 clamp, 2 mirror, 3 border.
    pub address: [u32; 3],
    /// 0 the nearest texel, 1 linear.
    pub filter: u32,
    /// [`flag`]s.
    pub flags: u32,
    /// Accepted; filtering is isotropic.
    pub anisotropy: u32,
    /// Between levels: 0 the nearest, 1 linear.
    pub level_filter: u32,
    /// Added to the level.
    pub bias: f32,
    /// The least level.
    pub least: f32,
    /// The greatest level.
    pub most: f32,
    /// The border's colour.
    pub border: [f32; 4],
}

/// Under which format, and which part of it, an array is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The number of the format: 1 to 24.
    pub format: u32,
    /// Elements of a row.
    pub width: u64,
    /// Rows.
    pub height: u64,
    /// Slices.
    pub depth: u64,
    /// The first level.
    pub first_level: u32,
    /// The last level.
    pub last_level: u32,
    /// The first layer.
    pub first_layer: u32,
    /// The last layer.
    pub last_layer: u32,
}
