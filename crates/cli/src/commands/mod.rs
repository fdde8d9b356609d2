//! One file a subcommand.

pub mod cache;
pub mod compile;
pub mod demo;
pub mod hipify;
pub mod info;
pub mod run;
