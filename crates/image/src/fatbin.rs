//! The fatbin container: a header, then entries of PTX or machine code, compressed or not.

use crate::unpack::{Packing, Unpack, unpack};
use crate::{Contents, Error, MAX_TEXT, read_u16, read_u32, read_u64, until_nul};

/// The first word of a fatbin.
pub const FATBIN_MAGIC: u32 = 0xba55_ed50;
/// The first word of a fatbin made by the first compilers.
pub const FATBIN_MAGIC_OLD: u32 = 0x1ee5_5a01;
/// The first word of the wrapper that points to a fatbin.
pub const FATBIN_WRAPPER_MAGIC: u32 = 0x4662_43b1;
/// Bytes of the header that [`total_size`] reads.
pub const HEADER_SIZE: usize = 16;

const FLAG_LZ4: u64 = 0x2000;
const FLAG_ZSTD: u64 = 0x8000;
/// The fields that every entry has end here.
const ENTRY_MIN: usize = 64;

/// The contents of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// PTX text.
    Ptx,
    /// Machine code.
    Elf,
    /// Something else, by its number.
    Other(u16),
}

/// One entry of a fatbin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its offset in the fatbin.
    pub offset: usize,
    /// Kind of contents.
    pub kind: EntryKind,
    /// The target architecture: 86 for sm_86.
    pub arch: u32,
    /// Compression and other flags.
    pub flags: u64,
    /// Its bytes, possibly compressed.
    pub payload: &'a [u8],
    /// Size in bytes after decompression; 0 if it is not compressed.
    pub unpacked: u64,
}

/// The size in bytes of a whole fatbin, from its first [`HEADER_SIZE`] bytes. `None` if it is not a fatbin,
/// or if the stated size ends inside the header.
pub fn total_size(header: &[u8]) -> Option<u64> {
    let magic = read_u32(header, 0)?;
    let begin = read_u16(header, 6)?;
    if (magic != FATBIN_MAGIC && magic != FATBIN_MAGIC_OLD) || usize::from(begin) < HEADER_SIZE {
        return None;
    }
    u64::from(begin).checked_add(read_u64(header, 8)?)
}

/// The entries up to the first malformed one.
pub fn entries(bytes: &[u8]) -> Vec<Entry<'_>> {
    let mut out = Vec::new();
    let Some(mut at) = read_u16(bytes, 6).map(usize::from) else { return out };
    let end = total_size(bytes).and_then(|n| usize::try_from(n).ok()).unwrap_or(0).min(bytes.len());
    while let Some((entry, next)) = entry(bytes.get(..end).unwrap_or(bytes), at) {
        out.push(entry);
        at = next;
    }
    out
}

fn entry(bytes: &[u8], at: usize) -> Option<(Entry<'_>, usize)> {
    let head = bytes.get(at..)?;
    let kind = match read_u16(head, 0)? {
        1 => EntryKind::Ptx,
        2 => EntryKind::Elf,
        other => EntryKind::Other(other),
    };
    let header_size = read_u32(head, 4)? as usize;
    let padded = usize::try_from(read_u32(head, 8)?).ok()?;
    let packed = read_u32(head, 16)? as usize;
    if header_size < ENTRY_MIN {
        return None;
    }
    let payload = head.get(header_size..header_size.checked_add(padded)?)?;
    let payload = if packed == 0 { payload } else { payload.get(..packed)? };
    let next = at.checked_add(header_size)?.checked_add(padded)?;
    let (arch, flags, unpacked) = (read_u32(head, 28)?, read_u64(head, 40)?, read_u64(head, 56)?);
    Some((Entry { offset: at, kind, arch, flags, payload, unpacked }, next))
}

impl Entry<'_> {
    /// The decompressed bytes.
    ///
    /// # Errors
    /// The contents do not match the entry's header, or exceed [`MAX_TEXT`].
    pub fn unpack(&self) -> Result<Vec<u8>, Unpack> {
        if self.flags & FLAG_LZ4 != 0 {
            unpack(Packing::Lz4, self.payload, self.unpacked)
        } else if self.flags & FLAG_ZSTD != 0 {
            unpack(Packing::Zstd, self.payload, self.unpacked)
        } else if self.payload.len() <= MAX_TEXT {
            Ok(self.payload.to_vec())
        } else {
            Err(Unpack::TooLarge(self.payload.len() as u64))
        }
    }
}

/// The targets of the entries.
pub(crate) fn contents(bytes: &[u8]) -> Contents {
    let all = entries(bytes);
    let of = |kind| all.iter().filter(|e| e.kind == kind).map(|e| e.arch).collect();
    Contents::new(of(EntryKind::Elf), of(EntryKind::Ptx))
}

/// The newest PTX that a device of `capability` can use.
pub(crate) fn best_text(bytes: &[u8], capability: u32) -> Result<Vec<u8>, Error> {
    let all = entries(bytes);
    if all.is_empty() {
        return Err(Error::Invalid);
    }
    let suits = |(_, e): &(usize, &Entry)| e.kind == EntryKind::Ptx && e.arch <= capability;
    let best = all.iter().enumerate().filter(suits).max_by_key(|(_, e)| e.arch);
    let (index, entry) = best.ok_or_else(|| Error::NoBinary(contents(bytes)))?;
    let text = entry.unpack().map_err(|reason| {
        let (number, offset, arch) = (index + 1, entry.offset, entry.arch);
        Error::Broken(format!(
            "entry {number} of the fatbin, at byte {offset:#x} (PTX for sm_{arch}), {reason}"
        ))
    })?;
    Ok(until_nul(&text).trim_ascii_start().to_vec())
}
