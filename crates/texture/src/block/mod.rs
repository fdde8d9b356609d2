//! Compressed formats: blocks of 4×4 texels in 8 or 16 bytes.
//!
//! A texel is decoded when it is fetched, alone: of a block only the endpoints and the index that it needs are looked at.

mod bc6;
mod bc7;
mod partition;
mod rgtc;
mod s3tc;

/// Texels on a side of a block.
pub const SIDE: u32 = 4;

/// How a block is coded. Names and layouts: Khronos Data Format Specification 1.3, sections 18 to 20.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Block {
    /// Two colours of 16 bits; one of the colours between them may be transparent.
    Bc1,
    /// Two colours, and 4 bits of alpha a texel.
    Bc2,
    /// Two colours, and two values of alpha.
    Bc3,
    /// Two values of one channel.
    Bc4 {
        /// They have a sign.
        signed: bool,
    },
    /// Two values of each of two channels.
    Bc5 {
        /// They have a sign.
        signed: bool,
    },
    /// Halves of three channels.
    Bc6 {
        /// They have a sign.
        signed: bool,
    },
    /// Eight modes of up to three pairs of colours.
    Bc7,
}

impl Block {
    /// Bytes of a block.
    pub const fn bytes(self) -> u64 {
        match self {
            Block::Bc1 | Block::Bc4 { .. } => 8,
            _ => 16,
        }
    }

    /// The raw channels of the texel at `x`, `y` of a block, each below 4; what a format has not is 0. `words`: the block's bytes,
    /// the first lowest; blocks of 8 bytes have but the first.
    ///
    /// BC1 to BC3 and BC7 give fractions of 255, BC4 and BC5 of 65535 or 32767 (sign-extended), BC6 halves.
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

/// `count` bits of a block from bit `at` on; at most 16.
fn bits(block: u128, at: u32, count: u32) -> u32 {
    (block >> (at & 127)) as u32 & ((1 << count) - 1)
}

/// The index of a texel of BC6 and BC7: `count` bits a texel from bit `first` on; the texels of `anchors` have one bit less.
fn index(block: u128, first: u32, count: u32, texel: u32, anchors: &[u32]) -> u32 {
    let before = anchors.iter().filter(|a| **a < texel).count() as u32;
    let own = count - u32::from(anchors.contains(&texel));
    bits(block, first + texel * count - before, own)
}

/// The weight of the second endpoint, in 64ths, of an index of `count` bits: 2 to 4.
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
