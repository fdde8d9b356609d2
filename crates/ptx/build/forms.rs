//! The forms of instructions: `forms/*.txt`. See `grammar/README.md` for the notation.

use crate::words::{Modifier, variant};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

/// Places of a form where a modifier stands.
struct Slot {
    set: usize,
    optional: bool,
    is_type: bool,
}

struct Form {
    opcode: usize,
    slots: Vec<Slot>,
    operands: Vec<String>,
    since: (u8, u8, u16),
    specific: bool,
    exact: bool,
    gone: (u8, u8, u16),
    text: String,
}

struct Tables<'m> {
    modifiers: &'m [Modifier],
    index: HashMap<&'m str, usize>,
    /// Distinct sets of modifiers, as sorted indices.
    sets: Vec<Vec<usize>>,
}

impl Tables<'_> {
    fn set(&mut self, mut words: Vec<usize>) -> usize {
        words.sort_unstable();
        words.dedup();
        self.sets.iter().position(|s| *s == words).unwrap_or_else(|| {
            self.sets.push(words);
            self.sets.len() - 1
        })
    }

    /// The modifiers that a word means: itself, or all that a `*` matches.
    fn words(&self, word: &str, at: &str) -> Vec<usize> {
        let word = word.trim_start_matches('.');
        if let Some((head, tail)) = word.split_once('*') {
            let fits = |m: &&Modifier| m.name.starts_with(head) && m.name.ends_with(tail);
            let found: Vec<_> =
                self.modifiers.iter().filter(fits).map(|m| self.index[m.name.as_str()]).collect();
            assert!(!found.is_empty(), "{at}: nothing is like .{word}");
            return found;
        }
        vec![*self.index.get(word).unwrap_or_else(|| panic!("{at}: .{word} is not in modifiers.txt"))]
    }

    fn is_type(&self, words: &[usize]) -> bool {
        words.iter().all(|w| self.modifiers[*w].kind == "type")
    }
}

/// The tables as Rust.
pub fn generate(
    files: impl Iterator<Item = (String, String)>,
    opcodes: &[String],
    modifiers: &[Modifier],
) -> String {
    let index = modifiers.iter().enumerate().map(|(i, m)| (m.name.as_str(), i)).collect();
    let mut tables = Tables { modifiers, index, sets: Vec::new() };
    let mut forms = Vec::new();
    for (path, text) in files {
        let mut sets: HashMap<String, Vec<usize>> = HashMap::new();
        for (number, line) in text.lines().enumerate() {
            let at = format!("{path}:{}", number + 1);
            let line = line.split('#').next().unwrap_or("").trim();
            if line.is_empty() {
                continue;
            }
            if let Some((name, words)) = line.split_once('=').filter(|_| line.starts_with('.')) {
                let words = words.split_whitespace().flat_map(|w| tables.words(w, &at)).collect();
                sets.insert(name.trim().trim_start_matches('.').to_owned(), words);
                continue;
            }
            for line in groups(line) {
                forms.push(form(&line, &at, &sets, opcodes, &mut tables));
            }
        }
    }
    forms.sort_by_key(|f| f.opcode);
    let used: Vec<usize> =
        forms.iter().flat_map(|f| &f.slots).flat_map(|s| tables.sets[s.set].clone()).collect();
    let declared = ["type", "space"];
    for (i, modifier) in modifiers.iter().enumerate() {
        let known = used.contains(&i) || declared.contains(&modifier.kind.as_str());
        assert!(known, "modifiers.txt: no form uses .{}", modifier.name);
    }
    for (i, opcode) in opcodes.iter().enumerate() {
        assert!(forms.iter().any(|f| f.opcode == i), "opcodes.txt: {opcode} has no form");
    }
    emit(&forms, &tables, opcodes.len())
}

/// `{.x.y}` stands for both with and without.
fn groups(line: &str) -> Vec<String> {
    let group = line.match_indices("{.").find_map(|(start, _)| {
        let end = start + line[start..].find('}')?;
        let inner = &line[start + 1..end];
        (inner.matches('.').count() > 1).then(|| (start, end, inner.to_owned()))
    });
    let Some((start, end, inner)) = group else { return vec![line.to_owned()] };
    let with = format!("{}{inner}{}", &line[..start], &line[end + 1..]);
    let without = format!("{}{}", &line[..start], &line[end + 1..]);
    [with, without].iter().flat_map(|l| groups(l)).collect()
}

fn form(
    line: &str,
    at: &str,
    sets: &HashMap<String, Vec<usize>>,
    opcodes: &[String],
    tables: &mut Tables<'_>,
) -> Form {
    let (syntax, notes) = line.split_once(" |").unwrap_or((line, ""));
    let syntax = syntax.trim();
    let (head, operands) = syntax.split_once(char::is_whitespace).unwrap_or((syntax, ""));
    let end = head.find(['.', '{']).unwrap_or(head.len());
    let (name, mut rest) = head.split_at(end);
    let opcode =
        opcodes.iter().position(|o| o == name).unwrap_or_else(|| panic!("{at}: {name} is no opcode"));
    let mut slots = Vec::new();
    while !rest.is_empty() {
        let optional = rest.starts_with('{');
        let body = rest.trim_start_matches('{').trim_start_matches('.');
        let end = body.find(['.', '{', '}']).unwrap_or(body.len());
        let (word, tail) = body.split_at(end);
        rest = if optional {
            tail.strip_prefix('}').unwrap_or_else(|| panic!("{at}: {{ is open"))
        } else {
            tail
        };
        let words = sets.get(word).cloned().unwrap_or_else(|| tables.words(word, at));
        let is_type = tables.is_type(&words);
        slots.push(Slot { set: tables.set(words), optional, is_type });
    }
    let types = slots.iter().filter(|s| s.is_type && !s.optional).count();
    let operands = operands_of(operands).iter().enumerate().map(|(i, o)| operand(i, o, types, at)).collect();
    let (since, gone) = notes.split_once('<').unwrap_or((notes, ""));
    let since = since.trim();
    Form {
        opcode,
        slots,
        operands,
        specific: since.trim_end_matches('!').ends_with('a'),
        exact: since.ends_with('!'),
        since: if since.is_empty() { (1, 0, 0) } else { crate::words::since(since) },
        gone: if gone.is_empty() { (255, 0, 0) } else { crate::words::since(&gone.replace('/', " ")) },
        text: syntax.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

/// The operands of a form with their braces: `a`, `{, b}`, `{!}c`.
fn operands_of(text: &str) -> Vec<String> {
    // `a{, b}{, c}` is cut before each `{,` and at each comma outside of brackets.
    let text = text
        .replace("{, ", ", ?")
        .replace(['}'], "}")
        .replace("{!}", "!")
        .replace("{|p}", "|")
        .replace("{|q}", "|");
    text.split(',').map(|o| o.trim().trim_end_matches('}').to_owned()).filter(|o| !o.is_empty()).collect()
}

/// One operand as a Rust expression.
fn operand(index: usize, text: &str, types: usize, at: &str) -> String {
    let optional = text.starts_with('?');
    let text = text.trim_start_matches('?');
    let negate = text.starts_with('!');
    let text = text.trim_start_matches('!');
    let pair = text.ends_with('|');
    let text = text.trim_end_matches('|');
    let slot = |n: usize| {
        assert!(n < types, "{at}: operand {text} has no type");
        format!("TypeRef::Written({n})")
    };
    let last = || slot(types.saturating_sub(1));
    let dest = index == 0 && matches!(text.split(':').next(), Some("d" | "f" | "p" | "r"));
    // A word in one class may look like another's name; a class after a colon decides.
    let (class, ty) = match text.split_once(':') {
        None if text.starts_with('[') => ("Address", "TypeRef::None".to_owned()),
        None => match text {
            "p" | "q" => ("Value", "TypeRef::Fixed(ScalarType::Pred)".to_owned()),
            "imm" => ("Immediate", "TypeRef::None".to_owned()),
            "label" => ("Label", "TypeRef::None".to_owned()),
            "d" | "f" if index == 0 => ("Value", slot(0)),
            "a" | "b" | "c" | "d" | "e" | "t" => ("Value", last()),
            _ => panic!("{at}: what is operand {text}?"),
        },
        Some((_, class)) => match class {
            "any" => ("Any", "TypeRef::None".to_owned()),
            "mov" => ("Mov", slot(0)),
            "mem" => ("Memory", last()),
            "cvt" => ("Convert", if dest { slot(0) } else { last() }),
            "video" => ("Video", "TypeRef::Fixed(ScalarType::B32)".to_owned()),
            "wide" => ("Value", slot(0).replace("Written", "Wide")),
            "1" => ("Value", slot(0)),
            "2" => ("Value", slot(1)),
            fixed => ("Value", format!("TypeRef::Fixed(ScalarType::{})", variant(fixed))),
        },
    };
    format!(
        "OperandForm {{ class: Class::{class}, ty: {ty}, optional: {optional}, pair: {pair}, negate: {negate}, dest: {dest} }}"
    )
}

fn emit(forms: &[Form], tables: &Tables<'_>, opcodes: usize) -> String {
    let words = tables.modifiers.len().div_ceil(64);
    let mut out = String::new();
    let bits = |set: &Vec<usize>| {
        let mut bits = vec![0_u64; words];
        set.iter().for_each(|w| bits[w / 64] |= 1 << (w % 64));
        format!("{bits:?}")
    };
    let sets: Vec<String> = tables.sets.iter().map(bits).collect();
    let _ =
        writeln!(out, "pub(crate) static SETS: [[u64; {words}]; {}] = [{}];", sets.len(), sets.join(",\n"));
    let (mut slots, mut operands, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    let mut ranges: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for (i, form) in forms.iter().enumerate() {
        let range = ranges.entry(form.opcode).or_insert((i, i));
        range.1 = i + 1;
        let (slot, operand) = (slots.len(), operands.len());
        slots.extend(
            form.slots.iter().map(|s| {
                format!("Slot {{ set: {}, optional: {}, is_type: {} }}", s.set, s.optional, s.is_type)
            }),
        );
        operands.extend(form.operands.iter().cloned());
        rows.push(format!(
            "Form {{ slots: ({slot}, {}), operands: ({operand}, {}), since: {:?}, specific: {}, exact: {}, gone: {:?}, text: {:?} }}",
            slots.len(),
            operands.len(),
            form.since,
            form.specific,
            form.exact,
            form.gone,
            form.text
        ));
    }
    let mut table = |name: &str, ty: &str, rows: &[String]| {
        let _ =
            writeln!(out, "pub(crate) static {name}: [{ty}; {}] = [\n{}\n];", rows.len(), rows.join(",\n"));
    };
    table("SLOTS", "Slot", &slots);
    table("OPERANDS", "OperandForm", &operands);
    table("FORMS", "Form", &rows);
    let ranges: Vec<String> =
        (0..opcodes).map(|o| format!("{:?}", ranges.get(&o).copied().unwrap_or((0, 0)))).collect();
    table("FORMS_OF", "(u16, u16)", &ranges);
    out
}
