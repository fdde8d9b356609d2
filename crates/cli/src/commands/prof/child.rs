//! The program as a child of this process, which outlives it.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};

/// The signals that users and systems end commands with.
const ENDING: [i32; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// The program's number; 0 before it is started and after its end.
static CHILD: AtomicI32 = AtomicI32::new(0);
/// A signal that came before the program was started.
static EARLY: AtomicI32 = AtomicI32::new(0);

/// Passes a signal on to the program. The terminal sends its signals to the program itself.
extern "C" fn pass_on(signal: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel gives handlers of this kind the signal's description.
    let sent_by_process = unsafe { (*info).si_code } <= 0;
    let child = CHILD.load(Ordering::Relaxed);
    if sent_by_process && child > 0 {
        // SAFETY: a call that a handler may make.
        unsafe { libc::kill(child, signal) };
    } else if child == 0 {
        EARLY.store(signal, Ordering::Relaxed);
    }
}

/// Runs a program and waits for its end. Signals that would end this process first go to the program, which
/// decides.
///
/// # Errors
/// It cannot be started.
pub fn run(command: &mut Command) -> io::Result<ExitStatus> {
    for signal in ENDING {
        // SAFETY: the handler makes one call that is allowed there; zeroed structures are valid.
        unsafe {
            let (mut new, mut old): (libc::sigaction, libc::sigaction) =
                (std::mem::zeroed(), std::mem::zeroed());
            new.sa_sigaction = pass_on as *const () as usize;
            new.sa_flags = libc::SA_RESTART | libc::SA_SIGINFO;
            libc::sigaction(signal, std::ptr::null(), &mut old);
            // What the command was started to ignore, as by `nohup`, stays ignored. The program does not
            // inherit the handler.
            if old.sa_sigaction == libc::SIG_DFL {
                libc::sigaction(signal, &new, std::ptr::null_mut());
            }
        }
    }
    let mut child = command.spawn()?;
    // The handler runs in this thread, the only one, so that it sees the number or leaves its signal.
    let number = child.id() as i32;
    CHILD.store(number, Ordering::Relaxed);
    let early = EARLY.load(Ordering::Relaxed);
    if early != 0 {
        // SAFETY: the program is this process's child and has not been waited for.
        unsafe { libc::kill(number, early) };
    }
    let status = child.wait();
    // The number may be another process's from now on.
    CHILD.store(0, Ordering::Relaxed);
    status
}

/// The program's status as this process's own: if a signal has ended the program, it ends this process too.
pub fn end_like(status: ExitStatus) -> ExitCode {
    if let Some(signal) = status.signal() {
        // SAFETY: the signal gets its default action; the program has dumped its core already.
        unsafe {
            let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            libc::setrlimit(libc::RLIMIT_CORE, &none);
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
        return ExitCode::from(128u8.wrapping_add(signal as u8));
    }
    ExitCode::from(status.code().map_or(1, |code| code as u8))
}
