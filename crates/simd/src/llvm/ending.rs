//! Process exit while our threads are inside LLVM.
//!
//! `exit` runs the destructors of LLVM's own variables, and a thread that is compiling at that moment would
//! use destroyed data. Three measures prevent this:
//!
//! - Destructors that LLVM would register while it works are not registered (`super::destructors`).
//! - Destructors that it registered while being opened run after a handler of ours, because `exit` runs
//!   handlers in reverse order. That handler lets no further thread into LLVM and waits for those inside.
//! - While LLVM is being opened, the handler is not registered yet. A thread that has used the driver and
//!   ends, by `exit` or otherwise, first waits until it is. If that was the process's first thread, LLVM is
//!   no longer opened.
//!
//! One case remains: `exit` on a thread that never used the driver, during the milliseconds in which another
//! thread opens LLVM.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// Set in [`STATE`] once the process is exiting.
const ENDING: u32 = 1 << 31;

/// The number of threads inside LLVM, and [`ENDING`].
static STATE: AtomicU32 = AtomicU32::new(0);
/// The number of threads that open LLVM or are about to.
static OPENING: AtomicU32 = AtomicU32::new(0);
/// The first thread has ended or is in `exit`.
static FIRST_ENDED: AtomicBool = AtomicBool::new(false);
/// The process that registered the handler. A forked child has none of its threads.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// The polling interval of waiting threads.
const PAUSE: Duration = Duration::from_micros(100);

thread_local! {
    /// How many times this thread is inside LLVM or opening it. It must not wait for itself if LLVM calls
    /// `exit`.
    static INSIDE: Cell<u32> = const { Cell::new(0) };
    /// Dropped before `exit` runs any handler.
    static AT_END: AtEnd = const { AtEnd };
}

fn inside(by: u32) {
    INSIDE.with(|n| n.set(n.get().wrapping_add(by)));
}

/// Marks a thread as inside LLVM; process exit waits for it.
pub(super) struct Stay(());

/// Enters LLVM; `None` if the process is exiting.
pub(super) fn enter() -> Option<Stay> {
    inside(1);
    let stay = Stay(());
    let before = STATE.fetch_add(1, Ordering::AcqRel);
    (before & ENDING == 0).then_some(stay)
}

impl Drop for Stay {
    fn drop(&mut self) {
        STATE.fetch_sub(1, Ordering::AcqRel);
        inside(1u32.wrapping_neg());
    }
}

/// A compilation that process exit waits for, even if it has not begun, because its result is to be cached.
#[derive(Debug)]
pub struct Ticket(());

impl Ticket {
    /// A new ticket; `None` if the process is exiting.
    pub fn new() -> Option<Ticket> {
        let ticket = Ticket(());
        (STATE.fetch_add(1, Ordering::AcqRel) & ENDING == 0).then_some(ticket)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        STATE.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Marks this thread as inside LLVM on behalf of a ticket, which is already counted.
pub(super) struct Inside(());

/// Enters LLVM on behalf of a ticket.
pub(super) fn inside_by_ticket() -> Inside {
    inside(1);
    Inside(())
}

impl Drop for Inside {
    fn drop(&mut self) {
        inside(1u32.wrapping_neg());
    }
}

/// LLVM is being opened or is about to be.
pub(super) struct Opening(());

/// Announces that this thread, or one that it is about to start, opens LLVM.
pub(super) fn opening() -> Opening {
    PROCESS.store(std::process::id(), Ordering::Relaxed);
    OPENING.fetch_add(1, Ordering::AcqRel);
    Opening(())
}

impl Drop for Opening {
    fn drop(&mut self) {
        OPENING.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Whether the process may still open LLVM.
pub(super) fn may_open() -> bool {
    if STATE.load(Ordering::Acquire) & ENDING != 0 {
        return false;
    }
    // The program may continue without its first thread. That thread is soon seen to be gone, unless it is in
    // `exit`.
    !FIRST_ENDED.load(Ordering::Acquire)
        || (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(1));
            first_is_gone()
        })
}

/// Whether the process's first thread has ended while the process continues.
fn first_is_gone() -> bool {
    let process = std::process::id();
    let stat = std::fs::read_to_string(format!("/proc/self/task/{process}/stat"));
    // The state follows the name, which is in parentheses and may contain any character.
    stat.is_ok_and(|s| s.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z')))
}

/// Registers the handler. Call it before LLVM is opened, so that late threads find it closed, and again
/// afterwards.
pub(super) fn watch() {
    // SAFETY: the function lives as long as the library that registers it. If the handler cannot be
    // registered, nothing waits.
    unsafe { libc::atexit(ending) };
}

/// Makes this thread wait at its end for LLVM to be opened. Call it on threads of the program, which may call
/// `exit`.
pub fn watch_thread() {
    // A thread that is already ending needs no watch.
    let _ = AT_END.try_with(|_| ());
}

struct AtEnd;

impl Drop for AtEnd {
    fn drop(&mut self) {
        // SAFETY: takes no arguments and returns a number.
        let thread = unsafe { libc::gettid() };
        if u32::try_from(thread) == Ok(std::process::id()) {
            FIRST_ENDED.store(true, Ordering::Release);
        }
        let itself = || INSIDE.with(Cell::get) > 0;
        while ours() && !itself() && OPENING.load(Ordering::Acquire) > 0 {
            std::thread::sleep(PAUSE);
        }
    }
}

/// Whether this process is the one whose threads are counted.
fn ours() -> bool {
    PROCESS.load(Ordering::Relaxed) == std::process::id()
}

extern "C" fn ending() {
    STATE.fetch_or(ENDING, Ordering::AcqRel);
    while ours() && STATE.load(Ordering::Acquire) & !ENDING > INSIDE.with(Cell::get) {
        std::thread::sleep(PAUSE);
    }
}
