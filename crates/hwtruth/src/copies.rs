//! Recorded answers about asynchronous copies (`tests/async/README.md` has the formats).

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use crate::Error;
use crate::recorder;
use crate::recording::{Header, load};
use crate::sample::Turn;

/// What a case gave: a status, and bytes in hexadecimal where it is 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The driver's status.
    pub status: i32,
    /// The bytes.
    pub bytes: String,
}

/// Outcomes by the names of cases.
pub type Recording = BTreeMap<String, Outcome>;

fn read(bytes: &[u8]) -> Result<Recording, String> {
    let mut all = Recording::new();
    for line in Header::read("anywarp-async 1", bytes)?.lines {
        let mut words = line.split(' ');
        let (name, status) = (words.next(), words.next().and_then(|w| w.parse().ok()));
        let (Some(name), Some(status)) = (name, status) else {
            return Err(format!("a line of another shape: {line:.60}"));
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
/// The recording is absent or not as its README says.
pub fn recorded() -> Result<Recording, Error> {
    load("async/h200.async.zst", read)
}

/// The recorder, built.
pub struct Recorder(recorder::Recorder);

impl Recorder {
    /// Builds the recorder against the `cuda.h` of `include`.
    ///
    /// # Errors
    /// There is no compiler, or it says no.
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

    /// Records what `library` gives on a device of the recording one's capability, with a variable set; only some groups, by commas, or all,
    /// and of the copies those of a turn.
    ///
    /// # Errors
    /// The recorder cannot be run, or the library does not begin.
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
