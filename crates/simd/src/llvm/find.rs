//! Finds LLVM.
//!
//! A library is code that runs with the user's rights, so it is taken only from places that the user or the
//! installer chose, and only if nobody else can have written it ([`host::trust`]):
//!
//! - the path in `ANYWARP_LLVM`; if it is set, no other place is tried;
//! - beside the driver library: an installation brings its own copy;
//! - the toolchain that built this library;
//! - the toolchains of rustup.
//!
//! The program's folder, the loader's search path and `PATH` are not searched, and no program is run.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use host::trust;

/// The driver library's folder, relative to the command's, in an installation.
const INSTALLED: &str = "../lib/anywarp";

/// The user's settings for finding LLVM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// The library or its folder (`ANYWARP_LLVM`); if set, no other place is tried.
    pub named: Option<PathBuf>,
    /// The folder of rustup's toolchains (`RUSTUP_HOME`).
    pub rustup: Option<PathBuf>,
}

/// The places to search.
#[derive(Clone, Debug, Default)]
struct Places {
    /// `ANYWARP_LLVM`.
    named: Option<PathBuf>,
    /// Folders, most likely first.
    folders: Vec<PathBuf>,
}

impl Places {
    /// The places for this process and the user's settings.
    fn of_process(search: &Search) -> Places {
        let mut folders = Vec::new();
        if let Some(own) = trust::own_file() {
            let folder = own.parent().map(Path::to_path_buf).unwrap_or_default();
            // This code may be part of the command, which is not in the driver's folder.
            let program = std::env::current_exe().is_ok_and(|exe| exe == own);
            folders.push(if program { folder.join(INSTALLED) } else { folder });
        }
        let built = PathBuf::from(env!("ANYWARP_BUILD_LLVM"));
        folders.push(built.clone());
        let rustup = search.rustup.iter().flat_map(|home| toolchains(home));
        folders.extend(rustup.filter(|folder| *folder != built));
        Places { named: search.named.clone(), folders }
    }

    /// The libraries found, most likely first, and the folders without one, with the reason.
    fn libraries(&self) -> (Vec<PathBuf>, Vec<(PathBuf, String)>) {
        let folders = match &self.named {
            Some(named) if !named.is_dir() => return (vec![named.clone()], Vec::new()),
            Some(named) => &vec![named.join("lib"), named.clone()],
            None => &self.folders,
        };
        let (mut found, mut empty) = (Vec::new(), Vec::new());
        for folder in folders {
            match libraries(folder) {
                Ok(inside) => found.extend(inside),
                Err(reason) => empty.push((folder.clone(), reason)),
            }
        }
        (found, empty)
    }
}

/// The library folders of rustup's toolchains.
fn toolchains(home: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(home.join("toolchains")).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path().join("lib")).collect();
    folders.sort();
    folders
}

/// Whether a file name is one of LLVM 22's: rustup's, LLVM's own or Debian's.
fn is_llvm(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let versioned = name
        .strip_prefix("libLLVM.so.22")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']));
    versioned || name == "libLLVM-22.so"
}

/// Files in a folder that look like LLVM 22, or why there are none.
fn libraries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| error.to_string())?.flatten();
    let mut found: Vec<PathBuf> =
        entries.map(|e| e.path()).filter(|p| p.file_name().is_some_and(is_llvm)).collect();
    found.sort();
    if found.is_empty() {
        return Err("no libLLVM.so.22 in it".to_owned());
    }
    Ok(found)
}

/// The libraries that may be opened, most likely first; and the rejected places, with reasons.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates {
    pub files: Vec<PathBuf>,
    pub refused: Vec<String>,
}

impl Candidates {
    /// The candidates of this process.
    pub fn find(search: &Search) -> Candidates {
        Candidates::among(&Places::of_process(search))
    }

    fn among(places: &Places) -> Candidates {
        let (found, empty) = places.libraries();
        let mut all = Candidates::default();
        for path in found {
            match trust::code(&path) {
                Ok(path) if all.files.contains(&path) => {}
                Ok(path) => all.files.push(path),
                Err(reason) => all.refused.push(format!("{}: {reason}", path.display())),
            }
        }
        let nothing = |(folder, reason): (PathBuf, String)| format!("{}: {reason}", folder.display());
        all.refused.extend(empty.into_iter().map(nothing));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A folder with files in it.
    fn with(folder: &Path, names: &[&str]) -> Vec<PathBuf> {
        fs::create_dir_all(folder).expect("a folder");
        let paths: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
        for path in &paths {
            fs::write(path, "").expect("a file");
            fs::set_permissions(path, fs::Permissions::from_mode(0o644)).expect("ours");
        }
        paths
    }

    #[test]
    fn libraries_are_found_in_order() {
        let scratch = tempfile::tempdir().expect("a folder");
        let root = scratch.path().canonicalize().expect("there");
        let (a, b) = (root.join("a"), root.join("b"));
        let first = with(&a, &["libLLVM.so.22.1-rust-1.95.0-stable", "libLLVM.so.220", "libLLVM.so.21.1"]);
        let second = with(&b, &["libLLVM-22.so", "libLLVM.so.22.1"]);
        let places =
            Places { named: None, folders: vec![root.join("none"), a.clone(), b.clone(), a.clone()] };
        let found = Candidates::among(&places);
        assert_eq!(found.files, [&first[0], &second[0], &second[1]].map(Clone::clone));
        let none = root.join("none");
        assert_eq!(found.refused, [format!("{}: No such file or directory (os error 2)", none.display())]);
        // A folder that cannot be read has another reason than one without LLVM.
        let places_of = |folder: &Path| Places { named: None, folders: vec![folder.into()] };
        let (file, bare) = (first[1].clone(), with(&root.join("c"), &["other"]));
        let told = Candidates::among(&places_of(&file)).refused;
        assert_eq!(told, [format!("{}: Not a directory (os error 20)", file.display())]);
        let told = Candidates::among(&places_of(bare[0].parent().expect("c"))).refused;
        assert_eq!(told, [format!("{}: no libLLVM.so.22 in it", root.join("c").display())]);
        // If a file or folder is named, nothing else counts.
        let named = |path: PathBuf| Candidates::among(&Places { named: Some(path), ..places.clone() });
        assert_eq!(named(first[2].clone()).files, [first[2].clone()]);
        assert_eq!(named(b).files, second);
        let missing = named(root.join("missing"));
        assert!(missing.files.is_empty() && missing.refused.len() == 1, "{missing:?}");
        let empty = named(root.clone());
        assert!(empty.files.is_empty() && empty.refused.len() == 2, "{empty:?}");
    }

    #[test]
    fn a_library_that_others_can_write_is_refused_with_its_reason() {
        let scratch = tempfile::tempdir().expect("a folder");
        let file = with(&scratch.path().join("lib"), &["libLLVM.so.22.1"]).remove(0);
        let found =
            |named: &Path| Candidates::among(&Places { named: Some(named.into()), folders: Vec::new() });
        assert_eq!(found(scratch.path()).files.len(), 1);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o646)).expect("ours");
        for named in [&file, scratch.path()] {
            let found = found(named);
            assert!(found.files.is_empty());
            assert!(found.refused[0].contains("chmod go-w"), "{found:?}");
        }
    }

    #[test]
    fn toolchains_of_rustup_are_found() {
        let scratch = tempfile::tempdir().expect("a folder");
        for name in ["b", "a"] {
            fs::create_dir_all(scratch.path().join("toolchains").join(name)).expect("a folder");
        }
        let at = |name: &str| scratch.path().join("toolchains").join(name).join("lib");
        assert_eq!(toolchains(scratch.path()), [at("a"), at("b")]);
        assert!(toolchains(&scratch.path().join("none")).is_empty());
    }

    #[test]
    fn the_toolchain_that_built_this_has_llvm() {
        let built = PathBuf::from(env!("ANYWARP_BUILD_LLVM"));
        let search = Search::default();
        assert!(Places::of_process(&search).folders.contains(&built));
        let found = Candidates::find(&search);
        assert!(!found.files.is_empty(), "{found:?}");
    }
}
