//! Runs a kernel over a grid of blocks on this machine's cores.
//!
//! [`Workers::run`] hands out blocks by increasing number, so that the lowest unfinished block always runs. Code that never stops midway
//! runs whole ranges of blocks at once; other code is a coroutine a warp, and [`block`] moves the warps of a block from barrier to
//! barrier. When every warp of a block only waits for memory, the worker begins or resumes another block: blocks of a cooperative
//! grid make progress whatever the number of workers.
//!
//! **Architecture invariant:** knows the warp ABI (`wave::abi`), not which API asked nor how code was made.

mod barriers;
mod block;
mod buffer;
pub mod fault;
mod heap;
mod launch;
mod pool;
mod printf;
mod runtime;

pub use fault::{Fault, FaultKind};
pub use heap::Heap;
pub use launch::{Host, Launch};
pub use pool::Workers;
