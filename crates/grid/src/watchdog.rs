//! Stops launches that take too long or wait for a grid that has failed, and workers that still run after
//! their launch has failed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::fault::{Fault, FaultKind};
use crate::job::Job;

/// Time for workers to notice that their launch has failed before they are interrupted.
const GRACE: Duration = Duration::from_millis(100);

/// Time between interrupts: a worker can be left only while it is in machine code.
const AGAIN: Duration = Duration::from_millis(5);

/// Time between looks at other grids, for which a launch may wait.
const LOOK: Duration = Duration::from_millis(10);

/// Time between checks without a launch to watch; a new launch wakes the thread.
const IDLE: Duration = Duration::from_secs(3600);

#[derive(Clone, Copy)]
struct Watch {
    job: *const Job<'static>,
    /// The time limit of the launch, if it has one.
    allowed: Option<Duration>,
    /// Whether it may wait for other grids.
    looks: bool,
    at: Instant,
}

// SAFETY: jobs are shared between threads, and leave the list before they are dropped.
unsafe impl Send for Watch {}

#[derive(Default)]
struct State {
    watches: Vec<Watch>,
    running: bool,
}

#[derive(Default)]
pub(crate) struct Watchdog {
    state: Mutex<State>,
    changed: Condvar,
    stop: AtomicBool,
}

impl Watchdog {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(self: &Arc<Self>, job: &Job, allowed: Option<Duration>, looks: bool, wait: Duration) {
        let mut state = self.state();
        let pointer = std::ptr::from_ref(job).cast::<Job<'static>>();
        let Some(at) = Instant::now().checked_add(wait) else { return };
        let interrupts = |w: &Watch| w.job == pointer && w.allowed.is_none() && !w.looks;
        if allowed.is_none() && !looks && state.watches.iter().any(interrupts) {
            return;
        }
        state.watches.push(Watch { job: pointer, allowed, looks, at });
        if !state.running {
            let this = self.clone();
            let thread = std::thread::Builder::new().name("anywarp-watch".into());
            match host::threads::spawn(thread, move || this.serve()) {
                Ok(_) => state.running = true,
                Err(error) => {
                    tracing::error!(
                        "cannot start the watchdog: {error}; a kernel that never ends is not stopped"
                    );
                }
            }
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Fails `job` with [`FaultKind::Timeout`] if it and what was spent before it take longer than `time`.
    /// The watch must be removed with `forget` before the job is dropped.
    pub(crate) fn limit(self: &Arc<Self>, job: &Job, time: Duration) {
        self.add(job, Some(time), false, time.saturating_sub(job.launch.spent));
    }

    /// Fails `job` with [`FaultKind::Abandoned`] when a grid fails for which it may wait. As for `limit`.
    pub(crate) fn look(self: &Arc<Self>, job: &Job) {
        self.add(job, None, true, Duration::ZERO);
    }

    /// Interrupts the workers of a failed job that do not end by themselves. The watch must be removed with
    /// `forget` before the job is dropped.
    pub(crate) fn hurry(self: &Arc<Self>, job: &Job) {
        self.add(job, None, false, GRACE);
    }

    /// Removes all watches of a job.
    pub(crate) fn forget(&self, job: &Job) {
        let pointer = std::ptr::from_ref(job).cast::<Job<'static>>();
        self.state().watches.retain(|w| w.job != pointer);
    }

    /// Ends the thread.
    pub(crate) fn close(&self) {
        let _state = self.state();
        self.stop.store(true, Ordering::Relaxed);
        self.changed.notify_one();
    }

    fn serve(&self) {
        let mut state = self.state();
        while !self.stop.load(Ordering::Relaxed) {
            let now = Instant::now();
            for watch in state.watches.iter_mut().filter(|w| w.at <= now) {
                // SAFETY: the job is in the list, whose lock is held.
                let job = unsafe { &*watch.job };
                if let Some(time) = watch.allowed.take() {
                    let mut detail = format!("not ended after {time:?}");
                    if !job.launch.spent.is_zero() {
                        detail.push_str(", with what kernels launched before");
                    }
                    job.fail(Fault::new(FaultKind::Timeout, job.launch.name, detail));
                }
                if watch.looks {
                    if !job.others_failed() {
                        watch.at = now + LOOK;
                        continue;
                    }
                    job.fail(Fault::new(FaultKind::Abandoned, job.launch.name, String::new()));
                }
                job.interrupt_all();
                watch.at = now + AGAIN;
            }
            let next = state.watches.iter().map(|w| w.at).min();
            let wait = next.map_or(IDLE, |at| at.saturating_duration_since(now));
            let waited = self.changed.wait_timeout(state, wait);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
