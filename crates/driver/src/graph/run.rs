//! Running plans.
//!
//! A chain is a loop in the thread that runs the stream. Other plans keep a list of the steps that can run.
//! The thread takes them one by one, and after each continues with a step that waited for it. Helpers,
//! threads of the driver, look at these lists at intervals and take what they find: short steps are over
//! before a helper looks, and long ones run side by side. Helpers also run graphs that a long kernel has
//! launched.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use host::threads::Turn;
use smallvec::SmallVec;

use crate::crew::{Crew, Stall};
use crate::error::{Error, Result};
use crate::handle::lock;
use crate::stream::Operation;

use super::device::Environment;
use super::exec::EventStep;
pub(super) use super::exec::Settled;
use super::plan::{Branch, Plan, Step, Task};

/// The time between two looks of a helper while plans run.
const NAP: Duration = Duration::from_micros(50);
/// Helpers do not join where at least this many steps ended since their last look.
const FAST: usize = 8;
/// Helpers without work for this long sleep until they are woken.
const IDLE: Duration = Duration::from_millis(3);
/// The largest number of helpers.
const MAX_HELPERS: usize = 64;
/// How long the thread that runs the stream spins for other threads' steps before it sleeps.
const LOOK: Duration = Duration::from_micros(20);
/// The stack that a thread must have left to run a graph inside another one itself.
const LEAST_STACK: usize = 128 << 10;

type Events = [(u32, EventStep)];

/// Runs a plan in an environment.
pub(super) fn plan(
    plan: &Arc<Plan>,
    events: &Events,
    graph: &Arc<Environment>,
    turn: Option<&Turn>,
) -> Result<()> {
    for variable in &plan.variables {
        variable.assign_default();
    }
    if plan.chain {
        let mut steps = (0..).zip(&plan.steps);
        return steps.try_for_each(|(number, step)| perform(step, number, events, graph, turn));
    }
    let job = Arc::new(Job::new(plan, events, graph));
    HELPERS.register(&job);
    job.drive(turn);
    HELPERS.unregister(&job);
    lock(&job.failure).map_or(Ok(()), Err)
}

/// Runs one step, which has this number in its plan.
#[inline]
fn perform(
    step: &Step,
    number: u32,
    events: &Events,
    graph: &Arc<Environment>,
    turn: Option<&Turn>,
) -> Result<()> {
    let stream = graph.stream();
    match &step.task {
        Task::Update(node, launch) => {
            let (enabled, changed) = node.apply(launch, step.enabled);
            if !enabled {
                return Ok(());
            }
            changed.as_ref().unwrap_or(launch).run_in_graph(graph)?;
            graph.run_inside(turn)
        }
        _ if !step.enabled => Ok(()),
        Task::Nothing => Ok(()),
        Task::Run(Operation::Launch(launch)) => {
            launch.run_in_graph(graph)?;
            graph.run_inside(turn)
        }
        Task::Run(operation @ (Operation::Record(_) | Operation::Wait(_))) => {
            match events.binary_search_by_key(&number, |event| event.0).ok().and_then(|at| events.get(at)) {
                Some((_, EventStep::Record(record))) => record.run(),
                Some((_, EventStep::Wait(wait))) => wait.run(),
                None => return operation.run(stream, turn),
            }
            Ok(())
        }
        Task::Run(operation) => operation.run(stream, turn),
        Task::Branch(branch) => with_stack(turn, |turn| choose(branch, graph, turn)),
    }
}

/// Runs the bodies of a conditional node.
fn choose(branch: &Branch, graph: &Arc<Environment>, turn: Option<&Turn>) -> Result<()> {
    let mut ran = 0;
    while let Some(body) = branch.conditional.next(ran) {
        // A loop without end must not keep the process from ending.
        crate::driver()?;
        if let Some(body) = branch.bodies.get(body) {
            plan(body, &[], graph, turn)?;
        }
        ran += 1;
    }
    Ok(())
}

/// Runs a graph inside a graph. Each level takes stack: if the thread has little left, another one takes
/// over.
///
/// # Errors
/// [`Error::OutOfMemory`]: the system refuses that thread.
pub(super) fn with_stack(
    turn: Option<&Turn>,
    run: impl FnOnce(Option<&Turn>) -> Result<()> + Send,
) -> Result<()> {
    let run = |here| if here { run(turn) } else { guarded(|| run(Some(&Turn::begin()))) };
    host::stack::with(LEAST_STACK, "anywarp-graph", run).map_err(|_| Error::OutOfMemory)?
}

/// One run of a plan that is no chain.
struct Job {
    plan: Arc<Plan>,
    events: Box<Events>,
    graph: Arc<Environment>,
    /// The number of steps that each step still waits for.
    missing: Box<[AtomicU32]>,
    /// The steps that can run.
    ready: Mutex<VecDeque<u32>>,
    /// Steps that have not ended.
    left: AtomicUsize,
    /// Their number when a helper last looked.
    looked: AtomicUsize,
    failed: AtomicBool,
    failure: Mutex<Option<Error>>,
    /// Whether the thread that drives the job sleeps, and how it is woken. Guarded by `ready`.
    waiting: AtomicBool,
    changed: Condvar,
}

impl Job {
    fn new(plan: &Arc<Plan>, events: &Events, graph: &Arc<Environment>) -> Job {
        let missing: Box<[AtomicU32]> = plan.missing.iter().map(|count| AtomicU32::new(*count)).collect();
        let roots = plan.missing.iter().enumerate().filter(|(_, count)| **count == 0);
        Job {
            plan: Arc::clone(plan),
            events: events.into(),
            graph: Arc::clone(graph),
            missing,
            ready: Mutex::new(roots.map(|(step, _)| step as u32).collect()),
            left: AtomicUsize::new(plan.steps.len()),
            looked: AtomicUsize::new(usize::MAX),
            failed: AtomicBool::new(false),
            failure: Mutex::new(None),
            waiting: AtomicBool::new(false),
            changed: Condvar::new(),
        }
    }

    /// Runs steps until none can run: the next one, and what follows it.
    fn work(&self, turn: Option<&Turn>) {
        // Own steps are taken in the order of the plan, as helpers take them.
        while let Some(first) = self.take() {
            let mut next = Some(first);
            while let Some(step) = next {
                self.attempt(step, turn);
                next = self.finish(step);
            }
        }
    }

    fn take(&self) -> Option<u32> {
        lock(&self.ready).pop_front()
    }

    fn attempt(&self, step: u32, turn: Option<&Turn>) {
        if self.failed.load(Ordering::Acquire) {
            return;
        }
        let Some(task) = self.plan.steps.get(step as usize) else { return };
        if let Err(error) = guarded(|| perform(task, step, &self.events, &self.graph, turn)) {
            lock(&self.failure).get_or_insert(error);
            self.failed.store(true, Ordering::Release);
        }
    }

    /// Notes the end of a step. Returns one that can run now; lists the others.
    fn finish(&self, step: u32) -> Option<u32> {
        let mut next = None;
        let mut more: SmallVec<[u32; 8]> = SmallVec::new();
        for &after in self.plan.after(step) {
            let Some(missing) = self.missing.get(after as usize) else { continue };
            if missing.fetch_sub(1, Ordering::AcqRel) == 1 {
                match next {
                    None => next = Some(after),
                    Some(_) => more.push(after),
                }
            }
        }
        let last = self.left.fetch_sub(1, Ordering::AcqRel) == 1;
        if last || !more.is_empty() {
            let mut ready = lock(&self.ready);
            ready.extend(more);
            if self.waiting.load(Ordering::Relaxed) {
                self.changed.notify_one();
            }
        }
        next
    }

    /// Runs steps in the thread that runs the stream until all have ended.
    fn drive(&self, turn: Option<&Turn>) {
        loop {
            self.work(turn);
            let start = Instant::now();
            while self.left.load(Ordering::Acquire) > 0 {
                if !lock(&self.ready).is_empty() {
                    break;
                }
                if start.elapsed() < LOOK {
                    std::hint::spin_loop();
                    continue;
                }
                let mut ready = lock(&self.ready);
                self.waiting.store(true, Ordering::Relaxed);
                while ready.is_empty() && self.left.load(Ordering::Acquire) > 0 {
                    ready = self.changed.wait(ready).unwrap_or_else(PoisonError::into_inner);
                }
                self.waiting.store(false, Ordering::Relaxed);
            }
            if self.left.load(Ordering::Acquire) == 0 {
                return;
            }
        }
    }
}

/// Runs a part of a graph for another thread; a panic is reported to that thread as an error.
pub(super) fn guarded(run: impl FnOnce() -> Result<()>) -> Result<()> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or(Err(Error::Unknown))
}

/// What helpers look at.
pub(super) trait Helped: Send + Sync {
    /// Whether a helper should take a part. Each helper asks at intervals.
    fn wants_help(&self) -> bool;

    /// Takes parts until none is left.
    fn help(self: Arc<Self>, turn: &Turn);
}

impl Helped for Job {
    /// Some steps can run, and since the last look few have ended. Steps that are shorter than a hand-over
    /// are left to the threads that run them.
    fn wants_help(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        let before = self.looked.swap(left, Ordering::Relaxed);
        before.saturating_sub(left) < FAST && !lock(&self.ready).is_empty()
    }

    fn help(self: Arc<Self>, turn: &Turn) {
        self.work(Some(turn));
    }
}

/// The helpers, and what they look at.
pub(super) struct Helpers {
    jobs: Mutex<Vec<Weak<dyn Helped>>>,
    crew: Crew,
}

pub(super) static HELPERS: Helpers =
    Helpers { jobs: Mutex::new(Vec::new()), crew: Crew::new("anywarp-graph", MAX_HELPERS) };

impl Helpers {
    /// Lets helpers look at this.
    pub(super) fn register<T: Helped + 'static>(&'static self, job: &Arc<T>) {
        let job: Weak<T> = Arc::downgrade(job);
        lock(&self.jobs).push(job);
        self.wake();
    }

    /// The end of [`Helpers::register`].
    pub(super) fn unregister<T: Helped>(&self, job: &Arc<T>) {
        lock(&self.jobs).retain(|other| !std::ptr::addr_eq(other.as_ptr(), Arc::as_ptr(job)));
    }

    /// Makes sure that a helper will look.
    fn wake(&'static self) {
        self.crew.wake(|| self.run());
    }

    /// The main loop of a helper, which starts counted as free.
    fn run(&'static self) {
        let mut last = Instant::now();
        loop {
            let mut jobs = lock(&self.jobs);
            let mut stall = Stall::default();
            let job = loop {
                if let Some(job) = jobs.iter().filter_map(Weak::upgrade).find(|job| job.wants_help())
                    && self.crew.may_leave(&mut stall, || self.run())
                {
                    break job;
                }
                if !jobs.is_empty() || last.elapsed() < IDLE {
                    jobs = self.crew.work.wait_timeout(jobs, NAP).unwrap_or_else(PoisonError::into_inner).0;
                } else if self.crew.must_end() {
                    return;
                } else {
                    self.crew.asleep.fetch_add(1, Ordering::SeqCst);
                    jobs = self.crew.work.wait(jobs).unwrap_or_else(PoisonError::into_inner);
                    self.crew.asleep.fetch_sub(1, Ordering::SeqCst);
                    last = Instant::now();
                }
            };
            drop(jobs);
            // What this helper takes may block: another one must look at the rest.
            self.wake();
            let turn = Turn::begin();
            job.help(&turn);
            drop(turn);
            self.crew.come_back();
            last = Instant::now();
        }
    }
}
