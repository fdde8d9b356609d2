//! Tests of kernels that need no process of their own. They are one program, since linking one for each file
//! took longer than building the tests.

#[path = "../support/compare.rs"]
mod compare;
#[path = "../support/formats.rs"]
mod formats;
#[path = "../support/function.rs"]
mod function;
#[path = "../support/generator.rs"]
mod generator;
#[macro_use]
#[path = "../support/groups.rs"]
mod groups;
#[path = "../support/launch.rs"]
mod launch;
#[path = "../support/memory.rs"]
mod memory;
#[path = "../support/run.rs"]
mod run;
#[path = "../support/warps.rs"]
mod warps;

mod assembly;
mod beyond;
mod blocks;
mod bound;
mod branches;
mod front;
mod functions;
mod hardware;
mod large;
mod manual;
mod matrix;
mod products;
mod random;
mod robust;
