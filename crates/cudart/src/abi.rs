//! The frame of every function: the thread's context before the call, its last error, the log, and no panic
//! across the C boundary.

use std::cell::Cell;
use std::fmt::Debug;

use capi::CaptureBehaviour;
pub use capi::{In, Out, Text, bytes_at};

use crate::{Error, Result, current, error};

/// `cudaError_t`.
pub type Code = u32;

/// Preconditions that are checked before a function reads its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// None.
    Nothing,
    /// The driver is initialised, by the first call if need be.
    Driver,
    /// As `Driver`, and the thread has a context, its device's primary one if it has no other.
    Context,
}

thread_local! {
    static LAST: Cell<Code> = const { Cell::new(0) };
}

/// The thread's last error.
pub fn last_error() -> Code {
    LAST.get()
}

/// Sets the thread's last error and returns the previous one.
pub fn replace_last_error(code: Code) -> Code {
    LAST.replace(code)
}

fn check(need: Need) -> Result<()> {
    match need {
        Need::Nothing => Ok(()),
        Need::Driver => current::driver().map(|_| ()),
        Need::Context => current::context_id().map(|_| ()),
    }
}

/// Runs a function's checks and body. An error becomes the thread's last error, except cudaErrorNotReady:
/// NVIDIA's runtime only returns that (recorded on an H200). What a function does to a stream capture is the
/// rule of the driver's function that it calls.
pub fn enter(
    name: &str,
    need: Need,
    _capture: CaptureBehaviour,
    args: &[(&str, &dyn Debug)],
    body: impl FnOnce() -> Result<()>,
) -> Code {
    let code = tell(name, args, || check(need).and_then(|()| body()).err().map_or(0, |error| error.0));
    if code != 0 && code != Error::NOT_READY.0 {
        LAST.set(code);
    }
    code
}

/// Runs a function that leaves the last error as it is, or whose result is not its own status.
pub fn tell(name: &str, args: &[(&str, &dyn Debug)], body: impl FnOnce() -> Code) -> Code {
    let text = |code| error::name(code).to_string_lossy().into_owned();
    capi::run(name, args, Error::UNKNOWN.0, text, body)
}

/// The status of a function that is not implemented; logs its name once.
pub fn unsupported(name: &'static str) -> Code {
    capi::named_once(name);
    LAST.set(Error::NOT_SUPPORTED.0);
    Error::NOT_SUPPORTED.0
}

/// Wraps every function that [`capi::api!`] defines. The front libraries export them.
#[macro_export]
macro_rules! exported {
    ($name:ident $($function:tt)*) => {
        #[doc = concat!("`", stringify!($name), "`, as in the reference of the CUDA runtime.")]
        $($function)*
    };
}

/// Defines functions that the driver has too, with the same arguments. A row holds a precondition, the
/// runtime's names, the arguments and the driver's names; second names are the variants for which a null
/// stream is the per-thread stream.
#[macro_export]
macro_rules! forward {
    ($($need:ident fn $($name:ident)/+ ($($args:tt)*) = $($cu:ident)/+;)*) => {
        $($crate::forward_one!($need [$($name)+] ($($args)*) [$($cu)+]);)*
    };
}

/// One row of [`forward!`].
#[doc(hidden)]
#[macro_export]
macro_rules! forward_one {
    ($need:ident [$name:ident] $args:tt [$cu:ident]) => {
        $crate::forward_fn!($need $name $args $cu);
    };
    ($need:ident [$name:ident $twin:ident] $args:tt [$cu:ident $cu_twin:ident]) => {
        $crate::forward_fn!($need $name $args $cu);
        $crate::forward_fn!($need $twin $args $cu_twin);
    };
}

/// One function of [`forward!`].
#[doc(hidden)]
#[macro_export]
macro_rules! forward_fn {
    ($need:ident $name:ident ($($arg:ident: $type:ty),*) $cu:ident) => {
        capi::api_fn!([] $need Inherits $name ($($arg: $type),*) {} {
            // SAFETY: libcuda.so exports the function with these arguments; each is checked there.
            unsafe extern "C" {
                safe fn $cu($($arg: $type),*) -> $crate::abi::Code;
            }
            $crate::error::checked($cu($($arg),*))
        });
    };
}
