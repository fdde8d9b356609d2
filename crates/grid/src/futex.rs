//! Waiting until a word changes.

use std::sync::atomic::AtomicU32;

/// Sleeps while `word` is `value`; may return spuriously.
pub(crate) fn wait(word: &AtomicU32, value: u32) {
    // SAFETY: the word is valid for the call; no timeout.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            value,
            std::ptr::null::<libc::timespec>(),
        );
    }
}

/// Wakes up to `count` threads sleeping on `word`.
pub(crate) fn wake(word: &AtomicU32, count: u32) {
    // SAFETY: the word is valid for the call.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            count.min(i32::MAX as u32),
        );
    }
}
