//! A file of `tests/wave`: a module of wave IR, with expectations in comments.
//!
//! ```text
//! ; What the file is about, in prose.
//! ; test uniformity block=64         the text of a stage; the lines below are its expectations
//! ; see v2 stride 1                    some line matches
//! ; check v3 = $sum                    a line after the previous match matches
//! ; next exit                          the next line matches
//! ; not varying                        no line matches
//! ; count 2 store                      this many lines match
//! ; refused a barrier                  the stage fails, with this reason
//! ;| v2 = special.tid.x                the whole text, which UPDATE_EXPECT=1 writes
//! ; run k grid=2                       a launch, see `support/case.rs`
//! ; counts operations 64               what the launch counts in a module with counters
//! kernel @k {
//! block0:
//!     v0 = const.i8 300                ; error: 300 is no i8
//! ```
//!
//! The stages are `wave` (IR), `uniformity` and `ranges` (annotated IR), and `llvm`. Options: `after=PASS`,
//! the state after that pass; `block=16x16`, the block's size (32 by default); `kernel=NAME`, one of several;
//! `cpu=x86-64-v4`, AVX-512 instead of AVX2; `maker=amd`, code for AMD's processors; `per-lane`, per-lane
//! mode; `effort=NAME`, the form of a large kernel; `counting`, the module with counters.

use cpu::Effort;

use super::pattern::{Captured, Pattern};

/// The request of a section.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// The line number of its `test`, from 1.
    pub line: usize,
    pub stage: String,
    pub after: Option<String>,
    pub kernel: Option<String>,
    pub block: [u32; 3],
    pub avx512: bool,
    pub amd: bool,
    pub per_lane: bool,
    pub effort: Option<Effort>,
    pub counting: bool,
    /// Line, kind and pattern.
    pub checks: Vec<(usize, String, String)>,
    /// The whole text, and the number of its first line in the file.
    pub whole: Option<(usize, Vec<String>)>,
}

/// A file's expectations.
#[derive(Debug, Default)]
pub struct Expected {
    pub sections: Vec<Section>,
    /// Line numbers and messages.
    pub errors: Vec<(usize, String)>,
    pub runs: bool,
}

const CHECKS: [&str; 6] = ["see", "check", "next", "not", "count", "refused"];
const RUN: [&str; 5] = ["run", "expect", "fault", "source", "prints"];

fn section(line: usize, text: &str) -> Result<Section, String> {
    let mut words = text.split_whitespace();
    let stage = words.next().unwrap_or_default().to_owned();
    if !["wave", "uniformity", "ranges", "llvm"].contains(&stage.as_str()) {
        return Err(format!("there is no stage `{stage}`"));
    }
    let mut s = Section { line, stage, block: [32, 1, 1], ..Section::default() };
    for word in words {
        match word.split_once('=') {
            Some(("after", pass)) => s.after = Some(pass.to_owned()),
            Some(("kernel", name)) => s.kernel = Some(name.to_owned()),
            Some(("cpu", "x86-64-v4")) => s.avx512 = true,
            Some(("maker", "amd")) => s.amd = true,
            Some(("block", sizes)) => {
                let sizes: Result<Vec<u32>, _> = sizes.split('x').map(str::parse).collect();
                let sizes = sizes.map_err(|_| format!("`{word}` is no size"))?;
                s.block.iter_mut().zip(sizes).for_each(|(slot, n)| *slot = n);
            }
            Some(("effort", name)) => {
                let effort = Effort::ALL.into_iter().find(|e| e.name() == name);
                s.effort = Some(effort.ok_or_else(|| format!("`{name}` is no effort"))?);
            }
            None if word == "per-lane" => s.per_lane = true,
            None if word == "counting" => s.counting = true,
            _ => return Err(format!("`{word}` is not known to test")),
        }
    }
    Ok(s)
}

/// Parses a file's expectations. In the lines that follow a directive, every comment must be one.
pub fn parse(text: &str) -> Result<Expected, String> {
    let mut e = Expected::default();
    let mut strict = false;
    for (n, line) in text.lines().enumerate().map(|(n, line)| (n + 1, line)) {
        if let Some((_, message)) = line.split_once(" ; error: ") {
            e.errors.push((n, message.trim().to_owned()));
        }
        if let Some(whole) = line.strip_prefix(";|") {
            let section = e.sections.last_mut().ok_or_else(|| format!("line {n}: no `test` before"))?;
            let whole = whole.strip_prefix(' ').unwrap_or(whole).to_owned();
            section.whole.get_or_insert((n, Vec::new())).1.push(whole);
            continue;
        }
        let Some(comment) = line.strip_prefix("; ") else {
            strict = false;
            continue;
        };
        let (word, rest) = comment.split_once(' ').unwrap_or((comment, ""));
        if word == "test" {
            e.sections.push(section(n, rest).map_err(|e| format!("line {n}: {e}"))?);
            strict = true;
        } else if RUN.contains(&word) || strict && e.runs && (word.ends_with(':') || word == "counts") {
            e.runs = true;
            strict = true;
        } else if strict && CHECKS.contains(&word) && !e.runs {
            let section = e.sections.last_mut().ok_or_else(|| format!("line {n}: no `test` before"))?;
            section.checks.push((n, word.to_owned(), rest.to_owned()));
        } else if strict {
            return Err(format!("line {n}: `{word}` is no directive"));
        }
    }
    match e.sections.iter().find(|s| s.checks.is_empty() && s.whole.is_none()) {
        Some(idle) => Err(format!("line {}: the section expects nothing", idle.line)),
        None if e.sections.is_empty() && e.errors.is_empty() && !e.runs => Err("expects nothing".into()),
        None => Ok(e),
    }
}

impl Section {
    /// Compares a stage's text, or the reason that there is none, with the expectations.
    pub fn hold(&self, made: &Result<String, String>) -> Result<(), String> {
        let refusals: Vec<&(usize, String, String)> =
            self.checks.iter().filter(|(_, kind, _)| kind == "refused").collect();
        let text = match made {
            Err(why) if refusals.is_empty() => return Err(format!("{}: refused: {why}", self.line)),
            Err(why) => {
                let holds = |p: &str| Pattern::new(p).matches(why, &mut Captured::new());
                return match refusals.iter().find(|(.., pattern)| !holds(pattern)) {
                    Some((line, ..)) => Err(format!("{line}: refused otherwise: {why}")),
                    None => Ok(()),
                };
            }
            Ok(text) => text,
        };
        if let Some((line, ..)) = refusals.first() {
            return Err(format!("{line}: is not refused:\n{text}"));
        }
        let lines: Vec<&str> = text.lines().collect();
        let mut names = Captured::new();
        let mut at = 0;
        for (line, kind, pattern) in &self.checks {
            let (wanted, pattern) = match kind.as_str() {
                "count" => {
                    let (n, pattern) = pattern.split_once(' ').unwrap_or((pattern, ""));
                    (n.parse().map_err(|_| format!("{line}: `{n}` is no number"))?, pattern)
                }
                _ => (1usize, pattern.as_str()),
            };
            let sought = Pattern::new(pattern);
            let found = match kind.as_str() {
                "see" => lines.iter().any(|l| sought.matches(l, &mut names)),
                "next" => {
                    at += 1;
                    lines.get(at - 1).is_some_and(|l| sought.matches(l, &mut names))
                }
                "check" => {
                    match lines[at.min(lines.len())..].iter().position(|l| sought.matches(l, &mut names)) {
                        Some(n) => {
                            at += n + 1;
                            true
                        }
                        None => false,
                    }
                }
                "not" => !lines.iter().any(|l| sought.matches(l, &mut names.clone())),
                _ => lines.iter().filter(|l| sought.matches(l, &mut names.clone())).count() == wanted,
            };
            if !found {
                return Err(format!("{line}: `{kind} {pattern}` does not hold for\n{}", shortened(text)));
            }
        }
        match &self.whole {
            Some((line, whole)) if *whole != lines => {
                Err(format!("{line}: the whole text is otherwise (UPDATE_EXPECT=1 accepts it):\n{text}"))
            }
            _ => Ok(()),
        }
    }
}

/// The part of a text that people read: LLVM's module is long.
fn shortened(text: &str) -> String {
    let body = text.find("define internal i32 @").unwrap_or(0);
    text[body..].lines().take(60).map(|l| format!("{l}\n")).collect()
}

/// A file's text with the whole texts of its sections replaced; `made` has one for each section.
pub fn updated(text: &str, sections: &[Section], made: &[Result<String, String>]) -> String {
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    // From the end, so that line numbers stay valid.
    for (section, made) in sections.iter().zip(made).rev() {
        if let (Some((first, whole)), Ok(made)) = (&section.whole, made) {
            let new = made.lines().map(|l| format!(";| {l}").trim_end().to_owned());
            lines.splice(first - 1..first - 1 + whole.len(), new);
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn what_is_wrong_with_a_file_is_told() {
    let told = |text: &str| parse(text).err().unwrap_or_default();
    assert_eq!(told("kernel @k {\n"), "expects nothing");
    assert_eq!(told("; test waves\n"), "line 1: there is no stage `waves`");
    assert_eq!(told("; test wave after=x size=3\n"), "line 1: `size=3` is not known to test");
    assert_eq!(told("; test wave\n"), "line 1: the section expects nothing");
    assert_eq!(told("; test wave\n; sea v3\n"), "line 2: `sea` is no directive");
    assert_eq!(told("; run k\n; expct a[i] = 1\n"), "line 2: `expct` is no directive");
    assert_eq!(told("; prose\n; test wave\n; see v3\nkernel @k {\n; prose\n"), "");
}

#[test]
fn checks_are_held_against_the_text() {
    let held = |checks: &str, made: Result<&str, &str>| {
        let file = parse(&format!("; test wave\n{checks}")).expect("a section");
        file.sections[0].hold(&made.map(String::from).map_err(String::from)).is_ok()
    };
    let text = Ok("a 1\nb 2\nb 3\nc 2\n");
    for checks in [
        "; see c 2\n; see a 1",
        "; check a\n; next b 2\n; check c",
        "; not d",
        "; count 2 b\n; count 0 d",
        "; check b $n\n; check c $n",
        ";| a 1\n;| b 2\n;| b 3\n;| c 2",
    ] {
        assert!(held(checks, text), "{checks}");
        assert!(!held(checks, Err("x")), "{checks}");
    }
    for checks in
        ["; check c\n; check a", "; check a\n; next b 3", "; not b", "; count 1 b", ";| a 1", "; refused x"]
    {
        assert!(!held(checks, text), "{checks}");
    }
    assert!(held("; refused too large", Err("a kernel too large")) && !held("; refused y", Err("x")));
}

#[test]
fn whole_texts_are_written_anew() {
    let text = "; test wave\n;| a\n; test ranges\n; see x\n;| b\n;| c\nkernel @k {\n";
    let sections = parse(text).expect("sections").sections;
    let new = updated(text, &sections, &[Ok("d\n\ne\n".into()), Ok("f\n".into())]);
    assert_eq!(new, "; test wave\n;| d\n;|\n;| e\n; test ranges\n; see x\n;| f\nkernel @k {\n");
    assert_eq!(parse(&new).expect("sections").sections[0].hold(&Ok("d\n\ne\n".into())), Ok(()));
}
