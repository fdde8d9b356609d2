//! What clusters of blocks do (`tests/cluster/README.md` has the formats).

use std::collections::BTreeMap;
use std::path::Path;

use crate::recorder;
use crate::recording::{Header, load};
use crate::{Error, tests_folder};

/// What cases gave, by their names: `ok` and the words, or where a call did not succeed and its status.
pub type Recording = BTreeMap<String, String>;

fn read(bytes: &[u8]) -> Result<Recording, String> {
    let mut all = Recording::new();
    for line in Header::read("anywarp-cluster 1", bytes)?.lines {
        let (name, rest) =
            line.split_once(' ').ok_or_else(|| format!("a line of another shape: {line:.60}"))?;
        if all.insert(name.to_owned(), rest.to_owned()).is_some() {
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
    load("cluster/h200.txt", read)
}

/// The words of a case that gave some, each with how often it comes.
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
    /// Builds the recorder against the `cuda.h` of `include`.
    ///
    /// # Errors
    /// There is no compiler, or it says no.
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

    /// Records what `library` gives on a device of the recording one's capability, with a variable set.
    ///
    /// # Errors
    /// The recorder cannot be run, or the library does not begin.
    pub fn record(&self, library: &Path, setting: (&str, &str)) -> Result<Recording, Error> {
        let cases = tests_folder("cluster/cases.txt");
        self.0.run(&[recorder::CAPABILITY, setting], &[&library, &cases, &"ours", &"today"], read)
    }
}
