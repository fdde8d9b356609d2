//! The environment variables that the driver reads.
//!
//! A setuid program is started by a user with fewer rights than it has, and that user chooses its
//! environment. There (the kernel sets `AT_SECURE`) variables that name a file, a folder or a library count
//! as not set.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

/// What a variable's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A number, a switch, a list of devices: harmless whoever sets it.
    Setting,
    /// A path: code is loaded from it or files are written to it.
    Path,
}

/// Every variable. One that is missing here reads as not set.
const VARIABLES: &[(&str, Kind)] = &[
    ("ANYWARP_CACHE_DIR", Kind::Path),
    ("ANYWARP_COMPUTE_CAPABILITY", Kind::Setting),
    ("ANYWARP_CPU", Kind::Setting),
    ("ANYWARP_DETERMINISTIC", Kind::Setting),
    ("ANYWARP_DEVICES", Kind::Setting),
    ("ANYWARP_ENGINE", Kind::Setting),
    ("ANYWARP_EXACT", Kind::Setting),
    ("ANYWARP_HIP_CONTEXT", Kind::Setting),
    ("ANYWARP_HIP_STRICT", Kind::Setting),
    ("ANYWARP_KEEP_PTX", Kind::Path),
    ("ANYWARP_LIB", Kind::Path),
    ("ANYWARP_LLVM", Kind::Path),
    ("ANYWARP_LOG", Kind::Setting),
    ("ANYWARP_MEMORY", Kind::Setting),
    ("ANYWARP_WATCHDOG", Kind::Setting),
    ("ANYWARP_WORKERS", Kind::Setting),
    ("CUDA_VISIBLE_DEVICES", Kind::Setting),
    ("HIP_VISIBLE_DEVICES", Kind::Setting),
    ("HOME", Kind::Path),
    ("ROCR_VISIBLE_DEVICES", Kind::Setting),
    ("RUSTUP_HOME", Kind::Path),
    ("XDG_CACHE_HOME", Kind::Path),
];

/// Whether the process has rights that the user who started it has not: a setuid or setgid program, or one
/// with file capabilities.
pub fn secure() -> bool {
    static SECURE: OnceLock<bool> = OnceLock::new();
    // SAFETY: reads a word that the kernel gave the process.
    *SECURE.get_or_init(|| unsafe { libc::getauxval(libc::AT_SECURE) } != 0)
}

/// A variable's value; `None` where it is not set or may not be obeyed.
pub fn raw(name: &str) -> Option<OsString> {
    let value = std::env::var_os(name)?;
    allowed(name, secure()).then_some(value)
}

/// The same as text.
pub fn text(name: &str) -> Option<String> {
    raw(name).map(|value| value.to_string_lossy().into_owned())
}

/// A path; an empty value is none.
pub fn path(name: &str) -> Option<PathBuf> {
    raw(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Whether a variable may be obeyed.
fn allowed(name: &str, secure: bool) -> bool {
    let kind = VARIABLES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
    debug_assert!(kind.is_some(), "{name} is missing in the table of variables");
    match kind {
        Some(Kind::Setting) => true,
        Some(Kind::Path) => !secure,
        None => false,
    }
}

/// The names of all variables that are read.
pub fn names() -> impl Iterator<Item = &'static str> {
    VARIABLES.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_with_more_rights_than_its_caller_obeys_no_path() {
        let paths = [
            "ANYWARP_CACHE_DIR",
            "ANYWARP_KEEP_PTX",
            "ANYWARP_LIB",
            "ANYWARP_LLVM",
            "HOME",
            "RUSTUP_HOME",
            "XDG_CACHE_HOME",
        ];
        for name in names() {
            assert!(allowed(name, false), "{name}");
            assert_eq!(allowed(name, true), !paths.contains(&name), "{name}");
        }
        assert!(!secure(), "tests are not run as setuid programs");
    }

    #[test]
    fn the_table_is_sorted() {
        assert!(VARIABLES.is_sorted_by_key(|(name, _)| *name));
    }
}
