//! `anywarp demo`: the CUDA guide's vector addition, from its C source to its answer.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use super::run::environment;
use crate::install;

/// Compile the CUDA guide's vector addition with cc and run it on this machine's CPU
#[derive(clap::Args)]
pub struct Args {
    /// Elements of each vector
    #[arg(long, default_value_t = 64 << 20, value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    elements: u32,
    /// The C compiler
    #[arg(long, env = "CC", default_value = "cc")]
    cc: String,
}

/// What the demo is made of: it also works where only the command is installed.
const FILES: [(&str, &str); 4] = [
    ("cuda.h", include_str!("../../../../include/cuda.h")),
    ("common.h", include_str!("../../../../examples/c/common.h")),
    ("vecadd.c", include_str!("../../../../examples/c/vecadd.c")),
    ("vecadd.ptx", include_str!("../../../../examples/c/vecadd.ptx")),
];

/// A folder that goes away with its owner.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("anywarp-demo-{}", std::process::id()));
        // A program will run from it: a folder that is there already may be somebody else's.
        let make = || fs::DirBuilder::new().mode(0o700).create(&path);
        make().with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("anywarp: cannot remove {}: {error}", self.0.display());
        }
    }
}

/// Runs the subcommand; its exit status is the program's.
pub fn run(args: Args) -> Result<ExitCode> {
    let folder = install::library_folder()?;
    let scratch = Scratch::new()?;
    let at = |name: &str| scratch.0.join(name);
    for (name, text) in FILES {
        fs::write(at(name), text).with_context(|| format!("cannot write {}", at(name).display()))?;
    }
    let program = at("vecadd");
    let compile = Command::new(&args.cc)
        .args(["-O2", "-std=c11", "-D_GNU_SOURCE", "-o"])
        .arg(&program)
        .arg(at("vecadd.c"))
        .arg("-I")
        .arg(&scratch.0)
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
        .current_dir(&scratch.0)
        .envs(environment(&folder))
        .status()
        .context("cannot run the compiled program")?;
    Ok(ExitCode::from(status.code().map_or(1, |c| c.clamp(0, 255) as u8)))
}
