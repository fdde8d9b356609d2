//! What every exported function does: the checks before it, the log, and no panic across the C boundary.

use std::cell::UnsafeCell;
use std::fmt::Debug;

pub use capi::{In, Out, Text, bytes_at};
use driver::{Error, Result, context, stream};

/// `CUresult`.
pub type CUresult = u32;
/// What [`capi::api!`] has functions give.
pub type Code = CUresult;

/// What must hold before a function looks at its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing.
    Nothing,
    /// The process is not at its end.
    Process,
    /// `cuInit` was called; not inside a host function.
    Init,
    /// And, if the thread has a context, that is alive, on a device without a fault.
    Live,
    /// The same, for functions that name a stream, an event, a module or a function: such a handle knows its context, and whoever looks it
    /// up checks that. Only where the handle is a default stream's must the thread have one.
    Object,
    /// `Live`, and the thread has a context.
    Context,
}

/// Checks it.
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
    if stream::in_host_function() {
        return Err(Error::NotPermitted);
    }
    match need {
        Need::Context => context::with_usable(|_| ()),
        Need::Live | Need::Object => context::check_current(),
        Need::Nothing | Need::Process | Need::Init => Ok(()),
    }
}

/// Runs a function's body.
pub fn enter(
    name: &str,
    need: Need,
    args: &[(&str, &dyn Debug)],
    body: impl FnOnce() -> Result<()>,
) -> CUresult {
    capi::run(name, args, Error::Unknown.code(), error_name, || {
        check(need).and_then(|()| body()).err().map_or(0, Error::code)
    })
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

/// The answer of a function that is not written; it names itself once.
pub fn unsupported(name: &'static str) -> CUresult {
    capi::named_once(name);
    Error::NotSupported.code()
}

/// Storage of one of the debugger's variables.
#[repr(C, align(16))]
pub struct Variable(UnsafeCell<[u8; 4096]>);

// SAFETY: the bytes are for a debugger only; no code here reads or writes them.
unsafe impl Sync for Variable {}

impl Variable {
    /// All zero.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Variable(UnsafeCell::new([0; 4096]))
    }
}

/// What surrounds every function that [`capi::api!`] defines.
#[macro_export]
macro_rules! exported {
    ($name:ident $($function:tt)*) => {
        #[doc = concat!("`", stringify!($name), "`, as the CUDA driver API's manual has it.")]
        #[unsafe(no_mangle)]
        $($function)*
    };
}
