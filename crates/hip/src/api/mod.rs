//! The functions of the interface by group.

#![allow(non_snake_case)]

mod attribute;
mod context;
mod copy;
mod device;
mod error;
mod event;
mod fill;
mod function;
mod init;
mod launch;
mod memory;
mod module;
mod occupancy;
mod peer;
mod properties;
mod register;
mod rtc;
mod stream;
mod symbol;

pub use attribute::*;
pub use context::*;
pub use copy::*;
pub use device::*;
pub use error::*;
pub use event::*;
pub use fill::*;
pub use function::*;
pub use init::*;
pub use launch::*;
pub use memory::*;
pub use module::*;
pub use occupancy::*;
pub use peer::*;
pub use properties::*;
pub use register::*;
pub use rtc::*;
pub use stream::*;
pub use symbol::*;
