//! What HIP has no names for: names in namespaces of NVIDIA's libraries, and PTX in the text.

use std::collections::HashMap;

use super::Translator;
use crate::diagnostic::Reason;
use crate::directives::Directives;
use crate::source::Source;
use crate::table::{self, Api, Kind};
use crate::token::TokenKind;

/// The usual name for the namespace of cooperative groups, which a header of the project may give.
const GROUPS: (&str, &str) = ("cg", "cooperative_groups");

/// A name has at most so many qualifiers.
const DEEPEST: usize = 8;

/// Namespaces by the word that begins their names in the text.
pub(super) type Spaces = HashMap<String, String>;

/// The parts of the name that begins at `at`, and the token after it.
fn path(source: &Source<'_>, at: usize) -> (Vec<String>, usize) {
    let mut parts = Vec::new();
    let mut next = at;
    while let Some(name) = source.name(next).filter(|_| parts.len() < DEEPEST) {
        source.step();
        parts.push(name.into_owned());
        next += 1;
        if !source.kind_is(next, TokenKind::Scope) || !source.kind_is(next + 1, TokenKind::Identifier) {
            break;
        }
        next += 1;
    }
    (parts, next)
}

/// The namespaces of NVIDIA's libraries, with the names that the text gives them: `namespace a = b::c;` and
/// what `using namespace b;` makes known.
pub(super) fn survey(source: &Source<'_>, directives: &Directives) -> Spaces {
    let mut spaces = Spaces::new();
    if directives.includes.iter().any(|include| include.path.starts_with(GROUPS.1)) {
        spaces.insert(GROUPS.0.into(), GROUPS.1.into());
    }
    for at in 0..source.tokens.len() {
        if !source.is_word(at, "namespace") {
            continue;
        }
        let using = at > 0 && source.is_word(at - 1, "using");
        let named = source.name(at + 1).filter(|_| source.is(at + 2, b'='));
        let from = if using { at + 1 } else { at + 3 };
        let from = from + usize::from(source.kind_is(from, TokenKind::Scope));
        if !using && named.is_none() {
            continue;
        }
        let (parts, _) = path(source, from);
        let Some(whole) = resolve(&spaces, &parts) else {
            // The text gives the name to something else.
            if let Some(name) = named {
                spaces.remove(&*name);
            }
            continue;
        };
        match named {
            Some(name) if !using => drop(spaces.insert(name.into_owned(), whole)),
            // `using namespace nvcuda;` makes `wmma::fragment` a name.
            _ if whole == "nvcuda" => drop(spaces.insert("wmma".into(), "nvcuda::wmma".into())),
            _ => {}
        }
    }
    spaces
}

/// A name with all its qualifiers, if it is in a namespace of NVIDIA's.
fn resolve(spaces: &Spaces, parts: &[String]) -> Option<String> {
    let (first, rest) = parts.split_first()?;
    let space = match spaces.get(first) {
        Some(space) => space.as_str(),
        None => first.as_str(),
    };
    let known = spaces.contains_key(first) || table::is_foreign_space(first);
    known.then(|| rest.iter().fold(space.to_owned(), |path, part| path + "::" + part))
}

impl Translator<'_, '_> {
    /// Reports a name in a namespace of a library that HIP lacks.
    pub(super) fn foreign_name(&mut self, at: usize, name: &str) {
        let source = self.source;
        let space = at > 0 && source.is_word(at - 1, "namespace") && !source.is(at + 1, b'{');
        if !source.kind_is(at + 1, TokenKind::Scope) && !space
            || !self.spaces.contains_key(name) && !table::is_foreign_space(name)
        {
            return;
        }
        // A namespace of the same name inside another one.
        let inner = at > 1
            && source.kind_is(at - 1, TokenKind::Scope)
            && (source.kind_is(at - 2, TokenKind::Identifier) && source.together(at - 2, at)
                || source.is(at - 2, b'>'));
        let (parts, after) = path(source, at);
        // `namespace cuda::own {` is the project's.
        let own = at > 0 && source.is_word(at - 1, "namespace") && source.is(after, b'{');
        let Some(whole) = resolve(&self.spaces, &parts).filter(|_| !inner && !own) else { return };
        let Some(row) = table::foreign_name(&whole) else { return };
        let includes = |start: &str| {
            let mut all = self.directives.includes.iter();
            all.any(|include| include.path.starts_with(start) && !self.options.project.has(&include.path))
        };
        let rocm = self.rocm();
        if row.since.is_some_and(|since| since <= rocm) || !row.header.is_empty() && !includes(row.header) {
            return;
        }
        let Some(offset) = source.token(at).map(|token| token.start as usize) else { return };
        let text = parts.join("::");
        if !row.space.is_empty() && self.respace(at, &parts, &whole, row.space) {
            return;
        }
        match row.since {
            Some(since) => self.report(
                offset,
                Reason::NeedsRocm,
                &text,
                format!("'{text}' has a counterpart in HIP from ROCm {since} on, not in ROCm {rocm}"),
                Some(format!("translate with --rocm {since}, or {}", row.advice)),
            ),
            None => {
                let message = format!("'{text}' has no counterpart in HIP");
                self.report(offset, Reason::Unsupported, &text, message, Some(row.advice.into()));
            }
        }
    }

    /// Puts a namespace of HIP's into the place of NVIDIA's. Returns whether the name then has a counterpart.
    fn respace(&mut self, at: usize, parts: &[String], whole: &str, space: &'static str) -> bool {
        let source = self.source;
        let using = at > 1 && source.is_word(at - 1, "namespace") && source.is_word(at - 2, "using");
        // The qualifiers that the new namespace replaces, as tokens: names with `::` between them.
        let (first, count) = match (whole.contains("::"), whole == "nvcuda::wmma") {
            // `using namespace nvcuda;`
            (false, _) if using => (at - 2, 3),
            (false, _) => return false,
            (true, true) => (at, 2 * parts.len() - 1),
            (true, false) => (at, 2 * parts.len() - 3),
        };
        // A name that the text itself gives to the namespace keeps its meaning.
        if let Some(known) = parts.first().and_then(|name| self.spaces.get(name)) {
            return known.contains("::");
        }
        let (Some(from), Some(to)) = (source.token(first), source.token(first + count - 1)) else {
            return false;
        };
        self.edits.replace(from.start as usize..to.end as usize, space);
        self.statistics.converted.add(Kind::Namespace, Api::Runtime, "nvcuda");
        true
    }

    /// Reports assembly that is PTX.
    pub(super) fn assembly(&mut self, at: usize, name: &str) {
        if !matches!(name, "asm" | "__asm__" | "__asm") || !self.survey.is_cuda {
            return;
        }
        let source = self.source;
        let open = (at + 1..at + 4).find(|place| !source.kind_is(*place, TokenKind::Identifier));
        let Some(open) = open.filter(|open| source.is(*open, b'(')) else { return };
        let mut text = String::new();
        for place in open + 1..source.tokens.len() {
            source.step();
            // The text may be put together of macros; the operands come after a colon.
            match source.token(place).map(|token| token.kind) {
                Some(TokenKind::Text) => {
                    text += &String::from_utf8_lossy(source.bytes(place));
                    text.push(' ');
                }
                Some(TokenKind::Identifier | TokenKind::Hash | TokenKind::Paste) => {}
                _ => break,
            }
        }
        let Some((first, advice)) = instruction(&text) else { return };
        let Some(offset) = source.token(at).map(|token| token.start as usize) else { return };
        self.report(
            offset,
            Reason::InlinePtx,
            name,
            format!("'{first}' is PTX, which AMD's devices do not have"),
            Some(advice.unwrap_or("write it in C++, or with a builtin of clang for AMD").into()),
        );
    }
}

/// Types that end the names of instructions.
const TYPES: &[&str] = &[
    "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "b8", "b16", "b32", "b64", "b128", "f16", "f16x2",
    "bf16", "bf16x2", "tf32", "f32", "f64", "pred",
];

/// The first instruction of a text if that is PTX, and what to write instead.
fn instruction(text: &str) -> Option<(String, Option<&'static str>)> {
    // Escapes of line ends and tabs separate words, too.
    let text = text.replace("\\n", " ").replace("\\t", " ");
    let is_part = |byte: char| byte.is_ascii_alphanumeric() || matches!(byte, '_' | '.' | '%' | ':');
    let words = text.split(|byte| !is_part(byte)).filter(|word| !word.is_empty());
    let mut first = None;
    let mut advice = None;
    for word in words {
        let register = word.trim_start_matches('%');
        let typed = word.starts_with(|first: char| first.is_ascii_lowercase())
            && word.split('.').skip(1).any(|part| TYPES.contains(&part));
        let row = match register.len() < word.len() {
            true => table::ptx(&format!("%{register}")),
            false => table::ptx(word),
        };
        if typed || row.is_some() {
            first.get_or_insert(match register.len() < word.len() {
                true => format!("%{register}"),
                false => word.to_owned(),
            });
        }
        advice = advice.or(row);
    }
    first.map(|first| (first, advice))
}
