//! Functions whose signature depends on CUDA's release: which one a call means follows from the number of its
//! arguments and, where that does not suffice, from what the arguments are.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::Range;

use crate::rules::{Call, is_statement};
use crate::source::Source;
use crate::table;
use crate::token::TokenKind;

/// What an argument is, as far as the text tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A null pointer, also written as 0.
    Null,
    /// A null pointer that cannot be taken for a number.
    NullPointer,
    /// Of this type.
    Typed(&'static str),
    /// A name that the text does not declare.
    Undeclared,
    /// A cast to `void **`.
    VoidPointers,
    /// The lanes of a warp, as returned by a function of the device.
    Lanes,
}

/// Which calls a rule is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct When {
    /// The numbers of arguments; empty for any.
    pub counts: &'static [u8],
    /// Shapes of arguments, each with whether the argument has it.
    pub shapes: &'static [(Shape, bool, u8)],
}

impl When {
    /// Whether a call is one of these.
    pub fn holds(&self, source: &Source<'_>, types: &Types, call: &Call) -> bool {
        let count = call.arguments.len();
        (self.counts.is_empty() || self.counts.iter().any(|wanted| usize::from(*wanted) == count))
            && self.shapes.iter().all(|(shape, wanted, argument)| {
                let tokens = call.arguments.get(usize::from(*argument));
                tokens.is_some_and(|tokens| has(source, types, tokens, *shape) == *wanted)
            })
    }
}

/// The names of a text whose types matter to a signature.
#[derive(Default)]
pub(crate) struct Types {
    /// The types and the names declared with them, both in CUDA's words.
    typed: HashSet<(&'static str, String)>,
    /// All names that the text declares, collected when first asked for.
    declared: OnceCell<HashSet<String>>,
}

/// Collects the names that are declared with the types of the rules.
pub(crate) fn survey(source: &Source<'_>) -> Types {
    let mut types = Types::default();
    for at in 0..source.tokens.len() {
        let Some(wanted) = type_at(source, at) else { continue };
        // `auto name = type{...}`
        if at > 1
            && source.is(at - 1, b'=')
            && let Some(name) = source.name(at - 2)
        {
            types.typed.insert((wanted, name.into_owned()));
        }
        // `type name, *other[2] = {...}, f(...)`
        let mut place = at + 1;
        loop {
            while source.is(place, b'*') || source.is(place, b'&') || source.is_word(place, "const") {
                place += 1;
                source.step();
            }
            let Some(name) = source.name(place).filter(|_| source.together(at, place)) else { break };
            types.typed.insert((wanted, name.into_owned()));
            place += 1;
            while source.is(place, b'[') || source.is(place, b'{') {
                let Some(close) = source.partner(place) else { break };
                place = close + 1;
                source.step();
            }
            if source.is(place, b'=') && source.is(place + 1, b'{') {
                place = source.partner(place + 1).map_or(place, |close| close + 1);
            }
            // The parameters of a function follow commas, too, each with its type before its name.
            let more = source.is(place, b',') && type_at(source, place + 1).is_none();
            let named_type = source.kind_is(place + 1, TokenKind::Identifier)
                && source.kind_is(place + 2, TokenKind::Identifier);
            if !more || named_type {
                break;
            }
            place += 1;
        }
    }
    types
}

/// The type of a rule that is named at `at`.
fn type_at(source: &Source<'_>, at: usize) -> Option<&'static str> {
    if !source.kind_is(at, TokenKind::Identifier) {
        return None;
    }
    let word = source.bytes(at);
    table::SIGNATURE_TYPES.iter().find(|wanted| wanted.as_bytes() == word).copied()
}

/// Whether an argument has a shape.
fn has(source: &Source<'_>, types: &Types, tokens: &Range<usize>, shape: Shape) -> bool {
    let tokens = bare(source, tokens);
    let first = tokens.start;
    match shape {
        Shape::Null => is_null(source, &tokens) || tokens.len() == 1 && source.bytes(first) == b"0",
        Shape::NullPointer => is_null(source, &tokens),
        Shape::Typed(wanted) => {
            let start = first + usize::from(source.is(first, b'('));
            let start = start + usize::from(source.is_word(start, "struct"));
            source.is(first, b'{')
                || type_at(source, start) == Some(wanted)
                || head(source, &tokens).is_some_and(|name| types.typed.contains(&(wanted, name)))
        }
        Shape::VoidPointers => {
            let open = first + 2 * usize::from(source.is_word(first, "reinterpret_cast"));
            let open = if open > first { open } else { first + 1 };
            (source.is(first, b'(') || open > first + 1)
                && source.is_word(open, "void")
                && source.is(open + 1, b'*')
                && source.is(open + 2, b'*')
        }
        Shape::Lanes => {
            source.name(first).is_some_and(|name| returns_lanes(&name))
                && source.partner(first + 1) == tokens.end.checked_sub(1)
        }
        Shape::Undeclared => head(source, &tokens).is_some_and(|name| {
            !name.starts_with("cuda") && !name.starts_with("CU_") && !types.declared(source).contains(&name)
        }),
    }
}

/// Whether a function of the device returns lanes, which are 64 bits in HIP.
pub(crate) fn returns_lanes(name: &str) -> bool {
    matches!(name, "__ballot" | "__ballot_sync" | "__activemask" | "__match_any_sync" | "__match_all_sync")
}

/// The tokens without brackets around all of them, and without `&` before them.
fn bare(source: &Source<'_>, tokens: &Range<usize>) -> Range<usize> {
    let mut tokens = tokens.clone();
    loop {
        if source.is(tokens.start, b'&') && tokens.len() > 1 {
            tokens.start += 1;
        } else if source.is(tokens.start, b'(') && source.partner(tokens.start) == Some(tokens.end - 1) {
            tokens = tokens.start + 1..tokens.end - 1;
        } else {
            return tokens;
        }
        source.step();
    }
}

/// `NULL`, `nullptr`, or a cast of either.
fn is_null(source: &Source<'_>, tokens: &Range<usize>) -> bool {
    let Some(last) = tokens.end.checked_sub(1).filter(|last| *last >= tokens.start) else { return false };
    let cast = tokens.len() == 1
        || source.is(tokens.start, b'(') && source.partner(tokens.start) == last.checked_sub(1);
    cast && (source.is_word(last, "NULL") || source.is_word(last, "nullptr"))
}

/// The name that an argument ends with: `loc` of `loc`, `a.loc`, `a->b::loc[1]` and `loc(x)`.
fn head(source: &Source<'_>, tokens: &Range<usize>) -> Option<String> {
    let mut name = None;
    let mut at = tokens.start;
    while at < tokens.end {
        source.step();
        name = Some(source.name(at)?);
        at += 1;
        while at < tokens.end && (source.is(at, b'[') || source.is(at, b'(')) {
            at = source.partner(at)? + 1;
        }
        if at >= tokens.end {
            break;
        }
        let joined = source.is(at, b'.')
            || matches!(source.token(at).map(|token| token.kind), Some(TokenKind::Arrow | TokenKind::Scope));
        if !joined {
            return None;
        }
        at += 1;
    }
    name.map(std::borrow::Cow::into_owned)
}

impl Types {
    /// The names that follow another word, as in `int name`, and the further ones of that declaration; of
    /// `#define name` too.
    fn declared(&self, source: &Source<'_>) -> &HashSet<String> {
        self.declared.get_or_init(|| {
            let mut names = HashSet::new();
            // Whether the statement began with a declaration, so that names after its commas are declared.
            let mut inside = false;
            for at in 1..source.tokens.len() {
                source.step();
                if source.is(at - 1, b';') || source.is(at - 1, b'{') || source.is(at - 1, b'}') {
                    inside = false;
                }
                let Some(name) = source.name(at).filter(|_| source.together(at - 1, at)) else { continue };
                let typed = source.kind_is(at - 1, TokenKind::Identifier)
                    && !is_statement(source, at - 1)
                    && !source.is_word(at - 1, "auto");
                if typed || inside && source.is(at - 1, b',') {
                    names.insert(name.into_owned());
                    inside = true;
                }
            }
            names
        })
    }
}
