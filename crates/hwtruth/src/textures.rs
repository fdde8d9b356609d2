//! Recorded results of textures (`tests/texture/README.md` describes the formats).

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use crate::Error;
use crate::recorder;
use crate::recording::{Header, load};
use crate::sample::Turn;

/// The outcome of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The results of all threads, and the final contents of a surface: little-endian words.
    Results(Vec<u8>),
    /// A call failed.
    Status {
        /// The stage: loading the module, creating the memory or the object, or running.
        stage: String,
        /// The status.
        code: u32,
    },
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Results(bytes) => write!(f, "{} words", bytes.len() / 4),
            Outcome::Status { stage, code } => write!(f, "status {code} at the {stage}"),
        }
    }
}

/// Outcomes by case name.
pub type Recording = BTreeMap<String, Outcome>;

fn read(bytes: &[u8]) -> Result<Recording, String> {
    let mut header = Header::read("anywarp-texture 1", bytes)?;
    let mut all = Recording::new();
    for line in header.lines.clone() {
        let words: Vec<&str> = line.split(' ').collect();
        let (name, outcome) = match words.as_slice() {
            [name, "ok", _, _, size] => {
                let size = size.parse().map_err(|_| format!("{name}: the size is not a number"))?;
                (name, Outcome::Results(header.take(name, size)?.to_vec()))
            }
            [name, stage, code] => {
                let code = code.parse().map_err(|_| format!("{name}: the status is not a number"))?;
                (name, Outcome::Status { stage: (*stage).to_owned(), code })
            }
            _ => return Err(format!("malformed line: {line:.60}")),
        };
        if all.insert((*name).to_owned(), outcome).is_some() {
            return Err(format!("{name} occurs twice"));
        }
    }
    Ok(all)
}

/// The hardware's results.
///
/// # Errors
/// The recording is missing or does not have the format in its README.
pub fn recorded() -> Result<Recording, Error> {
    load("texture/h200.tex.zst", read)
}

/// The recorder, built.
pub struct Recorder(recorder::Recorder);

impl Recorder {
    /// Builds the recorder against the `cuda.h` in `include`.
    ///
    /// # Errors
    /// There is no compiler, or compilation fails.
    pub fn build(include: &Path) -> Result<Recorder, Error> {
        recorder::Recorder::build(include, "texture", &["-ffp-contract=off"]).map(Recorder)
    }

    /// The kernels of all cases.
    ///
    /// # Errors
    /// The recorder cannot be run.
    pub fn kernels(&self) -> Result<Vec<recorder::Kernel>, Error> {
        self.0.kernels(&[&"--ptx"])
    }

    /// Records the results of `library` for the cases of a turn, with a variable set.
    ///
    /// # Errors
    /// The recorder cannot be run, or the library does not initialise.
    pub fn record(&self, library: &Path, setting: (&str, &str), turn: Turn) -> Result<Recording, Error> {
        self.0.run(&[setting, (recorder::TURN, &turn.variable())], &[&library, &"ours", &"today"], read)
    }
}
