//! Compressed formats: blocks of 4×4 texels in 8 or 16 bytes.
//!
//! A texel is decoded by itself when it is fetched, using only the endpoints and the index that it needs.

mod bc6;
mod bc7;
mod partition;
mod rgtc;
mod s3tc;

/// Number of texels per side of a block.
pub const SIDE: u32 = 4;

/// Compression formats. Names and layouts: Khronos Data Format Specification 1.3, sections 18 to 20.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Block {
    /// Two 16-bit colours; one of the interpolated colours may be transparent.
    Bc1,
    /// Two colours, and 4 bits of alpha per texel.
    Bc2,
    /// Two colours, and two alpha values.
    Bc3,
    /// Two values of one channel.
    Bc4 {
        /// Whether they are signed.
        signed: bool,
    },
    /// Two values of each of two channels.
    Bc5 {
        /// Whether they are signed.
        signed: bool,
    },
    /// Three f16 channels.
    Bc6 {
        /// Whether they are signed.
        signed: bool,
    },
    /// Eight modes with up to three pairs of colours.
    Bc7,
}

impl Block {
    /// Bytes per block.
    pub const fn bytes(self) -> u64 {
        match self {
            Block::Bc1 | Block::Bc4 { .. } => 8,
            _ => 16,
        }
    }

    /// The raw channels of the texel at `x`, `y` in a block (each below 4); missing channels are 0. `words`
    /// are the block's bytes, the lowest first; blocks of 8 bytes use only the first word.
    ///
    /// BC1 to BC3 and BC7 return units of 1/255, BC4 and BC5 of 1/65535 or 1/32767 (sign-extended), BC6
    /// returns f16.
    pub fn texel(self, words: [u64; 2], x: u32, y: u32) -> [u32; 4] {
        let index = (y & 3) * SIDE + (x & 3);
        let [low, high] = words;
        match self {
            Block::Bc1 => s3tc::bc1(low, index),
            Block::Bc2 => s3tc::bc2(low, high, index),
            Block::Bc3 => s3tc::bc3(low, high, index),
            Block::Bc4 { signed } => [rgtc::channel(low, index, signed), 0, 0, 0],
            Block::Bc5 { signed } => {
                [rgtc::channel(low, index, signed), rgtc::channel(high, index, signed), 0, 0]
            }
            Block::Bc6 { signed } => bc6::texel(whole(words), index, signed),
            Block::Bc7 => bc7::texel(whole(words), index),
        }
    }
}

fn whole([low, high]: [u64; 2]) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

/// `count` bits (at most 16) of a block, from bit `at` on.
fn bits(block: u128, at: u32, count: u32) -> u32 {
    (block >> (at & 127)) as u32 & ((1 << count) - 1)
}

/// The index of a texel in BC6 and BC7: `count` bits per texel from bit `first` on; those of the texels in
/// `anchors` are one bit shorter.
fn index(block: u128, first: u32, count: u32, texel: u32, anchors: &[u32]) -> u32 {
    let before = anchors.iter().filter(|a| **a < texel).count() as u32;
    let own = count - u32::from(anchors.contains(&texel));
    bits(block, first + texel * count - before, own)
}

/// The weight of the second endpoint, in 64ths, for an index of `count` bits (2 to 4).
fn weight(index: u32, count: u32) -> i32 {
    const OF_4: [u8; 4] = [0, 21, 43, 64];
    const OF_8: [u8; 8] = [0, 9, 18, 27, 37, 46, 55, 64];
    const OF_16: [u8; 16] = [0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64];
    let table: &[u8] = match count {
        2 => &OF_4,
        3 => &OF_8,
        _ => &OF_16,
    };
    table.get(index as usize).copied().unwrap_or_default().into()
}
