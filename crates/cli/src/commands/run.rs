//! `anywarp run`: runs a program with our driver in place of any other.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Result, bail};
use host::options::Options;

use crate::install;
use program::Finding;

mod program;

/// Run a program with Anywarp's driver
///
/// The program replaces this command and keeps its own exit status, signals and streams. It finds the driver
/// even if it has an rpath.
#[derive(clap::Args)]
#[command(after_help = "Example: anywarp run -- python3 train.py")]
pub struct Args {
    /// Program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Prepends `first` to the value of the variable `name`.
fn prepend(name: &str, first: &OsStr) -> OsString {
    let mut value = first.to_os_string();
    if let Some(old) = std::env::var_os(name).filter(|v| !v.is_empty()) {
        value.push(":");
        value.push(old);
    }
    value
}

/// The variables with which Triton finds NVIDIA's assembler (the second for newer devices), which it would
/// use to compile its PTX to machine code.
const ASSEMBLERS: [&str; 2] = ["TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"];

/// The environment that makes a program load the libraries in `folder`. It sets the loader's search path for
/// libraries that are opened by name, and a preload, because an already loaded library with the same soname
/// takes precedence over the program's rpath. The second preload makes NVIDIA's NVRTC give PTX where it would
/// give machine code; the third replaces NVIDIA's static CUDA runtime in the program by ours. Unless the
/// caller names another assembler, it also names our replacement for NVIDIA's, and it puts our `nvidia-smi`
/// before others.
pub fn environment(folder: &Path) -> Vec<(&'static str, OsString)> {
    let mut preload = folder.join(install::LIBCUDA).into_os_string();
    for library in [install::NVRTC, install::CUDART].map(|name| folder.join(name)) {
        if library.is_file() {
            preload.push(":");
            preload.push(library);
        }
    }
    let mut all = vec![
        ("LD_LIBRARY_PATH", prepend("LD_LIBRARY_PATH", folder.as_os_str())),
        ("LD_PRELOAD", prepend("LD_PRELOAD", &preload)),
    ];
    let programs = folder.join(install::PROGRAMS);
    // If there is no PATH, the system has a default.
    if programs.is_dir() && std::env::var_os("PATH").is_some_and(|path| !path.is_empty()) {
        all.push(("PATH", prepend("PATH", programs.as_os_str())));
    }
    let script = folder.join(install::PTXAS);
    let free = |name: &&str| std::env::var_os(name).is_none();
    if script.is_file() {
        all.extend(ASSEMBLERS.into_iter().filter(free).map(|name| (name, script.clone().into_os_string())));
    }
    all
}

/// Runs the subcommand; returns only if the program could not be started. The status is then 127 if it was
/// not found, and 126 if it could not be executed, as in shells.
pub fn run(args: Args, options: &Options) -> Result<ExitCode> {
    let Some((program, rest)) = args.program.split_first() else { bail!("no program given") };
    let folder = install::library_folder(options)?;
    if let Some(status) = refused(program) {
        return Ok(status);
    }
    let error = Command::new(program).args(rest).envs(environment(&folder)).exec();
    Ok(not_started(program, &error))
}

/// Tells what is wrong with a program; the status if it cannot run.
pub fn refused(program: &OsStr) -> Option<ExitCode> {
    let finding = program::examine(program)?;
    let (Finding::Broken(reason) | Finding::Alone(reason)) = &finding;
    eprintln!("anywarp: {}: {reason}", program.to_string_lossy());
    matches!(finding, Finding::Broken(_)).then(|| ExitCode::from(126))
}

/// Tells why a program could not be started; the status for it.
pub fn not_started(program: &OsStr, error: &std::io::Error) -> ExitCode {
    let missing = error.kind() == std::io::ErrorKind::NotFound;
    match program::not_found(program).filter(|_| missing) {
        Some(reason) => eprintln!("anywarp: {}: {reason}", program.to_string_lossy()),
        None => eprintln!("anywarp: {}: {error}", program.to_string_lossy()),
    }
    ExitCode::from(if missing { 127 } else { 126 })
}
