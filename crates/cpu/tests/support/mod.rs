//! Modules shared by the tests of this crate.

pub mod case;
pub mod execute;
pub mod expr;
pub mod memory;
