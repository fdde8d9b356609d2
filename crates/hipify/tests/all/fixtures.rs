//! Tests the sources in `tests/hipify`, whose comments state the expected result.
//!
//! * `// OPTIONS: --roc …` gives the options for the file.
//! * `// CHECK: text` must be found after the previous match, `CHECK-NEXT` on the very next line; `CHECK-NOT`
//!   must not be found before the next match. White space is compared loosely, and comments of the result are
//!   ignored.
//! * `// FINDING: reason name` expects a diagnostic on the next line that is not such a comment; no other
//!   diagnostics may occur.

use std::fs;
use std::path::{Path, PathBuf};

use hipify::{Options, Target, Translation, translate};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hipify")
}

fn fixtures() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = fs::read_dir(folder())
        .expect("tests/hipify can be read")
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).expect("a text"))
        })
        .collect();
    all.sort();
    assert!(all.len() > 10, "fixtures are missing");
    all
}

fn options(name: &str, source: &str) -> Options {
    let mut options = Options { always_include_runtime: name.ends_with(".cu"), ..Options::default() };
    let line = source.lines().find_map(|line| line.strip_prefix("// OPTIONS:")).unwrap_or("");
    let mut words = line.split_whitespace();
    while let Some(word) = words.next() {
        match word {
            "--rocm" => {
                options.rocm = words.next().and_then(|release| release.parse().ok()).expect("a release")
            }
            "--roc" => options.target = Target::Roc,
            "--miopen" => options.target = Target::Miopen,
            "--experimental" => options.experimental = true,
            "--amap" => options.as_much_as_possible = true,
            "--hip-kernel-execution-syntax" => options.hip_launch_syntax = true,
            "--cuda-kernel-execution-syntax" => {}
            "--skip-excluded-preprocessor-conditional-blocks" => options.skip_excluded = true,
            "--use-hip-data-types" => options.hip_data_types = true,
            "--rewrite-strings" => options.strings = true,
            "--no-undocumented-features" => options.no_undocumented = true,
            _ => match word.strip_prefix("-D") {
                Some(define) => options.defines.push((define.into(), None)),
                None => panic!("{name}: unknown option: {word}"),
            },
        }
    }
    options
}

fn run(name: &str, source: &str) -> Translation {
    translate(source.as_bytes(), &options(name, source)).expect("short enough")
}

fn squeeze(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Anywhere,
    Next,
    Not,
}

/// The checks of a source, in order, with their lines.
fn checks(source: &str) -> Vec<(usize, Kind, String)> {
    let prefixes = [("CHECK:", Kind::Anywhere), ("CHECK-NEXT:", Kind::Next), ("CHECK-NOT:", Kind::Not)];
    let mut found = Vec::new();
    for (number, line) in source.lines().enumerate() {
        let Some((_, comment)) = line.split_once("//") else { continue };
        for (prefix, kind) in prefixes {
            if let Some(text) = comment.trim_start().strip_prefix(prefix) {
                found.push((number + 1, kind, squeeze(text)));
            }
        }
    }
    found
}

/// The lines of the result without their comments.
fn result_lines(text: &str) -> Vec<String> {
    text.lines().map(|line| squeeze(line.split_once("//").map_or(line, |(code, _)| code))).collect()
}

/// The first check that the result does not satisfy.
fn failed(checks: &[(usize, Kind, String)], lines: &[String]) -> Result<(), String> {
    // The position after the last match: line, and byte within it.
    let (mut line, mut column) = (0, 0);
    let mut forbidden: Vec<(usize, &str)> = Vec::new();
    for (number, kind, text) in checks {
        if *kind == Kind::Not {
            forbidden.push((*number, text));
            continue;
        }
        let found = match kind {
            Kind::Next => {
                let next = (line + 1..lines.len()).find(|at| !lines[*at].is_empty());
                next.and_then(|at| lines[at].find(text.as_str()).map(|place| (at, place)))
            }
            _ => (line..lines.len()).find_map(|at| {
                let from = if at == line { column } else { 0 };
                lines[at].get(from..)?.find(text.as_str()).map(|place| (at, from + place))
            }),
        };
        let Some((at, place)) = found else {
            return Err(format!("line {number}: not found after line {}: {text}", line + 1));
        };
        absent(&forbidden, &between(lines, (line, column), (at, place)))?;
        forbidden.clear();
        (line, column) = (at, place + text.len());
    }
    absent(&forbidden, &between(lines, (line, column), (lines.len(), 0)))
}

/// The text between two positions.
fn between(lines: &[String], from: (usize, usize), to: (usize, usize)) -> Vec<String> {
    let part = |at: usize| {
        let end = if at == to.0 { to.1 } else { lines[at].len() };
        let start = if at == from.0 { from.1.min(end) } else { 0 };
        lines[at][start..end].to_owned()
    };
    (from.0..lines.len().min(to.0 + 1)).map(part).collect()
}

fn absent(forbidden: &[(usize, &str)], lines: &[String]) -> Result<(), String> {
    for (number, text) in forbidden {
        if let Some(line) = lines.iter().find(|line| line.contains(text)) {
            return Err(format!("line {number}: must not be there: {text}\n  in: {line}"));
        }
    }
    Ok(())
}

#[test]
fn fixtures_become_what_they_say() {
    let mut wrong = Vec::new();
    for (name, source) in fixtures() {
        let result = String::from_utf8(run(&name, &source).text).expect("text");
        let checks = checks(&source);
        assert!(!checks.is_empty(), "{name} checks nothing");
        if let Err(why) = failed(&checks, &result_lines(&result)) {
            wrong.push(format!("{name}: {why}\n{result}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn fixtures_have_the_findings_that_they_name() {
    for (name, source) in fixtures() {
        let is_comment = |line: &str| line.trim_start().starts_with("//");
        let mut expected = Vec::new();
        let lines: Vec<&str> = source.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let Some(text) = line.trim_start().strip_prefix("// FINDING:") else { continue };
            let next = (at..lines.len()).find(|at| !is_comment(lines[*at])).expect("a line that it is about");
            expected.push(format!("{}: {}", next + 1, squeeze(text)));
        }
        let mut found: Vec<String> = run(&name, &source)
            .diagnostics
            .iter()
            .map(|finding| {
                let reason = serde_json::to_value(finding.reason).expect("JSON");
                format!("{}: {} {}", finding.line, reason.as_str().expect("a word"), finding.name)
                    .trim_end()
                    .into()
            })
            .collect();
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn a_second_run_changes_nothing() {
    for (name, source) in fixtures() {
        let once = run(&name, &source).text;
        let twice = translate(&once, &options(&name, &source)).expect("short enough").text;
        assert_eq!(String::from_utf8_lossy(&twice), String::from_utf8_lossy(&once), "{name}");
    }
}

/// Comments and literals of a source, found without the lexer under test; header names do not count as
/// strings.
fn texts(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let code: String = source
        .lines()
        .map(|line| match line.split_once("#include") {
            Some((_, rest)) => rest.find("//").map_or(String::new(), |at| rest[at..].to_owned()) + "\n",
            None => format!("{line}\n"),
        })
        .collect();
    let mut rest = code.as_str();
    while let Some(first) = rest.chars().next() {
        let before = code[..code.len() - rest.len()].chars().next_back().unwrap_or(' ');
        let close = |text: &str, quote: char| {
            let mut escaped = false;
            let end = text.char_indices().skip(1).find(|(_, c)| {
                let ends = *c == quote && !escaped || *c == '\n';
                escaped = *c == '\\' && !escaped;
                ends
            });
            end.map_or(text.len(), |(at, _)| at + 1)
        };
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if rest.starts_with('"') && before == 'R' {
            let delimiter = rest[1..].split('(').next().expect("a delimiter");
            rest.find(&format!("){delimiter}\"")).map_or(rest.len(), |at| at + delimiter.len() + 2)
        } else if first == '"' || first == '\'' && !before.is_alphanumeric() {
            close(rest, first)
        } else {
            rest = &rest[first.len_utf8()..];
            continue;
        };
        found.push(rest[..length].to_owned());
        rest = &rest[length..];
    }
    found
}

/// The comment above definitions that the translation inserts.
const INSERTED: &str = "// Functions of CUDA's that HIP lacks, inserted by anywarp hipify";

#[test]
fn comments_and_strings_stay_to_the_byte() {
    let mut seen = 0;
    for (name, source) in fixtures().into_iter().filter(|(_, source)| !source.contains("--rewrite-strings")) {
        let before = texts(&source);
        let result = String::from_utf8(run(&name, &source).text).expect("text");
        let mut after = texts(&result);
        after.retain(|text| text != INSERTED);
        assert_eq!(after, before, "{name}");
        seen += before.len();
    }
    assert!(seen > 150, "only {seen} texts");
}

#[test]
fn the_checker_can_fail() {
    let lines = result_lines("a b\nc // d\n\ne");
    let check = |kind, text: &str| failed(&[(1, Kind::Anywhere, "a".into()), (2, kind, text.into())], &lines);
    assert!(
        check(Kind::Anywhere, "e").is_ok() && check(Kind::Next, "c").is_ok() && check(Kind::Not, "f").is_ok()
    );
    assert!(
        check(Kind::Anywhere, "d").is_err()
            && check(Kind::Next, "e").is_err()
            && check(Kind::Not, "b").is_err()
    );
}
