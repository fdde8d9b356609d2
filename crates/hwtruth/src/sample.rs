//! Which of its cases a test runs: all, or its part of them.
//!
//! Several tests often run the same cases, each another way (interpreted, compiled for AVX-512, for AVX2). They take turns then: each case
//! is run by one of them, which a hash of its name decides, so that every case runs, and every way is used on every family. With
//! `ANYWARP_TEST_LONG=1` all of them run all cases.

use std::sync::LazyLock;

/// Whether tests run all their cases: `ANYWARP_TEST_LONG` is set and not `0`. The only place that reads it.
pub fn long() -> bool {
    static LONG: LazyLock<bool> =
        LazyLock::new(|| std::env::var_os("ANYWARP_TEST_LONG").is_some_and(|v| !v.is_empty() && v != "0"));
    *LONG
}

/// One of several tests that share cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    number: u64,
    of: u64,
}

impl Turn {
    /// All cases.
    pub const ALL: Turn = Turn { number: 0, of: 1 };

    /// The test `number`, from 0, `of` so many; all cases in a long run.
    ///
    /// # Panics
    /// `of` is 0.
    pub fn new(number: usize, of: usize) -> Turn {
        assert!(of > 0, "a turn of none");
        if long() { Turn::ALL } else { Turn { number: (number % of) as u64, of: of as u64 } }
    }

    /// Whether this test runs the case of this name.
    pub fn takes(self, case: &str) -> bool {
        hash(case) % self.of == self.number
    }

    /// The turn as the recorders read it from `RECORD_TURN`.
    pub(crate) fn variable(self) -> String {
        format!("{}/{}", self.number, self.of)
    }
}

/// The upper half of FNV-1a, as `tests/record/driver.c` has it in C.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
        >> 32
}
