//! Which files other users can have written.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::options;

/// Why a file is not trusted.
#[derive(Debug)]
pub enum Distrust {
    /// It does not exist or cannot be accessed.
    System(io::Error),
    /// Another user owns it.
    Owner {
        /// The file, or a folder in its path.
        path: PathBuf,
        /// The owner.
        owner: u32,
    },
    /// Other users can write these.
    Writable(Vec<PathBuf>),
    /// It is not a plain file, or not a folder.
    Kind(PathBuf),
}

impl std::fmt::Display for Distrust {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Distrust::System(error) => error.fmt(f),
            Distrust::Owner { path, owner } => {
                write!(f, "{} belongs to another user (uid {owner})", path.display())
            }
            Distrust::Writable(paths) => {
                let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
                write!(f, "other users can write it; fix it with `chmod go-w {}`", paths.join(" "))
            }
            Distrust::Kind(path) => write!(f, "{} is not a regular file or folder", path.display()),
        }
    }
}

impl std::error::Error for Distrust {}

impl From<io::Error> for Distrust {
    fn from(error: io::Error) -> Self {
        Distrust::System(error)
    }
}

/// The effective user id.
pub(crate) fn user() -> u32 {
    // SAFETY: only returns a number.
    unsafe { libc::geteuid() }
}

/// Users whose files may be loaded as code.
#[derive(Clone, Copy, Debug)]
struct Trusted {
    /// The trusted user besides root.
    user: u32,
}

impl Trusted {
    /// Root and the effective user. In a setgid program the effective user is the caller, who must not choose
    /// the program's code, so only root is trusted.
    fn now() -> Trusted {
        // SAFETY: only returns a number.
        let caller = unsafe { libc::getuid() };
        Trusted { user: if options::secure() && caller == user() { 0 } else { user() } }
    }

    fn owner(self, meta: &Metadata) -> bool {
        [0, self.user].contains(&meta.uid())
    }
}

/// Whether users other than the owner and root can write this. Write access for a group counts, unless the
/// group is root's or has the same number as the owner.
fn writable_by_others(meta: &Metadata) -> bool {
    let group = meta.mode() & 0o020 != 0 && meta.gid() != 0 && meta.gid() != meta.uid();
    group || meta.mode() & 0o002 != 0
}

/// The uid shown for files of users unknown to this user namespace; inside most sandboxes this includes root.
fn unknown_user() -> u32 {
    let text = fs::read_to_string("/proc/sys/kernel/overflowuid").unwrap_or_default();
    text.trim().parse().unwrap_or(65534)
}

/// The path of a file, with links resolved, if only the user and root can change it: the file and its folder
/// belong to them and are writable by nobody else, and nobody else can replace a folder above.
///
/// # Errors
/// What is wrong, and with which file or folder.
pub fn code(path: &Path) -> Result<PathBuf, Distrust> {
    code_of(path, Trusted::now())
}

fn code_of(path: &Path, trusted: Trusted) -> Result<PathBuf, Distrust> {
    let path = fs::canonicalize(path)?;
    let mut writable = Vec::new();
    for (distance, place) in path.ancestors().enumerate() {
        let meta = fs::symlink_metadata(place)?;
        let right = if distance == 0 { meta.is_file() } else { meta.is_dir() };
        if !right {
            return Err(Distrust::Kind(place.into()));
        }
        let above = distance > 1;
        let known = trusted.owner(&meta) || above && meta.uid() == unknown_user();
        if !known {
            return Err(Distrust::Owner { path: place.into(), owner: meta.uid() });
        }
        // In a sticky folder such as /tmp users cannot rename each other's files.
        let sticky = above && meta.mode() & libc::S_ISVTX != 0;
        if writable_by_others(&meta) && !sticky {
            writable.push(place.to_path_buf());
        }
    }
    if writable.is_empty() { Ok(path) } else { Err(Distrust::Writable(writable)) }
}

/// The file that this library's code was loaded from: the driver library, or the program that contains it.
pub fn own_file() -> Option<PathBuf> {
    let address = own_file as *const () as usize;
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| {
        // START-END RIGHTS OFFSET DEVICE INODE PATH, in hexadecimal.
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let bound = |text| usize::from_str_radix(text, 16).ok();
        if !(bound(start)?..bound(end)?).contains(&address) {
            return None;
        }
        let at = rest.find('/')?;
        rest.get(at..).map(PathBuf::from)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
    }

    #[test]
    fn files_that_others_can_change_are_not_trusted() {
        let scratch = tempfile::tempdir().expect("a folder");
        let (above, folder) = (scratch.path().join("above"), scratch.path().join("above/folder"));
        fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("library");
        fs::write(&file, "x").expect("a file");
        let safe = || {
            mode(&above, 0o755);
            mode(&folder, 0o755);
            mode(&file, 0o644);
        };
        let wrong = |place: &Path| match code(&file) {
            Err(Distrust::Writable(paths)) => assert_eq!(paths, [fs::canonicalize(place).expect("there")]),
            other => panic!("{other:?}"),
        };
        safe();
        assert_eq!(code(&file).expect("trusted"), fs::canonicalize(&file).expect("there"));
        for place in [&file, &folder, &above] {
            safe();
            mode(place, 0o777);
            wrong(place);
        }
        // All of them are reported at once.
        for place in [&file, &folder, &above] {
            mode(place, 0o777);
        }
        assert!(matches!(code(&file), Err(Distrust::Writable(paths)) if paths.len() == 3));
        // Sticky: nobody can remove the folder, but everybody can write next to the file.
        safe();
        mode(&above, 0o1777);
        assert!(code(&file).is_ok());
        mode(&folder, 0o1777);
        wrong(&folder);
        // A link is followed, and its target counts.
        safe();
        let link = scratch.path().join("link");
        symlink(&file, &link).expect("a link");
        assert_eq!(code(&link).expect("trusted"), fs::canonicalize(&file).expect("there"));
        mode(&file, 0o666);
        assert!(matches!(code(&link), Err(Distrust::Writable(_))));
        assert!(matches!(code(&folder), Err(Distrust::Kind(_))));
        assert!(matches!(code(&folder.join("nothing")), Err(Distrust::System(_))));
    }

    #[test]
    fn files_of_other_users_are_not_trusted() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = scratch.path().join("folder");
        fs::create_dir(&folder).expect("a folder");
        let file = folder.join("library");
        fs::write(&file, "x").expect("a file");
        mode(&folder, 0o755);
        mode(&file, 0o644);
        // Only root can give files away, so the test looks at the user's own files as a stranger.
        let stranger = Trusted { user: user().wrapping_add(1) };
        if user() != 0 {
            assert!(matches!(code_of(&file, stranger), Err(Distrust::Owner { .. })));
            return;
        }
        for place in [&file, &folder] {
            chown(place, Some(1234), None).expect("root may");
            assert!(matches!(code(&file), Err(Distrust::Owner { owner: 1234, .. })), "{}", place.display());
            chown(place, Some(0), None).expect("root may");
        }
        assert!(code(&file).is_ok());
    }

    #[test]
    fn a_group_of_others_counts_as_others() {
        let scratch = tempfile::tempdir().expect("a folder");
        let file = scratch.path().join("library");
        fs::write(&file, "x").expect("a file");
        mode(&file, 0o664);
        if user() == 0 {
            chown(&file, None, Some(1234)).expect("root may");
            assert!(matches!(code(&file), Err(Distrust::Writable(_))));
            chown(&file, None, Some(0)).expect("root may");
            assert!(code(&file).is_ok());
        }
    }

    #[test]
    fn the_tests_own_file_is_known() {
        let own = own_file().expect("Linux tells");
        assert_eq!(own, std::env::current_exe().expect("Linux tells"));
    }
}
