//! Code objects of version 2, which compilers made until 2019 (LLVM's "User Guide for AMDGPU Backend", "Code
//! Object V2"): the target is in a note, the metadata is YAML, and `amd_kernel_code_t` stands in front of
//! each kernel's code. All of it is turned into what version 3 has.

use rmpv::Value;

use super::metadata::{Argument, KernelMetadata, Metadata, Node};
use super::{Error, descriptor};
use crate::target::{Setting, Target, TargetId};

/// Size of `amd_kernel_code_t` in bytes.
pub(super) const HEADER_SIZE: usize = 256;

/// Where a field of the descriptor is in `amd_kernel_code_t`: offset in the descriptor, offset there, bytes.
const MOVED: &[(usize, usize, usize)] = &[
    // LDS, scratch, arguments.
    (0, 64, 4),
    (4, 60, 4),
    (8, 72, 4),
    // The entry's distance.
    (16, 16, 8),
    // The two words of resources.
    (48, 48, 8),
    // What the user SGPRs hold.
    (56, 56, 1),
];
/// `code_properties`: waves of 32 lanes, which the descriptor has as well.
const WAVE32: u32 = 1 << 10;
/// User SGPRs with the number of workgroups, which no compiler asks for and later versions do not have.
const WORKGROUP_COUNTS: u32 = 7 << 7;
/// The stack's size is not known when the kernel is compiled: here and in the descriptor.
const DYNAMIC_STACK: (u32, u32) = (1 << 20, 1 << 11);

/// The descriptor that says what `amd_kernel_code_t` says.
pub(super) fn descriptor(header: &[u8; HEADER_SIZE], symbol: &str) -> Result<[u8; descriptor::SIZE], Error> {
    let mut bytes = [0; descriptor::SIZE];
    for &(to, from, size) in MOVED {
        bytes[to..to + size].copy_from_slice(&header[from..from + size]);
    }
    let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let place = || format!("the kernel's header {symbol}");
    if word(0) != 1 {
        return Err(Error::Malformed {
            place: place(),
            reason: format!("its version is {} instead of 1", word(0)),
        });
    }
    let properties = word(56);
    if properties & WORKGROUP_COUNTS != 0 {
        return Err(Error::Unsupported(format!("{} asks for the number of workgroups in SGPRs", place())));
    }
    let mut kept = properties & (0x7f | WAVE32);
    if properties & DYNAMIC_STACK.0 != 0 {
        kept |= DYNAMIC_STACK.1;
    }
    bytes[56..60].copy_from_slice(&kept.to_le_bytes());
    Ok(bytes)
}

/// The instruction sets of gfx9 that the note names by an odd stepping, for code that runs with xnack on.
const XNACK: &[((u32, u32, u32), &str)] = &[
    ((9, 0, 1), "gfx900"),
    ((9, 0, 3), "gfx902"),
    ((9, 0, 5), "gfx904"),
    ((9, 0, 7), "gfx906"),
    ((9, 0, 13), "gfx90c"),
];

/// The target that the note names, for objects whose flags do not.
pub(super) fn target(note: &[u8]) -> Option<TargetId> {
    let number = |at: usize| Some(u32::from_le_bytes(note.get(at..at + 4)?.try_into().ok()?));
    let version = (number(4)?, number(8)?, number(12)?);
    let replays = XNACK.iter().find(|row| row.0 == version);
    let (major, minor, stepping) = version;
    let target = match replays {
        Some((_, name)) => Target::of_name(name),
        None => Target::of_name(&format!("gfx{major}{minor:x}{stepping:x}")),
    };
    let xnack = if replays.is_some() { Setting::On } else { Setting::Off };
    Some(TargetId { target: target?, sramecc: Setting::Off, xnack, generic_version: 0 })
}

/// Reads the note with YAML.
pub(super) fn metadata(bytes: &[u8]) -> Result<Metadata, Error> {
    let text = String::from_utf8_lossy(bytes);
    let value = Yaml::read(text.trim_end_matches('\0'))?;
    let top = Node::top(&value);
    let list = |key: &str| match top.get(key)? {
        Some(node) => node.items()?.map(|n| n.bytes()).collect(),
        None => Ok(Vec::new()),
    };
    let kernels = match top.get("Kernels")? {
        Some(node) => node.items()?.map(kernel).collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    Ok(Metadata { version: (1, 0), target: String::new(), printf: list("Printf")?, kernels })
}

fn kernel(node: Node) -> Result<KernelMetadata, Error> {
    let mut kernel = KernelMetadata {
        name: node.needed("Name")?.text()?,
        language: node.text_at("Language")?,
        kind: "normal".into(),
        ..KernelMetadata::default()
    };
    // `NAME@kd`; the symbol is the kernel's.
    let symbol = node.text_at("SymbolName")?;
    let symbol = symbol.strip_suffix("@kd").unwrap_or(&symbol);
    kernel.symbol = if symbol.is_empty() { kernel.name.clone() } else { symbol.to_owned() };
    let mut end = 0u32;
    if let Some(list) = node.get("Args")? {
        for item in list.items()? {
            let argument = argument(&item, end)?;
            end = argument.offset.saturating_add(argument.size);
            kernel.arguments.push(argument);
        }
    }
    if let Some(attributes) = node.get("Attrs")?
        && let Some(list) = attributes.get("ReqdWorkGroupSize")?
    {
        let sizes: Vec<u32> = list.items()?.map(|n| n.number()).collect::<Result<_, _>>()?;
        let sizes = <[u32; 3]>::try_from(sizes).map_err(|_| list.wrong("an array of three integers"))?;
        kernel.required_workgroup = Some(sizes);
    }
    if let Some(properties) = node.get("CodeProps")? {
        kernel.kernarg_size = properties.number_at("KernargSegmentSize")?;
        kernel.kernarg_align = properties.number_at("KernargSegmentAlign")?;
        kernel.group_size = properties.number_at("GroupSegmentFixedSize")?;
        kernel.private_size = properties.number_at("PrivateSegmentFixedSize")?;
        kernel.dynamic_stack = properties.flag_at("IsDynamicCallStack")?;
        kernel.wave_size = properties.number_at("WavefrontSize")?;
        kernel.sgprs = properties.number_at("NumSGPRs")?;
        kernel.vgprs = properties.number_at("NumVGPRs")?;
        kernel.max_workgroup = properties.number_at("MaxFlatWorkGroupSize")?;
    }
    Ok(kernel)
}

/// An argument, which follows one that ends at `end`: offsets are not stated.
fn argument(node: &Node, end: u32) -> Result<Argument, Error> {
    let align = node.number_at("Align")?.max(1);
    Ok(Argument {
        name: node.text_at("Name")?,
        type_name: node.text_at("TypeName")?,
        offset: end.checked_next_multiple_of(align).unwrap_or(u32::MAX),
        size: node.needed("Size")?.number()?,
        kind: kind(&node.needed("ValueKind")?.text()?),
        address_space: node.text_at("AddrSpaceQual")?.to_lowercase(),
        pointee_align: node.number_at("PointeeAlign")?,
    })
}

/// A kind of argument as later versions write it: `hidden_global_offset_x` for `HiddenGlobalOffsetX`.
fn kind(name: &str) -> String {
    let mut kind = String::new();
    for c in name.replace("MultiGrid", "Multigrid").chars() {
        if c.is_ascii_uppercase() && !kind.is_empty() {
            kind.push('_');
        }
        kind.push(c.to_ascii_lowercase());
    }
    kind
}

/// Deepest nesting of values; real metadata has five levels.
const MAX_DEPTH: usize = 16;

/// A reader of the YAML that LLVM writes: blocks of maps and lists, lists in brackets, plain and quoted
/// scalars.
struct Yaml<'a> {
    /// Line numbers, columns of the first character, and the rest.
    lines: Vec<(usize, usize, &'a str)>,
    at: usize,
}

impl<'a> Yaml<'a> {
    fn read(text: &'a str) -> Result<Value, Error> {
        let mut lines = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let rest = line.trim_start_matches(' ');
            let known = rest.starts_with('#') || matches!(rest, "---" | "...");
            if !known && !rest.trim().is_empty() {
                lines.push((number + 1, line.len() - rest.len(), rest.trim_end()));
            }
        }
        let mut reader = Yaml { lines, at: 0 };
        let value = reader.block(0, 0)?;
        match reader.lines.get(reader.at) {
            Some(_) => Err(reader.wrong("it is indented less than the lines before")),
            None => Ok(value),
        }
    }

    fn wrong(&self, reason: &str) -> Error {
        let number = self.lines.get(self.at).or(self.lines.last()).map_or(0, |line| line.0);
        Error::Malformed { place: format!("the metadata, line {number}"), reason: reason.to_owned() }
    }

    /// The value that begins in this line, if that is indented so far at least.
    fn block(&mut self, least: usize, depth: usize) -> Result<Value, Error> {
        if depth > MAX_DEPTH {
            return Err(self.wrong("it is nested too deeply"));
        }
        match self.lines.get(self.at).copied() {
            Some((_, column, line)) if column >= least => {
                if line == "-" || line.starts_with("- ") {
                    self.list(column, depth)
                } else if key(line).is_some() {
                    self.map(column, depth)
                } else {
                    self.at += 1;
                    self.scalar(line)
                }
            }
            _ => Ok(Value::Nil),
        }
    }

    fn list(&mut self, column: usize, depth: usize) -> Result<Value, Error> {
        let mut items = Vec::new();
        while let Some(&mut (_, at, ref mut line)) = self.lines.get_mut(self.at) {
            let Some(rest) = line.strip_prefix('-').filter(|_| at == column) else { break };
            let inner = rest.trim_start_matches(' ');
            let moved = column + line.len() - inner.len();
            if inner.is_empty() {
                self.at += 1;
            } else {
                // The item begins in the line of its dash.
                (self.lines[self.at].1, self.lines[self.at].2) = (moved, inner);
            }
            items.push(self.block(column + 1, depth + 1)?);
        }
        Ok(Value::Array(items))
    }

    fn map(&mut self, column: usize, depth: usize) -> Result<Value, Error> {
        let mut members = Vec::new();
        while let Some(&(_, at, line)) = self.lines.get(self.at) {
            if at != column {
                break;
            }
            let Some((name, rest)) = key(line) else { break };
            self.at += 1;
            let value = if rest.is_empty() {
                // A list may stand in the column of its key.
                let is_list = self
                    .lines
                    .get(self.at)
                    .is_some_and(|&(_, at, line)| at == column && line.starts_with('-'));
                self.block(if is_list { column } else { column + 1 }, depth + 1)?
            } else {
                self.scalar(rest)?
            };
            members.push((Value::from(name), value));
        }
        Ok(Value::Map(members))
    }

    /// A value that begins in a line that was taken.
    fn scalar(&mut self, text: &'a str) -> Result<Value, Error> {
        if let Some(inner) = text.strip_prefix('[') {
            // Long lists go on in the next lines.
            let mut all = inner.to_owned();
            while !all.ends_with(']') {
                let Some(&(_, _, line)) = self.lines.get(self.at) else {
                    return Err(self.wrong("the list has no end"));
                };
                all.push(' ');
                all.push_str(line);
                self.at += 1;
            }
            all.pop();
            return Ok(Value::Array(items(&all).map(plain).collect()));
        }
        Ok(plain(text))
    }
}

/// A line's key and what follows it.
fn key(line: &str) -> Option<(&str, &str)> {
    if line.starts_with(['\'', '"', '[']) {
        return None;
    }
    let (name, rest) = line.split_once(':')?;
    (rest.is_empty() || rest.starts_with(' ')).then(|| (name.trim_end(), rest.trim()))
}

/// The items of a list in brackets.
fn items(text: &str) -> impl Iterator<Item = &str> {
    let mut quote = None;
    let split = text.split(move |c| {
        match quote {
            None if c == '\'' || c == '"' => quote = Some(c),
            Some(open) if c == open => quote = None,
            _ => {}
        }
        c == ',' && quote.is_none()
    });
    split.map(str::trim).filter(|item| !item.is_empty())
}

/// A scalar: quoted text, a number, a boolean, or text.
fn plain(text: &str) -> Value {
    let quoted = |mark: char| text.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
    if let Some(inner) = quoted('\'') {
        return Value::from(inner.replace("''", "'"));
    }
    if let Some(inner) = quoted('"') {
        return Value::from(unescaped(inner));
    }
    match (text, text.parse::<u64>()) {
        ("true", _) => Value::Boolean(true),
        ("false", _) => Value::Boolean(false),
        (_, Ok(number)) => Value::from(number),
        (_, Err(_)) => Value::from(text),
    }
}

/// Text in double quotes.
fn unescaped(text: &str) -> String {
    let mut result = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            result.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => result.push('\n'),
            Some('t') => result.push('\t'),
            Some('r') => result.push('\r'),
            Some('x') => {
                let digits: String = chars.by_ref().take(2).collect();
                result.extend(u8::from_str_radix(&digits, 16).ok().map(char::from));
            }
            Some(other) => result.push(other),
            None => {}
        }
    }
    result
}
