//! Members of CUDA's structures that HIP's do not have under the same name or in the same order, from
//! `data/members.tsv`: accesses `v.member`, designated initialisers `{.member = ...}` and lists by position.
//! The walk also finds the uses of device pointers, for [`crate::pointers`].

use std::collections::HashMap;
use std::ops::Range;

use crate::pointers::Operands;
use crate::rules::is_statement;
use crate::source::Source;
use crate::table::{self, Kind, Member};
use crate::token::TokenKind;

/// What to do with some tokens that name or set members.
pub(crate) enum Found {
    /// This token becomes this text: `gridDimX` becomes `gridDim.x`.
    Renamed { at: usize, text: &'static str },
    /// The designated initialisers with these tokens set all parts of one member.
    Joined { parts: Vec<Range<usize>>, text: &'static str },
    /// The designator at this token names a part of a member, and not all parts follow each other.
    Apart { at: usize, of: &'static str, member: &'static Member },
    /// The member at this token has no counterpart.
    Lacking { at: usize, of: &'static str, member: &'static Member },
    /// The list at this token sets members by position, and HIP's order differs.
    Order { at: usize, of: &'static str, member: &'static Member },
}

/// Longer expressions, and names declared more blocks further out, are not followed.
const LONGEST: usize = 64;

/// Names with HIP's types that they are declared with and the number of `*` and `[]`.
type Names = HashMap<String, (&'static str, u8)>;

/// HIP's device pointers.
const POINTER: &str = "hipDeviceptr_t";
/// Stands for integers that may hold a device pointer of CUDA's.
const INTEGER: &str = "integer";
/// Stands for any other type, which hides an outer name.
const OTHER: &str = "";

/// The walk over a text.
struct Walk<'s, 'a> {
    source: &'s Source<'a>,
    /// Variables of the enclosing blocks.
    scopes: Vec<(Names, bool)>,
    /// Parameters, which belong to the next block.
    pending: Names,
    /// Members of the structures of the text.
    fields: Names,
    found: Vec<Found>,
    operands: Operands,
}

/// Finds the members that need a change or a word, and the uses of device pointers.
pub(crate) fn find(source: &Source<'_>) -> (Vec<Found>, Operands) {
    let mut walk = Walk {
        source,
        scopes: vec![(Names::new(), false)],
        pending: Names::new(),
        fields: Names::new(),
        found: Vec::new(),
        operands: Operands::default(),
    };
    let mut aggregate = false;
    for at in 0..source.tokens.len() {
        match source.token(at).map(|token| token.kind) {
            Some(TokenKind::Punct(b'{')) => {
                let names = std::mem::take(&mut walk.pending);
                walk.scopes.push((names, std::mem::take(&mut aggregate)));
            }
            Some(TokenKind::Punct(b'}')) if walk.scopes.len() > 1 => {
                if let Some((names, true)) = walk.scopes.pop() {
                    walk.fields.extend(names);
                }
            }
            Some(TokenKind::Punct(b';')) => {
                walk.pending.clear();
                aggregate = false;
            }
            Some(TokenKind::Punct(b'(' | b')' | b'=')) => aggregate = false,
            Some(TokenKind::Identifier) => {
                if matches!(source.bytes(at), b"struct" | b"class" | b"union") {
                    aggregate = true;
                } else if at > 0 && (source.is(at - 1, b'.') || source.kind_is(at - 1, TokenKind::Arrow)) {
                    walk.access(at);
                    walk.field(at);
                } else if let Some(of) = structure(source, at) {
                    walk.cast(at, of);
                    walk.declared(at, of);
                } else {
                    walk.operand(at);
                }
            }
            _ => {}
        }
    }
    (walk.found, walk.operands)
}

/// HIP's name of the structure of CUDA's that is named at `at`.
fn structure(source: &Source<'_>, at: usize) -> Option<&'static str> {
    let bytes = source.bytes(at);
    if matches!(bytes, b"long" | b"size_t" | b"uint64_t" | b"int64_t" | b"uintptr_t" | b"intptr_t") {
        return Some(INTEGER);
    }
    if !bytes.starts_with(b"CU") && !bytes.starts_with(b"cuda") {
        return None;
    }
    table::name(&source.name(at)?).filter(|entry| entry.kind == Kind::Type).map(|entry| entry.hip)
}

impl Walk<'_, '_> {
    /// Records the variables that the type at `at` declares, and reads their initialisers.
    fn declared(&mut self, at: usize, of: &'static str) {
        let source = self.source;
        let mut place = at + 1;
        loop {
            let mut depth = 0u8;
            while source.is(place, b'*')
                || source.is(place, b'&')
                || source.is(place, b'>')
                || source.is_word(place, "const")
            {
                depth = depth.saturating_add(u8::from(source.is(place, b'*') || source.is(place, b'>')));
                place += 1;
                source.step();
            }
            // `type{...}` and `(type){...}`
            let literal = if source.is(place, b')') { place + 1 } else { place };
            if source.is(literal, b'{') {
                return self.initialiser(literal, of);
            }
            let Some(name) = source.name(place).filter(|_| source.together(at, place)) else { return };
            place += 1;
            if source.is(place, b'(') {
                return;
            }
            let array = source.is(place, b'[');
            while source.is(place, b'[') {
                let Some(close) = source.partner(place) else { return };
                place = close + 1;
                depth = depth.saturating_add(1);
                source.step();
            }
            let value = if source.is(place, b'=') { place + 1 } else { place };
            if source.is(value, b'{') {
                let Some(close) = source.partner(value) else { return };
                match array {
                    true => self.elements(value, of),
                    false => self.initialiser(value, of),
                }
                place = close + 1;
            }
            // Parameters end at a comma or at the parenthesis around them.
            let parameter = source.is(place, b')');
            let next_type = source.is(place, b',')
                && source.kind_is(place + 1, TokenKind::Identifier)
                && !source.is(place + 2, b',')
                && !source.is(place + 2, b';')
                && !source.is(place + 2, b'=')
                && !source.is(place + 2, b'[')
                && !source.is(place + 2, b'{');
            if parameter || next_type {
                self.pending.insert(name.into_owned(), (of, depth));
                return;
            }
            if let Some((names, _)) = self.scopes.last_mut() {
                names.insert(name.into_owned(), (of, depth));
            }
            if !source.is(place, b',') {
                return;
            }
            place += 1;
        }
    }

    /// Reads the use of a name: of a device pointer, or of an integer that may hold one.
    fn operand(&mut self, at: usize) {
        let source = self.source;
        let Some(name) = source.name(at) else { return };
        let Some((of, depth)) = self.typed(&name).filter(|(of, _)| *of == POINTER || *of == INTEGER) else {
            return;
        };
        if self.declared_otherwise(at) {
            let ends = source.is(at + 1, b',') || source.is(at + 1, b')');
            let names = match self.scopes.last_mut() {
                Some((names, _)) if !ends => names,
                _ => &mut self.pending,
            };
            names.insert(name.into_owned(), (OTHER, 0));
            return;
        }
        let (mut end, mut left) = (at + 1, depth);
        while source.is(end, b'[') && left > 0 {
            let Some(close) = source.partner(end) else { return };
            (end, left) = (close + 1, left - 1);
            source.step();
        }
        match (of, left) {
            (POINTER, 0) => self.operands.pointers.push(at..end),
            (INTEGER, 0) => {
                self.operands.integers.insert(at);
            }
            _ => {}
        }
    }

    /// Reads a cast to a device pointer.
    fn cast(&mut self, at: usize, of: &'static str) {
        let source = self.source;
        let Some(before) = at.checked_sub(2).filter(|_| of == POINTER) else { return };
        if source.is(at - 1, b'<') && source.is(at + 1, b'>') && source.is_word(before, "static_cast") {
            self.operands.casts.push(before);
        }
        let called = source.kind_is(before, TokenKind::Identifier) && !is_statement(source, before);
        if !source.is(at - 1, b'(') || !source.is(at + 1, b')') || called {
            return;
        }
        let mut end = at + 2;
        for _ in 0..LONGEST {
            source.step();
            match source.token(end).map(|token| token.kind) {
                Some(TokenKind::Punct(b'(' | b'[')) => match source.partner(end) {
                    Some(close) => end = close + 1,
                    None => return,
                },
                Some(TokenKind::Identifier) if !self.joined(end) && end > at + 2 => break,
                Some(TokenKind::Identifier | TokenKind::Arrow | TokenKind::Punct(b'.')) => end += 1,
                _ => break,
            }
        }
        if end > at + 2 {
            self.operands.pointers.push(at - 1..end);
        }
    }

    /// Whether `.` or `->` stands before a token.
    fn joined(&self, at: usize) -> bool {
        at > 0 && (self.source.is(at - 1, b'.') || self.source.kind_is(at - 1, TokenKind::Arrow))
    }

    /// Reads the access to a member that a structure of the text declares as a device pointer.
    fn field(&mut self, at: usize) {
        let source = self.source;
        let is_field =
            source.name(at).and_then(|name| self.fields.get(&*name).copied()) == Some((POINTER, 0));
        if !is_field {
            return;
        }
        let mut start = at;
        for _ in 0..LONGEST {
            if start < 2 || !self.joined(start) {
                break;
            }
            source.step();
            start -= 2;
            while start > 0 && (source.is(start, b']') || source.is(start, b')')) {
                let Some(open) = source.partner(start) else { return };
                start = open.saturating_sub(usize::from(source.is(open, b'[')));
            }
        }
        self.operands.fields.push((start..at + 1, at));
    }

    /// Whether a known name is declared with another type at `at`: `float *name`, `int name = 1`.
    fn declared_otherwise(&self, at: usize) -> bool {
        let source = self.source;
        let after = [b';', b'=', b',', b')', b'[', b'{', b':'];
        if !after.iter().any(|byte| source.is(at + 1, *byte)) {
            return false;
        }
        let mut before = at;
        while before > 0
            && (source.is(before - 1, b'*') || source.is(before - 1, b'&') || source.is(before - 1, b'>'))
        {
            source.step();
            before -= 1;
        }
        let Some(word) = before.checked_sub(1).filter(|word| source.together(*word, at)) else {
            return false;
        };
        source.kind_is(word, TokenKind::Identifier)
            && !is_statement(source, word)
            && structure(source, word).is_none()
            && !(source.is_word(word, "const") && word > 0 && structure(source, word - 1).is_some())
    }

    /// The type of a name.
    fn typed(&self, name: &str) -> Option<(&'static str, u8)> {
        let outermost = self.scopes.first().filter(|_| self.scopes.len() > LONGEST);
        let scopes = self.scopes.iter().rev().take(LONGEST).chain(outermost).map(|(names, _)| names);
        std::iter::once(&self.pending).chain(scopes).chain([&self.fields]).find_map(|names| {
            self.source.step();
            names.get(name).copied()
        })
    }

    /// The structure that a name is declared with.
    fn known(&self, name: &str) -> Option<&'static str> {
        self.typed(name).map(|(of, _)| of)
    }

    /// Reads the access to the member at `at`.
    fn access(&mut self, at: usize) {
        /// Longer chains of members are not followed.
        const LONGEST: usize = 8;
        let source = self.source;
        let bytes = source.bytes(at);
        if !table::MEMBERS.iter().any(|row| row.member.as_bytes() == bytes) {
            return;
        }
        let mut path = vec![at];
        let mut place = at;
        while path.len() < LONGEST && place > 1 {
            source.step();
            let mut owner = place - 2;
            while source.is(owner, b']') {
                let Some(before) = source.partner(owner).and_then(|open| open.checked_sub(1)) else { return };
                owner = before;
            }
            let of = if source.is(owner, b')') {
                // `((type *)p)->member` and `(*p).member`
                let Some(open) = source.partner(owner) else { return };
                let typed = (open + 1..owner.min(open + 6)).find_map(|inner| structure(source, inner));
                let pointed = source.is(open + 1, b'*') && owner == open + 3;
                typed.or_else(|| source.name(open + 2).filter(|_| pointed).and_then(|name| self.known(&name)))
            } else {
                source.name(owner).and_then(|name| self.known(&name))
            };
            let names: Vec<&[u8]> = path.iter().rev().map(|token| source.bytes(*token)).collect();
            if let Some((of, member)) = of.and_then(|of| lookup(of, &names)) {
                self.found.push(match member.hip {
                    "" => Found::Lacking { at, of, member },
                    text if text.starts_with('@') => return,
                    text => Found::Renamed { at, text },
                });
                return;
            }
            let joined =
                owner > 0 && (source.is(owner - 1, b'.') || source.kind_is(owner - 1, TokenKind::Arrow));
            if of.is_some() || !joined {
                return;
            }
            path.push(owner);
            place = owner;
        }
    }

    /// Reads the initialisers of an array's elements.
    fn elements(&mut self, open: usize, of: &'static str) {
        let Some(close) = self.source.partner(open) else { return };
        for element in self.source.arguments(open + 1..close) {
            if self.source.is(element.start, b'{') {
                self.initialiser(element.start, of);
            }
        }
    }

    /// Reads the list that initialises a structure.
    fn initialiser(&mut self, open: usize, of: &'static str) {
        let source = self.source;
        let Some(close) = source.partner(open) else { return };
        let known = base(of);
        if !table::MEMBERS.iter().any(|row| row.of == known) {
            return;
        }
        let all: Vec<Range<usize>> =
            source.arguments(open + 1..close).into_iter().filter(|tokens| !tokens.is_empty()).collect();
        if let Some((of, member)) = lookup(of, &[b"{}"]).filter(|_| all.len() > 1)
            && !source.is(open + 1, b'.')
        {
            self.found.push(Found::Order { at: open, of, member });
            return;
        }
        let mut at = 0;
        while let Some(tokens) = all.get(at) {
            at += 1;
            let (first, name) = (tokens.start, tokens.start + 1);
            let designated = source.is(first, b'.') && source.is(name + 1, b'=');
            let Some((of, member)) = lookup(of, &[source.bytes(name)]).filter(|_| designated) else {
                continue;
            };
            let Some((head, _)) = member.hip.split_once('.') else {
                match member.hip {
                    "" => self.found.push(Found::Lacking { at: name, of, member }),
                    // The list of a structure inside.
                    inner if inner.starts_with('@') => {
                        if source.is(name + 2, b'{') {
                            self.initialiser(name + 2, inner.trim_start_matches('@'));
                        }
                    }
                    text => self.found.push(Found::Renamed { at: name, text }),
                }
                continue;
            };
            let wanted = [".x", ".y", ".z"].map(|part| format!("{head}{part}"));
            let follows = |place: usize, part: &String| {
                all.get(at - 1 + place).is_some_and(|tokens| {
                    source.is(tokens.start, b'.')
                        && source.is(tokens.start + 2, b'=')
                        && lookup(of, &[source.bytes(tokens.start + 1)])
                            .is_some_and(|(_, member)| member.hip == part)
                })
            };
            if wanted.iter().enumerate().all(|(place, part)| follows(place, part)) {
                let parts = all.get(at - 1..at + 2).unwrap_or(&[]).to_vec();
                self.found.push(Found::Joined { parts, text: head });
                at += 2;
            } else {
                self.found.push(Found::Apart { at: name, of, member });
            }
        }
    }
}

/// The structure's name in the rows: without the suffix of its tag, and not another name for it.
fn base(of: &str) -> &str {
    let of = of.strip_suffix("_st").unwrap_or(of);
    let same = table::MEMBERS.iter().find(|row| row.of == of && row.member == "=");
    same.map_or(of, |row| row.hip.trim_start_matches('@'))
}

/// The row of the members that a path from a structure names, with the structure that has the last one.
pub(crate) fn lookup(of: &'static str, path: &[&[u8]]) -> Option<(&'static str, &'static Member)> {
    let (first, rest) = path.split_first()?;
    let of = base(of);
    let row = table::MEMBERS.iter().find(|row| row.of == of && row.member.as_bytes() == *first)?;
    match row.hip.strip_prefix('@') {
        Some(inner) if !rest.is_empty() => lookup(inner, rest),
        // `@` alone says only which structure it is.
        _ => Some((row.of, row)),
    }
}
