//! Recorded answers about asynchronous copies (`tests/async/README.md` has the formats).

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Error, tests_folder};

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

fn parse(path: &Path, text: &str) -> Result<Recording, Error> {
    let damaged = |reason: String| Error::Damaged { path: path.to_owned(), reason };
    let mut lines = text.lines();
    if lines.next() != Some("anywarp-async 1") {
        return Err(damaged("the first line is not `anywarp-async 1`".into()));
    }
    let mut all = Recording::new();
    // Behind the device and the date.
    for line in lines.skip(2) {
        if line == "end" {
            return Ok(all);
        }
        let mut words = line.split(' ');
        let (name, status) = (words.next(), words.next().and_then(|w| w.parse().ok()));
        let (Some(name), Some(status)) = (name, status) else {
            return Err(damaged(format!("a line of another shape: {line:.60}")));
        };
        let bytes = words.next().unwrap_or_default().to_owned();
        if all.insert(name.to_owned(), Outcome { status, bytes }).is_some() {
            return Err(damaged(format!("{name} occurs twice")));
        }
    }
    Err(damaged("no line `end`".into()))
}

/// The hardware's answers.
///
/// # Errors
/// The recording is absent or not as its README says.
pub fn recorded() -> Result<Recording, Error> {
    let path = tests_folder("async/h200.async.zst");
    let damaged = |reason: String| Error::Damaged { path: path.clone(), reason };
    let file = std::fs::File::open(&path).map_err(|source| Error::Read { path: path.clone(), source })?;
    let mut text = String::new();
    ruzstd::decoding::StreamingDecoder::new(file)
        .map_err(|e| damaged(e.to_string()))?
        .read_to_string(&mut text)
        .map_err(|e| damaged(e.to_string()))?;
    parse(&path, &text)
}

/// The recorder, built; its file goes with it.
pub struct Recorder {
    program: PathBuf,
}

fn fail(what: &str, reason: String) -> Error {
    Error::Probe(format!("{what}: {reason}"))
}

impl Recorder {
    /// Builds the recorder with `cc` against the `cuda.h` of `include`.
    ///
    /// # Errors
    /// The compiler cannot be run, or says no.
    pub fn build(include: &Path) -> Result<Recorder, Error> {
        let folder = tests_folder("async");
        let program = std::env::temp_dir().join(format!("anywarp-async-{}", std::process::id()));
        let output = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
            .args(["-std=gnu11", "-O1", "-w", "-o"])
            .arg(&program)
            .arg("-I")
            .arg(include)
            .args(["encode.c", "barrier.c", "copies.c", "main.c"].map(|file| folder.join(file)))
            .arg("-ldl")
            .output()
            .map_err(|e| fail("cc", e.to_string()))?;
        if output.status.success() {
            Ok(Recorder { program })
        } else {
            Err(fail("the recorder does not build", String::from_utf8_lossy(&output.stderr).into_owned()))
        }
    }

    /// Records what `library` gives, with variables set; only some groups, by commas, or all.
    ///
    /// # Errors
    /// The recorder cannot be run, or the library does not begin.
    pub fn record(
        &self,
        library: &Path,
        settings: &[(&str, &str)],
        groups: Option<&str>,
    ) -> Result<Recording, Error> {
        let output = Command::new(&self.program)
            .env("ANYWARP_CACHE_DIR", "off")
            .env("ANYWARP_COMPUTE_CAPABILITY", "9.0")
            .envs(settings.iter().copied())
            .arg(library)
            .args(["ours", "today"])
            .args(groups)
            .output()
            .map_err(|e| fail("the recorder", e.to_string()))?;
        if output.status.success() {
            parse(&self.program, &String::from_utf8_lossy(&output.stdout))
        } else {
            Err(fail("the recorder", String::from_utf8_lossy(&output.stderr).into_owned()))
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // A leftover in the temporary folder does no harm.
        let _ = std::fs::remove_file(&self.program);
    }
}
