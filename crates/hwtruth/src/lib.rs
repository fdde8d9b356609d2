//! What the hardware answered, for tests to hold ours against.
//!
//! - [`instructions`]: thousands of instruction forms with the inputs they were given and the results of a real device
//!   (`tests/hw`).
//! - [`matrix`]: the same for matrix instructions of whole warps (`tests/hw/matrix`).
//! - [`functions`]: what the approximate functions give on every operand, as sums (`tests/hw` too), and [`manual`]: the errors that the PTX
//!   manual allows them.
//! - [`answers`]: the driver's answers to some three thousand calls, right and wrong, and which exported symbol
//!   `cuGetProcAddress` gives by version (`tests/probe`).
//!
//! - [`copies`]: what asynchronous copies do, and the bits of tensor maps (`tests/async`).
//! - [`textures`]: what textures and surfaces give (`tests/texture`).
//! - [`clusters`]: what clusters of blocks do (`tests/cluster`).
//!
//! Only tests use this crate; it knows none of the others.

pub mod answers;
pub mod clusters;
pub mod copies;
pub mod functions;
pub mod instructions;
pub mod manual;
pub mod matrix;
pub mod textures;

use std::io::Read;
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
    /// The probe could not be built or run.
    #[error("{0}")]
    Probe(String),
}

/// A folder of the repository's `tests`.
fn tests_folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(name)
}

fn read_text(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })
}

/// A file's contents before zstd.
fn decompressed(path: &Path) -> Result<Vec<u8>, Error> {
    let damaged = |reason: String| Error::Damaged { path: path.to_owned(), reason };
    let file = std::fs::File::open(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    let mut bytes = Vec::new();
    ruzstd::decoding::StreamingDecoder::new(file)
        .map_err(|e| damaged(e.to_string()))?
        .read_to_end(&mut bytes)
        .map_err(|e| damaged(e.to_string()))?;
    Ok(bytes)
}

/// The lines of a recording before `end`, and what comes after it.
fn split_header(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let end = bytes.windows(5).position(|w| w == b"\nend\n")?;
    Some((std::str::from_utf8(bytes.get(..end)?).ok()?, bytes.get(end + 5..)?))
}

fn text_error(path: &Path, line: usize, reason: impl Into<String>) -> Error {
    Error::Text { path: path.to_owned(), line, reason: reason.into() }
}
