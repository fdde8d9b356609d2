//! The streams of a context that may have work. Calls that wait for all streams look at these alone, so that
//! their cost does not grow with the number of streams.

use std::sync::{Arc, Mutex, Weak};

use smallvec::SmallVec;

use crate::handle::lock;

use super::Stream;

/// A list of this length keeps streams that are idle: a program with few streams enters each of them once,
/// and looking at them costs less than entering them again.
const FEW: usize = 4;

/// Streams that had work when they were last looked at or have got some since, without the legacy stream. A
/// stream is in the list while `Queue::busy` is set, which its queue's lock guards.
#[derive(Debug, Default)]
pub(crate) struct Busy(Mutex<Listed>);

#[derive(Debug, Default)]
struct Listed {
    streams: Vec<Weak<Stream>>,
    /// The length at which streams that are gone are removed: a program may never ask for the list.
    prune_at: usize,
}

/// The least length at which streams that are gone are looked for.
const PRUNE: usize = 64;

impl Busy {
    /// Adds a stream that is about to get work; its queue is locked.
    pub(super) fn add(&self, stream: &Arc<Stream>) {
        let mut listed = lock(&self.0);
        if listed.streams.len() >= listed.prune_at.max(PRUNE) {
            listed.streams.retain(|stream| stream.strong_count() > 0);
            listed.prune_at = 2 * listed.streams.len();
        }
        listed.streams.push(Arc::downgrade(stream));
    }

    /// The streams that have work.
    pub(crate) fn streams(&self) -> SmallVec<[Arc<Stream>; 4]> {
        let mut found = SmallVec::new();
        let mut listed = lock(&self.0);
        let many = listed.streams.len() > FEW;
        listed.streams.retain(|stream| match stream.upgrade() {
            None => false,
            Some(stream) if stream.idle() => !(many && stream.leave_busy()),
            Some(stream) => {
                found.push(stream);
                true
            }
        });
        found
    }
}

impl Stream {
    /// Notes that the stream, if it is idle, is no longer in the list. `false` if it may have got work: a
    /// thread that submits some holds the queue's lock and may wait for the list's, so this one does not
    /// wait.
    fn leave_busy(&self) -> bool {
        let Ok(mut queue) = self.queue.try_lock() else { return false };
        let idle = self.idle();
        queue.busy &= !idle;
        idle
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::super::{Kind, Shared};
    use super::*;
    use crate::device::{Device, DeviceInfo};

    fn streams(count: usize) -> (Arc<Shared>, Vec<Arc<Stream>>) {
        let (device, shared) = (Device::new(0, DeviceInfo::for_tests()), Arc::new(Shared::default()));
        let stream = |_| Stream::new(0, Kind::Blocking, 0, &Weak::new(), 1, &device, &shared);
        (Arc::clone(&shared), (0..count).map(stream).collect())
    }

    /// Gives a stream work; returns its number.
    fn begin(stream: &Arc<Stream>) -> u64 {
        stream.next_sequence(&mut lock(&stream.queue))
    }

    fn end(stream: &Stream, sequence: u64) {
        stream.progress.completed.store(sequence, Ordering::SeqCst);
    }

    fn length(shared: &Shared) -> usize {
        lock(&shared.busy.0).streams.len()
    }

    #[test]
    fn streams_with_work_are_found_and_idle_ones_are_left_out() {
        let (shared, all) = streams(1000);
        assert!(shared.busy.streams().is_empty());
        let numbers: Vec<u64> = all.iter().map(begin).collect();
        // One more operation does not list a stream again.
        begin(&all[3]);
        assert_eq!((shared.busy.streams().len(), length(&shared)), (1000, 1000));
        all.iter().zip(numbers).for_each(|(stream, number)| end(stream, number));
        let left = shared.busy.streams();
        assert!(left.len() == 1 && Arc::ptr_eq(&left[0], &all[3]));
        assert_eq!(length(&shared), 1);
        // Few streams stay in the list when they are idle, and those that are gone are removed.
        end(&all[3], 2);
        for stream in &all[..FEW] {
            let number = begin(stream);
            end(stream, number);
        }
        assert!(shared.busy.streams().is_empty());
        assert_eq!(length(&shared), FEW);
        drop((all, left));
        assert!(shared.busy.streams().is_empty());
        assert_eq!(length(&shared), 0);
    }

    #[test]
    fn streams_that_are_gone_do_not_pile_up() {
        let (shared, kept) = streams(3);
        for stream in &kept {
            begin(stream);
        }
        let device = Device::new(0, DeviceInfo::for_tests());
        for _ in 0..10_000 {
            begin(&Stream::new(0, Kind::Blocking, 0, &Weak::new(), 1, &device, &shared));
            assert!(length(&shared) <= 2 * PRUNE);
        }
        assert_eq!(shared.busy.streams().len(), kept.len());
    }

    #[test]
    fn work_that_was_submitted_before_is_always_found() {
        let (shared, all) = streams(4 * FEW + 1);
        let (first, rest) = all.split_first().expect("some");
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // The others come and go, so that the list is long and is searched all the time.
            scope.spawn(|| {
                while !ended.load(Ordering::Relaxed) {
                    for stream in rest {
                        let number = begin(stream);
                        end(stream, number);
                    }
                    shared.busy.streams();
                }
            });
            for _ in 0..10_000 {
                let number = begin(first);
                assert!(shared.busy.streams().iter().any(|stream| Arc::ptr_eq(stream, first)));
                end(first, number);
            }
            ended.store(true, Ordering::Relaxed);
        });
    }
}
