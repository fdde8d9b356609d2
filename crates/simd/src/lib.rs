//! Machine code for kernels: wave IR becomes LLVM IR in which a warp's 32 lanes are vectors, LLVM compiles it
//! to an object, and the object is loaded. Objects are cached on disk.
//!
//! **Architecture invariant:** this crate knows wave IR and LLVM. It does not know PTX, contexts, streams or
//! the scheduler.

pub mod cache;
mod compile;
pub mod effort;
mod ir;
mod kernel;
mod key;
mod lanewise;
pub mod llvm;
mod object;
mod seen;
mod target;

pub use compile::{Compiled, Error, Made, Request, Rest, assembly, explained, ir, stages};
pub use kernel::Report;
pub use kernel::explain::{View, passes};
pub use kernel::specialisation::Specialisation;
pub use key::{CodeKey, Forced, digest};
pub use object::LoadError;
pub use target::{Maker, Target, UnknownTarget};
