//! What the tests of this crate share.

pub mod case;
pub mod expr;
pub mod memory;
