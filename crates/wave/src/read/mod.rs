//! Parses the text form of modules (`Display` of [`Module`]), for tests and tools.
//!
//! The result prints as the same text. Names of variables and functions must be unique. Values without a
//! definition are dropped, and an initial value of only zeros has no bytes. A `;` at the beginning of a line
//! or after a space begins a comment; only positions (`line 9, scale.cu:39`) and names of slots have a
//! meaning in comments.

mod cursor;
mod function;
pub(crate) mod op;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::module::{FuncId, Global, GlobalId, Module, Reference, Reloc, RelocTarget, SharedId, SharedVar};
use crate::types::Ty;
use cursor::{Cursor, Found};

/// Why a text cannot be parsed as a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ReadError {}

/// What the names in a text refer to.
#[derive(Debug, Default)]
struct Names<'a> {
    globals: HashMap<&'a str, GlobalId>,
    shared: HashMap<&'a str, SharedId>,
    functions: HashMap<&'a str, FuncId>,
    /// By [`FuncId`].
    results: Vec<Vec<Ty>>,
    files: HashMap<&'a str, u32>,
}

impl<'a> Names<'a> {
    /// The names that a text's declarations define, in order.
    fn of(text: &'a str) -> Names<'a> {
        let mut names = Names::default();
        for line in text.lines() {
            if let Some(file) = file_name(line) {
                let n = names.files.len() as u32 + 1;
                names.files.entry(file).or_insert(n);
            }
            let Some((kind, rest)) = line.split_once(" @") else { continue };
            let name = rest[..rest.find(['(', ' ']).unwrap_or(rest.len())].trim_end_matches(':');
            match kind {
                "global" | "const" => {
                    let id = GlobalId(names.globals.len() as u32);
                    names.globals.entry(name).or_insert(id);
                }
                "shared" => {
                    let id = SharedId(names.shared.len() as u32);
                    names.shared.entry(name).or_insert(id);
                }
                "kernel" | "function" => {
                    let id = FuncId(names.results.len() as u32);
                    names.functions.entry(name).or_insert(id);
                    // After the types, `lanes=64`, `external` or `{` may follow.
                    let results = rest.split_once(" -> ").map_or("", |(_, r)| r);
                    let types = results.split(", ").map(|ty| ty.split(' ').next().unwrap_or_default());
                    names.results.push(types.filter_map(op::ty).collect());
                }
                _ => {}
            }
        }
        names
    }
}

/// The maximum number of values in all functions of a text: numbers may be skipped, but not so many that they
/// waste memory.
const VALUES: usize = 1 << 24;

/// The non-empty lines of a text.
struct Lines<'a> {
    lines: std::iter::Peekable<std::iter::Enumerate<std::str::Lines<'a>>>,
    at: usize,
    /// Positions of instructions are the lines of this text.
    numbered: bool,
    /// Values that functions may still have.
    room: usize,
}

/// A line without its comment, and the comment.
fn comment(line: &str) -> (&str, &str) {
    match line.split_once(" ;") {
        Some((code, comment)) => (code.trim_end(), comment.trim()),
        None => (line.trim_end(), ""),
    }
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a str> {
        self.skip();
        let (n, line) = self.lines.next()?;
        self.at = n + 1;
        Some(line)
    }

    /// Skips empty lines and comments.
    fn skip(&mut self) {
        let holds_nothing = |line: &str| line.trim().is_empty() || line.trim_start().starts_with(';');
        while self.lines.next_if(|(_, line)| holds_nothing(line)).is_some() {}
    }

    /// The next line if it is indented and begins with `word`.
    fn inner(&mut self, word: &str) -> Option<Cursor<'a>> {
        self.skip();
        let line = self.lines.peek()?.1.strip_prefix("    ")?.strip_prefix(word)?;
        self.next();
        // A slot's comment is its name.
        Some(Cursor(if word == "slot" { line.trim_end() } else { comment(line).0 }))
    }

    fn error(&self, message: String) -> ReadError {
        ReadError { line: self.at, message }
    }
}

/// Parses a module.
///
/// # Errors
/// The text does not have the form that modules are printed in. This does not check the module; see
/// [`crate::verify::verify`].
pub fn read(text: &str) -> Result<Module, ReadError> {
    read_by(text, false)
}

/// Reads a module that was written by hand: an instruction's position is its line in this text, whatever the
/// comments say, so that errors name that line.
///
/// # Errors
/// As for [`read`].
pub fn read_numbered(text: &str) -> Result<Module, ReadError> {
    read_by(text, true)
}

fn read_by(text: &str, numbered: bool) -> Result<Module, ReadError> {
    let names = Names::of(text);
    let mut module = Module { image_align: 1, ..Module::default() };
    let mut lines = Lines { lines: text.lines().enumerate().peekable(), at: 0, numbered, room: VALUES };
    while let Some(line) = lines.next() {
        item(&mut module, &names, &mut lines, line).map_err(|message| lines.error(message))?;
    }
    Ok(module)
}

fn item(module: &mut Module, names: &Names, lines: &mut Lines, line: &str) -> Found<()> {
    if let Some(file) = file_name(line) {
        Arc::make_mut(&mut module.files).push(file.to_owned());
        return Ok(());
    }
    let line = comment(line).0;
    let (kind, rest) = line.split_once([' ', ':']).unwrap_or((line, ""));
    let mut c = Cursor(rest);
    match kind {
        "image" => {
            module.image_size = c.field(" size")?;
            module.image_align = c.field(", align")?;
            c.end()
        }
        "global" | "const" => {
            let global = global(names, lines, c, kind == "const")?;
            let id = GlobalId(module.globals.len() as u32);
            only(&global.name, names.globals.get(global.name.as_str()) == Some(&id))?;
            Arc::make_mut(&mut module.globals).push(global);
            Ok(())
        }
        "shared" => {
            c.expect("@")?;
            let name = c.head().to_owned();
            let (size, align) = (c.field(" size")?, c.field(", align")?);
            let id = SharedId(module.shared.len() as u32);
            only(&name, names.shared.get(name.as_str()) == Some(&id))?;
            Arc::make_mut(&mut module.shared).push(SharedVar { name, size, align });
            c.end()
        }
        "taken" => {
            let named = |name: &str| names.functions.get(name.trim().trim_start_matches('@')).copied();
            let taken = rest.split(',').map(named).collect::<Option<_>>();
            module.taken = Arc::new(taken.ok_or_else(|| format!("functions expected at `{rest}`"))?);
            Ok(())
        }
        "kernel" | "function" => {
            let id = FuncId(module.functions.len() as u32);
            let name = Cursor(rest.trim_start_matches('@')).until(&['(', ' ']);
            only(name, names.functions.get(name) == Some(&id))?;
            let function = function::read(names, lines, c, kind == "kernel")?;
            module.functions.push(Arc::new(function));
            Ok(())
        }
        _ => Err(format!("a variable or a function expected at `{line}`")),
    }
}

/// The name in the line of a source file: the rest of the line.
fn file_name(line: &str) -> Option<&str> {
    let line = line.trim_end();
    if line == "file" { Some("") } else { line.strip_prefix("file ") }
}

/// What a name stands for must be the one that is being read.
fn only(name: &str, holds: bool) -> Found<()> {
    if holds { Ok(()) } else { Err(format!("`{name}` is no name, or that of several")) }
}

fn global(names: &Names, lines: &mut Lines, mut c: Cursor, constant: bool) -> Found<Global> {
    c.expect("@")?;
    let name = c.head().to_owned();
    let (offset, size, align) = (c.field(" offset")?, c.field(", size")?, c.field(", align")?);
    let (exported, managed) = (c.eat(", exported"), c.eat(", managed"));
    let reference = if c.eat(", texture") {
        Some(Reference::Texture)
    } else {
        c.eat(", surface").then_some(Reference::Surface)
    };
    c.end()?;
    let mut init = Vec::new();
    while let Some(line) = lines.inner("bytes") {
        for byte in line.0.split_whitespace() {
            init.push(u8::from_str_radix(byte, 16).map_err(|_| format!("`{byte}` is no byte"))?);
        }
    }
    let mut relocs = Vec::new();
    while let Some(mut c) = lines.inner("address at ") {
        let at = c.number()?;
        c.expect(": @")?;
        let name = c.until(&['+', '-']);
        let target = None
            .or_else(|| names.globals.get(name).copied().map(RelocTarget::Global))
            .or_else(|| names.functions.get(name).copied().map(RelocTarget::Func))
            .or_else(|| names.shared.get(name).copied().map(RelocTarget::Shared))
            .ok_or_else(|| format!("nothing is named `{name}`"))?;
        let addend = c.number()?;
        let size = c.field(",")?;
        c.expect(" bytes")?;
        let shift = if c.eat(", shifted right by ") { c.number()? } else { 0 };
        c.end()?;
        relocs.push(Reloc { at, size, shift, target, addend });
    }
    Ok(Global { name, offset, size, align, constant, managed, exported, reference, init, relocs })
}

#[cfg(test)]
mod tests;
