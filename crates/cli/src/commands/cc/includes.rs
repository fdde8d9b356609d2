//! Which of CUDA's and HIP's headers a source includes, itself or in its own headers.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Options that name a folder of headers.
const FOLDERS: &[&str] = &["-I", "-iquote", "-isystem", "-idirafter"];
/// CUDA's headers that a program for it includes.
const OF_CUDA: &[&str] = &["cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h"];
/// A folder with one of these is a toolkit's.
const TOOLKIT: &[&str] = &["cuda_runtime.h", "hip/hip_runtime.h"];
/// More files than this are not read.
const MOST: usize = 1000;

/// What was found. Conditions (`#if`) are not looked at.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Found {
    /// The source includes HIP.
    pub hip_itself: bool,
    /// The source or one of its headers includes HIP.
    pub hip: bool,
    /// The source or one of its headers includes CUDA.
    pub cuda: bool,
}

/// The folders of headers that options name, without those of toolkits, whose headers say nothing about the
/// program.
pub fn folders(options: &[OsString]) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        let text = option.to_string_lossy();
        let Some(name) = FOLDERS.iter().find(|name| text.starts_with(**name)) else { continue };
        match &text[name.len()..] {
            "" => folders.extend(rest.next().map(PathBuf::from)),
            folder => folders.push(folder.into()),
        }
    }
    let of_toolkit = |folder: &PathBuf| TOOLKIT.iter().any(|header| folder.join(header).is_file());
    folders.retain(|folder| !of_toolkit(folder));
    folders
}

/// What a source includes. Headers that are in none of the folders are the compiler's or a library's.
pub fn of(source: &Path, folders: &[PathBuf]) -> Found {
    let mut found = Found::default();
    let mut seen = BTreeSet::from([source.to_owned()]);
    let mut open = vec![source.to_owned()];
    while let Some(file) = open.pop() {
        if !file.metadata().is_ok_and(|file| file.is_file()) {
            continue;
        }
        let text = fs::read(&file).unwrap_or_default();
        for name in String::from_utf8_lossy(&text).lines().filter_map(included) {
            if name.starts_with("hip/") {
                found.hip = true;
                found.hip_itself |= file == source;
                continue;
            }
            if OF_CUDA.contains(&name) {
                found.cuda = true;
                continue;
            }
            let beside = file.parent().map(|folder| folder.join(name));
            let header = beside.into_iter().chain(folders.iter().map(|folder| folder.join(name)));
            if let Some(header) = header.into_iter().find(|header| header.is_file())
                && seen.len() < MOST
                && seen.insert(header.clone())
            {
                open.push(header);
            }
        }
    }
    found
}

/// The header that a line includes.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
    let end = match rest.chars().next()? {
        '"' => '"',
        '<' => '>',
        _ => return None,
    };
    rest[1..].split_once(end).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_include() {
        assert_eq!(included("  #  include <hip/hip_runtime.h> // HIP"), Some("hip/hip_runtime.h"));
        assert_eq!(included("#include\"my.h\""), Some("my.h"));
        assert_eq!(included("// #include <hip/hip_runtime.h>"), None);
        assert_eq!(included("#include HEADER"), None);
        assert_eq!(included("#include \"never ends"), None);
    }

    #[test]
    fn folders_of_headers() {
        let options = ["-O2", "-I", "one", "-Itwo", "-isystem", "three", "-DX"].map(OsString::from);
        assert_eq!(folders(&options), ["one", "two", "three"].map(PathBuf::from));
    }
}
