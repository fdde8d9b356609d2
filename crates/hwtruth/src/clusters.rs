//! Recorded behaviour of clusters of blocks (`tests/cluster/README.md` describes the formats).

use std::collections::BTreeMap;
use std::path::Path;

use crate::recorder;
use crate::recording::{Header, load};
use crate::{Error, tests_folder};

/// Results by case name: `ok` and the words, or the call that failed and its status.
pub type Recording = BTreeMap<String, String>;

fn read(bytes: &[u8]) -> Result<Recording, String> {
    let mut all = Recording::new();
    for line in Header::read("anywarp-cluster 1", bytes)?.lines {
        let (name, rest) = line.split_once(' ').ok_or_else(|| format!("malformed line: {line:.60}"))?;
        if all.insert(name.to_owned(), rest.to_owned()).is_some() {
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
    load("cluster/h200.txt", read)
}

/// The words that a case returned, each with its number of repetitions; `None` if it returned none.
pub fn words(result: &str) -> Option<Vec<(u32, usize)>> {
    let word = |text: &str| {
        let (word, count) = text.split_once('*').unwrap_or((text, "1"));
        Some((u32::from_str_radix(word, 16).ok()?, count.parse().ok()?))
    };
    result.strip_prefix("ok ")?.split(' ').map(word).collect()
}

/// The recorder, built.
pub struct Recorder(recorder::Recorder);

impl Recorder {
    /// Builds the recorder against the `cuda.h` in `include`.
    ///
    /// # Errors
    /// There is no compiler, or compilation fails.
    pub fn build(include: &Path) -> Result<Recorder, Error> {
        recorder::Recorder::build(include, "cluster", &[]).map(Recorder)
    }

    /// The kernels of all cases.
    ///
    /// # Errors
    /// The recorder cannot be run.
    pub fn kernels(&self) -> Result<Vec<recorder::Kernel>, Error> {
        self.0.kernels(&[&"--ptx", &tests_folder("cluster/cases.txt")])
    }

    /// Records the results of `library` on a device with the recorded capability, with a variable set.
    ///
    /// # Errors
    /// The recorder cannot be run, or the library does not initialise.
    pub fn record(&self, library: &Path, setting: (&str, &str)) -> Result<Recording, Error> {
        let cases = tests_folder("cluster/cases.txt");
        self.0.run(&[recorder::CAPABILITY, setting], &[&library, &cases, &"ours", &"today"], read)
    }
}
