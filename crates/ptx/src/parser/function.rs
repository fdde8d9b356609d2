//! Heads of functions and kernels.

use super::{Current, ModuleName, Parsed, Parser};
use crate::ast::{
    Directive, FuncId, Function, FunctionDirective, Head, LANGUAGES, Linkage, Parameter, Register, VarId,
};
use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::layout::ParamLayout;
use crate::lexer::Kind;
use crate::scope::Name;
use crate::types::{Space, Version};

/// Directives that may follow a function's declaration, which needs no semicolon.
const MODULE_DIRECTIVES: [&str; 15] = [
    "visible",
    "extern",
    "weak",
    "common",
    "entry",
    "func",
    "global",
    "const",
    "shared",
    "tex",
    "alias",
    "file",
    "section",
    "loc",
    "nv_intermediate_source_section",
];

/// Maximum size of a kernel's parameters in bytes.
const PARAM_SPACE: u64 = 4352;
/// The same from PTX 8.1 and sm_70 on.
const LARGE_PARAM_SPACE: u64 = 32764;

/// What a list of directives belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// An `.entry`.
    Kernel,
    /// A `.func`.
    Function,
    /// A `.callprototype`.
    Prototype,
}

impl<'s> Parser<'s> {
    /// `.entry` or `.func`, after its linkage.
    pub fn function(&mut self, linkage: Linkage) -> Parsed<()> {
        let is_entry = self.word() == "entry";
        self.bump();
        self.current = Current { parents: vec![0], ..Current::default() };
        let mut unified = None;
        if self.word() == "attribute" {
            self.bump();
            self.expect(b'(')?;
            if self.word() != "unified" {
                return Err(self.unexpected("`.unified`"));
            }
            unified = Some(self.unified()?);
            self.expect(b')')?;
        }
        let returns = if !is_entry && self.token.is(b'(') { self.parameters()? } else { Vec::new() };
        let (name, span) = self.expect_ident("a function's name")?;
        let first_input = self.current.body.vars.len() as u32;
        let listed = self.token.is(b'(');
        let params = if listed { self.parameters()? } else { Vec::new() };
        self.current.inputs = first_input..self.current.body.vars.len() as u32;
        self.current.listless = is_entry && !listed && self.module.version < Version::new(1, 4);
        let mut directives =
            self.function_directives(if is_entry { Owner::Kernel } else { Owner::Function })?;
        directives.extend(unified.map(|(a, b)| FunctionDirective::Unified(a, b)));
        let mut function = Function {
            name: name.to_owned(),
            is_entry,
            linkage,
            returns,
            params,
            directives,
            body: None,
            head: Head::default(),
            span,
        };
        if is_entry {
            self.check_kernel(&function);
        }
        if !self.token.is(b'{') {
            let of_definitions = |d: &FunctionDirective| {
                matches!(d, FunctionDirective::MinPerCtaMemory(_) | FunctionDirective::Language(_))
            };
            if function.directives.iter().any(of_definitions) {
                return Err(self.unexpected("the body, which `.minperctamemory` and `.language` require"));
            }
            // ptxas accepts it only after kernels.
            if is_entry {
                self.expect(b';')?;
            } else {
                self.eat(b';');
            }
            function.head = Head {
                regs: std::mem::take(&mut self.current.body.regs),
                vars: std::mem::take(&mut self.current.body.vars),
            };
            let id = self.declare_function(name, function, false)?;
            self.module.to_mut().directives.push(Directive::Declaration(id));
            return Ok(());
        }
        if linkage == Linkage::Extern {
            let message = format!("'{name}' is .extern and has a body");
            return Err(self.error(
                ErrorKind::Semantic,
                span,
                message,
                "an .extern function is only declared",
            ));
        }
        // A function looks declared while its body is parsed, so that it can call itself.
        function.head = Head { regs: self.current.body.regs.clone(), vars: self.current.body.vars.clone() };
        let id = self.declare_function(name, function, true)?;
        self.module.to_mut().directives.push(Directive::Definition(id));
        // A kernel without a parameter list declares its parameters in its body, so the body is parsed now.
        if !self.current.listless && self.put_off(id) {
            return Ok(());
        }
        self.current.function = Some(id);
        let result = self.body();
        let current = std::mem::take(&mut self.current);
        if let Some(function) = self.module.to_mut().functions.get_mut(id.index()) {
            function.head = Head::default();
            if current.listless {
                function.params = current.inputs.map(|n| Parameter::Var(VarId(n))).collect();
            }
            function.body = Some(current.body);
        }
        result
    }

    /// Checks the limits of a kernel's head.
    fn check_kernel(&mut self, function: &Function) {
        let large = self.module.version >= Version::new(8, 1) && self.module.arch().is_some_and(|a| a >= 70);
        let limit = if large { LARGE_PARAM_SPACE } else { PARAM_SPACE };
        let params = function.params.iter().map(|p| match p {
            Parameter::Var(id) => {
                self.current.body.vars.get(id.index()).map_or((0, 1), |v| (v.size_bytes(), v.alignment()))
            }
            Parameter::Reg(_) => (0, 1),
        });
        let size = ParamLayout::new(params).size;
        if size > limit {
            let name = &function.name;
            let message = format!(
                "Entry function '{name}' uses too much parameter space ({size:#x} bytes, {limit:#x} max)"
            );
            let mut diagnostic = Diagnostic::error(ErrorKind::Semantic, function.span, message)
                .label("the parameters are too large");
            if !large {
                diagnostic = diagnostic.help("32764 bytes are legal from .version 8.1 and sm_70 on");
            }
            self.report(diagnostic);
        }
        let (max, req) = (function.max_ntid(), function.req_ntid());
        for (name, extent) in [("maxntid", max), ("reqntid", req)] {
            if extent.is_some_and(|e| e.contains(&0)) {
                let message = format!("Positive non-zero value expected for {name}");
                self.error(ErrorKind::Semantic, function.span, message, "zero threads");
            }
        }
        if max.is_some() && req.is_some() {
            let message = "Conflicting directives: .maxntid and .reqntid cannot both be specified";
            self.error(ErrorKind::Semantic, function.span, message, "both");
        }
    }

    fn declare_function(&mut self, name: &'s str, function: Function, defines: bool) -> Parsed<FuncId> {
        let id = match self.names.get(name) {
            None => {
                let id = FuncId(self.module.functions.len() as u32);
                self.module.to_mut().functions.push(function);
                self.names.to_mut().insert(name, ModuleName::Func(id));
                return Ok(id);
            }
            Some(ModuleName::Func(id)) => *id,
            Some(ModuleName::Global(_)) => return Err(self.duplicate(name, function.span)),
        };
        let Some(old) = self.module.to_mut().functions.get_mut(id.index()) else { return Ok(id) };
        if defines && old.body.is_some() {
            let message = format!("Duplicate definition of function '{name}'");
            return Err(self.error(ErrorKind::Semantic, function.span, message, "defined already"));
        }
        let same = old.is_entry == function.is_entry
            && signature(old, &old.returns) == signature(&function, &function.returns)
            && signature(old, &old.params) == signature(&function, &function.params);
        if !same {
            let message = format!("Function '{name}' declared twice with different parameters");
            let diagnostic = Diagnostic::error(ErrorKind::Semantic, function.span, message);
            return Err(self.report(diagnostic.label("differs from the earlier declaration")));
        }
        if defines {
            *old = function;
        }
        Ok(id)
    }

    /// `(.param .u32 a, .reg .f32 b, …)`
    fn parameters(&mut self) -> Parsed<Vec<Parameter>> {
        self.expect(b'(')?;
        let mut params = Vec::new();
        while !self.eat(b')') {
            let start = self.token.span;
            let head = self.variable_head()?;
            match head.space {
                Space::Reg => {
                    let (name, span) = self.expect_ident("a parameter's name")?;
                    let id = self.declare_reg(
                        name,
                        Register { name: name.to_owned(), ty: head.ty, vector: head.vector, span },
                    )?;
                    params.push(Parameter::Reg(id));
                }
                Space::Param => {
                    let (name, variable) = self.declarator(&head)?;
                    params.push(Parameter::Var(self.declare_var(name, variable)?));
                }
                other => {
                    let message = format!("Parameter in state space {other}");
                    return Err(self.error(ErrorKind::Semantic, start, message, "must be .param or .reg"));
                }
            }
            if !self.eat(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Ok(params)
    }

    /// Adds a register to the current function.
    pub fn declare_reg(&mut self, name: &'s str, register: Register) -> Parsed<crate::ast::RegId> {
        let id = crate::ast::RegId(self.current.body.regs.len() as u32);
        let span = register.span;
        if name != "_" && !self.current.scopes.declare(name, Name::Reg(id)) {
            return Err(self.duplicate(name, span));
        }
        self.current.body.regs.push(register);
        Ok(id)
    }

    /// The directives between head and body, or after a prototype.
    pub fn function_directives(&mut self, owner: Owner) -> Parsed<Vec<FunctionDirective>> {
        use FunctionDirective as D;
        let mut directives = Vec::new();
        while self.token.kind == Kind::Word {
            let word = self.word();
            if MODULE_DIRECTIVES.contains(&word) {
                break;
            }
            if owner == Owner::Function && matches!(directives.last(), Some(D::Language(_))) {
                return Err(self.unexpected("the body: of a function, `.language` is the last directive"));
            }
            if word == "pragma" {
                directives.push(D::Pragma(self.pragma()?));
                continue;
            }
            if word == "attribute" {
                self.bump();
                self.expect(b'(')?;
                if self.word() != "unified" {
                    return Err(self.unexpected("`.unified`"));
                }
                let (a, b) = self.unified()?;
                self.expect(b')')?;
                directives.push(D::Unified(a, b));
                continue;
            }
            let span = self.token.span;
            self.bump();
            directives.push(match word {
                "maxntid" => D::MaxNtid(self.extent()?),
                "reqntid" => D::ReqNtid(self.extent()?),
                "reqnctapercluster" => D::ReqNctaPerCluster(self.extent()?),
                "minnctapersm" => D::MinNctaPerSm(self.expect_u32("a number of blocks")?),
                "maxnctapersm" => D::MaxNctaPerSm(self.expect_u32("a number of blocks")?),
                "maxnreg" => D::MaxNreg(self.expect_u32("a number of registers")?),
                "maxclusterrank" => D::MaxClusterRank(self.expect_u32("a number of blocks")?),
                "abi_preserve" => D::AbiPreserve(self.expect_u32("a number of registers")?),
                "abi_preserve_control" => D::AbiPreserveControl(self.expect_u32("a number of registers")?),
                "local_maxnreg" => D::LocalMaxNreg(self.expect_u32("a number of registers")?),
                "noreturn" => D::NoReturn,
                "explicitcluster" => D::ExplicitCluster,
                "blocksareclusters" => D::BlocksAreClusters,
                "minperctamemory" if owner == Owner::Kernel => {
                    self.check_since(span, ".minperctamemory", (9, 4, 80));
                    D::MinPerCtaMemory(self.expect_u32("a number of bytes")?)
                }
                // The manual requires PTX 9.3 for it, ptxas accepts it from 9.2 on.
                "language" if owner != Owner::Prototype => {
                    self.check_since(span, ".language", (9, 2, 10));
                    D::Language(self.languages()?)
                }
                _ => {
                    let message = format!("Parsing error near '.{word}': syntax error");
                    let label = "expected a directive like `.maxntid`, or the body";
                    return Err(self.error(ErrorKind::Syntax, span, message, label));
                }
            });
        }
        Ok(directives)
    }

    /// `"ptx", "cuda c++", 7`
    fn languages(&mut self) -> Parsed<Vec<u8>> {
        let mut codes = Vec::new();
        loop {
            let span = self.token.span;
            if self.token.kind == Kind::Int {
                let code = self.expect_u32("a number of a language")?;
                match u8::try_from(code) {
                    Ok(code) if usize::from(code) < LANGUAGES.len() => codes.push(code),
                    _ => {
                        let message = format!(
                            "Value '{code}' for 'directive .language' out of range, expected to be in range [0..10]"
                        );
                        self.error(ErrorKind::Semantic, span, message, "no such language");
                    }
                }
            } else {
                let name = self.expect_string()?;
                let same = |known: &Option<&str>| known.is_some_and(|k| k.eq_ignore_ascii_case(&name));
                match LANGUAGES.iter().position(same) {
                    Some(code) => codes.push(code as u8),
                    None => {
                        let message =
                            format!("Parsing error near '{}': Invalid language name", super::shorten(&name));
                        let known: Vec<&str> = LANGUAGES.iter().flatten().copied().collect();
                        let diagnostic = Diagnostic::error(ErrorKind::Semantic, span, message)
                            .label("no such language")
                            .help(format!("languages are {}", known.join(", ")));
                        self.report(diagnostic);
                    }
                }
            }
            if !self.eat(b',') {
                return Ok(codes);
            }
        }
    }

    /// `nx{, ny{, nz}}`
    fn extent(&mut self) -> Parsed<[u32; 3]> {
        let mut extent = [1; 3];
        for (i, slot) in extent.iter_mut().enumerate() {
            if i > 0 && !self.eat(b',') {
                break;
            }
            *slot = self.expect_u32("a number of threads or blocks")?;
        }
        Ok(extent)
    }
}

/// The properties that all declarations of a function must share.
fn signature(function: &Function, params: &[Parameter]) -> Vec<(bool, u64, u32)> {
    let one = |p: &Parameter| match p {
        Parameter::Reg(id) => {
            let reg = function.regs().get(id.index()).or_else(|| function.head.regs.get(id.index()));
            reg.map_or((true, 0, 0), |r| (true, u64::from(r.ty.bits()), u32::from(r.vector)))
        }
        Parameter::Var(id) => {
            let var = function.vars().get(id.index()).or_else(|| function.head.vars.get(id.index()));
            var.map_or((false, 0, 0), |v| (false, v.size_bytes(), v.ty.size_bytes()))
        }
    };
    params.iter().map(one).collect()
}
