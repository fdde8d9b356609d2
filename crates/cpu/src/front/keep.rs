//! Saves the PTX that programs load in the folder that `ANYWARP_KEEP_PTX` names.

use std::path::Path;

use host::folder::Folder;

use super::Source;

/// Writes each text of a module once, whether it loads or not. The file's name consists of the first kernel's
/// name and a digest.
pub(super) fn texts(folder: &Path, sources: &[Source]) {
    for source in sources {
        if let Err(error) = write(folder, source.text) {
            tracing::warn!(%error, folder = %folder.display(), "ANYWARP_KEEP_PTX: a module's PTX cannot be saved");
        }
    }
}

/// A text's file name: the name after its first `.entry`, restricted to what file names allow, and a digest.
fn name(text: &str) -> String {
    let after = text.split_once(".entry").map_or("", |(_, rest)| rest.trim_start());
    let kernel = after.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').take(60);
    let kernel: String = kernel.collect();
    let digest = blake3::hash(text.as_bytes()).to_hex();
    let digest = digest.get(..16).unwrap_or_default();
    if kernel.is_empty() { format!("{digest}.ptx") } else { format!("{kernel}.{digest}.ptx") }
}

fn write(folder: &Path, text: &str) -> std::io::Result<()> {
    let name = name(text);
    if folder.join(&name).exists() {
        return Ok(());
    }
    std::fs::create_dir_all(folder)?;
    // Other processes may load the same module at the same time. Each writes a file of its own and renames
    // it.
    Folder::open(folder)?.write(&name, text.as_bytes(), 0o666)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_kernel_and_contents() {
        let (one, other) = (name(".visible .entry add(.param .u64 p) {}"), name("// nothing"));
        assert!(one.starts_with("add.") && one.ends_with(".ptx"), "{one}");
        assert_eq!(other.len(), "0123456789abcdef.ptx".len(), "{other}");
        assert_ne!(one, name(".visible .entry add(.param .u32 p) {}"));
    }
}
