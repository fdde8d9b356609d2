//! `anywarp run`: a program with our driver in front of any other.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Result, bail};

use crate::install;

/// Run a program so that it finds Anywarp's driver
///
/// The program replaces this command: its exit status, its signals and its streams are its own. It finds the driver
/// also where it carries an rpath.
#[derive(clap::Args)]
#[command(after_help = "Example: anywarp run -- python3 train.py")]
pub struct Args {
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// `first` before whatever the variable `name` holds.
fn prepend(name: &str, first: &OsStr) -> OsString {
    let mut value = first.to_os_string();
    if let Some(old) = std::env::var_os(name).filter(|v| !v.is_empty()) {
        value.push(":");
        value.push(old);
    }
    value
}

/// Where Triton asks for NVIDIA's assembler, the older and the newer one: it would make machine code of its PTX.
const ASSEMBLERS: [&str; 2] = ["TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"];

/// The environment that makes a program find the libraries in `folder`: the loader's search path for what is opened by
/// name, and a preload, since a library that is already there under its soname also wins over a program's own rpath;
/// and, where the caller names no other, our stand-in for NVIDIA's assembler.
pub fn environment(folder: &Path) -> Vec<(&'static str, OsString)> {
    let mut all = vec![
        ("LD_LIBRARY_PATH", prepend("LD_LIBRARY_PATH", folder.as_os_str())),
        ("LD_PRELOAD", prepend("LD_PRELOAD", folder.join(install::LIBCUDA).as_os_str())),
    ];
    let script = folder.join(install::PTXAS);
    let free = |name: &&str| std::env::var_os(name).is_none();
    if script.is_file() {
        all.extend(ASSEMBLERS.into_iter().filter(free).map(|name| (name, script.clone().into_os_string())));
    }
    all
}

/// Runs the subcommand; returns only when the program could not be started: 127 when it was not found, 126 when it could
/// not be run, as shells say it.
pub fn run(args: Args) -> Result<ExitCode> {
    let Some((program, rest)) = args.program.split_first() else { bail!("no program given") };
    let folder = install::library_folder()?;
    let error = Command::new(program).args(rest).envs(environment(&folder)).exec();
    eprintln!("anywarp: {}: {error}", program.to_string_lossy());
    Ok(ExitCode::from(if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 }))
}
