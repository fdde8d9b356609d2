//! The worker threads.
//!
//! A launch is published in one of a few slots. Workers increment the slot's count before they read its
//! pointer; the caller removes the pointer and waits for the count to drop to zero, so that no worker uses a
//! launch after its caller returns. Between launches, workers spin for some microseconds and then sleep.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::fault::{Fault, FaultKind};
use crate::fork;
use crate::futex;
use crate::job::{Aligned, Job};
use crate::launch::{Launch, Stats};
use crate::multiprocessor::Multiprocessor;
use crate::pace::Paces;
use crate::spare::Spare;
use crate::watchdog::Watchdog;

/// How long a worker looks for work before it sleeps.
const SPIN: Duration = Duration::from_micros(30);

/// The same where the last launch came within this time: a program that launches in a loop. Waking a thread
/// takes about as long as [`SPIN`].
const SPIN_IN_LOOPS: Duration = Duration::from_micros(200);

/// Maximum number of launches that workers can take part in at the same time.
const SLOTS: usize = 16;

/// Number of sleepers that a thread wakes; these wake further ones.
const WAKE: u32 = 6;

/// Maximum number of machines kept for callers.
const MACHINES: usize = 16;

/// Set in [`Slot::users`] while the caller sleeps until the count is 0.
const SLEEPER: u32 = 1 << 31;

/// Configuration of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Number of threads that run blocks, including the calling one; also the virtual device's number of
    /// multiprocessors.
    pub workers: u32,
    /// Bytes of stack for kernels, which limits recursion.
    pub stack: usize,
    /// Whether blocks run in sequence and shared memory always has the same initial contents.
    pub deterministic: bool,
    /// Launches that take longer fail with [`FaultKind::Timeout`].
    pub watchdog: Option<Duration>,
}

impl Config {
    /// The maximum number of workers.
    pub const MAX_WORKERS: u32 = host::options::MAX_WORKERS;

    /// One worker per core, 8 MiB of stack, and the other options off.
    pub fn new() -> Config {
        let workers = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        Config { workers, stack: 8 << 20, deterministic: false, watchdog: None }
    }
}

impl Default for Config {
    fn default() -> Self {
        Config::new()
    }
}

/// A slot for one launch.
#[derive(Default)]
struct Slot {
    taken: AtomicBool,
    job: AtomicPtr<Job<'static>>,
    /// Number of workers that use `job`.
    users: AtomicU32,
}

pub(crate) struct Pool {
    config: Config,
    generation: u32,
    /// Whether workers may spin: only if there is a core for each.
    spin: bool,
    pub(crate) paces: Paces,
    /// Changes when there is work; workers sleep on it.
    epoch: Aligned<AtomicU32>,
    sleeping: Aligned<AtomicU32>,
    /// Number of sleepers that the next woken worker should wake.
    more: AtomicU32,
    stop: AtomicBool,
    slots: [Aligned<Slot>; SLOTS],
    // Boxed, because they also go through `spare`.
    #[allow(clippy::vec_box)]
    multiprocessors: Mutex<Vec<Box<Multiprocessor>>>,
    /// One more of them, which costs no lock.
    spare: Spare<Multiprocessor>,
    threads: OnceLock<Mutex<Vec<JoinHandle<()>>>>,
    watchdog: Arc<Watchdog>,
    me: Weak<Pool>,
}

impl Pool {
    /// Starts the threads, once.
    fn start(&self) {
        self.threads.get_or_init(|| {
            let mut started = Vec::new();
            for index in 1..self.config.workers {
                let Some(pool) = self.me.upgrade() else { break };
                let thread =
                    std::thread::Builder::new().name(format!("anywarp-{index}")).stack_size(256 << 10);
                match host::threads::spawn(thread, move || serve(pool, index)) {
                    Ok(handle) => started.push(handle),
                    Err(error) => {
                        tracing::warn!(%error, "cannot start worker {index}; going on with fewer");
                        break;
                    }
                }
            }
            Mutex::new(started)
        });
    }

    /// Calls up to `helpers` workers to a launch, which stays published until [`Pool::withdraw`].
    pub(crate) fn publish(&self, job: &Job, helpers: u32) {
        if helpers == 0 {
            return;
        }
        self.start();
        let free = |s: &usize| {
            let slot = self.slots.get(*s);
            slot.is_some_and(|s| !s.0.taken.swap(true, Ordering::AcqRel))
        };
        let Some(index) = (0..SLOTS).find(free) else { return };
        job.slot.store(index as u32 + 1, Ordering::Relaxed);
        if let Some(slot) = self.slots.get(index) {
            slot.0.job.store(std::ptr::from_ref(job).cast_mut().cast(), Ordering::SeqCst);
        }
        self.wake(helpers);
    }

    fn wake(&self, count: u32) {
        self.epoch.0.fetch_add(1, Ordering::SeqCst);
        if self.sleeping.0.load(Ordering::SeqCst) != 0 {
            self.more.store(count.saturating_sub(WAKE), Ordering::Relaxed);
            futex::wake(&self.epoch.0, count.min(WAKE));
        }
    }

    /// Removes a launch and waits until no worker uses it.
    fn withdraw(&self, job: &Job) {
        let index = job.slot.load(Ordering::Relaxed).wrapping_sub(1) as usize;
        let Some(Aligned(slot)) = self.slots.get(index) else { return };
        slot.job.store(std::ptr::null_mut(), Ordering::SeqCst);
        let mut spins = 0u32;
        loop {
            let users = slot.users.load(Ordering::SeqCst);
            if users & !SLEEPER == 0 {
                break;
            }
            spins += 1;
            if self.spin && spins < 2000 {
                std::hint::spin_loop();
            } else if spins < 2010 {
                std::thread::yield_now();
            } else if slot
                .users
                .compare_exchange(users, users | SLEEPER, Ordering::SeqCst, Ordering::SeqCst)
                .is_ok()
            {
                futex::wait(&slot.users, users | SLEEPER);
            }
        }
        slot.users.fetch_and(!SLEEPER, Ordering::SeqCst);
        slot.taken.store(false, Ordering::Release);
    }

    /// Takes part in every published launch.
    fn help(&self, multiprocessor: &mut Multiprocessor) {
        for Aligned(slot) in &self.slots {
            if slot.job.load(Ordering::Relaxed).is_null() {
                continue;
            }
            slot.users.fetch_add(1, Ordering::SeqCst);
            let job = slot.job.load(Ordering::SeqCst);
            // SAFETY: the count was incremented before the pointer was read, and the publisher waits for the
            // count.
            if let Some(job) = unsafe { job.as_ref() }
                && job.left() != 0
                && !job.has_failed()
                && job.admit()
            {
                job.took_part.fetch_add(1, Ordering::Relaxed);
                job.join(multiprocessor.gate());
                multiprocessor.run(job, None);
                if job.has_failed() {
                    self.watchdog.hurry(job);
                }
                job.leave(multiprocessor.gate());
                job.release();
            }
            if slot.users.fetch_sub(1, Ordering::SeqCst) == SLEEPER | 1 {
                futex::wake(&slot.users, 1);
            }
        }
    }

    /// Waits until the epoch is not `seen`, and looks for `patience` before it sleeps. Returns how long to
    /// look the next time.
    fn idle(&self, seen: u32, patience: Duration) -> Duration {
        let changed = || self.epoch.0.load(Ordering::SeqCst) != seen;
        let start = Instant::now();
        let next = || if start.elapsed() < SPIN_IN_LOOPS { SPIN_IN_LOOPS } else { SPIN };
        if self.spin {
            while start.elapsed() < patience {
                for _ in 0..32 {
                    if changed() {
                        return next();
                    }
                    std::hint::spin_loop();
                }
            }
        }
        self.sleeping.0.fetch_add(1, Ordering::SeqCst);
        while !changed() {
            futex::wait(&self.epoch.0, seen);
        }
        self.sleeping.0.fetch_sub(1, Ordering::SeqCst);
        let more = self.more.swap(0, Ordering::Relaxed);
        if more != 0 {
            self.more.store(more.saturating_sub(WAKE), Ordering::Relaxed);
            futex::wake(&self.epoch.0, more.min(WAKE));
        }
        next()
    }

    /// A machine for a calling thread.
    fn borrow_machine(&self) -> Option<Box<Multiprocessor>> {
        let kept = self
            .spare
            .take()
            .or_else(|| self.multiprocessors.lock().unwrap_or_else(PoisonError::into_inner).pop());
        kept.or_else(|| Multiprocessor::new(0, self.config.stack).map(Box::new))
    }

    fn return_machine(&self, multiprocessor: Box<Multiprocessor>) {
        let Err(multiprocessor) = self.spare.put(multiprocessor) else { return };
        let mut multiprocessors = self.multiprocessors.lock().unwrap_or_else(PoisonError::into_inner);
        if multiprocessors.len() < MACHINES {
            multiprocessors.push(multiprocessor);
        }
    }
}

/// The main loop of a worker.
fn serve(pool: Arc<Pool>, index: u32) {
    let Some(mut multiprocessor) = Multiprocessor::new(index, pool.config.stack) else {
        tracing::warn!("no memory for the stack of worker {index}; going on with fewer");
        return;
    };
    let mut patience = SPIN;
    loop {
        let seen = pool.epoch.0.load(Ordering::SeqCst);
        if pool.stop.load(Ordering::SeqCst) {
            return;
        }
        pool.help(&mut multiprocessor);
        patience = pool.idle(seen, patience);
    }
}

/// A pool of workers. A thread that calls [`Workers::run`] is one of them for that time; the other threads
/// start with the first launch that is worth sharing. Several threads may call it at the same time.
///
/// After a `fork`, the child has none of the threads and does not touch them; its launches run on the calling
/// thread.
pub struct Workers {
    pool: Arc<Pool>,
}

impl std::fmt::Debug for Workers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workers").field("config", &self.pool.config).finish_non_exhaustive()
    }
}

impl Workers {
    /// A pool of `count` workers, otherwise configured like [`Config::new`].
    pub fn new(count: u32) -> Workers {
        Workers::with(Config { workers: count, ..Config::new() })
    }

    /// A pool with this configuration.
    pub fn with(mut config: Config) -> Workers {
        config.workers = config.workers.clamp(1, Config::MAX_WORKERS);
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        let pool = Arc::new_cyclic(|me| Pool {
            spin: config.workers as usize <= cores,
            config,
            generation: fork::generation(),
            paces: Paces::default(),
            epoch: Aligned::default(),
            sleeping: Aligned::default(),
            more: AtomicU32::new(0),
            stop: AtomicBool::new(false),
            slots: std::array::from_fn(|_| Aligned::default()),
            multiprocessors: Mutex::default(),
            spare: Spare::default(),
            threads: OnceLock::new(),
            watchdog: Arc::default(),
            me: me.clone(),
        });
        Workers { pool }
    }

    /// Number of workers, including the caller.
    pub fn count(&self) -> u32 {
        self.pool.config.workers
    }

    /// The pool's configuration.
    pub fn config(&self) -> &Config {
        &self.pool.config
    }

    fn forked(&self) -> bool {
        self.pool.generation != fork::generation()
    }

    /// Runs the whole grid and waits for its end.
    ///
    /// # Errors
    /// The first fault. Blocks that ran before or beside it have had their effects.
    pub fn run(&self, launch: &Launch) -> Result<(), Box<Fault>> {
        self.run_counted(launch).map(|_| ())
    }

    /// Same as [`Workers::run`], and returns what took part.
    ///
    /// # Errors
    /// Same as for [`Workers::run`].
    pub fn run_counted(&self, launch: &Launch) -> Result<Stats, Box<Fault>> {
        let (blocks, threads) = launch.shape()?;
        let pool = &*self.pool;
        let forked = self.forked();
        let deterministic = pool.config.deterministic;
        let most = launch.most_workers.unwrap_or(u32::MAX).max(1);
        let workers = if forked || deterministic { 1 } else { pool.config.workers.min(most) };
        let mut job = Job::new(launch, blocks, threads, workers, deterministic);
        job.multiprocessors = pool.config.workers;
        let multiprocessor = if forked {
            Multiprocessor::new(0, pool.config.stack).map(Box::new)
        } else {
            pool.borrow_machine()
        };
        let Some(mut multiprocessor) = multiprocessor else {
            let fault = Fault::new(FaultKind::OutOfMemory, launch.name, "no memory for a kernel's stack");
            return Err(Box::new(fault));
        };
        let watched = pool.config.watchdog.filter(|_| !forked);
        let looks = !forked && launch.host.others_failed().is_some();
        if workers > 1 && blocks > 1 || watched.is_some() || looks {
            job.join(multiprocessor.gate());
        }
        if let Some(time) = watched {
            pool.watchdog.limit(&job, time);
        }
        if looks {
            pool.watchdog.look(&job);
        }
        let turn = host::threads::Turn::unless_begun();
        launch.enter_in_time();
        multiprocessor.run(&job, (!forked).then_some(pool));
        drop(turn);
        let published = job.slot.load(Ordering::Relaxed) != 0;
        if published {
            job.leave(multiprocessor.gate());
            if job.has_failed() {
                pool.watchdog.hurry(&job);
            }
            pool.withdraw(&job);
        }
        launch.leave();
        if watched.is_some() || looks || published && job.has_failed() {
            pool.watchdog.forget(&job);
        }
        if !forked {
            pool.return_machine(multiprocessor);
        }
        match job.has_failed().then(|| job.take_fault()).flatten() {
            Some(mut fault) => {
                fault.place = fault.line.map(|line| launch.host.place(line));
                Err(Box::new(fault))
            }
            None => Ok(Stats { blocks, workers: job.took_part.load(Ordering::Relaxed) }),
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        if self.forked() {
            // The threads are the parent's; their handles must not be touched here.
            std::mem::forget(self.pool.clone());
            return;
        }
        self.pool.stop.store(true, Ordering::SeqCst);
        self.pool.watchdog.close();
        self.pool.epoch.0.fetch_add(1, Ordering::SeqCst);
        futex::wake(&self.pool.epoch.0, u32::MAX);
        if let Some(threads) = self.pool.threads.get() {
            for thread in std::mem::take(&mut *threads.lock().unwrap_or_else(PoisonError::into_inner)) {
                // A worker that panicked has already reported it.
                let _ = thread.join();
            }
        }
    }
}
