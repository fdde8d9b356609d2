//! Operands.

use super::expr::Constant;
use super::{MAX_DEPTH, ModuleName, Parsed, Parser};
use crate::ast::{
    Address, AddressBase, Component, ElementRef, Operand, OperandKind, RegId, SpecialReg, Symbol, SymbolRef,
    VariableRef,
};
use crate::diagnostic::ErrorKind;
use crate::lexer::Kind;
use crate::scope::Name;
use crate::span::Span;

impl<'s> Parser<'s> {
    /// Any operand.
    pub fn operand(&mut self) -> Parsed<Operand> {
        let start = self.token.span.start;
        let kind = match self.token.kind {
            Kind::Punct(b'[') => self.address()?,
            Kind::Punct(b'{') => self.vector()?,
            Kind::Ident if !self.at_constant() => self.named()?,
            Kind::Punct(b'!') if self.next.kind == Kind::Ident => {
                self.bump();
                OperandKind::Not(self.register()?)
            }
            Kind::Punct(b'-') if self.next.kind == Kind::Ident => {
                self.bump();
                let reg = self.register()?;
                OperandKind::Negated(reg, self.component()?)
            }
            _ if self.at_constant() => match self.constant()? {
                Constant::Int(i) => OperandKind::Int(i),
                Constant::F32(b) => OperandKind::F32(b),
                Constant::F64(b) => OperandKind::F64(b),
            },
            _ => return Err(self.unexpected("an operand")),
        };
        let first = Operand { kind, span: self.since(start) };
        if !self.token.is(b'|') {
            return Ok(first);
        }
        self.bump();
        let at = self.token.span.start;
        let kind = self.named()?;
        let second = Operand { kind, span: self.since(at) };
        Ok(Operand { kind: OperandKind::Pair(Box::new((first, second))), span: self.since(start) })
    }

    fn register(&mut self) -> Parsed<RegId> {
        let (name, span) = self.expect_ident("a register")?;
        match self.name(name, span) {
            Some(Name::Reg(reg)) => Ok(reg),
            Some(Name::Var(_)) => {
                let message = format!("Register expected instead of '{}'", super::shorten(name));
                Err(self.error(ErrorKind::Semantic, span, message, "a variable"))
            }
            None => Err(self.unknown_symbol(name, span)),
        }
    }

    /// An operand that begins with a name.
    fn named(&mut self) -> Parsed<OperandKind> {
        let (text, span) = self.expect_ident("a register or a symbol")?;
        if text == "_" {
            return Ok(OperandKind::Sink);
        }
        let symbol = match self.name(text, span) {
            Some(Name::Reg(reg)) => {
                return Ok(match self.component()? {
                    Some(part) => OperandKind::Component(reg, part),
                    None => OperandKind::Reg(reg),
                });
            }
            Some(Name::Var(id)) => Symbol::Var(id),
            None => match self.module_name(text) {
                Some(ModuleName::Global(id)) => Symbol::Global(id),
                Some(ModuleName::Func(id)) => Symbol::Func(id),
                None => return self.special(text, span),
            },
        };
        let mut offset = 0_i64;
        while self.eat(b'[') {
            let array = self.array(symbol, span)?;
            // Vector elements are counted in scalars, as ptxas does.
            let size = self.variable(array).map_or(1, |v| v.ty.size_bytes());
            if self.token.kind == Kind::Ident && !self.at_constant() {
                let index = self.index()?;
                let plus = self.offset()?;
                self.expect(b']')?;
                return Ok(OperandKind::Element(ElementRef { array, index, plus, size }));
            }
            let index = self.constant_int()?;
            self.expect(b']')?;
            offset = offset.wrapping_add((index.bits as i64).wrapping_mul(i64::from(size)));
        }
        offset = offset.wrapping_add(self.offset()?);
        Ok(OperandKind::Symbol(SymbolRef { symbol, offset }))
    }

    /// The indexed symbol, which must be an array.
    fn array(&mut self, symbol: Symbol, span: Span) -> Parsed<VariableRef> {
        let array = match symbol {
            Symbol::Global(id) => Some(VariableRef::Global(id)),
            Symbol::Var(id) => Some(VariableRef::Var(id)),
            Symbol::Func(_) | Symbol::Label(_) => None,
        };
        match array.filter(|a| self.variable(*a).is_some_and(|v| !v.dims.is_empty())) {
            Some(array) => Ok(array),
            None => {
                Err(self.error(ErrorKind::Semantic, span, "Array indexing on non-array", "must be an array"))
            }
        }
    }

    /// The register that selects an element.
    fn index(&mut self) -> Parsed<RegId> {
        let span = self.token.span;
        let reg = self.register()?;
        let (ty, vector) = self.reg(reg);
        if vector == 1 && ty.bits() <= 64 && (ty.is_integer() || ty.is_bits()) {
            return Ok(reg);
        }
        let name = self.text(span);
        let message =
            format!("Illegal to use symbol '{name}' of type {ty} as array index. Use integer or bit only.");
        Err(self.error(ErrorKind::Semantic, span, message, "expected an integer of at most 64 bits"))
    }

    fn special(&mut self, text: &'s str, span: Span) -> Parsed<OperandKind> {
        match SpecialReg::from_name(text) {
            Some(special) => Ok(OperandKind::Special(special, self.component()?)),
            None => Err(self.unknown_symbol(text, span)),
        }
    }

    /// `.x`, `.b0` and the like, if one comes next.
    fn component(&mut self) -> Parsed<Option<Component>> {
        if self.token.kind != Kind::Word {
            return Ok(None);
        }
        let span = self.token.span;
        let word = self.word();
        let Some(part) = component(word) else {
            let message = format!("Unknown component '.{}'", super::shorten(word));
            return Err(self.error(
                ErrorKind::Semantic,
                span,
                message,
                "expected .x, .y, .z, .w, .b0 to .b3, .h0 or .h1",
            ));
        };
        self.bump();
        Ok(Some(part))
    }

    /// `{a, b, _}`
    fn vector(&mut self) -> Parsed<OperandKind> {
        if self.open_vectors >= MAX_DEPTH {
            let span = self.token.span;
            return Err(self.error(ErrorKind::Limit, span, "Vector nests too deeply", "gave up here"));
        }
        self.expect(b'{')?;
        self.open_vectors += 1;
        let mut items = Vec::with_capacity(4);
        while !self.token.is(b'}') {
            items.push(self.operand()?);
            if !self.eat(b',') && !self.token.is(b'}') {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
        self.bump();
        self.open_vectors -= 1;
        Ok(OperandKind::Vector(items))
    }

    /// `[base + offset, …]`
    fn address(&mut self) -> Parsed<OperandKind> {
        self.expect(b'[')?;
        let (base, mut offset) = self.address_base()?;
        if base != AddressBase::Absolute {
            offset = offset.wrapping_add(self.offset()?);
        }
        let mut parts = Vec::new();
        while self.eat(b',') {
            if self.token.is(b'[') {
                return Err(self.unexpected("a register, a constant or `{`"));
            }
            parts.push(self.operand()?);
        }
        if !self.token.is(b']') {
            return Err(self.unexpected("`]`"));
        }
        self.bump();
        let unified = self.eat_word("unified");
        Ok(OperandKind::Address(Box::new(Address { base, offset, parts, unified })))
    }

    fn address_base(&mut self) -> Parsed<(AddressBase, i64)> {
        if self.at_constant() {
            return Ok((AddressBase::Absolute, self.constant_int()?.bits as i64));
        }
        let start = self.token.span.start;
        Ok(match self.named()? {
            OperandKind::Reg(reg) => (AddressBase::Reg(reg), 0),
            OperandKind::Component(reg, part) => (AddressBase::Component(reg, part), 0),
            OperandKind::Symbol(SymbolRef { symbol, offset }) => match symbol {
                Symbol::Global(id) => (AddressBase::Var(VariableRef::Global(id)), offset),
                Symbol::Var(id) => (AddressBase::Var(VariableRef::Var(id)), offset),
                Symbol::Func(id) => (AddressBase::Func(id), offset),
                Symbol::Label(_) => (AddressBase::Absolute, offset),
            },
            _ => {
                let span = self.since(start);
                let label = "expected a register, a variable or a constant";
                return Err(self.error(ErrorKind::Semantic, span, "Illegal address", label));
            }
        })
    }
}

/// The part of a register that a suffix selects.
fn component(word: &str) -> Option<Component> {
    let plain = match word {
        "x" | "r" => Some(0),
        "y" | "g" => Some(1),
        "z" | "b" => Some(2),
        "w" | "a" => Some(3),
        _ => None,
    };
    if let Some(i) = plain {
        return Some(Component::Element(i));
    }
    let (first, rest) = word.split_at_checked(1)?;
    let halves = match first {
        "h" => true,
        "b" => false,
        _ => return None,
    };
    let limit = if halves { b'3' } else { b'7' };
    if rest.len() > 4 || !rest.bytes().all(|b| (b'0'..=limit).contains(&b)) {
        return None;
    }
    let mut digits = [0; 4];
    for (slot, b) in digits.iter_mut().zip(rest.bytes()) {
        *slot = b - b'0';
    }
    match (rest.len(), halves, digits[0]) {
        (1, true, half @ 0..=1) => Some(Component::Half(half)),
        (1, false, byte @ 0..=3) => Some(Component::Byte(byte)),
        (2, true, _) | (2..=4, false, _) => {
            Some(Component::Lanes { halves, digits, count: rest.len() as u8 })
        }
        _ => None,
    }
}
