//! `anywarp check`: whether PTX files load and their kernels compile, and how long that takes.
//!
//! The work is done in child processes ([`child`]), which read one file per line and answer one line per
//! kernel ([`row`]), so that a compiler that crashes or hangs costs only one kernel.

mod child;
mod pool;
mod row;
mod summary;

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use host::options::Options;

use row::Row;

/// Check whole folders of PTX and AMD code: does every module load, does every kernel compile, and how fast
///
/// Nothing is run, and the cache is not used. Failures are grouped by reason, the most frequent first.
/// Modules are loaded whatever device their targets name; features that no device has remain unsupported.
#[derive(clap::Args)]
#[command(after_help = "ANYWARP_CPU selects the processor to compile for.\n\
                        Example: anywarp check ptx --limit 60 --rows kernels.tsv")]
pub struct Args {
    /// PTX files, AMD code objects, and bundles, fatbins, programs, libraries and archives with such code in
    /// them; and folders that contain PTX files and code objects (*.ptx, *.hsaco, *.co) at any depth
    #[arg(required_unless_present = "child", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Only load modules; compile no kernel
    #[arg(long)]
    load: bool,
    /// Compile about this percentage of kernels, the same ones every time
    #[arg(long, value_name = "PERCENT", default_value_t = 100)]
    sample: u32,
    /// Seconds after which a module or a kernel is abandoned
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    limit: u64,
    /// Number of modules to check at the same time; one per processor by default
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Write a line of tab-separated values for each module and kernel to this file
    #[arg(long, value_name = "FILE")]
    rows: Option<PathBuf>,
    /// Fail if loading a module takes longer, in seconds
    #[arg(long, value_name = "SECONDS")]
    max_load: Option<f64>,
    /// Fail if compiling a kernel takes longer, in processor seconds
    #[arg(long, value_name = "SECONDS")]
    max_compile: Option<f64>,
    /// Read files from standard input and answer on standard output
    #[arg(long, hide = true)]
    child: bool,
}

impl Args {
    /// Whether this is a child of another `anywarp check`, which reports problems with the options.
    pub fn is_child(&self) -> bool {
        self.child
    }
}

/// Endings of the names of files that are checked.
const ENDINGS: [&str; 3] = ["ptx", "hsaco", "co"];

/// Adds the files with code under a path, in order.
fn files(path: &Path, into: &mut Vec<PathBuf>) -> Result<()> {
    let what = fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
    if !what.is_dir() {
        into.push(path.to_owned());
        return Ok(());
    }
    let entries = fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut entries: Vec<PathBuf> = entries.map(|e| Ok(e?.path())).collect::<Result<_>>()?;
    entries.sort();
    for entry in entries {
        if entry.is_dir() || entry.extension().is_some_and(|e| ENDINGS.iter().any(|one| e == *one)) {
            files(&entry, into)?;
        }
    }
    Ok(())
}

/// Runs the subcommand. The exit status is 1 if anything failed.
pub fn run(args: &Args, options: &Options) -> Result<ExitCode> {
    let work = child::Work { compile: !args.load, sample: args.sample };
    if args.child {
        child::run(work, options)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut all = Vec::new();
    for path in &args.paths {
        files(path, &mut all)?;
    }
    if all.is_empty() {
        bail!("no PTX files or code objects found");
    }
    let jobs = args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get()));
    let mut out = match &args.rows {
        None => None,
        Some(path) => {
            let file = fs::File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
            let mut out = BufWriter::new(file);
            writeln!(out, "{}", row::HEADINGS.join("\t"))?;
            Some(out)
        }
    };
    let mut rows: Vec<Row> = Vec::new();
    let limit = Duration::from_secs(args.limit.max(1));
    pool::check(all, work, limit, jobs.max(1), &mut |row| {
        if let Some(out) = &mut out {
            writeln!(out, "{}", row.line())?;
            out.flush()?;
        }
        rows.push(row);
        Ok(())
    })?;
    let summary = summary::Summary::new(&rows);
    write!(io::stdout(), "{summary}")?;
    let mut good = summary.is_clean();
    let bounds = [
        ("loading a module", args.max_load, summary.slowest_load()),
        ("compiling a kernel", args.max_compile, summary.slowest_compile()),
    ];
    for (what, bound, slowest) in bounds {
        if let Some(bound) = bound.filter(|b| slowest > *b) {
            writeln!(io::stdout(), "{what} took {slowest:.2} s; the limit is {bound} s")?;
            good = false;
        }
    }
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
