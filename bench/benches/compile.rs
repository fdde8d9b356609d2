//! `cargo bench -p bench --bench compile`: compile time of kernels by size.
//!
//! Prints a Markdown table of processor seconds; a kernel that is too large to compile is interpreted. Each
//! kernel is compiled in a separate process (this program with `--child`), which is killed at the limit.

use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use bench::sized::{Kind, kernel};
use clap::{Parser, ValueEnum};
use cpu::{Engine, Program, Source, Specialisation, Target};

#[derive(Parser)]
struct Args {
    /// Numbers of PTX instructions in the kernels
    #[arg(long, value_delimiter = ',', default_values_t = [100, 1000, 3000, 10_000])]
    sizes: Vec<usize>,
    /// Kinds of kernels
    #[arg(long, value_delimiter = ',', default_values_t = Kind::ALL.map(|k| k.name().to_owned()))]
    kinds: Vec<String>,
    /// Processors to compile for: `native`, or LLVM's names
    #[arg(long, value_delimiter = ',', default_values_t = ["native".to_owned(), "x86-64-v3".to_owned()])]
    processors: Vec<String>,
    /// Processor seconds after which a kernel is abandoned
    #[arg(long, default_value_t = 100)]
    limit: u64,
    /// What this process prints instead of the table: the PTX, LLVM IR, assembly, or the processor seconds of
    /// the whole compilation
    #[arg(long, hide = true)]
    child: Option<Stage>,
    /// Passed by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Stage {
    Ptx,
    Llvm,
    Asm,
    Time,
}

fn processor_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on every Linux, and `time` is valid for writing.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Makes the system kill this process with SIGXCPU after this many processor seconds.
fn end_after(seconds: u64) -> Result<()> {
    let limit = libc::rlimit { rlim_cur: seconds, rlim_max: seconds + 1 };
    // SAFETY: `limit` lives through the call.
    if unsafe { libc::setrlimit(libc::RLIMIT_CPU, &limit) } != 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    Ok(())
}

/// Compiles a small kernel first, so that opening LLVM does not count.
fn child(stage: Stage, kind: Kind, size: usize, processor: &str, limit: u64) -> Result<()> {
    let target = Target::named(processor)?;
    let assembly = |text: &str, llvm: bool| -> Result<String> {
        let program = Program::load(&[Source { name: "sized", text }], Engine::Compiled)
            .map_err(|e| anyhow::anyhow!(e.rendered))?
            .for_target(target.clone());
        let id = program.module().function("k").context("the kernel is there")?;
        let request = program.request(id, Specialisation::of_launch([1, 1, 1], [256, 1, 1]));
        Ok(if llvm { simd::ir(&request)? } else { simd::assembly(&request)? })
    };
    let text = kernel(kind, size);
    match stage {
        Stage::Ptx => println!("{text}"),
        Stage::Llvm => println!("{}", assembly(&text, true)?),
        Stage::Asm => println!("{}", assembly(&text, false)?),
        Stage::Time => {
            end_after(limit)?;
            assembly(&kernel(Kind::Straight, 30), false)?;
            let start = processor_seconds();
            match assembly(&text, false) {
                Ok(_) => println!("{:.2}", processor_seconds() - start),
                Err(refused) => {
                    eprintln!("{} of {size} for {processor}: {refused}", kind.name());
                    println!("interpreted");
                }
            }
        }
    }
    Ok(())
}

/// The child's answer as a table cell.
fn cell(kind: &str, size: usize, processor: &str, limit: u64) -> Result<String> {
    let output = Command::new(std::env::current_exe()?)
        .args(["--child", "time", "--kinds", kind, "--sizes", &size.to_string(), "--processors", processor])
        .args(["--limit", &limit.to_string()])
        .stderr(Stdio::inherit())
        .output()?;
    if output.status.signal() == Some(libc::SIGXCPU) {
        return Ok(format!("more than {limit}"));
    }
    if !output.status.success() {
        bail!("{kind} of {size} for {processor} ends with {}", output.status);
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

fn main() -> Result<()> {
    let args = Args::parse();
    let _ = args.bench;
    if let Some(stage) = args.child {
        let kind = Kind::named(&args.kinds[0]).context("unknown kind of kernel")?;
        return child(stage, kind, args.sizes[0], &args.processors[0], args.limit);
    }
    for processor in &args.processors {
        let mut table = format!("| {processor} | {} |\n|---|", args.kinds.join(" | "));
        table += &"---|".repeat(args.kinds.len());
        for &size in &args.sizes {
            let _ = write!(table, "\n| {size} |");
            for kind in &args.kinds {
                let cell = cell(kind, size, processor, args.limit)?;
                let _ = write!(table, " {cell} |");
            }
        }
        println!("{table}\n");
    }
    Ok(())
}
