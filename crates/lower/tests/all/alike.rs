//! When a large text is loaded, one instruction of each shape (`src/shape.rs`) is lowered: its verdict must
//! hold for all others of the shape.
//!
//! Forms of the grammar are written with operands of every kind, and each operand in slightly different ways:
//! another register of the type, another constant, another variable of the state space, another offset. Each
//! instruction that lowering refuses is put behind all accepted ones with the same opcode and modifiers.
//! Loading must then refuse the text; otherwise the shape leaves out something that matters.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::change::{hash, split};
use crate::support::grammar::{self, Form, Line};
use lower::{Deferred, ErrorClass, Options, Unit, one_by_one};
use ptx::LineIndex;

/// Maximum number of spellings tried per form.
const SPELLINGS: usize = 3;
/// Maximum number of other operand kinds tried in place of each operand.
const KINDS: usize = 3;

/// Variables besides the grammar's: two of a kind, of different sizes.
const GLOBALS: &str =
    ".global .align 16 .b8 g[64];\n.global .b32 g1;\n.shared .align 16 .b8 s[64];\n.shared .b32 s1;\n";
const LOCALS: &str = ".local .align 16 .b8 l[64];\n.local .b32 l1;\n.shared .align 16 .b8 t[64];\n.shared .b32 t1;\n\
    .reg .f32 %f<4>;\n.reg .f64 %d<4>;\n";
/// For calls, in PTX versions that have them.
const PARAMETERS: &str = ".param .align 16 .b8 a[64];\n.param .align 16 .b8 b[8];\n.param .b32 w;\n.param .b64 x;\n\
    proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n";
/// Functions to call, in the same versions: two that differ only by name, and others.
const FUNCTIONS: &str = ".func (.param .b32 r) one(.param .b32 p) { ret; }\n.func (.param .b32 r) twin(.param .b32 p) { ret; }\n\
    .func (.param .align 16 .b8 r[64]) array(.param .align 16 .b8 p[64]) { ret; }\n\
    .func two(.param .b32 p, .param .b32 q) { ret; }\n";

const NUMBERS: &[&str] = &[
    "1",
    "0",
    "-1",
    "2",
    "3",
    "4",
    "5",
    "8",
    "16",
    "24",
    "31",
    "32",
    "33",
    "64",
    "128",
    "255",
    "256",
    "65536",
    "0x7fffffff",
    "0x80000000",
    "0xffffffff",
    "0x100000000",
    "-0x80000001",
    "0xffffffffffffffff",
];

/// Replacements for a value: each kind with slightly different operands.
const VALUES: &[&[&str]] = &[
    NUMBERS,
    &["0f3f800000", "0f00000000", "0f80000000", "0f7f800000", "0f7fffffff", "0f00000001"],
    &["0d3ff0000000000000", "1.0", "0.0", "-2.5", "1e300", "0d7ff0000000000000", "0d7fffffffffffffff"],
    &["%r8_1", "%r8_2"],
    &["%r16_1", "%r16_2"],
    &["%r32_1", "%r32_2", "-%r32_1"],
    &["%r64_1", "%r64_2"],
    &["%r128_1", "%r128_2"],
    &["%f1", "%f2"],
    &["%d1", "%d2"],
    &["%p1", "%p2", "!%p1", "!%p2"],
    &["g", "g1", "g+4", "g+-4", "g+0x7fffffff"],
    &["s", "s1", "s+4", "s+1000000"],
    &["t", "t1", "t+4", "t+1000000"],
    &["l", "l1", "l+4", "l+1000000"],
    &["a", "b", "w", "x", "a+4", "w+4"],
    &["kernel_param", "kernel_param+4", "kernel_param+1000"],
    &["table", "table+4"],
    &["label", "other", "targets", "proto"],
    &["one", "twin", "two", "array", "callee"],
    &["{%r32_1, %r32_2}", "{%r32_1, 1}", "{1, 2}", "{0x10000, 0x100000000}", "{%r32_1, _}"],
    &["{%r16_1, %r16_2}", "{%r16_1, 1}", "{0x10000, 2}"],
    &["%r32_1|%p1", "%r32_2|%p2", "_|%p2"],
];

/// Replacements for an address, in the same form.
const ADDRESSES: &[&[&str]] = &[
    &["[%r64_1]", "[%r64_2]", "[%r64_1+4]", "[%r64_1+-1]", "[%r64_1+0x7fffffff]", "[%r64_1+0x100000000]"],
    &["[%r32_1]", "[%r32_2]", "[%r32_1+4]", "[%r32_1+-1]"],
    &["[g]", "[g1]", "[g+4]", "[g+1]", "[g+-4]", "[g+1000000]"],
    &["[s]", "[s1]", "[s+4]", "[s+1]", "[s+-4]", "[s+1000000]"],
    &["[t]", "[t1]", "[t+4]", "[t+1]", "[t+-4]", "[t+1000000]"],
    &["[l]", "[l1]", "[l+4]", "[l+1]", "[l+-4]", "[l+1000000]"],
    &["[a]", "[b]", "[w]", "[x]", "[a+4]", "[a+1]", "[w+4]", "[x+4]", "[a+1000000]"],
    &["[kernel_param]", "[kernel_param+4]", "[kernel_param+1]", "[kernel_param+1000]"],
    &["[table]", "[table+4]", "[table+1]", "[table+-4]"],
    &["[64]", "[0]", "[1]", "[0x7fffffff]"],
    &["t[%r32_1]", "t[%r32_2]", "g[%r32_1]", "t[%r32_1+1]"],
];

/// Replacements for the arguments or results of a call, in the same form.
const ARGUMENTS: &[&[&str]] = &[
    &["(w)", "(x)", "(w, w)", "()"],
    &["(a)", "(b)", "(kernel_param)", "(l)", "(t)"],
    &["(%r32_1)", "(%r32_2)", "(%r64_1)", "(%p1)", "(_)"],
    &["(1)", "(0x100000000)", "(0f3f800000)"],
];

/// `count` elements of a list, selected by the text.
fn some<T: Copy>(list: &[T], count: usize, text: &str) -> Vec<T> {
    let mut order: Vec<usize> = (0..list.len()).collect();
    order.sort_by_key(|n| hash(0, &format!("{text}\t{n}")));
    order.truncate(count);
    order.into_iter().map(|n| list[n]).collect()
}

/// Slight variations of an operand, and other operands in its place.
fn variants(operand: &str, place: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut chosen = match operand.as_bytes().first() {
        Some(b'[') => some(ADDRESSES, KINDS, place),
        Some(b'(') => ARGUMENTS.to_vec(),
        _ => some(VALUES, KINDS, place),
    };
    if operand.starts_with(|c: char| c.is_ascii_digit()) {
        chosen.push(NUMBERS);
    }
    out.extend(chosen.into_iter().flatten().map(|o| (*o).to_owned()));
    // Parts of vectors, and the operands beside an address.
    if let Some((open, inner)) = operand.split_once('{')
        && let Some((inner, close)) = inner.split_once('}')
    {
        let parts = split(inner);
        for (n, _) in parts.iter().enumerate().take(2) {
            for other in some(NUMBERS, 4, &format!("{place} {n}")).into_iter().chain(["%r32_3", "_"]) {
                let mut parts = parts.clone();
                parts[n] = other.to_owned();
                out.push(format!("{open}{{{}}}{close}", parts.join(", ")));
            }
        }
    }
    out
}

/// An instruction and its mutations, one operand at a time.
fn changes(instruction: &str) -> Vec<String> {
    let (head, operands) = instruction.trim_end_matches(';').split_once(' ').unwrap_or((instruction, ""));
    let operands = split(operands);
    let mut out = vec![instruction.to_owned(), format!("@%p1 {instruction}"), format!("@!%p2 {instruction}")];
    for (n, operand) in operands.iter().enumerate() {
        for other in variants(operand, &format!("{instruction} {n}")) {
            let mut operands = operands.clone();
            operands[n] = other;
            out.push(format!("{head} {};", operands.join(", ")));
        }
    }
    out
}

/// Instructions that are written by hand, since the grammar does not describe the elements of their lists.
fn calls() -> (Form, Vec<String>) {
    let form = Form {
        opcode: "brx".into(),
        slots: vec![],
        operands: vec![],
        text: String::new(),
        gone: None,
        suffix: None,
    };
    let list = [
        "call (w), one, (w);",
        "call (a), array, (a);",
        "call (w), %r64_1, (w), proto;",
        "brx.idx %r32_1, targets;",
    ];
    (form, list.map(str::to_owned).into())
}

/// Unmutated instructions, one list per form.
fn bases() -> Vec<(Form, Vec<String>)> {
    let forms = grammar::lines().into_iter().filter_map(|line| match line {
        Line::Instruction(_, forms) => Some(forms),
        _ => None,
    });
    let written = forms.flatten().map(|form| {
        let spellings = form.spellings();
        let chosen = some(&spellings.iter().collect::<Vec<_>>(), SPELLINGS, &form.text);
        let both = |m: &Vec<String>| [false, true].map(|optional| form.instruction(m, optional));
        let mut list: Vec<String> = chosen.into_iter().flat_map(both).flatten().collect();
        list.dedup();
        (form, list)
    });
    written.chain([calls()]).collect()
}

/// A module of the form's version whose kernel, or function, holds these instructions, one per line; and the
/// line number of the first.
fn module(form: &Form, kernel: bool, instructions: &[&str]) -> (String, u32) {
    let old = form.home().is_some_and(|(version, _)| version.starts_with('1'));
    let parameters = if old { "" } else { PARAMETERS };
    let mut body = format!("{LOCALS}{parameters}bra label;\nother:\n// Here\n");
    body += &instructions.join("\n");
    let functions = if old { "" } else { FUNCTIONS };
    let text = grammar::module(form, &body).replacen(".entry", &format!("{GLOBALS}{functions}.entry"), 1);
    let text = if kernel { text } else { text.replacen(".entry", ".func", 1) };
    let first = text.lines().position(|l| l == "// Here").expect("it is there") as u32 + 2;
    (text, first)
}

fn options() -> Options<'static> {
    Options { complete: false, symbols: &[], each: &one_by_one, exact: false }
}

/// Whether lowering a text as a whole refuses it.
fn refuses(text: &str) -> bool {
    ptx::parse(text).is_ok_and(|tree| {
        lower::lower_by(&[Unit { name: "text", module: &tree, source: text }], options()).is_err()
    })
}

/// The instructions that lowering accepts, and those that it refuses; illegal PTX is left out.
fn verdicts<'a>(form: &Form, kernel: bool, instructions: &[&'a str]) -> (Vec<&'a str>, Vec<&'a str>) {
    let (text, first) = module(form, kernel, instructions);
    let lines = LineIndex::new(&text);
    let parts = |spans: &mut dyn Iterator<Item = ptx::Span>| -> (Vec<&'a str>, Vec<&'a str>) {
        let told: BTreeSet<u32> = spans.map(|s| lines.line_column(s.start).0).collect();
        let (mut free, mut named) = (Vec::new(), Vec::new());
        for (n, instruction) in instructions.iter().enumerate() {
            if told.contains(&(first + n as u32)) { &mut named } else { &mut free }.push(*instruction);
        }
        (free, named)
    };
    match ptx::parse(&text) {
        Ok(tree) => {
            let unit = Unit { name: "text", module: &tree, source: &text };
            let errors = lower::lower_by(&[unit], options()).err().unwrap_or_default();
            let mistake = errors.iter().find(|e| e.class == ErrorClass::Internal);
            assert_eq!(mistake, None, "{text}");
            parts(&mut errors.iter().map(|e| e.span))
        }
        Err(_) if instructions.len() < 2 => (Vec::new(), Vec::new()),
        Err(errors) => {
            // The reported errors may not be all, since their number is limited.
            let (free, named) = parts(&mut errors.iter().map(|e| e.span));
            if errors.len() < ptx::MAX_ERRORS && !named.is_empty() {
                return verdicts(form, kernel, &free);
            }
            let (one, other) = instructions.split_at(instructions.len() / 2);
            let ((mut taken, mut refused), more) =
                (verdicts(form, kernel, one), verdicts(form, kernel, other));
            taken.extend(more.0);
            refused.extend(more.1);
            (taken, refused)
        }
    }
}

/// The results for some forms.
#[derive(Default)]
struct Seen {
    cases: usize,
    refused: usize,
    wrong: Vec<String>,
}

impl Seen {
    /// Tries an instruction and its mutations.
    fn add(&mut self, form: &Form, instruction: &str, kernel: bool) {
        let changes = changes(instruction);
        let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
        let (taken, refused) = verdicts(form, kernel, &changes);
        self.cases += taken.len() + refused.len();
        if taken.is_empty() {
            return;
        }
        self.refused += refused.len();
        let loads = |instructions: &[&str]| {
            let (text, _) = module(form, kernel, instructions);
            Deferred::new(&[("text", &text)], options()).is_ok() && refuses(&text)
        };
        for case in refused {
            if loads(&[taken.as_slice(), &[case]].concat()) {
                let like = taken.iter().find(|t| loads(&[t, case]));
                self.wrong.push(format!("{case} is refused, but not behind {like:?}"));
            }
        }
    }
}

#[test]
fn one_speaks_for_all_that_are_alike() {
    let bases = bases();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut seen = Seen::default();
        while let Some((form, list)) = bases.get(next.fetch_add(1, Ordering::Relaxed)) {
            for (n, instruction) in list.iter().enumerate() {
                // Optional operands are left out in the kernel and written in the function; without optional
                // operands, both are the same.
                for kernel in [true, false] {
                    if list.len() == 1 || kernel == n.is_multiple_of(2) || form.text.is_empty() {
                        seen.add(form, instruction, kernel);
                    }
                }
            }
        }
        seen
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let seen: Vec<Seen> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|t| t.join().expect("no panic")).collect()
    });
    let wrong: Vec<&String> = seen.iter().flat_map(|s| &s.wrong).collect();
    let (cases, refused) = seen.iter().fold((0, 0), |sum, s| (sum.0 + s.cases, sum.1 + s.refused));
    println!("{cases} cases, {refused} refused");
    assert!(wrong.is_empty(), "{}: {wrong:#?}", wrong.len());
    assert!(cases > 10_000 && refused > 500, "{cases} cases, {refused} refused");
}
