//! The size of an ELF file that lies in memory without one.

use crate::{MAX_TEXT, read_u16, read_u32, read_u64};

/// Bytes of the header of a file of 64 bits.
const HEADER: usize = 64;
/// Bytes of an entry of the section table, and of the program headers.
const SECTION: usize = 64;
const SEGMENT: usize = 56;
/// `SHT_NOBITS`: a section without bytes in the file.
const NOBITS: u32 = 8;

/// The size of a little-endian ELF file of 64 bits: the end of the last of its tables, segments and sections.
/// `at(offset, length)` gives its bytes; it is called only for bytes that earlier ones announce. `None` if it
/// is malformed or larger than [`MAX_TEXT`].
pub fn elf_size<'a>(at: &impl Fn(usize, usize) -> &'a [u8]) -> Option<usize> {
    let header = at(0, HEADER);
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let long = |bytes: &[u8], offset| read_u64(bytes, offset).and_then(|n| usize::try_from(n).ok());
    let mut end = HEADER;
    let mut reach = |offset: usize, size: usize| {
        end = end.max(offset.checked_add(size).filter(|n| *n <= MAX_TEXT)?);
        Some(())
    };
    let (segments, sections) = (long(header, 32)?, long(header, 40)?);
    let count = |offset| read_u16(header, offset).map(usize::from);
    let (segment, segment_count) = (count(54)?, count(56)?);
    let (section, section_count) = (count(58)?, count(60)?);
    if segment_count > 0 {
        let size = segment.checked_mul(segment_count).filter(|_| segment == SEGMENT)?;
        reach(segments, size)?;
        for entry in at(segments, size).chunks_exact(SEGMENT) {
            reach(long(entry, 8)?, long(entry, 32)?)?;
        }
    }
    if section_count > 0 {
        let size = section.checked_mul(section_count).filter(|_| section == SECTION)?;
        reach(sections, size)?;
        for entry in at(sections, size).chunks_exact(SECTION) {
            if read_u32(entry, 4)? != NOBITS {
                reach(long(entry, 24)?, long(entry, 32)?)?;
            }
        }
    }
    Some(end)
}
