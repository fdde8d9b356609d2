//! Kernels generated from the fuzzer's bytes give identical results on every engine.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/cpu/tests/support/compare.rs"]
mod compare;
#[path = "../../crates/cpu/tests/support/generator.rs"]
mod generator;
#[path = "../../crates/cpu/tests/support/launch.rs"]
mod launch;
#[path = "../../crates/cpu/tests/support/memory.rs"]
mod memory;

fuzz_target!(|bytes: &[u8]| {
    let case = generator::Case::new(&mut generator::Choices::of_bytes(bytes));
    if let Err(error) = compare::check(&case) {
        let (small, _) = compare::reduced(&case);
        panic!("{error}\n{}", small.text());
    }
});
