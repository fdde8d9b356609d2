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
    purpose: Purpose,
    at: Instant,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Fails the launch after this time.
    Limit(Duration),
    /// Fails the launch if a grid fails for which it may wait.
    Others,
    /// Interrupts the workers of a failed launch.
    Interrupt,
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

    fn add(self: &Arc<Self>, job: &Job, purpose: Purpose, wait: Duration) {
        let mut state = self.state();
        let pointer = std::ptr::from_ref(job).cast::<Job<'static>>();
        let Some(at) = Instant::now().checked_add(wait) else { return };
        let same = |w: &Watch| w.job == pointer && w.purpose == purpose;
        if purpose == Purpose::Interrupt && state.watches.iter().any(same) {
            return;
        }
        state.watches.push(Watch { job: pointer, purpose, at });
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
        self.add(job, Purpose::Limit(time), time.saturating_sub(job.launch.spent));
    }

    /// Fails `job` with [`FaultKind::Abandoned`] when a grid fails for which it may wait. As for `limit`.
    pub(crate) fn look(self: &Arc<Self>, job: &Job) {
        self.add(job, Purpose::Others, Duration::ZERO);
    }

    /// Interrupts the workers of a failed job that do not end by themselves. The watch must be removed with
    /// `forget` before the job is dropped.
    pub(crate) fn hurry(self: &Arc<Self>, job: &Job) {
        self.add(job, Purpose::Interrupt, GRACE);
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
                match watch.purpose {
                    Purpose::Limit(time) => {
                        let mut detail = format!("not ended after {time:?}");
                        if !job.launch.spent.is_zero() {
                            detail.push_str(", with what kernels launched before");
                        }
                        job.fail(Fault::new(FaultKind::Timeout, job.launch.name, detail));
                    }
                    Purpose::Others if !job.others_failed() => {
                        watch.at = now + LOOK;
                        continue;
                    }
                    Purpose::Others => {
                        job.fail(Fault::new(FaultKind::Abandoned, job.launch.name, String::new()));
                    }
                    Purpose::Interrupt => {}
                }
                watch.purpose = Purpose::Interrupt;
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
