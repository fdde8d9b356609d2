//! Checkpoints of other processes.
//!
//! Each process with a context has a thread that waits for requests in the page that it publishes
//! ([`crate::usage`]): it sleeps in the kernel until another process has written one. The kernel decides who
//! may open the page for writing: the user who runs the process, and root. A request is a number that no
//! earlier one had; the answer repeats it. One process asks at a time, by taking the page with its own
//! number.
//!
//! The process that is asked may be stopped (SIGSTOP), so the other one may withdraw a request until it is
//! done: each side changes the word of the request atomically, from asked to claimed to finished, or to
//! withdrawn.

use std::sync::Once;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{State, change_to};
use crate::error::{Error, Result};
use crate::handle::lock;
use crate::{shared, usage};

/// The words of the page that are for this.
pub(crate) const WORDS: usize = 6;
pub(crate) type Words = [AtomicU64; WORDS];

/// Indices of the words: the process that asks; its request, of which the lowest bits are a [`Transition`];
/// the milliseconds that it may take, or 0; the request that was answered, and the status; the thread that
/// answers, and the state.
const ASKING: usize = 0;
const REQUEST: usize = 1;
const LIMIT: usize = 2;
const ANSWER: usize = 3;
const STATUS: usize = 4;
const SELF: usize = 5;

/// The bits of a request that are the transition, or one of the values below.
const TRANSITIONS: u64 = 7;
/// The asking process has given up.
const WITHDRAWN: u64 = 0;
/// The transition is done, and the status says how it went.
const FINISHED: u64 = 6;
/// The process that was asked is about it.
const CLAIMED: u64 = 7;

/// The request with something else in the place of its transition.
fn with(request: u64, what: u64) -> u64 {
    request & !TRANSITIONS | what
}

/// Changes the word of the request if it is as expected.
fn change_request(words: &Words, from: u64, to: u64) -> bool {
    words[REQUEST].compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
}
/// The pause between two looks at whether the other process still exists.
const LOOK: Duration = Duration::from_millis(20);
/// The stack of the thread.
const STACK: usize = 128 << 10;

/// A change of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// From running to locked.
    Lock = 1,
    /// From locked to checkpointed.
    Checkpoint = 2,
    /// From checkpointed to locked.
    Restore = 3,
    /// From locked to running.
    Unlock = 4,
}

impl Transition {
    fn of(request: u64) -> Option<Transition> {
        [Transition::Lock, Transition::Checkpoint, Transition::Restore, Transition::Unlock]
            .into_iter()
            .find(|transition| *transition as u64 == request & TRANSITIONS)
    }
}

/// The half of a word that the kernel waits on.
fn low(word: &AtomicU64) -> *mut u32 {
    let first = word.as_ptr().cast::<u32>();
    if cfg!(target_endian = "big") { first.wrapping_add(1) } else { first }
}

/// Sleeps while the low half of a word is `old`, at most for a time.
fn sleep_while(word: &AtomicU64, old: u64, limit: Option<Duration>) {
    let time = limit.map(|limit| libc::timespec {
        tv_sec: limit.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(limit.subsec_nanos()),
    });
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word is aligned and outlives the call, and so does the time.
    unsafe { libc::syscall(libc::SYS_futex, low(word), libc::FUTEX_WAIT, old as u32, time) };
}

fn wake(word: &AtomicU64) {
    // SAFETY: the word is aligned and outlives the call.
    unsafe { libc::syscall(libc::SYS_futex, low(word), libc::FUTEX_WAKE, i32::MAX) };
}

/// Starts the thread that answers other processes, unless it runs. Without it, this process alone can
/// checkpoint itself. Not every process that asks for devices needs it, so `cuInit` does not start it.
pub(crate) fn serve() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        let Some(words) = usage::control() else { return };
        let thread = std::thread::Builder::new().name("anywarp-restore".into()).stack_size(STACK);
        let _ = host::threads::spawn(thread, move || answer(words));
    });
}

fn answer(words: &Words) {
    // SAFETY: the call has no arguments.
    let own = unsafe { libc::syscall(libc::SYS_gettid) } as u64;
    {
        let state = lock(&super::STATE);
        publish_as(words, own, *state);
    }
    let mut seen = 0;
    loop {
        let request = words[REQUEST].load(Ordering::Acquire);
        if request == seen {
            sleep_while(&words[REQUEST], seen, None);
            continue;
        }
        seen = request;
        let claimed = with(request, CLAIMED);
        let Some(transition) = Transition::of(request).filter(|_| change_request(words, request, claimed))
        else {
            continue;
        };
        seen = claimed;
        let limit = words[LIMIT].load(Ordering::Acquire);
        let limit = (limit != 0).then(|| Duration::from_millis(limit));
        let withdrawn = || words[REQUEST].load(Ordering::Acquire) != claimed;
        let result = change_to(transition, limit, Some(&withdrawn));
        words[STATUS].store(result.err().map_or(0, Error::code).into(), Ordering::Release);
        if change_request(words, claimed, with(request, FINISHED)) {
            seen = with(request, FINISHED);
            words[ANSWER].store(request, Ordering::Release);
            wake(&words[ANSWER]);
        } else if transition == Transition::Lock && result.is_ok() {
            super::unlock();
        }
    }
}

fn publish_as(words: &Words, thread: u64, state: State) {
    words[SELF].store(thread << 8 | u64::from(state.number()), Ordering::Release);
}

/// Publishes the state of this process.
pub(super) fn publish(state: State) {
    let Some(words) = usage::control() else { return };
    let thread = words[SELF].load(Ordering::Acquire) >> 8;
    if thread != 0 {
        publish_as(words, thread, state);
    }
}

/// The thread of this process that answers; `None` if it could not be started.
pub(super) fn own_thread() -> Option<u32> {
    let words = usage::control()?;
    serve();
    let start = Instant::now();
    loop {
        match words[SELF].load(Ordering::Acquire) >> 8 {
            0 if start.elapsed() < LOOK => std::thread::sleep(Duration::from_millis(1)),
            0 => return None,
            thread => return u32::try_from(thread).ok(),
        }
    }
}

/// Another process that uses the driver.
pub struct Other {
    process: i32,
    page: usage::Mapped,
}

impl Other {
    /// Finds a process that exists.
    ///
    /// # Errors
    /// [`Error::NotInitialized`]: it does not use the driver. [`Error::NotPermitted`]: it belongs to another
    /// user. [`Error::NotSupported`]: it answers nobody: it has had no context yet, or is of an older
    /// version.
    pub(super) fn find(process: u32) -> Result<Other> {
        let page = usage::map_of(process)?;
        let other = Other { process: process as i32, page };
        // It may be just about to start its thread.
        let start = Instant::now();
        while other.words()[SELF].load(Ordering::Acquire) == 0 {
            if start.elapsed() > LOOK {
                return Err(Error::NotSupported);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(other)
    }

    fn words(&self) -> &Words {
        self.page.control()
    }

    /// Its state, as the interface numbers it.
    pub fn state(&self) -> u32 {
        (self.words()[SELF].load(Ordering::Acquire) & 0xff) as u32
    }

    /// Its thread that restores.
    pub fn thread(&self) -> u32 {
        (self.words()[SELF].load(Ordering::Acquire) >> 8) as u32
    }

    /// Fails if the process has ended.
    fn check_alive(&self) -> Result<()> {
        if shared::has_ended(self.process) { Err(Error::OperatingSystem) } else { Ok(()) }
    }

    /// Waits until no other process asks.
    ///
    /// # Errors
    /// [`Error::NotReady`]: not in time.
    fn take(&self, deadline: Option<Instant>) -> Result<()> {
        let own = u64::from(std::process::id());
        loop {
            let asking = &self.words()[ASKING];
            let holder = asking.compare_exchange(0, own, Ordering::AcqRel, Ordering::Acquire);
            let Err(holder) = holder else { return Ok(()) };
            // Its holder may have died.
            let gone = i32::try_from(holder).is_ok_and(shared::has_ended) && holder != own;
            if gone && asking.compare_exchange(holder, own, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                return Ok(());
            }
            self.check_alive()?;
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(Error::NotReady);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Asks it to change its state. `limit`: how long a lock may wait for others that ask, for the process
    /// and for its work.
    ///
    /// # Errors
    /// As the process answers. [`Error::OperatingSystem`]: it has ended. [`Error::NotReady`]: not in time.
    pub fn ask(&self, transition: Transition, limit: Option<Duration>) -> Result<()> {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        self.take(deadline)?;
        let words = self.words();
        let last = words[REQUEST].load(Ordering::Acquire);
        let request = ((last | TRANSITIONS) + 1) | transition as u64;
        // 0 would be no limit.
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let limit = left.map_or(0, |left| left.as_millis().max(1) as u64);
        words[LIMIT].store(limit, Ordering::Release);
        words[REQUEST].store(request, Ordering::Release);
        wake(&words[REQUEST]);
        let answered = loop {
            let answer = words[ANSWER].load(Ordering::Acquire);
            if answer == request || words[REQUEST].load(Ordering::Acquire) == with(request, FINISHED) {
                break Ok(words[STATUS].load(Ordering::Acquire) as u32);
            }
            if let Err(error) = self.check_alive() {
                break Err(error);
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let withdraw = |from| change_request(words, from, with(request, WITHDRAWN));
            if left.is_some_and(|left| left.is_zero())
                && (withdraw(request) || withdraw(with(request, CLAIMED)))
            {
                break Err(Error::NotReady);
            }
            sleep_while(&words[ANSWER], answer, Some(left.map_or(LOOK, |left| left.min(LOOK))));
        };
        words[ASKING].store(0, Ordering::Release);
        match answered? {
            0 => Ok(()),
            code => Err(Error::from_code(code).unwrap_or(Error::Unknown)),
        }
    }
}

const _: () = assert!(size_of::<AtomicU64>() == 2 * size_of::<AtomicU32>());
