//! `cargo run --release -p bench --example counts`: the instructions of compiled code that a launch of each
//! kernel takes, counted by callgrind, beside those in `counts.txt`. Fails if one takes 5 percent more.
//! `UPDATE_EXPECT=1` writes the file.
//!
//! Counts do not depend on the machine's speed or load: the code is for x86-64-v3, and one worker runs it.
//! They do depend on LLVM's version, which `rust-toolchain.toml` determines.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use bench::amd;
use bench::cases::{self, Case};
use bench::cuda::{Cuda, Interface, built_library};
use bench::engine::Engine;
use clap::Parser;

#[derive(Parser)]
struct Args {
    /// Count only cases whose title contains this
    #[arg(default_value = "")]
    filter: String,
    /// Path of the driver library; with `--amd`, of HIP's
    #[arg(long)]
    library: Option<PathBuf>,
    /// Count the kernels as AMD code for gfx906 and gfx1100, which clang++-19 compiles, beside PTX
    #[arg(long)]
    amd: bool,
    /// The case that this process runs, instead of the table
    #[arg(long, hide = true)]
    child: Option<usize>,
    /// The folder of the code objects that this process runs, instead of PTX
    #[arg(long, hide = true)]
    objects: Option<PathBuf>,
}

/// Percent by which a count may exceed the recorded one.
const MOST: u64 = 5;

fn kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels")
}

fn library(args: &Args) -> PathBuf {
    let name = if args.amd { "libamdhip64.so.6" } else { "libcuda.so.1" };
    args.library.clone().unwrap_or_else(|| built_library(name))
}

/// Small sizes: callgrind is fifty times as slow as the processor.
fn all() -> Vec<Case> {
    cases::all(0)
}

/// What a process of its own does.
fn run(args: &Args, case: usize) -> Result<()> {
    let (folder, interface) = match &args.objects {
        Some(folder) => (folder.clone(), Interface::Hip { device: 0, extension: "hsaco" }),
        None if args.amd => (kernels(), Interface::Hip { device: 0, extension: "ptx" }),
        None => (kernels(), Interface::Cuda),
    };
    let mut engine = Cuda::with(&library(args), &folder, interface)?;
    engine.prepare(all().get(case).context("no such case")?)?;
    engine.run()
}

/// What runs: a case, as PTX or as code for a target in a folder.
#[derive(Clone, Copy)]
struct Run<'a> {
    case: usize,
    object: Option<(&'a str, &'a Path)>,
}

/// The command that runs a case, by itself or in `tool`.
fn command(args: &Args, run: Run<'_>, cache: &Path, tool: &[&str]) -> Result<Command> {
    let exe = std::env::current_exe()?;
    let mut command = match tool {
        [] => Command::new(exe),
        [name, options @ ..] => {
            let mut command = Command::new(name);
            command.args(options).arg(exe);
            command
        }
    };
    command.args(["--child", &run.case.to_string(), "--library"]).arg(library(args));
    command.args(args.amd.then_some("--amd"));
    if let Some((target, folder)) = run.object {
        command.arg("--objects").arg(folder).env("ANYWARP_HIP_ARCH", target);
    }
    let settings = [("ANYWARP_CPU", "x86-64-v3"), ("ANYWARP_WORKERS", "1")];
    command.envs(settings).env("ANYWARP_CACHE_DIR", cache);
    Ok(command)
}

/// The instructions of a case's launches.
fn count(args: &Args, run: Run<'_>, folder: &Path) -> Result<u64> {
    // The code is compiled outside of callgrind, and comes from the cache inside.
    let cache = folder.join("cache");
    let status = command(args, run, &cache, &[])?.status()?;
    ensure!(status.success(), "the process ended with {status}");
    let out = folder.join("profile");
    let file = format!("--callgrind-out-file={}", out.display());
    let tool = ["valgrind", "--tool=callgrind", "-q", &file];
    let output = command(args, run, &cache, &tool)?
        .output()
        .context("valgrind does not start: apt-get install valgrind")?;
    ensure!(output.status.success(), "callgrind: {}", String::from_utf8_lossy(&output.stderr));
    of_no_object(&std::fs::read_to_string(&out)?)
}

/// The instructions in memory that belongs to no file: compiled code. A line of a profile is a place and a
/// count; `ob=` names the file of those that follow, and a line after `calls=` counts what the callee did.
fn of_no_object(profile: &str) -> Result<u64> {
    let mut names = BTreeMap::new();
    let (mut counts, mut is_call, mut sum) = (false, false, 0);
    for line in profile.lines() {
        if let Some((is_current, name)) =
            ["ob=", "cob="].iter().find_map(|key| Some((*key == "ob=", line.strip_prefix(key)?)))
        {
            // "(3) name" the first time, "(3)" later.
            let (number, name) = name.split_once(' ').unwrap_or((name, ""));
            if !name.is_empty() {
                names.insert(number, name);
            }
            if is_current {
                counts = names.get(number).is_some_and(|name| *name == "???");
            }
        } else if line.starts_with("calls=") {
            is_call = true;
        } else if line.starts_with(|c: char| c.is_ascii_digit() || "+-*".contains(c)) {
            if counts && !is_call {
                let count = line.split(' ').nth(1).context("a count")?;
                sum += count.parse::<u64>()?;
            }
            is_call = false;
        }
    }
    ensure!(sum > 0, "no compiled code ran");
    Ok(sum)
}

/// The recorded counts by title.
fn recorded(path: &Path) -> Result<BTreeMap<String, u64>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let rows = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (count, title) = line.trim_start().split_once(' ').context("a count and a title")?;
        Ok((title.to_owned(), count.parse()?))
    });
    rows.collect()
}

/// Prints how many instructions AMD code takes beside PTX.
fn compare_amd(args: &Args) -> Result<()> {
    let folder = tempfile::tempdir()?;
    amd::compile(&kernels(), folder.path())?;
    let names = amd::TARGETS.map(|name| format!("{name} | {name} ÷ PTX")).join(" | ");
    println!("| kernel | PTX | {names} |\n|---|---:|---:|---:|---:|---:|");
    for (number, case) in chosen(args) {
        let plain = Run { case: number, object: None };
        let ptx = count(args, plain, folder.path())?;
        let mut row = format!("| {} | {ptx} |", case.title);
        for target in amd::TARGETS {
            let objects = folder.path().join(target);
            let run = Run { object: Some((target, &objects)), ..plain };
            let count = count(args, run, folder.path()).with_context(|| case.title.to_owned())?;
            write!(row, " {count} | {:.2} |", count as f64 / ptx as f64)?;
        }
        println!("{row}");
    }
    Ok(())
}

/// The cases that pass the filter, with their numbers.
fn chosen(args: &Args) -> impl Iterator<Item = (usize, Case)> {
    all().into_iter().enumerate().filter(|(_, case)| case.title.contains(&args.filter))
}

fn main() -> Result<()> {
    let args = Args::parse();
    if let Some(case) = args.child {
        return run(&args, case);
    }
    if args.amd {
        return compare_amd(&args);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("counts.txt");
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    ensure!(
        !update || args.filter.is_empty(),
        "UPDATE_EXPECT writes the counts of all cases, so without a filter"
    );
    let before = if update { BTreeMap::new() } else { recorded(&path)? };
    let folder = tempfile::tempdir()?;
    let mut text = String::from("# Instructions of a launch with small data, by examples/counts.rs.\n");
    let mut worse = Vec::new();
    println!("| kernel | instructions | recorded | ratio |\n|---|---:|---:|---:|");
    for (number, case) in chosen(&args) {
        let run = Run { case: number, object: None };
        let count = count(&args, run, folder.path()).with_context(|| case.title.to_owned())?;
        writeln!(text, "{count:>12} {}", case.title)?;
        match before.get(case.title) {
            Some(&old) => {
                println!("| {} | {count} | {old} | {:.3} |", case.title, count as f64 / old as f64);
                if count * 100 > old * (100 + MOST) {
                    worse.push(case.title);
                }
            }
            None => println!("| {} | {count} | – | – |", case.title),
        }
    }
    if update {
        return Ok(std::fs::write(&path, text)?);
    }
    if !worse.is_empty() {
        bail!("more than {MOST} percent more instructions than in {}: {}", path.display(), worse.join("; "));
    }
    Ok(())
}
