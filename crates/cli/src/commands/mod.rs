//! The subcommands, one file each.

pub mod bundle;
pub mod cache;
pub mod cc;
pub mod check;
pub mod compile;
pub mod demo;
pub mod extract;
pub mod hipify;
pub mod info;
pub mod prof;
pub mod run;
pub mod smi;
