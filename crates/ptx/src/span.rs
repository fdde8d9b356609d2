//! Places in a source text.

/// A range of bytes of the source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// From `start` up to, without, `end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Span { start, end }
    }

    /// The smallest span that holds both.
    pub fn to(self, other: Span) -> Self {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The bytes of `source` that it covers.
    pub fn text(self, source: &str) -> &str {
        source.get(self.start as usize..self.end as usize).unwrap_or("")
    }
}

/// Finds lines and columns of byte offsets in one text.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<u32>,
    len: u32,
}

impl LineIndex {
    /// Reads the line ends of `source`.
    pub fn new(source: &str) -> Self {
        let ends = source.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1);
        LineIndex { starts: std::iter::once(0).chain(ends).collect(), len: source.len() as u32 }
    }

    /// Line and column of a byte offset, both from 1; the column counts bytes.
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        let offset = offset.min(self.len);
        let line = self.starts.partition_point(|s| *s <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        (line as u32, offset - start + 1)
    }

    /// The text of a line (from 1), without its line end.
    pub fn line<'s>(&self, source: &'s str, line: u32) -> &'s str {
        let at = |n: u32| self.starts.get(n as usize).copied().unwrap_or(self.len) as usize;
        source.get(at(line.saturating_sub(1))..at(line)).unwrap_or("").trim_end_matches(['\n', '\r'])
    }
}
