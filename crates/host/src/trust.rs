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
fn writable_by_others(path: &Path, meta: &Metadata) -> io::Result<bool> {
    let ours = |group| group == 0 || group == meta.uid();
    if meta.mode() & 0o002 != 0 {
        return Ok(true);
    }
    // If there is a list, these bits are its mask: without them it gives nobody write access.
    if meta.mode() & 0o020 == 0 {
        return Ok(false);
    }
    Ok(match acl::of(path)? {
        None => !ours(meta.gid()),
        Some(entries) => entries.iter().any(|entry| match entry.holder {
            _ if !entry.writes => false,
            acl::Holder::User(user) => user != 0 && user != meta.uid(),
            acl::Holder::Group(group) => !ours(group.unwrap_or(meta.gid())),
            acl::Holder::Other => true,
        }),
    })
}

/// POSIX access control lists, as the kernel shows them in an extended attribute (`linux/posix_acl_xattr.h`).
mod acl {
    use super::{Path, io};
    use std::ffi::{CStr, CString};
    use std::os::unix::ffi::OsStrExt;

    pub const ATTRIBUTE: &CStr = c"system.posix_acl_access";
    pub const VERSION: u32 = 2;
    /// Tags of entries: a named user, the file's group, a named group. The owner and the mask have others.
    pub const USER: u16 = 0x02;
    pub const GROUP_OF_FILE: u16 = 0x04;
    pub const GROUP: u16 = 0x08;
    const OWNER: u16 = 0x01;
    const MASK: u16 = 0x10;
    const WRITE: u16 = 2;

    /// Whom an entry concerns.
    #[derive(Clone, Copy)]
    pub enum Holder {
        User(u32),
        /// A group; `None` for the file's.
        Group(Option<u32>),
        /// Everybody, or a kind of entry that we do not know.
        Other,
    }

    pub struct Entry {
        pub holder: Holder,
        pub writes: bool,
    }

    /// The list of a file without the entries for its owner and the mask; `None` if it has no list.
    pub fn of(path: &Path) -> io::Result<Option<Vec<Entry>>> {
        let name = CString::new(path.as_os_str().as_bytes())?;
        // The kernel's maximum for the value of an attribute.
        let mut bytes = vec![0u8; 1 << 16];
        // SAFETY: NUL-terminated names; the kernel writes at most as many bytes as there are.
        let count = unsafe {
            libc::getxattr(name.as_ptr(), ATTRIBUTE.as_ptr(), bytes.as_mut_ptr().cast(), bytes.len())
        };
        match usize::try_from(count) {
            Ok(count) => parse(bytes.get(..count).unwrap_or_default()).map(Some).ok_or_else(|| {
                io::Error::new(io::ErrorKind::InvalidData, "its access control list has an unknown format")
            }),
            Err(_) => match io::Error::last_os_error() {
                error if [Some(libc::ENODATA), Some(libc::ENOTSUP)].contains(&error.raw_os_error()) => {
                    Ok(None)
                }
                error => Err(error),
            },
        }
    }

    fn parse(bytes: &[u8]) -> Option<Vec<Entry>> {
        let (version, entries) = bytes.split_first_chunk()?;
        let (entries, []) = entries.as_chunks::<8>() else { return None };
        (u32::from_le_bytes(*version) == VERSION).then(|| entries.iter().filter_map(entry).collect())
    }

    fn entry(&[t0, t1, r0, r1, id @ ..]: &[u8; 8]) -> Option<Entry> {
        let id = u32::from_le_bytes(id);
        let holder = match u16::from_le_bytes([t0, t1]) {
            OWNER | MASK => return None,
            USER => Holder::User(id),
            GROUP_OF_FILE => Holder::Group(None),
            GROUP => Holder::Group(Some(id)),
            _ => Holder::Other,
        };
        Some(Entry { holder, writes: u16::from_le_bytes([r0, r1]) & WRITE != 0 })
    }
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
        if !sticky && writable_by_others(place, &meta)? {
            writable.push(place.to_path_buf());
        }
    }
    if writable.is_empty() { Ok(path) } else { Err(Distrust::Writable(writable)) }
}

/// The file that this library's code was loaded from: the driver library, or the program that contains it.
pub fn own_file() -> Option<PathBuf> {
    file_at(own_file as *const () as usize)
}

/// The file that is mapped at an address.
pub fn file_at(address: usize) -> Option<PathBuf> {
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

    /// A file in a folder that its owner alone can change; all goes with the first.
    fn library() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = scratch.path().join("folder");
        fs::create_dir(&folder).expect("a folder");
        let file = folder.join("library");
        fs::write(&file, "x").expect("a file");
        mode(&folder, 0o755);
        mode(&file, 0o644);
        (scratch, folder, file)
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
        let (_scratch, folder, file) = library();
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

    /// Gives a file a list: its owner reads and writes, its group and the mask have these rights, others
    /// read, and the named users and groups have theirs. `false` where the file system keeps no lists.
    fn list(path: &Path, group: u16, mask: u16, named: &[(u16, u16, u32)]) -> bool {
        let own = [(0x01, 6, u32::MAX), (acl::GROUP_OF_FILE, group, u32::MAX)];
        let rest = [(0x10, mask, u32::MAX), (0x20, 4, u32::MAX)];
        let mut entries = [&own[..], named, &rest].concat();
        entries.sort_by_key(|entry| entry.0);
        let mut bytes = acl::VERSION.to_le_bytes().to_vec();
        for (tag, rights, id) in entries {
            bytes.extend(tag.to_le_bytes());
            bytes.extend(rights.to_le_bytes());
            bytes.extend(id.to_le_bytes());
        }
        let name = std::ffi::CString::new(path.to_str().expect("a plain name")).expect("a plain name");
        // SAFETY: the names end with NUL, and the length is that of the bytes.
        let done = unsafe {
            libc::setxattr(name.as_ptr(), acl::ATTRIBUTE.as_ptr(), bytes.as_ptr().cast(), bytes.len(), 0)
        };
        let error = io::Error::last_os_error();
        assert!(done == 0 || error.raw_os_error() == Some(libc::ENOTSUP), "{error}");
        done == 0
    }

    #[test]
    fn users_and_groups_in_an_access_control_list_count_as_others() {
        let (_scratch, folder, file) = library();
        // SAFETY: only returns a number.
        if user() != 0 && unsafe { libc::getegid() } != user() {
            return;
        }
        /// The group's rights, the mask, named entries, and whether others can write.
        type Case = (u16, u16, &'static [(u16, u16, u32)], bool);
        let cases: [Case; 7] = [
            (6, 6, &[], false),
            (4, 6, &[(acl::USER, 6, 4242)], true),
            (4, 4, &[(acl::USER, 6, 4242)], false),
            (6, 6, &[(acl::USER, 4, 4242)], false),
            (4, 6, &[(acl::GROUP, 2, 4242)], true),
            (4, 6, &[(acl::GROUP, 6, 0), (acl::USER, 4, 4242)], false),
            (4, 6, &[(acl::USER, 4, 4242), (acl::USER, 2, 4243)], true),
        ];
        for (group, mask, named, open) in cases {
            for place in [&file, &folder] {
                if !list(place, group, mask, named) {
                    eprintln!("this file system keeps no access control lists: not tested");
                    return;
                }
                let told = code(&file);
                assert_eq!(matches!(told, Err(Distrust::Writable(_))), open, "{named:?} {mask}: {told:?}");
                // What the message says to do helps.
                mode(place, if place == &file { 0o644 } else { 0o755 });
                assert!(code(&file).is_ok(), "{named:?} {mask}");
            }
        }
    }

    #[test]
    fn the_tests_own_file_is_known() {
        let own = own_file().expect("Linux tells");
        assert_eq!(own, std::env::current_exe().expect("Linux tells"));
    }
}
