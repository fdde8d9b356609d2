//! `anywarp demo`: compiles and runs the vector addition of the CUDA guide.

use std::fs;
use std::io::{self, Write as _};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use host::options::Options;

use super::run::environment;
use crate::install;
use crate::scratch::Scratch;

/// Compile the CUDA guide's vector addition with cc and run it on this machine's CPU
#[derive(clap::Args)]
pub struct Args {
    /// Number of elements of each vector
    #[arg(long, default_value_t = 64 << 20, value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    elements: u32,
    /// C compiler
    #[arg(long, env = "CC", default_value = "cc")]
    cc: String,
}

/// The demo's files, embedded so that it also works where only the command is installed.
const FILES: [(&str, &str); 4] = [
    ("cuda.h", include_str!("../../../../include/cuda.h")),
    ("common.h", include_str!("../../../../examples/c/common.h")),
    ("vecadd.c", include_str!("../../../../examples/c/vecadd.c")),
    ("vecadd.ptx", include_str!("../../../../examples/c/vecadd.ptx")),
];

/// Runs the subcommand; the exit status is the program's.
pub fn run(args: Args, options: &Options) -> Result<ExitCode> {
    let folder = install::library_folder(options)?;
    let scratch = Scratch::new("anywarp-demo-").context("cannot create a folder for temporary files")?;
    let at = |name: &str| scratch.path().join(name);
    for (name, text) in FILES {
        fs::write(at(name), text).with_context(|| format!("cannot write {}", at(name).display()))?;
    }
    let program = at("vecadd");
    let compile = Command::new(&args.cc)
        .args(["-O2", "-std=c11", "-D_GNU_SOURCE", "-o"])
        .arg(&program)
        .arg(at("vecadd.c"))
        .arg("-I")
        .arg(scratch.path())
        .arg(folder.join(install::LIBCUDA))
        .status()
        .with_context(|| {
            format!("cannot run the C compiler {}; install one or name it with --cc", args.cc)
        })?;
    if !compile.success() {
        bail!("{} could not compile vecadd.c ({compile})", args.cc);
    }
    writeln!(io::stdout(), "program  examples/c/vecadd.c, compiled with {} against include/cuda.h", args.cc)?;
    writeln!(io::stdout(), "driver   {}", folder.join(install::LIBCUDA).display())?;
    let status = Command::new(&program)
        .arg(args.elements.to_string())
        .current_dir(scratch.path())
        .envs(environment(&folder))
        .status()
        .context("cannot run the compiled program")?;
    Ok(ExitCode::from(status.code().map_or(1, |c| c.clamp(0, 255) as u8)))
}
