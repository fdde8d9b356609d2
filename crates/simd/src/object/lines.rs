//! The line table of an object: the source line of each instruction.

use gimli::{DebugLine, DebugLineOffset, EndianSlice, LittleEndian};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionIndex};

/// The bytes of the line table, relocated with the section addresses from `place`; `None` if there is no
/// table.
pub fn relocated(
    file: &ElfFile64<'_, object::LittleEndian>,
    place: impl Fn(SectionIndex) -> Option<usize>,
) -> Option<Vec<u8>> {
    let section = file.section_by_name(".debug_line")?;
    let mut bytes = section.data().ok()?.to_vec();
    for (at, r) in section.relocations() {
        let RelocationTarget::Symbol(index) = r.target() else { continue };
        let symbol = file.symbol_by_index(index).ok()?;
        // Only addresses of code are needed, not offsets into other tables.
        let Some(base) = symbol.section_index().and_then(&place) else { continue };
        let value = (base as u64).wrapping_add(symbol.address()).wrapping_add(r.addend() as u64);
        let at = usize::try_from(at).ok()?;
        bytes.get_mut(at..at + 8)?.copy_from_slice(&value.to_le_bytes());
    }
    Some(bytes)
}

/// The line of the instruction at `address`.
pub fn line_at(table: &[u8], address: u64) -> Option<u32> {
    let section = DebugLine::from(EndianSlice::new(table, LittleEndian));
    let program = section.program(DebugLineOffset(0), 8, None, None).ok()?;
    let mut rows = program.rows();
    let mut last: Option<(u64, u32)> = None;
    while let Ok(Some((_, row))) = rows.next_row() {
        if let Some((start, line)) = last
            && (start..row.address()).contains(&address)
        {
            return Some(line).filter(|l| *l != 0);
        }
        let line = row.line().and_then(|l| u32::try_from(l.get()).ok()).unwrap_or(0);
        last = (!row.end_sequence()).then_some((row.address(), line));
    }
    None
}
