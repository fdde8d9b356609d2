//! Parses function bodies separately from the module, several at a time.
//!
//! The module is parsed first, and bodies are skipped up to their closing brace. Each body is then parsed
//! with the names that were declared before it. If anything is wrong or unusual, in the module or in a body,
//! [`parse_by`] parses the text again in one pass, and only that pass reports errors.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use hashbrown::HashMap;

use super::{Current, ModuleName, Parser, parse};
use crate::ast::{Body, FuncId, Function, GlobalId, Head, Module, RegId, VarId, Variable};
use crate::diagnostic::Diagnostic;
use crate::scope::Name;
use crate::span::Span;

/// Calls a function for every number below the first argument, in any order and on any thread. The caller
/// decides how to share out the work, since this crate does not know threads.
pub type Each<'a> = &'a dyn Fn(usize, &(dyn Fn(usize) + Sync));

/// Bytes of bodies that one parser reads.
const CHUNK: u32 = 64 << 10;

/// Bytes of a typical statement.
const STATEMENT: u32 = 32;

/// A body that was skipped.
#[derive(Clone, Debug)]
pub(crate) struct Later {
    function: FuncId,
    /// Ids of the `.param` variables that the function takes.
    inputs: Range<u32>,
    /// Offset of the opening brace, and offset after the closing one.
    open: u32,
    end: u32,
    visible: (u32, u32),
}

/// Same as [`parse`], with the bodies of functions shared out by `each`.
///
/// # Errors
/// Same as [`parse`].
pub fn parse_by(source: &str, each: Each) -> Result<Module, Vec<Diagnostic>> {
    apart(source, each).map_or_else(|| parse(source), Ok)
}

/// The module; `None` if anything in the text is wrong or unusual.
fn apart(source: &str, each: Each) -> Option<Module> {
    let mut outline = Outline::new(source)?;
    let bodies: Vec<OnceLock<Body>> = outline.module.functions.iter().map(|_| OnceLock::new()).collect();
    let whole = Outline::bodies(&[(&outline, source)], each, &|_, function, body| {
        if let Some(place) = bodies.get(function.index()) {
            // Never set before: `bodies` passes each function once.
            let _ = place.set(std::mem::take(body));
        }
    });
    if !whole {
        return None;
    }
    for (function, body) in outline.module.functions.iter_mut().zip(bodies) {
        if let Some(body) = body.into_inner() {
            function.head = Head::default();
            function.body = Some(body);
        }
    }
    Some(outline.module)
}

/// A module without function bodies, which are parsed on request.
#[derive(Clone, Debug)]
pub struct Outline {
    module: Module,
    /// The bodies, in the order of the text.
    later: Vec<Later>,
    /// For each function, the index of its body.
    place: Vec<Option<u32>>,
}

impl Outline {
    /// Parses everything but bodies. `None` if anything is wrong or unusual; [`parse`] then reports it.
    pub fn new(source: &str) -> Option<Outline> {
        u32::try_from(source.len()).ok()?;
        let mut parser = Parser::new(source);
        parser.later = Some(Vec::new());
        parser.module();
        let Parser { later: Some(later), module, diagnostics, .. } = parser else { return None };
        let module = module.into_owned();
        let mut place = vec![None; module.functions.len()];
        for (n, one) in later.iter().enumerate() {
            if place.get_mut(one.function.index())?.replace(u32::try_from(n).ok()?).is_some() {
                return None;
            }
        }
        diagnostics.is_empty().then_some(Outline { module, later, place })
    }

    /// The module. Defined functions look declared until [`Outline::declare`] gives them a body.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Gives a defined function an empty body with these variables, parameters first, which must be those
    /// that were parsed. Bodies that are parsed afterwards see the same names as before.
    pub fn declare(&mut self, function: FuncId, vars: Vec<Variable>) {
        if let Some(function) = self.module.functions.get_mut(function.index()) {
            let regs = function.head.regs.clone();
            function.body = Some(Body { vars, regs, ..Body::default() });
        }
    }

    /// The span of a function's body, braces included.
    pub fn text_of(&self, function: FuncId) -> Option<Span> {
        let later = self.later_of(function)?;
        Some(Span::new(later.open, later.end))
    }

    /// For each function, the line on which its body begins; 0 without a body.
    pub fn first_lines(&self, source: &str) -> Vec<u32> {
        let mut lines = vec![0; self.place.len()];
        let (mut at, mut line) = (0, 1);
        for later in &self.later {
            let between = Span::new(at, later.open).text(source);
            line += between.bytes().filter(|b| *b == b'\n').count() as u32;
            at = later.open;
            if let Some(place) = lines.get_mut(later.function.index()) {
                *place = line;
            }
        }
        lines
    }

    fn later_of(&self, function: FuncId) -> Option<&Later> {
        self.later.get(self.place.get(function.index()).copied().flatten()? as usize)
    }

    /// Parses the bodies of some functions. `None` if one is malformed or missing. `source` must be the text
    /// that the outline was made from.
    pub fn read(&self, source: &str, functions: &[FuncId]) -> Option<Vec<Body>> {
        let names = self.names();
        let mut parser = Parser::within(source, Cow::Borrowed(&self.module), Cow::Borrowed(&names));
        let mut one = |function: &FuncId| {
            let whole = parser.body_of(&self.module, self.later_of(*function)?);
            whole.then(|| std::mem::take(&mut parser.current.body))
        };
        functions.iter().map(&mut one).collect()
    }

    /// Parses all bodies of several modules, each with the text that it was made from. The work is shared out
    /// by `each`. Each body is passed to `take`, which may keep it, with the numbers of its module and of its
    /// function. Returns false, possibly before all were passed, if one is malformed.
    pub fn bodies(
        modules: &[(&Outline, &str)],
        each: Each,
        take: &(dyn Fn(usize, FuncId, &mut Body) + Sync),
    ) -> bool {
        let names: Vec<_> = modules.iter().map(|(outline, _)| outline.names()).collect();
        // Each chunk is of one module.
        let mut chunks: Vec<(usize, u32, Vec<&Later>)> = Vec::new();
        for (n, (outline, _)) in modules.iter().enumerate() {
            for one in &outline.later {
                let size = one.end - one.open;
                match chunks.last_mut().filter(|c| c.0 == n && c.1 < CHUNK) {
                    Some((_, total, list)) => {
                        *total += size;
                        list.push(one);
                    }
                    None => chunks.push((n, size, vec![one])),
                }
            }
        }
        let whole = AtomicBool::new(true);
        each(chunks.len(), &|chunk| {
            let Some((n, _, list)) = chunks.get(chunk) else { return };
            let (Some((outline, source)), Some(names)) = (modules.get(*n), names.get(*n)) else { return };
            if !whole.load(Ordering::Relaxed) {
                return;
            }
            let mut parser = Parser::within(source, Cow::Borrowed(&outline.module), Cow::Borrowed(names));
            for later in list {
                if !parser.body_of(&outline.module, later) {
                    whole.store(false, Ordering::Relaxed);
                    return;
                }
                take(*n, later.function, &mut parser.current.body);
            }
        });
        whole.into_inner()
    }

    /// The module's names and what they refer to.
    fn names(&self) -> HashMap<&str, ModuleName> {
        let functions = self.module.functions.iter().enumerate();
        let functions = functions.map(|(i, f)| (f.name.as_str(), ModuleName::Func(FuncId(i as u32))));
        let globals = self.module.globals.iter().enumerate();
        let globals = globals.map(|(i, v)| (v.name.as_str(), ModuleName::Global(GlobalId(i as u32))));
        functions.chain(globals).collect()
    }
}

impl<'s> Current<'s> {
    /// Begins the body of a function whose head has been parsed, reusing the memory of the body before. False
    /// if names clash.
    fn begin(&mut self, id: FuncId, function: &'s Function, inputs: Range<u32>) -> bool {
        self.function = Some(id);
        let Current { scopes, body, labels, parents, scope, pending, patches, .. } = self;
        scopes.clear();
        labels.clear();
        pending.clear();
        patches.clear();
        parents.clear();
        parents.push(0);
        *scope = 0;
        // A function whose body declares its parameters (`listless`) is never deferred.
        (self.inputs, self.listless) = (inputs, false);
        body.statements.clear();
        body.labels.clear();
        body.regs.clone_from(&function.head.regs);
        body.vars.clone_from(&function.head.vars);
        let regs = function.head.regs.iter().enumerate();
        let regs = regs.map(|(i, r)| (r.name.as_str(), Name::Reg(RegId(i as u32))));
        let vars = function.head.vars.iter().enumerate();
        let vars = vars.map(|(i, v)| (v.name.as_str(), Name::Var(VarId(i as u32))));
        regs.chain(vars).all(|(text, name)| text == "_" || scopes.declare(text, name))
    }
}

impl<'s> Parser<'s> {
    /// Skips the body that begins here if bodies are to be parsed later.
    pub(super) fn put_off(&mut self, function: FuncId) -> bool {
        if self.later.is_none() {
            return false;
        }
        let open = self.token.span.start;
        // A body that cannot be skipped is parsed here and ends all skipping, which shows that the text was
        // unusual.
        let Some((mut later, end)) = self.later.take().zip(self.closing_brace(open)) else { return false };
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let visible = (count(self.module.globals.len()), count(self.module.functions.len()));
        let inputs = std::mem::take(&mut self.current).inputs;
        later.push(Later { function, inputs, open, end, visible });
        self.later = Some(later);
        self.seek(end);
        true
    }

    /// The offset after the brace that closes the one at `open`; `None` if finding it takes more than
    /// skipping comments and strings.
    fn closing_brace(&self, open: u32) -> Option<u32> {
        let bytes = self.source.as_bytes();
        let (mut at, mut depth) = (open as usize, 0_usize);
        loop {
            let special = |b: &u8| matches!(b, b'{' | b'}' | b'/' | b'"' | b'#') || !b.is_ascii();
            at += bytes.get(at..)?.iter().position(special)?;
            match bytes.get(at)? {
                b'{' => depth += 1,
                b'}' if depth <= 1 => return u32::try_from(at + 1).ok(),
                b'}' => depth -= 1,
                b'/' if bytes.get(at + 1) == Some(&b'/') => {
                    at += bytes.get(at..)?.iter().position(|b| *b == b'\n' || !b.is_ascii())?;
                    if bytes.get(at) != Some(&b'\n') {
                        return None;
                    }
                }
                b'/' if bytes.get(at + 1) == Some(&b'*') => {
                    let comment = bytes.get(at + 2..)?;
                    let length = comment.windows(2).position(|w| w == b"*/")?;
                    if !comment.get(..length)?.is_ascii() {
                        return None;
                    }
                    at += length + 3;
                }
                b'/' => {}
                b'"' => {
                    let length =
                        bytes.get(at + 1..)?.iter().position(|b| matches!(b, b'"' | b'\\' | b'\n'))?;
                    if bytes.get(at + 1 + length) != Some(&b'"') {
                        return None;
                    }
                    at += length + 1;
                }
                _ => return None,
            }
            at += 1;
        }
    }

    /// Parses the body of a function that was skipped; false if it is malformed.
    fn body_of(&mut self, module: &'s Module, later: &Later) -> bool {
        let Some(function) = module.functions.get(later.function.index()) else { return false };
        if !self.current.begin(later.function, function, later.inputs.clone()) {
            return false;
        }
        self.seek(later.open);
        self.visible = later.visible;
        self.current.body.statements.reserve(((later.end - later.open) / STATEMENT) as usize);
        self.body().is_ok() && self.diagnostics.is_empty() && self.last_end == later.end
    }
}
