//! Diagnostics of a translation, each with its position.

use std::cell::Cell;

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use serde::Serialize;

/// The reason for a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// HIP (or the ROC library) has no counterpart for the name.
    Unsupported,
    /// The counterpart is experimental, and experimental names were not requested.
    Experimental,
    /// The counterpart exists only for the library's `_v2` interface.
    V2Only,
    /// CUDA itself removed the name.
    RemovedInCuda,
    /// CUDA itself deprecated the name. It is still translated.
    DeprecatedInCuda,
    /// The header has no counterpart.
    UnsupportedHeader,
    /// The call loses an argument and its effect.
    DataLoss,
    /// The code depends on undocumented behaviour of CUDA.
    Undocumented,
    /// The name looks like CUDA's but is in no table.
    Unknown,
    /// The call's arguments need a change, but contain directives.
    Directive,
    /// The name exists in later releases of ROCm than the one translated for.
    NeedsRocm,
    /// The release of ROCm declares the name only if a macro is defined.
    NeedsMacro,
    /// A mask of lanes was widened to the 64 bits that HIP wants, and may lack the upper lanes.
    WarpMask,
    /// The call may be one of two functions, by a type that the text does not tell.
    Ambiguous,
    /// HIP lacks functions, and the translation defines them.
    Supplied,
    /// HIP's headers define the function, too.
    Redefined,
    /// The text has PTX instructions, which only NVIDIA's devices have.
    InlinePtx,
    /// A structure has other members in HIP, or in another order.
    Member,
    /// Arithmetic with a device pointer, which HIP's type does not have.
    DevicePointer,
    /// A word of a build file needs a decision.
    Build,
    /// A launch could not be parsed and is left unchanged.
    Launch,
}

impl Reason {
    /// Whether the reader has something to do.
    pub fn is_warning(self) -> bool {
        let tells = [Reason::DeprecatedInCuda, Reason::RemovedInCuda, Reason::Unknown, Reason::Supplied];
        !tells.contains(&self)
    }
}

/// A diagnostic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The reason.
    pub reason: Reason,
    /// The name that it refers to.
    pub name: String,
    /// The message, in one line without a final full stop.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// Offset of the name's first byte.
    pub offset: usize,
    /// The suggested fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// Longer lines, in bytes, are shown in part.
const LONG: usize = 2000;

/// The line starts of a text.
pub struct Lines<'a> {
    text: &'a [u8],
    starts: Vec<usize>,
    /// The last queried position with its column, cached because lines can be megabytes long.
    last: Cell<(usize, usize)>,
}

impl<'a> Lines<'a> {
    /// Finds the line starts of `text`.
    pub fn new(text: &'a [u8]) -> Self {
        let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        Lines { text, starts: std::iter::once(0).chain(ends).collect(), last: Cell::default() }
    }

    /// The line of a byte offset, from 1.
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    /// Line and column of a byte offset, both from 1. The column counts characters.
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let line = self.line(offset);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let (known, column) = self.last.get();
        let (from, column) =
            if (start..=offset).contains(&known) && column > 0 { (known, column) } else { (start, 1) };
        let before = self.text.get(from..offset).unwrap_or(&[]);
        // Continuation bytes of UTF-8 characters do not count.
        let column = column + before.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        self.last.set((offset, column));
        (line, column)
    }

    /// The line of a byte offset, with the column there. Of a long line it is the part around the offset,
    /// with another column: printing the whole line for each of its diagnostics would take quadratic time.
    fn around(&self, offset: usize, column: usize) -> (&'a [u8], usize) {
        let number = self.line(offset);
        let (line, start) = (self.content(number), self.starts.get(number - 1).copied().unwrap_or(0));
        let at = offset.saturating_sub(start);
        if line.len() <= LONG {
            return (line, column);
        }
        let is_start = |at: &usize| line.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
        let from = (at.saturating_sub(LONG / 2)..at).find(is_start).unwrap_or(at);
        let to = (at + LONG / 2..line.len()).find(is_start).unwrap_or(line.len());
        let before = line.get(from..at).unwrap_or(&[]);
        let column = 1 + before.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        (line.get(from..to).unwrap_or(&[]), column)
    }

    /// A line's bytes, without the line end.
    pub fn content(&self, line: usize) -> &'a [u8] {
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(self.text.len());
        let end = self.starts.get(line).copied().unwrap_or(self.text.len());
        let line = self.text.get(start..end).unwrap_or(&[]);
        line.strip_suffix(b"\r\n").or_else(|| line.strip_suffix(b"\n")).unwrap_or(line)
    }
}

impl Diagnostic {
    /// The diagnostic with its line, in the style of rustc. `file` is the name to print for the text.
    pub fn render(&self, file: &str, lines: &Lines<'_>, color: bool) -> String {
        let (shown, column) = lines.around(self.offset, self.column);
        let line = String::from_utf8_lossy(shown).replace('\t', " ");
        let start = line.char_indices().nth(column - 1).map_or(line.len(), |(at, _)| at);
        let rest = line.get(start..).unwrap_or("");
        let end = start + rest.char_indices().nth(self.name.chars().count()).map_or(rest.len(), |(at, _)| at);
        let level = if self.reason.is_warning() { Level::WARNING } else { Level::NOTE };
        let snippet = Snippet::source(line.as_str())
            .line_start(self.line)
            .annotation(AnnotationKind::Primary.span(start..end));
        let group = level.primary_title(self.message.as_str());
        let mut group = match column == self.column {
            true => group.element(snippet.path(file)),
            // The column in the part that is shown is not that of the line.
            false => {
                group.element(Origin::path(file).line(self.line).char_column(self.column)).element(snippet)
            }
        };
        if let Some(suggestion) = &self.suggestion {
            group = group.element(Level::HELP.message(suggestion.as_str()));
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group]) + "\n"
    }
}
