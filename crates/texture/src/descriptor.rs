//! What an object says about memory.

use std::any::Any;
use std::sync::Arc;

use crate::block::{Block, SIDE};

/// What the bits of a channel are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// Unsigned integers of 8, 16 or 32 bits.
    Unsigned,
    /// Signed integers of 8, 16 or 32 bits.
    Signed,
    /// Unsigned integers of 8 or 16 bits that are always read as 0 to 1.
    Unorm,
    /// Signed integers of 8 or 16 bits that are always read as -1 to 1.
    Snorm,
    /// Floats of 16 or 32 bits.
    Float,
}

/// How the channels of a texel lie in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Code {
    /// One after another.
    #[default]
    Plain,
    /// Three channels of ten bits and one of two, the first lowest.
    Tens,
    /// Blocks of texels.
    Block(Block),
}

/// The format of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    /// What the bits are.
    pub channel: Channel,
    /// Bytes of a channel, once it is read: 1, 2 or 4.
    pub bytes: u8,
    /// Channels: 1 to 4.
    pub channels: u8,
    /// How they lie in memory.
    pub code: Code,
    /// The first three channels are sRGB whatever the sampler says.
    pub srgb: bool,
    /// A fourth channel that it has not is 1 instead of 0.
    pub opaque: bool,
}

impl Format {
    /// A format whose channels lie one after another.
    pub const fn plain(channel: Channel, bytes: u8, channels: u8) -> Format {
        Format { channel, bytes, channels, code: Code::Plain, srgb: false, opaque: false }
    }

    /// Bytes of an element, or of a block of them.
    pub const fn element(self) -> u64 {
        match self.code {
            Code::Plain => self.bytes as u64 * self.channels as u64,
            Code::Tens => 4,
            Code::Block(block) => block.bytes(),
        }
    }

    /// Texels on a side of what [`Format::element`] measures.
    pub const fn side(self) -> u32 {
        match self.code {
            Code::Block(_) => SIDE,
            _ => 1,
        }
    }
}

/// What a coordinate outside becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Address {
    /// Repeats (normalised coordinates only; else as [`Address::Clamp`]).
    Wrap,
    /// The nearest inside.
    #[default]
    Clamp,
    /// Repeats, each second time backwards (normalised coordinates only; else as [`Address::Clamp`]).
    Mirror,
    /// The border's colour.
    Border,
}

/// How texels become a result.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampler {
    /// By axis.
    pub address: [Address; 3],
    /// Texels are mixed rather than the nearest taken.
    pub linear: bool,
    /// Levels are mixed rather than the nearest taken.
    pub linear_levels: bool,
    /// Coordinates from 0 to 1.
    pub normalized: bool,
    /// Integers are read as they are, instead of as 0 to 1 or -1 to 1.
    pub integers: bool,
    /// The first three channels of 8 unsigned bits are sRGB.
    pub srgb: bool,
    /// Filters go over the edges of a cube's faces.
    pub seamless: bool,
    /// Added to the level.
    pub bias: f32,
    /// The least level.
    pub least: f32,
    /// The greatest level.
    pub most: f32,
    /// The border's colour.
    pub border: [f32; 4],
}

/// Memory of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plane {
    /// The first byte.
    pub base: u64,
    /// Elements of a row.
    pub width: u32,
    /// Rows; at least 1.
    pub height: u32,
    /// Slices; at least 1. Layers and faces are none.
    pub depth: u32,
    /// Bytes from a row, or a row of blocks, to the next.
    pub pitch: u64,
    /// Bytes from a slice, layer or face to the next.
    pub slice: u64,
}

/// What a texture or surface object stands for.
#[derive(Clone, Debug)]
pub struct Descriptor {
    /// A surface rather than a texture.
    pub surface: bool,
    /// The format.
    pub format: Format,
    /// How texels become a result (textures).
    pub sampler: Sampler,
    /// The levels, one at least.
    pub levels: Vec<Plane>,
    /// The shape as the object was made: what queries answer. 0: no such dimension.
    pub extent: [u32; 3],
    /// Layers (faces not counted); at least 1.
    pub layers: u32,
    /// There are layers, be it one.
    pub layered: bool,
    /// Six faces a layer.
    pub cube: bool,
    /// Memory of the program's: it is read without a guarantee that it still is there.
    pub borrowed: bool,
    /// What keeps the memory.
    pub keep: Vec<Arc<dyn Any + Send + Sync>>,
}

impl Descriptor {
    /// Bytes that an access may touch, from the first level's base on; for memory that is only borrowed.
    pub fn reach(&self) -> (u64, u64) {
        let plane = self.levels.first().copied().unwrap_or_default();
        let rows = u64::from(plane.height.max(1)) - 1;
        (plane.base, rows * plane.pitch + u64::from(plane.width) * self.format.element())
    }
}
