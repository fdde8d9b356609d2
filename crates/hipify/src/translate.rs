//! The passes over a text, in order.

mod calls;
mod foreign;
mod members;
mod names;

use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostic, Lines, Reason};
use crate::directives::{self, Directives};
use crate::edit::Edits;
use crate::includes::{self, Included, Outcome};
use crate::mask::{self, Masks};
use crate::options::{Options, Rocm, Target};
use crate::source::Source;
use crate::stats::Statistics;
use crate::survey::{self, Survey};
use crate::table::{self, Api, Entry, Kind, Presence};
use crate::token::TokenKind;
use crate::{half2, launch, redefined, signature, supplied};

/// A text is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text has {0} bytes; the maximum is 4294967295")]
pub struct TooLong(pub usize);

/// The result of a translation.
#[derive(Clone, Debug)]
pub struct Translation {
    /// The translated text.
    pub text: Vec<u8>,
    /// Diagnostics in text order.
    pub diagnostics: Vec<Diagnostic>,
    /// How much was translated.
    pub statistics: Statistics,
    /// Bytes visited, with repetition: the measure of how work grows with the text.
    pub steps: u64,
}

/// Translates a text.
///
/// # Errors
/// The text has 4 GiB or more. Names without a counterpart stay and are reported in the result.
pub fn translate(text: &[u8], options: &Options) -> Result<Translation, TooLong> {
    if u32::try_from(text.len()).is_err() {
        return Err(TooLong(text.len()));
    }
    let source = Source::new(text);
    let directives = directives::read(&source, options);
    let survey = survey::survey(&source);
    let mut translator = Translator {
        options,
        directives: &directives,
        survey: &survey,
        masks: mask::survey(&source),
        types: signature::survey(&source),
        asks_pass: None,
        spaces: foreign::survey(&source, &directives),
        guarded: BTreeSet::new(),
        supplied: Vec::new(),
        included: Included::default(),
        lines: Lines::new(text),
        source: &source,
        edits: Edits::default(),
        diagnostics: Vec::new(),
        statistics: Statistics::default(),
    };
    translator.headers();
    translator.names();
    translator.redefinitions();
    translator.members();
    if !options.no_undocumented {
        translator.half2_members();
    }
    translator.runtime_header();
    translator.definitions();
    Ok(translator.finish())
}

struct Translator<'t, 'a> {
    options: &'t Options,
    source: &'t Source<'a>,
    directives: &'t Directives,
    survey: &'t Survey,
    masks: Masks,
    types: signature::Types,
    /// The last directive that names the macro of the device pass, with whether it only asks whether the
    /// macro is defined.
    asks_pass: Option<(u32, bool)>,
    /// The namespaces of NVIDIA's libraries, under the names that the text gives them.
    spaces: foreign::Spaces,
    /// The macros that were reported as missing.
    guarded: BTreeSet<&'static str>,
    /// The uses of functions that the translation defines, in order.
    supplied: Vec<(usize, &'static str)>,
    lines: Lines<'a>,
    included: Included,
    edits: Edits,
    diagnostics: Vec<Diagnostic>,
    statistics: Statistics,
}

impl Translator<'_, '_> {
    fn target(&self) -> Target {
        self.options.target
    }

    fn rocm(&self) -> Rocm {
        self.options.rocm
    }

    fn family(&self, entry: &Entry) -> &'static str {
        if entry.to_roc(self.target()) { "ROC" } else { "HIP" }
    }

    fn report(
        &mut self,
        offset: usize,
        reason: Reason,
        name: &str,
        message: String,
        suggestion: Option<String>,
    ) {
        let (line, column) = self.lines.position(offset);
        self.diagnostics.push(Diagnostic {
            reason,
            name: name.into(),
            message,
            line,
            column,
            offset,
            suggestion,
        });
    }

    fn count(&mut self, entry: &Entry, name: &str) {
        let unsupported = entry.unsupported(self.target(), self.rocm());
        let counter =
            if unsupported { &mut self.statistics.unconverted } else { &mut self.statistics.converted };
        counter.add(entry.kind, entry.api, name);
    }

    fn headers(&mut self) {
        for include in &self.directives.includes {
            let path = &include.path;
            let foreign = table::foreign_header(path).filter(|_| table::header(path).is_none());
            if let Some(advice) = foreign.filter(|_| !self.options.project.has(path)) {
                let message = format!("header '{path}' is unknown and left unchanged");
                self.report(
                    include.name.start + 1,
                    Reason::UnsupportedHeader,
                    path,
                    message,
                    Some(advice.into()),
                );
            }
        }
        let mut seen = Vec::new();
        self.included = includes::rewrite(
            self.source,
            self.directives,
            (self.target(), self.rocm()),
            &mut self.edits,
            |entry, at, outcome| {
                seen.push((entry, at, outcome));
            },
        );
        for (entry, at, outcome) in seen {
            self.count(entry, entry.cuda);
            if let Outcome::Unsupported = outcome {
                let since = match entry.presence(self.target(), self.rocm()) {
                    Presence::Since(since) => {
                        Some(format!("it needs ROCm {since}: translate with --rocm {since}"))
                    }
                    _ => table::hint(entry.cuda).map(String::from),
                };
                let family = self.family(entry);
                // The name without its bracket or quote.
                self.report(
                    at + 1,
                    Reason::UnsupportedHeader,
                    entry.cuda,
                    format!("header '{}' has no counterpart in {family}", entry.cuda),
                    since,
                );
            }
        }
    }

    fn names(&mut self) {
        let mut device = self.survey.device_bodies.iter().peekable();
        for at in 0..self.source.tokens.len() {
            while device.next_if(|body| body.end <= at).is_some() {}
            if self.directives.excluded(at) {
                continue;
            }
            let Some(kind) = self.source.token(at).map(|token| token.kind) else { break };
            match kind {
                TokenKind::Identifier => {
                    let in_device = device.peek().is_some_and(|body| body.contains(&at));
                    self.identifier(at, in_device);
                }
                TokenKind::LaunchOpen if device.peek().is_some_and(|body| body.contains(&at)) => {
                    self.nested_launch(at)
                }
                TokenKind::LaunchOpen if self.options.hip_launch_syntax => self.launch(at),
                TokenKind::Text if self.options.strings => self.string(at),
                _ => {}
            }
        }
    }

    /// Reports definitions that HIP's headers have as well, once for each name.
    fn redefinitions(&mut self) {
        let mut seen = BTreeSet::new();
        for found in redefined::find(self.source) {
            let (name, of) = (found.name, found.of);
            if self.directives.excluded(found.at) || !seen.insert(name.clone()) {
                continue;
            }
            let Some(token) = self.source.token(found.at) else { continue };
            self.report(
                token.start as usize,
                Reason::Redefined,
                &name,
                format!("HIP's headers define '{name}' for '{of}' as well"),
                Some("leave it out for HIP's compiler: #ifndef __HIP__".into()),
            );
        }
    }

    fn replace(&mut self, at: usize, text: &str) {
        let Some(token) = self.source.token(at) else { return };
        if self.source.bytes(at) != text.as_bytes() {
            self.edits.replace(token.range(), text);
        }
    }

    /// Reports a launch in a kernel.
    fn nested_launch(&mut self, at: usize) {
        let Some(token) = self.source.token(at) else { return };
        self.report(
            token.start as usize,
            Reason::Unsupported,
            "<<<",
            "launches in kernels have no counterpart in HIP".into(),
            Some("return to the host, and launch the next kernel there".into()),
        );
    }

    fn launch(&mut self, at: usize) {
        match launch::read(self.source, self.survey, at) {
            Ok(found) => {
                launch::rewrite(self.source, &found, &mut self.edits);
                self.statistics.converted.add(Kind::KernelLaunch, Api::Runtime, "cudaLaunchKernel");
            }
            Err(why) => {
                let Some(token) = self.source.token(at) else { return };
                self.report(
                    token.start as usize,
                    Reason::Launch,
                    "<<<",
                    format!("this launch is left unchanged: {why}"),
                    Some("HIP's compiler accepts '<<<...>>>' too".into()),
                );
            }
        }
    }

    /// Translates the words of a string if the options ask for it.
    fn string(&mut self, at: usize) {
        let Some(token) = self.source.token(at) else { return };
        let bytes = self.source.bytes(at);
        let mut start = token.start as usize;
        for word in bytes.split(|byte| matches!(byte, b' ' | b'"')) {
            let name = std::str::from_utf8(word).ok().and_then(table::name);
            if let Some(entry) = name.filter(|entry| entry.kind != Kind::DeviceFunction) {
                self.count(entry, entry.cuda);
                if !entry.unsupported(self.target(), self.rocm()) {
                    self.edits
                        .replace(start..start + word.len(), entry.replacement(self.target(), self.rocm()));
                }
            }
            start += word.len() + 1;
        }
    }

    fn half2_members(&mut self) {
        for at in half2::accesses(self.source) {
            if self.directives.excluded(at) {
                continue;
            }
            let extent = self.source.extent(&(at..at + 3));
            let name = |token: usize| self.source.name(token).unwrap_or_default();
            let member = format!("{}.{}", name(at), name(at + 2));
            self.edits.open(extent.start, "reinterpret_cast<half&>(");
            self.edits.close(extent.end, ")");
            self.report(
                extent.start,
                Reason::Undocumented,
                &member,
                format!("'{member}' is a half in CUDA and its bits in HIP; the access is cast"),
                Some("CUDA does not document the members of half2: use __low2half and __high2half".into()),
            );
        }
    }

    fn runtime_header(&mut self) {
        let cuda = self.survey.is_cuda
            || self.statistics.converted.total() + self.statistics.unconverted.total() > 0
            || self.options.always_include_runtime;
        if self.included.runtime || !cuda {
            return;
        }
        let top = if self.source.text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        includes::insert_runtime(self.directives, top, &mut self.edits);
    }

    /// Defines the functions that HIP lacks and the text uses.
    fn definitions(&mut self) {
        let Some((first, name)) = self.supplied.first().copied() else { return };
        let uses: Vec<usize> = self.supplied.iter().map(|(at, _)| *at).collect();
        let names: BTreeSet<&str> = self.supplied.iter().map(|(_, name)| *name).collect();
        let top = if self.source.text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let bodies = &self.survey.device_bodies;
        let (place, alone) = supplied::place(self.source, self.directives, &uses, bodies, top);
        let header = if alone { format!("\n#include <{}>\n", includes::RUNTIME) } else { String::new() };
        self.edits.open(place, header + &supplied::text(names.iter().copied()));
        let message = match names.len() {
            1 => format!("HIP lacks '{name}': its definition is inserted"),
            count => {
                let list = names.into_iter().collect::<Vec<_>>().join(", ");
                format!("HIP lacks {count} functions, whose definitions are inserted: {list}")
            }
        };
        let Some(offset) = self.source.token(first).map(|token| token.start as usize) else { return };
        self.report(offset, Reason::Supplied, name, message, None);
    }

    fn finish(mut self) -> Translation {
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.offset);
        let mut changed = BTreeSet::new();
        for extent in self.edits.extents() {
            self.statistics.replaced_bytes += extent.len();
            changed.insert(self.lines.line(extent.start));
        }
        self.statistics.changed_lines = changed.len();
        self.statistics.total_bytes = self.source.text.len();
        self.statistics.total_lines = self.source.text.iter().filter(|byte| **byte == b'\n').count();
        let (text, copied) = self.edits.apply(self.source.text);
        Translation {
            text,
            diagnostics: self.diagnostics,
            statistics: self.statistics,
            steps: self.source.steps() + copied,
        }
    }
}
