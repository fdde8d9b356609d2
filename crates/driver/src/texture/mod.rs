//! Textures and surfaces: objects, references, and the descriptors behind both.
//!
//! A program describes memory ([`Resource`]), how it is sampled ([`Sampling`]) and optionally a view of it
//! ([`View`]). [`object`] gives such a description a handle for kernels; [`reference`](mod@reference) binds
//! it to a module's variable. The structures use the API's numbers for address modes, filters, flags and
//! formats, which CUDA and HIP share.

mod describe;
pub mod object;
pub mod reference;

use crate::handle::Handle;

pub(crate) use object::context_ended;

/// The memory of a texture or surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// An array.
    Array(Handle),
    /// A mipmapped array.
    Mipmap(Handle),
    /// Linear device memory.
    Linear {
        /// The first byte; a multiple of [`OFFSET_ALIGNMENT`].
        address: u64,
        /// The channel format.
        format: u32,
        /// Channels per element.
        channels: u32,
        /// Size in bytes.
        size: u64,
    },
    /// Pitched device memory.
    Pitch {
        /// The first byte; a multiple of [`OFFSET_ALIGNMENT`].
        address: u64,
        /// The channel format.
        format: u32,
        /// Channels per element.
        channels: u32,
        /// Elements per row.
        width: u64,
        /// Rows.
        height: u64,
        /// The pitch in bytes; a multiple of [`PITCH_ALIGNMENT`].
        pitch: u64,
    },
}

/// Address alignment of textures of plain memory in bytes (device attribute 14).
pub const OFFSET_ALIGNMENT: u64 = 512;
/// Pitch alignment in bytes (device attribute 51).
pub const PITCH_ALIGNMENT: u64 = 32;
/// Maximum elements of a linear texture (device attribute 69).
pub const LONGEST: u64 = 1 << 28;
/// Maximum width and height of a pitched texture in elements (device attributes 70 and 71).
pub const WIDEST: [u64; 2] = [131_072, 65_000];

/// Texture flags.
pub mod flag {
    /// Integers are returned without conversion.
    pub const INTEGERS: u32 = 1;
    /// Coordinates are normalised to [0, 1).
    pub const NORMALIZED: u32 = 2;
    /// 8-bit channels are converted from sRGB.
    pub const SRGB: u32 = 0x10;
    /// Filtering crosses the edges of a cube.
    pub const SEAMLESS: u32 = 0x40;
    /// All flags that a texture may have.
    pub const MASK: u32 = 0x7f;
}

/// Address modes: how coordinates outside a texture are handled (`CUaddress_mode`, `HIPaddress_mode`).
pub mod address_mode {
    /// `CU_TR_ADDRESS_MODE_WRAP`.
    pub const WRAP: u32 = 0;
    /// `CU_TR_ADDRESS_MODE_CLAMP`.
    pub const CLAMP: u32 = 1;
    /// `CU_TR_ADDRESS_MODE_MIRROR`.
    pub const MIRROR: u32 = 2;
    /// `CU_TR_ADDRESS_MODE_BORDER`, the last one.
    pub const BORDER: u32 = 3;
}

/// Filter modes, also between mipmap levels (`CUfilter_mode`, `HIPfilter_mode`).
pub mod filter_mode {
    /// `CU_TR_FILTER_MODE_POINT`: the nearest texel.
    pub const POINT: u32 = 0;
    /// `CU_TR_FILTER_MODE_LINEAR`, the last one.
    pub const LINEAR: u32 = 1;
}

/// How a texture is sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampling {
    /// [`address_mode`]s by axis.
    pub address: [u32; 3],
    /// The [`filter_mode`].
    pub filter: u32,
    /// [`flag`]s.
    pub flags: u32,
    /// Accepted; filtering is isotropic.
    pub anisotropy: u32,
    /// The [`filter_mode`] between mipmap levels.
    pub level_filter: u32,
    /// Bias added to the mipmap level.
    pub bias: f32,
    /// Minimum mipmap level.
    pub least: f32,
    /// Maximum mipmap level.
    pub most: f32,
    /// The border colour.
    pub border: [f32; 4],
}

/// A view: the format and the part of an array that a texture reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The format number, 1 to 24.
    pub format: u32,
    /// Elements per row.
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
