//! The API functions by group.

#![allow(non_snake_case)]

pub mod address;
pub mod array;
pub mod batch;
pub mod capture;
pub mod context;
pub mod copy;
pub mod device;
pub mod event;
pub mod external;
pub mod fill;
pub mod function;
pub mod graph;
pub mod graph_exec;
pub mod graph_node;
pub mod graph_query;
pub mod graphics;
pub mod green;
pub mod init;
pub mod ipc;
pub mod launch;
pub mod library;
pub mod link;
pub mod managed;
pub mod memory;
pub mod module;
pub mod multicast;
pub mod narrow;
pub mod occupancy;
pub mod pointer;
pub mod pool;
pub mod process;
pub mod refused;
pub mod stream;
pub mod surface;
pub mod tensor_map;
pub mod texture;
pub mod texture_reference;
pub mod word;

use std::sync::Arc;

use driver::{Error, Result, context as contexts, green as shares, stream as streams};

use crate::types::{Handle, stream as special};

capi::captures! {
    address array batch capture context copy device event external fill function graph graph_exec graph_query graphics
    green init ipc launch library link managed memory module multicast narrow occupancy pointer pool process refused
    stream surface tensor_map texture texture_reference word
}

/// The calling thread's current context. [`abi`](crate::abi) has checked that there is one if a function
/// needs it.
pub(crate) fn current() -> Result<Arc<contexts::Context>> {
    contexts::usable()
}

/// Fails if the handle is a default stream and the thread has no context. For functions that check this
/// first.
pub(crate) fn check_default(stream: Handle) -> Result<()> {
    match stream {
        0 | special::LEGACY | special::PER_THREAD => contexts::with_usable(|_| ()),
        _ => Ok(()),
    }
}

/// The stream of a handle. Fails if a kernel has faulted on its device, whatever the thread's context is. For
/// the per-thread variants (`own`), null is the per-thread stream.
pub(crate) fn stream(handle: Handle, own: bool) -> Result<Arc<streams::Stream>> {
    match handle {
        0 if own => streams::per_thread(&current()?),
        0 | special::LEGACY => contexts::usable_legacy(),
        special::PER_THREAD => streams::per_thread(&current()?),
        _ => {
            let stream = streams::STREAMS.get(handle).ok_or(Error::InvalidHandle)?;
            shares::check_stream(&stream)?;
            stream.check()?;
            Ok(stream)
        }
    }
}
