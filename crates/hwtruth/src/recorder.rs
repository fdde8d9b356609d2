//! The recorders: programs in C that ask a CUDA driver library, given by its path. Each is a folder of `tests` with a `record.sh`, which
//! builds and runs it on the hardware; here it is built the same way and asks our library.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::{Error, tests_folder};

/// The variable with which our library has the device that recordings are of.
pub(crate) const CAPABILITY: (&str, &str) = ("ANYWARP_COMPUTE_CAPABILITY", "9.0");

/// The variable that names the turn of which cases are recorded.
pub(crate) const TURN: &str = "RECORD_TURN";

/// The module of a case.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The case's name.
    pub case: String,
    /// PTX.
    pub text: String,
}

/// A recorder, built; its folder goes with it.
pub(crate) struct Recorder {
    /// Where its sources are, for messages.
    sources: PathBuf,
    folder: TempDir,
}

impl Recorder {
    /// Builds the C files of a folder of `tests`, and what all recorders share, with more flags, against the `cuda.h` of `include`.
    ///
    /// # Errors
    /// There is no compiler, it says no, or there is no room for the program.
    pub fn build(include: &Path, name: &str, flags: &[&str]) -> Result<Recorder, Error> {
        let sources = tests_folder(name);
        let shared = tests_folder("record");
        let folder = tempfile::Builder::new().prefix("anywarp-recorder-").tempdir().map_err(|e| {
            Error::Recorder(format!("no folder for the program of {}: {e}", sources.display()))
        })?;
        let recorder = Recorder { sources, folder };
        // The compiler may be several words, as in the scripts.
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let mut words = compiler.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or("cc"));
        command.args(words).args(["-std=gnu11", "-O1"]).args(flags);
        command.arg("-I").arg(&shared).arg("-I").arg(include).arg("-o").arg(recorder.program());
        command.args(c_files(&recorder.sources)?).arg(shared.join("driver.c"));
        command.args(["-ldl", "-lm", "-lpthread"]);
        let output = command.output().map_err(|e| {
            Error::Recorder(format!(
                "cannot run {compiler}: {e}; install a C compiler (gcc or clang), or name yours in CC"
            ))
        })?;
        if output.status.success() {
            Ok(recorder)
        } else {
            let words = String::from_utf8_lossy(&output.stderr);
            Err(Error::Recorder(format!("{compiler} does not build {}: {words}", recorder.sources.display())))
        }
    }

    /// The program's file.
    pub fn program(&self) -> PathBuf {
        self.folder.path().join("record")
    }

    /// What the program prints with these variables and arguments, as `read` understands it. Nothing that our library compiles is kept or
    /// taken from before.
    ///
    /// # Errors
    /// The program cannot be run, it could not do its work, or `read` says why its output is none.
    pub fn run<T>(
        &self,
        variables: &[(&str, &str)],
        arguments: &[&dyn AsRef<OsStr>],
        read: impl FnOnce(&[u8]) -> Result<T, String>,
    ) -> Result<T, Error> {
        let fail =
            |reason: String| Error::Recorder(format!("the program of {}: {reason}", self.sources.display()));
        let output = Command::new(self.program())
            .env("ANYWARP_CACHE_DIR", "off")
            .envs(variables.iter().copied())
            .args(arguments.iter().map(|argument| argument.as_ref()))
            .output()
            .map_err(|e| fail(e.to_string()))?;
        if !output.status.success() {
            return Err(fail(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr))));
        }
        read(&output.stdout).map_err(fail)
    }

    /// The kernels that the program runs, as it prints them: each behind a line `// NAME`.
    ///
    /// # Errors
    /// The program cannot be run, or prints something else.
    pub fn kernels(&self, arguments: &[&dyn AsRef<OsStr>]) -> Result<Vec<Kernel>, Error> {
        self.run(&[], arguments, |bytes| {
            let text = std::str::from_utf8(bytes).map_err(|e| e.to_string())?;
            // The first line has nothing before it.
            let text = format!("\n{text}");
            let kernel = |part: &str| {
                let (case, text) = part.split_once('\n')?;
                Some(Kernel { case: case.to_owned(), text: text.to_owned() })
            };
            let parts = text.split("\n// ").skip(1);
            parts.map(|p| kernel(p).ok_or("a kernel without a text".to_owned())).collect()
        })
    }
}

/// The C files right in a folder.
fn c_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let read = |source| Error::Read { path: folder.to_owned(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(read)? {
        let path = entry.map_err(read)?.path();
        files.extend(path.extension().is_some_and(|e| e == "c").then_some(path));
    }
    Ok(files)
}
