//! The frame of every exported function: checks before the call, the log, and no panic across the C boundary.

use std::cell::UnsafeCell;
use std::fmt::Debug;

use capi::CaptureBehaviour;
pub use capi::{In, Out, Text, bytes_at};
use driver::history::{self, Severity};
use driver::{Error, Result, checkpoint, context, stream};

/// `CUresult`.
pub type CUresult = u32;
/// The return type of functions that [`capi::api!`] defines.
pub type Code = CUresult;

/// Preconditions that are checked before a function reads its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// None.
    Nothing,
    /// The process is not exiting.
    Process,
    /// `cuInit` was called, and the caller is not a host function of a stream.
    Init,
    /// As `Init`; and if the thread has a context, it is not destroyed and no kernel has faulted in it.
    Live,
    /// As `Live`, for functions that take a stream, an event, a module or a function: such a handle knows its
    /// context, which is checked when the handle is looked up. The thread needs a context only if the handle
    /// is a default stream.
    Object,
    /// As `Live`, and the thread has a context.
    Context,
}

/// Checks a precondition.
pub fn check(need: Need) -> Result<()> {
    match need {
        Need::Nothing => return Ok(()),
        Need::Process => {
            return match driver::driver() {
                Err(Error::Deinitialized) => Err(Error::Deinitialized),
                _ => Ok(()),
            };
        }
        Need::Init | Need::Live | Need::Object | Need::Context => {}
    }
    driver::driver()?;
    // A host function must not wait while the process is locked: the lock waits for its stream.
    if stream::in_host_function() {
        return Err(Error::NotPermitted);
    }
    checkpoint::wait();
    match need {
        Need::Context => context::with_usable(|_| ()),
        Need::Live | Need::Object => context::check_current(),
        Need::Nothing | Need::Process | Need::Init => Ok(()),
    }
}

/// Runs a function's checks and body.
pub fn enter(
    name: &str,
    need: Need,
    capture: CaptureBehaviour,
    args: &[(&str, &dyn Debug)],
    body: impl FnOnce() -> Result<()>,
) -> CUresult {
    let code = capi::run(name, args, Error::Unknown.code(), error_name, || {
        let allowed =
            || if capture == CaptureBehaviour::Unsafe { stream::capture::check_unsafe() } else { Ok(()) };
        check(need).and_then(|()| allowed()).and_then(|()| body()).err().map_or(0, Error::code)
    });
    if code != 0 && code != Error::NotReady.code() {
        tell(name, code);
    }
    code
}

/// Adds a failed call to the log that the program reads, in the hardware's words.
#[cold]
fn tell(name: &str, code: CUresult) {
    // At exit, the program's functions may be gone.
    if driver::driver().is_ok() {
        history::add(Severity::Error, &format!("Returning {code} ({}) from {name}", error_name(code)));
        history::deliver();
    }
}

fn error_name(code: u32) -> String {
    match Error::from_code(code) {
        None if code == 0 => "CUDA_SUCCESS".into(),
        None => code.to_string(),
        Some(error) => {
            let name = driver::error::ERRORS.iter().find(|e| e.0 == error).map_or("UNKNOWN", |e| e.1);
            format!("CUDA_ERROR_{name}")
        }
    }
}

/// The status of a function that is not implemented; logs its name once.
pub fn unsupported(name: &'static str) -> CUresult {
    capi::named_once(name);
    Error::NotSupported.code()
}

/// Storage of a debugger variable.
#[repr(C, align(16))]
pub struct Variable(UnsafeCell<[u8; 4096]>);

// SAFETY: only a debugger uses the bytes; no code here reads or writes them.
unsafe impl Sync for Variable {}

impl Variable {
    /// All bytes zero.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Variable(UnsafeCell::new([0; 4096]))
    }
}

/// Wraps every function that [`capi::api!`] defines.
#[macro_export]
macro_rules! exported {
    ($name:ident $($function:tt)*) => {
        #[doc = concat!("`", stringify!($name), "`, as in the manual of the CUDA driver API.")]
        #[unsafe(no_mangle)]
        $($function)*
    };
}
