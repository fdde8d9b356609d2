//! Parts shared by the C interfaces: pointers and values that a program passes ([`Out`], [`In`], [`Text`]),
//! and the guard around every function.
//!
//! **Architecture invariant:** this crate knows how C passes arguments, but no function's name or behaviour.

mod api;
pub mod container;
pub mod copy;
pub mod external;
pub mod front;
mod guard;
pub mod jit;
mod layout;
pub mod link;
pub mod memory;
mod place;
pub mod pointer;
pub mod texture;
pub mod types;

pub use api::{CaptureBehaviour, Captures};
pub use guard::{named_once, run};
pub use layout::Field;
pub use place::{In, Out, Text, bytes_at};
