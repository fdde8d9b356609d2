//! Element formats, by the numbers that the interfaces use.

use texture::block::Block;
use texture::descriptor::{Channel, Code, Format};

use crate::error::{Error, Result};

/// Formats with any number of channels: 1, 2 or 4.
const FREE: &[(u32, Channel, u8)] = &[
    (0x01, Channel::Unsigned, 1),
    (0x02, Channel::Unsigned, 2),
    (0x03, Channel::Unsigned, 4),
    (0x08, Channel::Signed, 1),
    (0x09, Channel::Signed, 2),
    (0x0a, Channel::Signed, 4),
    (0x10, Channel::Float, 2),
    (0x20, Channel::Float, 4),
];

/// Normalised formats: the first of three consecutive numbers, for 1, 2 and 4 channels.
const FRACTIONS: &[(u32, Channel, u8)] = &[
    (0xc0, Channel::Unorm, 1),
    (0xc3, Channel::Unorm, 2),
    (0xc6, Channel::Snorm, 1),
    (0xc9, Channel::Snorm, 2),
];

/// Three channels of ten bits and one of two bits.
const TENS: u32 = 0x50;

/// Compressed formats by number, from [`FIRST_BLOCK`] on, and whether they are sRGB.
const BLOCKS: [(Block, bool); 14] = [
    (Block::Bc1, false),
    (Block::Bc1, true),
    (Block::Bc2, false),
    (Block::Bc2, true),
    (Block::Bc3, false),
    (Block::Bc3, true),
    (Block::Bc4 { signed: false }, false),
    (Block::Bc4 { signed: true }, false),
    (Block::Bc5 { signed: false }, false),
    (Block::Bc5 { signed: true }, false),
    (Block::Bc6 { signed: false }, false),
    (Block::Bc6 { signed: true }, false),
    (Block::Bc7, false),
    (Block::Bc7, true),
];
const FIRST_BLOCK: u32 = 0x91;

/// The format that a compressed array decodes to.
pub fn compressed(block: Block, srgb: bool) -> Format {
    let (channel, bytes, channels) = match block {
        Block::Bc1 | Block::Bc2 | Block::Bc3 | Block::Bc7 => (Channel::Unorm, 1, 4),
        Block::Bc4 { signed: false } => (Channel::Unorm, 2, 1),
        Block::Bc4 { signed: true } => (Channel::Snorm, 2, 1),
        Block::Bc5 { signed: false } => (Channel::Unorm, 2, 2),
        Block::Bc5 { signed: true } => (Channel::Snorm, 2, 2),
        Block::Bc6 { .. } => (Channel::Float, 2, 3),
    };
    Format { channel, bytes, channels, code: Code::Block(block), srgb, opaque: true }
}

/// The format with a number, which must allow that many channels.
///
/// # Errors
/// [`Error::InvalidValue`]: there is no such format.
pub fn format(number: u32, channels: u32) -> Result<Format> {
    let fixed = |format: Format| {
        if u32::from(format.channels) == channels { Ok(format) } else { Err(Error::InvalidValue) }
    };
    if let Some(&(_, channel, bytes)) = FREE.iter().find(|f| f.0 == number) {
        return match channels {
            1 | 2 | 4 => Ok(Format::plain(channel, bytes, channels as u8)),
            _ => Err(Error::InvalidValue),
        };
    }
    if let Some(&(first, channel, bytes)) = FRACTIONS.iter().find(|f| (f.0..f.0 + 3).contains(&number)) {
        return fixed(Format::plain(channel, bytes, 1 << (number - first)));
    }
    if number == TENS {
        return fixed(Format { code: Code::Tens, ..Format::plain(Channel::Unorm, 2, 4) });
    }
    let block = number.checked_sub(FIRST_BLOCK).and_then(|i| BLOCKS.get(i as usize));
    block.map_or(Err(Error::InvalidValue), |&(block, srgb)| fixed(compressed(block, srgb)))
}

/// Whether plain memory can have this format: only formats with any number of channels.
pub fn is_plain(number: u32) -> bool {
    FREE.iter().any(|f| f.0 == number)
}

/// Channel types of the uncompressed view formats: each takes three numbers, for 1, 2 and 4 channels, from 1
/// on.
const VIEWS: [(Channel, u8); 8] = [
    (Channel::Unsigned, 1),
    (Channel::Signed, 1),
    (Channel::Unsigned, 2),
    (Channel::Signed, 2),
    (Channel::Unsigned, 4),
    (Channel::Signed, 4),
    (Channel::Float, 2),
    (Channel::Float, 4),
];

/// Compressed view formats, numbered after the uncompressed ones.
const BLOCK_VIEWS: [Block; 10] = [
    Block::Bc1,
    Block::Bc2,
    Block::Bc3,
    Block::Bc4 { signed: false },
    Block::Bc4 { signed: true },
    Block::Bc5 { signed: false },
    Block::Bc5 { signed: true },
    Block::Bc6 { signed: false },
    Block::Bc6 { signed: true },
    Block::Bc7,
];

/// The format of a view.
///
/// # Errors
/// [`Error::InvalidValue`]: there is no such format.
pub fn view(number: u32) -> Result<Format> {
    let index = number.checked_sub(1).ok_or(Error::InvalidValue)? as usize;
    if let Some(&(channel, bytes)) = VIEWS.get(index / 3) {
        return Ok(Format::plain(channel, bytes, 1 << (index % 3)));
    }
    let block = BLOCK_VIEWS.get(index - 3 * VIEWS.len()).ok_or(Error::InvalidValue)?;
    Ok(Format { opaque: false, ..compressed(*block, false) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_the_bytes_of_their_channels() {
        let element = |number, channels| format(number, channels).map(Format::element);
        assert_eq!(element(0x20, 4), Ok(16));
        assert_eq!(element(0x10, 2), Ok(4));
        assert_eq!(element(0xc5, 4), Ok(8));
        assert_eq!(element(0xc5, 2), Err(Error::InvalidValue));
        assert_eq!(element(0x20, 3), Err(Error::InvalidValue));
        assert_eq!(element(0x50, 4), Ok(4));
    }

    #[test]
    fn blocks_have_eight_or_sixteen_bytes() {
        let of = |number, channels| format(number, channels).map(|f| (f.element(), f.side()));
        assert_eq!((of(0x91, 4), of(0x92, 4), of(0x93, 4)), (Ok((8, 4)), Ok((8, 4)), Ok((16, 4))));
        assert_eq!((of(0x98, 1), of(0x9a, 2), of(0x9c, 3)), (Ok((8, 4)), Ok((16, 4)), Ok((16, 4))));
        assert_eq!(
            (of(0x9e, 4), of(0x9f, 4), of(0x91, 1)),
            (Ok((16, 4)), Err(Error::InvalidValue), Err(Error::InvalidValue))
        );
    }

    #[test]
    fn views_count_channels_and_then_blocks() {
        let of = |number| view(number).map(|f| (f.element(), f.channels));
        assert_eq!((of(0), of(1), of(24)), (Err(Error::InvalidValue), Ok((1, 1)), Ok((16, 4))));
        assert_eq!(
            (of(25), of(29), of(34), of(35)),
            (Ok((8, 4)), Ok((8, 1)), Ok((16, 4)), Err(Error::InvalidValue))
        );
    }
}
