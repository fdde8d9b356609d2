//! `docs/ptx.md`: for every instruction form of the grammar, whether it is interpreted and compiled, and in
//! how many spellings the hardware's results were recorded (`tests/hw`, `async`, `texture`, `cluster`) and
//! are checked by tests. `UPDATE_EXPECT=1` writes it again.

#[path = "../../../lower/tests/all/support/grammar.rs"]
mod grammar;
#[path = "../../../lower/tests/all/support/matrix.rs"]
mod matrix;
#[path = "../support/recorded.rs"]
mod recorded;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use cpu::{Engine, Making, Program, Rules, Source};
use grammar::{Form, Line};
use hwtruth::sample::Turn;
use simd::cache::Cache;

/// How many spellings of a form are supported.
#[derive(Default)]
struct Reach {
    legal: usize,
    lowered: usize,
    compiled: usize,
    /// The reason for the first that is not lowered or not compiled.
    why: String,
}

/// Compiled kernels are cached in the build's folder: there are thousands, and few change.
fn rules() -> Rules {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("manual");
    let making = Making { cache: Some(Cache::at(&folder)), ..Making::default() };
    Rules { engine: Engine::Compiled, making, ..Rules::default() }
}

fn load(form: &Form, instruction: &str) -> Result<Program, String> {
    let text = grammar::module(form, instruction);
    Program::load_by(&[Source { name: &form.text, text: &text }], &rules()).map_err(|e| e.log)
}

/// Whether the code generator accepts the kernel.
fn compiles(program: &Program) -> Result<(), String> {
    let id = program.module().function("k").ok_or("no kernel")?;
    let kernel = program.kernel(id, [1, 1, 1], [32, 1, 1]).ok_or("no code")?;
    match (&kernel.report, &kernel.refused) {
        (Some(_), _) => Ok(()),
        (None, refused) => Err(refused.clone().unwrap_or_default()),
    }
}

fn reach(forms: &[Form]) -> Reach {
    let mut reach = Reach::default();
    for form in forms {
        let mut lowered = Vec::new();
        let mut tried = BTreeSet::new();
        for modifiers in form.spellings() {
            for optional in [false, true] {
                let Some(instruction) = form.instruction(&modifiers, optional) else { continue };
                let fresh = tried.insert(instruction.clone());
                if !fresh || ptx::parse(&grammar::module(form, &instruction)).is_err() {
                    continue;
                }
                reach.legal += 1;
                match load(form, &instruction) {
                    Ok(_) => lowered.push(instruction),
                    Err(log) if reach.why.is_empty() => reach.why = reason(&log),
                    Err(_) => {}
                }
            }
        }
        reach.lowered += lowered.len();
        // All spellings in one kernel; separately only if it is refused.
        match load(form, &lowered.join("\n  ")).and_then(|p| compiles(&p)) {
            Ok(()) => reach.compiled += lowered.len(),
            Err(_) => {
                for instruction in &lowered {
                    match load(form, instruction).and_then(|p| compiles(&p)) {
                        Ok(()) => reach.compiled += 1,
                        Err(why) if reach.why.is_empty() => reach.why = why,
                        Err(_) => {}
                    }
                }
            }
        }
    }
    reach
}

/// The reason that a module's log gives for an instruction, without the instruction.
fn reason(log: &str) -> String {
    let line = log.lines().next().unwrap_or_default();
    // "… : instruction 'x' is not supported yet: why"
    let message = line.rsplit_once("' ").map_or(line, |(_, m)| m);
    message.trim_start_matches("is not supported yet").trim_start_matches(": ").to_owned()
}

fn count(some: usize, all: usize, why: &str) -> String {
    match (some, all) {
        (0, 0) => "–".to_owned(),
        (a, b) if a == b => "yes".to_owned(),
        (a, b) => {
            let much = if a == 0 { "no".to_owned() } else { format!("{a} of {b}") };
            if why.is_empty() { much } else { format!("{much}: {why}") }
        }
    }
}

/// Renders the document. Rows for which `kept` returns no text are regenerated; it gets the row's first cell
/// and the number of lines before it.
fn document<'a>(kept: impl Fn(&str, usize) -> Option<&'a str>) -> String {
    let recorded = recorded::instructions();
    let mut out = String::from(HEAD);
    let mut table = false;
    let mut sets = String::new();
    for line in grammar::lines() {
        match line {
            Line::Title(title) => {
                let _ = write!(out, "\n## {title}\n");
                (table, sets) = (false, String::new());
            }
            Line::Set(set) => {
                table = false;
                let _ = writeln!(sets, "{set}");
            }
            Line::Instruction(text, forms) => {
                if !table {
                    if !sets.is_empty() {
                        let _ = write!(out, "\n```text\n{sets}```\n");
                    }
                    out += "\n| form | interpreted | compiled | recorded |\n|---|---|---|---:|\n";
                    (table, sets) = (true, String::new());
                }
                let cell = format!("| `{}` |", text.replace('|', "\\|"));
                if let Some(known) = kept(&cell, out.lines().count()) {
                    let _ = writeln!(out, "{known}");
                    continue;
                }
                let reach = reach(&forms);
                // Each spelling counts once, whatever its operands.
                let matching: BTreeSet<&Vec<String>> =
                    recorded.iter().filter(|i| forms.iter().any(|f| i.is_of(f))).map(|i| &i.words).collect();
                let _ = writeln!(
                    out,
                    "{cell} {} | {} | {} |",
                    count(reach.lowered, reach.legal, &reach.why),
                    // For forms that are not lowered, the previous column has the reason.
                    count(
                        reach.compiled,
                        reach.legal,
                        if reach.lowered < reach.legal { "" } else { &reach.why }
                    ),
                    matching.len()
                );
            }
        }
    }
    out
}

const HEAD: &str = "# PTX instructions

Every instruction form of the grammar. The notation is the PTX manual's;
[crates/ptx/grammar](../crates/ptx/grammar/README.md) explains it. After `|` stand the PTX version and the
architecture from which a form is legal. `UPDATE_EXPECT=1 cargo test -p cpu --test all manual::` writes this
file, and the test fails if the file is out of date.

- *interpreted*: the form is lowered to wave IR, so the interpreter runs it. A count says in how many of the
  tried spellings.
- *compiled*: the code generator takes it; what it refuses is interpreted, with a warning. `–`: the test has
  no operands for this form.
- *recorded*: the number of spellings (modifiers, types) in kernels that an H200 ran and whose results tests
  compare with ours (`tests/hw`, `tests/async`, `tests/texture`, `tests/cluster`).
";

#[test]
fn the_list_of_instructions_is_what_the_code_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ptx.md");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        return std::fs::write(&path, document(|_, _| None)).expect("docs/ptx.md can be written");
    }
    let text = std::fs::read_to_string(&path).expect("docs/ptx.md");
    // A sample of the rows is checked; thousands of kernels take long to compile.
    let (lines, turn) = (text.lines().collect::<Vec<_>>(), Turn::new(0, 40));
    let current = document(|cell, number| {
        lines.get(number).copied().filter(|line| !turn.takes(cell) && line.starts_with(cell))
    });
    let differs = text.lines().zip(current.lines()).find(|(a, b)| a != b);
    assert!(
        text == current,
        "docs/ptx.md is out of date ({differs:?}): UPDATE_EXPECT=1 cargo test -p cpu --test all manual::"
    );
}
