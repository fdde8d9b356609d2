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

/// Calls back for each entry; `at(offset, length)` gives bytes of the bundle. Returns also the size of the
/// header and the table.
fn walk<'a, T>(
    at: &impl Fn(usize, usize) -> Option<&'a [u8]>,
    mut each: impl FnMut(usize, usize, &'a [u8]) -> Result<T, String>,
) -> Result<(Vec<T>, usize), Error> {
    let broken = |reason: String| Error::Broken(format!("the bundle is malformed: {reason}"));
    let cut = |what: String| broken(format!("it ends within {what}"));
    let header = at(0, HEADER).ok_or_else(|| cut("its header".into()))?;
    if !header.starts_with(BUNDLE_MAGIC) {
        return Err(Error::Invalid);
    }
    let count = read_u64(header, BUNDLE_MAGIC.len()).unwrap_or(0);
    if count > MAX_ENTRIES {
        return Err(broken(format!("it declares {count} entries; the maximum is {MAX_ENTRIES}")));
    }
    let mut place = HEADER;
    let mut list = Vec::new();
    for index in 0..count {
        let table = || cut(format!("its table, at entry {index} of {count}"));
        let entry = at(place, ENTRY).ok_or_else(table)?;
        let number = |i: usize| read_u64(entry, i * 8).unwrap_or(0);
        let (offset, size, length) = (number(0), number(1), number(2));
        let length = usize::try_from(length).ok().filter(|n| *n <= MAX_NAME).ok_or_else(|| {
            broken(format!("the name of entry {index} has {length} bytes; the maximum is {MAX_NAME}"))
        })?;
        let name_at = place.checked_add(ENTRY).ok_or_else(table)?;
        let name = at(name_at, length).ok_or_else(table)?;
        place = name_at.checked_add(length).ok_or_else(table)?;
        let of = || format!("entry {index} ({})", String::from_utf8_lossy(name).escape_debug());
        let (Ok(offset), Ok(size)) = (usize::try_from(offset), usize::try_from(size)) else {
            return Err(broken(format!("{} has {size} bytes at {offset:#x}", of())));
        };
        list.push(each(offset, size, name).map_err(|reason| broken(format!("{} {reason}", of())))?);
    }
    Ok((list, place))
}

/// The entries of a bundle.
///
/// # Errors
/// [`Error::Invalid`] if the bytes do not begin as a bundle; [`Error::Broken`] if the bundle is malformed.
pub fn bundled(bytes: &[u8]) -> Result<Vec<Bundled<'_>>, Error> {
    let at = |offset: usize, length: usize| bytes.get(offset..offset.checked_add(length)?);
    let (entries, _) = walk(&at, |offset, size, name| {
        let target = std::str::from_utf8(name).map_err(|_| "has a name that is not UTF-8".to_owned())?;
        let bytes = at(offset, size).ok_or_else(|| {
            format!("has {size} bytes at {offset:#x}, but the bundle has {} bytes", bytes.len())
        })?;
        Ok(Bundled { target, bytes })
    })?;
    Ok(entries)
}

/// The size of a bundle that begins somewhere in memory. `at(offset, length)` gives its bytes, `None` if they
/// cannot be read; it is called only for bytes that earlier ones announce.
///
/// # Errors
/// As [`bundled`]; also if it declares more than [`MAX_TEXT`] bytes.
pub fn bundle_size<'a>(at: &impl Fn(usize, usize) -> Option<&'a [u8]>) -> Result<usize, Error> {
    let (ends, table) = walk(at, |offset, size, _| {
        offset.checked_add(size).filter(|end| *end <= MAX_TEXT).ok_or_else(|| {
            format!("has {size} bytes at {offset:#x}; the maximum size of a bundle is {MAX_TEXT}")
        })
    })?;
    Ok(ends.into_iter().fold(table, usize::max))
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

fn compressed(bytes: &[u8]) -> Result<Compressed, Error> {
    if !bytes.starts_with(COMPRESSED_MAGIC) {
        return Err(Error::Invalid);
    }
    let broken = |reason: String| Error::Broken(format!("the compressed bundle is malformed: {reason}"));
    let cut = || broken("it ends within its header".into());
    let version = read_u16(bytes, 4).ok_or_else(cut)?;
    if !(1..=3).contains(&version) {
        return Err(broken(format!("version {version} of its header is unknown; 1, 2 and 3 are known")));
    }
    let packing = match read_u16(bytes, 6).ok_or_else(cut)? {
        0 => Packing::Zlib,
        1 => Packing::Zstd,
        other => {
            return Err(broken(format!("compression method {other} is unknown; 0 is zlib, 1 is zstd")));
        }
    };
    let small = |at| read_u32(bytes, at).map(u64::from).ok_or_else(cut);
    let large = |at| read_u64(bytes, at).ok_or_else(cut);
    let header = match version {
        1 => Compressed { begin: 20, packing, total: None, unpacked: small(8)? },
        2 => Compressed { begin: 24, packing, total: Some(small(8)?), unpacked: small(12)? },
        _ => Compressed { begin: 32, packing, total: Some(large(8)?), unpacked: large(16)? },
    };
    match header.total {
        Some(total) if total < header.begin as u64 => {
            Err(broken(format!("it declares {total} bytes in all, fewer than its header's {}", header.begin)))
        }
        Some(total) if total > MAX_TEXT as u64 => {
            Err(broken(format!("it declares {total} bytes in all; the maximum is {MAX_TEXT}")))
        }
        _ => Ok(header),
    }
}

/// Size of the longest header of a compressed bundle.
pub const COMPRESSED_HEADER: usize = 32;

/// How many bytes a compressed bundle has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompressedSize {
    /// As its header states.
    Exactly(usize),
    /// The first version's header does not state it: so many at most. [`decompress`] finds the end.
    AtMost(usize),
}

/// The size of a compressed bundle, from its header.
///
/// # Errors
/// As [`decompress`].
pub fn compressed_size(header: &[u8]) -> Result<CompressedSize, Error> {
    /// What zlib and zstd add at most to data that they cannot compress: less than a 64th, and their headers.
    const ADDED: (u64, u64) = (64, 4096);
    let header = compressed(header)?;
    let size = |n: u64| usize::try_from(n).unwrap_or(MAX_TEXT).min(MAX_TEXT);
    Ok(match header.total {
        Some(total) => CompressedSize::Exactly(size(total)),
        None => {
            let most = header.unpacked.saturating_add(header.unpacked / ADDED.0).saturating_add(ADDED.1);
            CompressedSize::AtMost(size(most))
        }
    })
}

/// Decompresses a bundle.
///
/// # Errors
/// [`Error::Invalid`] if the bytes do not begin as a compressed bundle; [`Error::Broken`] if the header is
/// malformed or the contents do not match it.
pub fn decompress(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let header = compressed(bytes)?;
    let end = header.total.and_then(|n| usize::try_from(n).ok()).unwrap_or(bytes.len());
    let packed = bytes.get(header.begin..end).ok_or_else(|| {
        Error::Broken(format!("the compressed bundle declares {end} bytes and has {}", bytes.len()))
    })?;
    unpack(header.packing, packed, header.unpacked).map_err(|reason| {
        Error::Broken(format!("the compressed bundle, at byte {:#x}, {reason}", header.begin))
    })
}
