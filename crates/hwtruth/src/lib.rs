//! The hardware's recorded answers, for tests to compare ours with.
//!
//! - [`instructions`]: thousands of instruction forms with their inputs and the results of a real device
//!   (`tests/hw`).
//! - [`matrix`]: the same for matrix instructions of whole warps (`tests/hw/matrix`).
//! - [`functions`]: the results of the approximate functions on every operand, as sums (also in `tests/hw`),
//!   and [`manual`]: the errors that the PTX manual allows.
//! - [`answers`]: the driver's answers to some three thousand calls, correct and incorrect, and the exported
//!   symbol that `cuGetProcAddress` returns for each version (`tests/probe`).
//! - [`copies`]: asynchronous copies, and the bits of tensor maps (`tests/async`).
//! - [`textures`]: textures and surfaces (`tests/texture`).
//! - [`clusters`]: clusters of blocks (`tests/cluster`).
//!
//! The last four also build the program that made their recording (`recorder`) and run it on our library.
//! [`sample`] decides which of its cases a test runs; [`program`] writes programs that tests run.
//!
//! Only tests use this crate. It knows no other crate.

pub mod answers;
pub mod clusters;
pub mod copies;
pub mod device_library;
pub mod functions;
pub mod instructions;
pub mod manual;
pub mod matrix;
pub mod program;
mod recorder;
mod recording;
pub mod sample;
pub mod textures;

pub use recorder::Kernel;

use std::path::{Path, PathBuf};

/// Why a recording could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file is missing or cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file does not have the format in its README.
    #[error("{path}, line {line}: {reason}")]
    Text {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// A compressed recording cannot be decompressed or is too short.
    #[error("{path}: {reason}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A recorder could not be built or run.
    #[error("{0}")]
    Recorder(String),
}

/// A folder in the repository's `tests`.
fn tests_folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(name)
}

/// A text file in `tests`.
fn read_text(name: &str) -> Result<String, Error> {
    let path = tests_folder(name);
    std::fs::read_to_string(&path).map_err(|source| Error::Read { path, source })
}

/// The rows of a table in `tests`, converted by `row` from their N tab-separated columns; comments are
/// skipped.
fn rows<T, const N: usize>(
    name: &str,
    row: impl Fn([&str; N]) -> Result<T, String>,
) -> Result<Vec<T>, Error> {
    let text = read_text(name)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
    lines
        .map(|(number, line)| {
            let columns: Vec<&str> = line.split('\t').collect();
            <[&str; N]>::try_from(columns)
                .map_err(|columns| format!("expected {N} columns, found {}", columns.len()))
                .and_then(&row)
                .map_err(|reason| Error::Text { path: tests_folder(name), line: number + 1, reason })
        })
        .collect()
}

/// The pseudo-random word of a counter; `tests/record/splitmix.h` is the same in C.
fn splitmix(counter: u64) -> u64 {
    let z = counter.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}
