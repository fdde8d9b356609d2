//! Notes where the toolchain that builds us keeps its LLVM (the first place to look for one at run time), and
//! a digest of the compiler's sources, so that objects of another compiler are not taken from the cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates that decide what code a kernel becomes: `lower`, `gcn-lower` and this one, and what they are
/// made of. The test `crates/cli/tests/all/layers.rs` holds the list against the manifests.
const COMPILER: [&str; 9] =
    ["gcn", "gcn-lower", "lower", "names", "ptx", "simd", "tensor", "texture", "wave"];

fn files(folder: &Path, list: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { files(&path, list) } else { list.push(path) }
    }
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let sysroot = Command::new(rustc).args(["--print", "sysroot"]).output();
    let sysroot = sysroot.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_string()).unwrap_or_default();
    println!("cargo::rustc-env=ANYWARP_BUILD_LLVM={sysroot}/lib");
    let mut list = Vec::new();
    for name in COMPILER {
        for part in ["src", "grammar", "tables"] {
            let folder = Path::new("..").join(name).join(part);
            if folder.exists() {
                println!("cargo::rerun-if-changed={}", folder.display());
                files(&folder, &mut list);
            }
        }
    }
    list.sort();
    let mut h = blake3::Hasher::new();
    for path in list {
        h.update(&fs::read(path).unwrap_or_default());
    }
    println!("cargo::rustc-env=ANYWARP_COMPILER={}", h.finalize().to_hex());
}
