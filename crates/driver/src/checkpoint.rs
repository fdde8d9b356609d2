//! Locking and checkpointing of this process.
//!
//! While the process is locked, calls wait. Device memory is host memory, so a checkpoint copies nothing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::context;
use crate::error::{Error, Result};
use crate::handle::lock;
use crate::stream;

/// The state of a process, as the interface numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Calls run.
    Running = 0,
    /// Calls wait.
    Locked = 1,
    /// Calls wait, and the memory is kept for a restore.
    Checkpointed = 2,
}

static STATE: Mutex<State> = Mutex::new(State::Running);
static CHANGED: Condvar = Condvar::new();
/// Whether the state is not [`State::Running`]; calls read it without the lock.
static HELD: AtomicBool = AtomicBool::new(false);

/// Waits while the process is locked. Every call of the interface that needs the driver begins with it.
#[inline]
pub fn wait() {
    if HELD.load(Ordering::Acquire) {
        let state = lock(&STATE);
        drop(CHANGED.wait_while(state, |s| *s != State::Running).unwrap_or_else(PoisonError::into_inner));
    }
}

/// Fails unless the number is this process's.
///
/// # Errors
/// [`Error::OperatingSystem`]: there is no such process. [`Error::NotSupported`]: it is another one, whose
/// driver this one cannot reach.
pub fn own(process: i32) -> Result<()> {
    if u32::try_from(process) == Ok(std::process::id()) {
        return Ok(());
    }
    let exists = process > 0 && std::path::Path::new(&format!("/proc/{process}")).exists();
    Err(if exists { Error::NotSupported } else { Error::OperatingSystem })
}

/// The state of this process.
pub fn state() -> State {
    *lock(&STATE)
}

fn change(from: State, to: State) -> Result<()> {
    let mut state = lock(&STATE);
    if *state != from {
        return Err(Error::IllegalState);
    }
    *state = to;
    HELD.store(to != State::Running, Ordering::Release);
    CHANGED.notify_all();
    Ok(())
}

/// Makes further calls wait, and waits for the work in all contexts.
///
/// # Errors
/// [`Error::NotPermitted`]: the caller is a host function of a stream, which would wait for itself.
/// [`Error::IllegalState`]: it is locked already. [`Error::NotReady`]: the work did not end in time; the
/// process runs on.
pub fn lock_process(limit: Option<Duration>) -> Result<()> {
    if stream::in_host_function() {
        return Err(Error::NotPermitted);
    }
    change(State::Running, State::Locked)?;
    let Some(limit) = limit else {
        context::settle_all();
        return Ok(());
    };
    let start = Instant::now();
    while !context::all_idle() {
        if start.elapsed() >= limit {
            change(State::Locked, State::Running)?;
            return Err(Error::NotReady);
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    Ok(())
}

/// Checkpoints the locked process.
pub fn checkpoint() -> Result<()> {
    change(State::Locked, State::Checkpointed)
}

/// Restores the checkpointed process; it stays locked.
pub fn restore() -> Result<()> {
    change(State::Checkpointed, State::Locked)
}

/// Lets calls run again.
pub fn unlock() -> Result<()> {
    change(State::Locked, State::Running)
}
