//! The kernels as AMD code.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The targets: waves of 64 lanes, and of 32.
pub const TARGETS: [&str; 2] = ["gfx906", "gfx1100"];

/// Compiles the kernels to code objects in a folder for each target inside of `into`.
pub fn compile(kernels: &Path, into: &Path) -> Result<()> {
    let done = Command::new("sh")
        .arg(kernels.join("make.sh"))
        .arg("amd")
        .arg(into)
        .output()
        .context("cannot run sh")?;
    if !done.status.success() {
        bail!(
            "make.sh amd failed; it needs clang++-19 and lld-19: {}",
            String::from_utf8_lossy(&done.stderr)
        );
    }
    Ok(())
}
