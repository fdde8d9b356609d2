//! Dispatchers: the threads that run streams which no thread synchronises with.
//!
//! The first stream with asynchronous work starts one. While work arrives, a dispatcher polls the list of
//! streams with work and naps between polls. After a while without work it sleeps until it is woken. Only
//! then must a submission wake a thread; a burst of submissions also ends a nap.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::crew::{Crew, Stall};
use crate::handle::lock;

use super::Stream;
use super::parked::parked;

/// The pause between two polls of the list.
const NAP: Duration = Duration::from_micros(40);
/// The pause grows up to this where the listed streams turn out to have been run by threads that wait for
/// them: polls are not free for those, which may share a core with the dispatcher.
const LONGEST_NAP: Duration = Duration::from_micros(320);
/// Dispatchers without work for this long sleep until they are woken.
const IDLE: Duration = Duration::from_millis(3);
/// The largest number of streams that run at once.
const MAX_DISPATCHERS: usize = 256;
/// With more busy dispatchers than this, streams are parked that wait for memory (which takes processor
/// time), or for other streams (which takes none).
const MANY_FOR_MEMORY: usize = 32;
const MANY_FOR_STREAMS: usize = 128;

pub(super) struct Dispatcher {
    list: Mutex<VecDeque<Weak<Stream>>>,
    listed: AtomicUsize,
    crew: Crew,
}

pub(super) fn dispatcher() -> &'static Dispatcher {
    static DISPATCHER: Dispatcher = Dispatcher {
        list: Mutex::new(VecDeque::new()),
        listed: AtomicUsize::new(0),
        crew: Crew::new("anywarp-stream", MAX_DISPATCHERS),
    };
    &DISPATCHER
}

impl Dispatcher {
    /// Adds a stream with work to the list.
    pub(super) fn list(&'static self, stream: &Arc<Stream>) {
        lock(&self.list).push_back(Arc::downgrade(stream));
        self.listed.fetch_add(1, Ordering::SeqCst);
        self.wake();
    }

    /// Ends the nap of one dispatcher, if any naps.
    pub(super) fn hurry(&self) {
        self.crew.work.notify_one();
    }

    /// Makes sure that a thread will look at the list.
    fn wake(&'static self) {
        self.crew.wake(|| self.run());
    }

    /// Whether a stream that waits should be parked rather than hold a dispatcher.
    pub(super) fn should_park(&self, for_memory: bool) -> bool {
        let many = if for_memory { MANY_FOR_MEMORY } else { MANY_FOR_STREAMS };
        self.crew.busy() > many && parked().start()
    }

    /// Whether no thread runs streams that nobody waits for, because the system refuses threads.
    pub(super) fn is_missing(&self) -> bool {
        self.crew.is_refused()
    }

    /// The main loop of a dispatcher thread, which starts counted as free.
    fn run(&'static self) {
        let mut last = Instant::now();
        let mut nap = NAP;
        loop {
            let mut list = lock(&self.list);
            let mut stall = Stall::default();
            let stream = loop {
                if !list.is_empty()
                    && self.crew.may_leave(&mut stall, || self.run())
                    && let Some(stream) = list.pop_front()
                {
                    self.listed.fetch_sub(1, Ordering::SeqCst);
                    break stream;
                }
                if !list.is_empty() || last.elapsed() < IDLE {
                    list = self.crew.work.wait_timeout(list, nap).unwrap_or_else(PoisonError::into_inner).0;
                } else if self.crew.must_end() {
                    return;
                } else {
                    self.crew.asleep.fetch_add(1, Ordering::SeqCst);
                    list = self.crew.work.wait(list).unwrap_or_else(PoisonError::into_inner);
                    self.crew.asleep.fetch_sub(1, Ordering::SeqCst);
                    last = Instant::now();
                }
            };
            drop(list);
            let had_work = stream.upgrade().is_some_and(|stream| self.serve(&stream));
            nap = if had_work { NAP } else { LONGEST_NAP.min(2 * nap) };
            self.crew.come_back();
            last = Instant::now();
        }
    }

    /// Runs a stream unless another thread does or has done so; says whether it did.
    fn serve(&'static self, stream: &Arc<Stream>) -> bool {
        let Some(run) = stream.take_over() else { return false };
        // The work may take long: another thread must be free for the other streams.
        if self.listed.load(Ordering::SeqCst) > 0 {
            self.wake();
        }
        run.finish_or_park();
        true
    }
}
