//! What the reader of a translation must know, each with its place.

use std::cell::Cell;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use serde::Serialize;

/// Why something needs a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Nothing in HIP (or the ROC library) stands in for the name.
    Unsupported,
    /// The counterpart is experimental, and those are not asked for.
    Experimental,
    /// The counterpart exists for the library's `_v2` interface only.
    V2Only,
    /// CUDA itself removed the name.
    RemovedInCuda,
    /// CUDA itself deprecated the name; it is translated.
    DeprecatedInCuda,
    /// The header has no counterpart.
    UnsupportedHeader,
    /// The call loses an argument whose effect is lost too.
    DataLoss,
    /// The text depends on something that CUDA does not document.
    Undocumented,
    /// The name looks like CUDA's and is in no table.
    Unknown,
    /// The arguments of a call need a change, but directives stand among them.
    Directive,
    /// A launch that could not be understood stays as it is.
    Launch,
}

impl Reason {
    /// Whether something is left for the reader to do.
    pub fn is_warning(self) -> bool {
        !matches!(self, Reason::DeprecatedInCuda | Reason::RemovedInCuda | Reason::Unknown)
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Why.
    pub reason: Reason,
    /// The name that it is about.
    pub name: String,
    /// The finding in one line, without a final stop.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The name's first byte in the text.
    pub offset: usize,
    /// What to do instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// Where lines begin.
pub struct Lines<'a> {
    text: &'a [u8],
    starts: Vec<usize>,
    /// The last position that was asked for, with its column: lines can be megabytes long.
    last: Cell<(usize, usize)>,
}

impl<'a> Lines<'a> {
    /// Counts the lines of `text`.
    pub fn new(text: &'a [u8]) -> Self {
        let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        Lines { text, starts: std::iter::once(0).chain(ends).collect(), last: Cell::default() }
    }

    /// The line of a byte, from 1.
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    /// Line and column of a byte, from 1; the column counts characters.
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let line = self.line(offset);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let (known, column) = self.last.get();
        let (from, column) =
            if (start..=offset).contains(&known) && column > 0 { (known, column) } else { (start, 1) };
        let before = self.text.get(from..offset).unwrap_or(&[]);
        // Bytes that continue a UTF-8 character do not count.
        let column = column + before.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        self.last.set((offset, column));
        (line, column)
    }

    /// A line's bytes, without its end.
    pub fn content(&self, line: usize) -> &'a [u8] {
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(self.text.len());
        let end = self.starts.get(line).copied().unwrap_or(self.text.len());
        let line = self.text.get(start..end).unwrap_or(&[]);
        line.strip_suffix(b"\r\n").or_else(|| line.strip_suffix(b"\n")).unwrap_or(line)
    }
}

impl Diagnostic {
    /// The finding with its line, as rustc prints it. `file` is what to call the text.
    pub fn render(&self, file: &str, lines: &Lines<'_>, color: bool) -> String {
        let line = String::from_utf8_lossy(lines.content(self.line)).replace('\t', " ");
        let start = line.char_indices().nth(self.column - 1).map_or(line.len(), |(at, _)| at);
        let rest = line.get(start..).unwrap_or("");
        let end = start + rest.char_indices().nth(self.name.chars().count()).map_or(rest.len(), |(at, _)| at);
        let level = if self.reason.is_warning() { Level::WARNING } else { Level::NOTE };
        let snippet = Snippet::source(line.as_str())
            .line_start(self.line)
            .path(file)
            .annotation(AnnotationKind::Primary.span(start..end));
        let mut group = level.primary_title(self.message.as_str()).element(snippet);
        if let Some(suggestion) = &self.suggestion {
            group = group.element(Level::HELP.message(suggestion.as_str()));
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group]) + "\n"
    }
}
