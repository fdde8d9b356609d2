//! Crews: threads of the driver that watch a list of work and nap, or sleep, while there is none.

use std::sync::Condvar;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The threads of a crew, counted by what they do.
pub(crate) struct Crew {
    /// The threads' name.
    name: &'static str,
    /// The largest number of threads.
    most: usize,
    threads: AtomicUsize,
    /// Threads that watch the list, napping or asleep.
    pub free: AtomicUsize,
    /// Those of them that only a notification wakes.
    pub asleep: AtomicUsize,
    /// Wakes those that watch.
    pub work: Condvar,
}

impl Crew {
    /// A crew without threads.
    pub const fn new(name: &'static str, most: usize) -> Self {
        Crew {
            name,
            most,
            threads: AtomicUsize::new(0),
            free: AtomicUsize::new(0),
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

    fn spawn(&'static self, run: impl FnOnce() + Send + 'static) {
        if self.threads.fetch_add(1, Ordering::SeqCst) >= self.most {
            self.threads.fetch_sub(1, Ordering::SeqCst);
            return;
        }
        self.free.fetch_add(1, Ordering::SeqCst);
        let thread = std::thread::Builder::new().name(self.name.into()).stack_size(1 << 20);
        if host::threads::spawn(thread, run).is_err() {
            // The thread that waits for the work runs it instead; only the overlap is lost.
            self.free.fetch_sub(1, Ordering::SeqCst);
            self.threads.fetch_sub(1, Ordering::SeqCst);
        }
    }
}
