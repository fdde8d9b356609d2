//! The functions of the interface by group.

#![allow(non_snake_case)]

mod context;
mod error;
mod init;

pub use context::*;
pub use error::*;
pub use init::*;
