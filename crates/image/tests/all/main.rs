//! Tests of containers. They are one program, since linking one for each file took longer than building the
//! tests.

#[path = "../support/mod.rs"]
mod support;

mod bundles;
mod containers;
mod elf;
mod robust;
