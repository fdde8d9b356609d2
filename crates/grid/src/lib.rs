//! Runs a kernel ([`wave::abi::Code`]) over a grid of blocks.
//!
//! A [`Workers`] pool takes a [`Launch`] and hands out blocks, in increasing order, to its threads and to the
//! calling thread. One thread runs a whole block. A kernel that stops at barriers is a coroutine per warp,
//! and the block's worker runs its warps in turn. If all warps of a block only wait for memory to change, its
//! worker starts or resumes other blocks, so that every block of a cooperative grid makes progress, whatever
//! the number of workers.
//!
//! Kernels run on our own stacks. A memory fault, a trap or endless recursion in a kernel ends the launch
//! with a [`Fault`] that says what happened and where; the process and its own signal handlers are not
//! affected.
//!
//! **Architecture invariant:** this crate knows neither which API launched a kernel nor how its code was
//! made.

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!("grid runs on x86-64 Linux only");

mod block;
mod code;
mod enter;
mod fault;
mod fork;
mod format;
mod futex;
mod guard;
mod handlers;
mod heap;
mod job;
mod launch;
mod memory;
mod multiprocessor;
mod pace;
mod pool;
mod runtime;
mod signals;
mod spare;
mod stretches;
mod watchdog;

pub use code::{CodeRange, Place, register_code_range};
pub use fault::{Fault, FaultKind};
pub use format::Reader;
pub use format::format as format_printf;
pub use heap::Heap;
pub use launch::{DeviceCall, Host, Launch, Stats};
pub use memory::{GuardedPages, Inaccessible, copy_guarded, is_accessible};
pub use pool::{Config, Workers};
pub use signals::{catch_faults, ready};
