//! A tokenised text with matched brackets, and queries about it.

use std::cell::Cell;
use std::ops::Range;

use crate::token::{self, Token, TokenKind};

/// Marks a bracket without a partner.
const NONE: u32 = u32::MAX;

/// A lexed text.
pub struct Source<'a> {
    /// The text.
    pub text: &'a [u8],
    /// Its tokens.
    pub tokens: Vec<Token>,
    /// For each bracket, the index of its partner.
    partners: Vec<u32>,
    /// The tokens that start directives.
    hashes: Vec<usize>,
    /// The amount of work: bytes and tokens visited, with repetition.
    steps: Cell<u64>,
}

/// The tokens of an argument in a call; empty if the argument is.
pub type Argument = Range<usize>;

impl<'a> Source<'a> {
    /// Lexes a text of less than 4 GiB.
    pub fn new(text: &'a [u8]) -> Self {
        let lexed = token::lex(text);
        let partners = match_brackets(&lexed.tokens);
        let starts = lexed.tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Hash);
        let hashes = starts.map(|(at, _)| at).collect();
        Source { text, tokens: lexed.tokens, partners, hashes, steps: Cell::new(lexed.steps) }
    }

    /// Counts a visit of a token.
    pub fn step(&self) {
        self.steps.set(self.steps.get() + 1);
    }

    /// The number of visits so far.
    pub fn steps(&self) -> u64 {
        self.steps.get()
    }

    /// The token at this index, if it exists.
    pub fn token(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at)
    }

    /// A token's bytes.
    pub fn bytes(&self, at: usize) -> &'a [u8] {
        self.tokens.get(at).and_then(|token| self.text.get(token.range())).unwrap_or(&[])
    }

    /// The name of an identifier, without line splices.
    pub fn name(&self, at: usize) -> Option<std::borrow::Cow<'a, str>> {
        let token = self.tokens.get(at).filter(|token| token.kind == TokenKind::Identifier)?;
        let bytes = self.text.get(token.range())?;
        if bytes.contains(&b'\\') {
            let clean: Vec<u8> =
                bytes.iter().copied().filter(|b| !matches!(b, b'\\' | b'\r' | b'\n')).collect();
            return String::from_utf8(clean).ok().map(Into::into);
        }
        std::str::from_utf8(bytes).ok().map(Into::into)
    }

    /// Whether the token is this punctuation character.
    pub fn is(&self, at: usize, byte: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(byte))
    }

    /// Whether the token is of this kind.
    pub fn kind_is(&self, at: usize, kind: TokenKind) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == kind)
    }

    /// Whether the token is this word.
    pub fn is_word(&self, at: usize, word: &str) -> bool {
        self.kind_is(at, TokenKind::Identifier) && self.bytes(at) == word.as_bytes()
    }

    /// The partner of the bracket at `at`.
    pub fn partner(&self, at: usize) -> Option<usize> {
        self.partners.get(at).filter(|p| **p != NONE).map(|p| *p as usize)
    }

    /// Whether some tokens contain a directive.
    pub fn has_directive(&self, tokens: &Range<usize>) -> bool {
        let next = self.hashes.partition_point(|hash| *hash < tokens.start);
        self.hashes.get(next).is_some_and(|hash| *hash < tokens.end)
    }

    /// The tokens of the directive that the token at `at` is in.
    pub fn directive(&self, at: usize) -> Range<usize> {
        let next = self.hashes.partition_point(|hash| *hash <= at);
        let start = next.checked_sub(1).and_then(|last| self.hashes.get(last)).copied().unwrap_or(at);
        let rest = self.tokens.get(start..).unwrap_or(&[]);
        start
            ..start
                + rest
                    .iter()
                    .take_while(|token| Some(token.directive) == rest.first().map(|t| t.directive))
                    .count()
    }

    /// The byte range from the first to the last of some tokens; empty if there are none.
    pub fn extent(&self, tokens: &Range<usize>) -> Range<usize> {
        match (
            self.tokens.get(tokens.start),
            tokens.end.checked_sub(1).and_then(|last| self.tokens.get(last)),
        ) {
            (Some(first), Some(last)) if !tokens.is_empty() => first.start as usize..last.end as usize,
            _ => 0..0,
        }
    }

    /// Whether two tokens are in the same directive, or both outside directives.
    pub fn together(&self, a: usize, b: usize) -> bool {
        match (self.tokens.get(a), self.tokens.get(b)) {
            (Some(a), Some(b)) => a.directive == b.directive,
            _ => false,
        }
    }

    /// Whether the token is the name of a macro that a directive defines.
    pub fn is_macro_name(&self, at: usize) -> bool {
        let defines = self.tokens.get(at).is_some_and(|token| token.directive != 0);
        defines && self.directive(at).start + 2 == at && self.is_word(at - 1, "define")
    }

    /// The token after the template arguments opened by the `<` at `at`, if they parse as such.
    pub fn after_template(&self, at: usize, end: usize) -> Option<usize> {
        /// Longer lists are taken for comparisons.
        const LONGEST: usize = 256;
        let mut depth = 0usize;
        let mut place = at;
        while place < end.min(at + LONGEST) {
            self.step();
            let token = self.tokens.get(place)?;
            match token.kind {
                TokenKind::Punct(b'<') => depth += 1,
                TokenKind::Punct(b'>') => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(place + 1);
                    }
                }
                TokenKind::Punct(b'(' | b'[') => place = self.partner(place)?,
                TokenKind::Identifier | TokenKind::Number | TokenKind::Scope | TokenKind::Character => {}
                TokenKind::Punct(b',' | b'*' | b'&' | b'.' | b'+' | b'-' | b'/' | b'!') => {}
                _ => return None,
            }
            place += 1;
        }
        None
    }

    /// Splits `range` at its commas, keeping brackets and template arguments whole. An empty range has no
    /// arguments.
    pub fn arguments(&self, range: Range<usize>) -> Vec<Argument> {
        let mut arguments = Vec::new();
        let mut start = range.start;
        let mut at = range.start;
        while at < range.end {
            self.step();
            let Some(token) = self.tokens.get(at) else { break };
            match token.kind {
                TokenKind::Punct(b',') => {
                    arguments.push(start..at);
                    start = at + 1;
                }
                TokenKind::Punct(b'(' | b'[' | b'{') => {
                    if let Some(close) = self.partner(at).filter(|close| *close < range.end) {
                        at = close;
                    }
                }
                TokenKind::Punct(b'<') if at > range.start && self.kind_is(at - 1, TokenKind::Identifier) => {
                    if let Some(after) = self.after_template(at, range.end) {
                        let next = self.tokens.get(after).map(|token| token.kind);
                        let ends = after == range.end;
                        let follows = matches!(
                            next,
                            Some(TokenKind::Punct(b'(' | b'{' | b',' | b'*' | b'&') | TokenKind::Scope)
                        );
                        if ends || follows {
                            at = after - 1;
                        }
                    }
                }
                _ => {}
            }
            at += 1;
        }
        if start < range.end || !arguments.is_empty() {
            arguments.push(start..range.end);
        }
        arguments
    }
}

fn match_brackets(tokens: &[Token]) -> Vec<u32> {
    let mut partners = vec![NONE; tokens.len()];
    // Brackets in a directive match only each other: a macro may open one that another macro closes.
    let mut outside: Vec<(usize, u8)> = Vec::new();
    let mut inside: Vec<(usize, u8)> = Vec::new();
    let mut directive = 0;
    for (at, token) in tokens.iter().enumerate() {
        if token.directive != directive {
            directive = token.directive;
            inside.clear();
        }
        let open = if directive == 0 { &mut outside } else { &mut inside };
        let TokenKind::Punct(byte) = token.kind else { continue };
        let opener = match byte {
            b'(' | b'[' | b'{' => {
                open.push((at, byte));
                continue;
            }
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            _ => continue,
        };
        // Brackets that are skipped by a closing one have no partner; only braces skip braces.
        while let Some((place, kind)) = open.last().copied() {
            if kind == opener {
                open.pop();
                if let (Some(a), Ok(b)) = (partners.get_mut(place), u32::try_from(at)) {
                    *a = b;
                }
                if let (Some(a), Ok(b)) = (partners.get_mut(at), u32::try_from(place)) {
                    *a = b;
                }
                break;
            }
            if kind == b'{' {
                break;
            }
            open.pop();
        }
    }
    partners
}
