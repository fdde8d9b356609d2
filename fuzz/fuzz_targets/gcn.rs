//! Reads arbitrary bytes as AMD code objects: no panic, no endless loop.
//!
//! For how to run it, see CONTRIBUTING.md, "Fuzzing".

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/gcn/tests/support/apart.rs"]
mod apart;

fuzz_target!(|bytes: &[u8]| apart::take_apart(bytes));
