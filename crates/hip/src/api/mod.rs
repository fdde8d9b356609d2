//! The API functions by group.

#![allow(non_snake_case)]

mod address;
mod array;
mod attribute;
mod batch;
mod capture;
mod context;
mod copy;
mod device;
mod error;
mod event;
mod external;
mod fill;
mod function;
mod graph;
mod graph_exec;
mod graph_node;
mod graph_params;
mod graph_semaphore;
mod init;
mod ipc;
mod launch;
mod launch_config;
mod library;
mod link;
mod managed;
mod memory;
mod module;
mod occupancy;
mod peer;
mod pointer;
mod pool;
mod properties;
mod rect;
mod register;
mod rtc;
mod rtc_link;
mod rtc_program;
mod stream;
mod structure;
mod symbol;
mod texture;
mod texture_reference;
mod tools;

pub use address::*;
pub use array::*;
pub use attribute::*;
pub use batch::*;
pub use capture::*;
pub use context::*;
pub use copy::*;
pub use device::*;
pub use error::*;
pub use event::*;
pub use external::*;
pub use fill::*;
pub use function::*;
pub use graph::*;
pub use graph_exec::*;
pub use graph_node::*;
pub use graph_semaphore::*;
pub use init::*;
pub use ipc::*;
pub use launch::*;
pub use launch_config::*;
pub use library::*;
pub use link::*;
pub use managed::*;
pub use memory::*;
pub use module::*;
pub use occupancy::*;
pub use peer::*;
pub use pointer::*;
pub use pool::*;
pub use properties::*;
pub use rect::*;
pub use register::*;
pub use rtc::*;
pub use rtc_link::*;
pub use rtc_program::*;
pub use stream::*;
pub use structure::show_arrays;
pub use symbol::*;
pub use texture::*;
pub use texture_reference::*;
pub use tools::*;

capi::captures! {
    address array attribute batch capture context copy device error event external fill function graph
    graph_exec graph_node graph_semaphore init ipc launch launch_config library link managed memory module
    occupancy peer pointer pool properties rect register stream symbol texture texture_reference tools
}
