//! The process that the driver runs in: what the driver reads from it and changes in it.
//!
//! - [`options`] reads the environment; no other code does;
//! - [`processor`] detects vector instructions;
//! - [`trust`] decides whether other users can have written a file that is to be loaded as code;
//! - [`folder`] reads and writes files so that no other user can plant or redirect them;
//! - [`limits`] reads how much memory the process may still take;
//! - [`load`] reads how busy the machine's processors are;
//! - [`programs`] runs the user's compiler;
//! - [`stack`] tells how much stack a thread has left;
//! - [`threads`] makes sure that the signals that kernels need reach the threads that run them;
//! - [`mapped`] keeps the process alive when a file that it has mapped is truncated;
//! - [`moving`] replaces pages that other threads write to;
//! - [`descriptor`] keeps the driver's files away from the numbers of the standard ones;
//! - [`mod@write`] turns a limit on file sizes into an error instead of a signal that ends the process.
//!
//! **Architecture invariant:** this crate deals with the operating system and must not depend on any other
//! crate of the workspace.

pub mod descriptor;
pub mod folder;
pub mod limits;
pub mod load;
pub mod mapped;
pub mod moving;
pub mod options;
pub mod processor;
pub mod programs;
pub mod stack;
pub mod threads;
pub mod trust;
pub mod write;
