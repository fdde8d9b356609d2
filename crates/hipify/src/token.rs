//! The lexer: splits C++ and CUDA into tokens with their byte ranges. White space and comments are the bytes
//! between tokens.

/// Kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name or keyword.
    Identifier,
    /// A number, including digit separators and suffixes.
    Number,
    /// A string literal, raw or not, with prefix and suffix.
    Text,
    /// A character literal.
    Character,
    /// `<file>` or `"file"` of an include.
    HeaderName,
    /// `<<<` of a launch.
    LaunchOpen,
    /// `::`
    Scope,
    /// `->`
    Arrow,
    /// `##`
    Paste,
    /// The `#` that starts a directive.
    Hash,
    /// Any other byte that is not white space.
    Punct(u8),
}

/// One token: bytes `start..end` of the text.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// Its kind.
    pub kind: TokenKind,
    /// Offset of its first byte.
    pub start: u32,
    /// Offset after its last byte.
    pub end: u32,
    /// 0 outside directives, otherwise one more than the directive's index.
    pub directive: u32,
}

impl Token {
    /// Its byte range in the text.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Whether it is this punctuation character.
    pub fn is(&self, byte: u8) -> bool {
        self.kind == TokenKind::Punct(byte)
    }
}

/// The tokens of a text, and the work that they took.
pub struct Lexed {
    /// In order of the text.
    pub tokens: Vec<Token>,
    /// Bytes visited, counted with repetition: the measure of how work grows.
    pub steps: u64,
}

struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    tokens: Vec<Token>,
    directives: u32,
    directive: u32,
    /// Whether the current line has no token yet.
    line_start: bool,
    steps: u64,
}

fn starts_identifier(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn continues_identifier(byte: u8) -> bool {
    starts_identifier(byte) || byte.is_ascii_digit()
}

impl Lexer<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    fn starts_with(&self, what: &[u8]) -> bool {
        self.text.get(self.at..).is_some_and(|rest| rest.starts_with(what))
    }

    /// The length of a line splice at `at`: a backslash and the line end after it.
    fn splice(&self, at: usize) -> usize {
        match (self.byte(at), self.byte(at + 1), self.byte(at + 2)) {
            (b'\\', b'\n', _) => 2,
            (b'\\', b'\r', b'\n') => 3,
            _ => 0,
        }
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        self.steps += (self.at - start) as u64;
        self.line_start = false;
        // Texts of 4 GiB and more have been refused.
        self.tokens.push(Token { kind, start: start as u32, end: self.at as u32, directive: self.directive });
    }

    /// Skips white space and comments.
    fn skip(&mut self) {
        let start = self.at;
        while self.at < self.text.len() {
            let splice = self.splice(self.at);
            if splice > 0 {
                self.at += splice;
            } else if self.byte(self.at) == b'\n' {
                self.at += 1;
                self.line_start = true;
                self.directive = 0;
            } else if self.byte(self.at).is_ascii_whitespace() || matches!(self.byte(self.at), 0x0b | 0) {
                self.at += 1;
            } else if self.starts_with(b"//") {
                while self.at < self.text.len() && self.byte(self.at) != b'\n' {
                    self.at += self.splice(self.at).max(1);
                }
            } else if self.starts_with(b"/*") {
                self.at += 2;
                while self.at < self.text.len() && !self.starts_with(b"*/") {
                    self.at += 1;
                }
                self.at = (self.at + 2).min(self.text.len());
            } else {
                break;
            }
        }
        self.at = self.at.min(self.text.len());
        self.steps += (self.at - start) as u64;
    }

    fn identifier(&mut self) {
        while continues_identifier(self.byte(self.at)) || self.splice(self.at) > 0 {
            self.at += self.splice(self.at).max(1);
        }
    }

    fn number(&mut self) {
        loop {
            let (byte, next) = (self.byte(self.at), self.byte(self.at + 1));
            self.at += match byte {
                b'e' | b'E' | b'p' | b'P' if matches!(next, b'+' | b'-') => 2,
                b'\'' if continues_identifier(next) => 2,
                b'.' => 1,
                _ if continues_identifier(byte) => 1,
                _ if self.splice(self.at) > 0 => self.splice(self.at),
                _ => return,
            };
        }
    }

    /// A string or character literal after its opening quote, up to its closing quote or the line end.
    fn quoted(&mut self, quote: u8) {
        while self.at < self.text.len() {
            let splice = self.splice(self.at);
            match self.byte(self.at) {
                _ if splice > 0 => self.at += splice,
                b'\\' if self.byte(self.at + 1) != b'\n' => self.at += 2,
                b'\n' => return,
                byte => {
                    self.at += 1;
                    if byte == quote {
                        return self.identifier();
                    }
                }
            }
        }
        self.at = self.at.min(self.text.len());
    }

    /// A raw string after its opening quote. Without an opening parenthesis it is lexed as a plain string.
    fn raw(&mut self) {
        let delimiter = self.at;
        let mut open = delimiter;
        while open < self.text.len() && open - delimiter <= 16 && self.byte(open) != b'(' {
            if matches!(self.byte(open), b' ' | b')' | b'\\' | b'\n' | b'\t' | b'"') {
                return self.quoted(b'"');
            }
            open += 1;
        }
        if self.byte(open) != b'(' {
            return self.quoted(b'"');
        }
        let mut close = vec![b')'];
        close.extend_from_slice(self.text.get(delimiter..open).unwrap_or(&[]));
        close.push(b'"');
        self.at = open + 1;
        while self.at < self.text.len() {
            if self.starts_with(&close) {
                self.at += close.len();
                return self.identifier();
            }
            self.at += 1;
        }
    }

    /// Handles a quote directly after an identifier, which may be the prefix of a literal.
    fn prefixed(&mut self, start: usize) -> bool {
        let prefix = self.text.get(start..self.at).unwrap_or(&[]);
        let raw = matches!(prefix, b"R" | b"u8R" | b"uR" | b"UR" | b"LR");
        let plain = matches!(prefix, b"u8" | b"u" | b"U" | b"L");
        match self.byte(self.at) {
            b'"' if raw => {
                self.at += 1;
                self.raw();
                self.push(TokenKind::Text, start);
            }
            quote @ (b'"' | b'\'') if plain => {
                self.at += 1;
                self.quoted(quote);
                self.push(if quote == b'"' { TokenKind::Text } else { TokenKind::Character }, start);
            }
            _ => return false,
        }
        true
    }

    /// Lexes a header's name if the last tokens are those of an include.
    fn header_name(&mut self) -> bool {
        let [.., hash, word] = self.tokens.as_slice() else { return false };
        if self.directive == 0 || hash.kind != TokenKind::Hash || hash.directive != self.directive {
            return false;
        }
        let word = self.text.get(word.range()).unwrap_or(&[]);
        let close = match self.byte(self.at) {
            b'<' => b'>',
            b'"' => b'"',
            _ => return false,
        };
        if !matches!(word, b"include" | b"include_next" | b"import") {
            return false;
        }
        let rest = self.text.get(self.at + 1..).unwrap_or(&[]);
        let line = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        let Some(length) = rest.iter().take(line).position(|b| *b == close) else { return false };
        let start = self.at;
        self.at += length + 2;
        self.push(TokenKind::HeaderName, start);
        true
    }

    fn run(&mut self) {
        loop {
            self.skip();
            if self.at >= self.text.len() {
                return;
            }
            let (start, byte) = (self.at, self.byte(self.at));
            if self.header_name() {
                continue;
            }
            if starts_identifier(byte) {
                self.identifier();
                if !self.prefixed(start) {
                    self.push(TokenKind::Identifier, start);
                }
            } else if byte.is_ascii_digit() || byte == b'.' && self.byte(start + 1).is_ascii_digit() {
                self.number();
                self.push(TokenKind::Number, start);
            } else if matches!(byte, b'"' | b'\'') {
                self.at += 1;
                self.quoted(byte);
                self.push(if byte == b'"' { TokenKind::Text } else { TokenKind::Character }, start);
            } else {
                self.punctuation(start, byte);
            }
        }
    }

    fn punctuation(&mut self, start: usize, byte: u8) {
        let (kind, length) = match byte {
            b'#' if self.starts_with(b"##") => (TokenKind::Paste, 2),
            b'#' if self.line_start => {
                self.directives += 1;
                self.directive = self.directives;
                (TokenKind::Hash, 1)
            }
            b'%' if self.line_start && self.starts_with(b"%:") => {
                self.directives += 1;
                self.directive = self.directives;
                (TokenKind::Hash, 2)
            }
            b':' if self.starts_with(b"::") => (TokenKind::Scope, 2),
            b'-' if self.starts_with(b"->") => (TokenKind::Arrow, 2),
            b'<' if self.starts_with(b"<<<") => (TokenKind::LaunchOpen, 3),
            _ => (TokenKind::Punct(byte), 1),
        };
        self.at += length;
        self.push(kind, start);
    }
}

/// The tokens of `text`, which is shorter than 4 GiB.
pub fn lex(text: &[u8]) -> Lexed {
    let mut lexer = Lexer {
        text,
        at: 0,
        tokens: Vec::with_capacity(text.len() / 5),
        directives: 0,
        directive: 0,
        line_start: true,
        steps: 0,
    };
    if text.starts_with(b"\xef\xbb\xbf") {
        lexer.at = 3;
    }
    lexer.run();
    Lexed { tokens: lexer.tokens, steps: lexer.steps }
}
