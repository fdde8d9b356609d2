//! Clang's offload bundles: code for several targets one after the other, each with the name of its target (clang's documentation, "Offload
//! Bundler", "Bundled Binary File Layout" and "Compressed Offload Bundles").

use crate::unpack::{Packing, unpack};
use crate::{Error, MAX_TEXT, read_u16, read_u32, read_u64};

/// How a bundle begins.
pub const BUNDLE_MAGIC: &[u8; 24] = b"__CLANG_OFFLOAD_BUNDLE__";
/// How a compressed one begins.
pub const COMPRESSED_MAGIC: &[u8; 4] = b"CCOB";

/// The magic and the number of entries.
const HEADER: usize = 32;
/// Offset, size, and the length of the name, before each name.
const ENTRY: usize = 24;
/// More targets than a bundle has.
const MAX_ENTRIES: u64 = 4096;
/// Longer than the name of a target.
const MAX_NAME: usize = 4096;

/// One target's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bundled<'a> {
    /// The target: `hip-amdgcn-amd-amdhsa--gfx90a`, say, or any other text.
    pub target: &'a str,
    /// The code.
    pub bytes: &'a [u8],
}

/// Goes through the entries; `at(offset, length)` gives bytes of the bundle. `None`: it is broken.
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

/// The entries of a bundle; `None`: it is none, or broken.
pub fn bundled(bytes: &[u8]) -> Option<Vec<Bundled<'_>>> {
    let at = |offset: usize, length: usize| bytes.get(offset..offset.checked_add(length)?);
    walk(&at, |offset, size, name| {
        Some(Bundled { target: std::str::from_utf8(name).ok()?, bytes: at(offset, size)? })
    })
}

/// How long a bundle is that begins somewhere in memory; `at(offset, length)` gives its bytes, of which it only asks for what those before
/// announce.
pub fn bundle_size<'a>(at: &impl Fn(usize, usize) -> &'a [u8]) -> Option<usize> {
    let ends = walk(&|offset, length| Some(at(offset, length)), |offset, size, _| offset.checked_add(size))?;
    let most = ends.into_iter().max().unwrap_or(HEADER);
    (most <= MAX_TEXT).then_some(most)
}

/// The header of a compressed bundle.
struct Compressed {
    /// Where the packed bytes begin.
    begin: usize,
    packing: Packing,
    /// The bundle's length, where the version tells it.
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
    Some(match read_u16(bytes, 4)? {
        1 => Compressed { begin: 20, packing, total: None, unpacked: small(8)? },
        2 => Compressed { begin: 24, packing, total: small(8), unpacked: small(12)? },
        3 => Compressed { begin: 32, packing, total: read_u64(bytes, 8), unpacked: read_u64(bytes, 16)? },
        _ => return None,
    })
}

/// Bytes of a compressed bundle's longest header.
pub const COMPRESSED_HEADER: usize = 32;

/// How long a compressed bundle is, from its header; `None`: it is none, or of the first version, which does not tell.
pub fn compressed_size(header: &[u8]) -> Option<usize> {
    compressed(header)?.total.and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= MAX_TEXT)
}

/// The bundle in a compressed one.
///
/// # Errors
/// [`Error::Invalid`]: its header is none; [`Error::Broken`]: what it holds is not what the header says.
pub fn decompress(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let header = compressed(bytes).ok_or(Error::Invalid)?;
    let end = header.total.and_then(|n| usize::try_from(n).ok()).unwrap_or(bytes.len());
    let packed = bytes.get(header.begin..end).ok_or(Error::Invalid)?;
    unpack(header.packing, packed, header.unpacked).map_err(|reason| {
        Error::Broken(format!("the compressed bundle, at byte {:#x}, {reason}", header.begin))
    })
}
