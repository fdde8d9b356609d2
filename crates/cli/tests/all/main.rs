//! Tests of the command, the documents and the headers. They are one program, since linking one for each file
//! took longer than building the tests.

#[path = "../support/mod.rs"]
mod support;

mod bundle;
mod cache;
mod cc;
mod cc_hip;
mod commands;
mod documents;
mod files;
mod header;
mod layers;
mod port;
mod prof;
mod programs;
mod projects;
mod run;
mod runtime_header;
mod smi;
