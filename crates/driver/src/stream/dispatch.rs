//! Dispatchers: the threads that run streams which no thread synchronises with.
//!
//! The first stream with asynchronous work starts one. While work arrives, a dispatcher polls the list of
//! streams with work and naps between polls. After a while without work it sleeps until it is woken. Only
//! then must a submission wake a thread.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::handle::lock;

use super::Stream;

/// The pause between two polls of the list.
const NAP: Duration = Duration::from_micros(40);
/// Dispatchers without work for this long sleep until they are woken.
const IDLE: Duration = Duration::from_millis(3);
/// The largest number of streams that run at once.
const MAX_DISPATCHERS: usize = 256;

pub(super) struct Dispatcher {
    list: Mutex<VecDeque<Weak<Stream>>>,
    listed: AtomicUsize,
    work: Condvar,
    /// Threads that watch the list, napping or asleep.
    free: AtomicUsize,
    /// Those of them that only a notification wakes.
    asleep: AtomicUsize,
    threads: AtomicUsize,
}

pub(super) fn dispatcher() -> &'static Dispatcher {
    static DISPATCHER: OnceLock<Dispatcher> = OnceLock::new();
    DISPATCHER.get_or_init(|| Dispatcher {
        list: Mutex::default(),
        listed: AtomicUsize::new(0),
        work: Condvar::new(),
        free: AtomicUsize::new(0),
        asleep: AtomicUsize::new(0),
        threads: AtomicUsize::new(0),
    })
}

impl Dispatcher {
    /// Adds a stream with work to the list.
    pub(super) fn list(&'static self, stream: &Arc<Stream>) {
        lock(&self.list).push_back(Arc::downgrade(stream));
        self.listed.fetch_add(1, Ordering::SeqCst);
        self.wake();
    }

    /// Makes sure that a thread will look at the list.
    fn wake(&'static self) {
        let free = self.free.load(Ordering::SeqCst);
        if free == 0 {
            self.spawn();
        } else if self.asleep.load(Ordering::SeqCst) >= free {
            self.work.notify_one();
        }
    }

    fn spawn(&'static self) {
        if self.threads.fetch_add(1, Ordering::SeqCst) >= MAX_DISPATCHERS {
            self.threads.fetch_sub(1, Ordering::SeqCst);
            return;
        }
        self.free.fetch_add(1, Ordering::SeqCst);
        let thread = std::thread::Builder::new().name("anywarp-stream".into()).stack_size(1 << 20);
        let started = host::threads::spawn(thread, || self.run());
        if started.is_err() {
            // The thread that synchronises runs the work instead; only the overlap is lost.
            self.free.fetch_sub(1, Ordering::SeqCst);
            self.threads.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// The main loop of a dispatcher thread, which starts counted as free.
    fn run(&'static self) {
        let mut last = Instant::now();
        loop {
            let mut list = lock(&self.list);
            let stream = loop {
                if let Some(stream) = list.pop_front() {
                    self.listed.fetch_sub(1, Ordering::SeqCst);
                    break stream;
                }
                if last.elapsed() < IDLE {
                    list = self.work.wait_timeout(list, NAP).unwrap_or_else(PoisonError::into_inner).0;
                } else {
                    self.asleep.fetch_add(1, Ordering::SeqCst);
                    list = self.work.wait(list).unwrap_or_else(PoisonError::into_inner);
                    self.asleep.fetch_sub(1, Ordering::SeqCst);
                    last = Instant::now();
                }
            };
            drop(list);
            if let Some(stream) = stream.upgrade() {
                self.serve(&stream);
            }
            last = Instant::now();
        }
    }

    fn serve(&'static self, stream: &Arc<Stream>) {
        if !stream.take_over() {
            return;
        }
        // The work may take long: another thread must be free for the other streams.
        self.free.fetch_sub(1, Ordering::SeqCst);
        if self.listed.load(Ordering::SeqCst) > 0 {
            self.wake();
        }
        stream.run_until(u64::MAX);
        self.free.fetch_add(1, Ordering::SeqCst);
    }
}
