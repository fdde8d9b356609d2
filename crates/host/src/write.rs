//! Writing under a limit on file sizes.

use std::fs::File;
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::path::Path;

/// Writes a file that the program itself names in a call, replacing its contents.
///
/// # Errors
/// The system's.
pub fn named(path: &Path, contents: &[u8]) -> io::Result<()> {
    limited(|| File::create(path)?.write_all(contents))
}

/// Runs `write`, which writes to a file or sets its size. Beyond the limit (`ulimit -f`) the kernel sends
/// SIGXFSZ, which ends the process unless the program handles it; here the call fails with EFBIG instead. The
/// handler belongs to the program and is not changed. The kernel sends the signal to the writing thread, so
/// this thread blocks it and afterwards discards it if it is pending.
///
/// # Errors
/// Those of `write`.
pub fn limited<T>(write: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let blocked = Blocked::new();
    let result = write();
    if let Err(error) = &result
        && error.raw_os_error() == Some(libc::EFBIG)
    {
        blocked.take();
    }
    result
}

/// The set of SIGXFSZ alone.
fn signal() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset fills the set.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGXFSZ);
        set.assume_init()
    }
}

/// Keeps the signal blocked in this thread until it is dropped.
struct Blocked {
    /// The previous mask; `None` if it could not be changed.
    before: Option<libc::sigset_t>,
    /// Whether the signal was already pending, so that it belongs to the program.
    pending: bool,
}

impl Blocked {
    fn new() -> Blocked {
        let mut before = MaybeUninit::uninit();
        let mut pending = MaybeUninit::uninit();
        // SAFETY: both sets are filled by calls that succeed, and read only then.
        unsafe {
            let changed = libc::pthread_sigmask(libc::SIG_BLOCK, &signal(), before.as_mut_ptr()) == 0;
            let told = libc::sigpending(pending.as_mut_ptr()) == 0;
            Blocked {
                before: changed.then(|| before.assume_init()),
                pending: told && libc::sigismember(pending.as_ptr(), libc::SIGXFSZ) == 1,
            }
        }
    }

    /// Discards the signal that the write has raised.
    fn take(&self) {
        if self.before.is_some() && !self.pending {
            let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            // SAFETY: does not wait; if no signal is pending it fails, which is fine.
            unsafe { libc::sigtimedwait(&signal(), std::ptr::null_mut(), &now) };
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // SAFETY: the mask that this thread had before.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, std::ptr::null_mut()) };
        }
    }
}
