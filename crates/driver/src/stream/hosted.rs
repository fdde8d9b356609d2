//! Host functions: functions of the program that a stream calls.
//!
//! A host function that waits for its own stream would wait for ever. CUDA refuses all calls in host
//! functions. HIP allows them, so that the waits alone are refused: they return at once, and the calling
//! thread learns it from [`permitted`].

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use crate::error::{Error, Result};

use super::{Kind, Stream};

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    /// The streams whose host functions the thread is in.
    static STREAMS: RefCell<Vec<Arc<Stream>>> = const { RefCell::new(Vec::new()) };
    static REFUSED: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread is inside a function of the program that a stream calls.
pub fn in_host_function() -> bool {
    INSIDE.try_with(Cell::get).unwrap_or(false)
}

/// Runs a function of the program, in which [`in_host_function`] holds.
pub(super) fn inside(f: impl FnOnce()) {
    let before = INSIDE.try_with(|c| c.replace(true)).unwrap_or(false);
    f();
    let _ = INSIDE.try_with(|c| c.set(before));
}

/// Runs a host function of a stream.
pub(super) fn host_function(stream: &Arc<Stream>, f: impl FnOnce()) {
    let _ = STREAMS.try_with(|streams| streams.borrow_mut().push(Arc::clone(stream)));
    inside(f);
    let last = STREAMS.try_with(|streams| streams.borrow_mut().pop());
    drop(last);
}

impl Stream {
    /// Whether pending work of the stream cannot end before the calling thread leaves a host function: one of
    /// this stream, or by the rules of the legacy stream of another one.
    pub(crate) fn waits_for_caller(&self) -> bool {
        let waits = |host: &Arc<Stream>| {
            std::ptr::eq(Arc::as_ptr(host), self)
                || Arc::ptr_eq(&host.life, &self.life)
                    && matches!(
                        (host.kind, self.kind),
                        (Kind::Blocking, Kind::Legacy) | (Kind::Legacy, Kind::Blocking)
                    )
        };
        in_host_function() && STREAMS.try_with(|streams| streams.borrow().iter().any(waits)).unwrap_or(false)
    }
}

/// Notes that the calling thread did not wait for a stream, since that would wait for the thread.
pub(crate) fn refuse() -> Error {
    let _ = REFUSED.try_with(|refused| refused.set(true));
    Error::NotPermitted
}

/// # Errors
/// [`Error::NotPermitted`]: the call that the thread makes did not wait for a stream ([`refuse`]).
pub(crate) fn permitted() -> Result<()> {
    if REFUSED.try_with(Cell::get).unwrap_or(false) { Err(Error::NotPermitted) } else { Ok(()) }
}

/// Whether a wait was refused since the last call.
pub fn take_refused() -> bool {
    REFUSED.try_with(|refused| refused.replace(false)).unwrap_or(false)
}
