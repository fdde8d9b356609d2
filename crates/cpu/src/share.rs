//! Distributes work on a module's functions over several threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;

/// Bytes of text below which another thread costs more than it gains.
const SMALL: usize = 256 << 10;

/// Whether a text is large: its functions are then lowered in parallel and on demand.
pub(crate) fn is_large(bytes: usize) -> bool {
    bytes >= SMALL
}

/// The number of threads for a text of this size, including the calling one.
pub(crate) fn threads(bytes: usize) -> usize {
    if !is_large(bytes) {
        return 1;
    }
    std::thread::available_parallelism().map_or(1, |n| n.get()).min(bytes / SMALL + 1)
}

/// Calls `work` for every number below `count` on that many threads, including the calling one.
pub(crate) fn each(threads: usize, count: usize, work: &(dyn Fn(usize) + Sync)) {
    let next = AtomicUsize::new(0);
    let run = || {
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            if n >= count {
                return;
            }
            work(n);
        }
    };
    if threads < 2 || count < 2 {
        return run();
    }
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // If a thread cannot be started, the others do its share.
            let _ = host::threads::spawn_scoped(Builder::new().name("anywarp-load".into()), scope, run);
        }
        run();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once() {
        for (threads, count) in [(1, 0), (1, 5), (4, 0), (4, 1), (4, 1000)] {
            let seen: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            each(threads, count, &|n| {
                seen[n].fetch_add(1, Ordering::Relaxed);
            });
            assert!(seen.iter().all(|s| s.load(Ordering::Relaxed) == 1), "{threads} threads, {count}");
        }
    }
}
