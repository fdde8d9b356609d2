//! Errors with their positions, printed in the style of rustc and of the JIT's log.

use crate::span::{LineIndex, Span};
use std::fmt::Write as _;

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// The module cannot be used.
    Error,
    /// The module can be used, but something in it is suspicious.
    Warning,
}

/// The kind of error, as far as the driver's error code depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The text is not PTX.
    Syntax,
    /// The text is PTX but breaks a rule: unknown names, illegal modifiers, mismatched types, or features
    /// that the module's `.version` or `.target` lacks.
    Semantic,
    /// This parser does not know the `.version`. It is the only error for which the hardware's driver answers
    /// CUDA_ERROR_UNSUPPORTED_PTX_VERSION rather than CUDA_ERROR_INVALID_PTX.
    UnsupportedVersion,
    /// `.target` is unknown.
    UnsupportedTarget,
    /// The text exceeds a limit of this parser.
    Limit,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong.
    pub kind: ErrorKind,
    /// The error in one line, without a final full stop.
    pub message: String,
    /// The text that it refers to.
    pub span: Span,
    /// The text below the underline.
    pub label: String,
    /// Additional facts, one per line.
    pub notes: Vec<String>,
    /// The suggested fix.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error without label, notes and help.
    pub fn error(kind: ErrorKind, span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            kind,
            message: message.into(),
            span,
            label: String::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// Sets the text below the underline.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds a note.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Sets the suggested fix.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The diagnostic with the line of `source` that it refers to, in the style of rustc.
    ///
    /// `file` is the name to print for the text; `color` adds ANSI colours.
    pub fn render(&self, file: &str, source: &str, color: bool) -> String {
        self.render_at(&LineIndex::new(source), file, source, color)
    }

    /// [`Diagnostic::render`] for many diagnostics of one text: the line index is built once.
    pub fn render_at(&self, lines: &LineIndex, file: &str, source: &str, color: bool) -> String {
        let paint = |code: &'static str| if color { code } else { "" };
        let (bold, blue, reset) = (paint("\x1b[1m"), paint("\x1b[1;34m"), paint("\x1b[0m"));
        let (name, hue) = match self.severity {
            Severity::Error => ("error", paint("\x1b[1;31m")),
            Severity::Warning => ("warning", paint("\x1b[1;33m")),
        };
        let (line, column) = lines.line_column(self.span.start);
        let number = line.to_string();
        let pad = " ".repeat(number.len());
        let (shown, before, width) = excerpt(lines.line(source, line), column, self.span);
        let mut out = String::new();
        let _ = writeln!(out, "{hue}{name}{reset}{bold}: {}{reset}", self.message);
        let _ = writeln!(out, "{pad}{blue}-->{reset} {file}:{line}:{column}");
        let _ = writeln!(out, "{pad} {blue}|{reset}");
        let _ = writeln!(out, "{blue}{number} |{reset} {shown}");
        let (blank, carets) = (" ".repeat(before), "^".repeat(width));
        let underline = format!("{blank}{hue}{carets} {}", self.label);
        let _ = writeln!(out, "{pad} {blue}|{reset} {}{reset}", underline.trim_end());
        for note in &self.notes {
            let _ = writeln!(out, "{pad} {blue}={reset} {bold}note{reset}: {note}");
        }
        if let Some(help) = &self.help {
            let _ = writeln!(out, "{pad} {blue}={reset} {bold}help{reset}: {help}");
        }
        out
    }

    /// The diagnostic as a line of the JIT's log: `ptxas file, line 5; error   : message`.
    pub fn log_line(&self, lines: &LineIndex, file: &str) -> String {
        let name = match (self.severity, self.kind) {
            (Severity::Warning, _) => "warning",
            (_, ErrorKind::Semantic) => "error  ",
            _ => "fatal  ",
        };
        let (line, _) = lines.line_column(self.span.start);
        let mut out = format!("ptxas {file}, line {line}; {name} : {}", self.message);
        let label = Some(&self.label).filter(|l| !l.is_empty());
        for (n, more) in label.into_iter().chain(&self.notes).chain(&self.help).enumerate() {
            out.push_str(if n == 0 { ": " } else { "; " });
            out.push_str(more);
        }
        out
    }
}

/// The JIT's log for the diagnostics of one text: one line each, and ptxas's closing line.
pub fn log(diagnostics: &[Diagnostic], file: &str, source: &str) -> String {
    let lines = LineIndex::new(source);
    let mut out: String = diagnostics.iter().map(|d| d.log_line(&lines, file) + "\n").collect();
    if diagnostics.iter().any(|d| d.severity == Severity::Error) {
        out.push_str("ptxas fatal   : Ptx assembly aborted due to errors\n");
    }
    out
}

/// Maximum number of characters shown of a line: machine-written lines can be megabytes long.
const SHOWN: usize = 200;

/// The part of a line to show, the blanks before the underline, and the underline's width, all in characters.
fn excerpt(line: &str, column: u32, span: Span) -> (String, usize, usize) {
    let at = (column as usize).saturating_sub(1).min(line.len());
    let first = if at > SHOWN / 2 && line.len() > SHOWN { at - SHOWN / 2 } else { 0 };
    let boundary = |mut i: usize| {
        while !line.is_char_boundary(i) {
            i -= 1;
        }
        i
    };
    let (first, last) = (boundary(first), boundary((first + SHOWN).min(line.len())));
    let at = boundary(at);
    let end = boundary((at + (span.end.saturating_sub(span.start)) as usize).clamp(at, last));
    let printable = |s: &str| -> String {
        s.chars()
            .map(|c| {
                if c == '\t' {
                    ' '
                } else if c.is_control() {
                    '\u{fffd}'
                } else {
                    c
                }
            })
            .collect()
    };
    let count = |from: usize, to: usize| line.get(from..to).map_or(0, |s| s.chars().count());
    (printable(line.get(first..last).unwrap_or("")), count(first, at), count(at, end).max(1))
}
