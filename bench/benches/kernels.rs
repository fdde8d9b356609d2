//! `cargo bench -p bench`: every kernel on Anywarp, the OpenCL CPU runtimes that are installed, and gcc, in one run.
//!
//! Prints a Markdown table of least times in milliseconds. An engine whose answer differs is said so and has no time.

use std::path::PathBuf;

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

fn main() -> Result<()> {
    let args = Args::parse();
    let kernels = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let mut engines: Vec<Box<dyn Engine>> = vec![];
    if !args.peers {
        engines.push(Box::new(Cuda::new(&args.library.clone().unwrap_or_else(built_library), &kernels)?));
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
    for case in cases::all(u32::from(!args.quick)) {
        if !case.title.contains(&args.filter) {
            continue;
        }
        host.prepare(&case)?;
        host.run()?;
        let want = host.read(case.answer.0)?;
        let mut times = Vec::new();
        for engine in &mut engines {
            let time = engine.prepare(&case).and_then(|()| {
                engine.run()?;
                table::compare(&case, &want, &engine.read(case.answer.0)?)?;
                engine.reset()?;
                table::measure(engine.as_mut(), args.runs)
            });
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
