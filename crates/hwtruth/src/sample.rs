//! Which of its cases a test runs: all, or its part of them.
//!
//! Several tests often run the same cases, each another way. Where all ways cost the same they take turns:
//! each case is run by one of them, which a hash of its name decides. To compile a kernel takes ten times as
//! long as to interpret it, though: then the interpreter runs every case, and compiled code the [`PART`]th of
//! them that a hash chooses. Tests that go through numbers (random texts, seeds) take fewer. With
//! `ANYWARP_TEST_LONG=1` all of them run all cases.

use std::sync::LazyLock;

/// Whether tests run all their cases: `ANYWARP_TEST_LONG` is set and not `0`. The only place that reads it.
pub fn long() -> bool {
    static LONG: LazyLock<bool> =
        LazyLock::new(|| std::env::var_os("ANYWARP_TEST_LONG").is_some_and(|v| !v.is_empty() && v != "0"));
    *LONG
}

/// All in a long run, and some otherwise: how many rounds, inputs or seeds a test takes.
pub fn of<T>(all: T, some: T) -> T {
    if long() { all } else { some }
}

/// Compiled code runs one of so many cases that the interpreter runs all of.
pub const PART: usize = 24;

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

    /// Of one of several ways to run compiled code, with a number: its [`PART`]th of the cases; all in a long
    /// run. The interpreter runs all.
    pub fn part(number: usize) -> Turn {
        Turn::new(number, PART)
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
