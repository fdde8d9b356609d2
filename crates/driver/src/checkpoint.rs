//! Locking and checkpointing of this process and of other processes.
//!
//! While a process is locked, its calls wait. Device memory is host memory, so a checkpoint copies nothing.

pub mod other;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::context;
use crate::error::{Error, Result};
use crate::handle::lock;
use crate::stream;
use other::{Other, Transition};

/// The state of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Calls run.
    Running,
    /// Calls wait, and a lock waits for the work.
    Locking,
    /// Calls wait.
    Locked,
    /// Calls wait, and the memory is kept for a restore.
    Checkpointed,
}

impl State {
    /// As the interface numbers it. A process is not locked before its work has ended.
    fn number(self) -> u32 {
        match self {
            State::Running | State::Locking => 0,
            State::Locked => 1,
            State::Checkpointed => 2,
        }
    }
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

/// A process that uses the driver.
pub enum Target {
    /// This one.
    Own,
    /// Another one.
    Other(Other),
}

/// Finds a process by its number.
///
/// # Errors
/// [`Error::OperatingSystem`]: there is no such process. [`Error::NotInitialized`]: it does not use the
/// driver. Otherwise as for [`Other`].
pub fn find(process: i32) -> Result<Target> {
    let number = u32::try_from(process).ok().filter(|number| *number != 0).ok_or(Error::OperatingSystem)?;
    if number == std::process::id() {
        crate::driver()?;
        return Ok(Target::Own);
    }
    if !std::path::Path::new(&format!("/proc/{number}")).exists() {
        return Err(Error::OperatingSystem);
    }
    Other::find(number).map(Target::Other)
}

impl Target {
    /// Its state, as the interface numbers it.
    pub fn state(&self) -> u32 {
        match self {
            Target::Own => lock(&STATE).number(),
            Target::Other(other) => other.state(),
        }
    }

    /// Its thread that restores.
    ///
    /// # Errors
    /// [`Error::NotSupported`]: it has none.
    pub fn thread(&self) -> Result<u32> {
        match self {
            Target::Own => other::own_thread().ok_or(Error::NotSupported),
            Target::Other(other) => Ok(other.thread()),
        }
    }

    /// Changes its state. `limit`: how long a lock may wait for work, and for the process.
    ///
    /// # Errors
    /// [`Error::IllegalState`]: the transition begins with another state. [`Error::NotReady`]: the
    /// work did not end in time. [`Error::NotPermitted`]: the caller is a host function of a stream.
    /// [`Error::OperatingSystem`]: the process has ended.
    pub fn change(&self, transition: Transition, limit: Option<Duration>) -> Result<()> {
        match self {
            Target::Own => change_to(transition, limit, None),
            Target::Other(other) => other.ask(transition, limit),
        }
    }
}

/// Changes the state of this process. `withdrawn`: whether another process that asked for it has given up.
fn change_to(
    transition: Transition,
    limit: Option<Duration>,
    withdrawn: Option<&dyn Fn() -> bool>,
) -> Result<()> {
    match transition {
        Transition::Lock => lock_process(limit, withdrawn),
        Transition::Checkpoint => change(State::Locked, State::Checkpointed),
        Transition::Restore => change(State::Checkpointed, State::Locked),
        Transition::Unlock => change(State::Locked, State::Running),
    }
}

fn change(from: State, to: State) -> Result<()> {
    let mut state = lock(&STATE);
    if *state != from {
        return Err(Error::IllegalState);
    }
    *state = to;
    HELD.store(to != State::Running, Ordering::Release);
    other::publish(to);
    CHANGED.notify_all();
    Ok(())
}

/// Makes further calls wait, and waits for the work in all contexts.
///
/// # Errors
/// [`Error::NotPermitted`]: the caller is a host function of a stream, which would wait for itself.
/// [`Error::IllegalState`]: it is locked already. [`Error::NotReady`]: the work did not end in time, or the
/// lock was withdrawn; the process runs on.
fn lock_process(limit: Option<Duration>, withdrawn: Option<&dyn Fn() -> bool>) -> Result<()> {
    if stream::in_host_function() {
        return Err(Error::NotPermitted);
    }
    change(State::Running, State::Locking)?;
    if limit.is_none() && withdrawn.is_none() {
        context::settle_all();
        return change(State::Locking, State::Locked);
    }
    let start = Instant::now();
    while !context::all_idle() {
        if limit.is_some_and(|limit| start.elapsed() >= limit)
            || withdrawn.is_some_and(|withdrawn| withdrawn())
        {
            change(State::Locking, State::Running)?;
            return Err(Error::NotReady);
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    change(State::Locking, State::Locked)
}

/// Undoes a lock that was withdrawn when it was done.
fn unlock() {
    let _ = change(State::Locked, State::Running);
}
