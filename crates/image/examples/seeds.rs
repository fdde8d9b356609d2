//! Writes one container of each kind into a folder, as the fuzzer's first inputs
//! (`fuzz/fuzz_targets/image.rs`).
//!
//! `cargo run -p image --example seeds -- FOLDER`

use std::io;
use std::path::PathBuf;

#[path = "../tests/support/mod.rs"]
mod support;

fn main() -> io::Result<()> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or_else(|| io::Error::other("usage: seeds FOLDER"))?;
    std::fs::create_dir_all(&folder)?;
    support::seeds().into_iter().try_for_each(|(name, bytes)| std::fs::write(folder.join(name), bytes))
}
