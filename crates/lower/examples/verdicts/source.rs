//! The instructions to judge: each form of the grammar, each recorded one, and mutations of them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use crate::case::{Case, Setting, Version};
use crate::change::{self, Vocabulary};
use crate::choice::hash;
use crate::grammar::{self, Form, Line};

/// An unmutated instruction.
struct Base {
    origin: Arc<str>,
    instruction: String,
    /// A setting in which it is legal.
    setting: Setting,
}

fn forms() -> Vec<Form> {
    let lines = grammar::lines().into_iter();
    lines
        .filter_map(|l| if let Line::Instruction(_, forms) = l { Some(forms) } else { None })
        .flatten()
        .collect()
}

/// The PTX version that introduced a form.
fn since(form: &Form) -> Option<Version> {
    let (_, notes) = form.text.split_once(" | ")?;
    let (major, minor) = notes.split_whitespace().next()?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// A setting that supports the form.
fn setting_of(form: &Form, newest: Version) -> Setting {
    if let Some((version, arch)) = form.home() {
        let (major, minor) = version.split_once('.').expect("a version");
        let number = |s: &str| s.parse().expect("a number");
        return Setting::new((number(major), number(minor)), &format!("sm_{arch}"));
    }
    let since = form.text.split_once(" | ").and_then(|(_, notes)| notes.split_whitespace().nth(1));
    let target = match since.unwrap_or_default() {
        s if s.starts_with("100") => "sm_100a",
        s if s.starts_with("120") => "sm_120a",
        s if s.starts_with("101") || s.starts_with("110") => "sm_110a",
        _ => "sm_90a",
    };
    Setting::new(newest, target)
}

fn of_grammar(forms: &[Form], newest: Version) -> Vec<Base> {
    let mut out = Vec::new();
    for form in forms {
        let origin: Arc<str> = form.text.as_str().into();
        for modifiers in form.spellings() {
            for optional in [false, true] {
                if let Some(instruction) = form.instruction(&modifiers, optional) {
                    let instruction = instruction.replace(" ;", ";");
                    out.push(Base { origin: origin.clone(), instruction, setting: setting_of(form, newest) });
                }
            }
        }
    }
    out
}

/// A recorded body, renamed to the registers that cases have.
fn renamed(body: &str, sizes: &BTreeMap<String, u32>) -> String {
    let mut out = String::new();
    let mut rest = body;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let name = &rest[..end];
        rest = &rest[end..];
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        let number = digits.parse::<usize>().unwrap_or(name.len()) % 10;
        let letters = &name[..name.len() - digits.len()];
        match (sizes.get(letters), letters) {
            (Some(bits), _) => out += &format!("%r{bits}_{number}"),
            (None, "p") => out += &format!("%p{number}"),
            (None, "h") => out += &format!("%r16_{number}"),
            (None, "t" | "l" | "w" | "u" | "i") if name != "tid" => out += &format!("%r32_{number}"),
            (None, "q" | "v" | "m" | "s") => out += &format!("%r64_{number}"),
            _ => out += &format!("%{name}"),
        }
    }
    out + rest
}

fn statements(body: &str, sizes: &BTreeMap<String, u32>) -> Vec<String> {
    let body = renamed(body, sizes);
    body.split(';')
        .map(str::trim)
        .filter(|s| s.starts_with(|c: char| c.is_ascii_lowercase()))
        .map(|s| format!("{s};"))
        .collect()
}

/// Width in bits of the register that holds an input.
fn register_bits(t: hwtruth::instructions::InputType) -> u32 {
    use hwtruth::instructions::InputType as T;
    match t {
        T::I16 | T::F16 | T::BF16 => 16,
        T::I64 | T::F64 => 64,
        _ => 32,
    }
}

fn of_recordings(newest: Version) -> Vec<Base> {
    let mut out = Vec::new();
    let mut add = |origin: &str, body: &str, sizes: &BTreeMap<String, u32>| {
        let origin: Arc<str> = format!("recorded {origin}").into();
        for instruction in statements(body, sizes) {
            if !instruction.contains(':') || instruction.contains("::") {
                out.push(Base {
                    origin: origin.clone(),
                    instruction,
                    setting: Setting::new(newest, "sm_90a"),
                });
            }
        }
    };
    for form in hwtruth::instructions::forms().expect("the table of recorded forms") {
        let inputs =
            ["a", "b", "c", "e"].iter().zip(&form.inputs).map(|(n, t)| ((*n).to_owned(), register_bits(*t)));
        let outputs = ["d", "x", "y"].iter().zip(&form.outputs).map(|(n, bits)| ((*n).to_owned(), *bits));
        add(&form.name, &form.body, &inputs.chain(outputs).collect());
    }
    for form in hwtruth::matrix::forms().expect("the table of recorded matrix forms") {
        let inputs = form.inputs.iter().map(|i| (i.name.to_string(), i.ty.bytes() as u32 * 8));
        let result = [("d".to_owned(), form.bits as u32), ("s".to_owned(), 32)];
        add(&form.name, &form.body, &inputs.chain(result).collect());
    }
    out
}

/// All cases, in a fixed order. `plain` leaves out the mutations.
pub fn cases(newest: Version, seed: u64, plain: bool) -> Vec<Case> {
    let mut forms = forms();
    // The assembler cannot judge forms that it does not know yet.
    forms.retain(|f| since(f).is_none_or(|s| s <= newest));
    let mut words: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for form in &forms {
        let own = words.entry(form.opcode.clone()).or_default();
        own.extend(form.slots.iter().flat_map(|s| s.words.iter().cloned()));
    }
    let vocabulary = Vocabulary::new(words);
    let mut seen = HashSet::new();
    let mut bases = of_grammar(&forms, newest);
    bases.extend(of_recordings(newest));
    bases.retain(|b| seen.insert(b.instruction.clone()));
    let mut cases = Vec::new();
    let mut tried = HashSet::new();
    let mut add = |case: Case| {
        if tried.insert(hash(0, &case.name())) {
            cases.push(case);
        }
    };
    for base in &bases {
        let at = |setting: Setting, instruction: &str, change| Case {
            setting,
            instruction: instruction.to_owned(),
            origin: base.origin.clone(),
            change,
        };
        let home = base.setting.clone();
        add(at(home.clone(), &base.instruction, ""));
        for setting in change::settings(&base.instruction, newest, seed) {
            add(at(setting, &base.instruction, "another version or target"));
        }
        if plain {
            continue;
        }
        for (what, text) in change::changes(&base.instruction, &vocabulary, seed) {
            add(at(home.clone(), &text, what));
        }
    }
    cases
}
