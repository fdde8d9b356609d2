//! Members of structures: what they become, or why they stay.

use super::Translator;
use crate::diagnostic::Reason;
use crate::members::{self, Found};
use crate::pointers;

impl Translator<'_, '_> {
    pub(super) fn members(&mut self) {
        let (all, operands) = members::find(self.source);
        for found in all {
            match found {
                Found::Renamed { at, text } => {
                    if !self.directives.excluded(at) {
                        self.replace(at, text);
                    }
                }
                Found::Joined { parts, text } => self.join(&parts, text),
                Found::Apart { at, of, member } => {
                    let head = member.hip.split('.').next().unwrap_or(member.hip);
                    let message = format!("'{}' is '{}' of '{of}' in HIP", member.member, member.hip);
                    let advice = format!("initialise the member: .{head} = {{x, y, z}}");
                    self.member(at, member.member, message, advice);
                }
                Found::Lacking { at, of, member } => {
                    let message = format!("'{of}' has no member '{}'", member.member);
                    self.member(at, member.member, message, member.advice.into());
                }
                Found::Order { at, of, member } => {
                    let message = format!("'{of}' has its members in another order than this list");
                    self.member(at, "{", message, member.advice.into());
                }
            }
        }
        let directives = self.directives;
        let told = pointers::rewrite(self.source, &operands, |at| directives.excluded(at), &mut self.edits);
        for at in told {
            let (Some(name), Some(token)) = (self.source.name(at), self.source.token(at)) else { continue };
            self.report(
                token.start as usize,
                Reason::DevicePointer,
                &name,
                format!("'{name}' is a void * in HIP, which has no such arithmetic"),
                Some(format!(
                    "write {name} = (char *){name} + 1, or compute with (unsigned long long){name}"
                )),
            );
        }
    }

    fn member(&mut self, at: usize, name: &str, message: String, advice: String) {
        if self.directives.excluded(at) {
            return;
        }
        let Some(offset) = self.source.token(at).map(|token| token.start as usize) else { return };
        self.report(offset, Reason::Member, name, message, Some(advice));
    }

    /// Joins the designated initialisers of a member's parts: `.gridDim = {a, b, c}`.
    fn join(&mut self, parts: &[std::ops::Range<usize>], text: &str) {
        let last = parts.len().saturating_sub(1);
        for (place, tokens) in parts.iter().enumerate() {
            if self.directives.excluded(tokens.start) {
                return;
            }
            // `.gridDimX =` and the space after it
            let (Some(first), Some(value)) =
                (self.source.token(tokens.start), self.source.token(tokens.start + 3))
            else {
                return;
            };
            let head = if place == 0 { format!(".{text} = {{") } else { String::new() };
            self.edits.replace(first.start as usize..value.start as usize, head);
            if place == last {
                self.edits.close(self.source.extent(tokens).end, "}");
            }
        }
    }
}
