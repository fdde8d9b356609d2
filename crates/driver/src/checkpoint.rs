//! Locking and checkpointing of this process and of others.
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
use other::{Other, Step};

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
            Target::Own => state() as u32,
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

    /// Changes its state. `limit`: how long a lock may wait for work.
    ///
    /// # Errors
    /// [`Error::IllegalState`]: it is in another state than the step begins with. [`Error::NotReady`]: the
    /// work did not end in time. [`Error::NotPermitted`]: the caller is a host function of a stream.
    /// [`Error::OperatingSystem`]: the process has ended.
    pub fn change(&self, step: Step, limit: Option<Duration>) -> Result<()> {
        match self {
            Target::Own => change_to(step, limit),
            Target::Other(other) => other.ask(step, limit),
        }
    }
}

/// Changes the state of this process.
fn change_to(step: Step, limit: Option<Duration>) -> Result<()> {
    match step {
        Step::Lock => lock_process(limit),
        Step::Checkpoint => change(State::Locked, State::Checkpointed),
        Step::Restore => change(State::Checkpointed, State::Locked),
        Step::Unlock => change(State::Locked, State::Running),
    }
}

/// The state of this process.
fn state() -> State {
    *lock(&STATE)
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
/// [`Error::IllegalState`]: it is locked already. [`Error::NotReady`]: the work did not end in time; the
/// process runs on.
fn lock_process(limit: Option<Duration>) -> Result<()> {
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
