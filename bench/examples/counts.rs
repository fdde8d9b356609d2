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
use bench::cases::{self, Case};
use bench::cuda::Cuda;
use bench::engine::Engine;
use clap::Parser;

#[derive(Parser)]
struct Args {
    /// Count only cases whose title contains this
    #[arg(default_value = "")]
    filter: String,
    /// Path of the driver library
    #[arg(long)]
    library: Option<PathBuf>,
    /// The case that this process runs, instead of the table
    #[arg(long, hide = true)]
    child: Option<usize>,
}

/// Percent by which a count may exceed the recorded one.
const MOST: u64 = 5;

fn kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels")
}

fn library(args: &Args) -> PathBuf {
    let exe = std::env::current_exe().unwrap_or_default();
    let built = || exe.ancestors().nth(2).map(|p| p.join("lib-anywarp/libcuda.so.1")).unwrap_or_default();
    args.library.clone().unwrap_or_else(built)
}

/// Small sizes: callgrind is fifty times as slow as the processor.
fn all() -> Vec<Case> {
    cases::all(0)
}

/// What a process of its own does.
fn run(args: &Args, case: usize) -> Result<()> {
    let mut engine = Cuda::new(&library(args), &kernels())?;
    engine.prepare(all().get(case).context("no such case")?)?;
    engine.run()
}

/// The command that runs a case, by itself or in `tool`.
fn command(args: &Args, case: usize, cache: &Path, tool: &[&str]) -> Result<Command> {
    let exe = std::env::current_exe()?;
    let mut command = match tool {
        [] => Command::new(exe),
        [name, options @ ..] => {
            let mut command = Command::new(name);
            command.args(options).arg(exe);
            command
        }
    };
    command.args(["--child", &case.to_string(), "--library"]).arg(library(args));
    let settings = [("ANYWARP_CPU", "x86-64-v3"), ("ANYWARP_WORKERS", "1")];
    command.envs(settings).env("ANYWARP_CACHE_DIR", cache);
    Ok(command)
}

/// The instructions of a case's launches.
fn count(args: &Args, case: usize, folder: &Path) -> Result<u64> {
    // The code is compiled outside of callgrind, and comes from the cache inside.
    let cache = folder.join("cache");
    let status = command(args, case, &cache, &[])?.status()?;
    ensure!(status.success(), "the process ended with {status}");
    let out = folder.join(format!("{case}.out"));
    let file = format!("--callgrind-out-file={}", out.display());
    let tool = ["valgrind", "--tool=callgrind", "-q", &file];
    let output = command(args, case, &cache, &tool)?
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

fn main() -> Result<()> {
    let args = Args::parse();
    if let Some(case) = args.child {
        return run(&args, case);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("counts.txt");
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let before = if update { BTreeMap::new() } else { recorded(&path)? };
    let folder = tempfile::tempdir()?;
    let mut text = String::from("# Instructions of a launch with small data, by examples/counts.rs.\n");
    let mut worse = Vec::new();
    println!("| kernel | instructions | recorded | ratio |\n|---|---:|---:|---:|");
    for (number, case) in all().iter().enumerate().filter(|(_, case)| case.title.contains(&args.filter)) {
        let count = count(&args, number, folder.path()).with_context(|| case.title.to_owned())?;
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
