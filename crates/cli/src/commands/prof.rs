//! `anywarp prof`: runs a program with our driver and tells where its time goes.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use driver::profile::{self, Kind, Process};
use host::folder::Folder;
use host::options::Options;

use super::run::{environment, not_started, refused};
use crate::{files, install};

mod child;
mod report;
mod trace;

/// Run a program with Anywarp's driver and report where its time goes
///
/// When the program has ended, a table on standard error tells by kernel how often it was launched and how
/// long it ran, and the same for copies and fills, and for ranges that the program names by NVTX. Programs
/// that the program starts count as well. The exit status is the program's. docs/prof.md explains the
/// columns.
#[derive(clap::Args)]
#[command(after_help = "Example: anywarp prof --trace train.json -- python3 train.py")]
pub struct Args {
    /// Write the figures to this file as JSON instead of printing a table; `-` is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a trace of all kernels, copies, host functions, waits and ranges to this file, for
    /// ui.perfetto.dev and chrome://tracing
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Count operations, bytes and active lanes by kernel, for GFLOP/s and GB/s. Of launches of one shape the
    /// first is counted, which takes it several times as long; kernels are compiled twice
    #[arg(long)]
    counters: bool,
    /// Program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Runs the subcommand; the exit status, or the signal that ends this process, is the program's.
pub fn run(args: Args, options: &Options) -> Result<ExitCode> {
    let Some((program, rest)) = args.program.split_first() else { bail!("no program given") };
    let libraries = install::library_folder(options)?;
    if let Some(status) = refused(program) {
        return Ok(status);
    }
    let folder = tempfile::Builder::new()
        .prefix("anywarp-prof-")
        .tempdir()
        .context("cannot create a folder for what is recorded")?;
    let profiled = |mut command: Command| {
        command.args(rest).envs(environment(&libraries)).env("ANYWARP_PROFILE", folder.path());
        command.env("ANYWARP_PROFILE_EVENTS", if args.trace.is_some() { "1" } else { "0" });
        command.env("ANYWARP_PROFILE_COUNTERS", if args.counters { "1" } else { "0" });
        command.env("NVTX_INJECTION64_PATH", libraries.join(install::NVTX));
        child::run(&mut command)
    };
    let (start, from) = (Instant::now(), profile::now());
    let mut ended = profiled(Command::new(program));
    // As `execvp` does, a script without `#!` is run by the shell.
    if ended.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::ENOEXEC)) {
        let mut shell = Command::new("/bin/sh");
        shell.arg(program);
        ended = profiled(shell);
    }
    let status = match ended {
        Ok(status) => status,
        Err(error) => return Ok(not_started(program, &error)),
    };
    let time = start.elapsed();
    let processes = recorded(folder.path())?;
    // Later errors must not leave the folder behind, and a signal ends this process without destructors.
    drop(folder);
    if let Some(file) = &args.trace {
        files::write(file, trace::json(&processes, from).as_bytes())?;
    }
    match &args.json {
        Some(file) => files::write(file, report::json(&args.program, time, &processes)?.as_bytes())?,
        None => {
            // Standard error may be closed; the program has run.
            let _ =
                io::stderr().write_all(report::text(time, &processes, status.signal().is_some()).as_bytes());
        }
    }
    Ok(child::end_like(status))
}

/// What processes have recorded in a folder, in the order in which they began.
fn recorded(path: &Path) -> Result<Vec<Process>> {
    let cannot_read = || format!("cannot read {}", path.display());
    let folder = Folder::open_private(path).map_err(|e| anyhow::anyhow!("{e}")).with_context(cannot_read)?;
    let read = |name: &str| -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut file = folder.read(name).map_err(|e| anyhow::anyhow!("{e}")).with_context(cannot_read)?;
        io::Read::read_to_end(&mut file, &mut bytes).with_context(cannot_read)?;
        Ok(bytes)
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).with_context(cannot_read)? {
        let entry = entry.with_context(cannot_read)?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let Some(stem) = name.strip_suffix(profile::TOTALS) else { continue };
        let events = format!("{stem}{}", profile::EVENTS);
        let events = if path.join(&events).exists() { read(&events)? } else { Vec::new() };
        if let Some(process) = profile::parse(&read(&name)?, &events) {
            let made = entry.metadata().and_then(|meta| meta.created()).ok();
            found.push((made, process));
        }
    }
    found.sort_by_key(|(made, process)| (*made, process.id));
    Ok(joined(found.into_iter().map(|(_, process)| process).collect()))
}

/// Joins what a program told of itself, which has files of its own, with what the driver recorded of the same
/// process. A program that replaced another by `exec` has its number and another path, or comes later.
fn joined(found: Vec<Process>) -> Vec<Process> {
    let told_only = |process: &Process| {
        let mut kinds = process.entries.iter().map(|entry| entry.kind).filter(|kind| *kind != Kind::Process);
        kinds.next().is_some_and(Kind::is_of_program)
    };
    let (told, mut all): (Vec<_>, Vec<_>) = found.into_iter().partition(told_only);
    for process in told {
        let is_same = |known: &&mut Process| {
            (known.id, &known.program) == (process.id, &process.program)
                && !known.entries.iter().any(|entry| entry.kind.is_of_program())
        };
        match all.iter_mut().find(is_same) {
            Some(known) => known.join(process),
            None => all.push(process),
        }
    }
    all
}
