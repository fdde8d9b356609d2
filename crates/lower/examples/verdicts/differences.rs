//! The table of deliberate differences, `tests/judge/differences.tsv`.

use std::path::{Path, PathBuf};

use crate::case::{Case, Setting, Version};

/// A row of the table.
pub struct Row {
    pub ours: String,
    pub ptxas: String,
    /// Matches [`Case::name`]; `*` stands for anything, `#` for a constant, `(a|b)` for either.
    pub pattern: String,
    /// A case that shows the difference, tried on every run.
    pub example: Case,
    /// The PTX version from which assemblers answer like this.
    pub since: Version,
    pub line: usize,
}

pub fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/judge/differences.tsv")
}

/// Reads the table.
pub fn read() -> Result<Vec<Row>, String> {
    let path = path();
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let rows = text.lines().enumerate().filter(|(_, l)| !l.starts_with('#') && !l.trim().is_empty());
    rows.map(|(n, line)| {
        row(n + 1, line).ok_or_else(|| {
            format!(
                "{}:{}: expected five columns separated by tabs: ours, ptxas, pattern, example, reason",
                path.display(),
                n + 1
            )
        })
    })
    .collect()
}

/// Parses a version like 9.5.
fn version(text: &str) -> Option<Version> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn row(line: usize, text: &str) -> Option<Row> {
    let columns: Vec<&str> = text.split('\t').collect();
    let [ours, ptxas, pattern, example, reason] = columns.as_slice() else { return None };
    // Only assemblers that know this PTX version answer like this.
    let (ptxas, since) = match ptxas.split_once('@') {
        Some((ptxas, since)) => (ptxas, Some(version(since)?)),
        None => (*ptxas, None),
    };
    let known =
        ["accepted", "refused", "unsupported"].contains(ours) && ["accepted", "refused"].contains(&ptxas);
    let (written, rest) = example.split_once(' ')?;
    let (target, instruction) = rest.split_once(' ')?;
    let setting = Setting::new(version(written)?, target);
    (known && !reason.is_empty() && matches(pattern, example)).then(|| Row {
        ours: (*ours).to_owned(),
        ptxas: ptxas.to_owned(),
        since: since.unwrap_or(setting.version),
        pattern: (*pattern).to_owned(),
        example: Case {
            setting,
            instruction: instruction.to_owned(),
            origin: "differences.tsv".into(),
            change: "the example of a difference",
        },
        line,
    })
}

/// Whether a text matches a pattern, in which `*` stands for anything, `#` for a constant and `(a|b)` for
/// either.
pub fn matches(pattern: &str, text: &str) -> bool {
    let group = pattern.split_once('(').and_then(|(head, rest)| Some((head, rest.split_once(')')?)));
    match group {
        Some((head, (choices, tail))) => {
            choices.split('|').any(|choice| matches(&format!("{head}{choice}{tail}"), text))
        }
        None => plain(pattern, text),
    }
}

/// The same for a pattern without choices.
fn plain(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| after(first, text)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match (0..=rest.len()).find_map(|at| after(part, rest.get(at..)?)) {
            Some(found) => rest = found,
            None => return false,
        }
    }
    (0..=rest.len()).any(|at| rest.get(at..).and_then(|r| after(last, r)) == Some(""))
}

/// The rest of a text after the part of a pattern that it begins with.
fn after<'t>(part: &str, text: &'t str) -> Option<&'t str> {
    let mut pieces = part.split('#');
    let mut rest = text.strip_prefix(pieces.next()?)?;
    for piece in pieces {
        let constant = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        let end = rest.find(|c| !constant(c)).unwrap_or(rest.len());
        let (number, tail) = rest.split_at(end);
        let first = number.trim_start_matches('-').chars().next();
        if !(number == "WARP_SZ" || first.is_some_and(|c| c.is_ascii_digit())) {
            return None;
        }
        rest = tail.strip_prefix(piece)?;
    }
    Some(rest)
}
