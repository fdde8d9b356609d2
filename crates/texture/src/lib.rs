//! The texture unit.
//!
//! Computes the results of texture and surface instructions for the lanes of a warp at once, given a
//! descriptor of memory. Weights, rounding, address modes and borders are the hardware's, derived from
//! recordings of an H200 (`tests/texture`).
//!
//! - [`Access`]: an instruction, in the form that the IR contains;
//! - [`Descriptor`]: a texture or surface object, and [`table`], which finds it by its handle;
//! - [`run`]: executes an access for a warp;
//! - [`typed`]: converts the elements of AMD's typed buffers;
//! - [`record`]: what AMD's kernels read of an object.
//!
//! **Architecture invariant:** this crate accesses memory only through a descriptor; it knows no PTX, no IR
//! and no API.

pub mod access;
pub mod block;
mod cube;
pub mod descriptor;
mod filter;
mod format;
mod image;
mod level;
pub mod mapped;
mod place;
mod query;
pub mod record;
mod sample;
mod surface;
pub mod table;
mod texel;
pub mod typed;

pub use access::Access;
pub use descriptor::Descriptor;

/// Lanes of a warp.
pub const LANES: usize = 32;

/// An operand or result of a warp: one zero-extended value per lane.
pub type Lanes = [u64; LANES];

/// Why an access stops the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The handle of these lanes refers to no object, or to one of the other kind.
    Handle(u32),
    /// A surface access with `.trap` is out of bounds in these lanes.
    Outside(u32),
    /// The byte offset of a surface access in these lanes is not a multiple of its size.
    Misaligned(u32),
    /// The operands do not match the access.
    Malformed,
}

/// Runs an access for the lanes of `mask` on one descriptor. `args` are the operands after the handle, as
/// [`Access::operands`] lists them.
///
/// # Errors
/// The lanes whose access stops the kernel; the others may have run.
pub fn run(
    access: Access,
    descriptor: &Descriptor,
    mask: u32,
    args: &[Lanes],
    results: &mut [Lanes],
) -> Result<(), Fault> {
    use access::Operation as O;
    if args.len() + 1 < access.operands().len() || results.len() < access.results().len() {
        return Err(Fault::Malformed);
    }
    if access.operation.is_image() {
        image::run(access, descriptor, mask, args, results);
        return Ok(());
    }
    if descriptor.surface != access.operation.is_surface() {
        return Err(Fault::Handle(mask));
    }
    match access.operation {
        O::Fetch | O::Gather => sample::run(access, descriptor, mask, args, results),
        O::QueryTexture | O::QuerySurface => query::run(access, descriptor, mask, args, results),
        O::Load | O::Store | O::StoreFormatted | O::Reduce => {
            return surface::run(access, descriptor, mask, args, results);
        }
        _ => return Err(Fault::Malformed),
    }
    Ok(())
}

/// The lanes of a mask.
fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
}
