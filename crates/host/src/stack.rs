//! How much stack the calling thread has left, and work that needs more.

use std::cell::Cell;
use std::io;
use std::mem::MaybeUninit;
use std::panic::resume_unwind;
use std::thread::{self, Builder};

use crate::threads::spawn_scoped;

thread_local! {
    /// The lowest address of the thread's stack and the one after its highest; both 0 until they are known.
    static BOUNDS: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Bytes of stack below the caller. 0 if the thread runs on other memory than the system's stack, whose size
/// nothing tells, as coroutines do.
pub fn left() -> usize {
    let here = 0u8;
    let here = std::ptr::from_ref(&here).addr();
    let bounds = BOUNDS.try_with(|known| {
        if known.get() == (0, 0) {
            known.set(bounds().unwrap_or((1, 1)));
        }
        known.get()
    });
    match bounds {
        Ok((low, high)) if (low..high).contains(&here) => here - low,
        _ => 0,
    }
}

/// The stack of threads that take over.
const STACK: usize = 8 << 20;

/// Calls `run` with whether it runs in the calling thread, which it does if that has `least` bytes of stack
/// left. Otherwise another one takes over, while this one waits.
///
/// # Errors
/// The system refuses that thread.
pub fn with<T: Send>(least: usize, name: &str, run: impl FnOnce(bool) -> T + Send) -> io::Result<T> {
    if left() >= least {
        return Ok(run(true));
    }
    let thread = Builder::new().name(name.into()).stack_size(STACK);
    thread::scope(|scope| match spawn_scoped(thread, scope, || run(false))?.join() {
        Ok(value) => Ok(value),
        Err(panic) => resume_unwind(panic),
    })
}

fn bounds() -> Option<(usize, usize)> {
    let mut attributes = MaybeUninit::uninit();
    // SAFETY: the call initialises the attributes of the calling thread, if it succeeds.
    if unsafe { libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) } != 0 {
        return None;
    }
    let (mut low, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: the attributes are initialised; the results are written to variables of the right types.
    let found = unsafe { libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut low, &raw mut size) };
    // SAFETY: they are initialised and not used again.
    unsafe { libc::pthread_attr_destroy(attributes.as_mut_ptr()) };
    (found == 0).then(|| (low.addr(), low.addr().saturating_add(size)))
}

#[cfg(test)]
mod tests {
    use super::{left, with};

    #[test]
    fn tells_what_a_thread_has_left() {
        let thread = std::thread::Builder::new().stack_size(192 << 10).spawn(left).expect("a thread");
        let few = thread.join().expect("ended");
        assert!((64 << 10..192 << 10).contains(&few), "{few}");
        let before = left();
        assert!(before > 192 << 10, "{before}");
    }

    #[test]
    fn another_thread_takes_over() {
        let least = 1 << 20;
        let asked = move || with(least, "roomy", |here| (here, left() >= least)).expect("a thread");
        let thread = std::thread::Builder::new().stack_size(192 << 10).spawn(asked).expect("a thread");
        assert_eq!(thread.join().expect("ended"), (false, true));
        assert_eq!(asked(), (true, true));
    }
}
