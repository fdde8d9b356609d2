//! Checks an instruction against the forms of its opcode.

mod call;
mod coordinates;
mod feature;
mod fragment;
mod operand;
mod space;
mod vector;
mod video;

use crate::ast::Instruction;
use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::forms::{Assignment, Form};
use crate::parser::Parser;
use crate::span::Span;
use crate::words::{Modifier, ModifierKind, Opcode};
use hashbrown::HashMap;
use smallvec::SmallVec;

/// Caches the forms that fit each combination of opcode and modifiers: a module uses few, each of them often.
pub(crate) type Memo = HashMap<(Opcode, SmallVec<[Modifier; 8]>), SmallVec<[u16; 4]>>;

/// Maximum number of alternatives that a message lists.
const LISTED: usize = 24;

impl Parser<'_> {
    /// Reports everything illegal in an instruction. `head` is the span of opcode and modifiers.
    pub(crate) fn check(&mut self, instruction: &Instruction, head: Span) {
        let key = (instruction.opcode, instruction.modifiers.clone());
        let candidates = match self.memo.get(&key) {
            Some(found) => found.clone(),
            None => {
                let (first, forms) = Form::of(instruction.opcode);
                let (version, arch) = (self.module.version, self.module.arch().unwrap_or(10));
                let fit = |(_, f): &(u16, &Form)| {
                    !f.is_gone(version, arch) && f.assign(&instruction.modifiers).fits()
                };
                let found: SmallVec<[u16; 4]> = (first..).zip(forms).filter(fit).map(|(i, _)| i).collect();
                if !found.is_empty() {
                    self.memo.insert(key, found.clone());
                }
                found
            }
        };
        if candidates.is_empty() {
            let diagnostic = self.explain_modifiers(instruction, head);
            self.report(diagnostic);
            return;
        }
        let mut problem: Option<(usize, Diagnostic)> = None;
        for form in candidates.iter().filter_map(|c| Form::get(*c)) {
            let (rank, diagnostic) = match self.check_operands(instruction, form, head) {
                Ok(()) => match self.check_feature(instruction, form, head) {
                    None => {
                        self.check_space(instruction);
                        self.check_part(instruction);
                        self.check_bits(instruction, head);
                        self.check_call(instruction);
                        self.check_video(instruction);
                        self.check_special(instruction);
                        return;
                    }
                    Some(diagnostic) => (usize::MAX, diagnostic),
                },
                Err((rank, diagnostic)) => (rank, diagnostic),
            };
            // Report against the form that matches furthest: it is most likely the intended one.
            if problem.as_ref().is_none_or(|(best, _)| rank > *best) {
                problem = Some((rank, diagnostic));
            }
        }
        if let Some((_, diagnostic)) = problem {
            self.report(diagnostic);
        }
    }

    /// Reports a constant that counts part of a whole and exceeds the whole.
    fn check_part(&mut self, instruction: &Instruction) {
        // Whether the part or the whole is reported follows ptxas.
        let (part_at, whole_at, told_at) = match instruction.opcode {
            Opcode::Createpolicy if instruction.has(Modifier::Range) => (2, 3, 3),
            // Bytes read and bytes written; a cache policy may take the place of the former.
            Opcode::Cp if instruction.has(Modifier::L2CacheHint) && instruction.operands.len() == 4 => return,
            Opcode::Cp if instruction.has(Modifier::Ca) || instruction.has(Modifier::Cg) => (3, 2, 3),
            _ => return,
        };
        let number = |n: usize| instruction.operands.get(n).and_then(|o| o.int()).map(|v| v.bits as u32);
        let (Some(part), Some(whole)) = (number(part_at), number(whole_at)) else { return };
        if part <= whole {
            return;
        }
        let (found, label) = match told_at == whole_at {
            true => (format!("'{whole}' is less than the part"), format!("expected {part} or more")),
            false => (format!("'{part}' out of range"), format!("expected {whole} or less")),
        };
        let message = format!("Argument {told_at} of instruction '{}': value {found}", instruction.opcode);
        self.error(ErrorKind::Semantic, instruction.operands[told_at].span, message, &label);
    }
}

/// A form with its distance from the written modifiers.
struct Near {
    form: &'static Form,
    fit: Assignment,
}

impl Parser<'_> {
    /// Describes modifiers that no form takes.
    fn explain_modifiers(&self, instruction: &Instruction, head: Span) -> Diagnostic {
        let opcode = instruction.opcode;
        let (version, arch) = (self.module.version, self.module.arch().unwrap_or(10));
        let forms: Vec<&'static Form> =
            Form::of(opcode).1.iter().filter(|f| !f.is_gone(version, arch)).collect();
        let error = |message: String| Diagnostic::error(ErrorKind::Semantic, head, message);
        let at = |m: Modifier, message: String| {
            Diagnostic::error(ErrorKind::Semantic, self.modifier_span(head, m), message)
        };
        let legal = |m: Modifier| forms.iter().any(|f| f.slots().iter().any(|s| s.takes(m)));
        if let Some(bad) = instruction.modifiers.iter().find(|m| !legal(**m)) {
            let all = || Modifier::all().iter().copied().filter(|m| legal(*m));
            let of_kind: Vec<Modifier> = all().filter(|m| m.kind() == bad.kind()).collect();
            if bad.scalar_type().is_some() {
                let diagnostic = at(*bad, format!("Unexpected instruction types specified for '{opcode}'"))
                    .label(format!("`{bad}` is not legal here"));
                if of_kind.is_empty() {
                    return diagnostic.help(format!("`{opcode}` has no type"));
                }
                return diagnostic.help(format!("types of `{opcode}`: {}", list(of_kind)));
            }
            let diagnostic = at(*bad, format!("Illegal modifier '{bad}' for instruction '{opcode}'"))
                .label("no form of the instruction has this modifier");
            let choices = if of_kind.is_empty() {
                all().filter(|m| m.scalar_type().is_none()).collect()
            } else {
                of_kind
            };
            if choices.is_empty() {
                return diagnostic.help(format!("`{opcode}` has no modifiers"));
            }
            return diagnostic.help(format!("legal here: {}", list(choices)));
        }
        // Each modifier is legal in some form, but not together: the nearest form shows what to change.
        let near = forms.iter().map(|form| Near { form, fit: form.assign(&instruction.modifiers) });
        let cost = |n: &Near| (n.fit.left.len() * 2 + n.fit.missing.len(), n.fit.left.len());
        let near: Vec<Near> = near.collect();
        let Some(best) = near.iter().min_by_key(|n| cost(n)) else {
            return error(format!("Instruction '{opcode}' has no forms"));
        };
        let note = format!("the nearest form is `{}`", best.form.text);
        let Some(bad) = best.fit.left.first() else {
            // Every form that is equally near contributes its proposal.
            let equal = near.iter().filter(|n| cost(n) == cost(best));
            let mut choices: Vec<Modifier> =
                equal.filter_map(|n| n.fit.missing.first()).flat_map(|s| s.choices()).collect();
            choices.sort_unstable();
            choices.dedup();
            return missing(opcode, choices, head).note(note);
        };
        if instruction.modifiers.iter().filter(|m| *m == bad).count() > 1 {
            let message = format!("Modifier '{bad}' specified more than once for instruction '{opcode}'");
            return at(*bad, message).label("written twice").note(note);
        }
        let rounding = |m: &&Modifier| m.kind() == ModifierKind::Rounding;
        if bad.kind() == ModifierKind::Rounding && instruction.modifiers.iter().filter(rounding).count() > 1 {
            return at(*bad, "Multiple rounding modifiers specified".to_owned())
                .label("only one is legal")
                .note(note);
        }
        let message = if bad.scalar_type().is_some() {
            format!("Unexpected instruction types specified for '{opcode}'")
        } else {
            format!("Illegal modifier '{bad}' for instruction '{opcode}'")
        };
        at(*bad, message).label(format!("`{bad}` cannot be combined with the other modifiers")).note(note)
    }

    /// The span of one modifier inside the instruction's head.
    fn modifier_span(&self, head: Span, modifier: Modifier) -> Span {
        let mut start = head.start;
        for word in self.text(head).split_inclusive('.') {
            let end = start + word.len() as u32;
            if word.trim_end_matches('.') == modifier.name() {
                return Span::new(start.saturating_sub(1), end - u32::from(word.ends_with('.')));
            }
            start = end;
        }
        head
    }
}

/// The error for a missing modifier, which must be one of `choices`.
fn missing(opcode: Opcode, choices: Vec<Modifier>, head: Span) -> Diagnostic {
    let error = |message: String| Diagnostic::error(ErrorKind::Semantic, head, message);
    if choices.iter().all(|m| m.scalar_type().is_some()) {
        return error(format!("Unexpected instruction types specified for '{opcode}'"))
            .label(format!("a type is missing: {}", list(choices)));
    }
    let all = |kind| choices.iter().all(|m| m.kind() == kind);
    let what = match choices.as_slice() {
        [only] => format!("{only} modifier"),
        _ if all(ModifierKind::Rounding) => "Rounding modifier".to_owned(),
        _ if all(ModifierKind::Scope) => "Scope modifier".to_owned(),
        _ => "Modifier".to_owned(),
    };
    let label =
        if choices.len() == 1 { "it is missing".to_owned() } else { format!("missing: {}", list(choices)) };
    error(format!("{what} required for instruction '{opcode}'")).label(label)
}

/// `.rn`, `.rz` or …
fn list(mut modifiers: Vec<Modifier>) -> String {
    let more = modifiers.len().saturating_sub(LISTED);
    modifiers.truncate(LISTED);
    let names: Vec<String> = modifiers.iter().map(|m| format!("`{m}`")).collect();
    let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
    names.join(", ") + &tail
}
