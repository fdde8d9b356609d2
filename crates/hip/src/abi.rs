//! What every HIP function does: the device and context before it, the thread's last error, the log, and no panic across the C boundary.

use std::cell::Cell;
use std::fmt::Debug;

pub use capi::{In, Out, Text, bytes_at};

use crate::current::Rule;
use crate::{Error, Result, current, error};

/// `hipError_t`.
pub type Code = u32;

/// What must hold before a function looks at its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing.
    Nothing,
    /// There are devices; the first call of all looks for them.
    Device,
    /// And the thread has a context that works. Where it has none, the primary one of its device becomes current.
    Context,
    /// As `Context`, for functions that mirror the CUDA driver's: under the NVIDIA rule ([`current::Rule`]) an empty stack stays empty.
    Driver,
    /// As `Driver`, for functions that name a stream and a function, which know their context: only where the stream is a default one must the
    /// thread have one.
    Object,
}

/// Functions that work here and that clr 6.3 leaves unwritten (hip_context.cpp): whatever their arguments, hipErrorNotSupported is all that
/// it answers, and so do they in strict mode (`ANYWARP_HIP_STRICT`).
const UNWRITTEN_IN_CLR: &[&str] = &[
    "hipCtxGetApiVersion",
    "hipCtxGetCacheConfig",
    "hipCtxGetFlags",
    "hipCtxSetCacheConfig",
    "hipCtxSetSharedMemConfig",
    "hipCtxSynchronize",
];

thread_local! {
    static LAST: Cell<Code> = const { Cell::new(0) };
}

/// The thread's last error.
pub fn last_error() -> Code {
    LAST.get()
}

/// Sets the thread's last error and gives what it was.
pub fn replace_last_error(code: Code) -> Code {
    LAST.replace(code)
}

/// Checks what a function needs.
pub fn check(need: Need) -> Result<()> {
    match need {
        Need::Nothing => Ok(()),
        Need::Device => current::driver().map(|_| ()),
        Need::Context => Ok(current::context()?.check()?),
        Need::Object if current::driver()?.options.hip_context == Rule::Nvidia => {
            Ok(driver::context::check_current()?)
        }
        Need::Driver | Need::Object => Ok(current::driver_context()?.check()?),
    }
}

/// Whether a function is to answer as clr does that has not written it. Without a device, there is no answer but
/// that, there as here.
fn refused(name: &str) -> Result<bool> {
    Ok(UNWRITTEN_IN_CLR.contains(&name) && current::driver()?.options.hip_strict)
}

/// Runs a function's body; its code becomes the thread's last error.
pub fn enter(name: &str, need: Need, args: &[(&str, &dyn Debug)], body: impl FnOnce() -> Result<()>) -> Code {
    let text = |code| error::name(code).trim_end_matches('\0').to_string();
    let code = capi::run(name, args, Error::Unknown.code(), text, || {
        let done = refused(name).and_then(|refused| match refused {
            true => Err(Error::NotSupported),
            false => check(need).and_then(|()| body()),
        });
        done.err().map_or(0, Error::code)
    });
    LAST.set(code);
    code
}

/// Runs a function whose code is no verdict on itself: it tells or takes the last error.
pub fn tell(name: &str, args: &[(&str, &dyn Debug)], body: impl FnOnce() -> Code) -> Code {
    let text = |code| error::name(code).trim_end_matches('\0').to_string();
    capi::run(name, args, Error::Unknown.code(), text, body)
}

/// The answer of a function that is not written; it names itself once.
pub fn unsupported(name: &'static str) -> Code {
    capi::named_once(name);
    LAST.set(Error::NotSupported.code());
    Error::NotSupported.code()
}

/// What surrounds every function that [`capi::api!`] defines. The fronts export them.
#[macro_export]
macro_rules! exported {
    ($name:ident $($function:tt)*) => {
        #[doc = concat!("`", stringify!($name), "`, as HIP's reference has it.")]
        $($function)*
    };
}
