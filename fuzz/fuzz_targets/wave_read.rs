//! Any text as wave IR: no panic, what is printed is read, and what keeps the rules of the IR keeps them
//! through its passes.
//!
//! How to run it: CONTRIBUTING.md, "Fuzzing".

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/wave/tests/support/held.rs"]
mod held;

fuzz_target!(|bytes: &[u8]| held::hold(&String::from_utf8_lossy(bytes)));
