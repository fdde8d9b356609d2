//! The forms of instructions: `forms/*.txt`. See `grammar/README.md` for the notation.

use crate::words::{Modifier, variant};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

/// A place in a form that a modifier can fill.
struct Slot {
    set: usize,
    optional: bool,
    is_type: bool,
    /// Index into `ORDERED` of the word's kind; `ORDERED.len()` if the order of such words does not matter.
    order: usize,
}

/// Kinds of words whose order matters: the first written fills the first slot of that kind, and so on.
const ORDERED: [&str; 3] = ["type", "space", "layout"];

/// The PTX version and the architecture from which something is legal.
type Since = (u8, u8, u16);
/// Words, each with the version and architecture from which it is legal if its set states them.
type Words = Vec<(usize, Option<Since>)>;

struct Form {
    opcode: usize,
    slots: Vec<Slot>,
    /// How many of the slots are parts of the instruction's name.
    name: usize,
    operands: Vec<String>,
    since: (u8, u8),
    /// The architectures with their suffixes, as Rust source; any one of them suffices.
    arches: Vec<String>,
    /// Words that this form accepts only from a certain version and architecture on.
    words: Vec<(usize, Since)>,
    gone: Since,
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

    /// The modifiers that a word stands for: itself, or everything that a `*` matches.
    fn words(&self, word: &str, at: &str) -> Vec<usize> {
        let word = word.trim_start_matches('.');
        if let Some((head, tail)) = word.split_once('*') {
            let fits = |m: &&Modifier| m.name.starts_with(head) && m.name.ends_with(tail);
            let found: Vec<_> =
                self.modifiers.iter().filter(fits).map(|m| self.index[m.name.as_str()]).collect();
            assert!(!found.is_empty(), "{at}: no modifier matches .{word}");
            return found;
        }
        vec![*self.index.get(word).unwrap_or_else(|| panic!("{at}: .{word} is not in modifiers.txt"))]
    }

    fn is_type(&self, words: &[usize]) -> bool {
        words.iter().all(|w| self.modifiers[*w].kind == "type")
    }

    fn order(&self, words: &[usize]) -> usize {
        let all = |kind: &str| words.iter().all(|w| self.modifiers[*w].kind == kind);
        ORDERED.iter().position(|k| all(k)).unwrap_or(ORDERED.len())
    }
}

/// The tables as Rust source.
pub fn generate(
    files: impl Iterator<Item = (String, String)>,
    opcodes: &[String],
    modifiers: &[Modifier],
) -> String {
    let index = modifiers.iter().enumerate().map(|(i, m)| (m.name.as_str(), i)).collect();
    let mut tables = Tables { modifiers, index, sets: Vec::new() };
    let mut forms = Vec::new();
    for (path, text) in files {
        let mut sets: HashMap<String, Words> = HashMap::new();
        for (number, line) in text.lines().enumerate() {
            let at = format!("{path}:{}", number + 1);
            let line = line.split('#').next().unwrap_or("").trim();
            if line.is_empty() {
                continue;
            }
            if let Some((name, words)) = line.split_once('=').filter(|_| line.starts_with('.')) {
                let of = |w: &str| {
                    let (word, since) = match w.split_once('@') {
                        Some((word, since)) => (word, Some(crate::words::since(&since.replace(':', " ")))),
                        None => (w, None),
                    };
                    tables.words(word, &at).into_iter().map(move |i| (i, since)).collect::<Vec<_>>()
                };
                let words = words.split_whitespace().flat_map(of).collect();
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

/// Expands `{.x.y}`: one line with it, one without.
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
    sets: &HashMap<String, Words>,
    opcodes: &[String],
    tables: &mut Tables<'_>,
) -> Form {
    let (syntax, notes) = line.split_once(" |").unwrap_or((line, ""));
    let syntax = syntax.trim();
    let (head, operands_text) = syntax.split_once(char::is_whitespace).unwrap_or((syntax, ""));
    let end = head.find(['.', '{']).unwrap_or(head.len());
    let (name, mut rest) = head.split_at(end);
    let opcode =
        opcodes.iter().position(|o| o == name).unwrap_or_else(|| panic!("{at}: {name} is not an opcode"));
    let mut slots = Vec::new();
    let mut named = 0;
    let mut dated = Vec::new();
    while !rest.is_empty() {
        if let Some(tail) = rest.strip_prefix('/') {
            (named, rest) = (slots.len(), tail);
            continue;
        }
        let optional = rest.starts_with('{');
        let body = rest.trim_start_matches('{').trim_start_matches('.');
        let end = body.find(['.', '{', '}', '/']).unwrap_or(body.len());
        let (word, tail) = body.split_at(end);
        rest = if optional {
            tail.strip_prefix('}').unwrap_or_else(|| panic!("{at}: {{ is not closed"))
        } else {
            tail
        };
        let plain = || tables.words(word, at).into_iter().map(|w| (w, None)).collect();
        let words = sets.get(word).cloned().unwrap_or_else(plain);
        dated.extend(words.iter().filter_map(|(w, since)| Some((*w, (*since)?))));
        let words: Vec<usize> = words.into_iter().map(|(w, _)| w).collect();
        let (is_type, order) = (tables.is_type(&words), tables.order(&words));
        slots.push(Slot { set: tables.set(words), optional, is_type, order });
    }
    let types = slots.iter().filter(|s| s.is_type && !s.optional).count();
    let operands =
        operands_of(operands_text).iter().enumerate().map(|(i, o)| operand(i, o, types, at)).collect();
    let (since, gone) = notes.split_once('<').unwrap_or((notes, ""));
    let since = since.trim();
    Form {
        opcode,
        slots,
        name: named,
        operands,
        since: if since.is_empty() { (1, 0) } else { crate::words::version(since) },
        arches: since.split_whitespace().nth(1).unwrap_or("0").split(',').map(|a| arch(a, at)).collect(),
        words: dated,
        gone: if gone.is_empty() { (255, 0, 0) } else { crate::words::since(&gone.replace('/', " ")) },
        text: shown(head, operands_text),
    }
}

/// A form as messages show it: without the marks that state versions and architectures.
fn shown(head: &str, operands: &str) -> String {
    let words = operands.split_whitespace().map(|word| {
        let (word, dated) = word.split_once('@').unwrap_or((word, ""));
        let close = if dated.contains('}') { "}" } else { "" };
        let comma = if dated.ends_with(',') { "," } else { "" };
        format!("{word}{close}{comma}")
    });
    std::iter::once(head.replace('/', "")).chain(words).collect::<Vec<_>>().join(" ")
}

/// `90`, `90a` or `100f` as Rust source.
fn arch(text: &str, at: &str) -> String {
    let number = text.trim_end_matches(['a', 'f']);
    let suffix = match &text[number.len()..] {
        "" => "None",
        "a" => "Specific",
        "f" => "Family",
        _ => panic!("{at}: {text} is not an architecture"),
    };
    assert!(number.parse::<u16>().is_ok(), "{at}: {text} is not an architecture");
    format!("({number}, ArchSuffix::{suffix})")
}

/// The operands of a form with their braces: `a`, `{, b}`, `{!}c`.
fn operands_of(text: &str) -> Vec<String> {
    // Cuts `a{, b}{, c}` before each `{,` and at each comma outside brackets.
    let text = text
        .replace("{, ", ", ?")
        .replace(['}'], "}")
        .replace("{!}", "!")
        .replace("{|p}", "|")
        .replace("{|p@", "|@")
        .replace("{|q}", "|");
    text.split(',').map(|o| o.trim().trim_end_matches('}').to_owned()).filter(|o| !o.is_empty()).collect()
}

/// One operand as a Rust expression.
fn operand(index: usize, text: &str, types: usize, at: &str) -> String {
    let optional = text.starts_with('?');
    let text = text.trim_start_matches('?');
    let negate = text.starts_with('!');
    let text = text.trim_start_matches('!');
    let since = |text: &str| crate::words::since(&text.replace(':', " "));
    // The version and architecture from which an optional operand, or its predicate, is legal.
    let (text, since) = match text.split_once('@') {
        Some((text, from)) => (text, since(from)),
        None => (text, (1, 0, 0)),
    };
    let paired = text.ends_with("|p");
    let pair = text.ends_with('|') || paired;
    let text = text.trim_end_matches("|p").trim_end_matches('|');
    let (text, values) = match text.strip_suffix(')').and_then(|t| t.split_once('(')) {
        Some((text, values)) => (text, ranges(values, at)),
        None => (text, String::new()),
    };
    let slot = |n: usize| {
        assert!(n < types, "{at}: operand {text} has no type");
        format!("TypeRef::Written({n})")
    };
    let last = || slot(types.saturating_sub(1));
    let fixed = |name: &str| format!("TypeRef::Fixed(ScalarType::{})", variant(name));
    let hint = text.starts_with("policy:") && optional;
    let register = text.ends_with('!');
    let dest = index == 0 && matches!(text.split(':').next(), Some("d" | "f" | "p" | "r"));
    let none = || "TypeRef::None".to_owned();
    // The number of registers in braces: 0 if `.v2`, `.v4` and `.v8` or the matrix's dimensions give it.
    let mut count = 0;
    // A word of one class may look like the name of another; a class after a colon decides.
    let (class, ty) = match text.split_once(':') {
        None if text == "[t]" => ("Coordinates", none()),
        None if text.starts_with('[') => ("Address", none()),
        None => match text {
            "p" | "q" => ("Value", fixed("pred")),
            "imm" => ("Immediate", none()),
            "label" => ("Label", none()),
            "d" | "f" if index == 0 => ("Value", slot(0)),
            "a" | "b" | "c" | "d" | "e" | "t" => ("Value", last()),
            _ => panic!("{at}: operand {text} has an unknown class"),
        },
        Some((_, class)) => match class.trim_end_matches('!') {
            "any" => ("Any", none()),
            "sink" => ("Sink", none()),
            "imm" => ("Immediate", none()),
            "mov" => ("Mov", slot(0)),
            "mem" => ("Memory", last()),
            "mem256" => ("Memory256", last()),
            "cvt" => ("Convert", if dest { slot(0) } else { last() }),
            "video" => ("Video", fixed("b32")),
            "offsets" => ("Offsets", none()),
            "gradient" => ("Gradient", none()),
            "wide" => ("Value", slot(0).replace("Written", "Wide")),
            "1" => ("Value", slot(0)),
            "2" => ("Value", slot(1)),
            "vec" => ("Vector", last()),
            "vec1" => ("Vector", slot(0)),
            class => {
                let of = |of: &str| of.parse::<usize>().map_or_else(|_| fixed(of), |n| slot(n - 1));
                let after = |word: &str| class.strip_prefix(word);
                match (after("frag"), after("each"), after("cvt"), class.split_once('*')) {
                    (Some(ty), ..) => ("Fragment", of(ty)),
                    (_, Some(ty), ..) => ("Each", of(ty)),
                    (_, _, Some(ty), _) => ("Convert", fixed(ty)),
                    (.., Some((ty, n))) => {
                        count = n.parse().unwrap_or_else(|_| panic!("{at}: {class} has no number"));
                        ("Vector", fixed(ty))
                    }
                    _ => ("Value", fixed(class)),
                }
            }
        },
    };
    format!(
        "OperandForm {{ class: Class::{class}, ty: {ty}, count: {count}, values: &[{values}], optional: {optional}, pair: {pair}, \
         paired: {paired}, negate: {negate}, register: {register}, dest: {dest}, hint: {hint}, since: {since:?} }}"
    )
}

/// `0..15`, `32..1024/32`, `-1|1` as Rust source: first, last and step of each.
fn ranges(text: &str, at: &str) -> String {
    let number = |s: &str| s.parse::<i64>().unwrap_or_else(|_| panic!("{at}: {s} is not a number"));
    let one = |range: &str| {
        let (range, step) = range.split_once('/').unwrap_or((range, "1"));
        let (first, last) = range.split_once("..").unwrap_or((range, range));
        let last = if last.is_empty() { i64::MAX } else { number(last) };
        let first = if first.is_empty() { i64::MIN } else { number(first) };
        format!("({first}, {last}, {})", number(step))
    };
    text.split('|').map(one).collect::<Vec<_>>().join(", ")
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
        // `Form::assign` keeps the filled ones as the bits of a word.
        assert!(form.slots.len() <= 64, "{} has more than 64 places for modifiers", form.text);
        let (slot, operand) = (slots.len(), operands.len());
        slots.extend(
            form.slots
                .iter()
                .map(|s| format!("Slot {{ set: {}, optional: {}, order: {} }}", s.set, s.optional, s.order)),
        );
        operands.extend(form.operands.iter().cloned());
        rows.push(format!(
            "Form {{ slots: ({slot}, {}), name: {}, operands: ({operand}, {}), since: {:?}, arches: &[{}], words: &[{}], gone: {:?}, text: {:?} }}",
            slots.len(),
            form.name,
            operands.len(),
            form.since,
            form.arches.join(", "),
            form.words.iter().map(|(w, s)| format!("(Modifier::{}, {s:?})", variant(&tables.modifiers[*w].name))).collect::<Vec<_>>().join(", "),
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
