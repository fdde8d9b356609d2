//! Keeps our handlers first while kernels run.
//!
//! Each thread looks before it runs a kernel ([`crate::signals`]). That comes too early for a program that
//! starts a long kernel and installs a handler of its own while it runs, as Python does when a module calls
//! `faulthandler.enable()`. A thread therefore looks every few milliseconds while kernels run, and sleeps if
//! none has run for a while.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use host::threads::FAULTS;

use crate::{enter, fork, futex, handlers};

/// Time between two looks.
const TICK: Duration = Duration::from_millis(10);

/// Number of looks at which no kernel runs before the thread sleeps. Far longer than launches go without a
/// check of everything, which wakes the thread.
const PATIENCE: u32 = 100;

/// Whether the thread looks (1) or sleeps (0).
static AWAKE: AtomicU32 = AtomicU32::new(0);

/// Makes sure that the thread looks. A child of a fork has none.
pub(crate) fn wake() {
    static STARTED: OnceLock<Option<u32>> = OnceLock::new();
    if AWAKE.load(Ordering::Relaxed) != 0 {
        return;
    }
    let started = STARTED.get_or_init(|| {
        let thread = std::thread::Builder::new().name("anywarp-guard".into()).stack_size(64 << 10);
        // Without it, only handlers that are installed between two kernels are noticed.
        host::threads::spawn(thread, serve).ok().map(|_| fork::generation())
    });
    if *started == Some(fork::generation()) && AWAKE.swap(1, Ordering::Relaxed) == 0 {
        futex::wake(&AWAKE, 1);
    }
}

fn serve() {
    let mut idle = 0;
    loop {
        while AWAKE.load(Ordering::Relaxed) == 0 {
            futex::wait(&AWAKE, 0);
        }
        std::thread::sleep(TICK);
        if enter::is_any_running() {
            handlers::come_first(&FAULTS);
            idle = 0;
        } else if idle < PATIENCE {
            idle += 1;
        } else {
            idle = 0;
            AWAKE.store(0, Ordering::Relaxed);
            // A thread that still found it awake has begun its kernel by then.
            std::thread::sleep(TICK);
            if enter::is_any_running() {
                AWAKE.store(1, Ordering::Relaxed);
            }
        }
    }
}
