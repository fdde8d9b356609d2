//! The passes over a text, in order.

use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostic, Lines, Reason};
use crate::directives::{self, Directives};
use crate::edit::Edits;
use crate::includes::{self, Included, Outcome};
use crate::mask::{self, Masks};
use crate::options::{Options, Rocm, Target};
use crate::rules::Action;
use crate::source::Source;
use crate::stats::Statistics;
use crate::survey::{self, Survey};
use crate::table::{self, Api, Entry, Flags, Kind, Presence};
use crate::token::TokenKind;
use crate::{half2, launch, redefined, rules, signature};

/// A text is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text has {0} bytes; the maximum is 4294967295")]
pub struct TooLong(pub usize);

/// Calling conventions, which are empty on Linux, and a hint about parameters of kernels.
const DECORATIONS: &[&str] = &["CUDAAPI", "CUDARTAPI", "CUDART_CB", "CUDA_CB", "__grid_constant__"];

/// The macro that CUDA defines while it compiles for a device.
const DEVICE_PASS: &str = "__CUDA_ARCH__";

/// Macros with the release of CUDA or of its compiler.
const VERSIONS: &[&str] = &[
    "CUDA_VERSION",
    "CUDART_VERSION",
    "__CUDACC_VER_MAJOR__",
    "__CUDACC_VER_MINOR__",
    "__CUDACC_VER_BUILD__",
];

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
        guarded: BTreeSet::new(),
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
    if !options.no_undocumented {
        translator.half2_members();
    }
    translator.runtime_header();
    Ok(translator.finish())
}

struct Translator<'t, 'a> {
    options: &'t Options,
    source: &'t Source<'a>,
    directives: &'t Directives,
    survey: &'t Survey,
    masks: Masks,
    types: signature::Types,
    /// The last directive that names the macro of the device pass, with whether it only asks whether the macro
    /// is defined.
    asks_pass: Option<(u32, bool)>,
    /// The macros that were reported as missing.
    guarded: BTreeSet<&'static str>,
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

    fn identifier(&mut self, at: usize, in_device: bool) {
        let Some(name) = self.source.name(at) else { return };
        if name == DEVICE_PASS {
            return self.device_pass(at);
        }
        if let Some(version) = VERSIONS.iter().copied().find(|version| *version == &*name) {
            return self.version(at, version);
        }
        if self.decoration(at, &name) {
            return;
        }
        if let Some(entry) = self.namespace(at, &name) {
            self.count(entry, entry.cuda);
            let last = entry.hip.rsplit("::").next().unwrap_or(entry.hip);
            self.replace(at, last);
            return;
        }
        let Some(entry) = table::name(&name) else { return self.unknown(at, &name) };
        if entry.kind == Kind::DeviceFunction {
            return self.device_function(at, entry, in_device);
        }
        let Some(entry) = self.meant(at, entry) else { return };
        self.count(entry, &name);
        if !self.translatable(at, entry) {
            return;
        }
        if self.options.hip_data_types
            && matches!(&*name, "cudaDataType" | "cudaDataType_t")
            && self.declares(at)
        {
            return self.replace(at, "hipDataType");
        }
        self.call(at, entry);
        if entry.flags.has(Flags::NO_TAG) && at > 0 && self.source.together(at - 1, at) {
            let tag = self.source.is_word(at - 1, "struct") || self.source.is_word(at - 1, "enum");
            if let (true, Some(before), Some(name)) = (tag, self.source.token(at - 1), self.source.token(at))
            {
                self.edits.replace(before.start as usize..name.start as usize, "");
            }
        }
        self.replace(at, entry.replacement(self.target(), self.rocm()));
    }

    /// Removes a word that decorates a declaration in CUDA and has no meaning in HIP. Returns whether it is one.
    fn decoration(&mut self, at: usize, name: &str) -> bool {
        let source = self.source;
        if !DECORATIONS.contains(&name) || self.survey.macros.contains(name) {
            return false;
        }
        let (Some(token), Some(next)) = (source.token(at), source.token(at + 1)) else { return false };
        let inside = source.together(at, at + 1) && next.kind != TokenKind::Hash;
        if token.directive != 0 && !source.is_word(source.directive(at).start + 1, "define") {
            return false;
        }
        let end = if inside { next.start } else { token.end };
        self.edits.replace(token.start as usize..end as usize, "");
        self.statistics.converted.add(Kind::Define, Api::Runtime, name);
        true
    }

    /// Translates the question whether code is compiled for the device, which CUDA answers by defining its
    /// architecture. Numbers of architectures have no counterpart.
    fn device_pass(&mut self, at: usize) {
        let source = self.source;
        let Some(token) = source.token(at) else { return };
        let (offset, directive) = (token.start as usize, token.directive);
        let known = self.asks_pass.filter(|(of, _)| *of == directive && directive != 0);
        let asks = match known {
            Some((_, asks)) => asks,
            None => directive != 0 && asks_for_definition(source, source.directive(at), DEVICE_PASS),
        };
        self.asks_pass = Some((directive, asks));
        if asks {
            self.statistics.converted.add(Kind::Define, Api::Runtime, DEVICE_PASS);
            return self.replace(at, "__HIP_DEVICE_COMPILE__");
        }
        if known.is_none() {
            self.statistics.unconverted.add(Kind::Define, Api::Runtime, DEVICE_PASS);
            let advice =
                "ask for __HIP_DEVICE_COMPILE__, or for a macro of AMD's architectures such as __gfx90a__";
            self.report(
                offset,
                Reason::Unsupported,
                DEVICE_PASS,
                format!("'{DEVICE_PASS}' is not defined in HIP, and comparisons take it for 0"),
                Some(advice.into()),
            );
        }
    }

    /// Reports a macro with CUDA's release, once: in conditions it silently becomes 0.
    fn version(&mut self, at: usize, name: &'static str) {
        let Some(token) = self.source.token(at) else { return };
        let (offset, directive) = (token.start as usize, token.directive);
        if self.survey.macros.contains(name) || !self.guarded.insert(name) {
            return;
        }
        self.statistics.unconverted.add(Kind::Define, Api::Runtime, name);
        let what = match directive {
            0 => "has no counterpart in HIP",
            _ => "is not defined in HIP, and conditions take it for 0",
        };
        let advice = "ask for HIP_VERSION (hip/hip_version.h), or for __HIP_PLATFORM_AMD__";
        let text = format!("'{name}' {what}");
        self.report(offset, Reason::Unsupported, name, text, Some(advice.into()));
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

    /// Reports a variable of 32 bits that is initialised with lanes.
    fn narrow_lanes(&mut self, at: usize, name: &str) {
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

    /// Reports a call or constant that looks like CUDA's but is neither in a table nor defined in the text.
    fn unknown(&mut self, at: usize, name: &str) {
        let Some(owner) = table::looks_like(name) else { return };
        let source = self.source;
        let Some(token) = source.token(at).filter(|token| token.directive == 0) else { return };
        let constant =
            name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
        let own = self.survey.defines(name) || self.options.project.defines(name);
        if constant == source.is(at + 1, b'(') || own {
            return;
        }
        if let Some(before) = at.checked_sub(1).filter(|before| source.together(*before, at)) {
            let named = source.kind_is(before, TokenKind::Identifier) && !rules::is_statement(source, before);
            let member = source.is(before, b'.')
                || matches!(source.token(before).map(|t| t.kind), Some(TokenKind::Arrow | TokenKind::Scope));
            if named || member {
                return;
            }
        }
        self.report(
            token.start as usize,
            Reason::Unknown,
            name,
            format!("'{name}' looks like a name of {owner} but is unknown"),
            table::hint(name).map(String::from),
        );
    }

    fn replace(&mut self, at: usize, text: &str) {
        let Some(token) = self.source.token(at) else { return };
        if self.source.bytes(at) != text.as_bytes() {
            self.edits.replace(token.range(), text);
        }
    }

    /// Whether the type at `at` declares a variable.
    fn declares(&self, at: usize) -> bool {
        self.source.kind_is(at + 1, TokenKind::Identifier)
    }

    /// The namespace that the word at `at` names together with its qualifiers.
    fn namespace(&self, at: usize, name: &str) -> Option<&'static Entry> {
        let source = self.source;
        let used = source.kind_is(at + 1, TokenKind::Scope)
            || source.is(at + 1, b';')
                && at > 0
                && (source.is_word(at - 1, "namespace") || source.kind_is(at - 1, TokenKind::Scope))
            || source.is(at + 1, b';')
                && at > 2
                && source.is(at - 1, b'=')
                && source.is_word(at - 3, "namespace");
        if !used {
            return None;
        }
        let mut path = name.to_owned();
        let mut first = at;
        while first >= 2 && source.kind_is(first - 1, TokenKind::Scope) && path.len() < 64 {
            let Some(outer) =
                source.name(first - 2).filter(|outer| source.together(first - 2, at) && !starts_type(outer))
            else {
                break;
            };
            path = format!("{outer}::{path}");
            first -= 2;
        }
        table::namespace(&path)
    }

    /// Whether a name can be translated; if not, reports why.
    fn translatable(&mut self, at: usize, entry: &Entry) -> bool {
        let Some(offset) = self.source.token(at).map(|token| token.start as usize) else { return false };
        let (name, family) = (entry.cuda, self.family(entry));
        if entry.flags.has(Flags::EXPERIMENTAL) && !self.options.experimental {
            self.report(
                offset,
                Reason::Experimental,
                name,
                format!("'{name}' is experimental in {family}"),
                Some("translate it with --experimental".into()),
            );
            return false;
        }
        if entry.flags.has(Flags::V2_ONLY) && entry.api == Api::Blas && !self.included.has_v2(Api::Blas) {
            self.report(
                offset,
                Reason::V2Only,
                name,
                format!("{family} has a counterpart for '{name}_v2' only"),
                Some("include <cublas_v2.h>, which gives this name to the _v2 function".into()),
            );
            return false;
        }
        if entry.unsupported(self.target(), self.rocm()) {
            self.unsupported(offset, name, &format!("'{name}'"), entry);
            return false;
        }
        if entry.flags.has(Flags::CUDA_REMOVED) {
            let version = release(entry.cuda_out);
            self.report(
                offset,
                Reason::RemovedInCuda,
                name,
                format!("'{name}' was removed from {version}"),
                None,
            );
        } else if entry.flags.has(Flags::CUDA_DEPRECATED) {
            let version = release(entry.cuda_deprecated);
            self.report(
                offset,
                Reason::DeprecatedInCuda,
                name,
                format!("'{name}' is deprecated in {version}"),
                None,
            );
        }
        true
    }

    /// Reports a name without a counterpart; `what` is how the message calls it.
    fn unsupported(&mut self, offset: usize, name: &str, what: &str, entry: &Entry) {
        if let Presence::Since(since) = entry.presence(self.target(), self.rocm()) {
            let (family, rocm) = (self.family(entry), self.rocm());
            return self.report(
                offset,
                Reason::NeedsRocm,
                name,
                format!("{what} has a counterpart in {family} from ROCm {since} on, not in ROCm {rocm}"),
                Some(format!("it needs ROCm {since}: translate with --rocm {since}")),
            );
        }
        let removed = if entry.flags.has(Flags::CUDA_REMOVED) {
            format!(", and was removed from {}", release(entry.cuda_out))
        } else {
            String::new()
        };
        let family = self.family(entry);
        let other = match self.target() {
            Target::Hip if !entry.roc.is_empty() && !entry.flags.has(Flags::NO_ROC) => {
                Some(format!("the ROC library has '{}': translate with --roc", entry.roc))
            }
            Target::Roc | Target::Miopen if !entry.flags.has(Flags::NO_HIP) => {
                Some(format!("HIP has '{}': translate without --roc", entry.hip))
            }
            _ => None,
        };
        let suggestion = table::hint(entry.cuda).map(String::from).or(other);
        self.report(
            offset,
            Reason::Unsupported,
            name,
            format!("{what} has no counterpart in {family}{removed}"),
            suggestion,
        );
    }

    /// Device functions keep their names; those that HIP lacks are reported where they are called.
    fn device_function(&mut self, at: usize, entry: &'static Entry, in_device: bool) {
        let source = self.source;
        let follows = at > 0 && source.together(at - 1, at);
        let member = follows && (source.is(at - 1, b'.') || source.kind_is(at - 1, TokenKind::Arrow));
        let declared = follows
            && source.kind_is(at - 1, TokenKind::Identifier)
            && !source.is_word(at - 1, "return")
            && !source.is_word(at - 1, "else");
        // Only CUDA has the names that HIP names otherwise, or whose arguments change: they need no context,
        // which a macro does not have.
        let distinct =
            !table::rules(entry.cuda).is_empty() || !entry.hip.is_empty() && entry.hip != entry.cuda;
        if !in_device && !distinct
            || member
            || declared
            || !source.is(at + 1, b'(')
            || self.survey.defines(entry.cuda)
        {
            return;
        }
        self.count(entry, entry.cuda);
        let Some(offset) = source.token(at).map(|token| token.start as usize) else { return };
        if entry.unsupported(self.target(), self.rocm()) {
            return self.unsupported(offset, entry.cuda, &format!("'{}'", entry.cuda), entry);
        }
        let name = entry.cuda;
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

    /// Reports a mask of unknown width that was cast to 64 bits.
    fn narrow_mask(&mut self, call: &rules::Call, argument: u8, entry: &Entry) {
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
    fn meant(&mut self, at: usize, entry: &'static Entry) -> Option<&'static Entry> {
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
    fn call(&mut self, at: usize, entry: &Entry) {
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

/// Whether a directive names a macro only to ask whether it is defined.
fn asks_for_definition(source: &Source<'_>, directive: std::ops::Range<usize>, name: &str) -> bool {
    let first = directive.start + 1;
    let question = |at: usize| {
        source.is_word(at, "defined")
            || at == first && (source.is_word(at, "ifdef") || source.is_word(at, "ifndef"))
    };
    (first..directive.end).filter(|at| source.is_word(*at, name)).all(|at| {
        source.step();
        question(at - 1) || source.is(at - 1, b'(') && question(at - 2)
    })
}

/// Whether `::` after this word means the global namespace rather than a namespace of that name.
fn starts_type(word: &str) -> bool {
    matches!(
        word,
        "typedef"
            | "typename"
            | "using"
            | "namespace"
            | "const"
            | "static"
            | "constexpr"
            | "return"
            | "new"
            | "class"
            | "struct"
            | "public"
            | "private"
            | "protected"
            | "inline"
            | "volatile"
            | "else"
            | "case"
            | "throw"
    )
}

/// The release named by a version in the tables: `CUDA 12.0`, `cuDNN 9.0.0`; plain `CUDA` if it is unknown.
fn release(version: &str) -> String {
    match version.strip_prefix("cudnn ") {
        Some(version) => format!("cuDNN {version}"),
        None => format!("CUDA {version}").trim_end().to_owned(),
    }
}
