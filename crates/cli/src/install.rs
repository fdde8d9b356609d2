//! Finds the driver library, starting from the running command.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use host::options::Options;

/// The folder of the driver libraries beside the command, in a build.
const BUILT: &str = "lib-anywarp";
/// The folder of the driver libraries relative to the command's folder, in an installation.
const INSTALLED: &str = "../lib/anywarp";

/// The library that every client loads in the end.
pub const LIBCUDA: &str = "libcuda.so.1";

/// Our replacement for NVIDIA's assembler, in the same folder: it passes PTX through unchanged.
pub const PTXAS: &str = "ptxas";

/// The folder, in the driver's, of programs that stand for NVIDIA's: `nvidia-smi`.
pub const PROGRAMS: &str = "bin";
/// The library, in the same folder, that makes NVIDIA's compiler of CUDA C++ give PTX for machine code.
pub const NVRTC: &str = "libanywarp-nvrtc.so";
/// The library, in the same folder, that replaces static CUDA runtimes by ours.
pub const CUDART: &str = "libanywarp-cudart.so";
/// The library, in the same folder, to which NVTX's functions tell a program's ranges.
pub const NVTX: &str = "libanywarp-nvtx.so";

/// Folders that may contain the driver, likeliest first.
fn candidates(exe: &Path, options: &Options) -> Vec<PathBuf> {
    let folder_of_exe = exe.parent().map(Path::to_path_buf).unwrap_or_default();
    match &options.lib {
        // Another driver than the one that was named would be tested unnoticed.
        Some(named) => vec![named.clone()],
        None => vec![folder_of_exe.join(BUILT), folder_of_exe.join(INSTALLED)],
    }
}

/// The folder that contains `libcuda.so.1`.
pub fn library_folder(options: &Options) -> Result<PathBuf> {
    let exe = std::env::current_exe().context("cannot determine this command's path")?;
    let list = candidates(&exe, options);
    for folder in &list {
        if folder.join(LIBCUDA).is_file() {
            return folder.canonicalize().with_context(|| format!("cannot resolve {}", folder.display()));
        }
    }
    if let Some(named) = &options.lib {
        bail!("no {LIBCUDA} in {}, which ANYWARP_LIB names", named.display());
    }
    let tried: Vec<String> = list.iter().map(|p| p.display().to_string()).collect();
    bail!("no {LIBCUDA} in {}; build it with `cargo build --release` or set ANYWARP_LIB", tried.join(", "))
}
