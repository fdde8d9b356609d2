//! The functions of the interface by group.

#![allow(non_snake_case)]

mod context;
mod error;
mod function;
mod init;
mod launch;
mod module;
mod occupancy;
mod register;
mod rtc;
mod symbol;

pub use context::*;
pub use error::*;
pub use function::*;
pub use init::*;
pub use launch::*;
pub use module::*;
pub use occupancy::*;
pub use register::*;
pub use rtc::*;
pub use symbol::*;
