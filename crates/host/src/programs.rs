//! Programs that run for the driver: the user's compiler.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};

use crate::options;

/// The path of a program that `PATH` names. None in a program with more rights than its user, who chooses
/// `PATH`.
pub fn in_path(name: &str) -> Option<PathBuf> {
    if options::secure() {
        return None;
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// A command that runs a program, without the libraries that this process was made to load: `anywarp run`
/// names some, and sanitizers do.
///
/// # Errors
/// The process has more rights than its user.
pub fn command(program: &Path) -> io::Result<Command> {
    if options::secure() {
        let text = "a program with more rights than its user runs no other program";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    let mut command = Command::new(program);
    command.env_remove("LD_PRELOAD");
    Ok(command)
}

/// Waits for a program. None if the process ignores SIGCHLD, so that the system does not keep how its
/// children ended.
///
/// # Errors
/// The system's.
pub fn wait(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    match child.wait() {
        Ok(status) => Ok(Some(status)),
        Err(error) if error.raw_os_error() == Some(libc::ECHILD) => Ok(None),
        Err(error) => Err(error),
    }
}
