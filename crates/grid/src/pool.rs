//! Workers: threads that share the blocks of launches.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use wave::abi::Stop;

use crate::block::{Slot, Turn};
use crate::fault::{self, Fault, FaultKind};
use crate::launch::{Launch, Running};

/// How long a worker looks for work before it sleeps.
const SPIN: Duration = Duration::from_micros(30);

/// Blocks that one worker keeps alive at most while they wait for others.
const RESIDENT: usize = 64;

/// Work below this is not worth waking anybody for.
const ALONE: Duration = Duration::from_micros(4);

/// A launch that workers may join.
struct Job {
    /// The launch, which its caller keeps alive until `inside` is 0 and the job is off the list.
    running: *const Running<'static>,
    next: AtomicU64,
    total: u64,
    /// Blocks handed out at a time.
    chunk: u64,
    inside: AtomicU32,
}

// SAFETY: `Running` is shared between threads by reference only; the raw pointer stands for such a reference.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

impl Job {
    /// The next range of blocks; chunks shrink towards the end, so that the workers finish together.
    fn take(&self, workers: u32) -> Option<(u64, u64)> {
        loop {
            let first = self.next.load(Ordering::Relaxed);
            if first >= self.total {
                return None;
            }
            let left = self.total - first;
            let count = self.chunk.min(left / (2 * u64::from(workers.max(1))) + 1).max(1);
            let swap =
                self.next.compare_exchange_weak(first, first + count, Ordering::Relaxed, Ordering::Relaxed);
            if swap.is_ok() {
                return Some((first, count));
            }
        }
    }
}

#[derive(Default)]
struct State {
    jobs: Vec<Arc<Job>>,
    started: bool,
    closed: bool,
}

struct Pool {
    state: Mutex<State>,
    wake: Condvar,
    /// Changes with every posted job: what spinning workers look at.
    posted: AtomicU64,
    sleeping: AtomicU32,
    closed: AtomicBool,
    workers: u32,
}

impl Pool {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A job that still has blocks, joined.
    fn join(&self) -> Option<Arc<Job>> {
        let state = self.state();
        let job = state.jobs.iter().find(|j| j.next.load(Ordering::Relaxed) < j.total)?;
        job.inside.fetch_add(1, Ordering::AcqRel);
        Some(job.clone())
    }

    fn serve(&self, worker: u32) {
        let mut slots = Slots::default();
        while !self.closed.load(Ordering::Acquire) {
            match self.join() {
                Some(job) => {
                    // SAFETY: joined under the lock while the job was listed: its caller waits for `inside` to fall.
                    let running = unsafe { &*job.running };
                    work(&job, running, &mut slots, worker, self.workers);
                    job.inside.fetch_sub(1, Ordering::AcqRel);
                }
                None => self.wait(),
            }
        }
    }

    fn wait(&self) {
        let seen = self.posted.load(Ordering::Acquire);
        let start = Instant::now();
        while start.elapsed() < SPIN {
            for _ in 0..64 {
                std::hint::spin_loop();
            }
            if self.posted.load(Ordering::Acquire) != seen {
                return;
            }
        }
        let state = self.state();
        if state.closed || state.jobs.iter().any(|j| j.next.load(Ordering::Relaxed) < j.total) {
            return;
        }
        self.sleeping.fetch_add(1, Ordering::AcqRel);
        let woken = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
        drop(woken);
        self.sleeping.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The slots of one thread.
#[derive(Default)]
struct Slots {
    free: Vec<Slot>,
}

thread_local! {
    /// Slots of threads that take part as callers.
    static MINE: std::cell::RefCell<Slots> = std::cell::RefCell::default();
}

/// A pool of workers; the thread that calls [`Workers::run`] is the first of them.
pub struct Workers {
    pool: Arc<Pool>,
    threads: Mutex<Vec<std::thread::JoinHandle<()>>>,
    process: u32,
}

impl Workers {
    /// `count` workers, the caller included; threads start with the first launch that is worth sharing.
    pub fn new(count: u32) -> Self {
        let pool = Pool {
            state: Mutex::default(),
            wake: Condvar::new(),
            posted: AtomicU64::new(0),
            sleeping: AtomicU32::new(0),
            closed: AtomicBool::new(false),
            workers: count.max(1),
        };
        Workers { pool: Arc::new(pool), threads: Mutex::default(), process: std::process::id() }
    }

    /// How many workers there are.
    pub fn count(&self) -> u32 {
        self.pool.workers
    }

    fn start(&self) {
        let mut state = self.pool.state();
        // After a fork there are no threads, and the child must not make any behind its parent's back.
        if std::mem::replace(&mut state.started, true) || self.process != std::process::id() {
            return;
        }
        drop(state);
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for worker in 1..self.pool.workers {
            let pool = self.pool.clone();
            let thread = std::thread::Builder::new().name(format!("anywarp-{worker}"));
            match thread.spawn(move || pool.serve(worker)) {
                Ok(handle) => threads.push(handle),
                Err(error) => tracing::warn!(%error, "cannot start a worker; going on with fewer"),
            }
        }
    }

    /// Runs the whole grid and waits for it.
    pub fn run(&self, launch: &Launch) -> Result<(), Fault> {
        let running = Running::new(launch);
        let total = launch.blocks();
        if total > 0 && launch.threads() > 0 {
            let chunk = if launch.code.suspends() {
                1
            } else {
                (total / (16 * u64::from(self.count()))).clamp(1, 4096)
            };
            // SAFETY: only the lifetime is changed; `share` returns after every worker has left the job.
            let lifeless =
                unsafe { std::mem::transmute::<*const Running<'_>, *const Running<'static>>(&running) };
            let job =
                Job { running: lifeless, next: AtomicU64::new(0), total, chunk, inside: AtomicU32::new(0) };
            let taken = MINE.with(|m| m.try_borrow_mut().map(|mut m| std::mem::take(&mut *m)));
            let mut slots = taken.unwrap_or_default();
            self.share(Arc::new(job), &running, &mut slots);
            MINE.with(|m| {
                if let Ok(mut m) = m.try_borrow_mut() {
                    *m = slots;
                }
            });
        }
        running.result()
    }

    fn share(&self, job: Arc<Job>, running: &Running, slots: &mut Slots) {
        let workers = self.count();
        // The first blocks tell whether the rest is worth sharing.
        if workers > 1 && job.total > 1 && !running.launch.cooperative && !running.launch.code.suspends() {
            let start = Instant::now();
            let first = (job.total / 64).clamp(1, 64);
            job.next.store(first, Ordering::Relaxed);
            range(running, slots, 0, first, 0, workers);
            let left = start.elapsed().as_nanos() * u128::from(job.total - first) / u128::from(first);
            if left < ALONE.as_nanos() {
                work(&job, running, slots, 0, workers);
                return;
            }
        }
        if workers > 1 && job.next.load(Ordering::Relaxed) + 1 < job.total {
            self.start();
            self.pool.state().jobs.push(job.clone());
            self.pool.posted.fetch_add(1, Ordering::AcqRel);
            if self.pool.sleeping.load(Ordering::Acquire) > 0 {
                self.pool.wake.notify_all();
            }
            work(&job, running, slots, 0, workers);
            self.pool.state().jobs.retain(|j| !Arc::ptr_eq(j, &job));
            let mut spins = 0u32;
            while job.inside.load(Ordering::Acquire) > 0 {
                std::hint::spin_loop();
                spins += 1;
                if spins > 20_000 {
                    std::thread::yield_now();
                }
            }
        } else {
            work(&job, running, slots, 0, workers);
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.pool.closed.store(true, Ordering::Release);
        self.pool.state().closed = true;
        self.pool.posted.fetch_add(1, Ordering::AcqRel);
        self.pool.wake.notify_all();
        if self.process != std::process::id() {
            return;
        }
        for thread in self.threads.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // A worker that panicked has said so already.
            let _ = thread.join();
        }
    }
}

/// Takes blocks of a job until there are no more.
fn work(job: &Job, running: &Running, slots: &mut Slots, worker: u32, workers: u32) {
    if running.launch.code.suspends() {
        coroutines(job, running, slots, worker, workers);
        return;
    }
    while !running.stopped.load(Ordering::Acquire) {
        let Some((first, count)) = job.take(workers) else { return };
        range(running, slots, first, count, worker, workers);
    }
}

/// Runs `count` whole blocks of code that does not suspend.
fn range(running: &Running, slots: &mut Slots, first: u64, count: u64, worker: u32, workers: u32) {
    let mut slot = slots.free.pop().unwrap_or_default();
    match slot.prepare(running, first, worker, workers) {
        Some(ctx) => {
            // SAFETY: the slot's buffers and the launch make the context valid.
            let stop = fault::catch(&mut || unsafe { running.launch.code.run_blocks(ctx, count) });
            match stop {
                Ok(Stop::Done) => {}
                Ok(_) => running.fail(Fault {
                    kind: FaultKind::Trap,
                    message: format!("kernel {}: the kernel stopped", running.launch.name),
                }),
                Err(signal) => running.fail(Fault {
                    kind: signal.kind(),
                    message: format!(
                        "kernel {}, near block ({}, {}, {}): {}",
                        running.launch.name,
                        ctx.ctaid[0],
                        ctx.ctaid[1],
                        ctx.ctaid[2],
                        signal.describe()
                    ),
                }),
            }
        }
        None => running.fail(no_memory(running)),
    }
    slots.free.push(slot);
}

fn no_memory(running: &Running) -> Fault {
    Fault {
        kind: FaultKind::OutOfMemory,
        message: format!("kernel {}: no memory for a block's shared and local memory", running.launch.name),
    }
}

/// Runs blocks of code that suspends: the oldest one that can move, and new ones while all wait.
fn coroutines(job: &Job, running: &Running, slots: &mut Slots, worker: u32, workers: u32) {
    let code = running.launch.code;
    let limit = if running.launch.cooperative { usize::MAX } else { RESIDENT };
    let mut resident: Vec<Slot> = Vec::new();
    let mut idle = 0u32;
    while !running.stopped.load(Ordering::Acquire) {
        let mut moved = false;
        let mut i = 0;
        while i < resident.len() {
            match resident[i].turn(running) {
                Turn::Blocked => i += 1,
                Turn::Done | Turn::Failed => {
                    let mut slot = resident.remove(i);
                    slot.end(code);
                    slots.free.push(slot);
                    moved = true;
                }
            }
        }
        if resident.len() < limit
            && let Some((number, _)) = job.take(u32::MAX)
        {
            let mut slot = slots.free.pop().unwrap_or_default();
            if slot.begin(running, number, worker, workers).is_none() {
                running.fail(no_memory(running));
                break;
            }
            resident.push(slot);
            moved = true;
        }
        if resident.is_empty() {
            break;
        }
        idle = if moved { 0 } else { idle + 1 };
        match idle {
            0..16 => {}
            16..1024 => std::thread::yield_now(),
            _ => std::thread::sleep(Duration::from_micros(50)),
        }
    }
    for mut slot in resident {
        slot.end(code);
        slots.free.push(slot);
    }
}
