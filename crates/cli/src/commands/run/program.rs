//! What kind of file a program is, as far as it matters to the driver: the loader of a program's libraries
//! must find ours.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::files;

/// What is to be said of a program before it is started.
#[derive(Debug, PartialEq, Eq)]
pub enum Finding {
    /// It cannot be started; the shell, which would be tried, would read it as a script.
    Broken(String),
    /// It can, and will not find the driver.
    Alone(String),
}

/// The file that is started for a name: the name if it has a slash, otherwise the first in `PATH`.
fn resolve(program: &OsStr) -> Option<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return Some(program.into());
    }
    let runs =
        |path: &PathBuf| fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
    std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join(program)).find(runs)
}

/// The part of a program's headers that decides how it is loaded.
struct Headers {
    /// 32 or 64.
    bits: u32,
    /// The processor's number.
    machine: u16,
    /// Whether it names a loader, which loads libraries.
    has_loader: bool,
}

/// The offsets of `e_phoff`, `e_phentsize` and `e_phnum`, by the size of words.
const FIELDS: [(u32, usize, usize); 2] = [(32, 0x1c, 0x2a), (64, 0x20, 0x36)];
const PT_INTERP: u32 = 3;
const X86_64: u16 = 62;

/// Reads an ELF file's headers; an error says what is wrong with them.
fn headers(file: &File) -> Result<Headers, &'static str> {
    let mut head = [0u8; 64];
    let short = "it ends in its header";
    file.read_exact_at(&mut head[..52], 0).map_err(|_| short)?;
    let bits = match head[4] {
        1 => 32,
        2 => 64,
        _ => return Err("its header is broken"),
    };
    if head[5] != 1 {
        return Err("it is for a processor with another order of bytes");
    }
    if bits == 64 {
        file.read_exact_at(&mut head, 0).map_err(|_| short)?;
    }
    let half = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
    let (_, table, sizes) = FIELDS[usize::from(bits == 64)];
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |n, &byte| n << 8 | u64::from(byte));
    let start = word(&head[table..table + bits as usize / 8]);
    let (size, count) = (u64::from(half(sizes)), u64::from(half(sizes + 2)));
    let mut has_loader = false;
    for at in (0..count).map(|n| start.saturating_add(n * size)) {
        let mut kind = [0u8; 4];
        file.read_exact_at(&mut kind, at).map_err(|_| "it ends before its program headers")?;
        has_loader |= u32::from_le_bytes(kind) == PT_INTERP;
    }
    Ok(Headers { bits, machine: half(18), has_loader })
}

/// Whether a program was built with device code.
fn has_device_code(path: &Path) -> bool {
    files::read(path, files::MOST_LIBRARY).is_ok_and(|bytes| {
        !image::search_fatbins(&bytes).is_empty() || !image::search_bundles(&bytes).is_empty()
    })
}

/// What is to be said of a program; nothing of scripts and of names that are not found.
pub fn examine(program: &OsStr) -> Option<Finding> {
    let path = resolve(program)?;
    let (file, meta) = (File::open(&path).ok()?, fs::metadata(&path).ok()?);
    let mut magic = [0u8; 4];
    if !meta.is_file() || file.read_exact_at(&mut magic, 0).is_err() || &magic != b"\x7fELF" {
        return None;
    }
    let Headers { bits, machine, has_loader } = match headers(&file) {
        Ok(headers) => headers,
        Err(reason) => return Some(Finding::Broken(format!("not a program: {reason}"))),
    };
    let alone = |reason: &str| Some(Finding::Alone(format!("it will not find Anywarp's driver: {reason}")));
    if bits != 64 || machine != X86_64 {
        return alone("it is not for x86-64, as the driver is");
    }
    // SAFETY: both only return a number.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    let mode = meta.mode();
    if mode & libc::S_ISUID != 0 && meta.uid() != user || mode & libc::S_ISGID != 0 && meta.gid() != group {
        return alone(
            "it has more rights than you (setuid or setgid), and the loader then ignores LD_LIBRARY_PATH and \
             LD_PRELOAD",
        );
    }
    // Others need no driver.
    if !has_loader && has_device_code(&path) {
        return alone("it is linked statically (-static), so it loads no libraries");
    }
    None
}

/// Why a program that is there is not found.
pub fn not_found(program: &OsStr) -> Option<&'static str> {
    resolve(program).filter(|path| path.exists()).map(
        |_| "its interpreter (the program in a script's first line, or an ELF file's loader) does not exist",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_known_by_their_headers() {
        let folder = tempfile::tempdir().expect("a folder");
        let own = fs::read(std::env::current_exe().expect("Linux tells")).expect("readable");
        let look = |bytes: &[u8], mode: u32| {
            let path = folder.path().join("program");
            fs::write(&path, bytes).expect("written");
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("ours");
            examine(path.as_os_str())
        };
        let broken = |reason: &str| Some(Finding::Broken(format!("not a program: {reason}")));
        assert_eq!(look(&own, 0o755), None);
        assert_eq!(look(b"#!/bin/sh\n", 0o755), None);
        assert_eq!(look(b"", 0o755), None);
        for cut in [4, 16, 51, 63] {
            assert_eq!(look(&own[..cut], 0o755), broken("it ends in its header"), "{cut}");
        }
        assert_eq!(look(&own[..64], 0o755), broken("it ends before its program headers"));
        let changed = |at: usize, byte: u8| {
            let mut bytes = own[..4096].to_vec();
            bytes[at] = byte;
            bytes
        };
        assert_eq!(look(&changed(4, 9), 0o755), broken("its header is broken"));
        let alone = |bytes: &[u8], mode: u32, what: &str| match look(bytes, mode) {
            Some(Finding::Alone(told)) => assert!(told.contains(what), "{told}"),
            other => panic!("{other:?}"),
        };
        alone(&changed(18, 183), 0o755, "x86-64");
        // SAFETY: only returns a number.
        if unsafe { libc::geteuid() } == 0 {
            let path = folder.path().join("other");
            fs::write(&path, &own).expect("written");
            std::os::unix::fs::chown(&path, Some(1234), None).expect("root may");
            assert_eq!(examine(path.as_os_str()), None);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o4755)).expect("root may");
            assert!(
                matches!(examine(path.as_os_str()), Some(Finding::Alone(told)) if told.contains("setuid"))
            );
        }
        // Of programs without a loader, only those with device code are reported.
        let mut lonely = own[..4096].to_vec();
        let table =
            usize::try_from(u64::from_le_bytes(lonely[32..40].try_into().expect("8"))).expect("64 bits");
        for n in 0..usize::from(lonely[56]) {
            let at = table + n * 56;
            if lonely[at] == 3 {
                lonely[at] = 0;
            }
        }
        assert_eq!(look(&lonely, 0o755), None);
        // A bundle of one entry of four bytes, behind its header and name.
        lonely.extend(image::BUNDLE_MAGIC);
        [1u64, 64, 4, 6].iter().for_each(|word| lonely.extend(word.to_le_bytes()));
        lonely.extend(b"gfx906\0\0code");
        alone(&lonely, 0o755, "statically");
    }
}
