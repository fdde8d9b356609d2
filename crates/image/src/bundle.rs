//! Clang's offload bundles: code for several targets in sequence, each with the name of its target (clang's
//! documentation, "Offload Bundler", "Bundled Binary File Layout" and "Compressed Offload Bundles").

use crate::unpack::{Packing, unpack};
use crate::{Error, MAX_TEXT, read_u16, read_u32, read_u64};

/// The first bytes of a bundle.
pub const BUNDLE_MAGIC: &[u8; 24] = b"__CLANG_OFFLOAD_BUNDLE__";
/// The first bytes of a compressed bundle.
pub const COMPRESSED_MAGIC: &[u8; 4] = b"CCOB";

/// Bytes of the magic and the number of entries.
const HEADER: usize = 32;
/// Bytes of an entry's offset, size and name length, which precede the name.
const ENTRY: usize = 24;
/// More entries than any real bundle has.
const MAX_ENTRIES: u64 = 4096;
/// Longer than the name of any target.
const MAX_NAME: usize = 4096;

/// One target's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bundled<'a> {
    /// The target, for example `hip-amdgcn-amd-amdhsa--gfx90a`; it can be any text.
    pub target: &'a str,
    /// The code.
    pub bytes: &'a [u8],
}

/// Calls back for each entry; `at(offset, length)` gives bytes of the bundle. `None` if the bundle is
/// malformed.
fn walk<'a, T>(
    at: &impl Fn(usize, usize) -> Option<&'a [u8]>,
    mut each: impl FnMut(usize, usize, &'a [u8]) -> Option<T>,
) -> Option<Vec<T>> {
    let header = at(0, HEADER)?;
    if !header.starts_with(BUNDLE_MAGIC) {
        return None;
    }
    let count = read_u64(header, BUNDLE_MAGIC.len()).filter(|n| *n <= MAX_ENTRIES)?;
    let mut place = HEADER;
    let mut list = Vec::new();
    for _ in 0..count {
        let entry = at(place, ENTRY)?;
        let number = |i: usize| read_u64(entry, i * 8).and_then(|n| usize::try_from(n).ok());
        let (offset, size, length) = (number(0)?, number(1)?, number(2).filter(|n| *n <= MAX_NAME)?);
        let name = at(place.checked_add(ENTRY)?, length)?;
        place = place.checked_add(ENTRY)?.checked_add(length)?;
        list.push(each(offset, size, name)?);
    }
    Some(list)
}

/// The entries of a bundle; `None` if the bytes are not a bundle or the bundle is malformed.
pub fn bundled(bytes: &[u8]) -> Option<Vec<Bundled<'_>>> {
    let at = |offset: usize, length: usize| bytes.get(offset..offset.checked_add(length)?);
    walk(&at, |offset, size, name| {
        Some(Bundled { target: std::str::from_utf8(name).ok()?, bytes: at(offset, size)? })
    })
}

/// The size of a bundle that begins somewhere in memory. `at(offset, length)` gives its bytes; it is called
/// only for bytes that earlier ones announce.
pub fn bundle_size<'a>(at: &impl Fn(usize, usize) -> &'a [u8]) -> Option<usize> {
    let ends = walk(&|offset, length| Some(at(offset, length)), |offset, size, _| offset.checked_add(size))?;
    let most = ends.into_iter().max().unwrap_or(HEADER);
    (most <= MAX_TEXT).then_some(most)
}

/// The header of a compressed bundle.
struct Compressed {
    /// Offset of the compressed bytes.
    begin: usize,
    packing: Packing,
    /// The bundle's size, if this version of the header states it.
    total: Option<u64>,
    unpacked: u64,
}

fn compressed(bytes: &[u8]) -> Option<Compressed> {
    if !bytes.starts_with(COMPRESSED_MAGIC) {
        return None;
    }
    let packing = match read_u16(bytes, 6)? {
        0 => Packing::Zlib,
        1 => Packing::Zstd,
        _ => return None,
    };
    let small = |at| read_u32(bytes, at).map(u64::from);
    let header = match read_u16(bytes, 4)? {
        1 => Compressed { begin: 20, packing, total: None, unpacked: small(8)? },
        2 => Compressed { begin: 24, packing, total: Some(small(8)?), unpacked: small(12)? },
        3 => {
            let (total, unpacked) = (read_u64(bytes, 8)?, read_u64(bytes, 16)?);
            Compressed { begin: 32, packing, total: Some(total), unpacked }
        }
        _ => return None,
    };
    // A bundle contains its header.
    header.total.is_none_or(|total| total >= header.begin as u64).then_some(header)
}

/// Size of the longest header of a compressed bundle.
pub const COMPRESSED_HEADER: usize = 32;

/// The size of a compressed bundle, from its header; `None` if it is not one, or is of the first version,
/// which does not state the size.
pub fn compressed_size(header: &[u8]) -> Option<usize> {
    compressed(header)?.total.and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= MAX_TEXT)
}

/// Decompresses a bundle.
///
/// # Errors
/// [`Error::Invalid`] if the header is not that of a compressed bundle; [`Error::Broken`] if the contents do
/// not match the header.
pub fn decompress(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let header = compressed(bytes).ok_or(Error::Invalid)?;
    let end = header.total.and_then(|n| usize::try_from(n).ok()).unwrap_or(bytes.len());
    let packed = bytes.get(header.begin..end).ok_or(Error::Invalid)?;
    unpack(header.packing, packed, header.unpacked).map_err(|reason| {
        Error::Broken(format!("the compressed bundle, at byte {:#x}, {reason}", header.begin))
    })
}
