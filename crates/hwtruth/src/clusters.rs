//! What clusters of blocks do (`tests/cluster/README.md` has the formats).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Error, read_text, tests_folder, text_error};

/// What cases gave, by their names: `ok` and the words, or where a call did not succeed and its status.
pub type Recording = BTreeMap<String, String>;

fn parse(path: &Path, text: &str) -> Result<Recording, Error> {
    let wrong = |line: usize, reason: &str| text_error(path, line, reason);
    if text.lines().next() != Some("anywarp-cluster 1") || !text.ends_with("\nend\n") {
        return Err(wrong(1, "a text from `anywarp-cluster 1` to `end` expected"));
    }
    let mut all = Recording::new();
    // Behind the device and the date.
    for (number, line) in text.lines().enumerate().skip(3).filter(|(_, line)| *line != "end") {
        let (name, rest) =
            line.split_once(' ').ok_or_else(|| wrong(number + 1, "a name and a result expected"))?;
        if all.insert(name.to_owned(), rest.to_owned()).is_some() {
            return Err(wrong(number + 1, "this case is there twice"));
        }
    }
    Ok(all)
}

/// The hardware's results.
///
/// # Errors
/// The recording is absent or not as its README says.
pub fn recorded() -> Result<Recording, Error> {
    let path = tests_folder("cluster/h200.txt");
    parse(&path, &read_text(&path)?)
}

/// The words of a case that gave some, each with how often it comes.
pub fn words(result: &str) -> Option<Vec<(u32, usize)>> {
    let word = |text: &str| {
        let (word, count) = text.split_once('*').unwrap_or((text, "1"));
        Some((u32::from_str_radix(word, 16).ok()?, count.parse().ok()?))
    };
    result.strip_prefix("ok ")?.split(' ').map(word).collect()
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
        let program = std::env::temp_dir().join(format!("anywarp-cluster-{}", std::process::id()));
        let output = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
            .args(["-std=gnu11", "-O1", "-w", "-o"])
            .arg(&program)
            .arg("-I")
            .arg(include)
            .arg(tests_folder("cluster/record.c"))
            .arg("-ldl")
            .output()
            .map_err(|e| fail("cc", e.to_string()))?;
        if output.status.success() {
            Ok(Recorder { program })
        } else {
            Err(fail("the recorder does not build", String::from_utf8_lossy(&output.stderr).into_owned()))
        }
    }

    /// Records what `library` gives on a device of the recording one's capability, with a variable set.
    ///
    /// # Errors
    /// The recorder cannot be run, or the library does not begin.
    pub fn record(&self, library: &Path, setting: (&str, &str)) -> Result<Recording, Error> {
        let output = Command::new(&self.program)
            .env("ANYWARP_CACHE_DIR", "off")
            .env("ANYWARP_COMPUTE_CAPABILITY", "9.0")
            .env(setting.0, setting.1)
            .arg(library)
            .arg(tests_folder("cluster/cases.txt"))
            .args(["ours", "today"])
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
