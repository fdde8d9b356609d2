//! Crews: threads of the driver that watch a list of work and nap, or sleep, while there is none.
//!
//! Work may wait for other work, so a crew must not run out of threads for good. The last watcher of a full
//! crew takes no work. While no work ends, it adds threads one by one, which end when they are idle.

use std::sync::Condvar;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A full crew gets another thread if no work ends for this long.
const STALL: Duration = Duration::from_millis(10);

/// The threads of a crew, counted by what they do.
pub(crate) struct Crew {
    /// The threads' name.
    name: &'static str,
    /// The number of threads, unless they all wait.
    most: usize,
    threads: AtomicUsize,
    /// Whether a thread could not be started.
    refused: AtomicBool,
    /// Threads that watch the list, napping or asleep.
    free: AtomicUsize,
    /// How often a thread has ended its work.
    ended: AtomicUsize,
    /// Those of them that only a notification wakes.
    pub asleep: AtomicUsize,
    /// Wakes those that watch.
    pub work: Condvar,
}

/// What the last watcher of a full crew has seen: how often work had ended, and when.
#[derive(Default)]
pub(crate) struct Stall(Option<(usize, Instant)>);

impl Crew {
    /// A crew without threads.
    pub const fn new(name: &'static str, most: usize) -> Self {
        Crew {
            name,
            most,
            threads: AtomicUsize::new(0),
            refused: AtomicBool::new(false),
            free: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
            asleep: AtomicUsize::new(0),
            work: Condvar::new(),
        }
    }

    /// Makes sure that a thread will look at the list. `run` is the main loop of a new thread, which starts
    /// counted as free.
    pub fn wake(&'static self, run: impl FnOnce() + Send + 'static) {
        let free = self.free.load(Ordering::SeqCst);
        if free == 0 {
            self.spawn(run);
        } else if self.asleep.load(Ordering::SeqCst) >= free {
            self.work.notify_one();
        }
    }

    /// Tries to leave the watchers because work was found; on success the thread no longer counts as free.
    /// `stall` is the caller's local state, new for each watch.
    pub fn may_leave(&'static self, stall: &mut Stall, run: impl FnOnce() + Send + 'static) -> bool {
        if self.free.fetch_sub(1, Ordering::SeqCst) > 1 || self.threads.load(Ordering::SeqCst) < self.most {
            return true;
        }
        self.free.fetch_add(1, Ordering::SeqCst);
        let ended = self.ended.load(Ordering::SeqCst);
        match stall.0 {
            Some((before, since)) if before == ended => {
                if since.elapsed() >= STALL {
                    stall.0 = None;
                    self.threads.fetch_add(1, Ordering::SeqCst);
                    self.start(run);
                }
            }
            _ => stall.0 = Some((ended, Instant::now())),
        }
        false
    }

    /// Counts a thread as free that has ended its work.
    pub fn come_back(&self) {
        self.ended.fetch_add(1, Ordering::SeqCst);
        self.free.fetch_add(1, Ordering::SeqCst);
    }

    /// Whether a thread without work must end, as there are more than the crew should have. If so, it is no
    /// longer counted.
    pub fn must_end(&self) -> bool {
        let fewer = |threads: usize| (threads > self.most).then(|| threads - 1);
        let ends = self.threads.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fewer).is_ok();
        if ends {
            self.free.fetch_sub(1, Ordering::SeqCst);
        }
        ends
    }

    /// The number of threads that work.
    pub fn busy(&self) -> usize {
        // The two numbers may be of different moments.
        self.threads.load(Ordering::SeqCst).saturating_sub(self.free.load(Ordering::SeqCst))
    }

    /// Whether it has no threads because the system refuses them.
    pub fn is_refused(&self) -> bool {
        self.refused.load(Ordering::SeqCst) && self.threads.load(Ordering::SeqCst) == 0
    }

    fn spawn(&'static self, run: impl FnOnce() + Send + 'static) {
        if self.threads.fetch_add(1, Ordering::SeqCst) >= self.most {
            self.threads.fetch_sub(1, Ordering::SeqCst);
            return;
        }
        self.start(run);
    }

    /// Starts a thread that is counted already.
    fn start(&'static self, run: impl FnOnce() + Send + 'static) {
        self.free.fetch_add(1, Ordering::SeqCst);
        let thread = std::thread::Builder::new().name(self.name.into()).stack_size(1 << 20);
        if host::threads::spawn(thread, run).is_err() {
            // The thread that waits for the work runs it instead; only the overlap is lost.
            self.free.fetch_sub(1, Ordering::SeqCst);
            self.threads.fetch_sub(1, Ordering::SeqCst);
            self.refused.store(true, Ordering::SeqCst);
        }
    }
}
