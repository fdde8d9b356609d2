//! What the C interfaces share: places and values that a program passes ([`Out`], [`In`], [`Text`]), and the guard around every function.
//!
//! **Architecture invariant:** how C passes things; not what any function does or is called.

mod api;
pub mod container;
pub mod copy;
mod guard;
pub mod jit;
mod layout;
pub mod link;
pub mod memory;
mod place;
pub mod pointer;
pub mod texture;
pub mod types;

pub use api::{Capture, Captures};
pub use guard::{named_once, run};
pub use layout::Field;
pub use place::{In, Out, Text, bytes_at};
