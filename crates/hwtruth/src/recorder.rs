//! The recorders: C programs that call a CUDA driver library given by its path. Each is a folder in `tests`
//! with a `record.sh` that builds and runs it on the hardware. Here it is built the same way and run on our
//! library.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::{Error, tests_folder};

/// The variable that gives our library's device the capability of the recorded device.
pub(crate) const CAPABILITY: (&str, &str) = ("ANYWARP_COMPUTE_CAPABILITY", "9.0");

/// The variable that gives our library's device as many multiprocessors as the recorded device has.
pub(crate) const WORKERS: (&str, &str) = ("ANYWARP_WORKERS", "132");

/// The variable that gives our library as many devices as the recording of their peers had.
pub(crate) const DEVICES: (&str, &str) = ("ANYWARP_DEVICES", "2");

/// The variable that selects the turn whose cases are recorded.
pub(crate) const TURN: &str = "RECORD_TURN";

/// The module of a case.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The case's name.
    pub case: String,
    /// Its PTX.
    pub text: String,
}

/// A built recorder; dropping it removes its folder.
pub(crate) struct Recorder {
    /// The folder of its sources, for messages.
    sources: PathBuf,
    folder: TempDir,
}

impl Recorder {
    /// Builds the C files of a folder in `tests`, and those shared by all recorders, with additional flags,
    /// against the `cuda.h` in `include`.
    ///
    /// # Errors
    /// There is no compiler, compilation fails, or the program cannot be written.
    pub fn build(include: &Path, name: &str, flags: &[&str]) -> Result<Recorder, Error> {
        let sources = tests_folder(name);
        let shared = tests_folder("record");
        let folder = tempfile::Builder::new().prefix("anywarp-recorder-").tempdir().map_err(|e| {
            Error::Recorder(format!("cannot create a folder for the program of {}: {e}", sources.display()))
        })?;
        let recorder = Recorder { sources, folder };
        // CC may hold several words, as in the scripts.
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
            Err(Error::Recorder(format!("{compiler} cannot build {}: {words}", recorder.sources.display())))
        }
    }

    /// The path of the program.
    pub fn program(&self) -> PathBuf {
        self.folder.path().join("record")
    }

    /// The program's output with these variables and arguments, parsed by `read`. Our library's code cache is
    /// off.
    ///
    /// # Errors
    /// The program cannot be run or fails, or `read` rejects its output.
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

    /// The kernels that the program runs, as it prints them: each after a line `// NAME`.
    ///
    /// # Errors
    /// The program cannot be run, or its output is malformed.
    pub fn kernels(&self, arguments: &[&dyn AsRef<OsStr>]) -> Result<Vec<Kernel>, Error> {
        self.run(&[], arguments, |bytes| {
            let text = std::str::from_utf8(bytes).map_err(|e| e.to_string())?;
            // Gives the first line a line break before it, like the others.
            let text = format!("\n{text}");
            let kernel = |part: &str| {
                let (case, text) = part.split_once('\n')?;
                Some(Kernel { case: case.to_owned(), text: text.to_owned() })
            };
            let parts = text.split("\n// ").skip(1);
            parts.map(|p| kernel(p).ok_or("a kernel has no text".to_owned())).collect()
        })
    }
}

/// The C files directly in a folder.
fn c_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let read = |source| Error::Read { path: folder.to_owned(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(read)? {
        let path = entry.map_err(read)?.path();
        files.extend(path.extension().is_some_and(|e| e == "c").then_some(path));
    }
    Ok(files)
}
