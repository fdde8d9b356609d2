//! Signal masks of the threads that run kernels, both the driver's and the program's.
//!
//! A fault in a kernel and the interrupt that stops an endless one are signals. A thread that runs kernels
//! must not block them, and the program may have replaced the handlers. The driver's own threads start with
//! their own signal mask ([`spawn`]). A thread of the program runs kernels in *turns* ([`Turn`]): the first
//! kernel of a turn checks what the program may have changed, and the end of the turn restores the program's
//! mask.
//!
//! A check costs system calls. A thread that launches and waits in a tight loop therefore skips it while each
//! turn follows the last as fast as usual: there was no time for a system call that changes a handler or a
//! mask.

use std::cell::{Cell, RefCell};
use std::io;
use std::mem::MaybeUninit;
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

/// The signals that faults in kernels raise.
pub const FAULTS: [i32; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL];

/// The maximum number of cycles between two turns of a program that only launches and waits.
const BRIEF: u64 = 2500;

/// The number of turns, at a thread's start and after a long pause, that always check handler and mask.
const STEADY: u32 = 32;

/// From this number of cycles between two turns on, checking the mask is comparatively cheap.
const WHILE: u64 = 60_000;

/// From this number of cycles between two turns on, checking everything is comparatively cheap.
const LONG: u64 = 250_000;

/// What a thread must check before it runs a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Nothing: it has checked, and no other code has run since that could have changed anything.
    Nothing,
    /// The handler of SIGSEGV, which other threads of the program may have replaced and which most faults
    /// need.
    Handler,
    /// As `Handler`, and the signal mask.
    Main,
    /// Everything.
    All,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// No check has been made in this turn, or since program code ran in it.
    Fresh,
    Done,
}

struct Thread {
    /// Whether [`spawn`] started the thread.
    ours: Cell<bool>,
    /// Whether the thread has checked everything once.
    known: Cell<bool>,
    /// Whether the mask may be the program's: always on the program's threads, on the driver's after a host
    /// function.
    mask_unsure: Cell<bool>,
    /// The nesting depth of turns.
    depth: Cell<u32>,
    state: Cell<State>,
    /// Whether the last turn had to unblock signals; then every turn must do so again.
    blocks: Cell<bool>,
    /// Signals that this turn has unblocked and must block again: bit n is signal n + 1.
    opened: Cell<u64>,
    /// The clock at the end of the last turn that ran kernels. For turns in quick succession it is the clock
    /// at the beginning, because reading the clock is a good part of such a turn's time.
    ended: Cell<u64>,
    /// The clock at the beginning of the turn.
    started: Cell<u64>,
    /// Whether the turn began shortly after the one before.
    brief: Cell<bool>,
    /// The clock at the last check of everything.
    looked: Cell<u64>,
    /// The number of turns without a long pause between them, and the approximate number of cycles between
    /// brief ones.
    turns: Cell<u32>,
    usual: Cell<u64>,
    /// The fewest cycles that a check has taken.
    cost: Cell<u64>,
}

thread_local! {
    static THREAD: Thread = const {
        Thread {
            ours: Cell::new(false),
            known: Cell::new(false),
            mask_unsure: Cell::new(true),
            depth: Cell::new(0),
            state: Cell::new(State::Fresh),
            blocks: Cell::new(false),
            opened: Cell::new(0),
            ended: Cell::new(0),
            started: Cell::new(0),
            brief: Cell::new(false),
            looked: Cell::new(0),
            turns: Cell::new(0),
            usual: Cell::new(0),
            cost: Cell::new(u64::MAX),
        }
    };
}

/// Functions that drop what a thread keeps.
struct Ending(RefCell<Vec<fn()>>);

impl Drop for Ending {
    fn drop(&mut self) {
        for end in std::mem::take(&mut *self.0.borrow_mut()) {
            end();
        }
    }
}

thread_local! {
    static ENDING: Ending = const { Ending(RefCell::new(Vec::new())) };
}

/// Calls a function when the calling thread ends. The process's first thread ends with the process, whose
/// handlers of `atexit` run after that thread's destructors and may still need what it keeps: there, and in a
/// thread that is already ending, the function is not called.
pub fn at_end(end: fn()) {
    // SAFETY: both only return a number.
    let first = unsafe { libc::syscall(libc::SYS_gettid) == i64::from(libc::getpid()) };
    if !first {
        let _ = ENDING.try_with(|ending| ending.0.borrow_mut().push(end));
    }
}

fn clock() -> u64 {
    // SAFETY: every x86-64 processor has the counter.
    unsafe { std::arch::x86_64::_rdtsc() }
}

fn set_of(signals: impl IntoIterator<Item = i32>) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises the set.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        let mut set = set.assume_init();
        for signal in signals {
            libc::sigaddset(&mut set, signal);
        }
        set
    }
}

fn change_mask(how: i32, set: &libc::sigset_t) -> libc::sigset_t {
    let mut old = set_of([]);
    // SAFETY: both arguments are signal sets; only this thread's mask changes.
    unsafe { libc::pthread_sigmask(how, set, &mut old) };
    old
}

/// Runs `start` with all signals blocked except those that kernels need. The threads it starts inherit this
/// mask, so that the program's threads handle the program's signals, whatever the calling thread blocks.
fn quiet<T>(start: impl FnOnce() -> T) -> T {
    let mut set = set_of([]);
    // SAFETY: the set is initialised.
    unsafe { libc::sigfillset(&mut set) };
    // One of the real-time signals is the driver's interrupt. Nobody sends the others to threads they do not
    // know.
    let real_time = libc::SIGRTMIN()..=libc::SIGRTMAX();
    for signal in FAULTS.into_iter().chain([libc::SIGTRAP, libc::SIGABRT]).chain(real_time) {
        // SAFETY: the set is initialised.
        unsafe { libc::sigdelset(&mut set, signal) };
    }
    let old = change_mask(libc::SIG_SETMASK, &set);
    let result = start();
    change_mask(libc::SIG_SETMASK, &old);
    result
}

fn begin() {
    THREAD.with(|t| {
        t.ours.set(true);
        t.mask_unsure.set(false);
    });
}

/// Starts a thread of the driver.
///
/// # Errors
/// As for [`Builder::spawn`].
pub fn spawn<T: Send + 'static>(
    builder: Builder,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    quiet(|| {
        builder.spawn(|| {
            begin();
            body()
        })
    })
}

/// Starts a thread of the driver in a scope.
///
/// # Errors
/// As for [`Builder::spawn_scoped`].
pub fn spawn_scoped<'scope, T: Send + 'scope>(
    builder: Builder,
    scope: &'scope Scope<'scope, '_>,
    body: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    quiet(|| {
        builder.spawn_scoped(scope, || {
            begin();
            body()
        })
    })
}

/// A period in which the calling thread runs kernels, and program code only in [`Turn::outside`].
#[derive(Debug)]
pub struct Turn(());

impl Turn {
    /// Begins a turn, which may be nested in another.
    pub fn begin() -> Turn {
        THREAD.with(|t| {
            t.depth.set(t.depth.get() + 1);
            t.state.set(State::Fresh);
        });
        Turn(())
    }

    /// Begins a turn unless the thread is in one or belongs to the driver: then the caller has begun one.
    pub fn unless_begun() -> Option<Turn> {
        THREAD.with(|t| t.depth.get() == 0 && !t.ours.get()).then(Turn::begin)
    }

    /// Notes that new work has arrived. Other threads may have changed handlers before they submitted it.
    pub fn again(&self) {
        THREAD.with(|t| t.state.set(State::Fresh));
    }

    /// Runs code that may be the program's, under the program's signal mask.
    pub fn outside<T>(&self, body: impl FnOnce() -> T) -> T {
        THREAD.with(|t| {
            t.close();
            t.mask_unsure.set(true);
            t.looked.set(0);
            t.state.set(State::Fresh);
        });
        body()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        THREAD.with(|t| {
            t.depth.set(t.depth.get().saturating_sub(1));
            if t.depth.get() == 0 {
                t.close();
                if t.state.get() == State::Done {
                    t.ended.set(if t.brief.get() { t.started.get() } else { clock() });
                }
            }
        });
    }
}

impl Thread {
    /// Blocks the signals again that this turn has unblocked.
    fn close(&self) {
        let bits = self.opened.replace(0);
        if bits != 0 {
            change_mask(libc::SIG_BLOCK, &set_of((1..=64).filter(|s| bits >> (s - 1) & 1 != 0)));
        }
    }

    fn look(&self) -> Look {
        let in_turn = self.depth.get() != 0;
        if self.known.get() && (!in_turn || self.state.get() == State::Done) {
            return Look::Nothing;
        }
        self.state.set(State::Done);
        let now = clock();
        // If the counter differs between processors it may go back; the difference is then large.
        let (unseen, away) = (now.wrapping_sub(self.looked.get()), now.wrapping_sub(self.ended.get()));
        self.brief.set(now.wrapping_sub(self.started.replace(now)) <= BRIEF);
        if away > LONG {
            self.turns.set(0);
        }
        if !self.known.replace(true) || unseen > 8 * LONG || away > LONG && !self.ours.get() {
            self.looked.set(now);
            return Look::All;
        }
        // The program's other threads run concurrently with this one.
        if self.ours.get() {
            return if self.mask_unsure.get() { Look::Main } else { Look::Handler };
        }
        let turns = self.turns.get();
        self.turns.set(turns.saturating_add(1));
        let usual = away <= BRIEF && self.is_usual(away);
        match away {
            _ if turns < STEADY || self.blocks.get() => Look::Main,
            0..=BRIEF if usual => Look::Nothing,
            0..=BRIEF | WHILE.. => Look::Main,
            _ => Look::Handler,
        }
    }

    /// Whether the program was away no longer than usual. Changing a handler or a mask takes a system call,
    /// as a check does, and would have taken longer.
    fn is_usual(&self, away: u64) -> bool {
        let (usual, call) = (self.usual.get(), self.cost.get());
        self.usual.set(if usual == 0 { away } else { usual - usual / 8 + away / 8 });
        call != u64::MAX && away < usual + call / 4 * 3
    }
}

/// What the calling thread must check now, just before it runs a kernel.
#[inline]
pub fn look() -> Look {
    THREAD.with(|t| {
        if t.state.get() == State::Done && t.depth.get() != 0 {
            return Look::Nothing;
        }
        t.look()
    })
}

/// Runs and times a check that is a single system call.
pub fn timed(look: impl FnOnce()) {
    let start = clock();
    look();
    let took = clock().wrapping_sub(start);
    THREAD.with(|t| t.cost.set(t.cost.get().min(took)));
}

/// Unblocks these signals in the calling thread until its turn ends.
pub fn open(signals: &[i32]) {
    THREAD.with(|t| {
        if t.ours.get() && !t.mask_unsure.get() {
            return;
        }
        let old = change_mask(libc::SIG_UNBLOCK, &set_of(signals.iter().copied()));
        if t.ours.get() {
            t.mask_unsure.set(false);
            return;
        }
        // SAFETY: the set is initialised.
        let blocked = signals.iter().filter(|s| unsafe { libc::sigismember(&old, **s) } == 1);
        t.opened.set(blocked.fold(t.opened.get(), |bits, s| bits | 1 << (s - 1)));
        t.blocks.set(t.opened.get() != 0);
    });
}

/// A function that returns whether the calling thread blocks a signal.
pub fn blocked() -> impl Fn(i32) -> bool {
    let mask = change_mask(libc::SIG_BLOCK, &set_of([]));
    // SAFETY: the set is initialised.
    move |signal| unsafe { libc::sigismember(&mask, signal) } == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block_all() {
        // SAFETY: the set is initialised.
        let set = unsafe {
            let mut set = set_of([]);
            libc::sigfillset(&mut set);
            set
        };
        change_mask(libc::SIG_SETMASK, &set);
    }

    #[test]
    fn our_threads_have_a_mask_of_their_own() {
        let program = std::thread::spawn(|| {
            block_all();
            let ours = spawn(Builder::new(), || {
                let blocks = blocked();
                assert!(FAULTS.iter().all(|s| !blocks(*s)) && !blocks(libc::SIGRTMAX() - 1));
                assert!([libc::SIGINT, libc::SIGTERM, libc::SIGCHLD].iter().all(|s| blocks(*s)));
                assert!(Turn::unless_begun().is_none());
            });
            ours.unwrap().join().unwrap();
            assert!(blocked()(libc::SIGSEGV));
        });
        program.join().unwrap();
    }

    #[test]
    fn a_turn_opens_what_the_program_blocks_and_restores_it() {
        let program = std::thread::spawn(|| {
            block_all();
            for _ in 0..3 * STEADY {
                let turn = Turn::begin();
                // Even if the turns follow each other quickly.
                assert_ne!(look(), Look::Nothing);
                open(&FAULTS);
                assert!(FAULTS.iter().all(|s| !blocked()(*s)) && blocked()(libc::SIGTERM));
                assert_eq!(look(), Look::Nothing);
                turn.outside(|| assert!(FAULTS.iter().all(|s| blocked()(*s))));
                assert_eq!(look(), Look::All, "the program has run");
                open(&FAULTS);
                drop(turn);
                assert!(FAULTS.iter().all(|s| blocked()(*s)));
            }
        });
        program.join().unwrap();
    }
}
