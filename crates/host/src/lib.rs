//! The process that the driver lives in, and what the driver may take from it and do to it.
//!
//! - [`options`] reads the environment, the only place that does;
//! - [`processor`] tells which vector instructions there are;
//! - [`trust`] decides whether other users could have written a file that is to be loaded as code;
//! - [`folder`] reads and writes files so that no other user can plant or redirect them;
//! - [`threads`] lets the signals that kernels need reach the threads that run them;
//! - [`mod@write`] turns a limit on file sizes into an error instead of the end of the process.
//!
//! **Architecture invariant:** knows the operating system; must not depend on any other crate of ours.

pub mod folder;
pub mod options;
pub mod processor;
pub mod threads;
pub mod trust;
pub mod write;
