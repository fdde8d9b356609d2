//! A folder for temporary files, which goes away with the command, also when a signal ends it.

use std::io;
use std::os::fd::IntoRawFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::files::Held;

/// The signals that users and systems end commands with.
const ENDING: [i32; 5] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGXCPU];

/// The pipe through which the handler tells the thread; -1 before there is one.
static TO_THREAD: AtomicI32 = AtomicI32::new(-1);
/// The folder that the thread removes. A command has one.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// A folder that is removed when this is dropped, or when a signal ends the process.
pub struct Scratch(tempfile::TempDir);

impl Scratch {
    /// Makes a folder whose name begins so.
    pub fn new(prefix: &str) -> io::Result<Scratch> {
        // The thread inherits the mask, so that the handler runs in another one.
        let _held = Held::all();
        let folder = tempfile::Builder::new().prefix(prefix).tempdir()?;
        if FOLDER.set(folder.path().to_owned()).is_ok() {
            // Without the thread, the signals end the process as if there were no folder.
            let _ = remove_at_signals();
        }
        Ok(Scratch(folder))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Tells the thread the signal's number, and goes no further: the command neither writes another file nor
/// ends in another way. Programs that the command starts do not inherit the handler.
extern "C" fn on_signal(signal: i32) {
    let number = signal as u8;
    // SAFETY: a write of one byte, which a handler may make.
    unsafe { libc::write(TO_THREAD.load(Ordering::Relaxed), (&raw const number).cast(), 1) };
    loop {
        // SAFETY: it waits for a signal.
        unsafe { libc::pause() };
    }
}

/// Starts a thread that removes the folder and ends the process as the signal would have done.
fn remove_at_signals() -> io::Result<()> {
    let (from, to) = io::pipe()?;
    // It stays open until the process ends.
    TO_THREAD.store(to.into_raw_fd(), Ordering::Relaxed);
    std::thread::Builder::new().spawn(move || {
        let mut number = [0u8];
        if io::Read::read_exact(&mut &from, &mut number).is_ok() {
            if let Some(folder) = FOLDER.get() {
                let _ = std::fs::remove_dir_all(folder);
            }
            let signal = i32::from(number[0]);
            // SAFETY: restores the default action, and sends the signal to this thread, which then takes it:
            // the other one is in the handler. The set is initialised by the call.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
                let mut set = std::mem::zeroed();
                libc::sigemptyset(&mut set);
                libc::sigaddset(&mut set, signal);
                libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut());
                libc::raise(signal);
            }
        }
    })?;
    for signal in ENDING {
        // SAFETY: the handler makes one call that is allowed there; zeroed structures are valid.
        unsafe {
            let (mut new, mut old): (libc::sigaction, libc::sigaction) =
                (std::mem::zeroed(), std::mem::zeroed());
            new.sa_sigaction = on_signal as *const () as usize;
            new.sa_flags = libc::SA_RESTART;
            libc::sigaction(signal, std::ptr::null(), &mut old);
            // What the command was started to ignore, as by `nohup`, stays ignored.
            if old.sa_sigaction == libc::SIG_DFL {
                libc::sigaction(signal, &new, std::ptr::null_mut());
            }
        }
    }
    Ok(())
}
