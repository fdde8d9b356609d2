//! The parser: tokens to the typed tree, with name resolution and error recovery.
//!
//! Recursion is bounded: nested scopes are a counter, and constant expressions and initial values count their
//! depth.

mod alias;
mod bodies;
mod body;
mod expr;
mod function;
mod instruction;
mod module;
mod operand;
mod variable;

use crate::ast::{Body, FuncId, GlobalId, LabelId, Module, RegId, Variable};
use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::lexer::{Kind, Lexer, Token, integer};
use crate::scope::Scopes;
use crate::span::Span;
use crate::types::Version;
use hashbrown::HashMap;
use std::borrow::Cow;

pub use bodies::{Each, Outline, parse_by};

/// Errors after this many are not reported.
pub const MAX_ERRORS: usize = 20;
/// Maximum nesting depth of scopes, constant expressions and initial values.
pub(crate) const MAX_DEPTH: usize = 128;
/// Maximum size in bytes of a variable with an initial value.
pub(crate) const MAX_INITIALISED: u64 = 1 << 30;

/// An error that has been reported; the caller only has to recover.
#[derive(Debug)]
pub(crate) struct Reported;

pub(crate) type Parsed<T> = Result<T, Reported>;

#[derive(Clone, Copy, Debug)]
pub(crate) enum ModuleName {
    Global(GlobalId),
    Func(FuncId),
}

/// The function that is being parsed.
#[derive(Debug, Default)]
pub(crate) struct Current<'s> {
    pub scopes: Scopes<'s>,
    pub body: Body,
    /// Labels by name and by the number of their scope.
    pub labels: HashMap<(&'s str, u32), LabelId>,
    /// For each scope, the number of the scope around it.
    pub parents: Vec<u32>,
    /// The number of the scope that is being parsed.
    pub scope: u32,
    /// Labels that were referenced before their definition: name, span, scope.
    pub pending: Vec<(&'s str, Span, u32)>,
    /// Ids of the `.param` variables that the function takes.
    pub inputs: std::ops::Range<u32>,
    /// The function, once its body has begun.
    pub function: Option<FuncId>,
    /// A kernel without a parameter list, legal before PTX 1.4: the `.param` variables of its body are its
    /// parameters.
    pub listless: bool,
    /// Statements whose operands hold pending labels.
    pub patches: Vec<u32>,
}

pub(crate) struct Parser<'s> {
    pub source: &'s str,
    lexer: Lexer<'s>,
    /// The next token.
    pub token: Token,
    /// The one after it.
    pub next: Token,
    /// The end of the last token taken.
    pub last_end: u32,
    pub diagnostics: Vec<Diagnostic>,
    /// Borrowed when a body is parsed separately from its module.
    pub module: Cow<'s, Module>,
    pub names: Cow<'s, HashMap<&'s str, ModuleName>>,
    /// How many of the module's variables and functions are visible so far.
    visible: (u32, u32),
    /// Bodies to parse later, if the caller wants that.
    later: Option<Vec<bodies::Later>>,
    pub current: Current<'s>,
    /// Cached matches of instructions against forms.
    pub memo: crate::check::Memo,
    /// Number of open vector braces in the current statement, for recovery.
    pub open_vectors: usize,
}

/// Parses a module.
///
/// # Errors
/// At least one and at most [`MAX_ERRORS`] errors, in text order.
pub fn parse(source: &str) -> Result<Module, Vec<Diagnostic>> {
    if u32::try_from(source.len()).is_err() {
        let message = "A PTX text must be smaller than 4 GiB";
        return Err(vec![Diagnostic::error(ErrorKind::Limit, Span::default(), message)]);
    }
    let mut parser = Parser::new(source);
    parser.module();
    if parser.diagnostics.is_empty() {
        return Ok(parser.module.into_owned());
    }
    parser.diagnostics.sort_by_key(|d| d.span.start);
    Err(parser.diagnostics)
}

/// Parses a module from bytes. Non-ASCII bytes are legal only in strings; bytes that are not UTF-8 are read
/// as `?`.
///
/// # Errors
/// Same as [`parse`].
pub fn parse_bytes(source: &[u8]) -> Result<Module, Vec<Diagnostic>> {
    parse(&text_of(source))
}

/// The text that [`parse_bytes`] reads, with every byte at the same offset. Diagnostics are rendered against
/// it.
pub fn text_of(source: &[u8]) -> std::borrow::Cow<'_, str> {
    match std::str::from_utf8(source) {
        Ok(text) => text.into(),
        Err(_) => source.iter().map(|b| if b.is_ascii() { char::from(*b) } else { '?' }).collect(),
    }
}

impl<'s> Parser<'s> {
    fn new(source: &'s str) -> Self {
        let module = Module {
            version: Version::new(0, 0),
            target: Vec::new(),
            address_size: 64,
            address_size_written: false,
            directives: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
        };
        Parser::within(source, Cow::Owned(module), Cow::default())
    }

    /// A parser for text inside a module whose head is already known.
    fn within(
        source: &'s str,
        module: Cow<'s, Module>,
        names: Cow<'s, HashMap<&'s str, ModuleName>>,
    ) -> Self {
        let mut lexer = Lexer::new(source);
        let (token, next) = (lexer.next(), lexer.next());
        Parser {
            source,
            lexer,
            token,
            next,
            last_end: 0,
            diagnostics: Vec::new(),
            module,
            names,
            visible: (u32::MAX, u32::MAX),
            later: None,
            current: Current::default(),
            open_vectors: 0,
            memo: crate::check::Memo::default(),
        }
    }

    /// Takes the next token.
    pub fn bump(&mut self) -> Token {
        let taken = self.token;
        self.last_end = taken.span.end;
        self.token = self.next;
        self.next = self.lexer.next();
        taken
    }

    /// Continues at this offset.
    pub fn seek(&mut self, offset: u32) {
        self.lexer.seek(offset);
        self.last_end = offset;
        self.token = self.lexer.next();
        self.next = self.lexer.next();
    }

    /// The offset of the end of the line that contains `from`.
    pub fn line_end(&self, from: u32) -> u32 {
        self.lexer.line_end(from)
    }

    pub fn text(&self, span: Span) -> &'s str {
        span.text(self.source)
    }

    /// The next token without its dot if it is a word, otherwise empty.
    pub fn word(&self) -> &'s str {
        match self.token.kind {
            Kind::Word => self.text(self.token.span).get(1..).unwrap_or(""),
            _ => "",
        }
    }

    /// Takes the word `word` if it comes next.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.word() == word && !word.is_empty();
        if found {
            self.bump();
        }
        found
    }

    /// Takes the punctuation if it comes next.
    pub fn eat(&mut self, punct: u8) -> bool {
        let found = self.token.is(punct);
        if found {
            self.bump();
        }
        found
    }

    pub fn expect(&mut self, punct: u8) -> Parsed<Token> {
        if self.token.is(punct) {
            return Ok(self.bump());
        }
        Err(self.unexpected(&format!("`{}`", char::from(punct))))
    }

    pub fn expect_ident(&mut self, what: &str) -> Parsed<(&'s str, Span)> {
        if self.token.kind == Kind::Ident {
            let span = self.bump().span;
            return Ok((self.text(span), span));
        }
        Err(self.unexpected(what))
    }

    /// A plain integer constant, not an expression.
    pub fn expect_int(&mut self, what: &str) -> Parsed<u64> {
        if self.token.kind != Kind::Int {
            return Err(self.unexpected(what));
        }
        let span = self.token.span;
        let Some((value, _)) = integer(self.text(span)) else {
            return Err(self.bad_number(span));
        };
        self.bump();
        Ok(value)
    }

    /// [`Parser::expect_int`] of 32 bits.
    pub fn expect_u32(&mut self, what: &str) -> Parsed<u32> {
        let span = self.token.span;
        let value = self.expect_int(what)?;
        u32::try_from(value).map_err(|_| {
            self.error(ErrorKind::Semantic, span, "Value out of range", "must be less than 2^32")
        })
    }

    pub fn bad_number(&mut self, span: Span) -> Reported {
        let text = shorten(self.text(span));
        self.report(
            Diagnostic::error(ErrorKind::Syntax, span, format!("Malformed constant '{text}'"))
                .label("neither a decimal, octal, hexadecimal or binary integer of 64 bits, nor a float")
                .help(
                    "single-precision bits are 0f and 8 hexadecimal digits, double-precision bits 0d and 16",
                ),
        )
    }

    pub fn expect_string(&mut self) -> Parsed<String> {
        if self.token.kind != Kind::Text {
            return Err(self.unexpected("a string"));
        }
        let span = self.bump().span;
        Ok(self.text(span).trim_matches('"').to_owned())
    }

    /// Reports that the next token is not the expected one.
    pub fn unexpected(&mut self, expected: &str) -> Reported {
        let Token { kind, span } = self.token;
        if kind == Kind::Eof {
            let diagnostic =
                Diagnostic::error(ErrorKind::Syntax, span, "Parsing error: unexpected end of text");
            return self.report(diagnostic.label(format!("expected {expected}")));
        }
        if kind == Kind::Open {
            let diagnostic = Diagnostic::error(ErrorKind::Syntax, span, "Parsing error: unterminated text");
            return self.report(diagnostic.label("this comment or string does not end"));
        }
        if matches!(kind, Kind::Foreign | Kind::Bad) {
            let diagnostic =
                Diagnostic::error(ErrorKind::Syntax, span, "Unexpected non-ASCII character encountered");
            return self.report(diagnostic.label("a PTX text is ASCII, also in its comments"));
        }
        let text = shorten(self.text(span));
        let message = format!("Parsing error near '{text}': syntax error");
        self.report(Diagnostic::error(ErrorKind::Syntax, span, message).label(format!("expected {expected}")))
    }

    pub fn error(
        &mut self,
        kind: ErrorKind,
        span: Span,
        message: impl Into<String>,
        label: &str,
    ) -> Reported {
        self.report(Diagnostic::error(kind, span, message).label(label))
    }

    pub fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        if self.diagnostics.len() < MAX_ERRORS {
            self.diagnostics.push(diagnostic);
        }
        Reported
    }

    /// Whether the maximum number of errors has been reached.
    pub fn gave_up(&self) -> bool {
        self.diagnostics.len() >= MAX_ERRORS
    }

    /// The span from `start` to the last token taken.
    pub fn since(&self, start: u32) -> Span {
        Span::new(start, self.last_end.max(start))
    }

    /// Type and vector size of a register of the current function.
    pub fn reg(&self, id: RegId) -> (crate::types::ScalarType, u8) {
        let reg = self.current.body.regs.get(id.index());
        reg.map_or((crate::types::ScalarType::B32, 1), |r| (r.ty, r.vector))
    }

    /// What a name refers to at module scope.
    pub fn module_name(&self, name: &str) -> Option<ModuleName> {
        let (globals, functions) = self.visible;
        self.names.get(name).copied().filter(|n| match n {
            ModuleName::Global(id) => id.0 < globals,
            ModuleName::Func(id) => id.0 < functions,
        })
    }

    pub fn variable(&self, variable: crate::ast::VariableRef) -> Option<&Variable> {
        match variable {
            crate::ast::VariableRef::Global(id) => self.module.globals.get(id.index()),
            crate::ast::VariableRef::Var(id) => self.current.body.vars.get(id.index()),
        }
    }
}

/// A prefix of a text that is long enough to recognise it.
pub(crate) fn shorten(text: &str) -> String {
    if text.chars().count() <= 60 {
        return text.to_owned();
    }
    text.chars().take(57).chain("...".chars()).collect()
}
