//! Mutations of instructions: of modifiers, operands, and the module's version and target.

use std::collections::{BTreeMap, BTreeSet};

use crate::case::{Setting, Version};
use crate::choice::{hash, split};

/// An instruction split into parts.
#[derive(Clone, Debug)]
struct Parts {
    /// The opcode and its modifiers.
    words: Vec<String>,
    operands: Vec<String>,
}

impl Parts {
    fn of(instruction: &str) -> Parts {
        let text = instruction.trim_end_matches(';');
        let (head, rest) = text.split_once(' ').unwrap_or((text, ""));
        Parts { words: head.split('.').map(str::to_owned).collect(), operands: split(rest) }
    }

    fn text(&self) -> String {
        let head = self.words.join(".");
        if self.operands.is_empty() {
            format!("{head};")
        } else {
            format!("{head} {};", self.operands.join(", "))
        }
    }
}

/// Replacements for an operand: registers of every type, constants, names.
const SCALARS: &[&str] = &[
    "%r8_1",
    "%r16_1",
    "%r32_1",
    "%r64_1",
    "%r128_1",
    "%u8_1",
    "%u16_1",
    "%u32_1",
    "%u64_1",
    "%s8_1",
    "%s16_1",
    "%s32_1",
    "%s64_1",
    "%f16_1",
    "%f16x2_1",
    "%f32_1",
    "%f64_1",
    "%p1",
    "!%p1",
    "-%r32_1",
    "%r32_1|%p2",
    "%p1|%p2",
    "_",
    "_|%p2",
    "0f3f800000",
    "0d3ff0000000000000",
    "1.0",
    "svar",
    "gvar",
    "table",
    "label",
    "callee",
    "%tid.x",
    "%laneid",
    "%clock64",
    "%v2_1",
    "%v4_1",
    "%v2_1.x",
    "[%r64_9]",
    "{%r32_1, %r32_2}",
    "{%r16_1, %r16_2}",
    "{%r64_1, %r64_2}",
    "WARP_SZ",
    "tref",
];

/// Replacements for a number.
const NUMBERS: &[&str] = &[
    "-1",
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "7",
    "8",
    "9",
    "15",
    "16",
    "17",
    "31",
    "32",
    "33",
    "63",
    "64",
    "127",
    "128",
    "255",
    "256",
    "65535",
    "65536",
    "0x7fffffff",
    "0x80000000",
    "0xffffffff",
    "0x100000000",
    "-0x80000000",
    "-0x80000001",
    "0xffffffffffffffff",
];

/// Replacements for an address.
const ADDRESSES: &[&str] = &[
    "[%r32_1]",
    "[%r64_1]",
    "[%r64_1+4]",
    "[%r64_1+-4]",
    "[%r64_1+0x100000000]",
    "[%u64_1]",
    "[%s32_1]",
    "[%r16_1]",
    "[%r128_1]",
    "[%f32_1]",
    "[%f64_1]",
    "[%p1]",
    "[svar]",
    "[svar+4]",
    "[gvar]",
    "[lvar]",
    "[table]",
    "[kernel_param]",
    "[call_param]",
    "[64]",
    "[tref]",
    "[callee]",
    "%r64_9",
    "svar",
    "[%r64_9, %r32_1]",
    "[%r64_9, {%r32_1, %r32_2}]",
    "[%v2_1.x]",
    "[label]",
    "[%tid.x]",
    "0",
];

/// Words to try for each opcode: all that the grammar allows for it.
pub struct Vocabulary {
    words: BTreeMap<String, BTreeSet<String>>,
}

/// Words that few opcodes have, tried with every opcode.
const COMMON: &[&str] = &[
    "ftz", "sat", "rn", "rz", "approx", "hi", "wide", "relaxed", "acquire", "gpu", "cta", "v2", "v4",
    "global", "shared", "volatile", "cc", "aligned", "sync", "uni", "x2", "nc", "relu", "NaN",
];

impl Vocabulary {
    pub fn new(words: BTreeMap<String, BTreeSet<String>>) -> Vocabulary {
        Vocabulary { words }
    }

    /// The opcode's words of the same kind as this one, and types.
    fn instead<'a>(&'a self, opcode: &str, word: &str) -> Vec<&'a str> {
        let kind = |w: &str| ptx::Modifier::from_name(w).map(ptx::Modifier::kind);
        let mut found: Vec<&str> = self.words.get(opcode).into_iter().flatten().map(String::as_str).collect();
        found.extend(COMMON.iter().copied().filter(|w| kind(w) == kind(word)));
        if kind(word) == Some(ptx::ModifierKind::Type) {
            let types = ["u8", "u16", "u32", "u64", "s16", "s32", "s64", "b8", "b16", "b32", "b64", "b128"];
            found.extend(
                types.iter().chain(&[
                    "f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2", "f64", "pred", "tf32", "e4m3",
                ]),
            );
        }
        found.retain(|w| *w != word && kind(w) == kind(word));
        found.sort_unstable();
        found.dedup();
        found
    }

    fn more<'a>(&'a self, opcode: &str) -> Vec<&'a str> {
        let own = self.words.get(opcode).into_iter().flatten().map(String::as_str);
        let mut found: Vec<&str> = own.chain(COMMON.iter().copied()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// At most `count` of the choices, selected by the text and the seed.
fn some<'a>(choices: &[&'a str], count: usize, seed: u64, text: &str) -> Vec<&'a str> {
    let mut list: Vec<(u64, &str)> =
        choices.iter().map(|c| (hash(seed, &format!("{text}\t{c}")), *c)).collect();
    list.sort_unstable();
    list.into_iter().take(count).map(|(_, c)| c).collect()
}

/// Mutations of an instruction, each with its description.
pub fn changes(instruction: &str, vocabulary: &Vocabulary, seed: u64) -> Vec<(&'static str, String)> {
    let base = Parts::of(instruction);
    let mut out = Vec::new();
    of_modifiers(&base, instruction, vocabulary, seed, &mut out);
    of_operands(&base, instruction, seed, &mut out);
    out.retain(|(_, text)| text != instruction);
    out
}

type Changed = Vec<(&'static str, String)>;

fn of_modifiers(base: &Parts, instruction: &str, vocabulary: &Vocabulary, seed: u64, out: &mut Changed) {
    let opcode = base.words[0].clone();
    let count = base.words.len();
    let mut push = |change, words: Vec<String>| {
        out.push((change, Parts { words, operands: base.operands.clone() }.text()));
    };
    for n in 1..count {
        let mut less = base.words.clone();
        let word = less.remove(n);
        push("modifier dropped", less.clone());
        for other in some(&vocabulary.instead(&opcode, &word), 4, seed, &format!("{instruction}{n}")) {
            let mut words = base.words.clone();
            words[n] = other.to_owned();
            push("modifier replaced", words);
        }
        let to = 1 + (hash(seed, &format!("{instruction} to {n}")) as usize) % (count - 1);
        less.insert(to, word);
        push("modifier moved", less);
    }
    if count > 1 {
        let n = 1 + (hash(seed, &format!("{instruction} twice")) as usize) % (count - 1);
        let mut words = base.words.clone();
        words.insert(n, words[n].clone());
        push("modifier repeated", words);
    }
    for other in some(&vocabulary.more(&opcode), 6, seed, instruction) {
        let mut words = base.words.clone();
        let at = 1 + (hash(seed, &format!("{instruction}{other}")) as usize) % count;
        words.insert(at, other.to_owned());
        push("modifier added", words);
    }
}

fn of_operands(base: &Parts, instruction: &str, seed: u64, out: &mut Changed) {
    let with = |operands: Vec<String>| Parts { words: base.words.clone(), operands }.text();
    let count = base.operands.len();
    for n in 0..count {
        let place = format!("{instruction}#{n}");
        let mut put = |change, text: String| {
            let mut operands = base.operands.clone();
            operands[n] = text;
            out.push((change, with(operands)));
        };
        let operand = &base.operands[n];
        match operand.as_bytes().first() {
            Some(b'[') => {
                for other in some(ADDRESSES, 5, seed, &place) {
                    put("another address", other.to_owned());
                }
                let inner = split(operand.trim_start_matches('[').trim_end_matches(']'));
                if let [base, parts] = inner.as_slice() {
                    for parts in vectors(parts, seed, &place) {
                        put("other coordinates", format!("[{base}, {parts}]"));
                    }
                    put("other coordinates", format!("[{base}]"));
                    for base in some(&["tref", "sref", "%r32_1", "svar"], 2, seed, &place) {
                        put("other coordinates", format!("[{base}, {parts}]"));
                    }
                }
            }
            Some(b'{') => {
                for other in vectors(operand, seed, &place) {
                    put("another vector", other);
                }
                for other in some(SCALARS, 3, seed, &place) {
                    put("another operand", other.to_owned());
                }
            }
            Some(b'0'..=b'9' | b'-') => {
                for other in some(NUMBERS, 8, seed, &place) {
                    put("another number", other.to_owned());
                }
                for other in some(SCALARS, 3, seed, &place) {
                    put("another operand", other.to_owned());
                }
            }
            _ => {
                for other in some(SCALARS, 6, seed, &place) {
                    put("another operand", other.to_owned());
                }
                for other in some(NUMBERS, 2, seed, &place) {
                    put("a number", other.to_owned());
                }
            }
        }
    }
    if let Some(last) = base.operands.last() {
        out.push(("operand dropped", with(base.operands[..count - 1].to_vec())));
        let mut more = base.operands.clone();
        more.push(last.clone());
        out.push(("operand added", with(more)));
        let n = (hash(seed, &format!("{instruction} swap")) as usize) % count;
        let mut swapped = base.operands.clone();
        swapped.swap(n, (n + 1) % count);
        out.push(("operands exchanged", with(swapped)));
    }
    for other in some(&["%r32_1", "%r64_1", "%p1", "0", "1", "[%r64_1]", "%r16_1"], 2, seed, instruction) {
        let mut more = base.operands.clone();
        more.push(other.to_owned());
        out.push(("operand added", with(more)));
    }
}

/// Vectors similar to this one.
fn vectors(vector: &str, seed: u64, place: &str) -> Vec<String> {
    let items = split(vector.trim_start_matches('{').trim_end_matches('}'));
    let join = |items: &[String]| format!("{{{}}}", items.join(", "));
    let Some(last) = items.last() else { return Vec::new() };
    let mut out = vec![join(&items[..items.len() - 1])];
    let mut more = items.clone();
    more.push(last.clone());
    out.push(join(&more));
    let mut double = items.clone();
    double.extend(items.clone());
    out.push(join(&double));
    out.push(join(&items[..items.len().div_ceil(2)]));
    for other in some(
        &["%r16_2", "%r32_2", "%r64_2", "%f32_1", "%f64_1", "%p1", "%s32_1", "%f16_1", "%f16x2_1"],
        3,
        seed,
        place,
    ) {
        out.push(join(&vec![other.to_owned(); items.len()]));
    }
    for other in some(&["_", "1", "0f3f800000", "%r16_2", "%r64_2", "%p1", "%tid.x"], 2, seed, place) {
        let mut one = items.clone();
        let n = (hash(seed, &format!("{place}{other}")) as usize) % items.len();
        one[n] = other.to_owned();
        out.push(join(&one));
    }
    out.retain(|v| v != "{}");
    out
}

/// The versions of PTX, from the first that supports today's hosts.
const VERSIONS: &[Version] = &[
    (2, 0),
    (2, 1),
    (2, 2),
    (2, 3),
    (3, 0),
    (3, 1),
    (3, 2),
    (4, 0),
    (4, 1),
    (4, 2),
    (4, 3),
    (5, 0),
    (5, 1),
    (6, 0),
    (6, 1),
    (6, 2),
    (6, 3),
    (6, 4),
    (6, 5),
    (7, 0),
    (7, 1),
    (7, 2),
    (7, 3),
    (7, 4),
    (7, 5),
    (7, 6),
    (7, 7),
    (7, 8),
    (8, 0),
    (8, 1),
    (8, 2),
    (8, 3),
    (8, 4),
    (8, 5),
    (8, 6),
    (8, 7),
    (8, 8),
    (9, 0),
    (9, 1),
    (9, 2),
    (9, 3),
    (9, 4),
    (9, 5),
];

/// The targets, and the PTX version that introduced each.
const TARGETS: &[(&str, Version)] = &[
    ("sm_20", (2, 0)),
    ("sm_30", (3, 0)),
    ("sm_32", (4, 0)),
    ("sm_35", (3, 1)),
    ("sm_50", (4, 0)),
    ("sm_52", (4, 1)),
    ("sm_53", (4, 2)),
    ("sm_60", (5, 0)),
    ("sm_61", (5, 0)),
    ("sm_70", (6, 0)),
    ("sm_72", (6, 1)),
    ("sm_75", (6, 3)),
    ("sm_80", (7, 0)),
    ("sm_86", (7, 1)),
    ("sm_87", (7, 4)),
    ("sm_88", (9, 0)),
    ("sm_89", (7, 8)),
    ("sm_90", (7, 8)),
    ("sm_90a", (8, 0)),
    ("sm_100", (8, 6)),
    ("sm_100a", (8, 6)),
    ("sm_100f", (8, 8)),
    ("sm_103", (8, 8)),
    ("sm_103a", (8, 8)),
    ("sm_103f", (8, 8)),
    ("sm_110", (9, 0)),
    ("sm_110a", (9, 0)),
    ("sm_110f", (9, 0)),
    ("sm_120", (8, 7)),
    ("sm_120a", (8, 7)),
    ("sm_120f", (8, 8)),
    ("sm_121", (8, 8)),
    ("sm_121a", (8, 8)),
    ("sm_121f", (8, 8)),
];

/// Other settings to try an instruction in: a sample of all pairs of target and version, half of them of the
/// newest version.
pub fn settings(instruction: &str, newest: Version, seed: u64) -> Vec<Setting> {
    let mut out = Vec::new();
    for (target, since) in TARGETS.iter().filter(|(_, since)| *since <= newest) {
        let versions: Vec<Version> =
            VERSIONS.iter().copied().filter(|v| v >= since && *v <= newest).collect();
        let chosen = |what: &str, one_of: u64| {
            hash(seed, &format!("{instruction}{target}{what}")).is_multiple_of(one_of)
        };
        if chosen("newest", 6) {
            out.push(Setting::new(newest, target));
        }
        if chosen("older", 6) {
            let pick = hash(seed, &format!("{instruction}{target}")) as usize % versions.len();
            out.push(Setting::new(versions[pick], target));
        }
    }
    out.sort();
    out.dedup();
    out
}
