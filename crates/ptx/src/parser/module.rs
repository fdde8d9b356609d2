//! Directives of module scope.

use super::{ModuleName, Parsed, Parser};
use crate::ast::{CodeBlock, Directive, File, FuncId, Linkage};
use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::lexer::Kind;
use crate::span::Span;
use crate::types::{ArchSuffix, Space, Target, Version};

impl<'s> Parser<'s> {
    /// The whole text.
    pub fn module(&mut self) {
        if self.header().is_err() {
            return;
        }
        while self.token.kind != Kind::Eof && !self.gave_up() {
            if self.directive().is_err() {
                self.recover();
            }
        }
        self.check_constants();
    }

    /// The `.const` variables must fit in 64 KiB together.
    fn check_constants(&mut self) {
        const LIMIT: u64 = 65536;
        let mut end = 0_u64;
        for variable in self.module.globals.iter().filter(|v| v.space == Space::Const) {
            let align = u64::from(variable.alignment());
            end =
                end.checked_next_multiple_of(align).unwrap_or(u64::MAX).saturating_add(variable.size_bytes());
            if end > LIMIT {
                let span = variable.span;
                let total = self.module.globals.iter().filter(|v| v.space == Space::Const);
                let total = total.fold(0_u64, |n, v| n.saturating_add(v.size_bytes()));
                let message =
                    format!("File uses too much global constant data ({total:#x} bytes, {LIMIT:#x} max)");
                self.error(ErrorKind::Semantic, span, message, "this variable exceeds the limit");
                return;
            }
        }
    }

    /// `.version`, `.target` and `.address_size`.
    fn header(&mut self) -> Parsed<()> {
        if self.word() != "version" {
            let span = self.token.span;
            let message = "Missing .version directive at start of file";
            let diagnostic = Diagnostic::error(ErrorKind::Syntax, span, message);
            return Err(self.report(
                diagnostic
                    .label("expected `.version`")
                    .help("a PTX text begins with `.version 9.0` and `.target sm_86`"),
            ));
        }
        self.bump();
        self.version()?;
        if self.word() != "target" {
            let span = self.token.span;
            let diagnostic = Diagnostic::error(ErrorKind::Syntax, span, "Missing .target directive");
            return Err(self.report(
                diagnostic.label("expected `.target`").help("`.target sm_86` has to follow `.version`"),
            ));
        }
        self.target()
    }

    fn version(&mut self) -> Parsed<()> {
        let span = self.token.span;
        let text = self.text(span);
        let parts = text.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        let (Kind::Decimal, Some((major, minor))) = (self.token.kind, parts) else {
            return Err(self.unexpected("a version like 9.0"));
        };
        self.bump();
        let version = Version::new(major, minor);
        if version > Version::NEWEST || version < Version::OLDEST {
            let message = format!("Unsupported .version {version}; current version is '{}'", Version::NEWEST);
            let diagnostic = Diagnostic::error(ErrorKind::UnsupportedVersion, span, message);
            let range = format!("versions {} to {} are supported", Version::OLDEST, Version::NEWEST);
            return Err(self.report(diagnostic.label(range)));
        }
        self.module.to_mut().version = version;
        Ok(())
    }

    fn target(&mut self) -> Parsed<()> {
        self.bump();
        loop {
            let (word, span) = self.expect_ident("a target like sm_86")?;
            let Some((target, since)) = target(word) else {
                let message = format!("Unsupported .target '{word}'");
                let diagnostic = Diagnostic::error(ErrorKind::UnsupportedTarget, span, message);
                return Err(self.report(diagnostic.label("not a target").help(
                    "sm_10 to sm_121, texmode_unified, texmode_independent, debug or map_f64_to_f32",
                )));
            };
            let version = self.module.version;
            if version < since {
                let message = format!("PTX .version {version} does not support .target {word}");
                let label = format!("requires .version {since} or later");
                return Err(self.error(ErrorKind::UnsupportedTarget, span, message, &label));
            }
            self.module.to_mut().target.push(target);
            if !self.eat(b',') {
                return Ok(());
            }
        }
    }

    fn directive(&mut self) -> Parsed<()> {
        let start = self.token.span.start;
        match self.word() {
            "address_size" => self.address_size(),
            "file" => {
                let file = self.file()?;
                self.module.to_mut().directives.push(Directive::File(file));
                Ok(())
            }
            "section" => self.section(),
            "nv_intermediate_source_section" => self.intermediate_sources(),
            "pragma" => {
                let pragma = self.pragma()?;
                self.module.to_mut().directives.push(Directive::Pragma(pragma));
                Ok(())
            }
            "alias" => self.alias(start),
            "target" => self.target(),
            "version" => {
                let span = self.token.span;
                Err(self.error(
                    ErrorKind::Semantic,
                    span,
                    "Duplicate .version directive",
                    "only one is legal",
                ))
            }
            "extern" | "visible" | "weak" | "common" => self.linked(),
            "entry" | "func" => self.function(Linkage::Internal),
            "global" | "const" | "shared" | "tex" | "local" | "param" | "reg" | "sreg" => {
                self.module_variable(Linkage::Internal)
            }
            "loc" => {
                let loc = self.loc()?;
                self.module.to_mut().directives.push(Directive::Loc(loc));
                Ok(())
            }
            "" if self.token.kind == Kind::Punct2(b'@', b'@') => {
                let end = self.line_end(self.token.span.start);
                let line = self.source.get(self.token.span.end as usize..end as usize).unwrap_or("");
                let text = line.trim_start().trim_start_matches("DWARF").trim().to_owned();
                self.module.to_mut().directives.push(Directive::Dwarf(text));
                self.seek(end);
                Ok(())
            }
            "" if self.token.is(b';') => {
                self.bump();
                Ok(())
            }
            _ => {
                Err(self
                    .unexpected("a directive: `.entry`, `.func`, `.global`, `.const`, `.shared`, `.file`…"))
            }
        }
    }

    fn linked(&mut self) -> Parsed<()> {
        let linkage = match self.word() {
            "extern" => Linkage::Extern,
            "visible" => Linkage::Visible,
            "weak" => Linkage::Weak,
            _ => Linkage::Common,
        };
        self.bump();
        match self.word() {
            "entry" | "func" => self.function(linkage),
            _ => self.module_variable(linkage),
        }
    }

    fn address_size(&mut self) -> Parsed<()> {
        self.bump();
        let span = self.token.span;
        match self.expect_int("64")? {
            64 => {
                self.module.to_mut().address_size_written = true;
                Ok(())
            }
            32 => {
                let message = "32-Bit compilation is no longer supported";
                Err(self.error(ErrorKind::Semantic, span, message, "must be 64"))
            }
            _ => Err(self.error(ErrorKind::Semantic, span, "Illegal .address_size", "must be 32 or 64")),
        }
    }

    fn file(&mut self) -> Parsed<File> {
        self.bump();
        let index = self.expect_u32("a file's number")?;
        let name = self.expect_string()?;
        let mut stamp = None;
        if self.eat(b',') {
            let time = self.expect_int("a time stamp")?;
            self.expect(b',')?;
            stamp = Some((time, self.expect_int("a size")?));
        }
        Ok(File { index, name, stamp })
    }

    /// `.pragma "…", "…";`
    pub fn pragma(&mut self) -> Parsed<Vec<String>> {
        self.bump();
        let mut texts = vec![self.expect_string()?];
        while self.eat(b',') {
            texts.push(self.expect_string()?);
        }
        self.expect(b';')?;
        Ok(texts)
    }

    fn section(&mut self) -> Parsed<()> {
        let start = self.bump().span.start;
        let name = match self.token.kind {
            Kind::Word | Kind::Ident => self.text(self.token.span).to_owned(),
            _ => return Err(self.unexpected("a section's name")),
        };
        self.bump();
        let open = self.expect(b'{')?.span.end;
        let mut depth = 1_usize;
        let close = loop {
            match self.token.kind {
                Kind::Eof | Kind::Open => return Err(self.unexpected("`}`")),
                Kind::Punct(b'{') => depth += 1,
                Kind::Punct(b'}') => depth -= 1,
                _ => {}
            }
            let token = self.bump();
            if depth == 0 {
                break token.span.start;
            }
        };
        let text = self.text(Span::new(open, close)).trim().to_owned();
        let span = self.since(start);
        self.module.to_mut().directives.push(Directive::Section { name, text, span });
        Ok(())
    }

    /// `.nv_intermediate_source_section { .code_block { … } … }`
    fn intermediate_sources(&mut self) -> Parsed<()> {
        self.check_since(self.token.span, ".nv_intermediate_source_section", (9, 4, 10));
        self.bump();
        self.expect(b'{')?;
        let mut blocks = Vec::new();
        while !self.eat(b'}') {
            self.directive_word("code_block")?;
            self.expect(b'{')?;
            self.directive_word("ir_name")?;
            self.expect(b':')?;
            let language = self.expect_string()?;
            self.directive_word("sourceFileName")?;
            self.expect(b':')?;
            let span = self.token.span;
            let file = self.expect_u32("a file's number")?;
            let known = |d: &Directive| matches!(d, Directive::File(f) if f.index == file);
            if !self.module.directives.iter().any(known) {
                let message = format!("Undefined file index #{file}");
                self.error(ErrorKind::Semantic, span, message, "no earlier `.file` has this index");
            }
            let text = self.raw_lines()?;
            self.expect(b'}')?;
            blocks.push(CodeBlock { language, file, text });
        }
        self.module.to_mut().directives.push(Directive::IntermediateSources(blocks));
        Ok(())
    }

    /// The lines between `.source_begin` and `.source_end`, which are each on a line of their own. They are
    /// not PTX.
    fn raw_lines(&mut self) -> Parsed<String> {
        let begin = self.token.span;
        if self.word() != "source_begin" {
            return Err(self.unexpected("`.source_begin`"));
        }
        let source = self.source;
        let rest = source.get(begin.end as usize..).unwrap_or_default();
        let mut at = begin.end;
        let mut lines = Vec::new();
        for (number, line) in rest.split_inclusive('\n').enumerate() {
            at += line.len() as u32;
            match line.trim() {
                "" if number == 0 => continue,
                _ if number == 0 => break,
                ".source_end" => {
                    self.seek(at);
                    return Ok(lines.join("\n"));
                }
                text if !text.is_ascii() => {
                    let span = Span::new(at - line.len() as u32, at);
                    let message = "Unexpected non-ASCII character encountered";
                    let label = "a PTX text is ASCII, also in its sources";
                    return Err(self.error(ErrorKind::Syntax, span, message, label));
                }
                _ => lines.push(line.trim_end_matches(['\n', '\r'])),
            }
        }
        let message = "Parsing error near '.source_begin': unterminated .source_begin, expected .source_end";
        let label = "each of the two must be on a line of its own";
        Err(self.error(ErrorKind::Syntax, begin, message, label))
    }

    /// Consumes `.word`.
    fn directive_word(&mut self, word: &str) -> Parsed<()> {
        if self.word() != word {
            return Err(self.unexpected(&format!("`.{word}`")));
        }
        self.bump();
        Ok(())
    }

    /// The name of a function that is already declared.
    pub fn function_name(&mut self) -> Parsed<FuncId> {
        let (name, span) = self.expect_ident("a function's name")?;
        match self.module_name(name) {
            Some(ModuleName::Func(id)) => Ok(id),
            Some(ModuleName::Global(_)) => {
                let message = format!("'{name}' is not a function");
                Err(self.error(ErrorKind::Semantic, span, message, "a variable"))
            }
            None => Err(self.unknown_symbol(name, span)),
        }
    }

    /// Skips to what looks like the next directive of module scope.
    fn recover(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.token.kind {
                Kind::Eof => return,
                Kind::Punct(b'{') => depth += 1,
                Kind::Punct(b'}') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        self.bump();
                        return;
                    }
                }
                Kind::Punct(b';') if depth == 0 => {
                    self.bump();
                    return;
                }
                Kind::Word if depth == 0 => {
                    let starts =
                        ["entry", "func", "extern", "visible", "weak", "file", "section", "global", "const"];
                    let at_line_start =
                        self.source.as_bytes().get((self.token.span.start as usize).wrapping_sub(1));
                    if starts.contains(&self.word()) && at_line_start == Some(&b'\n') {
                        return;
                    }
                }
                _ => {}
            }
            self.bump();
        }
    }
}

/// The architectures that PTX has a name for, each with the version that introduced it.
const ARCHES: &[(u16, Version)] = &[
    (10, Version::new(1, 0)),
    (11, Version::new(1, 0)),
    (12, Version::new(1, 2)),
    (13, Version::new(1, 2)),
    (20, Version::new(2, 0)),
    (21, Version::new(2, 0)),
    (30, Version::new(3, 0)),
    (32, Version::new(4, 0)),
    (35, Version::new(3, 1)),
    (37, Version::new(4, 1)),
    (50, Version::new(4, 0)),
    (52, Version::new(4, 1)),
    (53, Version::new(4, 2)),
    (60, Version::new(5, 0)),
    (61, Version::new(5, 0)),
    (62, Version::new(5, 0)),
    (70, Version::new(6, 0)),
    (72, Version::new(6, 1)),
    (75, Version::new(6, 3)),
    (80, Version::new(7, 0)),
    (86, Version::new(7, 1)),
    (87, Version::new(7, 4)),
    (88, Version::new(9, 0)),
    (89, Version::new(7, 8)),
    (90, Version::new(7, 8)),
    (100, Version::new(8, 6)),
    (101, Version::new(8, 6)),
    (103, Version::new(8, 8)),
    (107, Version::new(9, 4)),
    (110, Version::new(9, 0)),
    (120, Version::new(8, 7)),
    (121, Version::new(8, 8)),
];

/// A word of `.target`, with the version that introduced it.
fn target(word: &str) -> Option<(Target, Version)> {
    match word {
        "texmode_unified" => return Some((Target::TexmodeUnified, Version::new(1, 5))),
        "texmode_independent" => return Some((Target::TexmodeIndependent, Version::new(1, 5))),
        "debug" => return Some((Target::Debug, Version::new(3, 0))),
        "map_f64_to_f32" => return Some((Target::MapF64ToF32, Version::OLDEST)),
        _ => {}
    }
    let digits = word.strip_prefix("sm_").or_else(|| word.strip_prefix("compute_"))?;
    let (digits, suffix) = match digits.as_bytes().last()? {
        b'a' => (digits.strip_suffix('a')?, ArchSuffix::Specific),
        b'f' => (digits.strip_suffix('f')?, ArchSuffix::Family),
        _ => (digits, ArchSuffix::None),
    };
    let number = digits.parse().ok()?;
    let since = ARCHES.iter().find(|(n, _)| *n == number)?.1;
    let since = match suffix {
        ArchSuffix::None => since,
        ArchSuffix::Specific if number >= 90 => since.max(Version::new(8, 0)),
        ArchSuffix::Family if number >= 100 => since.max(Version::new(8, 8)),
        _ => return None,
    };
    Some((Target::Arch { number, suffix }, since))
}
