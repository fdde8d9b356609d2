//! PTX to wave IR.
//!
//! [`lower`] takes one or more parsed PTX texts, links them (an `.extern` symbol of one text is defined in
//! another) and returns one [`wave::Module`]. Registers become SSA values ([`wave::ssa`]), variables are
//! placed in memory (`link`), and each instruction is lowered by the function in its row of [`family::of`].
//! [`Deferred`] is large texts whose functions are lowered on request.
//!
//! **Architecture invariant:** this crate knows PTX and wave, not how wave is run. Every instruction that
//! cannot be lowered is an error with a position; none is dropped.

#![forbid(unsafe_code)]

mod call;
mod deferred;
mod error;
pub mod family;
mod function;
mod link;
mod operand;
mod shape;
mod uses;
mod var;

use std::sync::OnceLock;

use ptx::LineIndex;

pub use deferred::{Deferred, Refused};
pub use error::{Error, ErrorClass};
/// Shares out work on functions: this crate knows no threads.
pub use wave::verify::Each;

/// One PTX text of a link.
#[derive(Clone, Copy, Debug)]
pub struct Unit<'a> {
    /// Its name in messages.
    pub name: &'a str,
    /// Its tree.
    pub module: &'a ptx::ast::Module,
    /// Its text, for line numbers.
    pub source: &'a str,
}

/// An [`Each`] that runs everything on the calling thread.
pub fn one_by_one(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).for_each(work);
}

/// Options of linking and lowering.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Whether a variable that is declared `.extern` and defined in no text is an error, as it is for the
    /// linker. Otherwise its address is null, as when a single text is loaded.
    pub complete: bool,
    /// Addresses of variables that no text defines.
    pub symbols: &'a [(String, u64)],
    /// Shares out the work on functions.
    pub each: Each<'a>,
    /// The approximate functions and products of matrices give the hardware's bits, instead of results that
    /// the manual allows and that are faster to compute.
    pub exact: bool,
}

/// Lowers and links `units`. All errors of all units are reported together, by unit and position. Every
/// symbol must be defined.
pub fn lower(units: &[Unit]) -> Result<wave::Module, Vec<Error>> {
    lower_by(units, Options { complete: true, symbols: &[], each: &one_by_one, exact: false })
}

/// [`lower`] with options.
pub fn lower_by(units: &[Unit], options: Options) -> Result<wave::Module, Vec<Error>> {
    let named: Vec<OnceLock<Vec<bool>>> = units.iter().map(|_| OnceLock::new()).collect();
    let is_named = |u: usize, function: usize| {
        let (Some(unit), Some(named)) = (units.get(u), named.get(u)) else { return false };
        named.get_or_init(|| link::named(unit)).get(function) == Some(&true)
    };
    let (mut linked, mut errors) = link::link(units, &is_named, options);
    let lines: Vec<LineIndex> = units.iter().map(|u| LineIndex::new(u.source)).collect();
    let owned = |unit: usize, id: usize, f: &ptx::ast::Function| f.body.is_some() && linked.owns(unit, id);
    let mut jobs = Vec::new();
    for (index, unit) in units.iter().enumerate() {
        let functions = unit.module.functions.iter().enumerate();
        jobs.extend(functions.filter(|(id, f)| owned(index, *id, f)).map(|(id, f)| (index, id, f)));
    }
    let done: Vec<OnceLock<_>> = jobs.iter().map(|_| OnceLock::new()).collect();
    (options.each)(jobs.len(), &|n| {
        let Some(&(index, _, function)) = jobs.get(n) else { return };
        let (Some(unit), Some(lines), Some(place)) = (units.get(index), lines.get(index), done.get(n)) else {
            return;
        };
        let mut body = function::lower(&linked, index, unit, lines, function);
        if let Ok(body) = &mut body {
            wave::ssa::remove_redundant_params(body);
        }
        // Never set before: each number is passed once.
        let _ = place.set(body);
    });
    for (&(index, id, _), place) in jobs.iter().zip(done) {
        match place.into_inner() {
            Some(Ok(body)) => linked.set_body(index, id, body),
            Some(Err(mut e)) => errors.append(&mut e),
            None => {}
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut module = linked.finish();
    wave::layout::assign_shared(&mut module);
    // A module that violates the IR's rules is a bug in this crate; it is reported and never run.
    wave::verify::verify_by(&module, options.each)
        .map_err(|problems| problems.iter().map(Error::internal).collect::<Vec<_>>())?;
    Ok(module)
}
