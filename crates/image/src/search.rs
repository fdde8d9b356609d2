//! Finds device code anywhere in a file: programs, libraries, archives, unpacked packages. It does not use
//! section tables, so that stripped files work too.

use memchr::memmem::Finder;

use crate::bundle::{BUNDLE_MAGIC, COMPRESSED_MAGIC, CompressedSize, bundle_size, bundled, compressed_size};
use crate::fatbin::{self, FATBIN_MAGIC, FATBIN_MAGIC_OLD};
use crate::until_nul;

/// Maximum distance in bytes from a text's version to its target.
const HEAD: usize = 4096;

/// A part of a file that holds device code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Its offset in the file.
    pub offset: usize,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// All fatbins (for [`crate::entries`]) in file order. Of two that overlap, the first counts.
pub fn search_fatbins(file: &[u8]) -> Vec<Piece<'_>> {
    let places = |magic: u32| Finder::new(&magic.to_le_bytes()).find_iter(file).collect::<Vec<_>>();
    let mut at: Vec<usize> = places(FATBIN_MAGIC).into_iter().chain(places(FATBIN_MAGIC_OLD)).collect();
    at.sort_unstable();
    let mut found: Vec<Piece> = Vec::new();
    for offset in at {
        let end = found.last().map_or(0, |p| p.offset + p.bytes.len());
        let rest = file.get(offset..).unwrap_or(&[]);
        let size = fatbin::total_size(rest).and_then(|n| usize::try_from(n).ok());
        let Some(bytes) = size.and_then(|n| rest.get(..n)).filter(|_| offset >= end) else { continue };
        if !fatbin::entries(bytes).is_empty() {
            found.push(Piece { offset, bytes });
        }
    }
    found
}

/// All offload bundles in file order, compressed ones included (for [`crate::bundled`] and
/// [`crate::decompress`]). Of two that overlap, the first counts. A compressed bundle of the first version,
/// which does not state its size, is found only at the beginning of the file.
pub fn search_bundles(file: &[u8]) -> Vec<Piece<'_>> {
    let places = |magic: &[u8]| Finder::new(magic).find_iter(file).collect::<Vec<_>>();
    let mut at: Vec<usize> = places(BUNDLE_MAGIC).into_iter().chain(places(COMPRESSED_MAGIC)).collect();
    at.sort_unstable();
    let mut found: Vec<Piece> = Vec::new();
    for offset in at {
        let end = found.last().map_or(0, |p| p.offset + p.bytes.len());
        let rest = file.get(offset..).unwrap_or(&[]);
        let size = if rest.starts_with(BUNDLE_MAGIC) {
            let at = |from: usize, length: usize| rest.get(from..from.checked_add(length)?);
            bundle_size(&at).ok().filter(|n| rest.get(..*n).is_some_and(|all| bundled(all).is_ok()))
        } else {
            match compressed_size(rest) {
                Ok(CompressedSize::Exactly(size)) => Some(size),
                Ok(CompressedSize::AtMost(_)) if offset == 0 => Some(rest.len()),
                _ => None,
            }
        };
        let Some(bytes) = size.and_then(|n| rest.get(..n)).filter(|b| offset >= end && !b.is_empty()) else {
            continue;
        };
        found.push(Piece { offset, bytes });
    }
    found
}

/// All uncompressed PTX texts in the file, each from its `.version` up to the first byte that cannot be text.
pub fn search_texts(file: &[u8]) -> Vec<Piece<'_>> {
    let mut found: Vec<Piece> = Vec::new();
    for offset in Finder::new(b".version ").find_iter(file) {
        let end = found.last().map_or(0, |p| p.offset + p.bytes.len());
        let rest = file.get(offset..).unwrap_or(&[]);
        if offset < end || !begins_text(rest) {
            continue;
        }
        let text = until_nul(rest);
        let length = text.iter().position(|&b| b < b' ' && !b.is_ascii_whitespace()).unwrap_or(text.len());
        found.push(Piece { offset, bytes: text.get(..length).unwrap_or(text) });
    }
    found
}

/// Whether `.version 8.0` is followed shortly by `.target sm_`: this excludes the strings from which a
/// compiler prints such lines.
fn begins_text(bytes: &[u8]) -> bool {
    let head = until_nul(bytes.get(..HEAD).unwrap_or(bytes));
    let number = head.strip_prefix(b".version ").unwrap_or(&[]).trim_ascii_start();
    let digits = number.iter().take_while(|b| b.is_ascii_digit()).count();
    let minor = number.get(digits..).and_then(|r| r.strip_prefix(b".")).and_then(<[u8]>::first);
    let target = || {
        let after = Finder::new(b".target").find(head).and_then(|at| head.get(at + b".target".len()..));
        after.is_some_and(|r| r.trim_ascii_start().starts_with(b"sm_"))
    };
    digits > 0 && minor.is_some_and(u8::is_ascii_digit) && target()
}
