//! Graphs that kernels launch.
//!
//! A graph runs in an environment: its own work and its kernels' fire-and-forget launches. A sibling runs in
//! the environment around that one; a launch by the host is the outermost. A graph that is launched as
//! fire-and-forget, or as a sibling, runs when the kernel that launched it has ended, or in a helper thread
//! if that kernel takes long, since it may wait for the graph. When the environment is complete, the graph's
//! tail launches take its place. `tests/probe/README.md` has an H200's answers.

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

/// The most graphs that are launched into one environment, and the most that wait for its end (CUDA's
/// programming guide, "Device Graph Launch"; an H200).
const MOST_INSIDE: u32 = 120;
const MOST_TAIL: usize = 255;
/// How deep fire-and-forget graphs may launch others. An H200 has no limit below 3,000.
const MOST_DEPTH: u32 = 4096;

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
    /// Claims an executable graph whose launch count is `now`.
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
    /// How many were launched into it: to be forgotten, or as siblings of those.
    entered: u32,
    inside: VecDeque<Launched>,
    /// Whether a helper has seen the first of them wait.
    seen: bool,
    /// How many of them helpers run, and how the first failure was.
    helped: usize,
    failure: Option<Error>,
    tail: Vec<Launched>,
}

/// The environment in which a graph runs.
pub struct Environment {
    /// The graph; the environment of a launch by the host has none.
    exec: Option<Arc<Exec>>,
    around: Option<Arc<Environment>>,
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
    let outermost = Environment::new(None, None, stream, 0);
    let ran = run_all(first, Some(settled), &outermost, turn);
    outermost.end(ran, turn)
}

/// Runs a graph, then those that take its place.
fn run_all(
    first: Launched,
    mut settled: Option<&Settled>,
    around: &Arc<Environment>,
    turn: Option<&Turn>,
) -> Result<()> {
    let mut queue = VecDeque::from([first]);
    while let Some(launched) = queue.pop_front() {
        let (exec, around) = (Arc::clone(&launched.exec), Arc::clone(around));
        let (stream, depth) = (Arc::clone(&around.stream), around.depth + 1);
        let environment = Environment::new(Some(exec), Some(around), &stream, depth);
        let events = settled.take().map_or(&[][..], |settled| &settled.events);
        let ran = run::plan(&launched.plan, events, &environment, turn);
        environment.end(ran, turn)?;
        let next = std::mem::take(&mut lock(&environment.state).tail);
        for (at, next) in next.into_iter().enumerate() {
            // A graph that launches itself without end must not keep the process from ending.
            crate::driver()?;
            queue.insert(at, next);
        }
    }
    Ok(())
}

impl Environment {
    fn new(
        exec: Option<Arc<Exec>>,
        around: Option<Arc<Environment>>,
        stream: &Arc<Stream>,
        depth: u32,
    ) -> Arc<Environment> {
        Arc::new(Environment {
            exec,
            around,
            stream: Arc::clone(stream),
            depth,
            registered: AtomicBool::new(false),
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// The stream.
    pub(crate) fn stream(&self) -> &Arc<Stream> {
        &self.stream
    }

    /// The handle of the graph that runs, if kernels may launch it; otherwise 0.
    pub fn current(&self) -> Handle {
        self.exec.as_ref().filter(|exec| exec.flags & flag::DEVICE_LAUNCH != 0).map_or(0, |exec| exec.handle)
    }

    /// Launches a graph for a kernel of this one.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn launch(self: &Arc<Self>, graph: Handle, mode: Mode) -> Result<(), Refused> {
        let exec = exec::get(graph).map_err(|_| Refused::Value)?;
        match mode {
            Mode::Tail => {
                let mut state = lock(&self.state);
                if state.tail.len() >= MOST_TAIL {
                    return Err(Refused::Value);
                }
                // Of its launches, this graph's own is running.
                let now = u32::from(self.exec.as_ref().is_some_and(|own| Arc::ptr_eq(&exec, own)));
                state.tail.push(Launched::claim(&exec, now)?);
                Ok(())
            }
            Mode::Forget if self.depth >= MOST_DEPTH => Err(Refused::Depth),
            Mode::Forget => self.enter(&exec),
            Mode::Sibling => self.around.as_ref().ok_or(Refused::Value)?.enter(&exec),
        }
    }

    /// Takes in a graph, which runs soon.
    fn enter(self: &Arc<Self>, exec: &Arc<Exec>) -> Result<(), Refused> {
        let mut state = lock(&self.state);
        if state.entered >= MOST_INSIDE {
            return Err(Refused::Value);
        }
        state.inside.push_back(Launched::claim(exec, 0)?);
        state.entered += 1;
        self.changed.notify_all();
        drop(state);
        if !self.registered.swap(true, Ordering::AcqRel) {
            HELPERS.register(self);
        }
        Ok(())
    }

    /// Runs what waits to run inside. Called when a kernel has ended.
    #[inline]
    pub(super) fn run_inside(self: &Arc<Self>, turn: Option<&Turn>) -> Result<()> {
        // What was launched is seen here: the launching kernel has ended.
        if self.registered.load(Ordering::Acquire) { self.run_all_inside(turn) } else { Ok(()) }
    }

    #[cold]
    fn run_all_inside(self: &Arc<Self>, turn: Option<&Turn>) -> Result<()> {
        while self.registered.load(Ordering::Acquire) {
            let Some(next) = lock(&self.state).inside.pop_front() else { break };
            // Siblings that launch each other without end must not keep the process from ending.
            crate::driver()?;
            self.run_one(next, turn)?;
        }
        Ok(())
    }

    fn run_one(self: &Arc<Self>, next: Launched, turn: Option<&Turn>) -> Result<()> {
        run::with_stack(turn, |turn| run_all(next, None, self, turn))
    }

    /// Ends the environment, whose own work ended so: runs the rest of what was launched into it, unless that
    /// work failed, and waits for what helpers run.
    fn end(self: &Arc<Self>, mut ran: Result<()>, turn: Option<&Turn>) -> Result<()> {
        if !self.registered.load(Ordering::Acquire) {
            return ran;
        }
        loop {
            if ran.is_err() {
                lock(&self.state).inside.clear();
            }
            ran = ran.and(self.run_all_inside(turn));
            let mut state = lock(&self.state);
            // What helpers run may launch siblings.
            while state.helped > 0 && state.inside.is_empty() {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.inside.is_empty() {
                ran = ran.and(state.failure.map_or(Ok(()), Err));
                break;
            }
        }
        HELPERS.unregister(self);
        ran
    }
}

impl Helped for Environment {
    /// What has waited since the look before this one is left to helpers: its kernel takes long.
    fn wants_help(&self) -> bool {
        let mut state = lock(&self.state);
        let waits = !state.inside.is_empty();
        std::mem::replace(&mut state.seen, waits) && waits
    }

    fn help(self: Arc<Self>, turn: &Turn) {
        loop {
            let mut state = lock(&self.state);
            let Some(next) = state.inside.pop_front() else { return };
            state.helped += 1;
            drop(state);
            let ran = run::guarded(|| self.run_one(next, Some(turn)));
            let mut state = lock(&self.state);
            state.helped -= 1;
            if let Err(error) = ran {
                state.failure.get_or_insert(error);
            }
            self.changed.notify_all();
        }
    }
}
