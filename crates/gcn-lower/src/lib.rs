//! Lowers the kernels of AMD code objects to wave IR.
//!
//! The compiler that made a code object has linearised its control flow: all lanes of a wave follow the
//! scalar branches together, and EXEC says which of them an instruction concerns. So a wave's lanes never
//! diverge in the lowered function. EXEC, VCC and the other lane masks are values that all lanes share; an
//! instruction computes its result in every lane, and lanes outside EXEC keep the register's old value.
//! Memory operations are done by the lanes in EXEC alone.
//!
//! Scalar and vector registers become SSA values ([`wave::ssa`]). The module `registers` keeps track of what
//! the masks mean, so that a comparison and the instructions that use its mask need not go through bits, and
//! nothing is selected while all lanes are active.

mod access;
mod buffer;
mod code;
mod compare;
mod dpp;
mod entry;
mod error;
mod evaluate;
mod float;
mod flow;
mod graph;
mod grid_sync;
mod group;
mod image;
mod images;
mod index;
mod lanes;
mod launch;
mod lds;
mod matrix;
mod memory;
mod mode;
mod newer;
mod operand;
mod plain;
mod registers;
mod scalar;
mod smem;
mod table;
mod typed;
mod vector;

pub use error::Error;
pub use image::{IMAGE, Image, Variable, image};
pub use plain::{Kinds, is_plain};

use gcn::object::Kernel;
use gcn::{CodeObject, Target};
use wave::{Function, KernelInfo, Width};

/// Lowers a kernel.
///
/// # Errors
/// The instructions that are unknown or not supported, by address, with their text; or what is wrong with the
/// kernel.
pub fn lower(object: &CodeObject<'_>, kernel: &Kernel) -> Result<Function, Vec<Error>> {
    let target = Target::of_name(object.target.target.name).unwrap_or(object.target.target);
    launch::bounded(object, kernel)?;
    let code = code::Code::read(object, kernel, target)?;
    entry::lower(object, kernel, code)
}

/// A function that runs an instruction alone, in waves of this many lanes.
///
/// # Errors
/// Why it cannot.
pub fn lowers(inst: &gcn::isa::Inst, target: Target, lanes: u32) -> Result<Function, String> {
    entry::lowers(inst, target, lanes, mode::Mode::default())
}

/// What a launch needs to know of a kernel.
pub fn kernel_info(object: &CodeObject<'_>, kernel: &Kernel) -> KernelInfo {
    launch::info(object, kernel).0
}

/// The width of a kernel's waves.
pub fn width(kernel: &Kernel) -> Width {
    if kernel.descriptor.wave_size() == 64 { Width::W64 } else { Width::W32 }
}

/// Decodes a kernel without lowering it.
///
/// # Errors
/// The places where it goes to what is no instruction; or what is wrong with the kernel.
pub fn decode(object: &CodeObject<'_>, kernel: &Kernel) -> Result<(), Vec<Error>> {
    launch::bounded(object, kernel)?;
    code::Code::read(object, kernel, object.target.target).map(|_| ())
}
