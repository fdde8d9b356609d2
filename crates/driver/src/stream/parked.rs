//! Streams that wait and hold no thread.
//!
//! A dispatcher that runs a stream waits with it for a word in memory, or for another stream, since it then
//! continues at once. Any number of streams may wait for one that comes last on the dispatchers' list, so
//! if many dispatchers are busy, a stream that waits is parked: its operations go back to its queue, and one
//! thread looks at all such streams from time to time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::handle::lock;

use super::Stream;
use super::dispatch::dispatcher;

/// The pause between two looks at the streams, which grows while none can continue.
const NAP: Duration = Duration::from_micros(40);
const LONGEST_NAP: Duration = Duration::from_micros(640);
/// The pause takes at least this many times as long as a look.
const SHARE: u32 = 4;

/// What a look at a parked stream finds.
pub(super) enum Found {
    /// It still waits, or a thread runs it that waits with it.
    Waits,
    /// It can continue, and is on the dispatchers' list.
    Listed,
    /// It has no work.
    Idle,
}

#[derive(Default)]
pub(super) struct Parked {
    streams: Mutex<Vec<Weak<Stream>>>,
    added: Condvar,
    is_started: AtomicBool,
}

pub(super) fn parked() -> &'static Parked {
    static PARKED: Parked =
        Parked { streams: Mutex::new(Vec::new()), added: Condvar::new(), is_started: AtomicBool::new(false) };
    &PARKED
}

impl Parked {
    /// Makes sure that a thread looks at the streams; `false` if the system refuses it.
    pub(super) fn start(&'static self) -> bool {
        if self.is_started.load(Ordering::Acquire) {
            return true;
        }
        let _streams = lock(&self.streams);
        if !self.is_started.load(Ordering::Acquire) {
            let thread = std::thread::Builder::new().name("anywarp-parked".into()).stack_size(1 << 20);
            let started = host::threads::spawn(thread, || self.run()).is_ok();
            self.is_started.store(started, Ordering::Release);
        }
        self.is_started.load(Ordering::Acquire)
    }

    /// Adds a stream that no thread runs and that counts as listed.
    pub(super) fn add(&self, stream: &Arc<Stream>) {
        lock(&self.streams).push(Arc::downgrade(stream));
        self.added.notify_one();
    }

    /// The main loop of the thread.
    fn run(&self) {
        let mut nap = NAP;
        loop {
            let mut streams = {
                let mut streams = lock(&self.streams);
                while streams.is_empty() {
                    streams = self.added.wait(streams).unwrap_or_else(PoisonError::into_inner);
                    nap = NAP;
                }
                std::mem::take(&mut *streams)
            };
            let start = Instant::now();
            let before = streams.len();
            streams.retain(|stream| {
                stream.upgrade().is_some_and(|stream| match stream.look_at_parked() {
                    Found::Waits => true,
                    Found::Listed => {
                        dispatcher().list(&stream);
                        false
                    }
                    Found::Idle => false,
                })
            });
            nap = if streams.len() < before { NAP } else { LONGEST_NAP.min(2 * nap) };
            let looked = start.elapsed();
            lock(&self.streams).append(&mut streams);
            std::thread::sleep(nap.max(SHARE * looked));
        }
    }
}
