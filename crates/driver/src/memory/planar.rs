//! Video formats: images with luma and chroma in separate planes, chroma often at a lower resolution, or
//! packed in elements.
//!
//! A program copies to and samples from the planes, which are arrays of their own. The whole array has no
//! texture, and a packed one has none either: programs only copy it.

use texture::descriptor::{Channel, Format};

use super::array::{Descriptor, flag};
use crate::error::{Error, Result};

/// A plane: format, channels, and the binary logarithms by which its width and height are reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plane(u32, u32, [u32; 2]);

const NV12: u32 = 0xb0;
const YUY2: u32 = 0xa5;

const BYTE: u32 = 0x01;
const WORD: u32 = 0x02;
const FULL: [u32; 2] = [0, 0];
const HALF_WIDTH: [u32; 2] = [1, 0];
const HALF: [u32; 2] = [1, 1];

/// Multi-planar formats by number; all of them have three channels.
const PLANAR: &[(u32, &[Plane])] = &[
    (0x9f, &[Plane(WORD, 1, FULL), Plane(WORD, 2, HALF)]),
    (0xa1, &[Plane(WORD, 1, FULL), Plane(WORD, 2, HALF)]),
    (0xa2, &[Plane(BYTE, 1, FULL), Plane(BYTE, 2, HALF_WIDTH)]),
    (0xa3, &[Plane(WORD, 1, FULL), Plane(WORD, 2, HALF_WIDTH)]),
    (0xa4, &[Plane(WORD, 1, FULL), Plane(WORD, 2, HALF_WIDTH)]),
    (NV12, &[Plane(BYTE, 1, FULL), Plane(BYTE, 2, HALF)]),
    (0xb2, &[Plane(BYTE, 1, FULL), Plane(BYTE, 1, FULL), Plane(BYTE, 1, FULL)]),
    (0xb3, &[Plane(WORD, 1, FULL), Plane(WORD, 1, FULL), Plane(WORD, 1, FULL)]),
    (0xb4, &[Plane(BYTE, 1, FULL), Plane(BYTE, 2, FULL)]),
    (0xb5, &[Plane(WORD, 1, FULL), Plane(WORD, 2, FULL)]),
];

/// Packed formats: number, channels, bytes of a channel (channels and bytes of a row recorded on an H200).
const PACKED: &[(u32, u32, u8)] =
    &[(YUY2, 4, 1), (0xa6, 2, 2), (0xa7, 2, 2), (0xa8, 4, 1), (0xa9, 1, 4), (0xb1, 4, 2)];

/// Bytes of an element in memory, if they are fewer than copies and tiles count: an H200 accepts rows of four
/// bytes for each pixel of YUY2, and has two for it.
pub(super) fn stored_bytes(format: u32) -> Option<u64> {
    (format == YUY2).then_some(2)
}

/// Whether the planes of a format can have textures: not those of NV12, as on an H200.
pub(super) fn has_textures(format: u32) -> bool {
    format != NV12
}

/// Whether an array can have a video format: images with an even number of columns and rows, whether or not
/// the format is subsampled. They may have layers, but neither depth nor faces.
fn is_image(whole: &Descriptor) -> bool {
    let even = whole.height != 0 && whole.width.is_multiple_of(2) && whole.height.is_multiple_of(2);
    let flat = whole.depth == 0 || whole.flags & flag::LAYERED != 0;
    even && flat && whole.flags & flag::VIDEO != 0 && whole.flags & flag::CUBEMAP == 0
}

/// The elements of an array of a packed format; `None` for any other array.
///
/// # Errors
/// [`Error::InvalidValue`]: the video flag is missing, or the shape cannot have a video format.
pub fn packed(whole: &Descriptor) -> Result<Option<Format>> {
    let Some(&(_, channels, bytes)) = PACKED.iter().find(|p| p.0 == whole.format) else { return Ok(None) };
    if whole.channels != channels || !is_image(whole) {
        return Err(Error::InvalidValue);
    }
    Ok(Some(Format::plain(Channel::Unsigned, bytes, channels as u8)))
}

/// The planes of a multi-planar array; `None` for any other array.
///
/// # Errors
/// [`Error::InvalidValue`]: the video flag is missing, or the shape cannot have planes.
pub fn planes(whole: &Descriptor) -> Result<Option<Vec<Descriptor>>> {
    let Some((_, planes)) = PLANAR.iter().find(|p| p.0 == whole.format) else { return Ok(None) };
    if whole.channels != 3 || !is_image(whole) {
        return Err(Error::InvalidValue);
    }
    let plane = |p: &Plane| Descriptor {
        width: whole.width >> p.2[0],
        height: whole.height >> p.2[1],
        format: p.0,
        channels: p.1,
        ..*whole
    };
    Ok(Some(planes.iter().map(plane).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_nv12_are_half_as_wide_and_high() {
        let whole =
            Descriptor { width: 16, height: 8, depth: 0, format: 0xb0, channels: 3, flags: flag::VIDEO };
        let shapes = |planes: Vec<Descriptor>| {
            planes.iter().map(|p| (p.width, p.height, p.format, p.channels)).collect::<Vec<_>>()
        };
        let planes = planes(&whole).map(|p| p.map(shapes));
        assert_eq!(planes, Ok(Some(vec![(16, 8, 0x01, 1), (8, 4, 0x01, 2)])));
        assert_eq!(super::planes(&Descriptor { flags: 0, ..whole }), Err(Error::InvalidValue));
        assert_eq!(super::planes(&Descriptor { format: 0x20, channels: 1, ..whole }), Ok(None));
    }

    #[test]
    fn images_are_even_and_have_no_faces() {
        let of = |format, channels, [width, height, depth]: [u64; 3], flags| {
            let flags = flags | flag::VIDEO;
            let whole = Descriptor { width, height, depth, format, channels, flags };
            planes(&whole).map(drop).and(packed(&whole).map(drop))
        };
        for (format, channels) in [(0xb0, 3), (0xb2, 3), (0xa5, 4), (0xa8, 4)] {
            let of = |shape, flags| of(format, channels, shape, flags);
            assert_eq!((of([2, 2, 0], 0), of([2, 2, 1], flag::LAYERED)), (Ok(()), Ok(())));
            for (shape, flags) in [
                ([3, 3, 0], 0),
                ([2, 0, 0], 0),
                ([2, 2, 2], 0),
                ([2, 2, 6], flag::CUBEMAP),
                ([2, 2, 6], flag::CUBEMAP | flag::LAYERED),
            ] {
                assert_eq!(of(shape, flags), Err(Error::InvalidValue), "{format:x} {shape:?} {flags:x}");
            }
        }
    }

    #[test]
    fn packed_formats_have_elements() {
        let of = |format, channels, flags| {
            let whole = Descriptor { width: 16, height: 8, depth: 0, format, channels, flags };
            packed(&whole).map(|found| found.map(Format::element))
        };
        assert_eq!(of(0xa6, 2, flag::VIDEO), Ok(Some(4)));
        assert_eq!(of(0xb1, 4, flag::VIDEO), Ok(Some(8)));
        assert_eq!(of(0xb1, 2, flag::VIDEO), Err(Error::InvalidValue));
        assert_eq!(of(0xb1, 4, 0), Err(Error::InvalidValue));
        assert_eq!(of(0xb0, 3, flag::VIDEO), Ok(None));
    }
}
