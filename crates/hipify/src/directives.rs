//! The preprocessor's view of a text: includes, guards, and excluded blocks.

use std::ops::Range;

use crate::condition::{Macro, Macros};
use crate::options::Options;
use crate::source::Source;
use crate::table;
use crate::token::TokenKind;

/// An `#include` with a literal name.
#[derive(Clone, Debug)]
pub struct Include {
    /// Offset of the `#`.
    pub hash: usize,
    /// Byte range of the name with its brackets or quotes.
    pub name: Range<usize>,
    /// The name without them.
    pub path: String,
    /// Whether it is written in `<>`.
    pub angled: bool,
}

/// Information from the directives.
#[derive(Default)]
pub struct Directives {
    /// The includes in blocks that are kept.
    pub includes: Vec<Include>,
    /// Offset after the macro of the include guard.
    pub guard: Option<usize>,
    /// Offset after `#pragma once`.
    pub pragma_once: Option<usize>,
    /// For each token, whether the preprocessor excludes it.
    excluded: Vec<bool>,
}

impl Directives {
    /// Whether the preprocessor excludes a token, as far as that is known and the options ask for it.
    pub fn excluded(&self, at: usize) -> bool {
        self.excluded.get(at).copied().unwrap_or(false)
    }
}

/// One level of `#if`.
struct Level {
    /// Whether the enclosing block is excluded.
    outer_excluded: bool,
    /// Whether this branch is excluded.
    excluded: bool,
    /// Whether every condition up to this branch is known.
    certain: bool,
    /// Whether a branch is known to be taken.
    taken: bool,
}

struct Reader<'s, 'a> {
    source: &'s Source<'a>,
    macros: Macros,
    levels: Vec<Level>,
    out: Directives,
}

/// Evaluates the directives of a text.
pub fn read(source: &Source<'_>, options: &Options) -> Directives {
    let skip = options.skip_excluded && !options.as_much_as_possible;
    let mut reader = Reader {
        source,
        macros: Macros::new(&options.defines),
        levels: Vec::new(),
        out: Directives::default(),
    };
    if skip {
        reader.out.excluded = vec![false; source.tokens.len()];
    }
    let mut at = 0;
    while at < source.tokens.len() {
        let Some(token) = source.token(at) else { break };
        if token.directive == 0 {
            reader.mark(at, reader.excluded());
            at += 1;
            continue;
        }
        let directive = token.directive;
        let length =
            source.tokens.get(at..).unwrap_or(&[]).iter().take_while(|t| t.directive == directive).count();
        let before = reader.excluded();
        reader.directive(at..at + length, skip);
        for place in at..at + length {
            reader.mark(place, before);
        }
        at += length;
    }
    reader.out.guard = guard(source);
    reader.out
}

impl Reader<'_, '_> {
    fn excluded(&self) -> bool {
        self.levels.last().is_some_and(|level| level.excluded)
    }

    fn certain(&self) -> bool {
        self.levels.iter().all(|level| level.certain)
    }

    fn mark(&mut self, at: usize, excluded: bool) {
        if let Some(mark) = self.out.excluded.get_mut(at) {
            *mark = excluded;
        }
    }

    /// Enters a branch of the innermost level with a condition of this value.
    fn branch(&mut self, value: Option<bool>) {
        let Some(level) = self.levels.last_mut() else { return };
        level.excluded = level.outer_excluded || level.taken || value == Some(false);
        level.certain &= value.is_some();
        level.taken |= value == Some(true);
    }

    fn directive(&mut self, tokens: Range<usize>, skip: bool) {
        let source = self.source;
        let Some(word) = source.name(tokens.start + 1).filter(|_| tokens.len() > 1) else { return };
        let rest = tokens.start + 2..tokens.end;
        let conditions = source.tokens.get(rest.clone()).unwrap_or(&[]);
        match &*word {
            "if" | "ifdef" | "ifndef" => {
                let outer_excluded = self.excluded();
                let value = match &*word {
                    _ if !skip || outer_excluded => None,
                    "if" => self.macros.evaluate(source.text, conditions),
                    "ifdef" => source.name(rest.start).and_then(|name| self.macros.defined(&name)),
                    _ => source.name(rest.start).and_then(|name| self.macros.defined(&name)).map(|d| !d),
                };
                self.levels.push(Level {
                    outer_excluded,
                    excluded: outer_excluded,
                    certain: true,
                    taken: false,
                });
                self.branch(value);
            }
            "elif" | "elifdef" | "elifndef" => {
                let value = match &*word {
                    _ if !skip => None,
                    "elif" => self.macros.evaluate(source.text, conditions),
                    "elifdef" => source.name(rest.start).and_then(|name| self.macros.defined(&name)),
                    _ => source.name(rest.start).and_then(|name| self.macros.defined(&name)).map(|d| !d),
                };
                self.branch(value);
            }
            "else" => {
                let value = if skip { Some(true) } else { None };
                self.branch(value);
            }
            "endif" => {
                self.levels.pop();
            }
            _ if self.excluded() => {}
            "define" | "undef" => self.define(&word, rest),
            "include" | "include_next" | "import" => self.include(tokens.start, rest.start),
            "pragma" if source.is_word(rest.start, "once") && self.out.pragma_once.is_none() => {
                self.out.pragma_once = source.token(rest.start).map(|token| token.end as usize);
            }
            _ => {}
        }
    }

    fn define(&mut self, word: &str, rest: Range<usize>) {
        let Some(name) = self.source.name(rest.start).filter(|_| !rest.is_empty()) else { return };
        let value = match word {
            _ if !self.certain() => Macro::Unknown,
            "undef" => Macro::Undefined,
            _ => {
                let value = self.source.extent(&(rest.start + 1..rest.end));
                let bytes = self.source.text.get(value).unwrap_or(&[]);
                // A long text cannot be a number and would be parsed at every use.
                let short = if bytes.len() <= 64 { bytes } else { b"..." };
                Macro::Defined(String::from_utf8_lossy(short).into())
            }
        };
        self.macros.set(&name, value);
    }

    fn include(&mut self, hash: usize, name: usize) {
        if !self.source.kind_is(name, TokenKind::HeaderName) || !self.source.together(hash, name) {
            return;
        }
        let (Some(hash), Some(token)) = (self.source.token(hash), self.source.token(name)) else { return };
        let bytes = self.source.bytes(name);
        let inner = bytes.get(1..bytes.len() - 1).unwrap_or(&[]);
        let Ok(path) = std::str::from_utf8(inner) else { return };
        let angled = bytes.starts_with(b"<");
        self.macros.foreign |= !angled && !table::is_known_header(path);
        self.out.includes.push(Include {
            hash: hash.start as usize,
            name: token.range(),
            path: path.to_owned(),
            angled,
        });
    }
}

/// The end of the macro's name in `#ifndef NAME` if that block is the whole text.
fn guard(source: &Source<'_>) -> Option<usize> {
    let first = source.token(0)?;
    let last = source.tokens.last()?;
    if first.directive != 1 || last.directive == 0 || !source.is_word(1, "ifndef") || !source.together(0, 2) {
        return None;
    }
    let mut depth = 0usize;
    for (at, token) in source.tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Hash) {
        match source.bytes(at + 1) {
            b"if" | b"ifdef" | b"ifndef" => depth += 1,
            b"endif" => depth = depth.checked_sub(1)?,
            b"else" | b"elif" if depth == 1 => return None,
            _ => {}
        }
        if depth == 0 && token.directive != last.directive {
            return None;
        }
    }
    (depth == 0).then(|| source.token(2).map(|token| token.end as usize))?
}
