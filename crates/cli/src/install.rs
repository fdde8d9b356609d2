//! Where the driver library lies, seen from the running command.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The folder of the driver libraries beside the command, as a build leaves it.
const BUILT: &str = "lib-anywarp";
/// The folder of the driver libraries from the command's folder, as an installation has it.
const INSTALLED: &str = "../lib/anywarp";

/// The library that every client finally loads.
pub const LIBCUDA: &str = "libcuda.so.1";

/// What stands for NVIDIA's assembler, in the same folder: it hands PTX on as it is.
pub const PTXAS: &str = "ptxas";

/// Folders that may hold the driver, likeliest first.
fn candidates(exe: &Path) -> Vec<PathBuf> {
    let beside = exe.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut list: Vec<PathBuf> = host::options::path("ANYWARP_LIB").into_iter().collect();
    list.extend([beside.join(BUILT), beside.join(INSTALLED)]);
    list
}

/// The folder with `libcuda.so.1` in it.
pub fn library_folder() -> Result<PathBuf> {
    let exe = std::env::current_exe().context("cannot tell where this command lies")?;
    let list = candidates(&exe);
    for folder in &list {
        if folder.join(LIBCUDA).is_file() {
            return folder.canonicalize().with_context(|| format!("cannot resolve {}", folder.display()));
        }
    }
    let tried: Vec<String> = list.iter().map(|p| p.display().to_string()).collect();
    bail!("no {LIBCUDA} in {}; build it with `cargo build --release` or set ANYWARP_LIB", tried.join(", "))
}
