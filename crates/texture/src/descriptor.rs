//! Descriptors of texture and surface objects.

use std::any::Any;
use std::sync::Arc;

use crate::block::{Block, SIDE};
use crate::mapped::Mapped;

/// The faces of a cube map.
pub const FACES: u32 = 6;

/// The type of a channel.
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

/// The layout of a texel's channels in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Code {
    /// In sequence.
    #[default]
    Plain,
    /// Three channels of ten bits and one of two, the first lowest.
    Tens,
    /// Compressed blocks of texels.
    Block(Block),
}

/// The format of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    /// The type of its channels.
    pub channel: Channel,
    /// Bytes of a decoded channel: 1, 2 or 4.
    pub bytes: u8,
    /// Number of channels: 1 to 4.
    pub channels: u8,
    /// Their layout in memory.
    pub code: Code,
    /// Whether the first three channels are sRGB whatever the sampler says.
    pub srgb: bool,
    /// Whether a missing fourth channel is 1 instead of 0.
    pub opaque: bool,
}

impl Format {
    /// A format whose channels are stored in sequence.
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

    /// Number of texels per side of what [`Format::element`] measures.
    pub const fn side(self) -> u32 {
        match self.code {
            Code::Block(_) => SIDE,
            _ => 1,
        }
    }
}

/// The treatment of coordinates outside the texture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Address {
    /// Repeat (only normalised coordinates; others use [`Address::Clamp`]).
    Wrap,
    /// Use the nearest texel inside.
    #[default]
    Clamp,
    /// Repeat, mirrored every second time (only normalised coordinates; others use [`Address::Clamp`]).
    Mirror,
    /// Use the border colour.
    Border,
}

/// How texels are combined to a result.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampler {
    /// Address mode of each axis.
    pub address: [Address; 3],
    /// Whether to interpolate between texels rather than use the nearest.
    pub linear: bool,
    /// Whether to interpolate between levels rather than use the nearest.
    pub linear_levels: bool,
    /// Whether coordinates range from 0 to 1.
    pub normalized: bool,
    /// Whether integers are returned as they are rather than as 0 to 1 or -1 to 1.
    pub integers: bool,
    /// Whether the first three channels are sRGB if they have 8 unsigned bits.
    pub srgb: bool,
    /// Whether filters cross the edges of a cube's faces.
    pub seamless: bool,
    /// Bias added to the level.
    pub bias: f32,
    /// The minimum level.
    pub least: f32,
    /// The maximum level.
    pub most: f32,
    /// The border colour.
    pub border: [f32; 4],
    /// Whether coordinates are rounded to 256ths of a texel before the nearest texel is chosen, as AMD's
    /// texture units do, on which their device library relies.
    pub rounds: bool,
}

/// The shape of tiles, each of which is contiguous memory: rows of elements, or of compressed blocks, without
/// gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tile {
    /// The binary logarithms of its width, height and depth.
    pub shift: [u8; 3],
}

/// The memory of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plane {
    /// Address of the first byte.
    pub base: u64,
    /// Number of elements per row.
    pub width: u32,
    /// Number of rows, at least 1.
    pub height: u32,
    /// Number of slices, at least 1. Layers and faces do not count.
    pub depth: u32,
    /// Bytes from one row, or row of blocks, to the next; from one row of tiles to the next.
    pub pitch: u64,
    /// Bytes from one slice, layer or face to the next; of tiles.
    pub slice: u64,
    /// The tiles into which it is divided; `None` if it consists of rows.
    pub tile: Option<Tile>,
}

impl Plane {
    /// The address of an element of `bytes` bytes, or of a block of them. It is inside the plane if the
    /// indices are.
    #[inline]
    pub fn address(&self, bytes: u64, [x, y, slice]: [u32; 3]) -> u64 {
        let [x, y, slice] = [x, y, slice].map(u64::from);
        let Some(Tile { shift: [width, height, depth] }) = self.tile else {
            let rows = slice.wrapping_mul(self.slice).wrapping_add(y.wrapping_mul(self.pitch));
            return self.base.wrapping_add(rows).wrapping_add(x.wrapping_mul(bytes));
        };
        let inside = |n: u64, shift: u8| n & ((1 << shift) - 1);
        let tile = bytes << (width + height + depth);
        let start = (slice >> depth)
            .wrapping_mul(self.slice)
            .wrapping_add((y >> height).wrapping_mul(self.pitch))
            .wrapping_add((x >> width).wrapping_mul(tile));
        let row = (inside(slice, depth) << height) + inside(y, height);
        self.base.wrapping_add(start).wrapping_add(((row << width) + inside(x, width)).wrapping_mul(bytes))
    }
}

/// A texture or surface object.
#[derive(Clone, Debug)]
pub struct Descriptor {
    /// Whether it is a surface rather than a texture.
    pub surface: bool,
    /// The format.
    pub format: Format,
    /// How texels are combined to a result (textures only).
    pub sampler: Sampler,
    /// The levels, at least one.
    pub levels: Vec<Plane>,
    /// The size given when the object was created, which queries return. 0 means that the dimension does not
    /// exist.
    pub extent: [u32; 3],
    /// Number of layers (a cube's faces do not count), at least 1.
    pub layers: u32,
    /// Whether it is an array, possibly of one layer.
    pub layered: bool,
    /// Whether each layer has [`FACES`].
    pub cube: bool,
    /// Whether the memory belongs to the program, so that it may be gone when it is read.
    pub borrowed: bool,
    /// Which parts of the memory exist; `None` if all do.
    pub mapped: Option<Arc<Mapped>>,
    /// Objects that keep the memory alive.
    pub keep: Vec<Arc<dyn Any + Send + Sync>>,
}

impl Descriptor {
    /// The faces of a layer.
    #[inline]
    pub fn faces(&self) -> u32 {
        if self.cube { FACES } else { 1 }
    }

    /// Whether a write to an address of this memory has an effect.
    #[inline]
    pub fn is_mapped(&self, address: u64) -> bool {
        self.mapped.as_ref().is_none_or(|mapped| mapped.contains(address))
    }

    /// Number of bytes that an access may touch and their start, for memory that is only borrowed.
    pub fn reach(&self) -> (u64, u64) {
        let plane = self.levels.first().copied().unwrap_or_default();
        let rows = u64::from(plane.height.max(1)) - 1;
        (plane.base, rows * plane.pitch + u64::from(plane.width) * self.format.element())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_contiguous_and_rows_are_in_order() {
        // Three by two tiles of 128 by 64 elements of eight bytes, in layers.
        let tile = Some(Tile { shift: [7, 6, 0] });
        let plane = Plane { base: 1000, pitch: 3 << 16, slice: 6 << 16, tile, ..Plane::default() };
        let at = |x, y, slice| plane.address(8, [x, y, slice]) - 1000;
        assert_eq!([at(0, 0, 0), at(1, 0, 0), at(0, 1, 0)], [0, 8, 128 * 8]);
        assert_eq!([at(127, 63, 0), at(128, 0, 0), at(0, 64, 0)], [65528, 1 << 16, 3 << 16]);
        assert_eq!(at(129, 65, 2), 2 * (6 << 16) + (4 << 16) + 128 * 8 + 8);
        // Tiles of four slices.
        let tile = Some(Tile { shift: [2, 2, 2] });
        let plane = Plane { pitch: 64, slice: 128, tile, ..Plane::default() };
        assert_eq!(plane.address(1, [1, 2, 3]), 3 * 16 + 2 * 4 + 1);
        assert_eq!(plane.address(1, [4, 4, 4]), 128 + 64 + 64);
    }
}
