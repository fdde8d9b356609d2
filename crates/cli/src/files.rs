//! Files that the commands read and write for their callers: what is read is bounded, and a file that is replaced is replaced whole.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::{FromRawFd, RawFd};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};

use crate::table;

/// The largest source text that is read.
pub const MOST_SOURCE: u64 = 256 << 20;
/// The largest PTX text that is read: what the driver unpacks, too.
pub const MOST_PTX: u64 = image::MAX_TEXT as u64;
/// The largest program or library that is read.
pub const MOST_LIBRARY: u64 = image::MAX_FILE;
/// What is read of pipes and devices, which do not tell their size.
const MOST_UNSIZED: u64 = 512 << 20;
/// Links that lead to a file, at most: as the kernel has it.
const MOST_LINKS: usize = 40;

/// All of an input that is no longer than `most`.
fn bounded(mut input: impl Read, name: &dyn std::fmt::Display, size: u64, most: u64) -> Result<Vec<u8>> {
    let too_long = || {
        format!("cannot read {name}: it has more than {}, the most this command reads", table::bytes(most))
    };
    if size > most {
        bail!(too_long());
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size as usize).with_context(|| format!("cannot read {name}"))?;
    input.by_ref().take(most + 1).read_to_end(&mut bytes).with_context(|| format!("cannot read {name}"))?;
    if bytes.len() as u64 > most {
        bail!(too_long());
    }
    Ok(bytes)
}

/// A file that has at most `most` bytes; of what does not tell its size at most 512 MiB are taken.
pub fn read(file: &Path, most: u64) -> Result<Vec<u8>> {
    let open = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    let (size, most) = match open.metadata() {
        Ok(known) if known.is_file() => (known.len(), most),
        _ => (0, most.min(MOST_UNSIZED)),
    };
    bounded(open, &file.display(), size, most)
}

/// As [`read`]; `-` is standard input.
pub fn read_or_stdin(file: &Path, most: u64) -> Result<Vec<u8>> {
    if file.as_os_str() == "-" {
        return bounded(io::stdin().lock(), &"standard input", 0, most.min(MOST_UNSIZED));
    }
    read(file, most)
}

/// Writes a whole file or nothing of it; `-` is standard output. What is no regular file is written to, as are files that have several
/// names or an owner that a new file could not be given.
pub fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    if file.as_os_str() == "-" {
        return io::stdout().write_all(bytes).context("cannot write to standard output");
    }
    put(file, bytes).with_context(|| format!("cannot write {}", file.display()))
}

/// What the copy of a file holds that was replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    /// What the file held, if that has changed.
    Current,
    /// What it held before an earlier run; what it held now is nowhere.
    Older,
}

/// Replaces a file's contents, `old`, by others and keeps the old ones in a file beside it, which has the
/// same mode. A copy that is there already stays as it is. A failure leaves both files as they were.
pub fn replace_keeping(file: &Path, old: &[u8], new: &[u8], copy: &Path) -> Result<Kept> {
    // An interruption comes before or after all of it.
    let _held = Held::all();
    let cannot_keep = || format!("cannot keep {} as {}", file.display(), copy.display());
    let like = fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?;
    // Where it is there already, the folder need not take new files.
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
        return Err(anyhow!("that is there already, and no regular file")).with_context(cannot_keep);
    }
    if let Err(error) = write(file, new) {
        if made {
            // The error of the file itself is what is told.
            let _ = fs::remove_file(copy);
        }
        return Err(error);
    }
    // Read only now: another name of the file itself is no copy.
    let is_same = || made || read(copy, old.len() as u64).is_ok_and(|there| there == old);
    Ok(if is_same() { Kept::Current } else { Kept::Older })
}

/// Whether an error came from a pipe whose reader has closed it: it has seen what it wanted.
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
        Some(old) if old.is_file() => replace(&fs::canonicalize(file)?, bytes, Some(old)),
        Some(_) => OpenOptions::new().write(true).open(file)?.write_all(bytes),
        // A link to a file that is not there yet.
        None if fs::symlink_metadata(file).is_ok() => File::create(file)?.write_all(bytes),
        None => replace(file, bytes, None),
    }
}

/// The descriptor of this process that a path such as `/dev/stdout` leads to. Opening the path would begin at the start of a file to
/// which standard output was redirected, and would not append.
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
    // SAFETY: fcntl takes any number, and says so if no file is open under it.
    let new = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 0) };
    if new < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call above made this descriptor, and nobody else has it.
    Ok(unsafe { File::from_raw_fd(new) })
}

/// A file beside `target` with these contents, which is to get its name. It has the mode and owner of `like`,
/// or those of any new file.
fn beside(
    target: &Path,
    bytes: &[u8],
    like: Option<&Metadata>,
    owner: Owner,
) -> io::Result<tempfile::NamedTempFile> {
    let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Nobody else reads what may be a private file before it has its mode.
    let mode = if like.is_some() { 0o600 } else { 0o666 };
    let mut temporary = tempfile::Builder::new()
        .prefix(".anywarp-")
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(folder)?;
    temporary.write_all(bytes)?;
    if let Some(like) = like {
        become_like(temporary.as_file(), like, owner)?;
    }
    Ok(temporary)
}

/// Makes a file that looks like another, where nothing has its name.
fn create(target: &Path, bytes: &[u8], like: &Metadata) -> io::Result<()> {
    let _held = Held::all();
    let temporary = beside(target, bytes, Some(like), Owner::IfPossible)?;
    temporary.persist_noclobber(target).map(drop).map_err(|refused| refused.error)
}

/// Puts a new file under the name of a regular one, or of none.
fn replace(target: &Path, bytes: &[u8], old: Option<&Metadata>) -> io::Result<()> {
    let _held = Held::all();
    if old.is_some_and(|old| old.nlink() > 1) {
        return overwrite(target, bytes);
    }
    let made = beside(target, bytes, old, Owner::Same)
        .and_then(|temporary| temporary.persist(target).map_err(|refused| refused.error));
    match made {
        Ok(_) => Ok(()),
        // The folder takes no new file, the owner cannot be kept, or the file is a mount of its own: it may take the bytes nevertheless.
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

/// Gives a new file another's owner and mode. Where it gets another group, that has no rights but those that
/// everybody has.
fn become_like(file: &File, like: &Metadata, owner: Owner) -> io::Result<()> {
    use std::os::unix::fs::fchown;
    let own = file.metadata()?;
    let mut mode = like.mode() & 0o7777;
    if (own.uid(), own.gid()) != (like.uid(), like.gid())
        && let Err(error) = fchown(file, Some(like.uid()), Some(like.gid()))
    {
        if owner == Owner::Same {
            return Err(error);
        }
        mode &= 0o777;
        if own.gid() != like.gid() && fchown(file, None, Some(like.gid())).is_err() {
            mode &= 0o707 | (mode & 0o007) << 3;
        }
    }
    file.set_permissions(Permissions::from_mode(mode))
}

/// Writes to a file that stays the same one. Where that fails, it gets its bytes back.
fn overwrite(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let open = |read| OpenOptions::new().read(read).write(true).open(target);
    // What may not be read is not kept.
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
        // What had room before has it now. The first error is what is told.
        let _ = file.write_all_at(&before, 0);
        let _ = file.set_len(length);
    }
    written
}

/// Signals wait while this is there, so that an interruption leaves no temporary file and no half of a file.
struct Held(libc::sigset_t);

impl Held {
    fn all() -> Held {
        // SAFETY: sigset_t is plain bytes, which the calls fill in.
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
        // SAFETY: sets of signals on this stack, and a time of none.
        unsafe {
            // A file that is larger than `ulimit -f` allows is the write's error already.
            let mut too_large = std::mem::zeroed();
            libc::sigemptyset(&mut too_large);
            libc::sigaddset(&mut too_large, libc::SIGXFSZ);
            let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            libc::sigtimedwait(&too_large, std::ptr::null_mut(), &now);
            libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, std::ptr::null_mut());
        }
    }
}
