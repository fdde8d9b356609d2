//! Recorded answers about asynchronous copies (`tests/async/README.md` describes the formats).

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use crate::Error;
use crate::recorder;
use crate::recording::{Header, load};
use crate::sample::Turn;

/// The outcome of a case: a status, and bytes in hexadecimal if it is 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The driver's status.
    pub status: i32,
    /// The bytes.
    pub bytes: String,
}

/// Outcomes by case name.
pub type Recording = BTreeMap<String, Outcome>;

fn read(bytes: &[u8]) -> Result<Recording, String> {
    let mut all = Recording::new();
    for line in Header::read("anywarp-async 1", bytes)?.lines {
        let mut words = line.split(' ');
        let (name, status) = (words.next(), words.next().and_then(|w| w.parse().ok()));
        let (Some(name), Some(status)) = (name, status) else {
            return Err(format!("malformed line: {line:.60}"));
        };
        let bytes = words.next().unwrap_or_default().to_owned();
        if all.insert(name.to_owned(), Outcome { status, bytes }).is_some() {
            return Err(format!("{name} occurs twice"));
        }
    }
    Ok(all)
}

/// The hardware's answers.
///
/// # Errors
/// The recording is missing or does not have the format in its README.
pub fn recorded() -> Result<Recording, Error> {
    load("async/h200.async.zst", read)
}

/// The recorder, built.
pub struct Recorder(recorder::Recorder);

impl Recorder {
    /// Builds the recorder against the `cuda.h` in `include`.
    ///
    /// # Errors
    /// There is no compiler, or compilation fails.
    pub fn build(include: &Path) -> Result<Recorder, Error> {
        recorder::Recorder::build(include, "async", &[]).map(Recorder)
    }

    /// The kernels of all cases.
    ///
    /// # Errors
    /// The recorder cannot be run.
    pub fn kernels(&self) -> Result<Vec<recorder::Kernel>, Error> {
        self.0.kernels(&[&"--ptx"])
    }

    /// Records the results of `library` on a device with the recorded capability, with a variable set.
    /// `groups` names groups, separated by commas, or is empty for all; only copies of `turn` run.
    ///
    /// # Errors
    /// The recorder cannot be run, or the library does not initialise.
    pub fn record(
        &self,
        library: &Path,
        setting: (&str, &str),
        groups: Option<&str>,
        turn: Turn,
    ) -> Result<Recording, Error> {
        let mut arguments: Vec<&dyn AsRef<OsStr>> = vec![&library, &"ours", &"today"];
        if let Some(groups) = &groups {
            arguments.push(groups);
        }
        self.0.run(&[recorder::CAPABILITY, setting, (recorder::TURN, &turn.variable())], &arguments, read)
    }
}
