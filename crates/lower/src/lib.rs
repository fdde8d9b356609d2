//! PTX to wave IR.
//!
//! [`lower`] takes one or more parsed PTX texts, links them (an `.extern` symbol of one is defined in another) and gives one
//! [`wave::Module`]. Registers become SSA values (`ssa`), variables get their places (`link`), and each instruction goes through
//! the row of [`family::of`] that names its lowering.
//!
//! **Architecture invariant:** knows PTX and wave, not how wave is run. Every instruction that cannot be lowered is an error with its
//! place; none is dropped.

#![forbid(unsafe_code)]

mod call;
mod error;
pub mod family;
mod function;
mod link;
mod operand;
mod ssa;

use ptx::LineIndex;

pub use error::{Error, ErrorClass};

/// One PTX text of a link.
#[derive(Clone, Copy, Debug)]
pub struct Unit<'a> {
    /// What to call it in messages.
    pub name: &'a str,
    /// Its tree.
    pub module: &'a ptx::ast::Module,
    /// Its text, for line numbers.
    pub source: &'a str,
}

/// How strict linking is.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// A variable that is declared `.extern` and that no text defines is an error, as it is to the linker. Otherwise its address is null, as
    /// loading one text alone takes it.
    pub complete: bool,
    /// Addresses of variables that no text defines.
    pub symbols: &'a [(String, u64)],
}

/// Lowers and links `units`; all errors of all units come together, by unit and place. Every symbol must be defined.
pub fn lower(units: &[Unit]) -> Result<wave::Module, Vec<Error>> {
    lower_by(units, Options { complete: true, symbols: &[] })
}

/// As [`lower`], with options.
pub fn lower_by(units: &[Unit], options: Options) -> Result<wave::Module, Vec<Error>> {
    let (mut linked, mut errors) = link::link(units, options);
    for (index, unit) in units.iter().enumerate() {
        let lines = LineIndex::new(unit.source);
        for (id, function) in unit.module.functions.iter().enumerate() {
            if function.body.is_none() || !linked.owns(index, id) {
                continue;
            }
            match function::lower(&linked, index, unit, &lines, function) {
                Ok(body) => linked.set_body(index, id, body),
                Err(mut e) => errors.append(&mut e),
            }
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut module = linked.finish();
    for f in &mut module.functions {
        ssa::remove_redundant_params(f);
    }
    wave::layout::assign_shared(&mut module);
    // A module that breaks the IR's rules is a mistake of this crate; it is told here, not run.
    wave::verify::verify(&module)
        .map_err(|problems| problems.iter().map(Error::internal).collect::<Vec<_>>())?;
    Ok(module)
}
