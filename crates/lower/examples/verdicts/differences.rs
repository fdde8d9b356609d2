//! The table of deliberate differences, `tests/judge/differences.tsv`.

use std::path::{Path, PathBuf};

use crate::case::{Case, Setting};

/// A row.
pub struct Row {
    pub ours: String,
    pub ptxas: String,
    /// Of [`Case::name`]; `*` stands for anything.
    pub pattern: String,
    /// A case that shows it, tried at every run.
    pub example: Case,
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
                "{}:{}: ours, ptxas, pattern, example, reason by tabs are expected",
                path.display(),
                n + 1
            )
        })
    })
    .collect()
}

fn row(line: usize, text: &str) -> Option<Row> {
    let columns: Vec<&str> = text.split('\t').collect();
    let [ours, ptxas, pattern, example, reason] = columns.as_slice() else { return None };
    let known =
        ["accepted", "refused", "unsupported"].contains(ours) && ["accepted", "refused"].contains(ptxas);
    let (version, rest) = example.split_once(' ')?;
    let (target, instruction) = rest.split_once(' ')?;
    let (major, minor) = version.split_once('.')?;
    let setting = Setting::new((major.parse().ok()?, minor.parse().ok()?), target);
    (known && !reason.is_empty() && matches(pattern, example)).then(|| Row {
        ours: (*ours).to_owned(),
        ptxas: (*ptxas).to_owned(),
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

/// Whether a text is as a pattern says, in which `*` stands for anything.
pub fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}
