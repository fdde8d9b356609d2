//! `cargo bench -p bench`: runs every kernel on Anywarp, the installed OpenCL CPU runtimes, and gcc.
//!
//! Prints a Markdown table of minimum times in milliseconds. An engine with a wrong result is reported and
//! gets no time. With `--ptx DIR`, it instead compares Anywarp on the repository's PTX with Anywarp on the
//! PTX in a folder, in alternating runs. With `--amd`, it compares PTX with the kernels as AMD code, and with
//! `--beside LIBRARY` this build of the driver with another.

use std::path::{Path, PathBuf};

use anyhow::Result;
use bench::cuda::{Cuda, Interface, built_library};
use bench::engine::Engine;
use bench::{amd, cases, host::Host, opencl::OpenCl, table};
use clap::Parser;

#[derive(Parser)]
struct Args {
    /// Run only cases whose title contains this
    #[arg(default_value = "")]
    filter: String,
    /// Use small sizes, for a quick look
    #[arg(long)]
    quick: bool,
    /// Run only Anywarp
    #[arg(long)]
    alone: bool,
    /// Run only the other engines
    #[arg(long, conflicts_with = "alone")]
    peers: bool,
    /// Minimum number of runs of each kernel
    #[arg(long, default_value_t = 5)]
    runs: u32,
    /// Compare Anywarp on the repository's PTX and on that of this folder (see kernels/make.sh), without
    /// other engines
    #[arg(long, conflicts_with = "peers")]
    ptx: Option<PathBuf>,
    /// Compare Anywarp on PTX and on AMD code for gfx906 (waves of 64 lanes) and gfx1100 (32 lanes), which
    /// clang++-19 compiles, through HIP's library, without other engines
    #[arg(long, conflicts_with_all = ["peers", "ptx"])]
    amd: bool,
    /// Compare Anywarp with this library, such as an older build's, without other engines
    #[arg(long, conflicts_with_all = ["peers", "ptx", "amd"])]
    beside: Option<PathBuf>,
    /// Path of the driver library; with `--amd`, of HIP's
    #[arg(long)]
    library: Option<PathBuf>,
    /// Passed by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

/// Compares PTX with AMD code: minimum times, and the speed of AMD code as a part of PTX's.
fn compare_amd(args: &Args, kernels: &Path) -> Result<()> {
    // SAFETY: no other thread runs yet. The library reads the variable when it is opened.
    unsafe { std::env::set_var("ANYWARP_HIP_ARCH", amd::TARGETS.join(",")) };
    let folder = tempfile::tempdir()?;
    amd::compile(kernels, folder.path())?;
    let library = args.library.clone().unwrap_or_else(|| built_library("libamdhip64.so.6"));
    let on =
        |device, folder: &Path, extension| Cuda::with(&library, folder, Interface::Hip { device, extension });
    let [first, second] = amd::TARGETS.map(|target| folder.path().join(target));
    // Devices for AMD code come first.
    let mut engines = [on(2, kernels, "ptx")?, on(0, &first, "hsaco")?, on(1, &second, "hsaco")?];
    let mut host = Host::new(kernels)?;
    let names = amd::TARGETS.join(" | ");
    println!("| kernel | PTX | {names} | speed of {} |", amd::TARGETS.join(" | speed of "));
    println!("|---|---|---|---|---|---|");
    for case in chosen(args) {
        let want = answer(&mut host, &case)?;
        let ready = engines.iter_mut().try_for_each(|engine| check(engine, &case, &want));
        match ready.and_then(|()| table::measure_in_turn(&mut engines, args.runs)) {
            Ok(times) => println!("{}", table::speed_row(&case, &times)),
            Err(error) => eprintln!("{}: {error:#}", case.title),
        }
    }
    Ok(())
}

/// Compares two engines: minimum times, and the ratio of the second to the first.
fn compare_two(args: &Args, kernels: &Path, mut engines: [Cuda; 2], names: [&str; 2]) -> Result<()> {
    let mut host = Host::new(kernels)?;
    println!("| kernel | {} | {} | ratio |\n|---|---|---|---|", names[0], names[1]);
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

/// The cases that pass the filter.
fn chosen(args: &Args) -> impl Iterator<Item = cases::Case> {
    cases::all(u32::from(!args.quick)).into_iter().filter(|case| case.title.contains(&args.filter))
}

/// The result of gcc's loops for a case, with which the engines' results are compared.
fn answer(host: &mut Host, case: &cases::Case) -> Result<Vec<u32>> {
    host.prepare(case)?;
    host.run()?;
    host.read(case.answer.0)
}

/// Runs a case once to check its result, and prepares it for timing.
fn check(engine: &mut dyn Engine, case: &cases::Case, want: &[u32]) -> Result<()> {
    engine.prepare(case)?;
    engine.run()?;
    table::compare(case, want, &engine.read(case.answer.0)?)?;
    engine.reset()
}

fn main() -> Result<()> {
    let args = Args::parse();
    let kernels = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("kernels");
    if args.amd {
        return compare_amd(&args, &kernels);
    }
    let library = args.library.clone().unwrap_or_else(|| built_library("libcuda.so.1"));
    if let Some(other) = &args.ptx {
        let engines = [Cuda::new(&library, &kernels)?, Cuda::new(&library, other)?];
        return compare_two(&args, &kernels, engines, ["the repository's PTX", &other.to_string_lossy()]);
    }
    if let Some(other) = &args.beside {
        let engines = [Cuda::new(&library, &kernels)?, Cuda::new(other, &kernels)?];
        return compare_two(&args, &kernels, engines, ["this build", &other.to_string_lossy()]);
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
    // gcc always runs, because its results are the reference.
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
