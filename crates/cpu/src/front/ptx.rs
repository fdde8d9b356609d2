//! PTX texts.

use std::borrow::Cow;
use std::path::Path;

use driver::backend::{Code, Input};
use lower::{ErrorClass, Refused};
use wave::verify::Each;
use wave::{FuncId, Module};

use super::{Checked, ErrorKind, Finding, Frontend, Later, LoadError, Lowered, Place, keep};
use crate::rules::{Checks, Limits, Meaning};
use crate::share;

/// A PTX text.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Its name in messages.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
}

/// PTX texts to link together.
#[derive(Clone, Debug)]
pub struct Texts<'a> {
    /// Name and text of each.
    texts: Vec<(&'a str, Cow<'a, str>)>,
}

/// The name that the hardware's assembler gives every text.
const APPLICATION: &str = "application ptx input";

impl<'a> Texts<'a> {
    /// The texts in the inputs of a module.
    ///
    /// # Errors
    /// PTX is ASCII; the hardware's driver rejects other bytes even in comments.
    pub(super) fn of(inputs: &[Input<'a>]) -> Result<Texts<'a>, LoadError> {
        let mut texts = Vec::new();
        for input in inputs {
            let Code::Ptx(text) = input.code else { continue };
            if let Some(at) = text.iter().position(|b| !b.is_ascii()) {
                let line = 1 + text.iter().take(at).filter(|b| **b == b'\n').count();
                let byte = text.get(at).copied().unwrap_or(0);
                let message =
                    format!("Unexpected non-ASCII character encountered on line {line} ({byte:#04x})");
                let log = format!("ptxas {APPLICATION}, line {line}; fatal   : {message}\n");
                let (kind, rendered) = (ErrorKind::Syntax, String::new());
                return Err(LoadError { kind, log, findings: Vec::new(), rendered });
            }
            texts.push((input.name, ptx::text_of(text)));
        }
        Ok(Texts { texts })
    }

    fn sources(&self) -> Vec<Source<'_>> {
        self.texts.iter().map(|(name, text)| Source { name, text }).collect()
    }
}

impl<'a> From<&[Source<'a>]> for Texts<'a> {
    fn from(sources: &[Source<'a>]) -> Texts<'a> {
        Texts { texts: sources.iter().map(|s| (s.name, Cow::Borrowed(s.text))).collect() }
    }
}

impl Frontend for Texts<'_> {
    fn size(&self) -> usize {
        self.texts.iter().map(|(_, text)| text.len()).sum()
    }

    fn may_have_kernels(&self) -> bool {
        self.texts.iter().any(|(_, text)| text.contains(".entry"))
    }

    fn digest(&self) -> [u8; 32] {
        let texts: Vec<&str> = self.texts.iter().map(|(_, text)| &**text).collect();
        simd::digest(&texts)
    }

    fn check(&self, checks: &Checks<'_>, threads: usize) -> Result<Checked, LoadError> {
        let sources = self.sources();
        if !share::is_large(self.size()) {
            return whole(&sources, checks, threads);
        }
        later(&sources, checks, threads).unwrap_or_else(|| whole(&sources, checks, threads))
    }

    fn keep(&self, folder: &Path) {
        keep::texts(folder, &self.sources());
    }
}

impl Later for lower::Deferred {
    fn heads(&self) -> &Module {
        self.heads()
    }

    fn reached_from(&self, kernel: FuncId, each: Each) -> Result<Module, Vec<String>> {
        self.reached_from(kernel, each).map_err(messages)
    }

    fn whole(&self, each: Each) -> Result<Module, Vec<String>> {
        self.whole(each).map_err(messages)
    }

    fn at(&self, line: u32) -> Result<Module, Vec<String>> {
        let functions = self.functions_at(line).into_iter().collect();
        self.with(&functions, &lower::one_by_one).map_err(messages)
    }

    fn size_of(&self, function: FuncId) -> usize {
        self.text_size(function)
    }
}

fn messages(errors: Vec<lower::Error>) -> Vec<String> {
    errors.into_iter().map(|error| error.message).collect()
}

/// The options for lowering.
fn options<'a>(meaning: &Meaning<'a>, each: Each<'a>) -> lower::Options<'a> {
    // Counters are added to any front end's IR.
    let &Meaning { complete, symbols, exact, counting: _ } = meaning;
    lower::Options { complete, symbols, each, exact }
}

fn failure(
    sources: &[Source],
    unit: usize,
    diagnostics: &[ptx::Diagnostic],
    class: Option<ErrorClass>,
    linking: bool,
) -> LoadError {
    let (name, text) = sources.get(unit).map_or(("", ""), |s| (s.name, s.text));
    let log = match class {
        // The hardware's linker reports symbols, not lines.
        Some(ErrorClass::Unresolved) if !linking => {
            diagnostics.iter().map(|d| format!("ptxas fatal   : {}\n", d.message)).collect()
        }
        Some(ErrorClass::Unresolved | ErrorClass::Duplicate) => {
            diagnostics.iter().map(|d| format!("error   : {}\n", d.message)).collect()
        }
        _ => ptx::log(diagnostics, APPLICATION, text),
    };
    let kind = match (class, diagnostics.first().map(|d| d.kind)) {
        (Some(ErrorClass::Unresolved), _) => ErrorKind::Unresolved,
        (Some(ErrorClass::Duplicate), _) => ErrorKind::Duplicate,
        (Some(ErrorClass::Unsupported), _) => ErrorKind::Unsupported,
        (_, Some(ptx::ErrorKind::UnsupportedVersion)) => ErrorKind::UnsupportedVersion,
        (_, Some(ptx::ErrorKind::Syntax)) => ErrorKind::Syntax,
        _ => ErrorKind::Semantic,
    };
    let lines = ptx::LineIndex::new(text);
    let finding = |d: &ptx::Diagnostic| Finding {
        message: d.message.clone(),
        place: Place::Line(lines.line_column(d.span.start).0),
        rendered: d.render_at(&lines, name, text, false),
        colored: d.render_at(&lines, name, text, true),
    };
    let findings: Vec<Finding> = diagnostics.iter().map(finding).collect();
    let rendered = findings.iter().map(|f| f.rendered.as_str()).collect();
    LoadError { kind, log, findings, rendered }
}

/// What lowering or linking the texts found wrong.
fn refusal(sources: &[Source], mut errors: Vec<lower::Error>, meaning: &Meaning<'_>) -> LoadError {
    // A missing symbol may come with another text. All other errors are final and are reported first.
    errors.sort_by_key(|e| e.class == ErrorClass::Unresolved);
    let first = errors.first().map(|e| (e.unit, e.class == ErrorClass::Unresolved, e.class));
    let (unit, missing, class) = first.unwrap_or((0, false, ErrorClass::Invalid));
    let alike = |e: &&lower::Error| e.unit == unit && (e.class == ErrorClass::Unresolved) == missing;
    let of_unit: Vec<ptx::Diagnostic> = errors.iter().filter(alike).map(lower::Error::diagnostic).collect();
    let class = match errors.iter().any(|e| e.class == ErrorClass::Unsupported) {
        true if !missing => ErrorClass::Unsupported,
        _ => class,
    };
    failure(sources, unit, &of_unit, Some(class), meaning.complete)
}

/// The number of a module's `.target` (52 for `sm_52`) and its suffix.
fn target(module: &ptx::ast::Module) -> Option<(u32, ptx::ArchSuffix)> {
    module.target.iter().find_map(|t| match t {
        ptx::Target::Arch { number, suffix } => Some((u32::from(*number), *suffix)),
        _ => None,
    })
}

/// Whether a device runs code for a target: its own or an older capability. An architecture-specific target
/// must be the same, a family-specific one of the same family.
fn suits(capability: u32, (number, suffix): (u32, ptx::ArchSuffix)) -> bool {
    match suffix {
        ptx::ArchSuffix::Specific => capability == number,
        ptx::ArchSuffix::Family => capability >= number && capability / 10 == number / 10,
        _ => capability >= number,
    }
}

/// Rejects a newer target than the device's.
fn check_target(tree: &ptx::ast::Module, limits: &Limits) -> Result<(), LoadError> {
    if let (Some(capability), Some(target)) = (limits.capability, target(tree))
        && !suits(capability, target)
    {
        let (major, minor) = (capability / 10, capability % 10);
        let told = format!(
            "{APPLICATION}, fatal   : .target sm_{} is for newer or other devices than this one of capability \
             {major}.{minor}; set ANYWARP_COMPUTE_CAPABILITY={}.{}",
            target.0,
            target.0 / 10,
            target.0 % 10
        );
        return Err(LoadError::of_device(told.clone(), told));
    }
    Ok(())
}

/// Large texts, whose kernels are lowered on demand. `None` if they must be lowered as a whole, which reports
/// all errors but those of linking.
fn later(
    sources: &[Source],
    Checks { meaning, limits }: &Checks<'_>,
    threads: usize,
) -> Option<Result<Checked, LoadError>> {
    let each = |count: usize, work: &(dyn Fn(usize) + Sync)| share::each(threads, count, work);
    let texts: Vec<(&str, &str)> = sources.iter().map(|s| (s.name, s.text)).collect();
    let texts = match lower::Deferred::new(&texts, options(meaning, &each)) {
        Ok(texts) => texts,
        Err(Refused::Unlinked(trees, errors)) => {
            let checked = trees.iter().try_for_each(|tree| check_target(tree, limits));
            return Some(checked.and_then(|()| Err(refusal(sources, errors, meaning))));
        }
        Err(Refused::Unusual) => return None,
    };
    if let Err(error) = texts.texts().try_for_each(|tree| check_target(tree, limits)) {
        return Some(Err(error));
    }
    let number = |kernel: FuncId| texts.text_of(kernel).and_then(target).map_or(0, |t| t.0);
    let targets = texts.heads().kernels().map(|(id, _)| (id, number(id))).collect();
    Some(Ok(Checked::of(Lowered::Later(Box::new(texts)), targets)))
}

/// Texts that are lowered now.
fn whole(
    sources: &[Source],
    Checks { meaning, limits }: &Checks<'_>,
    threads: usize,
) -> Result<Checked, LoadError> {
    let each = |count: usize, work: &(dyn Fn(usize) + Sync)| share::each(threads, count, work);
    let parse = |text: &str| if threads > 1 { ptx::parse_by(text, &each) } else { ptx::parse(text) };
    let mut trees = Vec::new();
    for (unit, source) in sources.iter().enumerate() {
        let tree = parse(source.text).map_err(|d| failure(sources, unit, &d, None, meaning.complete))?;
        check_target(&tree, limits)?;
        trees.push(tree);
    }
    let units: Vec<lower::Unit> = sources
        .iter()
        .zip(&trees)
        .map(|(s, module)| lower::Unit { name: s.name, module, source: s.text })
        .collect();
    let module = lower::lower_by(&units, options(meaning, &each));
    let module = module.map_err(|errors| refusal(sources, errors, meaning))?;
    let of = |name: &str| {
        let owner = trees.iter().find(|t| t.function(name).is_some_and(|f| f.1.body.is_some()));
        owner.and_then(target).map_or(0, |t| t.0)
    };
    let targets = match trees.as_slice() {
        [one] => {
            let number = target(one).map_or(0, |t| t.0);
            module.kernels().map(|(id, _)| (id, number)).collect()
        }
        _ => module.kernels().map(|(id, f)| (id, of(&f.name))).collect(),
    };
    Ok(Checked::of(Lowered::Whole(module), targets))
}
