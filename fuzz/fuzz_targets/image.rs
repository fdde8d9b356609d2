//! Takes arbitrary bytes apart in every way: no panic, no endless loop, and everything that is found is
//! inside the input.
//!
//! For how to run it, see CONTRIBUTING.md, "Fuzzing".

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/image/tests/support/apart.rs"]
mod apart;

fuzz_target!(|bytes: &[u8]| apart::take_apart(bytes));
