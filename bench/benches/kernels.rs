//! `cargo bench -p bench`: every kernel on Anywarp, the OpenCL CPU runtimes that are installed, and gcc, in one run.
//!
//! Prints a Markdown table of least times in milliseconds. An engine whose answer differs is said so and has no time.
//! With `--ptx DIR` instead: Anywarp on the PTX that the repository ships and on that of a folder, their runs in turn.

use std::path::{Path, PathBuf};

use anyhow::Result;
use bench::engine::Engine;
use bench::{cases, cuda::Cuda, host::Host, opencl::OpenCl, table};
use clap::Parser;

#[derive(Parser)]
struct Args {
    /// Only cases whose title contains this
    #[arg(default_value = "")]
    filter: String,
    /// Small sizes, for a quick look
    #[arg(long)]
    quick: bool,
    /// Anywarp only
    #[arg(long)]
    alone: bool,
    /// The others only
    #[arg(long, conflicts_with = "alone")]
    peers: bool,
    /// Runs of each kernel, at least
    #[arg(long, default_value_t = 5)]
    runs: u32,
    /// Anywarp on the repository's PTX and on that of this folder (see kernels/make.sh), and no other engine
    #[arg(long, conflicts_with = "peers")]
    ptx: Option<PathBuf>,
    /// The driver library
    #[arg(long)]
    library: Option<PathBuf>,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

/// Our driver library as the release build leaves it.
fn built_library() -> PathBuf {
    let exe = std::env::current_exe().unwrap_or_default();
    exe.ancestors().nth(2).map(|p| p.join("lib-anywarp/libcuda.so.1")).unwrap_or_default()
}

/// The repository's PTX beside that of another folder: least times, and the second by the first.
fn compare_ptx(args: &Args, library: &Path, kernels: &Path, other: &Path) -> Result<()> {
    let mut engines = [Cuda::new(library, kernels)?, Cuda::new(library, other)?];
    let mut host = Host::new(kernels)?;
    println!("| kernel | the repository's PTX | {} | ratio |\n|---|---|---|---|", other.display());
    for case in chosen(args) {
        let want = answer(&mut host, &case)?;
        let ready = engines.iter_mut().try_for_each(|engine| check(engine, &case, &want));
        match ready.and_then(|()| table::measure_in_turn(&mut engines, args.runs)) {
            Ok(times) => println!("{}", table::ratio_row(&case, times)),
            Err(error) => eprintln!("{}: {error:#}", case.title),
        }
    }
    Ok(())
}

/// The cases that the filter lets through.
fn chosen(args: &Args) -> impl Iterator<Item = cases::Case> {
    cases::all(u32::from(!args.quick)).into_iter().filter(|case| case.title.contains(&args.filter))
}

/// What gcc's loops make of a case: what the engines' answers are compared with.
fn answer(host: &mut Host, case: &cases::Case) -> Result<Vec<u32>> {
    host.prepare(case)?;
    host.run()?;
    host.read(case.answer.0)
}

/// Runs a case once for its answer, and makes it ready to be timed.
fn check(engine: &mut dyn Engine, case: &cases::Case, want: &[u32]) -> Result<()> {
    engine.prepare(case)?;
    engine.run()?;
    table::compare(case, want, &engine.read(case.answer.0)?)?;
    engine.reset()
}

fn main() -> Result<()> {
    let args = Args::parse();
    let kernels = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let library = args.library.clone().unwrap_or_else(built_library);
    if let Some(other) = &args.ptx {
        return compare_ptx(&args, &library, &kernels, other);
    }
    let mut engines: Vec<Box<dyn Engine>> = vec![];
    if !args.peers {
        engines.push(Box::new(Cuda::new(&library, &kernels)?));
    }
    if !args.alone {
        match OpenCl::all(&kernels) {
            Ok(list) => engines.extend(list.into_iter().map(|e| Box::new(e) as Box<dyn Engine>)),
            Err(error) => eprintln!("no OpenCL columns: {error:#}"),
        }
    }
    // gcc always runs: its answers are what the others are compared with.
    let mut host = Host::new(&kernels)?;

    let names: Vec<String> = engines.iter().map(|e| e.name()).collect();
    println!("| kernel | {} | gcc | best other ÷ Anywarp | Anywarp's rate |", names.join(" | "));
    println!("|---|{}---|---|---|", "---|".repeat(names.len()));
    for case in chosen(&args) {
        let want = answer(&mut host, &case)?;
        let mut times = Vec::new();
        for engine in &mut engines {
            let time = check(engine.as_mut(), &case, &want)
                .and_then(|()| table::measure(engine.as_mut(), args.runs));
            times.push(match time {
                Ok(ms) => Some(ms),
                Err(error) => {
                    eprintln!("{}: {}: {error:#}", case.title, engine.name());
                    None
                }
            });
        }
        host.reset()?;
        times.push(Some(table::measure(&mut host, args.runs)?));
        println!("{}", table::row(&case, &times));
    }
    Ok(())
}
