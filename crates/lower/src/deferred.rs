//! Texts whose functions are lowered on request.
//!
//! Parsing a large text is cheaper than lowering it, and a program launches few of its kernels. So loading
//! parses and checks every body, links the texts and discards the bodies; a function is parsed again and
//! lowered when it is requested. All errors are still reported at load: of each group of instructions with
//! the same shape ([`crate::shape`]), one is lowered at load. If it is refused, or anything else is unusual,
//! no [`Deferred`] is created, and the texts are lowered as a whole, which reports every error.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use ptx::ast::{self, Body, Symbol, Variable};
use ptx::{LineIndex, Outline};
use wave::layout::{CallGraph, Calls};
use wave::module::RelocTarget;
use wave::verify::Each;
use wave::{FuncId, SharedId};

use crate::function::{self, addresses_taken};
use crate::link::{self, Linked, Place};
use crate::shape::{Home, Shape, Shapes};
use crate::uses::Uses;
use crate::{Error, Options, Unit};

/// Number of functions that a thread parses and lowers at a time.
const CHUNK: usize = 8;

/// A module made from texts, some of whose functions have been lowered.
pub struct Deferred {
    texts: Vec<Text>,
    linked: Linked,
    graph: CallGraph,
    lowered: Vec<OnceLock<Arc<wave::Function>>>,
}

/// Why texts are not lowered on request.
#[derive(Debug)]
pub enum Refused {
    /// They cannot be linked: what is outside of function bodies, and the errors that [`crate::lower_by`]
    /// reports.
    Unlinked(Vec<ast::Module>, Vec<Error>),
    /// Something in them is wrong or unusual, which [`crate::lower_by`] reports if it is wrong.
    Unusual,
}

/// One of the texts.
struct Text {
    name: String,
    source: String,
    outline: Outline,
    /// For each function, the line on which its body begins.
    lines: OnceLock<Vec<u32>>,
}

impl Text {
    /// Reads everything but the bodies of functions, which are empty. `None` if something is wrong or
    /// unusual.
    fn new(name: &str, source: &str) -> Option<Text> {
        let mut outline = Outline::new(source)?;
        for n in 0..outline.module().functions.len() {
            let id = ast::FuncId(n as u32);
            if outline.text_of(id).is_some() {
                let vars = outline.module()[id].vars().to_vec();
                outline.declare(id, vars);
            }
        }
        Some(Text { name: name.to_owned(), source: source.to_owned(), outline, lines: OnceLock::new() })
    }

    fn unit(&self) -> Unit<'_> {
        Unit { name: &self.name, module: self.outline.module(), source: &self.source }
    }

    fn first_lines(&self) -> &[u32] {
        self.lines.get_or_init(|| self.outline.first_lines(&self.source))
    }
}

/// The texts as the linker sees them.
fn units(texts: &[Text]) -> Vec<Unit<'_>> {
    texts.iter().map(Text::unit).collect()
}

/// What is kept of a parsed body.
struct Kept {
    uses: Uses,
    vars: Vec<Variable>,
    /// The body and the indices of its statements with new shapes, if it has any.
    sample: Option<(Body, Vec<u32>)>,
}

/// The shapes of the texts' instructions, shared by all threads.
#[derive(Default)]
struct Known(RwLock<HashSet<Shape>>);

impl Known {
    /// The statements of a function's body with new shapes, which are then recorded as known.
    fn fresh(&self, home: Home<'_>, function: &ast::Function) -> Vec<u32> {
        let Some(body) = &function.body else { return Vec::new() };
        let taken = addresses_taken(function);
        let mut shapes = Shapes::new(home, function, &taken);
        let (mut fresh, mut found) = (Vec::new(), HashSet::new());
        {
            let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
            for (n, statement) in body.statements.iter().enumerate() {
                let ast::StatementKind::Instruction(instruction) = &statement.kind else { continue };
                let is_new = match shapes.of(instruction) {
                    Some(shape) => !known.contains(shape) && found.insert(Shape::from(shape)),
                    None => true,
                };
                if is_new {
                    fresh.push(n as u32);
                }
            }
        }
        if !found.is_empty() {
            self.0.write().unwrap_or_else(PoisonError::into_inner).extend(found);
        }
        fresh
    }
}

impl Deferred {
    /// Parses, checks and links texts, each a name for messages and the text itself.
    ///
    /// # Errors
    /// See [`Refused`].
    pub fn new(sources: &[(&str, &str)], options: Options) -> Result<Deferred, Refused> {
        Deferred::link(sources, options).unwrap_or(Err(Refused::Unusual))
    }

    /// [`Deferred::new`]; `None` if something is wrong or unusual.
    fn link(sources: &[(&str, &str)], options: Options) -> Option<Result<Deferred, Refused>> {
        let read: Vec<OnceLock<Text>> = sources.iter().map(|_| OnceLock::new()).collect();
        (options.each)(sources.len(), &|n| {
            let (Some((name, source)), Some(place)) = (sources.get(n), read.get(n)) else { return };
            if let Some(text) = Text::new(name, source) {
                // Never set before: each number is passed once.
                let _ = place.set(text);
            }
        });
        let mut texts = read.into_iter().map(OnceLock::into_inner).collect::<Option<Vec<Text>>>()?;
        let bodies = read_bodies(&texts, options.each)?;
        let (mut named, mut uses, mut samples) = (Vec::new(), Vec::new(), Vec::new());
        for (t, (text, bodies)) in texts.iter_mut().zip(bodies).enumerate() {
            let mut named_here = vec![false; bodies.len()];
            let mut uses_here = Vec::with_capacity(bodies.len());
            for (n, place) in bodies.into_iter().enumerate() {
                let id = ast::FuncId(n as u32);
                let Some(kept) = place.into_inner() else {
                    uses_here.push(Uses::default());
                    continue;
                };
                for function in &kept.uses.functions {
                    if let Some(named) = named_here.get_mut(function.index()) {
                        *named = true;
                    }
                }
                samples.extend(kept.sample.map(|(body, statements)| (t, id, body, statements)));
                text.outline.declare(id, kept.vars);
                uses_here.push(kept.uses);
            }
            named.push(named_here);
            uses.push(uses_here);
        }
        let units = units(&texts);
        let is_named = |unit: usize, function: usize| {
            named.get(unit).is_some_and(|named| named.get(function) == Some(&true))
        };
        let (mut linked, errors) = link::link(&units, &is_named, options);
        declare_heads(&units, &mut linked);
        let (graph, shared) = facts(&units, &linked, &uses)?;
        linked.assign_shared(&graph, &shared);
        wave::verify::verify_by(linked.module(), options.each).ok()?;
        try_samples(&units, &linked, samples, options.each)?;
        if !errors.is_empty() {
            let modules = units.iter().map(|unit| unit.module.clone()).collect();
            return Some(Err(Refused::Unlinked(modules, errors)));
        }
        let lowered = linked.module().functions.iter().map(|_| OnceLock::new()).collect();
        Some(Ok(Deferred { texts, linked, graph, lowered }))
    }

    /// The module without code: its functions are declarations.
    pub fn heads(&self) -> &wave::Module {
        self.linked.module()
    }

    /// The `.target` words of each text and everything else outside function bodies.
    pub fn texts(&self) -> impl Iterator<Item = &ast::Module> {
        self.texts.iter().map(|text| text.outline.module())
    }

    /// The text that defines a function, as [`Deferred::texts`] gives it.
    pub fn text_of(&self, function: FuncId) -> Option<&ast::Module> {
        let (text, _) = self.home(function)?;
        Some(text.outline.module())
    }

    /// The text that defines a function, and the function's number there.
    fn home(&self, function: FuncId) -> Option<(&Text, ast::FuncId)> {
        let (text, number) = self.linked.owner(function)?;
        Some((self.texts.get(text)?, ast::FuncId(number as u32)))
    }

    /// The module with every function that a kernel may reach.
    ///
    /// # Errors
    /// A function cannot be lowered although functions with the same shapes can: a bug in this crate.
    pub fn reached_from(&self, kernel: FuncId, each: Each) -> Result<wave::Module, Vec<Error>> {
        self.with(&self.graph.reachable(kernel), each)
    }

    /// The module with all of its functions.
    ///
    /// # Errors
    /// See [`Deferred::reached_from`].
    pub fn whole(&self, each: Each) -> Result<wave::Module, Vec<Error>> {
        let all = 0..self.lowered.len() as u32;
        self.with(&all.map(FuncId).collect(), each)
    }

    /// The functions whose text may contain this line of one of the texts.
    pub fn functions_at(&self, line: u32) -> Vec<FuncId> {
        let first_of = |id: FuncId| {
            let (text, function) = self.linked.owner(id)?;
            Some((text, *self.texts.get(text)?.first_lines().get(function)?))
        };
        let mut begun: Vec<(usize, u32, FuncId)> = (0..self.lowered.len() as u32)
            .map(FuncId)
            .filter_map(|id| first_of(id).map(|(text, first)| (text, first, id)))
            .filter(|(_, first, _)| (1..=line).contains(first))
            .collect();
        // The last function of each text to begin before it, and all that begin on the same line.
        let mut last = vec![0; self.texts.len()];
        for (text, first, _) in &begun {
            if let Some(last) = last.get_mut(*text) {
                *last = (*first).max(*last);
            }
        }
        begun.retain(|(text, first, _)| last.get(*text) == Some(first));
        begun.into_iter().map(|(.., id)| id).collect()
    }

    /// Bytes of text in a function's body; 0 if it is only declared.
    pub fn text_size(&self, function: FuncId) -> usize {
        let body = self.home(function).and_then(|(text, number)| text.outline.text_of(number));
        body.map_or(0, |b| (b.end - b.start) as usize)
    }

    /// The module in which these functions have their code.
    pub fn with(&self, functions: &BTreeSet<FuncId>, each: Each) -> Result<wave::Module, Vec<Error>> {
        let mut missing: Vec<(FuncId, usize, ast::FuncId)> = functions
            .iter()
            .filter(|id| self.lowered.get(id.index()).is_some_and(|place| place.get().is_none()))
            .filter_map(|id| self.linked.owner(*id).map(|(text, f)| (*id, text, ast::FuncId(f as u32))))
            .collect();
        missing.sort_unstable_by_key(|(_, text, number)| (*text, *number));
        // Each chunk is of one text.
        let chunks: Vec<&[(FuncId, usize, ast::FuncId)]> =
            missing.chunk_by(|a, b| a.1 == b.1).flat_map(|of_text| of_text.chunks(CHUNK)).collect();
        let errors: Vec<OnceLock<Vec<Error>>> = chunks.iter().map(|_| OnceLock::new()).collect();
        each(chunks.len(), &|n| {
            let (Some(chunk), Some(place)) = (chunks.get(n), errors.get(n)) else { return };
            // Never set before: each number is passed once.
            let _ = place.set(self.lower(chunk).err().unwrap_or_default());
        });
        let errors: Vec<Error> = errors.into_iter().filter_map(OnceLock::into_inner).flatten().collect();
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut module = self.linked.module().clone();
        if functions.len() < self.lowered.len() {
            module.taken.clone_from(self.graph.taken());
        }
        for id in functions {
            let code = self.lowered.get(id.index()).and_then(OnceLock::get);
            if let (Some(place), Some(code)) = (module.functions.get_mut(id.index()), code) {
                *place = Arc::clone(code);
            }
        }
        let new = missing.iter().filter_map(|(id, ..)| Some(&**module.functions.get(id.index())?));
        wave::verify::verify_functions(&module, new)
            .map_err(|problems| problems.iter().map(Error::internal).collect::<Vec<_>>())?;
        Ok(module)
    }

    /// Parses and lowers some functions of one text.
    fn lower(&self, functions: &[(FuncId, usize, ast::FuncId)]) -> Result<(), Vec<Error>> {
        let number = functions.first().map_or(0, |f| f.1);
        let Some(text) = self.texts.get(number) else { return Ok(()) };
        let unit = text.unit();
        let numbers: Vec<ast::FuncId> = functions.iter().map(|f| f.2).collect();
        // The same bodies were parsed successfully before.
        let bodies = text.outline.read(&text.source, &numbers);
        let bodies = bodies.ok_or_else(|| {
            vec![Error::mistake("a body that was parsed before no longer parses".to_owned())]
        })?;
        for ((id, _, f), body) in functions.iter().zip(bodies) {
            let head = &unit.module[*f];
            let function = ast::Function { body: Some(body), ..head.clone() };
            let place = text.outline.text_of(*f).unwrap_or_default();
            let first = text.first_lines().get(f.index()).copied().unwrap_or(1);
            let lines = LineIndex::within(&text.source, place, first);
            let mut code = function::lower(&self.linked, number, &unit, &lines, &function)?;
            wave::ssa::remove_redundant_params(&mut code);
            let place = self.lowered.get(id.index()).zip(self.linked.module().functions.get(id.index()));
            if let Some((place, head)) = place {
                code.kernel.clone_from(&head.kernel);
                // Another thread may have set it first.
                let _ = place.set(Arc::new(code));
            }
        }
        Ok(())
    }
}

/// Parses every body of every text; by text and function.
fn read_bodies(texts: &[Text], each: Each) -> Option<Vec<Vec<OnceLock<Kept>>>> {
    let places = |text: &Text| text.outline.module().functions.iter().map(|_| OnceLock::new()).collect();
    let kept: Vec<Vec<OnceLock<Kept>>> = texts.iter().map(places).collect();
    let known = Known::default();
    // An instruction is lowered only if its function is the definition that is used.
    let used = link::definitions(&units(texts));
    let modules: Vec<&ast::Module> = texts.iter().map(|text| text.outline.module()).collect();
    let outlines: Vec<(&Outline, &str)> = texts.iter().map(|t| (&t.outline, t.source.as_str())).collect();
    let whole = Outline::bodies(&outlines, each, &|number, id, body| {
        let place = kept.get(number).and_then(|kept| kept.get(id.index()));
        let (Some(module), Some(place)) = (modules.get(number), place) else { return };
        let uses = Uses::of(module, body);
        let mut function = ast::Function { body: Some(std::mem::take(body)), ..module[id].clone() };
        let fresh = match used.owns(number, id.index()) {
            true => known.fresh(Home::of(number, module), &function),
            false => Vec::new(),
        };
        let Some(mut read) = function.body.take() else { return };
        let kept = if fresh.is_empty() {
            let vars = std::mem::take(&mut read.vars);
            *body = read;
            Kept { uses, vars, sample: None }
        } else {
            Kept { uses, vars: read.vars.clone(), sample: Some((read, fresh)) }
        };
        // Never set before: each function is passed once.
        let _ = place.set(kept);
    });
    whole.then_some(kept)
}

/// Declares functions for their callers and for launches.
fn declare_heads(units: &[Unit], linked: &mut Linked) {
    for (u, unit) in units.iter().enumerate() {
        let functions = unit.module.functions.iter().enumerate();
        for (n, function) in functions.filter(|(_, f)| f.body.is_some()) {
            if linked.owns(u, n) {
                linked.set_body(u, n, function::declaration(function));
            }
        }
    }
}

/// The call graph, and the shared variables that each function names.
fn facts(
    units: &[Unit],
    linked: &Linked,
    uses: &[Vec<Uses>],
) -> Option<(CallGraph, Vec<BTreeSet<SharedId>>)> {
    let count = linked.module().functions.len();
    let (mut calls, mut shared) = (vec![Calls::default(); count], vec![BTreeSet::new(); count]);
    let mut taken = BTreeSet::new();
    for reloc in linked.module().globals.iter().flat_map(|g| &g.relocs) {
        if let RelocTarget::Func(f) = reloc.target {
            taken.insert(f);
        }
    }
    for (u, (unit, uses)) in units.iter().zip(uses).enumerate() {
        for (n, uses) in uses.iter().enumerate().filter(|(n, _)| linked.owns(u, *n)) {
            let id = linked.function(u, ast::FuncId(n as u32));
            let function = |f: &ast::FuncId| linked.function(u, *f);
            taken.extend(uses.taken.iter().map(function));
            let mut direct: Vec<FuncId> = uses.calls.iter().map(function).collect();
            direct.sort_unstable();
            direct.dedup();
            *calls.get_mut(id.index())? = Calls { direct, indirect: uses.indirect };
            for symbol in &uses.shared {
                let place = match symbol {
                    Symbol::Global(g) => match linked.place(u, *g) {
                        Place::Shared(id) => Some(id),
                        _ => None,
                    },
                    Symbol::Var(v) => {
                        linked.shared_of_function(u, unit.module.functions.get(n)?.vars().get(v.index())?)
                    }
                    Symbol::Func(_) | Symbol::Label(_) => None,
                };
                shared.get_mut(id.index())?.extend(place);
            }
        }
    }
    // The handle of a kernel is for launches by other kernels.
    taken.retain(|f| linked.module().functions.get(f.index()).is_none_or(|f| f.kernel.is_none()));
    Some((CallGraph::of(calls, taken), shared))
}

/// Lowers the statements with new shapes. `None` if one is refused.
fn try_samples(
    units: &[Unit],
    linked: &Linked,
    samples: Vec<(usize, ast::FuncId, Body, Vec<u32>)>,
    each: Each,
) -> Option<()> {
    let samples: Vec<(usize, &Unit, ast::Function, Vec<u32>)> = samples
        .into_iter()
        .filter_map(|(u, id, body, statements)| {
            let unit = units.get(u)?;
            Some((u, unit, ast::Function { body: Some(body), ..unit.module[id].clone() }, statements))
        })
        .collect();
    // Errors get their lines when the texts are lowered as a whole.
    let lines = LineIndex::new("");
    let done: Vec<OnceLock<()>> = samples.iter().map(|_| OnceLock::new()).collect();
    each(samples.len(), &|n| {
        let (Some((u, unit, function, statements)), Some(place)) = (samples.get(n), done.get(n)) else {
            return;
        };
        if let Ok(code) = function::lower_some(linked, *u, unit, &lines, function, statements)
            && wave::verify::verify_functions(linked.module(), [&code]).is_ok()
        {
            // Never set before: each number is passed once.
            let _ = place.set(());
        }
    });
    done.iter().all(|place| place.get().is_some()).then_some(())
}
