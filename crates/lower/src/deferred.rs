//! A text whose functions are lowered on request.
//!
//! Parsing a large text is cheaper than lowering it, and a program launches few of its kernels. So loading
//! parses and checks every body and discards it; a function is parsed again and lowered when it is requested.
//! All errors are still reported at load: of each group of instructions with the same shape
//! ([`crate::shape`]), one is lowered at load. If it is refused, or anything else is unusual, no [`Deferred`]
//! is created, and the text is lowered as a whole, which reports every error.

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
use crate::shape::{Shape, Shapes};
use crate::uses::Uses;
use crate::{Error, Options, Unit};

/// Number of functions that a thread parses and lowers at a time.
const CHUNK: usize = 8;

/// A module made from one text, some of whose functions have been lowered.
pub struct Deferred {
    name: String,
    source: String,
    outline: Outline,
    linked: Linked,
    graph: CallGraph,
    /// For each function of the text, the line on which its body begins.
    lines: OnceLock<Vec<u32>>,
    lowered: Vec<OnceLock<Arc<wave::Function>>>,
}

/// What is kept of a parsed body.
struct Kept {
    uses: Uses,
    vars: Vec<Variable>,
    /// The body and the indices of its statements with new shapes, if it has any.
    sample: Option<(Body, Vec<u32>)>,
}

/// The shapes of a module's instructions, shared by all threads.
#[derive(Default)]
struct Known(RwLock<HashSet<Shape>>);

impl Known {
    /// The statements of a function's body with new shapes, which are then recorded as known.
    fn fresh(&self, function: &ast::Function) -> Vec<u32> {
        let Some(body) = &function.body else { return Vec::new() };
        let taken = addresses_taken(function);
        let mut shapes = Shapes::new(function, &taken);
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
    /// Parses and checks a text. `None` if something is wrong or unusual; [`crate::lower_by`] then reports
    /// it.
    pub fn new(name: &str, source: &str, options: Options) -> Option<Deferred> {
        let mut outline = Outline::new(source)?;
        let kept = read(&outline, source, options.each)?;
        let mut named = vec![false; kept.len()];
        let (mut uses, mut samples) = (Vec::with_capacity(kept.len()), Vec::new());
        for (n, place) in kept.into_iter().enumerate() {
            let id = ast::FuncId(n as u32);
            let Some(kept) = place.into_inner() else {
                uses.push(Uses::default());
                continue;
            };
            for function in &kept.uses.functions {
                if let Some(named) = named.get_mut(function.index()) {
                    *named = true;
                }
            }
            samples.extend(kept.sample.map(|(body, statements)| (id, body, statements)));
            outline.declare(id, kept.vars);
            uses.push(kept.uses);
        }
        let unit = Unit { name, module: outline.module(), source };
        let is_named = |_: usize, function: usize| named.get(function) == Some(&true);
        let (mut linked, errors) = link::link(&[unit], &is_named, options);
        if !errors.is_empty() {
            return None;
        }
        declare_heads(&unit, &mut linked);
        let (graph, shared) = facts(&unit, &linked, &uses)?;
        linked.assign_shared(&graph, &shared);
        wave::verify::verify_by(linked.module(), options.each).ok()?;
        try_samples(&unit, &linked, samples, options.each)?;
        let lowered = linked.module().functions.iter().map(|_| OnceLock::new()).collect();
        let (name, source, lines) = (name.to_owned(), source.to_owned(), OnceLock::new());
        Some(Deferred { name, source, outline, linked, graph, lines, lowered })
    }

    /// The module without code: its functions are declarations.
    pub fn heads(&self) -> &wave::Module {
        self.linked.module()
    }

    /// The `.target` words and everything else outside function bodies.
    pub fn text(&self) -> &ast::Module {
        self.outline.module()
    }

    /// The module with every function that a kernel may reach.
    ///
    /// # Errors
    /// A function cannot be lowered although functions with the same shapes can: a bug in this crate.
    pub fn reached_from(&self, kernel: FuncId, each: Each) -> Result<wave::Module, Vec<Error>> {
        let reached = self.graph.reachable(kernel);
        // The targets of calls through handles are known only if every function that takes a handle is
        // present.
        if self.graph.through_handles(&reached) {
            return self.whole(each);
        }
        self.with(&reached, each)
    }

    /// The module with all of its functions.
    ///
    /// # Errors
    /// See [`Deferred::reached_from`].
    pub fn whole(&self, each: Each) -> Result<wave::Module, Vec<Error>> {
        let all = 0..self.lowered.len() as u32;
        self.with(&all.map(FuncId).collect(), each)
    }

    /// The functions whose text may contain this line.
    pub fn functions_at(&self, line: u32) -> Vec<FuncId> {
        let lines = self.first_lines();
        let first_of = |id: &FuncId| lines.get(self.linked.owner(*id)?.1).copied();
        let mut begun: Vec<(u32, FuncId)> = (0..self.lowered.len() as u32)
            .map(FuncId)
            .filter_map(|id| Some((first_of(&id).filter(|first| (1..=line).contains(first))?, id)))
            .collect();
        // The last function to begin before it, and all that begin on the same line.
        let last = begun.iter().map(|b| b.0).max();
        begun.retain(|b| Some(b.0) == last);
        begun.into_iter().map(|b| b.1).collect()
    }

    /// Bytes of text in a function's body; 0 if it is only declared.
    pub fn text_size(&self, function: FuncId) -> usize {
        let owner = self.linked.owner(function);
        owner
            .and_then(|(_, f)| self.outline.text_of(ast::FuncId(f as u32)))
            .map_or(0, |b| (b.end - b.start) as usize)
    }

    fn first_lines(&self) -> &[u32] {
        self.lines.get_or_init(|| self.outline.first_lines(&self.source))
    }

    /// The module in which these functions have their code.
    pub fn with(&self, functions: &BTreeSet<FuncId>, each: Each) -> Result<wave::Module, Vec<Error>> {
        let missing: Vec<(FuncId, ast::FuncId)> = functions
            .iter()
            .filter(|id| self.lowered.get(id.index()).is_some_and(|place| place.get().is_none()))
            .filter_map(|id| Some((*id, ast::FuncId(self.linked.owner(*id)?.1 as u32))))
            .collect();
        let chunks: Vec<&[(FuncId, ast::FuncId)]> = missing.chunks(CHUNK).collect();
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
        for id in functions {
            let code = self.lowered.get(id.index()).and_then(OnceLock::get);
            if let (Some(place), Some(code)) = (module.functions.get_mut(id.index()), code) {
                *place = Arc::clone(code);
            }
        }
        let new = missing.iter().filter_map(|(id, _)| Some(&**module.functions.get(id.index())?));
        wave::verify::verify_functions(&module, new)
            .map_err(|problems| problems.iter().map(Error::internal).collect::<Vec<_>>())?;
        Ok(module)
    }

    /// Parses and lowers some functions.
    fn lower(&self, functions: &[(FuncId, ast::FuncId)]) -> Result<(), Vec<Error>> {
        let unit = Unit { name: &self.name, module: self.outline.module(), source: &self.source };
        let numbers: Vec<ast::FuncId> = functions.iter().map(|f| f.1).collect();
        // The same bodies were parsed successfully before.
        let bodies = self.outline.read(&self.source, &numbers);
        let bodies = bodies.ok_or_else(|| {
            vec![Error::mistake("a body that was parsed before no longer parses".to_owned())]
        })?;
        for ((id, number), body) in functions.iter().zip(bodies) {
            let head = &unit.module[*number];
            let function = ast::Function { body: Some(body), ..head.clone() };
            let text = self.outline.text_of(*number).unwrap_or_default();
            let first = self.first_lines().get(number.index()).copied().unwrap_or(1);
            let lines = LineIndex::within(&self.source, text, first);
            let mut code = function::lower(&self.linked, 0, &unit, &lines, &function)?;
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

/// Parses every body.
fn read(outline: &Outline, source: &str, each: Each) -> Option<Vec<OnceLock<Kept>>> {
    let kept: Vec<OnceLock<Kept>> = outline.module().functions.iter().map(|_| OnceLock::new()).collect();
    let known = Known::default();
    let whole = outline.bodies(source, each, &|id, body| {
        let (Some(head), Some(place)) = (outline.module().functions.get(id.index()), kept.get(id.index()))
        else {
            return;
        };
        let uses = Uses::of(outline.module(), body);
        let mut function = ast::Function { body: Some(std::mem::take(body)), ..head.clone() };
        let fresh = known.fresh(&function);
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
fn declare_heads(unit: &Unit, linked: &mut Linked) {
    let functions = unit.module.functions.iter().enumerate();
    for (n, function) in functions.filter(|(_, f)| f.body.is_some()) {
        if linked.owns(0, n) {
            linked.set_body(0, n, function::declaration(function));
        }
    }
}

/// The call graph, and the shared variables that each function names.
fn facts(unit: &Unit, linked: &Linked, uses: &[Uses]) -> Option<(CallGraph, Vec<BTreeSet<SharedId>>)> {
    let count = linked.module().functions.len();
    let (mut calls, mut shared) = (vec![Calls::default(); count], vec![BTreeSet::new(); count]);
    let mut taken = BTreeSet::new();
    for reloc in linked.module().globals.iter().flat_map(|g| &g.relocs) {
        if let RelocTarget::Func(f) = reloc.target {
            taken.insert(f);
        }
    }
    for (n, uses) in uses.iter().enumerate().filter(|(n, _)| linked.owns(0, *n)) {
        let id = linked.function(0, ast::FuncId(n as u32));
        let function = |f: &ast::FuncId| linked.function(0, *f);
        let is_entry = |f: &&ast::FuncId| unit.module.functions.get(f.index()).is_some_and(|f| f.is_entry);
        taken.extend(uses.taken.iter().filter(|f| !is_entry(f)).map(function));
        let mut direct: Vec<FuncId> = uses.calls.iter().map(function).collect();
        direct.sort_unstable();
        direct.dedup();
        *calls.get_mut(id.index())? = Calls { direct, indirect: uses.indirect };
        for symbol in &uses.shared {
            let place = match symbol {
                Symbol::Global(g) => match linked.place(0, *g) {
                    Place::Shared(id) => Some(id),
                    _ => None,
                },
                Symbol::Var(v) => {
                    linked.shared_of_function(0, unit.module.functions.get(n)?.vars().get(v.index())?)
                }
                Symbol::Func(_) | Symbol::Label(_) => None,
            };
            shared.get_mut(id.index())?.extend(place);
        }
    }
    Some((CallGraph::of(calls, taken), shared))
}

/// Lowers the statements with new shapes. `None` if one is refused.
fn try_samples(
    unit: &Unit,
    linked: &Linked,
    samples: Vec<(ast::FuncId, Body, Vec<u32>)>,
    each: Each,
) -> Option<()> {
    let samples: Vec<(ast::Function, Vec<u32>)> = samples
        .into_iter()
        .filter(|(id, ..)| linked.owns(0, id.index()))
        .map(|(id, body, statements)| {
            (ast::Function { body: Some(body), ..unit.module[id].clone() }, statements)
        })
        .collect();
    // Errors get their lines when the text is lowered as a whole.
    let lines = LineIndex::new("");
    let done: Vec<OnceLock<()>> = samples.iter().map(|_| OnceLock::new()).collect();
    each(samples.len(), &|n| {
        let (Some((function, statements)), Some(place)) = (samples.get(n), done.get(n)) else { return };
        if let Ok(code) = function::lower_some(linked, 0, unit, &lines, function, statements)
            && wave::verify::verify_functions(linked.module(), [&code]).is_ok()
        {
            // Never set before: each number is passed once.
            let _ = place.set(());
        }
    });
    done.iter().all(|place| place.get().is_some()).then_some(())
}
