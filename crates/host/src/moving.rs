//! Memory whose pages are replaced while other threads use it.
//!
//! The pages are read-only while their contents are copied, so a thread that writes to them gets SIGSEGV.
//! [`recover`], which the handler of that signal calls, waits until the pages are replaced; the write then
//! happens in the new ones.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Odd while pages are being replaced. Threads that write to them sleep on it.
static STATE: AtomicU32 = AtomicU32::new(0);
/// The pages that are being replaced.
static NOW: (AtomicUsize, AtomicUsize) = (AtomicUsize::new(0), AtomicUsize::new(0));
/// The smallest range with all pages that ever were replaced.
static EVER: (AtomicUsize, AtomicUsize) = (AtomicUsize::new(usize::MAX), AtomicUsize::new(0));
/// Held while pages are replaced.
static CHANGE: Mutex<()> = Mutex::new(());

fn protect(start: usize, size: usize, protection: i32) -> io::Result<()> {
    // SAFETY: only called for the pages that `replace` was given.
    match unsafe { libc::mprotect(start as *mut libc::c_void, size, protection) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Calls `by`, which replaces pages by writable ones with the same contents. Threads that write to them
/// meanwhile wait, which all of them must be able to ([`all_can_wait`]).
///
/// # Errors
/// Those of `by`, which then must have left the pages as they were, and of the system.
///
/// # Safety
/// The caller must own the pages, and they must be readable and writable. The handler of SIGSEGV must call
/// [`recover`] if other threads use the pages.
pub unsafe fn replace(start: u64, size: u64, by: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let (start, size) = (start as usize, size as usize);
    let _change = CHANGE.lock().unwrap_or_else(PoisonError::into_inner);
    EVER.0.fetch_min(start, Ordering::Relaxed);
    EVER.1.fetch_max(start + size, Ordering::Relaxed);
    NOW.0.store(start, Ordering::Relaxed);
    NOW.1.store(start + size, Ordering::Relaxed);
    STATE.fetch_add(1, Ordering::AcqRel);
    let mut result = protect(start, size, libc::PROT_READ).and_then(|()| by());
    if result.is_err() {
        result = result.or_else(|error| {
            protect(start, size, libc::PROT_READ | libc::PROT_WRITE)?;
            Err(error)
        });
    }
    STATE.fetch_add(1, Ordering::AcqRel);
    futex(&STATE, libc::FUTEX_WAKE, i32::MAX as u32);
    result
}

/// Whether all other threads of the process can wait for replaced pages: one that blocks SIGSEGV would end
/// the process instead. The C library blocks all signals for a moment, for example in new threads.
pub fn all_can_wait() -> bool {
    /// On a busy machine a new thread may not run for a while. A program that has a thread which really
    /// blocks the signal waits so long once.
    const MOMENTS: [Duration; 2] = [Duration::from_secs(1), Duration::from_millis(20)];
    static BLOCKED: AtomicBool = AtomicBool::new(false);
    let start = Instant::now();
    while !all_can_wait_now() {
        if start.elapsed() > MOMENTS[usize::from(BLOCKED.load(Ordering::Relaxed))] {
            BLOCKED.store(true, Ordering::Relaxed);
            return false;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    true
}

fn all_can_wait_now() -> bool {
    let blocks = |status: &str| {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
        mask.and_then(|m| u64::from_str_radix(m.trim(), 16).ok())
            .is_none_or(|mask| mask >> (libc::SIGSEGV - 1) & 1 != 0)
    };
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return false };
    // SAFETY: the call has no arguments.
    let own = unsafe { libc::gettid() }.to_string();
    // A thread that has ended meanwhile has no status.
    threads
        .flatten()
        .filter(|thread| thread.file_name().as_encoded_bytes() != own.as_bytes())
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("status")).ok())
        .all(|status| !blocks(&status))
}

/// The operation on a word, which needs no pointer but that of the word. A signal handler may call it.
fn futex(word: &AtomicU32, operation: i32, value: u32) {
    // SAFETY: the word is valid; no timeout.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            operation | libc::FUTEX_PRIVATE_FLAG,
            value,
            std::ptr::null::<libc::timespec>(),
        );
    }
}

/// Whether the word at an address can be written. Nothing changes: the system adds 0 to it, atomically.
fn is_writable(address: usize) -> bool {
    /// `FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0)`
    const ADD_NOTHING: u32 = 1 << 28;
    let here = AtomicU32::new(0);
    // SAFETY: the word in this frame is valid; for another that is not, the call fails. It wakes no thread.
    let result = unsafe {
        libc::syscall(
            libc::SYS_futex,
            here.as_ptr(),
            libc::FUTEX_WAKE_OP | libc::FUTEX_PRIVATE_FLAG,
            0,
            std::ptr::null::<libc::timespec>(),
            address & !3,
            ADD_NOTHING,
        )
    };
    result >= 0
}

/// For the handler of SIGSEGV: whether an access by an instruction can be repeated, since the pages were
/// being replaced.
pub fn recover(code: i32, address: usize, instruction: usize) -> bool {
    /// The `si_code` for missing rights.
    const SEGV_ACCERR: i32 = 2;
    let ever = EVER.0.load(Ordering::Relaxed)..EVER.1.load(Ordering::Relaxed);
    // The third case is a jump to data, which cannot be repeated.
    if code != SEGV_ACCERR || !ever.contains(&address) || address == instruction {
        return false;
    }
    // SAFETY: the pointer to the thread's own word is always valid. The interrupted code may be about to read
    // it.
    let errno = unsafe { &mut *libc::__errno_location() };
    let before = *errno;
    loop {
        let state = STATE.load(Ordering::Acquire);
        let now = NOW.0.load(Ordering::Relaxed)..NOW.1.load(Ordering::Relaxed);
        if state.is_multiple_of(2) || !now.contains(&address) {
            break;
        }
        futex(&STATE, libc::FUTEX_WAIT, state);
    }
    let repeats = is_writable(address);
    *errno = before;
    repeats
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(count: usize) -> usize {
        // SAFETY: a new mapping at an address that the kernel chooses.
        unsafe {
            let (rights, flags) =
                (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            libc::mmap(std::ptr::null_mut(), count * 4096, rights, flags, -1, 0) as usize
        }
    }

    #[test]
    fn words_are_tested_without_a_change() {
        let at = pages(2);
        let word = (at + 4096) as *mut u32;
        // SAFETY: the pages were just mapped.
        unsafe { word.write(7) };
        assert!(is_writable(at) && is_writable(at + 4099));
        protect(at + 4096, 4096, libc::PROT_READ).unwrap();
        assert!(is_writable(at) && !is_writable(at + 4096));
        protect(at, 4096, libc::PROT_NONE).unwrap();
        assert!(!is_writable(at) && !is_writable(0x1000));
        // SAFETY: the page is readable.
        assert_eq!(unsafe { word.read() }, 7);
    }

    #[test]
    fn an_access_waits_for_new_pages_and_others_fail() {
        let at = pages(3);
        assert!(!recover(2, at, 0), "nothing was ever replaced here");
        let waiting = std::thread::scope(|scope| {
            let mut waiting = None;
            let by = || {
                assert!(!is_writable(at + 4096) && is_writable(at));
                let thread = scope.spawn(move || recover(2, at + 5000, 0));
                std::thread::sleep(std::time::Duration::from_millis(20));
                assert!(!thread.is_finished());
                waiting = Some(thread);
                protect(at + 4096, 4096, libc::PROT_READ | libc::PROT_WRITE)
            };
            // SAFETY: the page was just mapped, and nothing else uses it.
            unsafe { replace(at as u64 + 4096, 4096, by) }.unwrap();
            waiting.expect("a thread").join().unwrap()
        });
        assert!(waiting);
        // The handler of an access during the change may run after it.
        assert!(recover(2, at + 4096, 0));
        assert!(!recover(2, at + 4096, at + 4096), "a jump");
        assert!(!recover(1, at + 4096, 0), "no page");
        assert!(!recover(2, at + 3 * 4096, 0), "elsewhere");
        protect(at + 4096, 4096, libc::PROT_READ).unwrap();
        assert!(!recover(2, at + 4096, 0), "no right");
    }

    #[test]
    fn a_thread_that_blocks_the_signal_cannot_wait() {
        let (told, blocked) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            // SAFETY: changes the mask of this thread.
            unsafe {
                let mut set = std::mem::zeroed();
                libc::sigemptyset(&mut set);
                libc::sigaddset(&mut set, libc::SIGSEGV);
                libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
            }
            told.send(()).unwrap();
            ended.recv().unwrap_err();
        });
        blocked.recv().unwrap();
        assert!(!all_can_wait());
        drop(end);
        thread.join().unwrap();
    }

    #[test]
    fn a_failure_gives_the_rights_back() {
        let at = pages(1);
        // SAFETY: the page was just mapped, and nothing else uses it.
        let result = unsafe { replace(at as u64, 4096, || Err(io::ErrorKind::StorageFull.into())) };
        assert_eq!(result.map_err(|e| e.kind()), Err(io::ErrorKind::StorageFull));
        assert!(is_writable(at));
    }
}
