//! Graphs that kernels launch.
//!
//! A graph runs in an environment: its own work and what its kernels launch to forget. A graph that is
//! launched to be forgotten runs when the kernel that launched it has ended, or in a helper thread if that
//! kernel takes long, since it may wait for the graph. When the environment is complete, the graph's siblings
//! and then its tail launches take its place.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use host::threads::Turn;

use crate::error::{Error, Result};
use crate::handle::{Handle, lock};
use crate::stream::Stream;

use super::exec::{self, Exec, flag};
use super::plan::Plan;
use super::run::{self, HELPERS, Helped, Settled};

/// The most graphs that one run of a graph launches to forget, and the most that wait for its end (CUDA's
/// programming guide, "Device Graph Launch").
const MOST_FORGOTTEN: u32 = 120;
const MOST_TAIL: usize = 255;
/// How deep graphs that are forgotten may launch others. Each level takes stack of the thread that runs it.
const MOST_DEPTH: u32 = 64;

/// How a kernel launches a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// When the launching graph's environment is complete.
    Tail,
    /// At once, as a part of the launching graph's environment.
    Forget,
    /// At once, as a part of the environment around that one.
    Sibling,
}

impl Mode {
    /// By the stream that a kernel names (`cudaStreamGraphTailLaunch` and the others).
    pub fn of_stream(stream: u64) -> Option<Mode> {
        match stream {
            0x0100_0000_0000_0000 => Some(Mode::Tail),
            0x0200_0000_0000_0000 => Some(Mode::Forget),
            0x0300_0000_0000_0000 => Some(Mode::Sibling),
            _ => None,
        }
    }
}

/// Why a kernel's launch of a graph is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// No graph that kernels may launch now: not instantiated or not uploaded for it, running or about to
    /// run, or one more than may be launched.
    Value,
    /// The graphs would be nested too deeply.
    Depth,
}

/// A graph that was launched, counted among the launches of its executable graph until it has run.
pub(super) struct Launched {
    exec: Arc<Exec>,
    plan: Arc<Plan>,
}

impl Launched {
    /// Claims an executable graph that is launched so many times now.
    fn claim(exec: &Arc<Exec>, now: u32) -> Result<Launched, Refused> {
        let plan = exec.uploaded().ok_or(Refused::Value)?;
        let claimed = exec.launches.compare_exchange(now, now + 1, Ordering::AcqRel, Ordering::Acquire);
        claimed.map(|_| Launched { exec: Arc::clone(exec), plan }).map_err(|_| Refused::Value)
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        self.exec.launches.fetch_sub(1, Ordering::AcqRel);
    }
}

/// What the kernels of a graph have launched.
#[derive(Default)]
struct State {
    /// How many were launched to be forgotten.
    forgotten: u32,
    inside: VecDeque<Launched>,
    /// Whether a helper has seen the first of them wait.
    seen: bool,
    /// How many of them helpers run, and how the first failure was.
    helped: usize,
    failure: Option<Error>,
    siblings: Vec<Launched>,
    tail: Vec<Launched>,
}

/// The environment in which a graph runs.
pub struct Environment {
    exec: Arc<Exec>,
    stream: Arc<Stream>,
    depth: u32,
    /// Whether helpers look at it.
    registered: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").field("depth", &self.depth).finish_non_exhaustive()
    }
}

/// Runs a launch by the host, and the graphs that its kernels launch.
pub(super) fn run_launch(
    exec: &Arc<Exec>,
    settled: &Settled,
    stream: &Arc<Stream>,
    turn: Option<&Turn>,
) -> Result<()> {
    exec.launches.fetch_add(1, Ordering::AcqRel);
    let first = Launched { exec: Arc::clone(exec), plan: Arc::clone(&settled.plan) };
    run_all(first, Some(settled), stream, 0, turn)
}

/// Runs a graph, then those that take its place.
fn run_all(
    first: Launched,
    mut settled: Option<&Settled>,
    stream: &Arc<Stream>,
    depth: u32,
    turn: Option<&Turn>,
) -> Result<()> {
    let mut queue = VecDeque::from([first]);
    while let Some(launched) = queue.pop_front() {
        let environment = Arc::new(Environment {
            exec: Arc::clone(&launched.exec),
            stream: Arc::clone(stream),
            depth,
            registered: AtomicBool::new(false),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let events = settled.take().map_or(&[][..], |settled| &settled.events);
        let ran = run::plan(&launched.plan, events, &environment, turn);
        if ran.is_err() {
            lock(&environment.state).inside.clear();
        }
        environment.complete(turn).and(ran)?;
        let mut state = lock(&environment.state);
        let next = std::mem::take(&mut state.siblings).into_iter().chain(std::mem::take(&mut state.tail));
        for (at, next) in next.enumerate() {
            // A graph that launches itself without end must not keep the process from ending.
            crate::driver()?;
            queue.insert(at, next);
        }
    }
    Ok(())
}

impl Environment {
    /// The stream.
    pub(super) fn stream(&self) -> &Arc<Stream> {
        &self.stream
    }

    /// The handle of the graph that runs, if kernels may launch it; otherwise 0.
    pub fn current(&self) -> Handle {
        if self.exec.flags & flag::DEVICE_LAUNCH != 0 { self.exec.handle } else { 0 }
    }

    /// Launches a graph for a kernel of this one.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn launch(self: &Arc<Self>, graph: Handle, mode: Mode) -> Result<(), Refused> {
        let exec = exec::get(graph).map_err(|_| Refused::Value)?;
        let mut state = lock(&self.state);
        match mode {
            Mode::Tail if state.tail.len() < MOST_TAIL => {
                // Of its launches, this graph's own is running.
                let now = u32::from(Arc::ptr_eq(&exec, &self.exec));
                state.tail.push(Launched::claim(&exec, now)?);
            }
            Mode::Sibling => state.siblings.push(Launched::claim(&exec, 0)?),
            Mode::Forget if self.depth >= MOST_DEPTH => return Err(Refused::Depth),
            Mode::Forget if state.forgotten < MOST_FORGOTTEN => {
                state.inside.push_back(Launched::claim(&exec, 0)?);
                state.forgotten += 1;
                drop(state);
                if !self.registered.swap(true, Ordering::AcqRel) {
                    HELPERS.register(self);
                }
            }
            Mode::Tail | Mode::Forget => return Err(Refused::Value),
        }
        Ok(())
    }

    /// Runs what waits to run inside. Called when a kernel has ended.
    pub(super) fn run_inside(&self, turn: Option<&Turn>) -> Result<()> {
        // What was launched is seen here: the launching kernel has ended.
        while self.registered.load(Ordering::Acquire) {
            let Some(next) = lock(&self.state).inside.pop_front() else { break };
            run_all(next, None, &self.stream, self.depth + 1, turn)?;
        }
        Ok(())
    }

    /// Runs the rest of what was launched to be forgotten, and waits for what helpers run.
    fn complete(self: &Arc<Self>, turn: Option<&Turn>) -> Result<()> {
        if !self.registered.load(Ordering::Acquire) {
            return Ok(());
        }
        let ran = self.run_inside(turn);
        HELPERS.unregister(self);
        let mut state = lock(&self.state);
        while state.helped > 0 {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        ran.and(state.failure.map_or(Ok(()), Err))
    }
}

impl Helped for Environment {
    /// What has waited since the look before this one is left to helpers: its kernel takes long.
    fn wants_help(&self) -> bool {
        let mut state = lock(&self.state);
        let waits = !state.inside.is_empty();
        std::mem::replace(&mut state.seen, waits) && waits
    }

    fn help(&self, turn: &Turn) {
        loop {
            let mut state = lock(&self.state);
            let Some(next) = state.inside.pop_front() else { return };
            state.helped += 1;
            drop(state);
            let ran = run::guarded(|| run_all(next, None, &self.stream, self.depth + 1, Some(turn)));
            let mut state = lock(&self.state);
            state.helped -= 1;
            if let Err(error) = ran {
                state.failure.get_or_insert(error);
            }
            self.changed.notify_all();
        }
    }
}
