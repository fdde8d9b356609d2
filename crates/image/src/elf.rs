//! The size of an ELF file that lies in memory without one.

use crate::{Error, MAX_TEXT, read_u16, read_u32, read_u64};

/// Bytes of the header of a file of 64 bits.
const HEADER: usize = 64;
/// Bytes of an entry of the section table, and of the program headers.
const SECTION: usize = 64;
const SEGMENT: usize = 56;
/// `SHT_NOBITS`: a section without bytes in the file.
const NOBITS: u32 = 8;

/// The size of a little-endian ELF file of 64 bits: the end of the last of its tables, segments and sections.
/// `at(offset, length)` gives its bytes, `None` if they cannot be read; it is called only for bytes that
/// earlier ones announce.
///
/// # Errors
/// [`Error::Invalid`] if it does not begin as such a file; [`Error::Broken`] if it is malformed or larger
/// than [`MAX_TEXT`].
pub fn elf_size<'a>(at: &impl Fn(usize, usize) -> Option<&'a [u8]>) -> Result<usize, Error> {
    let broken = |reason: String| Error::Broken(format!("the ELF file is malformed: {reason}"));
    let cut = |what: &str| broken(format!("it ends within {what}"));
    let header = at(0, HEADER).ok_or_else(|| cut("its header"))?;
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return Err(Error::Invalid);
    }
    let long = |bytes: &[u8], offset| read_u64(bytes, offset).unwrap_or(0);
    let mut end = HEADER;
    let mut reach = |offset: u64, size: u64, what: &str| {
        let last = offset.checked_add(size).and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= MAX_TEXT);
        end = end.max(last.ok_or_else(|| {
            broken(format!(
                "{what} has {size} bytes at {offset:#x}; the maximum size of a file is {MAX_TEXT}"
            ))
        })?);
        Ok::<_, Error>(())
    };
    let count = |offset| usize::from(read_u16(header, offset).unwrap_or(0));
    let tables = [
        // Where the table is, the offset of its numbers, the size of an entry, what it lists.
        (long(header, 32), 54, SEGMENT, "segment"),
        (long(header, 40), 58, SECTION, "section"),
    ];
    for (place, numbers, size, name) in tables {
        let (each, entries) = (count(numbers), count(numbers + 2));
        if entries == 0 {
            continue;
        }
        if each != size {
            return Err(broken(format!(
                "the entries of its {name} table have {each} bytes instead of {size}"
            )));
        }
        let (all, table) = (size * entries, format!("its {name} table"));
        reach(place, all as u64, &table)?;
        let entries =
            usize::try_from(place).ok().and_then(|place| at(place, all)).ok_or_else(|| cut(&table))?;
        for (i, entry) in entries.chunks_exact(size).enumerate() {
            let what = format!("{name} {i}");
            match name {
                "segment" => reach(long(entry, 8), long(entry, 32), &what)?,
                _ if read_u32(entry, 4) == Some(NOBITS) => {}
                _ => reach(long(entry, 24), long(entry, 32), &what)?,
            }
        }
    }
    Ok(end)
}
