//! The documents: links have a target, the paths that they name exist, and lines fit. So do the comments of
//! the sources.

use std::fs;
use std::path::{Path, PathBuf};

/// Columns of a line of text.
const WIDTH: usize = 110;

/// Folders with documents, in addition to the root.
const FOLDERS: &[&str] = &["docs", "crates", "bench", "tests", "examples", "include", "fuzz"];

/// Folders whose files are not part of the repository.
const FOREIGN: &[&str] = &["target", "artifacts", "__pycache__", "node_modules"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// A document: its path below the root, and its text.
struct Document {
    path: PathBuf,
    text: String,
}

impl Document {
    /// Lines outside fenced code, with their numbers.
    fn prose(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut fenced = false;
        self.text.lines().enumerate().filter_map(move |(index, line)| {
            let fence = line.trim_start().starts_with("```");
            fenced ^= fence;
            (!fenced && !fence).then_some((index + 1, line))
        })
    }

    /// The anchors that GitHub gives the headings.
    fn anchors(&self) -> Vec<String> {
        let headings = self.prose().filter(|(_, line)| line.starts_with('#'));
        headings.map(|(_, line)| anchor(line.trim_start_matches('#').trim())).collect()
    }
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn files_in(folder: &Path, extension: &str, deep: bool, list: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            let foreign =
                name.starts_with('.') || FOREIGN.contains(&name.as_str()) || path.ends_with("fuzz/corpus");
            if deep && !foreign {
                files_in(&path, extension, deep, list);
            }
        } else if path.extension().is_some_and(|e| e == extension) {
            list.push(path);
        }
    }
}

fn documents() -> Vec<Document> {
    let root = root();
    let mut paths = Vec::new();
    files_in(&root, "md", false, &mut paths);
    for folder in FOLDERS {
        files_in(&root.join(folder), "md", true, &mut paths);
    }
    paths.sort();
    assert!(paths.len() > 20, "{} documents", paths.len());
    let read = |path: PathBuf| Document {
        text: fs::read_to_string(&path).expect("a document"),
        path: path.strip_prefix(&root).expect("a path below the root").to_owned(),
    };
    paths.into_iter().map(read).collect()
}

/// A line without its code spans, and the spans.
fn spans(line: &str) -> (String, Vec<&str>) {
    let parts: Vec<&str> = line.split('`').collect();
    let outside = parts.iter().step_by(2).copied().collect::<Vec<_>>().join("``");
    (outside, parts.iter().skip(1).step_by(2).copied().collect())
}

/// The targets of a line's links.
fn links(line: &str) -> Vec<String> {
    let (text, _) = spans(line);
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.map(str::to_owned).collect()
}

#[test]
fn every_relative_link_resolves() {
    let documents = documents();
    let mut broken = Vec::new();
    let mut seen = 0;
    for document in &documents {
        let folder = document.path.parent().expect("a file's folder");
        for (number, line) in document.prose() {
            for link in links(line).iter().filter(|link| !link.contains(':')) {
                seen += 1;
                let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
                let target = if file.is_empty() { document.path.clone() } else { folder.join(file) };
                let Ok(path) = root().join(&target).canonicalize() else {
                    broken.push(format!("{}:{number}: {link}: no such file", document.path.display()));
                    continue;
                };
                let other =
                    documents.iter().find(|d| path.ends_with(&d.path) && path == root().join(&d.path));
                if !fragment.is_empty() && !other.is_some_and(|d| d.anchors().iter().any(|a| a == fragment)) {
                    broken.push(format!("{}:{number}: {link}: no such heading", document.path.display()));
                }
            }
        }
    }
    assert!(seen > 20, "{seen} links");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The part of a path of the repository before its first pattern (`*`); `None` for anything else.
fn path_of(span: &str) -> Option<&str> {
    let (first, _) = span.split_once('/')?;
    let ours = FOLDERS.contains(&first) || first == ".ci";
    let whole = ours && !span.contains(|c: char| c.is_whitespace() || "…{}<>:".contains(c));
    let end = span.find('*').map_or(span.len(), |star| span[..star].rfind('/').map_or(0, |slash| slash + 1));
    whole.then(|| &span[..end])
}

#[test]
fn every_path_that_is_named_exists() {
    let root = root();
    let mut missing = Vec::new();
    let mut seen = 0;
    // The changelog names files of the past.
    for document in documents().iter().filter(|d| !d.path.ends_with("CHANGELOG.md")) {
        for (number, line) in document.prose() {
            for path in spans(line).1.into_iter().filter_map(path_of) {
                seen += 1;
                if !root.join(path).exists() {
                    missing.push(format!("{}:{number}: {path}", document.path.display()));
                }
            }
        }
    }
    assert!(seen > 100, "{seen} paths");
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn lines_of_text_fit() {
    let mut long = Vec::new();
    for document in documents() {
        for (number, line) in document.prose() {
            let exempt = line.trim_start().starts_with('|') || line.contains("](") || line.contains("://");
            // The grammar's titles are headings of the list of instructions.
            let exempt = exempt || line.starts_with('#');
            if !exempt && line.chars().count() > WIDTH {
                long.push(format!("{}:{number}: {} columns", document.path.display(), line.chars().count()));
            }
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn comments_fit() {
    let (root, mut sources, mut long) = (root(), Vec::new(), Vec::new());
    FOLDERS.iter().for_each(|folder| files_in(&root.join(folder), "rs", true, &mut sources));
    assert!(sources.len() > 500, "{} sources", sources.len());
    for path in sources {
        for (index, line) in fs::read_to_string(&path).expect("a source").lines().enumerate() {
            let is_comment = line.trim_start().starts_with("//") && !line.contains("://");
            if is_comment && line.chars().count() > WIDTH {
                long.push(format!("{}:{}: {} columns", path.display(), index + 1, line.chars().count()));
            }
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn links_paths_and_anchors_are_told_from_other_text() {
    assert_eq!(links("see [a](b.md#c), `[x](y)` and [d](e/)."), ["b.md#c", "e/"]);
    assert_eq!(anchor("PTX 1.0 to 9.5: `ld`, what's new"), "ptx-10-to-95-ld-whats-new");
    assert_eq!(path_of("crates/simd/src/lib.rs"), Some("crates/simd/src/lib.rs"));
    assert_eq!(path_of("tests/ptx/*.ptx"), Some("tests/ptx/"));
    assert_eq!(path_of("tests/hw/functions.sh check FILE"), None);
    assert_eq!(path_of("target/release/libcuda.so"), None);
}
