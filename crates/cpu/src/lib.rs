//! The CPU backend: from PTX texts and AMD code objects to running code.
//!
//! [`program::Program::load`] parses, links, lowers and verifies every kernel, so that all errors are
//! reported at load. Machine code is compiled when a kernel is first launched with a block size
//! ([`program::Program::kernel`]).
//!
//! [`Cpu`] is the backend that the driver uses.
//!
//! **Architecture invariant:** this crate knows how code is compiled and run. It does not know C types,
//! contexts or streams. Only the modules of [`front`] know what a kind of code means.

pub mod backend;
mod beside;
mod children;
mod code;
mod counting;
pub mod front;
mod grid_sync;
mod hostcall;
pub mod info;
mod loaded;
mod message;
mod modules;
mod output;
mod parameters;
pub mod printed;
pub mod program;
pub mod rules;
mod settings;
mod share;
mod tell;

pub use backend::{Cpu, devices};
pub use code::{Kernel, Ready};
pub use front::{ErrorKind, LoadError, Source};
pub use program::{Engine, Program};
pub use rules::Rules;
pub use settings::{Making, Settings};
pub use simd::effort::Effort;
pub use simd::{Forced, Maker, Specialisation, Target};
pub use tell::tell_through_log;
