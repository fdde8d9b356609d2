//! Random kernels give identical results interpreted and compiled, with one worker and several.
//!
//! `RANDOM_FIRST` and `RANDOM_COUNT` select other kernels than the first few; a failing kernel is reduced and
//! printed. The fuzz target `kernels` generates kernels in the same way.

use crate::compare::{check, reduced};
use crate::generator::{Case, Choices};

/// Number of kernels unless `RANDOM_COUNT` gives it: as many as it takes to use every way of running them,
/// and more in a long run.
fn count() -> u64 {
    if hwtruth::sample::long() { 24 } else { 4 }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |v| v.parse().unwrap_or_else(|e| panic!("{name}={v}: {e}")))
}

#[test]
fn random_kernels_run_alike() {
    let first = number("RANDOM_FIRST", 0);
    let mut failures = Vec::new();
    for seed in first..first + number("RANDOM_COUNT", count()) {
        let case = Case::new(&mut Choices::of_seed(seed));
        if check(&case).is_err() {
            let (small, error) = reduced(&case);
            failures.push(format!("kernel {seed}: {error}\n{:?}\n{}", small.body, small.text()));
        }
    }
    assert!(failures.is_empty(), "{} kernels fail\n{}", failures.len(), failures.join("\n"));
}

/// The first inputs of a fuzzer: kernels made from a few bytes.
#[test]
fn kernels_of_bytes_run_alike() {
    for bytes in [&b""[..], b"\x01\x02", b"a loop and a branch or two"] {
        let case = Case::new(&mut Choices::of_bytes(bytes));
        assert_eq!(check(&case), Ok(()), "{}", case.text());
    }
}
