//! Names: what each identifier becomes, or why it stays.

use super::Translator;
use crate::diagnostic::Reason;
use crate::options::Target;
use crate::rules;
use crate::source::Source;
use crate::supplied;
use crate::table::{self, Api, Entry, Flags, Kind, Presence};
use crate::token::TokenKind;

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

impl Translator<'_, '_> {
    pub(super) fn identifier(&mut self, at: usize, in_device: bool) {
        let Some(name) = self.source.name(at) else { return };
        self.foreign_name(at, &name);
        self.assembly(at, &name);
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

    /// Removes a word that decorates a declaration in CUDA and has no meaning in HIP. Returns whether it is
    /// one.
    pub(super) fn decoration(&mut self, at: usize, name: &str) -> bool {
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
    pub(super) fn device_pass(&mut self, at: usize) {
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
    pub(super) fn version(&mut self, at: usize, name: &'static str) {
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

    /// Reports a call or constant that looks like CUDA's but is neither in a table nor defined in the text.
    pub(super) fn unknown(&mut self, at: usize, name: &str) {
        let Some(owner) = table::looks_like(name) else { return };
        let source = self.source;
        let Some(token) = source.token(at).filter(|token| token.directive == 0) else { return };
        let constant =
            name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
        let own = self.survey.owns(name) || self.options.project.owns(name);
        if constant == source.is(at + 1, b'(') || own {
            return;
        }
        if let Some(before) = at.checked_sub(1).filter(|before| source.together(*before, at)) {
            let named = source.kind_is(before, TokenKind::Identifier)
                && !rules::is_statement(source, before)
                && !source.is_macro_name(before);
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

    /// Whether the type at `at` declares a variable.
    pub(super) fn declares(&self, at: usize) -> bool {
        self.source.kind_is(at + 1, TokenKind::Identifier)
    }

    /// The namespace that the word at `at` names together with its qualifiers.
    pub(super) fn namespace(&self, at: usize, name: &str) -> Option<&'static Entry> {
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
    pub(super) fn translatable(&mut self, at: usize, entry: &Entry) -> bool {
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
            if supplied::has(name) {
                // The text's own definition, or that of a header of the project.
                if self.source.is(at + 1, b'(') && !self.survey.owns(name) && !self.options.project.owns(name)
                {
                    self.supplied.push((at, entry.cuda));
                }
                return false;
            }
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
    pub(super) fn unsupported(&mut self, offset: usize, name: &str, what: &str, entry: &Entry) {
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
