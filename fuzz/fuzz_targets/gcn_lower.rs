//! Lowers the kernels of arbitrary code objects: no panic, and what is lowered keeps the rules of wave IR.
//!
//! For how to run it, see CONTRIBUTING.md, "Fuzzing".

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/gcn-lower/tests/support/lowered.rs"]
mod lowered;

fuzz_target!(|bytes: &[u8]| {
    lowered::lower_all(bytes);
});
