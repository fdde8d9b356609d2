//! Shared by the tests of the command: its path, temporary folders, programs that must succeed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The command.
pub const ANYWARP: &str = env!("CARGO_BIN_EXE_anywarp");

/// The repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A temporary folder for one test.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("anywarp-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder for programs");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).expect("the folder can go");
    }
}

/// Runs `command`, which must succeed, and returns its output.
pub fn succeed(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("the program starts");
    let (out, err) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?}: {status}\n{out}\n{err}");
    out.into_owned()
}
