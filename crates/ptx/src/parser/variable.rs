//! Variable declarations of both scopes, and their initial values.

use super::expr::Constant;
use super::{MAX_DEPTH, MAX_INITIALISED, ModuleName, Parsed, Parser};
use crate::ast::{
    Directive, GlobalId, InitValue, Linkage, PtrAttribute, Symbol, SymbolRef, VarId, Variable, VariableRef,
};
use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::lexer::Kind;
use crate::scope::{Found, Name};
use crate::span::Span;
use crate::types::{ScalarType, Space};

/// Maximum size of a variable in bytes.
const MAX_VARIABLE: u64 = 1 << 40;

/// The part of a declaration before the names.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub space: Space,
    pub ty: ScalarType,
    pub vector: u8,
    align: Option<u32>,
    ptr: Option<PtrAttribute>,
    managed: bool,
    unified: Option<(u64, u64)>,
}

impl<'s> Parser<'s> {
    /// `.space {.attribute(…)} {.align n} {.vN} .type`: the words may come in any order.
    pub fn variable_head(&mut self) -> Parsed<Head> {
        let start = self.token.span;
        let (mut space, mut ty) = (None, None);
        let mut head = Head {
            space: Space::Reg,
            ty: ScalarType::B32,
            vector: 1,
            align: None,
            ptr: None,
            managed: false,
            unified: None,
        };
        while self.token.kind == Kind::Word {
            let word = self.word();
            let span = self.token.span;
            match word {
                "align" => {
                    self.bump();
                    head.align = Some(self.alignment()?);
                    continue;
                }
                "attribute" => {
                    self.attribute(&mut head)?;
                    continue;
                }
                "ptr" => {
                    self.bump();
                    let space = Space::from_name(self.word());
                    if space.is_some() {
                        self.bump();
                    }
                    let align = if self.eat_word("align") { Some(self.alignment()?) } else { None };
                    head.ptr = Some(PtrAttribute { space, align });
                    continue;
                }
                "v2" | "v3" | "v4" | "v8" => {
                    head.vector = word.as_bytes().get(1).map_or(1, |b| b - b'0');
                    self.bump();
                    continue;
                }
                "volatile" => {
                    self.bump();
                    continue;
                }
                _ => {}
            }
            if let (Some(found), None) = (Space::from_name(word), space) {
                space = Some(found);
                self.bump();
                // `.const[3]`: a constant bank, in versions before 2.2.
                if self.token.is(b'[') {
                    self.bump();
                    self.expect_int("a bank's number")?;
                    self.expect(b']')?;
                }
            } else if let (Some(found), None) = (ScalarType::from_name(word), ty) {
                ty = Some(found);
                self.bump();
            } else {
                let message = format!("Unexpected '.{word}' in a declaration");
                return Err(self.error(
                    ErrorKind::Syntax,
                    span,
                    message,
                    "neither space, type, .align, .v2 or .v4",
                ));
            }
        }
        let Some(space) = space else {
            let label = "expected `.global`, `.const`, `.shared`, `.local`, `.param` or `.reg`";
            return Err(self.error(ErrorKind::Syntax, start, "State space missing in a declaration", label));
        };
        let Some(ty) = ty else {
            let here = self.token.span;
            return Err(self.error(
                ErrorKind::Syntax,
                here,
                "Type missing in a declaration",
                "expected a type like `.u32`",
            ));
        };
        (head.space, head.ty) = (space, ty);
        Ok(head)
    }

    fn alignment(&mut self) -> Parsed<u32> {
        let span = self.token.span;
        let align = self.expect_u32("an alignment in bytes")?;
        if align.is_power_of_two() {
            return Ok(align);
        }
        Err(self.error(ErrorKind::Semantic, span, "Illegal alignment", "must be a power of two"))
    }

    /// `.attribute(.managed, .unified(a, b))`
    fn attribute(&mut self, head: &mut Head) -> Parsed<()> {
        self.bump();
        self.expect(b'(')?;
        loop {
            match self.word() {
                "managed" => {
                    self.bump();
                    head.managed = true;
                }
                "unified" => head.unified = Some(self.unified()?),
                _ => return Err(self.unexpected("`.managed` or `.unified`")),
            }
            if !self.eat(b',') {
                self.expect(b')')?;
                return Ok(());
            }
        }
    }

    /// `.unified(a, b)`
    pub fn unified(&mut self) -> Parsed<(u64, u64)> {
        self.bump();
        self.expect(b'(')?;
        let first = self.expect_int("the upper half of a UUID")?;
        self.expect(b',')?;
        let second = self.expect_int("the lower half of a UUID")?;
        self.expect(b')')?;
        Ok((first, second))
    }

    /// The name and dimensions of one declared variable, without its initial value.
    pub fn declarator(&mut self, head: &Head) -> Parsed<(&'s str, Variable)> {
        let (name, span) = self.expect_ident("a variable's name")?;
        let mut dims = Vec::new();
        while self.token.is(b'[') {
            self.bump();
            if self.eat(b']') {
                dims.push(None);
                continue;
            }
            let at = self.token.span;
            let size = self.constant_int()?;
            if size.value() < 0 {
                return Err(self.error(
                    ErrorKind::Semantic,
                    at,
                    "Array size must not be negative",
                    "negative",
                ));
            }
            dims.push(Some(size.bits));
            self.expect(b']')?;
        }
        let variable = Variable {
            name: name.to_owned(),
            space: head.space,
            ty: head.ty,
            vector: head.vector,
            dims,
            align: head.align,
            init: None,
            linkage: Linkage::Internal,
            ptr: head.ptr,
            managed: head.managed,
            unified: head.unified,
            span,
        };
        if variable.size_bytes() > MAX_VARIABLE {
            let message = format!("Variable '{name}' is too large");
            return Err(self.error(ErrorKind::Limit, span, message, "more than 2^40 bytes"));
        }
        Ok((name, variable))
    }

    /// Parses `= value`, if it comes next, into a variable.
    pub fn initialiser(&mut self, variable: &mut Variable) -> Parsed<()> {
        if !self.eat(b'=') {
            return Ok(());
        }
        let start = self.token.span.start;
        if matches!(variable.ty, ScalarType::Texref | ScalarType::Samplerref | ScalarType::Surfref) {
            let message = format!("Initial state of {} '{}' is not supported", variable.ty, variable.name);
            let label = match variable.ty {
                ScalarType::Samplerref => {
                    "modules with samplers of their own do not load on the hardware either"
                }
                _ => "set it through the API",
            };
            return Err(self.error(ErrorKind::Semantic, self.token.span, message, label));
        }
        let value = if self.token.kind == Kind::Text { self.text_value()? } else { self.value(0)? };
        let span = self.since(start);
        if let ([None, ..], InitValue::List(values)) = (variable.dims.as_mut_slice(), &value) {
            let nested = values.iter().any(|v| matches!(v, InitValue::List(_)));
            let inner: u64 =
                variable.dims.iter().skip(1).fold(1, |n: u64, d| n.saturating_mul(d.unwrap_or(1)));
            let inner = inner.max(1);
            let count = values.len() as u64;
            variable.dims[0] = Some(if nested { count } else { count.div_ceil(inner) });
        }
        if variable.size_bytes() > MAX_INITIALISED {
            let message = format!("Variable '{}' is too large for an initial value", variable.name);
            return Err(self.error(ErrorKind::Limit, span, message, "more than 2^30 bytes"));
        }
        if !matches!(variable.space, Space::Global | Space::Const) {
            let message = format!("Initializer not allowed for variables in state space {}", variable.space);
            return Err(self.error(
                ErrorKind::Semantic,
                span,
                message,
                "only .global and .const have initial values",
            ));
        }
        let scalars = variable.elements().saturating_mul(u64::from(variable.vector));
        let aggregate = !variable.dims.is_empty() || variable.vector > 1;
        if matches!(value, InitValue::List(_)) && !aggregate {
            let message = format!("Initializer of scalar '{}' is a list", variable.name);
            return Err(self.error(ErrorKind::Semantic, span, message, "too many braces"));
        }
        if count(&value) > scalars {
            let message = format!("Too many initializers for '{}'", variable.name);
            let label = format!("{} values for {scalars} elements", count(&value));
            return Err(self.error(ErrorKind::Semantic, span, message, &label));
        }
        variable.init = Some(value);
        Ok(())
    }

    /// A string's bytes and its terminating zero.
    fn text_value(&mut self) -> Parsed<InitValue> {
        let text = self.expect_string()?;
        let bytes = text.bytes().chain([0]).map(|b| InitValue::Int(i128::from(b)));
        Ok(InitValue::List(bytes.collect()))
    }

    fn value(&mut self, depth: usize) -> Parsed<InitValue> {
        if self.token.is(b'{') {
            if depth >= MAX_DEPTH {
                let span = self.token.span;
                return Err(self.error(
                    ErrorKind::Limit,
                    span,
                    "Initial value nests too deeply",
                    "gave up here",
                ));
            }
            self.bump();
            let mut values = Vec::new();
            while !self.eat(b'}') {
                values.push(self.value(depth + 1)?);
                if !self.eat(b',') {
                    self.expect(b'}')?;
                    break;
                }
            }
            return Ok(InitValue::List(values));
        }
        if self.token.kind == Kind::Ident && self.text(self.token.span) != "WARP_SZ" {
            return self.address_value(None);
        }
        // `0xFF00(symbol)`: selected bits of an address.
        if self.token.kind == Kind::Int && self.next.is(b'(') {
            let mask = self.expect_int("a mask")?;
            self.expect(b'(')?;
            let value = self.address_value(Some(mask))?;
            self.expect(b')')?;
            return Ok(value);
        }
        // A fast path for plain numbers: such tables can be megabytes long.
        let plain = self.token.kind == Kind::Int && (self.next.is(b',') || self.next.is(b'}'));
        Ok(match if plain { self.literal()? } else { self.constant()? } {
            Constant::Int(i) => InitValue::Int(i.value()),
            Constant::F32(b) => InitValue::F32(b),
            Constant::F64(b) => InitValue::F64(b),
        })
    }

    /// `symbol + 8`, `generic(symbol) + 8`
    fn address_value(&mut self, mask: Option<u64>) -> Parsed<InitValue> {
        let mut generic = false;
        if self.text(self.token.span) == "generic" && self.next.is(b'(') {
            self.bump();
            self.bump();
            generic = true;
        }
        let (name, span) = self.expect_ident("a variable or a function")?;
        let Some(symbol) = self.symbol(name) else {
            return Err(self.unknown_symbol(name, span));
        };
        let variable = match symbol {
            Symbol::Global(id) => self.variable(VariableRef::Global(id)),
            Symbol::Var(id) => self.variable(VariableRef::Var(id)),
            Symbol::Func(_) | Symbol::Label(_) => None,
        };
        // A variable in `.tex` is an older spelling of one in `.global`.
        let space = variable.map_or(Space::Global, |variable| variable.space);
        if !matches!(space, Space::Global | Space::Const | Space::Tex) {
            let message = "Variable used as initial value not in .global or .const state space";
            let label = format!(
                "'{}' is in {space}, and its address is not known before a launch",
                super::shorten(name)
            );
            return Err(self.error(ErrorKind::Semantic, span, message, &label));
        }
        let mut offset = self.offset()?;
        if generic {
            self.expect(b')')?;
            offset = offset.wrapping_add(self.offset()?);
        }
        Ok(InitValue::Address { target: SymbolRef { symbol, offset }, generic, mask })
    }

    /// `+ 8`, `- 8`, or nothing; also `+ -8`.
    pub fn offset(&mut self) -> Parsed<i64> {
        if self.token.is(b'-') {
            return Ok(self.constant_int()?.bits as i64);
        }
        if self.eat(b'+') {
            return Ok(self.constant_int()?.bits as i64);
        }
        Ok(0)
    }

    /// What a name that is not a register refers to here.
    pub fn symbol(&self, name: &str) -> Option<Symbol> {
        if let Some(Found::Name(Name::Var(id))) = self.current.scopes.find(name) {
            return Some(Symbol::Var(id));
        }
        self.module_name(name).map(|n| match n {
            ModuleName::Global(id) => Symbol::Global(id),
            ModuleName::Func(id) => Symbol::Func(id),
        })
    }

    pub fn unknown_symbol(&mut self, name: &str, span: Span) -> super::Reported {
        let message = format!("Unknown symbol '{}'", super::shorten(name));
        let mut diagnostic =
            Diagnostic::error(ErrorKind::Semantic, span, message).label("not declared before this use");
        if name.starts_with('%') {
            diagnostic = diagnostic.help(format!("declare it: `.reg .b32 {};`", super::shorten(name)));
        }
        self.report(diagnostic)
    }

    pub fn duplicate(&mut self, name: &str, span: Span) -> super::Reported {
        let message = format!("Duplicate definition of variable '{}'", super::shorten(name));
        self.error(ErrorKind::Semantic, span, message, "declared already")
    }

    /// A variable of module scope, after its linkage.
    pub fn module_variable(&mut self, linkage: Linkage) -> Parsed<()> {
        let start = self.token.span;
        let head = self.variable_head()?;
        if matches!(head.space, Space::Reg | Space::Sreg | Space::Param) {
            let message = format!("State space {} is illegal at module scope", head.space);
            return Err(self.error(ErrorKind::Semantic, start, message, "only inside a function"));
        }
        loop {
            let (name, mut variable) = self.declarator(&head)?;
            variable.linkage = linkage;
            // A variable's name is visible in its own initial value.
            let id = self.declare_global(name, variable.clone())?;
            self.initialiser(&mut variable)?;
            if let Some(slot) = self.module.to_mut().globals.get_mut(id.index()) {
                let defines = linkage != Linkage::Extern;
                if defines || slot.linkage == Linkage::Extern {
                    *slot = variable;
                }
            }
            self.module.to_mut().directives.push(Directive::Variable(id));
            if !self.eat(b',') {
                self.expect(b';')?;
                return Ok(());
            }
        }
    }

    fn declare_global(&mut self, name: &'s str, variable: Variable) -> Parsed<GlobalId> {
        match self.names.get(name) {
            Some(ModuleName::Global(id)) => {
                let id = *id;
                let old = self.module.globals.get(id.index());
                let one_is_extern = variable.linkage == Linkage::Extern
                    || old.is_some_and(|o| o.linkage == Linkage::Extern || o.linkage == Linkage::Common);
                if !one_is_extern {
                    return Err(self.duplicate(name, variable.span));
                }
                if variable.linkage == Linkage::Internal {
                    let message = format!("'.extern' variable '{name}' cannot be resolved by a '.static'");
                    return Err(self.error(
                        ErrorKind::Semantic,
                        variable.span,
                        message,
                        "must be .visible or .weak",
                    ));
                }
                Ok(id)
            }
            Some(ModuleName::Func(_)) => Err(self.duplicate(name, variable.span)),
            None => {
                let id = GlobalId(self.module.globals.len() as u32);
                self.module.to_mut().globals.push(variable);
                self.names.to_mut().insert(name, ModuleName::Global(id));
                Ok(id)
            }
        }
    }

    /// Adds a variable to the current function.
    pub fn declare_var(&mut self, name: &'s str, variable: Variable) -> Parsed<VarId> {
        let id = VarId(self.current.body.vars.len() as u32);
        let span = variable.span;
        if name != "_" && !self.current.scopes.declare(name, Name::Var(id)) {
            return Err(self.duplicate(name, span));
        }
        self.current.body.vars.push(variable);
        Ok(id)
    }
}

/// Number of scalars in an initial value.
fn count(value: &InitValue) -> u64 {
    match value {
        InitValue::List(values) => values.iter().map(count).sum(),
        _ => 1,
    }
}
