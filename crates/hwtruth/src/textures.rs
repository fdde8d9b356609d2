//! Textures' recorded results (`tests/texture/README.md` has the formats).

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use crate::Error;
use crate::recorder;
use crate::recording::{Header, load};
use crate::sample::Turn;

/// What a case gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The results of all threads, and what a surface held afterwards: little-endian words.
    Results(Vec<u8>),
    /// A call did not succeed.
    Status {
        /// Where: loading the module, making the memory or the object, or running.
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

/// Outcomes by the names of cases.
pub type Recording = BTreeMap<String, Outcome>;

fn read(bytes: &[u8]) -> Result<Recording, String> {
    let mut header = Header::read("anywarp-texture 1", bytes)?;
    let mut all = Recording::new();
    for line in header.lines.clone() {
        let words: Vec<&str> = line.split(' ').collect();
        let (name, outcome) = match words.as_slice() {
            [name, "ok", _, _, size] => {
                let size = size.parse().map_err(|_| format!("{name}: the size is no number"))?;
                (name, Outcome::Results(header.take(name, size)?.to_vec()))
            }
            [name, stage, code] => {
                let code = code.parse().map_err(|_| format!("{name}: the status is no number"))?;
                (name, Outcome::Status { stage: (*stage).to_owned(), code })
            }
            _ => return Err(format!("a line of another shape: {line:.60}")),
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
/// The recording is absent or not as its README says.
pub fn recorded() -> Result<Recording, Error> {
    load("texture/h200.tex.zst", read)
}

/// The recorder, built.
pub struct Recorder(recorder::Recorder);

impl Recorder {
    /// Builds the recorder against the `cuda.h` of `include`.
    ///
    /// # Errors
    /// There is no compiler, or it says no.
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

    /// Records what `library` gives, with a variable set: the cases of a turn.
    ///
    /// # Errors
    /// The recorder cannot be run, or the library does not begin.
    pub fn record(&self, library: &Path, setting: (&str, &str), turn: Turn) -> Result<Recording, Error> {
        self.0.run(&[setting, (recorder::TURN, &turn.variable())], &[&library, &"ours", &"today"], read)
    }
}
