//! Checks an instruction against the forms of its opcode.

mod call;
mod operand;
mod space;

use crate::ast::Instruction;
use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::forms::{Form, Slot};
use crate::parser::Parser;
use crate::span::Span;
use crate::types::{ArchSuffix, Target, Version};
use crate::words::{Modifier, ModifierKind, Opcode};
use hashbrown::HashMap;
use smallvec::SmallVec;

/// The forms that take a combination of opcode and modifiers: a module uses few, each of them often.
pub(crate) type Memo = HashMap<(Opcode, SmallVec<[Modifier; 8]>), SmallVec<[u16; 4]>>;

/// How many alternatives a message lists.
const LISTED: usize = 24;

impl Parser<'_> {
    /// Reports what is illegal in an instruction. `head` is the place of opcode and modifiers.
    pub(crate) fn check(&mut self, instruction: &Instruction, head: Span) {
        let key = (instruction.opcode, instruction.modifiers.clone());
        let candidates = match self.memo.get(&key) {
            Some(found) => found.clone(),
            None => {
                let (first, forms) = Form::of(instruction.opcode);
                let fit = |(_, f): &(u16, &Form)| f.assign(&instruction.modifiers).fits();
                let found: SmallVec<[u16; 4]> = (first..).zip(forms).filter(fit).map(|(i, _)| i).collect();
                if !found.is_empty() {
                    self.memo.insert(key, found.clone());
                }
                found
            }
        };
        if candidates.is_empty() {
            let diagnostic = explain_modifiers(instruction, head);
            self.report(diagnostic);
            return;
        }
        let mut problem: Option<(usize, Diagnostic)> = None;
        for form in candidates.iter().filter_map(|c| Form::get(*c)) {
            let (rank, diagnostic) = match self.check_operands(instruction, form, head) {
                Ok(()) => match self.check_feature(instruction, form, head) {
                    None => {
                        self.check_space(instruction);
                        self.check_call(instruction);
                        return;
                    }
                    Some(diagnostic) => (usize::MAX, diagnostic),
                },
                Err((rank, diagnostic)) => (rank, diagnostic),
            };
            // The form that gets furthest is the one that was meant.
            if problem.as_ref().is_none_or(|(best, _)| rank > *best) {
                problem = Some((rank, diagnostic));
            }
        }
        if let Some((_, diagnostic)) = problem {
            self.report(diagnostic);
        }
    }

    /// Whether the module's version and target have the form and its modifiers.
    fn check_feature(&self, instruction: &Instruction, form: &Form, head: Span) -> Option<Diagnostic> {
        let opcode = instruction.opcode;
        let version = self.module.version;
        let (arch, suffix) = self
            .module
            .target
            .iter()
            .find_map(|t| match t {
                Target::Arch { number, suffix } => Some((*number, *suffix)),
                _ => None,
            })
            .unwrap_or((10, ArchSuffix::None));
        let error = |message: String| Diagnostic::error(ErrorKind::Semantic, head, message);
        let (major, minor, sm) = form.gone;
        if version >= Version::new(major.into(), minor.into()) && arch >= sm {
            let message =
                format!("Instruction '{opcode}' in this form is not supported on .target sm_{arch}");
            let help = format!("it was withdrawn for sm_{sm} and PTX ISA {major}.{minor} on");
            return Some(error(message).label(form.text).help(help));
        }
        let since = instruction.modifiers.iter().map(|m| (Some(*m), m.since()));
        for (modifier, (major, minor, sm)) in std::iter::once((None, form.since)).chain(since) {
            let what = match modifier {
                None => format!("Instruction '{}'", form.text.split(' ').next().unwrap_or("")),
                Some(m) => format!("Modifier '{m}' of instruction '{opcode}'"),
            };
            let needed = Version::new(major.into(), minor.into());
            if version < needed {
                let message = format!("{what} requires PTX ISA .version {needed} or later");
                return Some(error(message).label(format!("the module is of .version {version}")));
            }
            let specific = modifier.is_none() && form.specific;
            if arch < sm || (specific && suffix == ArchSuffix::None) {
                let letter = if specific { "a" } else { "" };
                let message = format!("{what} requires .target sm_{sm}{letter} or higher");
                return Some(error(message).label(format!("the module is for sm_{arch}")));
            }
        }
        None
    }
}

/// What is wrong with modifiers that no form takes.
fn explain_modifiers(instruction: &Instruction, head: Span) -> Diagnostic {
    let opcode = instruction.opcode;
    let forms = Form::of(opcode).1;
    let error = |message: String| Diagnostic::error(ErrorKind::Semantic, head, message);
    let legal = |m: Modifier| forms.iter().any(|f| f.slots().iter().any(|s| s.takes(m)));
    if let Some(bad) = instruction.modifiers.iter().find(|m| !legal(**m)) {
        let of_kind: Vec<Modifier> =
            Modifier::all().iter().copied().filter(|m| legal(*m) && m.kind() == bad.kind()).collect();
        if bad.scalar_type().is_some() {
            let label = format!("`{bad}` is not legal here");
            let diagnostic =
                error(format!("Unexpected instruction types specified for '{opcode}'")).label(label);
            return diagnostic.help(format!("types of `{opcode}`: {}", list(of_kind)));
        }
        let diagnostic = error(format!("Illegal modifier '{bad}' for instruction '{opcode}'"));
        let choices = if of_kind.is_empty() {
            Modifier::all().iter().copied().filter(|m| legal(*m) && m.scalar_type().is_none()).collect()
        } else {
            of_kind
        };
        let diagnostic = diagnostic.label("no form of the instruction has it");
        if choices.is_empty() {
            return diagnostic.help(format!("`{opcode}` has no modifiers"));
        }
        return diagnostic.help(format!("legal here: {}", list(choices)));
    }
    // Each is legal somewhere, but not together: the nearest form says what to change.
    let Some((form, fit)) = forms
        .iter()
        .map(|f| (f, f.assign(&instruction.modifiers)))
        .max_by_key(|(_, a)| (i64::from(a.filled) - a.left.len() as i64 * 2, a.missing.is_none()))
    else {
        return error(format!("Instruction '{opcode}' has no forms"));
    };
    let note = format!("the nearest form is `{}`", form.text);
    if let Some(bad) = fit.left.first() {
        if instruction.modifiers.iter().filter(|m| *m == bad).count() > 1 {
            let message = format!("Modifier '{bad}' specified more than once for instruction '{opcode}'");
            return error(message).label("written twice").note(note);
        }
        let rounding = |m: &&Modifier| m.kind() == ModifierKind::Rounding;
        if bad.kind() == ModifierKind::Rounding && instruction.modifiers.iter().filter(rounding).count() > 1 {
            return error("Multiple rounding modifiers specified".to_owned())
                .label("only one is legal")
                .note(note);
        }
        let message = if bad.scalar_type().is_some() {
            format!("Unexpected instruction types specified for '{opcode}'")
        } else {
            format!("Illegal modifier '{bad}' for instruction '{opcode}'")
        };
        return error(message).label(format!("`{bad}` does not go with the other modifiers")).note(note);
    }
    match fit.missing {
        Some(slot) => missing(opcode, slot, head).note(note),
        None => error(format!("Illegal modifiers for instruction '{opcode}'")).note(note),
    }
}

/// A modifier has to be there and is not.
fn missing(opcode: Opcode, slot: &Slot, head: Span) -> Diagnostic {
    let choices: Vec<Modifier> = slot.choices().collect();
    let first = choices.first().copied();
    let what = match first.map(Modifier::kind) {
        Some(ModifierKind::Rounding) => "Rounding modifier".to_owned(),
        Some(ModifierKind::Type) => {
            let message = format!("Unexpected instruction types specified for '{opcode}'");
            let label = format!("a type is missing: {}", list(choices));
            return Diagnostic::error(ErrorKind::Semantic, head, message).label(label);
        }
        Some(ModifierKind::Scope) => "Scope modifier".to_owned(),
        _ => match choices.as_slice() {
            [only] => format!("{only} modifier"),
            _ => "Modifier".to_owned(),
        },
    };
    Diagnostic::error(ErrorKind::Semantic, head, format!("{what} required for instruction '{opcode}'"))
        .label(format!("one of {} is missing", list(choices)))
}

/// `.rn`, `.rz` or …
fn list(mut modifiers: Vec<Modifier>) -> String {
    let more = modifiers.len().saturating_sub(LISTED);
    modifiers.truncate(LISTED);
    let names: Vec<String> = modifiers.iter().map(|m| format!("`{m}`")).collect();
    let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
    names.join(", ") + &tail
}
