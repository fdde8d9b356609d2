//! The API functions by group.

#![allow(non_snake_case)]

mod array;
mod device;
mod execution;
mod graph;
mod graph_node;
mod launch;
mod memory;
mod pool;
mod register;
mod stream;

pub use array::*;
pub use device::*;
pub use execution::*;
pub use graph::*;
pub use graph_node::*;
pub use launch::*;
pub use memory::*;
pub use pool::*;
pub use register::*;
pub use stream::*;
