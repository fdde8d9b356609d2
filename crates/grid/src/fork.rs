//! Detects `fork`: the child has only one thread and must not touch what belonged to the others.

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

static FORKS: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn in_child() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// A number that changes in the child of a `fork`.
pub(crate) fn generation() -> u32 {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handler only increments an atomic. If registering it fails (no memory), a child cannot
        // be distinguished from its parent, which cannot be helped.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
    FORKS.load(Ordering::Relaxed)
}
