//! `anywarp cache`: the machine code cached on disk.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use clap::Subcommand;
use host::options::Options;
use simd::cache::{BOUND, Cache, Item, Removal};

use crate::table;

/// Show, prune or clear the cache of compiled kernels on disk
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

/// Number of objects that `list` shows without `--all`.
const SHOWN: usize = 20;

#[derive(Subcommand, Clone, Copy)]
enum Action {
    /// Show the cache's folder and the most recently used kernels (the default)
    List {
        /// Show all kernels
        #[arg(long)]
        all: bool,
    },
    /// Remove files that dead processes left unfinished, and the least recently used kernels if the cache
    /// exceeds its size limit
    Prune,
    /// Remove everything in the cache
    Clear,
}

/// The age of a file in the largest unit that gives at least one.
fn ago(time: SystemTime) -> String {
    const UNITS: [(u64, &str); 3] = [(86_400, "d"), (3_600, "h"), (60, "min")];
    let seconds = time.elapsed().unwrap_or(Duration::ZERO).as_secs();
    let unit = UNITS.into_iter().find(|(length, _)| seconds >= *length);
    unit.map_or(format!("{seconds} s"), |(length, name)| format!("{} {name}", seconds / length))
}

/// The numbers of kernels and of unfinished files, what happened to them, and their total size.
fn count(items: &[Item], happened: &str) -> String {
    let unfinished = items.iter().filter(|item| item.unfinished).count();
    let files = match unfinished {
        0 => String::new(),
        1 => ", 1 unfinished file".into(),
        n => format!(", {n} unfinished files"),
    };
    let size = items.iter().map(|item| item.size).sum();
    format!("{} kernels{files}{happened}, {}", items.len() - unfinished, table::bytes(size))
}

/// Maximum number of files that could not be removed to list by name.
const LISTED: usize = 8;

/// Reports what was removed, and what could not be; status 1 if anything is left.
fn report(folder: &Path, removal: &Removal) -> Result<ExitCode> {
    writeln!(io::stdout(), "{}: {}", folder.display(), count(&removal.removed, " removed"))?;
    for (path, error) in removal.left.iter().take(LISTED) {
        eprintln!("anywarp: cannot remove {}: {error}", path.display());
    }
    if removal.left.len() > LISTED {
        eprintln!("anywarp: cannot remove {} more", removal.left.len() - LISTED);
    }
    Ok(if removal.left.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the subcommand.
pub fn run(args: Args, options: &Options) -> Result<ExitCode> {
    let Some(cache) = options.cache_folder().map(|folder| Cache::at(&folder)) else {
        writeln!(io::stdout(), "no cache: ANYWARP_CACHE_DIR disables it, or there is no home folder")?;
        return Ok(ExitCode::SUCCESS);
    };
    let folder = cache.folder().display();
    match args.action.unwrap_or(Action::List { all: false }) {
        Action::List { all } => {
            let mut items = cache.items().with_context(|| format!("cannot read {folder}"))?;
            writeln!(io::stdout(), "{folder}: {}", count(&items, ""))?;
            items.sort_by_key(|item| std::cmp::Reverse(item.used));
            let rows: Vec<Vec<String>> = items
                .iter()
                .take(if all { usize::MAX } else { SHOWN })
                .map(|item| {
                    let mut used = ago(item.used);
                    if item.unfinished {
                        used.push_str(", unfinished");
                    }
                    vec![item.key.chars().take(16).collect(), table::bytes(item.size), used]
                })
                .collect();
            if !rows.is_empty() {
                write!(io::stdout(), "{}", table::columns(&["key", "size", "last used"], &rows))?;
            }
            if rows.len() < items.len() {
                writeln!(io::stdout(), "and {} more (--all shows them)", items.len() - rows.len())?;
            }
        }
        Action::Prune => {
            let removal = cache.prune(BOUND).with_context(|| format!("cannot prune {folder}"))?;
            return report(cache.folder(), &removal);
        }
        Action::Clear => {
            let removal = cache.clear().with_context(|| format!("cannot clear {folder}"))?;
            return report(cache.folder(), &removal);
        }
    }
    Ok(ExitCode::SUCCESS)
}
