//! Tests of the translation. They are one program, since linking one for each file took longer than building
//! the tests.

mod build_files;
mod fixtures;
mod members;
mod packed;
mod project;
mod robust;
mod tables;
