//! Checks features against the module's version and target: forms, words, operands, special registers,
//! directives.

use crate::ast::{AddressBase, FuncId, Instruction, OperandKind};
use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::forms::Form;
use crate::parser::Parser;
use crate::span::Span;
use crate::types::{ArchSuffix, Target, Version, has_arch};
use crate::words::{Modifier, Opcode};

impl Parser<'_> {
    /// The problem with using `what`, which requires a version and one of the architectures.
    fn lacking(
        &self,
        span: Span,
        what: &dyn Fn() -> String,
        since: (u8, u8),
        arches: &[(u16, ArchSuffix)],
    ) -> Option<Diagnostic> {
        let version = self.module.version;
        let target = self.module.target.iter().find(|t| matches!(t, Target::Arch { .. }));
        let arch = match target {
            Some(Target::Arch { number, suffix }) => (*number, *suffix),
            _ => (10, ArchSuffix::None),
        };
        let error = |message: String| Diagnostic::error(ErrorKind::Semantic, span, message);
        let needed = Version::new(since.0.into(), since.1.into());
        if version < needed {
            let message = format!("{} requires PTX ISA .version {needed} or later", what());
            return Some(error(message).label(format!("the module is of .version {version}")));
        }
        if arches.iter().any(|a| has_arch(*a, arch)) {
            return None;
        }
        let message = format!("{} requires .target {}", what(), targets(arches));
        let label = match target {
            Some(target) => format!("the module is for {target}"),
            None => "the module names no target".to_owned(),
        };
        Some(error(message).label(label))
    }

    /// Reports a word that the module's version or target lacks.
    pub(crate) fn check_since(&mut self, span: Span, name: &str, since: (u8, u8, u16)) {
        let what = || format!("Feature '{name}'");
        if let Some(problem) = self.lacking(span, &what, (since.0, since.1), &[(since.2, ArchSuffix::None)]) {
            self.report(problem);
        }
    }

    /// Reports special registers that the module or the kernel lacks.
    pub(super) fn check_special(&mut self, instruction: &Instruction) {
        for operand in &instruction.operands {
            let OperandKind::Special(special, _) = operand.kind else { continue };
            self.check_since(operand.span, &special.to_string(), special.since());
            if special.needs_block_memory()
                && self.current.function.is_some_and(|f| self.lacks_block_memory(f))
            {
                let message = format!(".minperctamemory directive required for special register {special}");
                let label = "the kernel's head does not say how much memory a block needs";
                self.error(ErrorKind::Semantic, operand.span, message, label);
            }
        }
    }

    /// Whether the function is a kernel without `.minperctamemory`. Device functions may be called by kernels
    /// that have it.
    fn lacks_block_memory(&self, function: FuncId) -> bool {
        let function = self.module.functions.get(function.index());
        function.is_some_and(|f| f.is_entry && f.min_block_memory().is_none())
    }

    /// Checks that the module's version and target support the form and its modifiers.
    pub(super) fn check_feature(
        &self,
        instruction: &Instruction,
        form: &Form,
        head: Span,
    ) -> Option<Diagnostic> {
        let problem = |what: &dyn Fn() -> String, since: (u8, u8), arches: &[(u16, ArchSuffix)]| {
            self.lacking(head, what, since, arches)
        };
        let whole = || format!("Instruction '{}'", self.text(head));
        let opcode = instruction.opcode;
        let after = |what: &dyn Fn() -> String, since: (u8, u8, u16)| {
            problem(what, (since.0, since.1), &[(since.2, ArchSuffix::None)])
        };
        let of_words = || {
            instruction.modifiers.iter().find_map(|m| {
                let here = form.words.iter().filter(|(word, _)| word == m).map(|(_, since)| *since);
                let what = || format!("Modifier '{m}' of instruction '{opcode}'");
                std::iter::once(m.since()).chain(here).find_map(|since| after(&what, since))
            })
        };
        let of_operands = || {
            let operands = form.operands();
            let extra = instruction.operands.len() > operands.iter().filter(|o| !o.optional).count();
            let pair = instruction.operands.iter().any(|o| matches!(o.kind, OperandKind::Pair(_)));
            let present =
                operands.iter().filter(|o| if o.optional { extra && !o.hint } else { o.pair && pair });
            let what = || format!("An optional operand of instruction '{opcode}'");
            present.map(|o| o.since).find_map(|since| after(&what, since))
        };
        let of_address = || {
            let (what, since) = addressing(instruction)?;
            after(&|| format!("{what} of instruction '{opcode}'"), since)
        };
        // Architectures on which any instruction may access 128 bits.
        let of_all = || {
            let wide = instruction.types().contains(&crate::types::ScalarType::B128)
                && instruction.has(Modifier::Sys);
            let what = || format!("'.sys' with '.b128' of instruction '{opcode}'");
            wide.then(|| after(&what, (8, 4, 70))).flatten()
        };
        let of_whole = problem(&whole, form.since, form.arches);
        of_whole.or_else(of_words).or_else(of_operands).or_else(of_address).or_else(of_all)
    }
}

/// Addressing modes that were added later: without a state space, and textures through a register.
fn addressing(instruction: &Instruction) -> Option<(&'static str, (u8, u8, u16))> {
    use Opcode as O;
    let address = instruction.operands.iter().find_map(|o| o.address())?;
    match instruction.opcode {
        O::Ld | O::St | O::Atom | O::Red if instruction.space().is_none() => {
            Some(("Generic addressing", (2, 0, 20)))
        }
        O::Tex | O::Tld4 | O::Txq | O::Suld | O::Sust | O::Sured | O::Suq
            if matches!(address.base, AddressBase::Reg(_)) =>
        {
            Some(("Indirect access", (3, 1, 20)))
        }
        _ => None,
    }
}

/// `sm_80 or higher`, `sm_90a or sm_100f`.
fn targets(arches: &[(u16, ArchSuffix)]) -> String {
    let names = arches.iter().map(|(number, suffix)| match suffix {
        ArchSuffix::None => format!("sm_{number} or higher"),
        ArchSuffix::Specific => format!("sm_{number}a"),
        ArchSuffix::Family => format!("sm_{number}f"),
    });
    names.collect::<Vec<_>>().join(", or ")
}
