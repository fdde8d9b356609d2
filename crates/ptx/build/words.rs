//! The words: `opcodes.txt` and `modifiers.txt`.

use std::collections::HashSet;
use std::fmt::Write as _;

include!("../src/word_hash.rs");

/// A modifier in the table.
pub struct Modifier {
    pub name: String,
    pub kind: String,
    /// Whether repeating it is legal and has no effect.
    pub again: bool,
    /// PTX version (major, minor) and architecture from which it is legal.
    pub since: (u8, u8, u16),
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|l| l.split('#').next().unwrap_or("").trim())
}

/// The words of a table, without comments.
pub fn opcodes(text: &str) -> Vec<String> {
    lines(text).flat_map(str::split_whitespace).map(str::to_owned).collect()
}

/// Each modifier with the kind that it is listed under.
pub fn modifiers(text: &str) -> Vec<Modifier> {
    let (mut kind, mut out) = (String::new(), Vec::new());
    for line in lines(text) {
        if let Some(name) = line.strip_prefix('[') {
            kind = name.trim_end_matches(']').to_owned();
            continue;
        }
        for word in line.split_whitespace() {
            let (word, since) = match word.split_once('@') {
                Some((word, since)) => (word, self::since(&since.replace(':', " "))),
                None => (word, (1, 0, 0)),
            };
            let (word, again) = word.strip_suffix('+').map_or((word, false), |w| (w, true));
            let one = |name| Modifier { name, kind: kind.clone(), again, since };
            out.extend(expand(word).into_iter().map(one));
        }
    }
    out
}

/// `7.8 90`: version and architecture.
pub fn since(text: &str) -> (u8, u8, u16) {
    let (major, minor) = version(text);
    let arch = text.split_whitespace().nth(1).unwrap_or("0");
    (major, minor, arch.parse().unwrap_or_else(|_| panic!("{text}: not a number")))
}

/// The version of `7.8 90`.
pub fn version(text: &str) -> (u8, u8) {
    let (major, minor) = text.split_whitespace().next().and_then(|v| v.split_once('.')).expect("a version");
    let number = |s: &str| s.parse().unwrap_or_else(|_| panic!("{text}: not a number"));
    (number(major), number(minor))
}

/// Expands `a{8..24+8}b` to a8b, a16b, a24b.
fn expand(word: &str) -> Vec<String> {
    let Some((head, rest)) = word.split_once('{') else { return vec![word.to_owned()] };
    let (range, tail) = rest.split_once('}').expect("a range closes");
    let (first, rest) = range.split_once("..").expect("a range has two dots");
    let (last, step) = rest.split_once('+').expect("a range has a step");
    let number = |s: &str| s.parse::<usize>().expect("a range holds numbers");
    (number(first)..=number(last)).step_by(number(step)).map(|n| format!("{head}{n}{tail}")).collect()
}

/// The Rust name of a PTX word: `shared::cta` is `SharedCta`, `2d` is `X2d`.
pub fn variant(word: &str) -> String {
    let mut name = String::new();
    for part in word.split(|c: char| !c.is_ascii_alphanumeric()).filter(|p| !p.is_empty()) {
        let (first, rest) = part.split_at(1);
        name.push_str(&first.to_ascii_uppercase());
        name.push_str(rest);
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("X{name}") } else { name }
}

/// The enums and their tables.
pub fn generate(opcodes: &[String], modifiers: &[Modifier]) -> String {
    let mut out = String::new();
    word_enum(&mut out, "Opcode", "The first word of an instruction.", "`", opcodes);
    let names: Vec<String> = modifiers.iter().map(|m| m.name.clone()).collect();
    word_enum(&mut out, "Modifier", "A word after a dot in an instruction.", "`.", &names);
    kinds(&mut out, modifiers);
    out
}

/// An enum with one variant per word, the words' spellings, and a hash table from spelling to variant.
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

/// For each modifier: its kind, its spelling, and the version and architecture from which it is legal.
fn kinds(out: &mut String, modifiers: &[Modifier]) {
    let mut kinds: Vec<&str> = modifiers.iter().map(|m| m.kind.as_str()).collect();
    kinds.dedup();
    let _ = writeln!(out, "/// What a modifier chooses.");
    let _ = writeln!(out, "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\npub enum ModifierKind {{");
    for kind in &kinds {
        let _ = writeln!(out, "    /// {kind}\n    {},", variant(kind));
    }
    let _ = writeln!(out, "}}");
    let mut table = |name: &str, ty: &str, value: &dyn Fn(&Modifier) -> String| {
        let values: Vec<String> = modifiers.iter().map(value).collect();
        let (count, values) = (values.len(), values.join(", "));
        let _ = writeln!(out, "pub(crate) static MODIFIER_{name}: [{ty}; {count}] = [{values}];");
    };
    table("KINDS", "ModifierKind", &|m| format!("ModifierKind::{}", variant(&m.kind)));
    table("AGAIN", "bool", &|m| m.again.to_string());
    table("SINCE", "(u8, u8, u16)", &|m| format!("{:?}", m.since));
    for (kind, ty) in [("type", "ScalarType"), ("space", "Space")] {
        let name = format!("{}S", kind.to_ascii_uppercase());
        table(&name, &format!("Option<{ty}>"), &|m| match m.kind == kind {
            true => format!("Some({ty}::{})", variant(&m.name)),
            false => "None".to_owned(),
        });
    }
}
