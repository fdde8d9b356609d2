//! Decides which of its cases a test runs: all, or a part of them.
//!
//! Several tests often run the same cases in different ways. If all ways cost the same, the tests take turns:
//! a hash of the case's name decides which of them runs it. Compiling a kernel takes ten times as long as
//! interpreting it, though: there the interpreter runs every case, and compiled code the [`PART`]th of them
//! that the hash selects. Tests that iterate over numbers (random texts, seeds) or files use fewer. With
//! `ANYWARP_TEST_LONG=1`, as in `.ci/run`, all tests run all cases. A case that can be compiled in many ways
//! (targets, levels) then runs in a third of them, chosen by the hash; with `ANYWARP_TEST_LONG=all`, in all.

use std::sync::LazyLock;

/// What tests run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Extent {
    Sample,
    Long,
    All,
}

/// Only this function reads `ANYWARP_TEST_LONG`.
fn extent() -> Extent {
    static EXTENT: LazyLock<Extent> = LazyLock::new(|| {
        let value = std::env::var("ANYWARP_TEST_LONG").unwrap_or_default();
        match value.as_str() {
            "" | "0" => Extent::Sample,
            "all" => Extent::All,
            _ => Extent::Long,
        }
    });
    *EXTENT
}

/// Whether tests run all their cases: `ANYWARP_TEST_LONG` is set and not `0`.
pub fn long() -> bool {
    extent() >= Extent::Long
}

/// Whether tests also run every case in every way: `ANYWARP_TEST_LONG=all`.
pub fn every_way() -> bool {
    extent() == Extent::All
}

/// `all` in a long run, otherwise `some`: a number of rounds, inputs or seeds.
pub fn of<T>(all: T, some: T) -> T {
    if long() { all } else { some }
}

/// Compiled code runs one in this many of the cases that the interpreter runs.
pub const PART: usize = 48;

/// The part of shared cases that one of several tests runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    number: u64,
    of: u64,
}

impl Turn {
    /// Every case.
    pub const ALL: Turn = Turn { number: 0, of: 1 };

    /// The part of test `number` (from 0) `of` this many; every case in a long run.
    ///
    /// # Panics
    /// If `of` is 0.
    pub fn new(number: usize, of: usize) -> Turn {
        assert!(of > 0, "cases cannot be shared by 0 tests");
        if long() { Turn::ALL } else { Turn { number: (number % of) as u64, of: of as u64 } }
    }

    /// The part for one of several ways to run compiled code, by number: one [`PART`]th of the cases, or
    /// every case in a long run. The interpreter runs all.
    pub fn part(number: usize) -> Turn {
        Turn::new(number, PART)
    }

    /// The part for one of several ways that cost as much as all others together: cases are shared in a long
    /// run too, and every way runs every case only in [`every_way`].
    ///
    /// # Panics
    /// If `of` is 0.
    pub fn way(number: usize, of: usize) -> Turn {
        assert!(of > 0, "cases cannot be shared by 0 ways");
        if every_way() { Turn::ALL } else { Turn { number: (number % of) as u64, of: of as u64 } }
    }

    /// Whether this test runs the case with this name.
    pub fn takes(self, case: &str) -> bool {
        hash(case) % self.of == self.number
    }

    /// The turn as the recorders read it from `RECORD_TURN`.
    pub(crate) fn variable(self) -> String {
        format!("{}/{}", self.number, self.of)
    }
}

/// The upper half of FNV-1a; `tests/record/driver.c` is the same in C.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
        >> 32
}
