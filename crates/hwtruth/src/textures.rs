//! Textures' recorded results (`tests/texture/README.md` has the formats).

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Error, tests_folder};

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

fn parse(path: &Path, bytes: &[u8]) -> Result<Recording, Error> {
    let damaged = |reason: &str| Error::Damaged { path: path.to_owned(), reason: reason.to_owned() };
    let end = bytes.windows(5).position(|w| w == b"\nend\n").ok_or_else(|| damaged("no line `end`"))?;
    let (head, rest) = bytes.split_at(end);
    let text = std::str::from_utf8(head).map_err(|_| damaged("the header is no text"))?;
    let mut lines = text.lines();
    if lines.next() != Some("anywarp-texture 1") {
        return Err(damaged("the first line is not `anywarp-texture 1`"));
    }
    let mut at = "\nend\n".len();
    let mut all = Recording::new();
    // Behind the device and the date.
    for line in lines.skip(2) {
        let words: Vec<&str> = line.split(' ').collect();
        let (name, outcome) = match words.as_slice() {
            [name, "ok", _, _, size] => {
                let size: usize = size.parse().map_err(|_| damaged("a size is no number"))?;
                let results = rest.get(at..at + size).ok_or_else(|| damaged("results are missing"))?;
                at += size;
                (name, Outcome::Results(results.to_vec()))
            }
            [name, stage, code] => {
                let code = code.parse().map_err(|_| damaged("a status is no number"))?;
                (name, Outcome::Status { stage: (*stage).to_owned(), code })
            }
            _ => return Err(damaged("a line of another shape")),
        };
        if all.insert((*name).to_owned(), outcome).is_some() {
            return Err(damaged("a case's name occurs twice"));
        }
    }
    Ok(all)
}

/// The hardware's results.
///
/// # Errors
/// The recording is absent or not as its README says.
pub fn recorded() -> Result<Recording, Error> {
    let path = tests_folder("texture/h200.tex.zst");
    let damaged = |reason: String| Error::Damaged { path: path.clone(), reason };
    let file = std::fs::File::open(&path).map_err(|source| Error::Read { path: path.clone(), source })?;
    let mut bytes = Vec::new();
    ruzstd::decoding::StreamingDecoder::new(file)
        .map_err(|e| damaged(e.to_string()))?
        .read_to_end(&mut bytes)
        .map_err(|e| damaged(e.to_string()))?;
    parse(&path, &bytes)
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
        let folder = tests_folder("texture");
        let program = std::env::temp_dir().join(format!("anywarp-texture-{}", std::process::id()));
        let output = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
            .args(["-std=gnu11", "-O1", "-w", "-ffp-contract=off", "-o"])
            .arg(&program)
            .arg("-I")
            .arg(include)
            .args(["cases.c", "coordinates.c", "formats.c", "record.c"].map(|file| folder.join(file)))
            .args(["-ldl", "-lm"])
            .output()
            .map_err(|e| fail("cc", e.to_string()))?;
        if output.status.success() {
            Ok(Recorder { program })
        } else {
            Err(fail("the recorder does not build", String::from_utf8_lossy(&output.stderr).into_owned()))
        }
    }

    /// Records what `library` gives, with a variable set.
    ///
    /// # Errors
    /// The recorder cannot be run, or the library does not begin.
    pub fn record(&self, library: &Path, setting: (&str, &str)) -> Result<Recording, Error> {
        let output = Command::new(&self.program)
            .env("ANYWARP_CACHE_DIR", "off")
            .env(setting.0, setting.1)
            .arg(library)
            .args(["ours", "today"])
            .output()
            .map_err(|e| fail("the recorder", e.to_string()))?;
        if output.status.success() {
            parse(&self.program, &output.stdout)
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
