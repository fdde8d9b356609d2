//! The CPU backend: from PTX texts to running code.
//!
//! [`program::Program::load`] parses, links, lowers and verifies every kernel, so that every error is told at load; machine code is made when a
//! kernel is first launched with a block size ([`program::Program::code`]).
//!
//! **Architecture invariant:** knows how code is made and run; knows no C types, contexts or streams.

pub mod program;

pub use program::{Engine, LoadError, Program, Source};
