//! Metadata of a sparse `a`: the columns of the stored elements (PTX ISA 9.7.14.6).

use crate::LANES;
use crate::format::Format;
use crate::mma::Mma;

/// The column of each stored element of a row. `metadata` has one word per lane.
pub fn columns(x: &Mma, metadata: &[u32], row: usize) -> impl Iterator<Item = usize> {
    let (bits, format) = (row_bits(x, metadata, row), x.held(x.a));
    (0..usize::from(x.stored_k())).map(move |stored| column(format, bits, stored))
}

/// The column of a stored element, from the metadata of its row.
fn column(format: Format, bits: u64, stored: usize) -> usize {
    let at = |index: usize| (bits >> (2 * index) & 3) as usize;
    match format {
        // One of two: the four bits name the two 16-bit halves of the stored element.
        Format::TF32 => stored * 2 + at(2 * stored) / 2,
        // Two of four pairs.
        Format::S4 | Format::U4 | Format::E2M1 => {
            let pair = stored / 2;
            pair / 2 * 8 + at(pair) * 2 + stored % 2
        }
        // Two of four.
        _ => stored / 2 * 4 + at(stored),
    }
}

/// The metadata of a row, four bits per group, from the low end.
fn row_bits(x: &Mma, metadata: &[u32], row: usize) -> u64 {
    let (group, upper) = (row % 8 * 4, row / 8);
    let word = |own: usize| u64::from(metadata.get((group + own) % LANES).copied().unwrap_or(0));
    let first = usize::from(x.selector) * usize::from(x.metadata_lanes());
    match x.metadata_lanes() {
        // Each of the two rows has half of the word.
        1 => word(first) >> (16 * upper) & 0xffff,
        2 if wide(x.a) => {
            let half = |own| word(first + own) >> (16 * upper) & 0xffff;
            half(0) | half(1) << 16
        }
        2 => word(first + upper),
        _ => word(upper) | word(2 + upper) << 32,
    }
}

/// Whether elements are wider than a byte.
fn wide(format: Format) -> bool {
    format.bits() > 8
}
