//! The declarations of a text: kernels and whether they are templates, functions, and the bodies that run on
//! the device.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::source::Source;
use crate::token::TokenKind;
use crate::{rules, table};

/// The declarations of a text.
#[derive(Default)]
pub struct Survey {
    /// Kernels by name, with whether any of that name is a template.
    pub kernels: HashMap<String, bool>,
    /// Functions that have a body in the text.
    pub functions: HashSet<String>,
    /// Macros that the text defines.
    pub macros: HashSet<String>,
    /// Names that look like CUDA's and that the text declares: types, functions without a body, enumerators,
    /// constants and other variables.
    pub declared: HashSet<String>,
    /// Token ranges of the bodies of device functions and kernels, in order.
    pub device_bodies: Vec<Range<usize>>,
    /// Whether the text uses CUDA's language extensions.
    pub is_cuda: bool,
}

impl Survey {
    /// Whether the text itself defines this name.
    pub fn defines(&self, name: &str) -> bool {
        self.functions.contains(name) || self.kernels.contains_key(name) || self.macros.contains(name)
    }

    /// Whether the text itself defines or declares this name, which looks like CUDA's.
    pub fn owns(&self, name: &str) -> bool {
        self.defines(name) || self.declared.contains(name)
    }

    /// The names that the text defines or declares.
    pub fn own_names(self) -> impl Iterator<Item = String> {
        self.functions.into_iter().chain(self.kernels.into_keys()).chain(self.macros).chain(self.declared)
    }
}

/// Words that precede a parenthesis without naming a function.
const KEYWORDS: &[&str] = &[
    "if",
    "for",
    "while",
    "switch",
    "catch",
    "return",
    "sizeof",
    "alignof",
    "decltype",
    "defined",
    "__launch_bounds__",
];

/// Keywords and variables of CUDA's language that HIP has only with its header.
const LANGUAGE: &[&str] = &[
    "__global__",
    "__device__",
    "__host__",
    "__constant__",
    "__shared__",
    "__managed__",
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    "__syncthreads",
];

/// Collects the declarations of a text in one pass.
pub fn survey(source: &Source<'_>) -> Survey {
    let mut out = Survey::default();
    // Seen since the last statement or block: `template`, `__global__`, `__device__`.
    let (mut template, mut global, mut device) = (false, false, false);
    let mut named = false;
    // Macros that may name a kernel: the last token of their expansion.
    let mut macros: Vec<(String, usize)> = Vec::new();
    // The end of the last enumeration's body.
    let mut enumerators = 0;
    let mut at = 0;
    while let Some(token) = source.token(at) {
        match token.kind {
            TokenKind::Punct(b';' | b'}') => (template, global, device, named) = (false, false, false, false),
            TokenKind::Punct(b'{') => {
                let inside = out.device_bodies.last().is_some_and(|last| at < last.end);
                if let (true, false, Some(close)) = (global || device, inside, source.partner(at)) {
                    out.device_bodies.push(at..close);
                }
                (template, global, device, named) = (false, false, false, false);
            }
            TokenKind::LaunchOpen => out.is_cuda = true,
            TokenKind::Hash if source.is_word(at + 1, "define") => {
                if let Some(name) = source.name(at + 2) {
                    out.macros.insert(name.into_owned());
                }
                let body =
                    (at + 3..source.tokens.len()).take_while(|place| source.together(at, *place)).last();
                if let (Some(name), Some(last)) =
                    (source.name(at + 2), body.filter(|_| !source.is(at + 3, b'(')))
                {
                    macros.push((name.into_owned(), last));
                }
            }
            TokenKind::Identifier => {
                let word = source.bytes(at);
                match word {
                    b"template" => template = true,
                    b"__global__" => global = true,
                    b"__device__" => device = true,
                    b"enum" => enumerators = enumeration(source, at).unwrap_or(enumerators),
                    _ => {}
                }
                if let Some(name) = source.name(at).filter(|name| table::looks_like(name).is_some())
                    && (is_declared(source, at) || at < enumerators && is_enumerator(source, at))
                {
                    out.declared.insert(name.into_owned());
                }
                if LANGUAGE.iter().any(|known| known.as_bytes() == word) {
                    out.is_cuda = true;
                }
                if !named && source.is(at + 1, b'(') {
                    named = function(source, &mut out, at, template, global);
                }
            }
            _ => {}
        }
        at += 1;
    }
    for (name, last) in macros {
        let template = source.is(last, b'>')
            || source.name(last).is_some_and(|text| out.kernels.get(&*text) == Some(&true));
        if template {
            out.kernels.insert(name, true);
        }
    }
    out
}

/// The end of the body of the enumeration that begins at `at`, if it has one.
fn enumeration(source: &Source<'_>, at: usize) -> Option<usize> {
    /// `enum class Name : unsigned long long {` has eight.
    const LONGEST: usize = 10;
    let open = (at + 1..at + LONGEST).find(|place| source.is(*place, b'{') || source.is(*place, b';'))?;
    if source.is(open, b'{') { source.partner(open) } else { None }
}

/// Whether the word at `at` is one of the names in an enumeration's body.
fn is_enumerator(source: &Source<'_>, at: usize) -> bool {
    at > 0 && (source.is(at - 1, b'{') || source.is(at - 1, b','))
}

/// Whether a declaration at `at` gives a name to a type, a function or a variable.
fn is_declared(source: &Source<'_>, at: usize) -> bool {
    let Some(before) = at.checked_sub(1).filter(|before| source.together(*before, at)) else { return false };
    let ends = |all: &[u8]| all.iter().any(|end| source.is(at + 1, *end));
    match source.bytes(before) {
        b"struct" | b"class" | b"union" | b"enum" => ends(b"{:") || source.is_word(at + 1, "final"),
        b"using" => ends(b"="),
        b"}" => ends(b";"),
        b"*" | b"&" | b">" => ends(b"(;={[") && begins_declaration(source, before),
        _ if source.kind_is(before, TokenKind::Identifier) => {
            !rules::is_statement(source, before) && ends(b"(;={[,")
        }
        _ => false,
    }
}

/// Whether the tokens up to `last`, from the beginning of the statement on, may be a type.
fn begins_declaration(source: &Source<'_>, last: usize) -> bool {
    /// Longer types are taken for expressions.
    const LONGEST: usize = 24;
    for at in (last.saturating_sub(LONGEST)..=last).rev() {
        source.step();
        let Some(token) = source.token(at) else { return false };
        match token.kind {
            TokenKind::Punct(b';' | b'{' | b'}') => return true,
            TokenKind::Punct(b'*' | b'&' | b'<' | b'>' | b',') | TokenKind::Scope => {}
            TokenKind::Identifier if !rules::is_statement(source, at) => {}
            _ if token.directive != 0 => return true,
            _ => return false,
        }
    }
    last < LONGEST
}

/// Records the function whose name may be at `at`, before a parenthesis. Returns whether there is one.
fn function(source: &Source<'_>, out: &mut Survey, at: usize, template: bool, global: bool) -> bool {
    let Some(name) = source.name(at) else { return false };
    if KEYWORDS.contains(&&*name) || name.starts_with("__attribute") || name == "__align__" {
        return false;
    }
    if global {
        *out.kernels.entry(name.clone().into_owned()).or_insert(false) |= template;
        return true;
    }
    let Some(close) = source.partner(at + 1) else { return false };
    let body = (close + 1..close + 4)
        .find(|place| !source.is_word(*place, "const") && !source.is_word(*place, "noexcept"));
    if body.is_some_and(|place| source.is(place, b'{')) {
        out.functions.insert(name.into_owned());
    }
    false
}
