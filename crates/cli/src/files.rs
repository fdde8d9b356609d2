//! File input and output of the commands: input sizes are bounded, and files are replaced atomically.

use std::ffi::{CStr, CString};
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};

use crate::table;

/// Maximum size of a source text.
pub const MOST_SOURCE: u64 = 256 << 20;
/// Maximum size of a PTX text, which is also that of the driver.
pub const MOST_PTX: u64 = image::MAX_TEXT as u64;
/// Maximum size of a program or library.
pub const MOST_LIBRARY: u64 = image::MAX_FILE;
/// Maximum size of input from pipes and devices, which do not tell their size.
const MOST_UNSIZED: u64 = 512 << 20;
/// Maximum number of links that lead to a file; Linux has the same limit.
const MOST_LINKS: usize = 40;

/// Refuses an input of more than `most` bytes.
pub fn check_size(name: &dyn std::fmt::Display, size: u64, most: u64) -> Result<()> {
    if size > most {
        bail!("cannot read {name}: it is larger than {}, the limit of this command", table::bytes(most));
    }
    Ok(())
}

/// Reads an input completely if it has at most `most` bytes.
fn bounded(mut input: impl Read, name: &dyn std::fmt::Display, size: u64, most: u64) -> Result<Vec<u8>> {
    check_size(name, size, most)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size as usize).with_context(|| format!("cannot read {name}"))?;
    input.by_ref().take(most + 1).read_to_end(&mut bytes).with_context(|| format!("cannot read {name}"))?;
    check_size(name, bytes.len() as u64, most)?;
    Ok(bytes)
}

/// Reads a file of at most `most` bytes; files that do not tell their size may have at most 512 MiB.
pub fn read(file: &Path, most: u64) -> Result<Vec<u8>> {
    let open = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    let (size, most) = match open.metadata() {
        Ok(known) if known.is_file() => (known.len(), most),
        _ => (0, most.min(MOST_UNSIZED)),
    };
    bounded(open, &file.display(), size, most)
}

/// Same as [`read`]; `-` is standard input.
pub fn read_or_stdin(file: &Path, most: u64) -> Result<Vec<u8>> {
    if file.as_os_str() == "-" {
        return bounded(io::stdin().lock(), &"standard input", 0, most.min(MOST_UNSIZED));
    }
    read(file, most)
}

/// Writes a whole file or nothing; `-` is standard output. Files that are not regular, have several names, or
/// have an owner that cannot be given to a new file are written in place.
pub fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    if file.as_os_str() == "-" {
        return io::stdout().write_all(bytes).context("cannot write to standard output");
    }
    put(file, bytes).with_context(|| format!("cannot write {}", file.display()))
}

/// Which contents the copy of a replaced file holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    /// The contents before this run, if they changed.
    Current,
    /// The contents before an earlier run; those before this run are lost.
    Older,
}

/// Replaces a file's contents, `old`, and keeps them in a file beside it, which has the same mode. A copy
/// that already exists is left unchanged. On failure, both files are as before.
pub fn replace_keeping(file: &Path, old: &[u8], new: &[u8], copy: &Path) -> Result<Kept> {
    // An interruption takes effect before or after the whole replacement.
    let _held = Held::all();
    let cannot_keep = || format!("cannot keep {} as {}", file.display(), copy.display());
    let like = Model::of(file).with_context(|| format!("cannot read {}", file.display()))?;
    // If it already exists, the folder need not be writable.
    let made = fs::symlink_metadata(copy).is_err()
        && match create(copy, old, &like) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
            Err(error) => return Err(error).with_context(cannot_keep),
        };
    if old == new {
        return Ok(Kept::Current);
    }
    if !made && !fs::metadata(copy).is_ok_and(|there| there.is_file()) {
        return Err(anyhow!("it already exists and is not a regular file")).with_context(cannot_keep);
    }
    if let Err(error) = write(file, new) {
        if made {
            // Only the error of the file itself is reported.
            let _ = fs::remove_file(copy);
        }
        return Err(error);
    }
    // Checked only now: another name of the file itself is not a copy.
    let is_same = || made || read(copy, old.len() as u64).is_ok_and(|there| there == old);
    Ok(if is_same() { Kept::Current } else { Kept::Older })
}

/// Whether an error is a broken pipe, whose reader has seen what it wanted.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let closed = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    error.chain().filter_map(|cause| cause.downcast_ref()).any(closed)
}

fn put(file: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(descriptor) = descriptor(file) {
        return duplicate(descriptor)?.write_all(bytes);
    }
    let old = match fs::metadata(file) {
        Ok(old) => Some(old),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    match &old {
        Some(old) if old.is_file() => replace(&fs::canonicalize(file)?, bytes, true),
        Some(_) => OpenOptions::new().write(true).open(file)?.write_all(bytes),
        // A link to a file that does not exist yet.
        None if fs::symlink_metadata(file).is_ok() => File::create(file)?.write_all(bytes),
        None => replace(file, bytes, false),
    }
}

/// The descriptor of this process that a path such as `/dev/stdout` refers to. Opening the path would start
/// at the beginning of a file that standard output is redirected to, and would not append.
fn descriptor(file: &Path) -> Option<RawFd> {
    let own = Path::new("/proc").join(std::process::id().to_string()).join("fd");
    let mut at = file.to_owned();
    for _ in 0..MOST_LINKS {
        let folder = at.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = fs::canonicalize(folder).ok()?;
        let name = at.file_name()?.to_owned();
        if folder == own {
            return name.to_str()?.parse().ok();
        }
        at = folder.join(fs::read_link(folder.join(name)).ok()?);
    }
    None
}

fn duplicate(descriptor: RawFd) -> io::Result<File> {
    // SAFETY: fcntl accepts any number, and fails if no file is open with it.
    let new = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 0) };
    if new < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call above created this descriptor, and nothing else owns it.
    Ok(unsafe { File::from_raw_fd(new) })
}

/// An error without the temporary file's name, which `tempfile` adds: the caller names the file that was
/// asked for.
fn without_path(error: io::Error) -> io::Error {
    match error.to_string().rsplit_once(" at path \"") {
        Some((what, _)) => io::Error::new(error.kind(), what.to_owned()),
        None => error,
    }
}

/// A file whose owner, mode and access control list a new one gets.
struct Model {
    meta: Metadata,
    /// The list as the system keeps it, if the file has one beside its mode.
    list: Option<Vec<u8>>,
}

/// The attribute that holds a file's access control list.
const LIST: &CStr = c"system.posix_acl_access";
/// Maximum size of an attribute.
const MOST_LIST: usize = 64 << 10;

impl Model {
    fn of(file: &Path) -> io::Result<Model> {
        let meta = fs::metadata(file)?;
        let path = CString::new(file.as_os_str().as_bytes())?;
        let mut list = vec![0; MOST_LIST];
        // SAFETY: NUL-terminated strings, and a buffer of this size.
        let size =
            unsafe { libc::getxattr(path.as_ptr(), LIST.as_ptr(), list.as_mut_ptr().cast(), list.len()) };
        // Without a list, or without lists in the file system, the call fails.
        list.truncate(usize::try_from(size).unwrap_or(0));
        Ok(Model { meta, list: (!list.is_empty()).then_some(list) })
    }
}

/// Creates a file with these contents beside `target`, to be renamed to it. It has the mode, list and owner
/// of `like`, or those of any new file.
fn create_beside(
    target: &Path,
    bytes: &[u8],
    like: Option<&Model>,
    owner: Owner,
) -> io::Result<tempfile::NamedTempFile> {
    let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The file may be private: others must not read it before its mode is set.
    let mode = if like.is_some() { 0o600 } else { 0o666 };
    let mut temporary = tempfile::Builder::new()
        .prefix(".anywarp-")
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(folder)
        .map_err(without_path)?;
    temporary.write_all(bytes).map_err(without_path)?;
    if let Some(like) = like {
        become_like(temporary.as_file(), like, owner)?;
    }
    Ok(temporary)
}

/// Creates a file with another's mode, list and owner, if no file has its name.
fn create(target: &Path, bytes: &[u8], like: &Model) -> io::Result<()> {
    let _held = Held::all();
    let temporary = create_beside(target, bytes, Some(like), Owner::IfPossible)?;
    temporary.persist_noclobber(target).map(drop).map_err(|refused| refused.error)
}

/// Replaces a regular file, or creates one.
fn replace(target: &Path, bytes: &[u8], exists: bool) -> io::Result<()> {
    let _held = Held::all();
    let old = exists.then(|| Model::of(target)).transpose()?;
    if old.as_ref().is_some_and(|old| old.meta.nlink() > 1) {
        return overwrite(target, bytes);
    }
    let made = create_beside(target, bytes, old.as_ref(), Owner::Same)
        .and_then(|temporary| temporary.persist(target).map_err(|refused| refused.error));
    match made {
        Ok(_) => Ok(()),
        // The folder accepts no new file, the owner cannot be kept, or the file is a mount point: writing in
        // place may still work.
        Err(error)
            if old.is_some()
                && matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ResourceBusy) =>
        {
            overwrite(target, bytes)
        }
        Err(error) => Err(error),
    }
}

/// Whether a new file must have another's owner and group.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Same,
    IfPossible,
}

/// Gives a new file another's owner, mode and list. If the group differs or the list cannot be set, the group
/// gets only the rights that everybody has.
fn become_like(file: &File, like: &Model, owner: Owner) -> io::Result<()> {
    use std::os::unix::fs::fchown;
    let (own, Model { meta, list }) = (file.metadata()?, like);
    let mut mode = meta.mode() & 0o7777;
    let mut same_group = true;
    if (own.uid(), own.gid()) != (meta.uid(), meta.gid())
        && let Err(error) = fchown(file, Some(meta.uid()), Some(meta.gid()))
    {
        if owner == Owner::Same {
            return Err(error);
        }
        mode &= 0o777;
        same_group = own.gid() == meta.gid() || fchown(file, None, Some(meta.gid())).is_ok();
    }
    // With an access control list, the mode's group bits are its mask.
    if let Some(list) = list
        && let Err(error) = set_list(file, list)
    {
        if owner == Owner::Same {
            return Err(error);
        }
        same_group = false;
    }
    if !same_group {
        mode &= 0o7707 | (mode & 0o007) << 3;
    }
    file.set_permissions(Permissions::from_mode(mode))
}

fn set_list(file: &File, list: &[u8]) -> io::Result<()> {
    // SAFETY: a NUL-terminated name and a list of this size.
    let set =
        unsafe { libc::fsetxattr(file.as_raw_fd(), LIST.as_ptr(), list.as_ptr().cast(), list.len(), 0) };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Overwrites a file in place. On failure, restores its contents.
fn overwrite(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let open = |read| OpenOptions::new().read(read).write(true).open(target);
    // An unreadable file cannot be restored.
    let (file, readable) = match open(true) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => (open(false)?, false),
        file => (file?, true),
    };
    let length = file.metadata()?.len();
    let mut before = Vec::new();
    if readable {
        (&file).take(bytes.len() as u64).read_to_end(&mut before)?;
    }
    let written = file.write_all_at(bytes, 0).and_then(|()| file.set_len(bytes.len() as u64));
    if written.is_err() && readable {
        // The old contents had room before. Only the first error is reported.
        let _ = file.write_all_at(&before, 0);
        let _ = file.set_len(length);
    }
    written
}

/// From now on, a write beyond `ulimit -f` is an error instead of the end of the process. Programs that the
/// command starts do not inherit the handler.
pub(crate) fn report_limit() {
    extern "C" fn nothing(_: i32) {}
    // SAFETY: a handler that does nothing; zeroed structures are valid.
    unsafe {
        let (mut new, mut old): (libc::sigaction, libc::sigaction) = (std::mem::zeroed(), std::mem::zeroed());
        new.sa_sigaction = nothing as *const () as usize;
        new.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGXFSZ, std::ptr::null(), &mut old);
        if old.sa_sigaction == libc::SIG_DFL {
            libc::sigaction(libc::SIGXFSZ, &new, std::ptr::null_mut());
        }
    }
}

/// Blocks signals while it exists, so that an interruption leaves no temporary or partial file.
pub(crate) struct Held(libc::sigset_t);

impl Held {
    pub(crate) fn all() -> Held {
        // SAFETY: sigset_t is plain data, which the calls initialise.
        unsafe {
            let (mut all, mut old) = (std::mem::zeroed(), std::mem::zeroed());
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut old);
            Held(old)
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: the signal sets are on this stack, and the timeout is zero.
        unsafe {
            // The write has already failed with an error if the file exceeds `ulimit -f`.
            let mut too_large = std::mem::zeroed();
            libc::sigemptyset(&mut too_large);
            libc::sigaddset(&mut too_large, libc::SIGXFSZ);
            let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            libc::sigtimedwait(&too_large, std::ptr::null_mut(), &now);
            libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, std::ptr::null_mut());
        }
    }
}
