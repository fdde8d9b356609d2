//! Descriptors that the driver keeps, or writes files through.
//!
//! A program may have closed its standard input, output or error; a daemon does. The system gives their
//! numbers to the next files that are opened. Text that the program or the log then writes would go into the
//! driver's file, which may hold device memory.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// The first number that no program takes for a standard file.
const FIRST: i32 = libc::STDERR_FILENO + 1;

/// The same file under a number that is none of the standard files'.
///
/// # Errors
/// The system's, if the process can open no more files.
pub fn beyond_standard(file: OwnedFd) -> io::Result<OwnedFd> {
    if file.as_raw_fd() >= FIRST {
        return Ok(file);
    }
    duplicate(file.as_raw_fd())
}

/// Another descriptor of an open file, with a number that is none of the standard files'.
///
/// # Errors
/// The system's: no file is open under this number, or the process can open no more.
pub fn duplicate(descriptor: i32) -> io::Result<OwnedFd> {
    // SAFETY: for an invalid descriptor the call fails; the duplicate has no other owner.
    unsafe {
        match libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, FIRST) {
            new if new < 0 => Err(io::Error::last_os_error()),
            new => Ok(OwnedFd::from_raw_fd(new)),
        }
    }
}
