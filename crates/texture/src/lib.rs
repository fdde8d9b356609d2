//! The texture unit.
//!
//! What a texture or surface instruction gives, from a descriptor of memory, for the lanes of a warp at once. Weights, rounding,
//! address modes and borders are the hardware's, learnt from recordings of an H200 (`tests/texture`).
//!
//! - [`Access`]: what an instruction asks, as the IR carries it;
//! - [`Descriptor`]: what a texture or surface object says about memory, and [`table`], which finds it by its handle;
//! - [`run`]: an access of a warp.
//!
//! **Architecture invariant:** knows memory only through a descriptor; no PTX, no IR, no API.

pub mod access;
pub mod block;
mod cube;
pub mod descriptor;
mod filter;
mod format;
mod level;
mod place;
mod query;
mod sample;
mod surface;
pub mod table;
mod texel;

pub use access::Access;
pub use descriptor::Descriptor;

/// Lanes of a warp.
pub const LANES: usize = 32;

/// An operand or a result of a warp, a value a lane, zero-extended.
pub type Lanes = [u64; LANES];

/// Why an access stops the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The handle of these lanes is of no object, or of one of the other kind.
    Handle(u32),
    /// A surface access with `.trap` outside, in these lanes.
    Outside(u32),
    /// A surface access of these lanes whose byte offset is no multiple of its size.
    Misaligned(u32),
    /// The access and its operands do not fit.
    Malformed,
}

/// Runs an access for the lanes of `mask` on one descriptor. `args`: the operands after the handle, as [`Access::operands`] lists them.
///
/// # Errors
/// Lanes whose access stops the kernel; the others may have run.
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
    if descriptor.surface != access.operation.is_surface() {
        return Err(Fault::Handle(mask));
    }
    match access.operation {
        O::Fetch | O::Gather => sample::run(access, descriptor, mask, args, results),
        O::QueryTexture | O::QuerySurface => query::run(access, descriptor, mask, args, results),
        O::Load | O::Store | O::StoreFormatted | O::Reduce => {
            return surface::run(access, descriptor, mask, args, results);
        }
    }
    Ok(())
}

/// The lanes of a mask.
fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
}
