//! Calls: which function is meant, what becomes of its arguments, and device functions.

use super::Translator;
use crate::diagnostic::Reason;
use crate::mask;
use crate::options::Target;
use crate::rules::{self, Action};
use crate::signature;
use crate::supplied;
use crate::table::{self, Api, Entry, Flags};
use crate::token::TokenKind;

/// How names begin that C libraries for the host have as well.
const C_LIBRARY: &[&str] = &["__finite", "__isinf", "__isnan", "__signbit"];

impl Translator<'_, '_> {
    /// Device functions keep their names; those that HIP lacks are reported where they are called.
    pub(super) fn device_function(&mut self, at: usize, entry: &'static Entry, in_device: bool) {
        let (source, name) = (self.source, entry.cuda);
        let follows = at > 0 && source.together(at - 1, at);
        let member = follows && (source.is(at - 1, b'.') || source.kind_is(at - 1, TokenKind::Arrow));
        let declared = follows
            && source.kind_is(at - 1, TokenKind::Identifier)
            && !source.is_word(at - 1, "return")
            && !source.is_word(at - 1, "else")
            && !source.is_macro_name(at - 1);
        // Only CUDA has the names that HIP names otherwise, or whose arguments change: they need no context,
        // which a macro does not have.
        let distinct =
            !table::rules(entry.cuda).is_empty() || !entry.hip.is_empty() && entry.hip != entry.cuda;
        let lacking = entry.unsupported(self.target(), self.rocm());
        let is_supplied = lacking && supplied::has(entry.cuda);
        // Two underscores make a name the compiler's, and only CUDA's has these: functions may be for devices
        // by a macro of the project's.
        let compilers = lacking
            && !is_supplied
            && self.survey.is_cuda
            && name.starts_with("__")
            && !C_LIBRARY.iter().any(|start| name.starts_with(start));
        // Only device code calls these, so a macro that does is for it.
        let in_macro = is_supplied && source.token(at).is_some_and(|token| token.directive != 0);
        if !in_device && !distinct && !compilers && !in_macro
            || member
            || declared
            || !source.is(at + 1, b'(')
            || self.survey.defines(entry.cuda)
        {
            return;
        }
        if is_supplied {
            // A function of the project's is in one of its headers.
            if !self.options.project.owns(entry.cuda) {
                self.statistics.converted.add(entry.kind, entry.api, entry.cuda);
                self.supplied.push((at, entry.cuda));
            }
            return;
        }
        if lacking && self.options.project.owns(name) {
            return;
        }
        self.count(entry, entry.cuda);
        let Some(offset) = source.token(at).map(|token| token.start as usize) else { return };
        if lacking {
            return self.unsupported(offset, entry.cuda, &format!("'{}'", entry.cuda), entry);
        }
        if signature::returns_lanes(name) {
            self.narrow_lanes(at, name);
        }
        if let Some(guard) = table::guard(name, self.rocm()).filter(|guard| self.guarded.insert(guard.define))
        {
            let (rocm, define) = (self.rocm(), guard.define);
            self.report(
                offset,
                Reason::NeedsMacro,
                name,
                format!("ROCm {rocm} declares '{name}' only if {define} is defined"),
                Some(format!("compile with -D{define}, or define it before the first header of HIP")),
            );
        }
        self.call(at, entry);
        if !entry.hip.is_empty() {
            self.replace(at, entry.replacement(self.target(), self.rocm()));
        }
    }

    /// Reports a variable of 32 bits that is initialised with lanes.
    pub(super) fn narrow_lanes(&mut self, at: usize, name: &str) {
        let source = self.source;
        let Some(variable) = at.checked_sub(2).filter(|_| source.is(at - 1, b'=')) else { return };
        let words = (variable.saturating_sub(4)..variable)
            .rev()
            .take_while(|place| source.kind_is(*place, TokenKind::Identifier));
        let Some(text) = source.name(variable).filter(|_| mask::is_narrow_type(source, words)) else {
            return;
        };
        let Some(token) = source.token(variable) else { return };
        self.report(
            token.start as usize,
            Reason::WarpMask,
            &text,
            format!("'{text}' holds 32 of the 64 lanes that '{name}' returns in HIP"),
            Some("make it unsigned long long, and count its bits with __popcll and __ffsll".into()),
        );
    }

    /// Reports a mask of unknown width that was cast to 64 bits.
    pub(super) fn narrow_mask(&mut self, call: &rules::Call, argument: u8, entry: &Entry) {
        let extent = call.arguments.get(usize::from(argument)).map(|tokens| self.source.extent(tokens));
        let Some(extent) = extent else { return };
        let text = self.source.text.get(extent.clone()).map(String::from_utf8_lossy).unwrap_or_default();
        let (text, name) = (text.lines().next().unwrap_or("").to_owned(), entry.cuda);
        self.report(
            extent.start,
            Reason::WarpMask,
            &text,
            format!("the mask of '{name}' is cast to the 64 bits that HIP requires"),
            Some(
                "if it has 32, it lacks lanes 32 to 63 of AMD's 64-lane warps: make it unsigned long long"
                    .into(),
            ),
        );
    }

    /// The function that a call means: in some releases of CUDA a name stands for another one. Reports calls
    /// that have no counterpart or may be either's.
    pub(super) fn meant(&mut self, at: usize, entry: &'static Entry) -> Option<&'static Entry> {
        if entry.flags.has(Flags::TEMPLATE) && !self.source.is(at + 1, b'<') {
            return None;
        }
        let decides =
            |rule: &&rules::Rule| matches!(rule.action, Action::As(_) | Action::Refuse(_) | Action::Doubt(_));
        let mut rules = table::rules(entry.cuda).iter().filter(decides).peekable();
        let Some(call) = rules.peek().and_then(|_| rules::call(self.source, at)) else { return Some(entry) };
        let Some(rule) = rules.find(|rule| rule.when.holds(self.source, &self.types, &call)) else {
            return Some(entry);
        };
        let Some(offset) = self.source.token(at).map(|token| token.start as usize) else {
            return Some(entry);
        };
        let (name, count, family) = (entry.cuda, call.arguments.len(), self.family(entry));
        match rule.action {
            Action::Refuse(advice) => {
                self.statistics.unconverted.add(entry.kind, entry.api, name);
                let message = format!("'{name}' with these {count} arguments has no counterpart in {family}");
                self.report(offset, Reason::Unsupported, name, message, Some(advice.into()));
                None
            }
            Action::Doubt(advice) => {
                let number = rule.argument + 1;
                let message =
                    format!("argument {number} of '{name}' is taken for a device, as before CUDA 13");
                self.report(offset, Reason::Ambiguous, name, message, Some(advice.into()));
                Some(entry)
            }
            Action::As(other) => {
                let other = table::name(other)?;
                if !other.unsupported(self.target(), self.rocm()) {
                    return Some(other);
                }
                self.count(other, name);
                self.unsupported(offset, name, &format!("'{name}' with these {count} arguments"), other);
                None
            }
            _ => Some(entry),
        }
    }

    /// Applies the rules for the calls of a function.
    pub(super) fn call(&mut self, at: usize, entry: &Entry) {
        let all = table::rules(entry.cuda);
        if all.is_empty() {
            return;
        }
        let rocm = self.rocm();
        let wanted = match self.target() {
            _ if !entry.to_roc(self.target()) || entry.roc.is_empty() => Target::Hip,
            Target::Miopen if entry.api != Api::Dnn => Target::Roc,
            target => target,
        };
        let Some(call) = rules::call(self.source, at).filter(|call| !call.arguments.is_empty()) else {
            return;
        };
        let mut wanted: Vec<_> =
            all.iter().filter(|rule| rule.target == wanted && rule.is_for(rocm)).collect();
        wanted.retain(|rule| rule.when.holds(self.source, &self.types, &call));
        wanted.sort_by_key(|rule| rule.argument);
        if !wanted.is_empty() && self.source.has_directive(&(at..call.close)) {
            let Some(offset) = self.source.token(at).map(|token| token.start as usize) else { return };
            let name = entry.cuda;
            return self.report(
                offset,
                Reason::Directive,
                name,
                format!("the arguments of '{name}' are left unchanged: they contain directives"),
                Some("move the directives out of the call, and translate again from the CUDA source".into()),
            );
        }
        for rule in wanted {
            let changed = rules::apply(self.source, &call, rule, &self.masks, &mut self.edits);
            if changed && rule.action == Action::Mask {
                self.narrow_mask(&call, rule.argument, entry);
            }
            if changed && rule.data_loss {
                let argument =
                    call.arguments.get(usize::from(rule.argument)).map(|tokens| self.source.extent(tokens));
                let number = rule.argument + 1;
                let name = entry.cuda;
                self.report(
                    argument.map_or(0, |extent| extent.start),
                    Reason::DataLoss,
                    "",
                    format!("argument {number} of '{name}' has no counterpart in HIP and is removed"),
                    None,
                );
            }
        }
    }
}
