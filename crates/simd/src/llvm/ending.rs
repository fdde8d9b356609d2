//! The end of the process while threads of ours are inside LLVM.
//!
//! `exit` runs the destructors of LLVM's own variables; a thread that compiles at that moment would use what is gone. Three things keep the
//! two apart:
//!
//! - Destructors that LLVM registers while it is at work are not registered (`super::destructors`).
//! - Those that it registered while it was opened come after a handler of ours, which stands behind them in the list that `exit` takes from
//!   its end: it lets no thread into LLVM any more and waits for those inside.
//! - While LLVM is being opened that handler is not there yet. A thread that has used the driver and ends, be it by `exit`, first waits until
//!   it is; and when it was the process's first thread, LLVM is not opened any more.
//!
//! What is left is `exit` on a thread that never used the driver, in the milliseconds in which another opens LLVM.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// Set in [`STATE`] once the process ends.
const ENDING: u32 = 1 << 31;

/// How many threads are inside LLVM, and [`ENDING`].
static STATE: AtomicU32 = AtomicU32::new(0);
/// Threads that open LLVM or are about to.
static OPENING: AtomicU32 = AtomicU32::new(0);
/// The first thread has ended, or is in `exit`.
static FIRST_ENDED: AtomicBool = AtomicBool::new(false);
/// The process that registered the handler: the child of a fork has none of its threads.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// How often those who wait look again.
const PAUSE: Duration = Duration::from_micros(100);

thread_local! {
    /// How often this thread is inside LLVM or opens it: it must not wait for itself where LLVM calls `exit`.
    static INSIDE: Cell<u32> = const { Cell::new(0) };
    /// Dropped before `exit` runs any handler.
    static AT_END: AtEnd = const { AtEnd };
}

fn inside(by: u32) {
    INSIDE.with(|n| n.set(n.get().wrapping_add(by)));
}

/// A thread's stay inside LLVM, which the end of the process waits for.
pub(super) struct Stay(());

/// Enters LLVM; `None` where the process is ending.
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

/// A compilation that the end of the process waits for, whether it has begun or not: what it makes is to be kept.
#[derive(Debug)]
pub struct Ticket(());

impl Ticket {
    /// One; `None` where the process is ending.
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

/// This thread's stay inside LLVM for a ticket, which is what is counted.
pub(super) struct Inside(());

/// Enters LLVM for a ticket.
pub(super) fn inside_by_ticket() -> Inside {
    inside(1);
    Inside(())
}

impl Drop for Inside {
    fn drop(&mut self) {
        inside(1u32.wrapping_neg());
    }
}

/// LLVM is being opened, or is about to be.
pub(super) struct Opening(());

/// Says that LLVM is about to be opened, by this thread or by one that it is about to start.
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
    // The program may go on without its first thread. It is soon seen to be gone, unless it is in `exit`.
    !FIRST_ENDED.load(Ordering::Acquire)
        || (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(1));
            first_is_gone()
        })
}

/// Whether the process's first thread has ended while the process has not.
fn first_is_gone() -> bool {
    let process = std::process::id();
    let stat = std::fs::read_to_string(format!("/proc/self/task/{process}/stat"));
    // The state follows the name, which is in parentheses and may hold any.
    stat.is_ok_and(|s| s.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z')))
}

/// Registers the handler; to be called before LLVM is opened, so that one that comes late finds it closed, and after.
pub(super) fn watch() {
    // SAFETY: the function lives as long as the library that registers it. Where there is no room for another handler, nothing waits.
    unsafe { libc::atexit(ending) };
}

/// Lets this thread wait at its end for the opening of LLVM. To be called by threads of the program, which may call `exit`.
pub fn watch_thread() {
    // Nothing to watch where the thread is at its end already.
    let _ = AT_END.try_with(|_| ());
}

struct AtEnd;

impl Drop for AtEnd {
    fn drop(&mut self) {
        // SAFETY: takes nothing and gives a number.
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

/// Whether this is the process whose threads are counted.
fn ours() -> bool {
    PROCESS.load(Ordering::Relaxed) == std::process::id()
}

extern "C" fn ending() {
    STATE.fetch_or(ENDING, Ordering::AcqRel);
    while ours() && STATE.load(Ordering::Acquire) & !ENDING > INSIDE.with(Cell::get) {
        std::thread::sleep(PAUSE);
    }
}
