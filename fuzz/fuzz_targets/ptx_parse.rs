//! No bytes make the PTX parser panic; it can parse what it prints; and bodies parsed separately equal those
//! parsed in place.
//!
//! For how to run it, see CONTRIBUTING.md, "Fuzzing".
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let source = ptx::text_of(bytes);
    let read = ptx::parse(&source);
    let backwards = |count: usize, work: &(dyn Fn(usize) + Sync)| (0..count).rev().for_each(work);
    assert!(ptx::parse_by(&source, &backwards) == read, "bodies parsed separately differ");
    match read {
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
