//! AMD code objects: the ELF files that hold the kernels of AMD's GPUs.
//!
//! [`CodeObject::read`] takes a file apart: its target, kernels with their descriptors and metadata, symbols,
//! sections and relocations.
//!
//! **Architecture invariant:** this crate says what the bytes are, not what the instructions compute. No
//! input makes it panic, and what it allocates is bounded by the size of the input.

#![forbid(unsafe_code)]

pub mod isa;
pub mod object;
mod target;

pub use object::{CodeObject, Error};
pub use target::{Generation, Setting, Target, TargetId, targets};
