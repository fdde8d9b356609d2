//! Positions in a source text.

/// A range of bytes of the source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// From `start` up to but excluding `end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Span { start, end }
    }

    /// The smallest span that holds both.
    pub fn to(self, other: Span) -> Self {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The part of `source` that it covers.
    pub fn text(self, source: &str) -> &str {
        source.get(self.start as usize..self.end as usize).unwrap_or("")
    }
}

/// Maps byte offsets of a text, or of some lines of it, to lines and columns.
#[derive(Clone, Debug)]
pub struct LineIndex {
    /// The number of the first of these lines.
    first: u32,
    starts: Vec<u32>,
    len: u32,
}

impl LineIndex {
    /// Finds the line ends of `source`.
    pub fn new(source: &str) -> Self {
        LineIndex::within(source, Span::new(0, source.len() as u32), 1)
    }

    /// Finds the line ends of a part of `source` that begins on line `first`.
    pub fn within(source: &str, part: Span, first: u32) -> Self {
        let ends = part.text(source).bytes().enumerate().filter(|(_, b)| *b == b'\n');
        let starts = ends.map(|(i, _)| part.start + i as u32 + 1);
        LineIndex { first, starts: std::iter::once(part.start).chain(starts).collect(), len: part.end }
    }

    /// Line and column of a byte offset, both from 1. The column counts bytes.
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        let offset = offset.min(self.len);
        let line = self.starts.partition_point(|s| *s <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        (self.first + line as u32 - 1, offset.saturating_sub(start) + 1)
    }

    /// The text of a line (from 1), without its line end.
    pub fn line<'s>(&self, source: &'s str, line: u32) -> &'s str {
        let line = (line + 1).saturating_sub(self.first);
        let at = |n: u32| self.starts.get(n as usize).copied().unwrap_or(self.len) as usize;
        source.get(at(line.saturating_sub(1))..at(line)).unwrap_or("").trim_end_matches(['\n', '\r'])
    }
}
