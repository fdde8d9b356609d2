//! The verifier: checks the IR's rules, so that later stages can rely on them.
//!
//! [`verify`] checks that every value is defined once and wherever it is used; that operands, results,
//! arguments and parameters have the types that their operations and targets require; that every symbol
//! exists; and that variables are inside the image and do not overlap. Problems are reported with function,
//! block and instruction.

mod function;

use std::fmt;
use std::sync::OnceLock;

use crate::func::{Block, Function, Loc};
use crate::module::{Global, GlobalId, Module, RelocTarget};

/// A violated rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The function's name; `None` for a problem of the module.
    pub function: Option<String>,
    /// The block.
    pub block: Option<Block>,
    /// Index of the instruction in the block; the terminator's index follows the last one.
    pub inst: Option<usize>,
    /// Source position of the instruction.
    pub loc: Loc,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.function {
            write!(f, "function `{name}`, ")?;
        }
        if let Some(block) = self.block {
            write!(f, "{block}, ")?;
        }
        if let Some(inst) = self.inst {
            write!(f, "instruction {inst}")?;
            if self.loc.line != 0 {
                write!(f, " (line {})", self.loc.line)?;
            }
            write!(f, ": ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

/// Calls a function for every number below the first argument, in any order and on any thread. The caller
/// decides how to share out work on functions.
pub type Each<'a> = &'a dyn Fn(usize, &(dyn Fn(usize) + Sync));

/// Checks a module.
///
/// # Errors
/// Every violated rule: the module's first, then by function and position.
pub fn verify(module: &Module) -> Result<(), Vec<Problem>> {
    verify_by(module, &|count, work| (0..count).for_each(work))
}

/// Same as [`verify`], with functions shared out by `each`.
///
/// # Errors
/// Same as [`verify`].
pub fn verify_by(module: &Module, each: Each) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    variables(module, &mut problems);
    let found: Vec<OnceLock<Vec<Problem>>> = module.functions.iter().map(|_| OnceLock::new()).collect();
    each(found.len(), &|n| {
        let (Some(f), Some(place)) = (module.functions.get(n), found.get(n)) else { return };
        let mut of_function = Vec::new();
        function::check(module, f, &mut of_function);
        // Never set before: each number is passed once.
        let _ = place.set(of_function);
    });
    problems.extend(found.into_iter().filter_map(OnceLock::into_inner).flatten());
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Checks only some functions of a module.
///
/// # Errors
/// Same as [`verify`], for these functions.
pub fn verify_functions<'a>(
    module: &Module,
    functions: impl IntoIterator<Item = &'a Function>,
) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    functions.into_iter().for_each(|f| function::check(module, f, &mut problems));
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn of_module(message: String) -> Problem {
    Problem { function: None, block: None, inst: None, loc: Loc::default(), message }
}

fn variables(module: &Module, problems: &mut Vec<Problem>) {
    let mut order: Vec<&Global> = module.globals.iter().collect();
    order.sort_by_key(|g| g.offset);
    for g in &order {
        let name = &g.name;
        let mut say = |what: String| problems.push(of_module(format!("variable `{name}` {what}")));
        if !g.align.is_power_of_two() || !g.offset.is_multiple_of(u64::from(g.align).max(1)) {
            say(format!("lies at {}, which is no multiple of its alignment {}", g.offset, g.align));
        }
        if g.offset.checked_add(g.size).is_none_or(|end| end > module.image_size) {
            say(format!("ends outside of the image of {} bytes", module.image_size));
        }
        if g.init.len() as u64 > g.size {
            say(format!("has {} bytes and an initial value of {}", g.size, g.init.len()));
        }
        for r in &g.relocs {
            if r.at.checked_add(u64::from(r.size)).is_none_or(|end| end > g.size) || r.size > 8 {
                say(format!("has an address of {} bytes at {}, outside of it", r.size, r.at));
            }
            let known = match r.target {
                RelocTarget::Global(GlobalId(id)) => (id as usize) < module.globals.len(),
                RelocTarget::Func(id) => id.index() < module.functions.len(),
                RelocTarget::Shared(id) => id.index() < module.shared.len(),
            };
            if !known {
                say(format!("holds the address of {:?}, which is not there", r.target));
            }
        }
    }
    for f in module.taken.iter().filter(|f| f.index() >= module.functions.len()) {
        problems.push(of_module(format!("the handle of {f:?} is taken, which is not there")));
    }
    for pair in order.windows(2) {
        if let [a, b] = pair
            && a.offset.saturating_add(a.size) > b.offset
        {
            problems.push(of_module(format!("variables `{}` and `{}` overlap", a.name, b.name)));
        }
    }
    for s in module.shared.iter().filter(|s| !s.align.is_power_of_two()) {
        problems.push(of_module(format!("shared variable `{}` has an alignment of {}", s.name, s.align)));
    }
}

#[cfg(test)]
mod tests;
