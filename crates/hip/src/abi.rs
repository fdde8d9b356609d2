//! The frame of every HIP function: device and context before the call, the thread's last error, the log, and
//! no panic across the C boundary.

use std::cell::Cell;
use std::fmt::Debug;

use capi::CaptureBehaviour;
use driver::log::{self, Level};

pub use capi::{In, Out, Text, bytes_at};

use crate::current::Rule;
use crate::{Error, Result, current, error};

/// `hipError_t`.
pub type Code = u32;

/// Preconditions that are checked before a function reads its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// None.
    Nothing,
    /// There are devices. The first call initialises the driver.
    Device,
    /// As `Device`, and the thread's context works. If the thread has none, its device's primary context
    /// becomes current.
    Context,
    /// As `Context`, for functions that mirror the CUDA driver's: under the NVIDIA rule ([`current::Rule`])
    /// an empty context stack stays empty.
    Driver,
    /// As `Driver`, for functions that take a stream or a function, which know their context. The thread
    /// needs a context only for a default stream.
    Object,
}

/// Functions that work here but always return hipErrorNotSupported in clr 6.3 (hip_context.cpp). In strict
/// mode (`ANYWARP_HIP_STRICT`) they do so here too.
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

/// Sets the thread's last error and returns the previous one.
pub fn replace_last_error(code: Code) -> Code {
    LAST.replace(code)
}

/// Checks a precondition.
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

/// Whether a function must be refused because clr does not implement it. Without a device this fails first,
/// as in clr.
fn refused(name: &str) -> Result<bool> {
    Ok(UNWRITTEN_IN_CLR.contains(&name) && current::driver()?.options.hip_strict)
}

/// Refuses what a stream capture forbids.
fn capture_check(capture: CaptureBehaviour) -> Result<()> {
    if capture == CaptureBehaviour::Unsafe {
        driver::stream::capture::check_unsafe()?;
    }
    Ok(())
}

/// The error of a call in a host function that would wait for the function itself. AMD's runtime waits.
#[cold]
fn refused_wait(name: &str) -> Error {
    log::say(Level::Error, || {
        format!(
            "{name} in a host function (hipLaunchHostFunc, hipStreamAddCallback) would wait for that function's own \
             stream and never return; wait outside host functions"
        )
    });
    Error::NotSupported
}

/// Runs a function's checks and body. Its code becomes the thread's last error.
pub fn enter(
    name: &str,
    need: Need,
    capture: CaptureBehaviour,
    args: &[(&str, &dyn Debug)],
    body: impl FnOnce() -> Result<()>,
) -> Code {
    let text = |code| error::name(code).trim_end_matches('\0').to_string();
    let code = capi::run(name, args, Error::Unknown.code(), text, || {
        let done = refused(name).and_then(|refused| match refused {
            true => Err(Error::NotSupported),
            false => check(need).and_then(|()| capture_check(capture)).and_then(|()| body()),
        });
        let done = if driver::stream::take_refused() { Err(refused_wait(name)) } else { done };
        done.err().map_or(0, Error::code)
    });
    LAST.set(code);
    code
}

/// Runs a function whose result is not its own status: it returns or resets the last error.
pub fn tell(name: &str, args: &[(&str, &dyn Debug)], body: impl FnOnce() -> Code) -> Code {
    let text = |code| error::name(code).trim_end_matches('\0').to_string();
    capi::run(name, args, Error::Unknown.code(), text, body)
}

/// The status of a function that is not implemented; logs its name once.
pub fn unsupported(name: &'static str) -> Code {
    capi::named_once(name);
    LAST.set(Error::NotSupported.code());
    Error::NotSupported.code()
}

/// Wraps every function that [`capi::api!`] defines. The front libraries export them.
#[macro_export]
macro_rules! exported {
    ($name:ident $($function:tt)*) => {
        #[doc = concat!("`", stringify!($name), "`, as in HIP's reference.")]
        $($function)*
    };
}
