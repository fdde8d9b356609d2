//! Turns the tables under `grammar/` into Rust: the enums `Opcode` and `Modifier`.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=grammar");
    println!("cargo::rerun-if-changed=build.rs");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let opcodes = opcodes(&read("grammar/opcodes.txt"));
    let modifiers = modifiers(&read("grammar/modifiers.txt"));
    let mut text = String::new();
    word_enum(&mut text, "Opcode", "The first word of an instruction.", "`", &opcodes);
    let words: Vec<String> = modifiers.iter().map(|m| m.0.clone()).collect();
    word_enum(&mut text, "Modifier", "A word after a dot in an instruction.", "`.", &words);
    modifier_kinds(&mut text, &modifiers);
    fs::write(Path::new(&out).join("words.rs"), text).expect("OUT_DIR can be written");
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The words of a table, without comments.
fn opcodes(text: &str) -> Vec<String> {
    let lines = text.lines().map(|l| l.split('#').next().unwrap_or(""));
    lines.flat_map(str::split_whitespace).map(str::to_owned).collect()
}

/// Each modifier with the kind under which it stands.
fn modifiers(text: &str) -> Vec<(String, String)> {
    let (mut kind, mut out) = (String::new(), Vec::new());
    for line in text.lines().map(|l| l.split('#').next().unwrap_or("").trim()) {
        if let Some(name) = line.strip_prefix('[') {
            kind = name.trim_end_matches(']').to_owned();
            continue;
        }
        out.extend(line.split_whitespace().flat_map(expand).map(|w| (w, kind.clone())));
    }
    out
}

/// `a{8..24+8}b` becomes a8b, a16b, a24b.
fn expand(word: &str) -> Vec<String> {
    let Some((head, rest)) = word.split_once('{') else { return vec![word.to_owned()] };
    let (range, tail) = rest.split_once('}').expect("a range closes");
    let (first, rest) = range.split_once("..").expect("a range has two dots");
    let (last, step) = rest.split_once('+').expect("a range has a step");
    let number = |s: &str| s.parse::<usize>().expect("a range holds numbers");
    (number(first)..=number(last)).step_by(number(step)).map(|n| format!("{head}{n}{tail}")).collect()
}

/// The Rust name of a PTX word: `shared::cta` is `SharedCta`, `2d` is `X2d`.
fn variant(word: &str) -> String {
    let mut name = String::new();
    for part in word.split(|c: char| !c.is_ascii_alphanumeric()).filter(|p| !p.is_empty()) {
        let (first, rest) = part.split_at(1);
        name.push_str(&first.to_ascii_uppercase());
        name.push_str(rest);
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("X{name}") } else { name }
}

/// An enum with one variant a word, its names, and a hash table from name to variant.
fn word_enum(out: &mut String, name: &str, doc: &str, quote: &str, words: &[String]) {
    let mut seen = HashSet::new();
    for word in words {
        assert!(seen.insert(variant(word)), "{name}: {word} is spelled twice");
    }
    let _ = writeln!(out, "/// {doc}");
    let _ = writeln!(out, "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]");
    let _ = writeln!(out, "#[repr(u16)]\npub enum {name} {{");
    for word in words {
        let _ = writeln!(out, "    /// {quote}{word}`\n    {},", variant(word));
    }
    let _ = writeln!(out, "}}");
    let upper = name.to_ascii_uppercase();
    let _ = writeln!(out, "pub(crate) static {upper}_NAMES: [&str; {}] = {words:?};", words.len());
    let variants: Vec<String> = words.iter().map(|w| format!("{name}::{}", variant(w))).collect();
    let all = variants.join(", ");
    let _ = writeln!(out, "pub(crate) static {upper}_ALL: [{name}; {}] = [{all}];", words.len());
    let size = (words.len() * 4).next_power_of_two();
    let mut table = vec![u16::MAX; size];
    for (i, word) in words.iter().enumerate() {
        let mut at = word_hash(word.as_bytes()) as usize & (size - 1);
        while table[at] != u16::MAX {
            at = (at + 1) & (size - 1);
        }
        table[at] = u16::try_from(i).expect("fewer than 65535 words");
    }
    let _ = writeln!(out, "pub(crate) static {upper}_TABLE: [u16; {size}] = {table:?};");
}

include!("src/word_hash.rs");

fn modifier_kinds(out: &mut String, modifiers: &[(String, String)]) {
    let mut kinds: Vec<&str> = modifiers.iter().map(|m| m.1.as_str()).collect();
    kinds.dedup();
    let _ = writeln!(out, "/// What a modifier chooses.");
    let _ = writeln!(out, "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\npub enum ModifierKind {{");
    for kind in &kinds {
        let _ = writeln!(out, "    /// {kind}\n    {},", variant(kind));
    }
    let _ = writeln!(out, "}}");
    let of: Vec<String> = modifiers.iter().map(|m| format!("ModifierKind::{}", variant(&m.1))).collect();
    let _ = writeln!(
        out,
        "pub(crate) static MODIFIER_KINDS: [ModifierKind; {}] = [{}];",
        modifiers.len(),
        of.join(", ")
    );
    for (kind, name) in [("type", "ScalarType"), ("space", "Space")] {
        let value = |m: &(String, String)| match m.1 == kind {
            true => format!("Some({name}::{})", variant(&m.0)),
            false => "None".to_owned(),
        };
        let values: Vec<String> = modifiers.iter().map(value).collect();
        let (table, count) = (kind.to_ascii_uppercase(), values.len());
        let values = values.join(", ");
        let _ = writeln!(out, "pub(crate) static MODIFIER_{table}S: [Option<{name}>; {count}] = [{values}];");
    }
}
