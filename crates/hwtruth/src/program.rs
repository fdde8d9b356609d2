//! Programs that tests write and then run.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a program of these bytes, which the owner may run.
///
/// Another process writes it. A file that is open for writing cannot be run, and what a test program has open
/// is open for a moment in every process that its other threads start, too.
///
/// # Panics
/// If it cannot be written.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    let mut shell = Command::new("sh");
    shell.args(["-c", r#"cat > "$0" && chmod 755 "$0""#]).arg(path).stdin(Stdio::piped());
    let mut shell = shell.spawn().expect("a shell");
    // Its input ends when the pipe is dropped.
    shell.stdin.take().expect("a pipe").write_all(bytes.as_ref()).expect("the shell reads");
    assert!(shell.wait().expect("the shell ends").success(), "cannot write {}", path.display());
}
