//! Bodies of functions: declarations, labels and scopes.

use super::{MAX_DEPTH, Parsed, Parser, Reported};
use crate::ast::{
    InlinedAt, Label, LabelId, LabelKind, Linkage, Loc, OperandKind, Prototype, PrototypeParameter, Register,
    RegisterDeclaration, Statement, StatementKind, Symbol, SymbolRef,
};
use crate::diagnostic::ErrorKind;
use crate::lexer::Kind;
use crate::scope::{Found, Name};
use crate::span::Span;
use crate::types::{ScalarType, Space};

/// Marks the number of a pending label in a [`LabelId`] until the function's end.
const PENDING: u32 = 1 << 31;

impl<'s> Parser<'s> {
    /// `{ … }`
    pub fn body(&mut self) -> Parsed<()> {
        self.expect(b'{')?;
        loop {
            if self.gave_up() {
                return Err(Reported);
            }
            let start = self.token.span.start;
            match self.token.kind {
                Kind::Punct(b'}') if self.current.scopes.depth() == 0 => {
                    self.bump();
                    self.resolve_labels();
                    return Ok(());
                }
                Kind::Punct(b'}') => {
                    self.bump();
                    self.current.scopes.close();
                    let parent = self.current.parents.get(self.current.scope as usize).copied();
                    self.current.scope = parent.unwrap_or(0);
                    self.push(StatementKind::ScopeClose, start);
                }
                Kind::Punct(b'{') => {
                    if self.current.scopes.depth() >= MAX_DEPTH {
                        let span = self.token.span;
                        self.error(ErrorKind::Limit, span, "Scopes nest too deeply", "gave up here");
                        return Err(Reported);
                    }
                    self.bump();
                    self.current.scopes.open();
                    let number = self.current.parents.len() as u32;
                    self.current.parents.push(self.current.scope);
                    self.current.scope = number;
                    self.push(StatementKind::ScopeOpen, start);
                }
                Kind::Eof => {
                    self.unexpected("`}` at the end of the function");
                    return Err(Reported);
                }
                Kind::Punct(b';') => {
                    self.bump();
                }
                _ => {
                    if self.statement(start).is_err() {
                        self.recover_statement();
                    }
                }
            }
        }
    }

    fn push(&mut self, kind: StatementKind, start: u32) {
        let span = self.since(start);
        self.current.body.statements.push(Statement { kind, span });
    }

    fn statement(&mut self, start: u32) -> Parsed<()> {
        match self.token.kind {
            Kind::Ident if self.next.is(b':') => self.label(start),
            Kind::Ident | Kind::Punct(b'@') => {
                let instruction = self.instruction()?;
                self.push(StatementKind::Instruction(instruction), start);
                self.expect(b';')?;
                Ok(())
            }
            Kind::Word => self.body_directive(start),
            _ => Err(self.unexpected("an instruction, a declaration or a label")),
        }
    }

    fn body_directive(&mut self, start: u32) -> Parsed<()> {
        match self.word() {
            "reg" => {
                let declaration = self.registers()?;
                self.push(StatementKind::Registers(declaration), start);
                Ok(())
            }
            "loc" => {
                let loc = self.loc()?;
                self.push(StatementKind::Loc(loc), start);
                Ok(())
            }
            "loc_intermediate" => {
                self.check_since(self.token.span, ".loc_intermediate", (9, 4, 10));
                self.bump();
                let file = self.expect_u32("a file's number")?;
                let line = self.expect_u32("a line")?;
                let column = self.expect_u32("a column")?;
                self.push(StatementKind::IntermediateLoc(Loc { file, line, column, inlined: None }), start);
                Ok(())
            }
            "pragma" => {
                let pragma = self.pragma()?;
                self.push(StatementKind::Pragma(pragma), start);
                Ok(())
            }
            "extern" => {
                self.bump();
                self.body_variable(start, Linkage::Extern)
            }
            "visible" => {
                self.bump();
                self.body_variable(start, Linkage::Visible)
            }
            "shared" | "local" | "param" | "const" | "global" | "tex" | "align" | "attribute" => {
                self.body_variable(start, Linkage::Internal)
            }
            "branchtargets" | "calltargets" | "callprototype" => {
                let span = self.token.span;
                let message = format!("Label expected for directive '.{}'", self.word());
                Err(self.error(ErrorKind::Syntax, span, message, "needs `name:` in front"))
            }
            _ => Err(self.unexpected("an instruction, a declaration or a label")),
        }
    }

    fn body_variable(&mut self, start: u32, linkage: Linkage) -> Parsed<()> {
        let head = self.variable_head()?;
        loop {
            let (name, mut variable) = self.declarator(&head)?;
            variable.linkage = linkage;
            let param = variable.space == Space::Param;
            let id = self.declare_var(name, variable.clone())?;
            self.initialiser(&mut variable)?;
            // They come before all other variables, in order.
            if self.current.listless && param && id.0 == self.current.inputs.end {
                self.current.inputs.end += 1;
                if !self.eat(b',') {
                    self.expect(b';')?;
                    return Ok(());
                }
                continue;
            }
            if let Some(slot) = self.current.body.vars.get_mut(id.index()) {
                *slot = variable;
            }
            self.push(StatementKind::Variable(id), start);
            if !self.eat(b',') {
                self.expect(b';')?;
                return Ok(());
            }
        }
    }

    /// `.reg .b32 %r<10>, x;`
    fn registers(&mut self) -> Parsed<RegisterDeclaration> {
        let start = self.token.span;
        let head = self.variable_head()?;
        if matches!(head.ty, ScalarType::Texref | ScalarType::Samplerref | ScalarType::Surfref) {
            let message = format!("Registers of type {} are illegal", head.ty);
            return Err(self.error(ErrorKind::Semantic, start, message, "must be a fundamental type"));
        }
        let mut names = Vec::new();
        loop {
            let (name, span) = self.expect_ident("a register's name")?;
            if self.eat(b'<') {
                let count = self.expect_u32("a number of registers")?;
                self.expect(b'>')?;
                if !self.current.scopes.declare_family(name, count, head.ty, head.vector) {
                    return Err(self.duplicate(name, span));
                }
                names.push((name.to_owned(), Some(count)));
            } else {
                let register = Register { name: name.to_owned(), ty: head.ty, vector: head.vector, span };
                self.declare_reg(name, register)?;
                names.push((name.to_owned(), None));
            }
            if !self.eat(b',') {
                self.expect(b';')?;
                return Ok(RegisterDeclaration { ty: head.ty, vector: head.vector, names });
            }
        }
    }

    /// `.loc file line column {, function_name label {+ n}, inlined_at file line column}`
    pub fn loc(&mut self) -> Parsed<Loc> {
        self.bump();
        let file = self.expect_u32("a file's number")?;
        let line = self.expect_u32("a line")?;
        let column = if self.token.kind == Kind::Int { self.expect_u32("a column")? } else { 0 };
        let mut loc = Loc { file, line, column, inlined: None };
        if self.eat(b',') {
            self.keyword("function_name")?;
            let (function, _) = self.expect_ident("a label")?;
            let offset = if self.eat(b'+') { self.expect_int("an offset")? } else { 0 };
            self.expect(b',')?;
            self.keyword("inlined_at")?;
            let file = self.expect_u32("a file's number")?;
            let line = self.expect_u32("a line")?;
            let column = self.expect_u32("a column")?;
            loc.inlined = Some(InlinedAt { function: function.to_owned(), offset, file, line, column });
        }
        self.eat(b';');
        Ok(loc)
    }

    fn keyword(&mut self, word: &str) -> Parsed<()> {
        if self.token.kind == Kind::Ident && self.text(self.token.span) == word {
            self.bump();
            return Ok(());
        }
        Err(self.unexpected(&format!("`{word}`")))
    }

    /// `name:`, with the table that may follow it.
    fn label(&mut self, start: u32) -> Parsed<()> {
        let (name, span) = self.expect_ident("a label")?;
        self.expect(b':')?;
        let id = LabelId(self.current.body.labels.len() as u32);
        let taken = matches!(self.current.scopes.find(name), Some(Found::Name(_)));
        let statement = self.current.body.statements.len() as u32;
        if self.current.labels.insert((name, self.current.scope), id).is_some() || taken {
            let message = format!("Duplicate definition of label '{}'", super::shorten(name));
            return Err(self.error(ErrorKind::Semantic, span, message, "declared already"));
        }
        self.current.body.labels.push(Label { name: name.to_owned(), statement, kind: LabelKind::Code });
        self.push(StatementKind::Label(id), start);
        let kind = match self.word() {
            "branchtargets" => {
                self.bump();
                let mut labels = vec![self.label_reference()?.0];
                while self.eat(b',') {
                    labels.push(self.label_reference()?.0);
                }
                LabelKind::BranchTargets(labels)
            }
            "calltargets" => {
                self.bump();
                let mut functions = vec![self.function_name()?];
                while self.eat(b',') {
                    functions.push(self.function_name()?);
                }
                LabelKind::CallTargets(functions)
            }
            "callprototype" => {
                self.bump();
                LabelKind::CallPrototype(Box::new(self.prototype()?))
            }
            _ => return Ok(()),
        };
        self.expect(b';')?;
        if let Some(label) = self.current.body.labels.get_mut(id.index()) {
            label.kind = kind;
        }
        Ok(())
    }

    /// `(returns) _ (params) directives`
    fn prototype(&mut self) -> Parsed<Prototype> {
        let returns = if self.token.is(b'(') { self.prototype_parameters()? } else { Vec::new() };
        self.expect_ident("`_` in place of a name")?;
        let params = if self.token.is(b'(') { self.prototype_parameters()? } else { Vec::new() };
        let directives = self.function_directives(super::function::Owner::Prototype)?;
        Ok(Prototype { returns, params, directives })
    }

    fn prototype_parameters(&mut self) -> Parsed<Vec<PrototypeParameter>> {
        self.expect(b'(')?;
        let mut params = Vec::new();
        while !self.eat(b')') {
            let head = self.variable_head()?;
            if head.space == Space::Reg {
                let (name, span) = self.expect_ident("`_`")?;
                let register = Register { name: name.to_owned(), ty: head.ty, vector: head.vector, span };
                params.push(PrototypeParameter::Reg(register));
            } else {
                params.push(PrototypeParameter::Var(self.declarator(&head)?.1));
            }
            if !self.eat(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Ok(params)
    }

    /// The label of this name in the open scopes, if it has been seen.
    pub fn known_label(&self, name: &str) -> Option<LabelId> {
        self.label_from(name, self.current.scope)
    }

    /// The label of this name in a scope or one around it.
    fn label_from(&self, name: &str, mut scope: u32) -> Option<LabelId> {
        loop {
            if let Some(id) = self.current.labels.get(&(name, scope)) {
                return Some(*id);
            }
            if scope == 0 {
                return None;
            }
            scope = self.current.parents.get(scope as usize).copied().unwrap_or(0);
        }
    }

    /// A reference to a label, which may be defined later.
    pub fn label_reference(&mut self) -> Parsed<(LabelId, Span)> {
        let (name, span) = self.expect_ident("a label")?;
        if let Some(id) = self.current.labels.get(&(name, self.current.scope)) {
            return Ok((*id, span));
        }
        let pending = self.current.pending.len() as u32;
        self.current.pending.push((name, span, self.current.scope));
        let statement = self.current.body.statements.len() as u32;
        if self.current.patches.last() != Some(&statement) {
            self.current.patches.push(statement);
        }
        Ok((LabelId(PENDING | pending), span))
    }

    /// Resolves labels that were referenced before their definition, from the scope of the reference
    /// outwards.
    fn resolve_labels(&mut self) {
        let pending = std::mem::take(&mut self.current.pending);
        let mut found = Vec::with_capacity(pending.len());
        for (name, span, scope) in pending {
            let label = self.label_from(name, scope);
            if label.is_none() {
                let message = format!("Unknown symbol '{}'", super::shorten(name));
                self.error(
                    ErrorKind::Semantic,
                    span,
                    message,
                    "there is no label of this name in the scope of the `bra`, `brx` or table, or around it",
                );
            }
            found.push(label.unwrap_or(LabelId(0)));
        }
        let resolve = |id: &mut LabelId| {
            if id.0 & PENDING != 0 {
                *id = found.get((id.0 & !PENDING) as usize).copied().unwrap_or(LabelId(0));
            }
        };
        for label in &mut self.current.body.labels {
            if let LabelKind::BranchTargets(labels) = &mut label.kind {
                labels.iter_mut().for_each(resolve);
            }
        }
        for statement in std::mem::take(&mut self.current.patches) {
            let statement = self.current.body.statements.get_mut(statement as usize);
            if let Some(StatementKind::Instruction(instruction)) = statement.map(|s| &mut s.kind) {
                for operand in &mut instruction.operands {
                    if let OperandKind::Symbol(SymbolRef { symbol: Symbol::Label(id), .. }) =
                        &mut operand.kind
                    {
                        resolve(id);
                    }
                }
            }
        }
    }

    /// What a name refers to here: a register, a variable, or nothing yet.
    pub fn name(&mut self, text: &'s str, span: Span) -> Option<Name> {
        match self.current.scopes.find(text)? {
            Found::Name(name) => Some(name),
            Found::Member(family) => {
                let id = crate::ast::RegId(self.current.body.regs.len() as u32);
                let register = Register { name: text.to_owned(), ty: family.ty, vector: family.vector, span };
                self.current.body.regs.push(register);
                self.current.scopes.expand(text, family, id);
                Some(Name::Reg(id))
            }
        }
    }

    /// Skips the rest of a malformed statement.
    fn recover_statement(&mut self) {
        let mut depth = std::mem::take(&mut self.open_vectors);
        loop {
            match self.token.kind {
                Kind::Eof => return,
                Kind::Punct(b';') => {
                    self.bump();
                    return;
                }
                Kind::Punct(b'{') => depth += 1,
                Kind::Punct(b'}') if depth == 0 => return,
                Kind::Punct(b'}') => depth -= 1,
                _ => {}
            }
            self.bump();
        }
    }
}
