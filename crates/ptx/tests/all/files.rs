//! Tests the texts under `tests/data`.
//!
//! `good/*.ptx` must parse, and print as text that parses to the same tree. `bad/*.ptx` name each error on
//! its line (`// error: message: label`); the files beside them hold what the user sees (`.stderr`) and the
//! JIT's log (`.log`). `UPDATE_EXPECT=1` writes the new answers into the files.

use std::fs;
use std::path::{Path, PathBuf};

fn texts(folder: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(folder);
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "ptx"));
    paths.sort();
    assert!(!paths.is_empty());
    paths.into_iter().map(|p| (p.clone(), fs::read_to_string(p).unwrap())).collect()
}

fn updating() -> bool {
    std::env::var_os("UPDATE_EXPECT").is_some()
}

/// Runs the work items in reverse order, which no parser of bodies may depend on.
fn backwards(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).rev().for_each(work);
}

#[test]
fn bodies_by_themselves_are_read_as_in_their_places() {
    for (path, source) in texts("good").into_iter().chain(texts("bad")) {
        assert_eq!(ptx::parse_by(&source, &backwards), ptx::parse(&source), "{}", path.display());
    }
}

/// A tree's debug text without spans.
fn without_spans(module: &ptx::ast::Module) -> String {
    let text = format!("{module:?}");
    let mut parts = text.split("Span {");
    let mut out = parts.next().unwrap_or("").to_owned();
    for part in parts {
        out.push_str(part.split_once('}').map_or("", |(_, rest)| rest));
    }
    out
}

#[test]
fn good_texts_parse_and_print_to_the_same_tree() {
    for (path, source) in texts("good") {
        let name = path.display();
        let module = ptx::parse(&source)
            .unwrap_or_else(|errors| panic!("{name}\n{}", ptx::log(&errors, "text", &source)));
        let printed = module.to_string();
        let again = ptx::parse(&printed).unwrap_or_else(|errors| {
            panic!("{name} printed\n{}\n{printed}", ptx::log(&errors, "printed", &printed))
        });
        assert_eq!(without_spans(&module), without_spans(&again), "{name}");
    }
}

#[test]
fn bad_texts_are_told_at_their_lines() {
    for (path, text) in texts("bad") {
        let source: String = text
            .lines()
            .map(|l| l.split("// error:").next().unwrap_or("").trim_end().to_owned() + "\n")
            .collect();
        let errors = ptx::parse(&source).expect_err(&path.display().to_string());
        let lines = ptx::LineIndex::new(&source);
        let mut marked = String::new();
        for (number, line) in (1..).zip(source.lines()) {
            marked.push_str(line);
            for error in errors.iter().filter(|e| lines.line_column(e.span.start).0 == number) {
                let colon = if error.label.is_empty() { "" } else { ": " };
                marked.push_str(&format!(" // error: {}{colon}{}", error.message, error.label));
            }
            marked.push('\n');
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let shown: Vec<String> = errors.iter().map(|e| e.render_at(&lines, &name, &source, false)).collect();
        check(&path, &marked);
        check(&path.with_extension("stderr"), &shown.join("\n"));
        check(&path.with_extension("log"), &ptx::log(&errors, &name, &source));
    }
}

fn check(path: &Path, found: &str) {
    if updating() {
        fs::write(path, found).unwrap();
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    assert_eq!(expected, found, "{}: UPDATE_EXPECT=1 accepts the new answer", path.display());
}
