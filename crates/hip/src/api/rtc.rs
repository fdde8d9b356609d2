//! hiprtc: its results and what has no object. Programs are in `rtc_program.rs`, the linker in `rtc_link.rs`.

use std::ffi::c_char;
use std::fmt::Debug;

use crate::abi::Out;

/// `hiprtcResult` codes and their names, NUL-terminated.
macro_rules! results {
    ($($name:ident = $number:literal,)*) => {
        /// `hiprtcResult` without its prefix.
        #[allow(missing_docs)]
        pub mod result {
            $(pub const $name: u32 = $number;)*
        }

        fn name(code: u32) -> &'static str {
            match code {
                $($number => concat!("HIPRTC_", stringify!($name), "\0"),)*
                _ => "Invalid HIPRTC error code\0",
            }
        }
    };
}

results! {
    SUCCESS = 0,
    ERROR_OUT_OF_MEMORY = 1,
    ERROR_PROGRAM_CREATION_FAILURE = 2,
    ERROR_INVALID_INPUT = 3,
    ERROR_INVALID_PROGRAM = 4,
    ERROR_INVALID_OPTION = 5,
    ERROR_COMPILATION = 6,
    ERROR_BUILTIN_OPERATION_FAILURE = 7,
    ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
    ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
    ERROR_NAME_EXPRESSION_NOT_VALID = 10,
    ERROR_INTERNAL_ERROR = 11,
    ERROR_LINKING = 100,
}

/// The version that `hiprtcVersion` returns.
const VERSION: (i32, i32) = (9, 0);

/// The result of a function's body.
pub(super) type Answer = std::result::Result<(), u32>;

/// The result for an invalid argument.
pub(super) fn input<E>(_: E) -> u32 {
    result::ERROR_INVALID_INPUT
}

pub(super) fn enter(called: &str, args: &[(&str, &dyn Debug)], body: impl FnOnce() -> Answer) -> u32 {
    let text = |code| name(code).trim_end_matches('\0').to_string();
    capi::run(called, args, result::ERROR_INTERNAL_ERROR, text, || body().err().unwrap_or(result::SUCCESS))
}

/// `hiprtcVersion`.
pub extern "C" fn hiprtcVersion(major: Out<i32>, minor: Out<i32>) -> u32 {
    enter("hiprtcVersion", &[("major", &major), ("minor", &minor)], || {
        major.required().map_err(input)?;
        minor.required().map_err(input)?;
        major.set(VERSION.0);
        minor.set(VERSION.1);
        Ok(())
    })
}

/// `hiprtcGetErrorString`: the name of a code, valid forever.
pub extern "C" fn hiprtcGetErrorString(code: u32) -> *const c_char {
    name(code).as_ptr().cast()
}
