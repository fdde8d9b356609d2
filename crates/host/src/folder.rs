//! Files in a folder that was checked once. The folder stays open and its files are accessed through the
//! descriptor, so that nobody can replace the folder meanwhile.

use std::ffi::{CString, OsStr};
use std::fs::{DirBuilder, File, Metadata};
use std::io::{self, Write as _};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::descriptor::beyond_standard;
use crate::trust::{Distrust, user};
use crate::write::limited;

/// An open folder.
#[derive(Debug)]
pub struct Folder(File);

/// A name as a C string.
fn name_of(name: &str) -> io::Result<CString> {
    if name.contains('/') {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    Ok(CString::new(name)?)
}

impl Folder {
    /// Opens a folder of any owner.
    ///
    /// # Errors
    /// The system's.
    pub fn open(path: &Path) -> io::Result<Folder> {
        let path = CString::new(path.as_os_str().as_bytes())?;
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
        // SAFETY: a NUL-terminated path; the new descriptor has no other owner.
        let fd = unsafe {
            let fd = libc::open(path.as_ptr(), flags);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(fd)
        };
        Ok(Folder(File::from(beyond_standard(fd)?)))
    }

    /// Opens a folder that belongs to the user and that nobody else can access. If others can read it but not
    /// write it, their access is removed.
    ///
    /// # Errors
    /// The system's, or why the folder is not private.
    pub fn open_private(path: &Path) -> Result<Folder, Distrust> {
        let strange = |meta: &Metadata| {
            let owner = meta.uid();
            (owner != user()).then(|| Distrust::Owner { path: path.into(), owner })
        };
        let folder = Folder::open(path).map_err(|error| {
            // A folder of another user that this one cannot access.
            let meta =
                std::fs::metadata(path).ok().filter(|_| error.kind() == io::ErrorKind::PermissionDenied);
            meta.as_ref().and_then(strange).unwrap_or(Distrust::System(error))
        })?;
        let meta = folder.0.metadata()?;
        if let Some(stranger) = strange(&meta) {
            return Err(stranger);
        }
        if meta.mode() & 0o022 != 0 {
            return Err(Distrust::Writable(vec![path.into()]));
        }
        if meta.mode() & 0o077 != 0 {
            folder.0.set_permissions(std::fs::Permissions::from_mode(meta.mode() & 0o700))?;
        }
        Ok(folder)
    }

    /// Opens a private folder; creates it if it does not exist.
    ///
    /// # Errors
    /// As for [`Folder::open_private`].
    pub fn make_private(path: &Path) -> Result<Folder, Distrust> {
        match Folder::open_private(path) {
            Err(Distrust::System(error)) if error.kind() == io::ErrorKind::NotFound => {
                DirBuilder::new().recursive(true).mode(0o700).create(path)?;
                Folder::open_private(path)
            }
            other => other,
        }
    }

    /// Opens a file without following links and without blocking.
    fn open_at(&self, name: &str, flags: libc::c_int, mode: u32) -> io::Result<File> {
        let name = name_of(name)?;
        let flags = flags | libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
        // SAFETY: a NUL-terminated name in an open folder; the new descriptor has no other owner.
        let fd = unsafe {
            let fd = libc::openat(self.0.as_raw_fd(), name.as_ptr(), flags, mode as libc::c_uint);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(fd)
        };
        Ok(File::from(beyond_standard(fd)?))
    }

    /// Opens a file that only the user can have written.
    fn open_own(&self, name: &str, flags: libc::c_int) -> Result<File, Distrust> {
        let file = self.open_at(name, flags, 0o600)?;
        let meta = file.metadata()?;
        if !meta.is_file() {
            return Err(Distrust::Kind(PathBuf::from(name)));
        }
        if meta.uid() != user() {
            return Err(Distrust::Owner { path: PathBuf::from(name), owner: meta.uid() });
        }
        if meta.mode() & 0o022 != 0 {
            return Err(Distrust::Writable(vec![PathBuf::from(name)]));
        }
        Ok(file)
    }

    /// Opens one of the user's own files for reading.
    ///
    /// # Errors
    /// The system's, or that somebody else can have written the file.
    pub fn read(&self, name: &str) -> Result<File, Distrust> {
        self.open_own(name, libc::O_RDONLY)
    }

    /// Opens one of the user's own files for reading and writing in place. With `make`, creates it if it does
    /// not exist.
    ///
    /// # Errors
    /// As for [`Folder::read`].
    pub fn read_and_write(&self, name: &str, make: bool) -> Result<File, Distrust> {
        self.open_own(name, libc::O_RDWR | if make { libc::O_CREAT } else { 0 })
    }

    /// Creates a file that only the user can read, and that did not exist, for writing.
    ///
    /// # Errors
    /// The system's.
    pub fn create(&self, name: &str) -> io::Result<File> {
        self.open_at(name, libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL, 0o600)
    }

    /// Writes a file with this mode, less the umask. The file is either complete or absent: a temporary file
    /// ([`is_temporary`]) is written first, then renamed. A limit on file sizes is reported as an error.
    ///
    /// # Errors
    /// The system's; the temporary file is then removed.
    pub fn write(&self, name: &str, contents: &[u8], mode: u32) -> io::Result<()> {
        let (temporary, mut file) = self.temporary(name, mode)?;
        let written = limited(|| file.write_all(contents)).and_then(|()| self.rename(&temporary, name));
        if written.is_err() {
            // If the temporary cannot be removed either, nothing is left to try.
            let _ = self.remove(&temporary);
        }
        written
    }

    /// Creates a new file that nobody else has opened.
    fn temporary(&self, name: &str, mode: u32) -> io::Result<(String, File)> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        // A process that was killed, or one in another container with the same process id, may have left
        // files with these names.
        const TRIES: usize = 64;
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..TRIES {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let temporary = format!(".{}-{number}-{name}", std::process::id());
            match self.open_at(&temporary, libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL, mode) {
                Ok(file) => return Ok((temporary, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let (from, to) = (name_of(from)?, name_of(to)?);
        let fd = self.0.as_raw_fd();
        // SAFETY: NUL-terminated names in an open folder.
        match unsafe { libc::renameat(fd, from.as_ptr(), fd, to.as_ptr()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Removes a file.
    ///
    /// # Errors
    /// The system's.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        let name = name_of(name)?;
        // SAFETY: a NUL-terminated name in an open folder.
        match unsafe { libc::unlinkat(self.0.as_raw_fd(), name.as_ptr(), 0) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// The file that a temporary was to become, from the temporary's name; `None` if it is not the name of a
/// temporary.
pub fn is_temporary(name: &OsStr) -> Option<&str> {
    let mut parts = name.to_str()?.strip_prefix('.')?.splitn(3, '-');
    let number = |part: Option<&str>| part.is_some_and(|p| p.parse::<u32>().is_ok());
    (number(parts.next()) && number(parts.next())).then(|| parts.next())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Read as _;
    use std::os::unix::fs::{chown, symlink};

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("there").mode() & 0o777
    }

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
    }

    #[test]
    fn a_private_folder_is_made_so_and_others_are_refused() {
        let scratch = tempfile::tempdir().expect("a folder");
        let path = scratch.path().join("a/b");
        assert!(matches!(Folder::open_private(&path), Err(Distrust::System(_))));
        Folder::make_private(&path).expect("made");
        assert_eq!(mode(&path), 0o700);
        // Earlier versions created it like this; nobody else can have written there.
        set(&path, 0o755);
        Folder::open_private(&path).expect("closed to others");
        assert_eq!(mode(&path), 0o700);
        for open in [0o770, 0o702, 0o777, 0o1777] {
            set(&path, open);
            assert!(matches!(Folder::make_private(&path), Err(Distrust::Writable(_))), "{open:o}");
        }
        set(&path, 0o700);
        if user() == 0 {
            chown(&path, Some(1234), None).expect("root may");
            assert!(matches!(Folder::make_private(&path), Err(Distrust::Owner { owner: 1234, .. })));
        }
    }

    #[test]
    fn files_come_back_and_those_of_others_are_refused() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = Folder::open_private(scratch.path()).expect("ours");
        folder.write("file", b"contents", 0o600).expect("written");
        let path = scratch.path().join("file");
        assert_eq!(mode(&path), 0o600);
        let mut text = String::new();
        folder.read("file").expect("ours").read_to_string(&mut text).expect("text");
        assert_eq!(text, "contents");
        set(&path, 0o622);
        assert!(matches!(folder.read("file"), Err(Distrust::Writable(_))));
        set(&path, 0o600);
        symlink(&path, scratch.path().join("link")).expect("a link");
        assert!(matches!(folder.read("link"), Err(Distrust::System(_))));
        assert!(matches!(folder.read_and_write("link", true), Err(Distrust::System(_))));
        fs::create_dir(scratch.path().join("inner")).expect("a folder");
        assert!(matches!(folder.read("inner"), Err(Distrust::Kind(_))));
        assert!(folder.write("../out", b"", 0o600).is_err());
        if user() == 0 {
            chown(&path, Some(1234), None).expect("root may");
            assert!(matches!(folder.read("file"), Err(Distrust::Owner { .. })));
        }
        // A refused file is replaced.
        folder.write("file", b"new", 0o600).expect("written");
        folder.write("link", b"new", 0o600).expect("written");
        assert!(folder.read("file").is_ok() && folder.read("link").is_ok());
    }

    #[test]
    fn no_temporary_is_written_through_a_link_and_none_is_left() {
        let scratch = tempfile::tempdir().expect("a folder");
        let target = scratch.path().join("target");
        fs::create_dir(scratch.path().join("folder")).expect("a folder");
        let at = |name: &str| scratch.path().join("folder").join(name);
        // The names that the next temporaries would get.
        for number in 0..20 {
            let planted = at(&format!(".{}-{number}-file", std::process::id()));
            symlink(&target, planted).expect("a link");
        }
        let folder = Folder::open(&scratch.path().join("folder")).expect("there");
        folder.write("file", b"x", 0o644).expect("written under another name");
        assert!(!target.exists());
        assert_eq!(fs::read(at("file")).expect("there"), b"x");
        // A folder's name cannot be taken, so the write fails and the temporary is removed.
        fs::create_dir(at("taken")).expect("a folder");
        assert!(folder.write("taken", b"x", 0o644).is_err());
        let left = fs::read_dir(scratch.path().join("folder")).expect("there");
        assert!(left.flatten().all(|e| is_temporary(&e.file_name()) != Some("taken")));
    }

    #[test]
    fn temporaries_are_known_by_their_names() {
        assert_eq!(is_temporary(OsStr::new(".12-3-abc-def.o")), Some("abc-def.o"));
        for name in ["12-3-abc", ".12-abc", ".x-3-abc", ".12-3", "abc"] {
            assert_eq!(is_temporary(OsStr::new(name)), None, "{name}");
        }
    }
}
