//! Reads the grammar (`crates/ptx/grammar`) and writes instructions of its forms.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A place for a modifier: the words that are legal there.
#[derive(Clone, Debug)]
pub struct Slot {
    pub words: Vec<String>,
    pub optional: bool,
}

/// A form of an instruction.
#[derive(Clone, Debug)]
pub struct Form {
    pub opcode: String,
    pub slots: Vec<Slot>,
    /// Operands as the grammar writes them, optional ones with a leading `?`.
    pub operands: Vec<String>,
    /// The grammar's line.
    pub text: String,
    /// PTX version and architecture from which, both together, it is illegal.
    pub gone: Option<(u32, u32, u32)>,
    /// Legal only on architectures with this suffix.
    pub suffix: Option<String>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../ptx/grammar")
}

/// The words of `modifiers.txt`, and which of them are types.
fn words() -> &'static (Vec<String>, Vec<String>) {
    static WORDS: LazyLock<(Vec<String>, Vec<String>)> = LazyLock::new(read_words);
    &WORDS
}

fn read_words() -> (Vec<String>, Vec<String>) {
    let text = std::fs::read_to_string(folder().join("modifiers.txt")).expect("modifiers.txt can be read");
    let (mut all, mut types, mut section) = (Vec::new(), Vec::new(), String::new());
    for line in text.lines().map(|l| l.split('#').next().unwrap_or_default().trim()) {
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']).to_owned();
            continue;
        }
        for word in line.split_whitespace() {
            let word = word.split('@').next().unwrap_or(word).trim_end_matches('+').to_owned();
            if section == "type" {
                types.push(word.clone());
            }
            all.extend(series(&word));
        }
    }
    (all, types)
}

/// Expands `m64n{8..256+8}k16` to one word per step.
fn series(word: &str) -> Vec<String> {
    let parts = word.split_once('{').and_then(|(head, rest)| {
        let (range, tail) = rest.split_once('}')?;
        let (from, rest) = range.split_once("..")?;
        let (to, step) = rest.split_once('+').unwrap_or((rest, "1"));
        let number = |s: &str| s.parse::<usize>().ok();
        Some((head, number(from)?, number(to)?, number(step)?, tail))
    });
    let Some((head, from, to, step, tail)) = parts else { return vec![word.to_owned()] };
    (from..=to).step_by(step).map(|n| format!("{head}{n}{tail}")).collect()
}

/// Expands `{.x.y}`: one line with it, one without.
fn groups(line: &str) -> Vec<String> {
    let found = line.match_indices("{.").find_map(|(start, _)| {
        let end = start + line[start..].find('}')?;
        (line[start + 1..end].matches('.').count() > 1).then_some((start, end))
    });
    let Some((start, end)) = found else { return vec![line.to_owned()] };
    let with = format!("{}{}{}", &line[..start], &line[start + 1..end], &line[end + 1..]);
    let without = format!("{}{}", &line[..start], &line[end + 1..]);
    [with, without].iter().flat_map(|l| groups(l)).collect()
}

fn slots(head: &str, sets: &HashMap<String, Vec<String>>) -> Vec<Slot> {
    let mut rest = head;
    let mut slots = Vec::new();
    while !rest.is_empty() {
        let optional = rest.starts_with('{');
        let body = rest.trim_start_matches('{').trim_start_matches('.');
        let end = body.find(['.', '{', '}', '/']).unwrap_or(body.len());
        let word = &body[..end];
        rest = body[end..].trim_start_matches(['}', '/']);
        slots
            .push(Slot { words: sets.get(word).cloned().unwrap_or_else(|| vec![word.to_owned()]), optional });
    }
    slots
}

/// A line of the grammar.
pub enum Line {
    /// The manual's section that the following lines belong to.
    Title(String),
    /// A set of words, as written.
    Set(String),
    /// An instruction as written, and its forms: two if a group of modifiers is optional.
    Instruction(String, Vec<Form>),
}

/// Every line of every file of the grammar, in order.
pub fn lines() -> Vec<Line> {
    let (all, _) = words();
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder().join("forms"))
        .expect("the grammar has forms")
        .map(|e| e.expect("an entry").path())
        .collect();
    files.sort();
    let mut lines = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
        let mut sets: HashMap<String, Vec<String>> = HashMap::new();
        for line in text.lines() {
            if let Some(title) = line.strip_prefix("# ") {
                lines.push(Line::Title(title.to_owned()));
                continue;
            }
            let line = line.split('#').next().unwrap_or_default().trim();
            if let Some((name, list)) = line.split_once('=').filter(|_| line.starts_with('.')) {
                let expand = |w: &str| match w.trim_start_matches('.').split_once('*') {
                    Some((head, tail)) => {
                        all.iter().filter(|a| a.starts_with(head) && a.ends_with(tail)).cloned().collect()
                    }
                    None => vec![w.trim_start_matches('.').to_owned()],
                };
                let name = name.trim().trim_start_matches('.').to_owned();
                // The versions of words do not matter here.
                let words = list.split_whitespace().map(|w| w.split('@').next().unwrap_or(w));
                sets.insert(name, words.flat_map(expand).collect());
                lines.push(Line::Set(squeeze(line)));
            } else if !line.is_empty() {
                let forms = groups(line).iter().map(|l| form(l, &sets)).collect();
                lines.push(Line::Instruction(squeeze(line), forms));
            }
        }
    }
    lines
}

/// Operands without the marks that state versions.
fn undated(operands: &str) -> String {
    let mut parts = operands.split('@');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.find('}').map_or("", |end| &part[end..]));
    }
    out
}

/// The line with single blanks, without the mark after the instruction's name.
fn squeeze(line: &str) -> String {
    let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    if let Some(head) = words.first_mut() {
        *head = head.replace('/', "");
    }
    undated(&words.join(" "))
}

fn form(line: &str, sets: &HashMap<String, Vec<String>>) -> Form {
    let (syntax, notes) = line.split_once(" |").unwrap_or((line, ""));
    let (head, operands) = syntax.trim().split_once(char::is_whitespace).unwrap_or((syntax.trim(), ""));
    let end = head.find(['.', '{']).unwrap_or(head.len());
    let since = notes.split('<').next().unwrap_or_default().split_whitespace().nth(1).unwrap_or_default();
    let operands =
        undated(operands).replace("{, ", ", ?").replace("{!}", "").replace("{|p}", "|").replace("{|q}", "|");
    Form {
        opcode: head[..end].to_owned(),
        slots: slots(&head[end..], sets),
        operands: operands
            .split(',')
            .map(|o| o.trim().trim_end_matches('}').to_owned())
            .filter(|o| !o.is_empty())
            .collect(),
        text: squeeze(line),
        gone: notes.split_once('<').map(|(_, gone)| {
            let number = |s: &str| s.trim().parse::<u32>().expect("a number");
            let (version, arch) = gone.split_once('/').expect("a version and an architecture");
            let (major, minor) = version.split_once('.').expect("a version");
            (number(major), number(minor), number(arch))
        }),
        suffix: since.split(',').next().filter(|s| s.ends_with(['a', 'f'])).map(str::to_owned),
    }
}

impl Form {
    /// For a form that was removed: a version and an architecture that still have it.
    pub fn home(&self) -> Option<(String, String)> {
        // Either an earlier version, or an earlier architecture.
        self.gone.map(|gone| match gone {
            (1, 0, arch) => ("1.2".to_owned(), if arch <= 20 { "13" } else { "60" }.to_owned()),
            (major, minor, arch) => {
                let since = self.text.split(" | ").nth(1).and_then(|n| n.split_whitespace().nth(1));
                let since = since.and_then(|a| a.parse::<u32>().ok()).unwrap_or(0);
                let target = if arch <= 10 { "10".to_owned() } else { since.max(60).to_string() };
                (format!("{major}.{}", minor - 1), target)
            }
        })
    }

    /// Modifiers to try: every word of every slot, while the other slots hold their first word or are left
    /// out; and all pairs of types.
    pub fn spellings(&self) -> Vec<Vec<String>> {
        let (_, types) = words();
        let is_type = |s: &Slot| s.words.iter().all(|w| types.contains(w));
        let base: Vec<Option<usize>> = self.slots.iter().map(|s| (!s.optional).then_some(0)).collect();
        let mut picks = vec![base.clone()];
        for (n, slot) in self.slots.iter().enumerate() {
            for w in 0..slot.words.len() {
                let mut pick = base.clone();
                pick[n] = Some(w);
                picks.push(pick.clone());
                let others = self.slots.iter().enumerate().skip(n + 1);
                let others = others.filter(|(_, o)| is_type(o) || (!o.optional && !is_type(slot)));
                for (m, other) in others {
                    for x in 0..other.words.len() {
                        pick[m] = Some(x);
                        picks.push(pick.clone());
                    }
                    pick[m] = base[m];
                }
            }
        }
        picks.sort();
        picks.dedup();
        let word = |(s, p): (&Slot, &Option<usize>)| p.map(|p| s.words[p].clone());
        picks.iter().map(|p| self.slots.iter().zip(p).filter_map(word).collect()).collect()
    }

    /// An instruction with these modifiers; `None` if its operands cannot be generated.
    pub fn instruction(&self, modifiers: &[String], optional: bool) -> Option<String> {
        let (_, all_types) = words();
        let types: Vec<&String> = modifiers.iter().filter(|m| all_types.contains(m)).collect();
        let count = modifiers.iter().find_map(|m| m.strip_prefix('v')?.parse::<usize>().ok()).unwrap_or(1);
        let first = types.first().map_or("b32", |t| t.as_str());
        let last = types.last().map_or("b32", |t| t.as_str());
        let has = |w: &str| modifiers.iter().any(|m| m == w);
        if let Some(operands) = super::matrix::operands(&self.opcode, modifiers, optional) {
            let dots: String = modifiers.iter().map(|m| format!(".{m}")).collect();
            return (!operands.is_empty()).then(|| format!("{}{dots} {operands};", self.opcode));
        }
        if let Some(operands) = self.texture_operands(modifiers, optional, last, count) {
            let dots: String = modifiers.iter().map(|m| format!(".{m}")).collect();
            return Some(format!("{}{dots} {operands};", self.opcode));
        }
        let mut operands = Vec::new();
        for (n, operand) in self.operands.iter().enumerate() {
            if operand.starts_with('?') && !optional {
                continue;
            }
            let operand = operand.trim_start_matches('?');
            // A cache policy is present exactly if `.L2::cache_hint` is.
            if operand.starts_with("policy") && self.opcode != "createpolicy" && !has("L2::cache_hint") {
                continue;
            }
            let paired = operand.ends_with("|p");
            let pair = operand.ends_with('|') || paired;
            let name = operand.trim_end_matches("|p").trim_end_matches('|');
            let (name, _) = name.split_once('(').unwrap_or((name, ""));
            let (name, class) = name.split_once(':').unwrap_or((name, ""));
            let class = class.trim_end_matches('!');
            let dest = n == 0 && ["d", "f", "p", "r"].contains(&name);
            let text = match (name, class) {
                (_, _) if operand.contains("(32../32)") => "64".to_owned(),
                ("label", _) if self.opcode == "brx" => "targets".to_owned(),
                ("label", _) => "label".to_owned(),
                (_, "any") if self.opcode == "call" && n == 0 => "callee".to_owned(),
                (_, "any") if self.opcode == "call" => return None,
                ("imm", _) if self.opcode == "cp" => "16".to_owned(),
                (_, "imm") if operand.contains("(128)") => "128".to_owned(),
                (_, "imm") if operand.contains("(0)") => "0".to_owned(),
                (_, "imm") if operand.contains("(24..") => "24".to_owned(),
                ("imm", _) | (_, "imm") => "1".to_owned(),
                ("[t]", _) => tensor(modifiers),
                (_, "offsets") => offsets(modifiers),
                ("[a]", _) if self.opcode == "tcgen05" => "[%r32_9]".to_owned(),
                ("[a]" | "[d]" | "[s]" | "[m]", _) => address(modifiers).to_owned(),
                ("p" | "q", "") => "%p1".to_owned(),
                (_, "mem" | "mem256") if count > 1 => vector(last, count, n),
                (_, "mem") => register(last, n),
                (_, "mov") => register(first, n),
                (_, "any" | "vec") if count > 1 => vector(last, count, n),
                (_, "vec") => register(last, n),
                (_, "sink") => "_".to_owned(),
                (_, counted) if counted.contains('*') => {
                    let (ty, count) = counted.split_once('*')?;
                    vector(ty, count.parse().ok()?, n)
                }
                (_, "any") => register("b64", n),
                (_, "cvt") => register(if dest { first } else { last }, n),
                (_, class) if class.starts_with("cvt") => register(&class[3..], n),
                (_, "video") => register("b32", n),
                (_, "wide") => register(if first.ends_with("16") { "b32" } else { "b64" }, n),
                (_, "1") => register(first, n),
                (_, "2") => register(types.get(1)?, n),
                (_, "") if dest => register(first, n),
                (_, "") => register(last, n),
                (_, fixed) => register(fixed, n),
            };
            operands.push(if paired || (pair && optional) { format!("{text}|%p2") } else { text });
        }
        let dots: String = modifiers.iter().map(|m| format!(".{m}")).collect();
        Some(format!("{}{dots} {};", self.opcode, operands.join(", ")))
    }
}

impl Form {
    /// The operands of texture and surface accesses: coordinates in the brackets, then those that the level
    /// requires, then optional ones.
    fn texture_operands(
        &self,
        modifiers: &[String],
        optional: bool,
        last: &str,
        count: usize,
    ) -> Option<String> {
        if !["tex", "tld4", "suld", "sust", "sured"].contains(&self.opcode.as_str()) {
            return None;
        }
        let four = "{%r32_5, %r32_5, %r32_5, %r32_5}";
        let first =
            modifiers.iter().find_map(|m| ["u32", "s32", "f32", "f16", "f16x2"].iter().find(|t| *t == m));
        let places = rank(modifiers).next_power_of_two();
        let mut operands = Vec::new();
        for operand in &self.operands {
            if operand.starts_with('?') && !optional {
                continue;
            }
            operands.push(match operand.trim_start_matches('?').split_once(':') {
                None if operand == "[t]" => format!("[%r64_9, {four}]"),
                None => register(last, 1),
                Some((_, "vec1|")) => {
                    let value = vector(first.unwrap_or(&"b32"), count, 0);
                    if optional { value + "|%p2" } else { value }
                }
                Some((_, "mem")) if count > 1 => vector(last, count, 1),
                Some((_, "mem")) => register(last, 1),
                Some((_, "gradient")) => vector("f32", places, 2),
                Some((_, "offsets")) => vector("s32", if places > 2 { 4 } else { 2 }, 5),
                Some(_) => "%r32_1".to_owned(),
            });
        }
        Some(operands.join(", "))
    }
}

/// An untyped register wide enough for a type.
fn register(t: &str, n: usize) -> String {
    let digits: String =
        t.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    let lanes = t.split_once('x').and_then(|(_, n)| n.parse::<usize>().ok()).unwrap_or(1);
    let element = match t {
        "pred" => return format!("%p{}", n + 3),
        "tf32" => 32,
        t if t.starts_with("bf") => 16,
        t if t.starts_with("e2m1") => 4,
        t if t.starts_with(['e', 'u']) && t.contains('m') || t.starts_with("s2f6") => 8,
        _ => digits.parse::<usize>().unwrap_or(32),
    };
    let least = if t.starts_with('e') || t == "b8" { 8 } else { 16 };
    format!("%r{}_{n}", (element * lanes).next_power_of_two().max(least))
}

fn vector(t: &str, count: usize, n: usize) -> String {
    let one = register(t, n);
    format!("{{{}}}", vec![one; count].join(", "))
}

/// Number of dimensions of a tensor or a texture.
fn rank(modifiers: &[String]) -> usize {
    let dimensions = modifiers.iter().find_map(|m| match m.trim_start_matches('a') {
        "cube" => Some(3),
        d => ["1d", "2d", "3d", "4d", "5d"].iter().position(|name| *name == d).map(|n| n + 1),
    });
    dimensions.unwrap_or(1)
}

/// A tensor map with the coordinates that the modifiers require.
fn tensor(modifiers: &[String]) -> String {
    let rows = modifiers.iter().any(|m| m.ends_with("gather4") || m.ends_with("scatter4"));
    format!("[%r64_9, {}]", vector("b32", if rows { 5 } else { rank(modifiers) }, 5))
}

/// The im2col offsets.
fn offsets(modifiers: &[String]) -> String {
    let row = modifiers.iter().any(|m| m.starts_with("im2col::w"));
    vector("b16", if row { 2 } else { rank(modifiers).saturating_sub(2) }, 1)
}

/// An address in the state space that the modifiers name.
fn address(modifiers: &[String]) -> &'static str {
    let has = |w: &str| modifiers.iter().any(|m| m == w);
    if has("param::entry") {
        "[kernel_param]"
    } else if has("param") || has("param::func") {
        "[call_param]"
    } else if has("const") {
        "[table]"
    } else {
        "[%r64_9]"
    }
}

/// A module whose kernel holds `instruction`.
pub fn module(form: &Form, instruction: &str) -> String {
    let (version, target) = match (&form.suffix, form.home()) {
        (_, Some((version, target))) => (version, target),
        (Some(suffix), None) => ("9.5".to_owned(), suffix.clone()),
        (None, None) => ("9.5".to_owned(), "100".to_owned()),
    };
    let old = version.starts_with('1');
    let mut widths = vec![8, 16, 32, 64];
    if form.gone.is_none() {
        widths.push(128);
    }
    let registers: String = widths
        .iter()
        .map(|b| {
            format!(
                "  .reg .b{b} {};\n",
                (0..10).map(|n| format!("%r{b}_{n}")).collect::<Vec<_>>().join(", ")
            )
        })
        .collect();
    let align = if old { 16 } else { 32 };
    let mut text = format!(".version {version}\n.target sm_{target}\n");
    if !old {
        text += ".address_size 64\n.func callee() { ret; }\n";
    }
    text += &format!(".const .align {align} .b8 table[64];\n");
    let memory = if instruction.contains("%perctamemory") { " .minperctamemory 16" } else { "" };
    text += &format!(
        ".entry k(.param .align {align} .b8 kernel_param[64]){memory}\n{{\n{registers}  .reg .pred %p<16>;\n"
    );
    if !old {
        text += "  .param .align 32 .b8 call_param[64];\n";
    }
    if form.opcode == "brx" {
        text += "targets: .branchtargets label;\n";
    }
    text + &format!("  {instruction}\nlabel:\n  exit;\n}}\n")
}
