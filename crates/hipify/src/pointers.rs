//! Device pointers: integers in CUDA's driver API and `void *` in HIP. Sums get a cast to `char *`, which
//! converts to `void *` in C and C++; other arithmetic gets a cast to an integer, and its result one back.

use std::collections::HashSet;
use std::ops::Range;

use crate::edit::Edits;
use crate::source::Source;
use crate::token::TokenKind;

const BYTES: &str = "(char *)";
const NUMBER: &str = "(unsigned long long)";
const POINTER: &str = "(hipDeviceptr_t)(";

/// Longer expressions are not read.
const LONGEST: usize = 64;

/// The uses of names in a text, as tokens.
#[derive(Default)]
pub(crate) struct Operands {
    /// Device pointers, with their subscripts.
    pub pointers: Vec<Range<usize>>,
    /// Members that some structure of the text declares as device pointers, and the tokens of their names.
    pub fields: Vec<(Range<usize>, usize)>,
    /// Casts from integers: `static_cast` of `static_cast<CUdeviceptr>(n)`.
    pub casts: Vec<usize>,
    /// Integers with at least 64 bits.
    pub integers: HashSet<usize>,
}

/// Edits the uses of device pointers. Returns the tokens of those that need a look.
pub(crate) fn rewrite(
    source: &Source<'_>,
    operands: &Operands,
    excluded: impl Fn(usize) -> bool,
    edits: &mut Edits,
) -> Vec<usize> {
    let mut told = Vec::new();
    let mut wrapped = HashSet::new();
    for cast in operands.casts.iter().filter(|cast| !excluded(**cast)) {
        let Some(token) = source.token(*cast) else { continue };
        edits.replace(token.range(), "reinterpret_cast");
    }
    for (operand, name) in operands.fields.iter().filter(|(operand, _)| !excluded(operand.start)) {
        let changed =
            matches!(source.token(operand.end), Some(token) if [b'+', b'-'].iter().any(|b| token.is(*b)));
        if !is_cast(source, operand.start) && (changed || expression(source, operand).1 != Kind::Plain) {
            told.push(*name);
        }
    }
    for operand in operands.pointers.iter().filter(|operand| !excluded(operand.start)) {
        let Some(token) = source.token(operand.start) else { continue };
        let (start, next) = (token.start as usize, operand.end);
        let joined =
            |at: usize, byte: u8| source.is(at, byte) && source.is(at + 1, byte) && glued(source, at);
        let before = operand.start.checked_sub(1);
        let counted = joined(next, b'+')
            || joined(next, b'-')
            || before.and_then(|at| at.checked_sub(1)).is_some_and(|at| joined(at, b'+') || joined(at, b'-'));
        if is_cast(source, operand.start) {
            continue;
        }
        if counted {
            told.push(operand.start);
            continue;
        }
        if source.is(next + 1, b'=') && glued(source, next) {
            match source.token(next).map(|token| token.kind) {
                // `d += n`
                Some(TokenKind::Punct(b'+' | b'-')) => add(source, operand, edits),
                Some(TokenKind::Punct(b'*' | b'/' | b'%' | b'&' | b'|' | b'^')) => told.push(operand.start),
                _ => {}
            }
            continue;
        }
        if source.is(next, b'=') && !source.is(next + 1, b'=') {
            // `d = u`, `d = (size_t)p`
            let value = next + 1;
            let number = operands.integers.contains(&value) && ends(source, value + 1)
                || source.is(value, b'(')
                    && source.partner(value).is_some_and(|close| integer(source, close));
            if number && wrapped.insert(value) {
                wrap(source, value, edits);
            }
            continue;
        }
        let (left, kind) = expression(source, operand);
        let target = left.filter(|at| source.is(*at, b'=')).and_then(|at| at.checked_sub(1));
        let to_integer = target.is_some_and(|at| operands.integers.contains(&at));
        if kind == Kind::Bits || to_integer {
            edits.open(start, NUMBER);
            let to_pointer = target
                .filter(|at| operands.pointers.binary_search_by(|other| other.end.cmp(&(at + 1))).is_ok());
            if let Some(at) = to_pointer.filter(|at| wrapped.insert(at + 2)) {
                wrap(source, at + 2, edits);
            }
        } else if kind == Kind::Sum {
            edits.open(start, BYTES);
        }
        // `static_cast<unsigned long long>(d)`
        let alone = before.filter(|open| source.is(*open, b'(') && source.partner(*open) == Some(next));
        if let Some(open) = alone.filter(|open| *open > 0 && source.is(*open - 1, b'>')) {
            let cast = (open.saturating_sub(8)..open).rev().find(|at| source.is_word(*at, "static_cast"));
            if let Some(token) = cast.and_then(|at| source.token(at)) {
                edits.replace(token.range(), "reinterpret_cast");
            }
        }
    }
    told
}

/// Whether an operand follows a cast, which decides its type: `(float *)d`.
fn is_cast(source: &Source<'_>, operand: usize) -> bool {
    let Some(open) =
        operand.checked_sub(1).filter(|at| source.is(*at, b')')).and_then(|at| source.partner(at))
    else {
        return false;
    };
    let words: [&[u8]; 4] = [b"if", b"while", b"for", b"switch"];
    open.checked_sub(1).is_none_or(|at| !words.contains(&source.bytes(at)))
}

/// Whether nothing stands between a token and the next one.
fn glued(source: &Source<'_>, at: usize) -> bool {
    source.token(at).map(|token| token.end) == source.token(at + 1).map(|token| token.start)
}

/// Whether an expression ends before this token.
fn ends(source: &Source<'_>, at: usize) -> bool {
    source.is(at, b';') || source.is(at, b',')
}

/// Whether the parenthesis at `close` ends a cast to an integer.
fn integer(source: &Source<'_>, close: usize) -> bool {
    let word = close.checked_sub(1).map_or(b"".as_slice(), |at| source.bytes(at));
    matches!(word, b"long" | b"size_t" | b"uint64_t" | b"int64_t" | b"uintptr_t" | b"intptr_t")
}

/// The end of the expression that starts at `from`.
fn end(source: &Source<'_>, from: usize) -> Option<usize> {
    let mut at = from;
    for _ in 0..LONGEST {
        source.step();
        match source.token(at)?.kind {
            TokenKind::Punct(b';' | b',' | b')' | b']' | b'}') => return Some(at),
            TokenKind::Punct(b'(' | b'[' | b'{') => at = source.partner(at)?,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Casts the value that starts at `from` to a device pointer.
fn wrap(source: &Source<'_>, from: usize, edits: &mut Edits) {
    let Some(end) = end(source, from) else { return };
    let extent = source.extent(&(from..end));
    edits.open(extent.start, POINTER);
    edits.close(extent.end, ")");
}

/// `d += n` becomes `d = (char *)d + (n)`.
fn add(source: &Source<'_>, operand: &Range<usize>, edits: &mut Edits) {
    let (sign, value) = (operand.end, operand.end + 2);
    let (Some(end), Some(token)) = (end(source, value), source.token(sign)) else { return };
    let name = source.text.get(source.extent(operand)).map(String::from_utf8_lossy).unwrap_or_default();
    let sign = String::from_utf8_lossy(source.bytes(sign)).into_owned();
    edits.replace(token.start as usize..token.end as usize + 1, format!("= {BYTES}{name} {sign}"));
    if end > value + 1 {
        let extent = source.extent(&(value..end));
        edits.open(extent.start, "(");
        edits.close(extent.end, ")");
    }
}

/// What an expression does with a device pointer.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// No arithmetic.
    Plain,
    /// A sum or difference.
    Sum,
    /// Arithmetic that pointers do not have.
    Bits,
}

/// What the expression around an operand does with it, and the token before the expression.
fn expression(source: &Source<'_>, operand: &Range<usize>) -> (Option<usize>, Kind) {
    let mut group = operand.clone();
    let mut kind = Kind::Plain;
    let mut left = None;
    for level in 0..4 {
        let (before, next) = (group.start.checked_sub(1), group.end);
        let is = |at: Option<usize>, bytes: &[u8]| {
            at.is_some_and(|at| bytes.iter().any(|byte| source.is(at, *byte)))
        };
        let binary = before.and_then(|at| at.checked_sub(1)).is_some_and(|at| value(source, at));
        if is(Some(next), b"*/%") || binary && is(before, b"/%") {
            kind = Kind::Bits;
        } else if level == 0 && (is(Some(next), b"+-") || binary && is(before, b"+-")) {
            kind = Kind::Sum;
        }
        // Operators that bind less than sums, on this level of parentheses.
        let mut at = next;
        for _ in 0..LONGEST {
            source.step();
            match source.token(at).map(|token| token.kind) {
                Some(TokenKind::Punct(b'(' | b'[')) => match source.partner(at) {
                    Some(close) => at = close,
                    None => break,
                },
                Some(TokenKind::Punct(byte @ (b'&' | b'|'))) => {
                    if source.is(at + 1, byte) {
                        break;
                    }
                    kind = Kind::Bits;
                }
                Some(TokenKind::Punct(b'^')) => kind = Kind::Bits,
                Some(TokenKind::Punct(byte @ (b'<' | b'>'))) => {
                    if source.is(at + 1, byte) && glued(source, at) {
                        kind = Kind::Bits;
                    }
                    break;
                }
                Some(TokenKind::Punct(b'+' | b'-' | b'*' | b'/' | b'%' | b'~' | b'.')) => {}
                Some(TokenKind::Identifier | TokenKind::Number | TokenKind::Arrow | TokenKind::Scope) => {}
                _ => break,
            }
            at += 1;
        }
        let close = at;
        let mut at = before;
        for _ in 0..LONGEST {
            source.step();
            let Some(place) = at else { break };
            match source.token(place).map(|token| token.kind) {
                Some(TokenKind::Punct(b')' | b']')) => match source.partner(place) {
                    Some(open) => at = Some(open),
                    None => break,
                },
                Some(TokenKind::Punct(b'+' | b'-' | b'*' | b'/' | b'%' | b'~' | b'.')) => {}
                Some(TokenKind::Identifier) if !crate::rules::is_statement(source, place) => {}
                Some(TokenKind::Number | TokenKind::Arrow | TokenKind::Scope) => {}
                _ => break,
            }
            at = at.and_then(|place| place.checked_sub(1));
        }
        left = at;
        // Parentheses around the operand alone or around its sum, which are no call's.
        let Some(open) = at.filter(|open| source.is(*open, b'(') && source.partner(*open) == Some(close))
        else {
            break;
        };
        if open.checked_sub(1).is_some_and(|at| value(source, at) || source.is(at, b'>')) {
            break;
        }
        group = open..close + 1;
    }
    (left, kind)
}

/// Whether an operand ends with this token.
fn value(source: &Source<'_>, at: usize) -> bool {
    let word = source.kind_is(at, TokenKind::Identifier) && !crate::rules::is_statement(source, at);
    word || source.kind_is(at, TokenKind::Number) || source.is(at, b')') || source.is(at, b']')
}
