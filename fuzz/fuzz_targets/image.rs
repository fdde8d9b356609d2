//! Any bytes, taken apart in every way: no panic, no endless loop, and what is found lies in them.
//!
//! How to run it: CONTRIBUTING.md, "Fuzzing".

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/image/tests/support/apart.rs"]
mod apart;

fuzz_target!(|bytes: &[u8]| apart::take_apart(bytes));
