//! What every HIP function does: the device and context before it, the thread's last error, the log, and no panic across the C boundary.

use std::cell::Cell;
use std::fmt::Debug;

pub use capi::{In, Out, Text, bytes_at};

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
}

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
        Need::Driver => Ok(current::driver_context()?.check()?),
    }
}

/// Runs a function's body; its code becomes the thread's last error.
pub fn enter(name: &str, need: Need, args: &[(&str, &dyn Debug)], body: impl FnOnce() -> Result<()>) -> Code {
    let text = |code| error::name(code).trim_end_matches('\0').to_string();
    let code = capi::run(name, args, Error::Unknown.code(), text, || {
        check(need).and_then(|()| body()).err().map_or(0, Error::code)
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

/// Defines HIP functions: what each needs, its names, its arguments, its body. A second name after `/` is the twin whose null stream is the
/// thread's own; the body then tells them apart by the variable in bars.
#[macro_export]
macro_rules! api {
    ($($(#[$meta:meta])* $need:ident fn $($name:ident)/+ ($($arg:ident: $ty:ty),* $(,)?) $(|$own:ident|)? $body:block)*) => {
        $($crate::api_one!([$(#[$meta])*] $need [$($name)+] ($($arg: $ty),*) [$($own)?] $body);)*
    };
}

/// One row of [`api!`].
#[macro_export]
macro_rules! api_one {
    ([$($meta:tt)*] $need:ident [$name:ident] $args:tt [] $body:block) => {
        $crate::api_fn!([$($meta)*] $need $name $args {} $body);
    };
    ([$($meta:tt)*] $need:ident [$name:ident $twin:ident] $args:tt [$own:ident] $body:block) => {
        $crate::api_fn!([$($meta)*] $need $name $args { let $own = false; } $body);
        $crate::api_fn!([$($meta)*] $need $twin $args { let $own = true; } $body);
    };
    ([$($meta:tt)*] $need:ident [$name:ident $twin:ident] $args:tt [] $body:block) => {
        $crate::api_fn!([$($meta)*] $need $name $args {} $body);
        $crate::api_fn!([$($meta)*] $need $twin $args {} $body);
    };
}

/// One HIP function.
#[macro_export]
macro_rules! api_fn {
    ([$($meta:tt)*] $need:ident $name:ident ($($arg:ident: $ty:ty),*) { $($before:tt)* } $body:block) => {
        #[doc = concat!("`", stringify!($name), "`, as HIP's reference has it.")]
        $($meta)*
        #[allow(clippy::too_many_arguments)]
        pub extern "C" fn $name($($arg: $ty),*) -> $crate::abi::Code {
            $crate::abi::enter(
                stringify!($name),
                $crate::abi::Need::$need,
                &[$((stringify!($arg), &$arg as &dyn std::fmt::Debug)),*],
                || { $($before)* $body },
            )
        }
    };
}
