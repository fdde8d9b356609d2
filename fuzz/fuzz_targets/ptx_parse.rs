//! No bytes make the PTX parser panic, and what it prints it can read.
//!
//! How to run it: CONTRIBUTING.md, "Fuzzing".
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let source = ptx::text_of(bytes);
    match ptx::parse(&source) {
        Ok(module) => {
            let printed = module.to_string();
            assert!(ptx::parse(&printed).is_ok(), "printed text is illegal:\n{printed}");
        }
        Err(errors) => {
            for error in &errors {
                error.render("input", &source, false);
            }
        }
    }
});
