//! Where kernel code lies: a table that a signal handler may read.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Ranges at a time. Each loaded kernel takes one.
const SLOTS: usize = 8192;

static START: [AtomicUsize; SLOTS] = [const { AtomicUsize::new(0) }; SLOTS];
static END: [AtomicUsize; SLOTS] = [const { AtomicUsize::new(0) }; SLOTS];
static USED: AtomicUsize = AtomicUsize::new(0);

/// Says that `start..end` is kernel code. False when the table is full: faults there then end the process.
pub fn register_code(start: usize, end: usize) -> bool {
    for i in 0..SLOTS {
        if START[i].compare_exchange(0, start, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            END[i].store(end, Ordering::Release);
            USED.fetch_max(i + 1, Ordering::AcqRel);
            return true;
        }
    }
    tracing::warn!("more than {SLOTS} kernels are loaded; a fault in this one will end the process");
    false
}

/// Takes a range back.
pub fn unregister_code(start: usize) {
    for i in 0..USED.load(Ordering::Acquire) {
        if START[i].load(Ordering::Acquire) == start {
            END[i].store(0, Ordering::Release);
            START[i].store(0, Ordering::Release);
        }
    }
}

/// Whether an instruction lies in kernel code.
pub(super) fn is_kernel_code(at: usize) -> bool {
    (0..USED.load(Ordering::Acquire)).any(|i| {
        let start = START[i].load(Ordering::Acquire);
        start != 0 && at >= start && at < END[i].load(Ordering::Acquire)
    })
}
