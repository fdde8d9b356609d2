//! What the hardware answered, for tests to hold ours against.
//!
//! - [`instructions`]: thousands of instruction forms with the inputs they were given and the results of a real device
//!   (`tests/hw`).
//! - [`matrix`]: the same for matrix instructions of whole warps (`tests/hw/matrix`).
//! - [`functions`]: what the approximate functions give on every operand, as sums (`tests/hw` too), and [`manual`]: the errors that the PTX
//!   manual allows them.
//! - [`answers`]: the driver's answers to some three thousand calls, right and wrong, and which exported symbol
//!   `cuGetProcAddress` gives by version (`tests/probe`).
//! - [`copies`]: what asynchronous copies do, and the bits of tensor maps (`tests/async`).
//! - [`textures`]: what textures and surfaces give (`tests/texture`).
//! - [`clusters`]: what clusters of blocks do (`tests/cluster`).
//!
//! The last four also build the program that made their recording (`recorder`), so that it asks our library the same.
//!
//! [`sample`] says which of its cases a test runs.
//!
//! Only tests use this crate; it knows none of the others.

pub mod answers;
pub mod clusters;
pub mod copies;
pub mod functions;
pub mod instructions;
pub mod manual;
pub mod matrix;
mod recorder;
mod recording;
pub mod sample;
pub mod textures;

pub use recorder::Kernel;

use std::path::{Path, PathBuf};

/// Why a recording could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file is absent or cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file's text is not what its README says.
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

/// A folder of the repository's `tests`.
fn tests_folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(name)
}

/// A text of `tests`.
fn read_text(name: &str) -> Result<String, Error> {
    let path = tests_folder(name);
    std::fs::read_to_string(&path).map_err(|source| Error::Read { path, source })
}

/// The rows of a table of `tests`, as `row` understands their N columns by tabs; comments are passed over.
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
                .map_err(|columns| format!("{N} columns expected, there are {}", columns.len()))
                .and_then(&row)
                .map_err(|reason| Error::Text { path: tests_folder(name), line: number + 1, reason })
        })
        .collect()
}

/// The word of a counter, as `tests/record/splitmix.h` has it in C.
fn splitmix(counter: u64) -> u64 {
    let z = counter.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}
