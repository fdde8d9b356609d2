//! Instructions: guard, opcode, modifiers and the list of operands.

use super::{Parsed, Parser, shorten};
use crate::ast::{
    Address, AddressBase, Guard, Instruction, Operand, OperandKind, Symbol, SymbolRef, VariableRef,
};
use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::lexer::Kind;
use crate::scope::Name;
use crate::types::{ScalarType, Version};
use crate::words::{Modifier, Opcode};
use smallvec::SmallVec;

impl<'s> Parser<'s> {
    /// An instruction, without its semicolon. Diagnostics inside it name it.
    pub fn instruction(&mut self) -> Parsed<Instruction> {
        let (start, before) = (self.token.span.start, self.diagnostics.len());
        let done = self.checked_instruction();
        if self.diagnostics.len() > before {
            let text = self.source.get(start as usize..).unwrap_or("");
            let text = match text.strip_prefix('@').and_then(|t| t.split_once(char::is_whitespace)) {
                Some((_, rest)) => rest.trim_start(),
                None => text,
            };
            let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':');
            let head = shorten(text.split(|c| !is_word(c)).next().unwrap_or(""));
            let opcode = head.split('.').next().unwrap_or("").to_owned();
            for diagnostic in self.diagnostics.iter_mut().skip(before) {
                if !opcode.is_empty() && !diagnostic.message.contains(&format!("'{opcode}")) {
                    diagnostic.notes.push(format!("in instruction '{head}'"));
                }
            }
        }
        done
    }

    fn checked_instruction(&mut self) -> Parsed<Instruction> {
        self.open_vectors = 0;
        let start = self.token.span.start;
        let guard = if self.eat(b'@') { Some(self.guard()?) } else { None };
        let (word, span) = self.expect_ident("an instruction")?;
        let Some(opcode) = Opcode::from_name(word) else {
            return Err(self.unknown_opcode(word, span));
        };
        let modifiers = self.modifiers()?;
        let operands = self.operands(opcode)?;
        let mut instruction = Instruction { guard, opcode, modifiers, operands, span: self.since(start) };
        if matches!(opcode, Opcode::Ld | Opcode::Ldu | Opcode::St | Opcode::Suld | Opcode::Sust)
            && instruction.vec() == 1
        {
            instruction.operands.iter_mut().for_each(without_braces);
        }
        self.check(&instruction, span.to(self.head_end(span)));
        Ok(instruction)
    }

    /// The end of the opcode's modifiers.
    fn head_end(&self, opcode: crate::span::Span) -> crate::span::Span {
        let text = self.source.get(opcode.start as usize..).unwrap_or("");
        let is_word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':');
        let len = text.bytes().take_while(|b| is_word(*b)).count() as u32;
        crate::span::Span::new(opcode.start, opcode.start + len.max(1))
    }

    fn guard(&mut self) -> Parsed<Guard> {
        let negated = self.eat(b'!');
        let (name, span) = self.expect_ident("a predicate register")?;
        match self.name(name, span) {
            Some(Name::Reg(reg)) if self.reg(reg).0 == ScalarType::Pred => Ok(Guard { reg, negated }),
            Some(_) => {
                let label = "not a register of type .pred";
                Err(self.error(ErrorKind::Semantic, span, "Predicate expression expected", label))
            }
            None => Err(self.unknown_symbol(name, span)),
        }
    }

    fn unknown_opcode(&mut self, word: &str, span: crate::span::Span) -> super::Reported {
        let message = format!("Not a name of any known instruction: '{}'", shorten(word));
        let mut diagnostic = Diagnostic::error(ErrorKind::Semantic, span, message).label("unknown opcode");
        if let Some(near) = nearest(word, Opcode::all().iter().map(|o| o.name())) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        }
        self.report(diagnostic)
    }

    fn modifiers(&mut self) -> Parsed<SmallVec<[Modifier; 8]>> {
        let mut modifiers = SmallVec::new();
        while self.token.kind == Kind::Word {
            let word = self.word();
            let Some(modifier) = Modifier::from_name(word) else {
                let span = self.token.span;
                let message = format!("Unknown modifier '.{}'", shorten(word));
                let mut diagnostic = Diagnostic::error(ErrorKind::Semantic, span, message)
                    .label("no instruction has this modifier");
                if let Some(near) = nearest(word, Modifier::all().iter().map(|m| m.name())) {
                    diagnostic = diagnostic.help(format!("did you mean `.{near}`?"));
                }
                return Err(self.report(diagnostic));
            };
            self.bump();
            modifiers.push(modifier);
            // `ld.const[3]`: a constant bank, in versions before 2.2.
            if modifier == Modifier::Const && self.token.is(b'[') && self.module.version < Version::new(2, 2)
            {
                self.bump();
                self.expect_int("a bank's number")?;
                self.expect(b']')?;
            }
            if modifiers.len() > 32 {
                let span = self.token.span;
                return Err(self.error(
                    ErrorKind::Limit,
                    span,
                    "Too many modifiers",
                    "no instruction has this many",
                ));
            }
        }
        Ok(modifiers)
    }

    fn operands(&mut self, opcode: Opcode) -> Parsed<Vec<Operand>> {
        if self.token.is(b';') {
            return Ok(Vec::new());
        }
        if self.token.is(b'}') {
            return Err(self.unexpected("`;`"));
        }
        match opcode {
            Opcode::Bra => Ok(vec![self.last_label(opcode)?]),
            Opcode::Brx => {
                let index = self.operand()?;
                self.expect(b',')?;
                Ok(vec![index, self.last_label(opcode)?])
            }
            Opcode::Call => self.call_operands(),
            _ => {
                let mut operands = Vec::with_capacity(4);
                operands.push(self.operand()?);
                while self.eat(b',') {
                    operands.push(self.operand()?);
                }
                if matches!(opcode, Opcode::Ld | Opcode::Ldu | Opcode::St) {
                    operands.iter_mut().for_each(|o| self.element_address(o));
                }
                if !self.token.is(b';') {
                    return Err(self.unexpected("`,` or `;`"));
                }
                Ok(operands)
            }
        }
    }

    /// A label as the last operand of the instruction.
    fn last_label(&mut self, opcode: Opcode) -> Parsed<Operand> {
        let label = self.label_operand()?;
        if self.token.is(b',') {
            let (span, message) = (self.token.span, format!("Arguments mismatch for instruction '{opcode}'"));
            return Err(self.error(ErrorKind::Semantic, span, message, "expected `;` after the label"));
        }
        Ok(label)
    }

    /// Rewrites `x[3]` in a memory access to the address `[x+12]`.
    fn element_address(&self, operand: &mut Operand) {
        if let OperandKind::Element(element) = operand.kind {
            let base = AddressBase::Element(element);
            let address = Address { base, offset: 0, parts: Vec::new(), unified: false };
            operand.kind = OperandKind::Address(Box::new(address));
            return;
        }
        let OperandKind::Symbol(SymbolRef { symbol, offset }) = operand.kind else { return };
        let variable = match symbol {
            Symbol::Global(id) => VariableRef::Global(id),
            Symbol::Var(id) => VariableRef::Var(id),
            _ => return,
        };
        if self.text(operand.span).contains('[') {
            let base = AddressBase::Var(variable);
            let address = Address { base, offset, parts: Vec::new(), unified: false };
            operand.kind = OperandKind::Address(Box::new(address));
        }
    }

    fn label_operand(&mut self) -> Parsed<Operand> {
        let (label, span) = self.label_reference()?;
        Ok(Operand { kind: OperandKind::Symbol(SymbolRef { symbol: Symbol::Label(label), offset: 0 }), span })
    }

    /// `(returns), target, (params), prototype`
    fn call_operands(&mut self) -> Parsed<Vec<Operand>> {
        let mut operands = Vec::with_capacity(4);
        if self.token.is(b'(') {
            operands.push(self.list()?);
            self.expect(b',')?;
        }
        operands.push(self.operand()?);
        if !self.eat(b',') {
            return Ok(operands);
        }
        if self.token.is(b'(') {
            operands.push(self.list()?);
            if !self.eat(b',') {
                return Ok(operands);
            }
        }
        let (name, span) = self.expect_ident("a label")?;
        let Some(label) = self.known_label(name) else {
            let message = format!("Label expected for forward reference of '{}'", shorten(name));
            let text = "the `.callprototype` or `.calltargets` must come before the call";
            return Err(self.error(ErrorKind::Semantic, span, message, text));
        };
        let symbol = Symbol::Label(label);
        operands.push(Operand { kind: OperandKind::Symbol(SymbolRef { symbol, offset: 0 }), span });
        Ok(operands)
    }

    /// `(a, b)`
    fn list(&mut self) -> Parsed<Operand> {
        let start = self.expect(b'(')?.span.start;
        let mut items = Vec::new();
        while !self.eat(b')') {
            items.push(self.operand()?);
            if !self.eat(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Ok(Operand { kind: OperandKind::List(items), span: self.since(start) })
    }
}

/// Rewrites `{a}` in a memory access to `a`: ptxas accepts it, and inline assembly in libraries contains it.
fn without_braces(operand: &mut Operand) {
    if let OperandKind::Vector(items) = &mut operand.kind
        && items.len() == 1
        && let Some(only) = items.pop()
    {
        *operand = only;
    }
}

/// Longer words get no suggestion: the edit distance takes quadratic time.
const MAX_GUESSED: usize = 40;

/// The candidate closest to `word`, if at most a third of its letters differ.
pub(crate) fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > MAX_GUESSED {
        return None;
    }
    let best = candidates.map(|c| (distance(word.as_bytes(), c.as_bytes()), c)).min_by_key(|(d, _)| *d);
    best.filter(|(d, c)| *d <= c.len().div_ceil(3).min(3)).map(|(_, c)| c)
}

/// The edit distance of two words.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}
