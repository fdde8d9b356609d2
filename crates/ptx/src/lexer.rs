//! Splits PTX text into tokens (PTX ISA 4.1 to 4.4).

use crate::span::Span;

/// Kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `name`, `%name`, `$name`, `_`
    Ident,
    /// `.word`, with `::word` parts; the dot is the first byte.
    Word,
    /// An integer constant of any base, with its suffix.
    Int,
    /// A decimal constant with a fraction or an exponent.
    Decimal,
    /// `0f…`
    F32,
    /// `0d…`
    F64,
    /// `"…"`
    Text,
    /// One or two bytes of punctuation: the first byte.
    Punct(u8),
    /// `<<`, `>>`, `<=`, `>=`, `==`, `!=`, `&&`, `||`, `@@`: the first byte, doubled or with `=`.
    Punct2(u8, u8),
    /// Bytes that do not start a token.
    Bad,
    /// An unterminated comment or string.
    Open,
    /// Non-ASCII characters in a comment.
    Foreign,
    /// The end of the text.
    Eof,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub kind: Kind,
    pub span: Span,
}

impl Token {
    pub fn is(&self, punct: u8) -> bool {
        self.kind == Kind::Punct(punct)
    }
}

const SPACE: u8 = 1;
const IDENT: u8 = 2;
const START: u8 = 4;
const DIGIT: u8 = 8;

const CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut b = 0;
    while b < 256 {
        let c = b as u8;
        if matches!(c, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c) {
            table[b] = SPACE;
        } else if c.is_ascii_digit() {
            table[b] = IDENT | DIGIT;
        } else if c.is_ascii_alphabetic() || matches!(c, b'_' | b'$') {
            table[b] = IDENT | START;
        } else if c == b'%' {
            table[b] = START;
        }
        b += 1;
    }
    table
};

fn class(b: u8) -> u8 {
    CLASS[b as usize]
}

/// Produces tokens on demand.
#[derive(Clone, Debug)]
pub(crate) struct Lexer<'s> {
    bytes: &'s [u8],
    at: usize,
}

impl<'s> Lexer<'s> {
    pub fn new(source: &'s str) -> Self {
        Lexer { bytes: source.as_bytes(), at: 0 }
    }

    /// Continues at this offset.
    pub fn seek(&mut self, offset: u32) {
        self.at = (offset as usize).min(self.bytes.len());
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn skip_class(&mut self, mask: u8) {
        while self.bytes.get(self.at).is_some_and(|b| class(*b) & mask != 0) {
            self.at += 1;
        }
    }

    /// Skips blanks, comments and preprocessor lines. The error is the token that represents a broken
    /// comment.
    fn skip_blank(&mut self) -> Result<(), (Kind, usize)> {
        loop {
            self.skip_class(SPACE);
            match (self.byte(0), self.byte(1)) {
                (b'/', b'/') => self.skip_ascii(|b| b == b'\n')?,
                (b'/', b'*') => {
                    let start = self.at;
                    self.at += 2;
                    loop {
                        self.skip_ascii(|b| b == b'*')?;
                        if self.at >= self.bytes.len() {
                            return Err((Kind::Open, start));
                        }
                        self.at += 1;
                        if self.byte(0) == b'/' {
                            self.at += 1;
                            break;
                        }
                    }
                }
                (b'#', _) => self.skip_line(),
                _ => return Ok(()),
            }
        }
    }

    /// Skips to a byte in a comment. Comments must be ASCII.
    fn skip_ascii(&mut self, stop: impl Fn(u8) -> bool) -> Result<(), (Kind, usize)> {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let found = rest.iter().position(|b| stop(*b) || !b.is_ascii());
        let start = self.at + found.unwrap_or(rest.len());
        self.at = start;
        if self.bytes.get(start).is_none_or(|b| b.is_ascii()) {
            return Ok(());
        }
        // Consumes the whole character, so that spans stay on character boundaries.
        while self.bytes.get(self.at).is_some_and(|b| !b.is_ascii()) {
            self.at += 1;
        }
        Err((Kind::Foreign, start))
    }

    fn skip_line(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
    }

    /// The offset after the current line.
    pub fn line_end(&self, from: u32) -> u32 {
        let rest = self.bytes.get(from as usize..).unwrap_or(&[]);
        from + rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()) as u32
    }

    /// The next token; at the end, always [`Kind::Eof`].
    pub fn next(&mut self) -> Token {
        if let Err((kind, start)) = self.skip_blank() {
            return self.token(kind, start);
        }
        let start = self.at;
        let Some(&first) = self.bytes.get(start) else {
            return self.token(Kind::Eof, start);
        };
        self.at += 1;
        let kind = match first {
            b if class(b) & START != 0 => {
                self.skip_class(IDENT);
                Kind::Ident
            }
            b'.' => self.word(),
            b if class(b) & DIGIT != 0 => self.number(first),
            b'"' => self.string(),
            b if b.is_ascii_punctuation() => {
                let second = self.byte(0);
                let pair = matches!(
                    (b, second),
                    (b'<', b'<' | b'=')
                        | (b'>', b'>' | b'=')
                        | (b'=' | b'!', b'=')
                        | (b'&', b'&')
                        | (b'|', b'|')
                        | (b'@', b'@')
                );
                if pair {
                    self.at += 1;
                    Kind::Punct2(b, second)
                } else {
                    Kind::Punct(b)
                }
            }
            _ => {
                while self.bytes.get(self.at).is_some_and(|b| !b.is_ascii_graphic() && class(*b) != SPACE) {
                    self.at += 1;
                }
                Kind::Bad
            }
        };
        self.token(kind, start)
    }

    fn token(&self, kind: Kind, start: usize) -> Token {
        Token { kind, span: Span::new(start as u32, self.at as u32) }
    }

    fn word(&mut self) -> Kind {
        let start = self.at;
        self.skip_class(IDENT);
        if self.at == start {
            return Kind::Punct(b'.');
        }
        while self.byte(0) == b':' && self.byte(1) == b':' && class(self.byte(2)) & IDENT != 0 {
            self.at += 2;
            self.skip_class(IDENT);
        }
        Kind::Word
    }

    fn number(&mut self, first: u8) -> Kind {
        if first == b'0' && matches!(self.byte(0), b'x' | b'X' | b'b' | b'B' | b'f' | b'F' | b'd' | b'D') {
            let kind = match self.byte(0) {
                b'f' | b'F' => Kind::F32,
                b'd' | b'D' => Kind::F64,
                _ => Kind::Int,
            };
            self.skip_class(IDENT);
            return kind;
        }
        self.skip_class(DIGIT);
        let mut kind = Kind::Int;
        if self.byte(0) == b'.' && class(self.byte(1)) & DIGIT != 0 {
            kind = Kind::Decimal;
            self.at += 1;
            self.skip_class(DIGIT);
        } else if self.byte(0) == b'.' && class(self.byte(1)) & IDENT == 0 {
            kind = Kind::Decimal;
            self.at += 1;
        }
        let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
        if matches!(self.byte(0), b'e' | b'E') && class(self.byte(1 + sign)) & DIGIT != 0 {
            kind = Kind::Decimal;
            self.at += 1 + sign;
        }
        // Identifier characters directly after a number belong to it: `12ab` is one malformed constant.
        self.skip_class(IDENT);
        kind
    }

    fn string(&mut self) -> Kind {
        loop {
            match self.bytes.get(self.at) {
                None | Some(b'\n') => return Kind::Open,
                Some(b'"') => {
                    self.at += 1;
                    return Kind::Text;
                }
                Some(b'\\') => self.at = (self.at + 2).min(self.bytes.len()),
                Some(_) => self.at += 1,
            }
        }
    }
}

/// The value of a [`Kind::Int`] token, and whether its suffix or size makes it unsigned; `None` if it is
/// malformed or too large.
pub(crate) fn integer(text: &str) -> Option<(u64, bool)> {
    let (digits, suffix) = match text.strip_suffix(['u', 'U']) {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    let bits = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => u64::from_str_radix(plain(digits.get(2..)?)?, 16),
        [b'0', b'b' | b'B', ..] => u64::from_str_radix(plain(digits.get(2..)?)?, 2),
        [b'0', _, ..] => u64::from_str_radix(plain(digits.get(1..)?)?, 8),
        _ => plain(digits)?.parse(),
    };
    let bits = bits.ok()?;
    Some((bits, suffix || bits > i64::MAX as u64))
}

/// Rejects signs, which `from_str_radix` would accept and PTX does not.
fn plain(digits: &str) -> Option<&str> {
    if digits.starts_with(['+', '-']) { None } else { Some(digits) }
}

/// The bits of a `0f…` constant: exactly eight hexadecimal digits.
pub(crate) fn f32_bits(text: &str) -> Option<u32> {
    let digits = text.get(2..)?;
    if digits.len() == 8 { u32::from_str_radix(plain(digits)?, 16).ok() } else { None }
}

/// The bits of a `0d…` constant: exactly sixteen hexadecimal digits.
pub(crate) fn f64_bits(text: &str) -> Option<u64> {
    let digits = text.get(2..)?;
    if digits.len() == 16 { u64::from_str_radix(plain(digits)?, 16).ok() } else { None }
}
