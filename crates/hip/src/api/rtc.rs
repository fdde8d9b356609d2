//! hiprtc: the linker, for PTX and NVIDIA's fatbins. Compiling HIP C++ needs a compiler that this driver does
//! not have.

use std::ffi::c_char;
use std::fmt::Debug;

use capi::jit::Jit;
use capi::{container, link};

use crate::abi::{In, Out, Text, bytes_at};
use crate::current::{self, Handle};

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
type Answer = std::result::Result<(), u32>;

/// The result for an invalid argument.
fn input<E>(_: E) -> u32 {
    result::ERROR_INVALID_INPUT
}

fn enter(called: &str, args: &[(&str, &dyn Debug)], body: impl FnOnce() -> Answer) -> u32 {
    let text = |code| name(code).trim_end_matches('\0').to_string();
    capi::run(called, args, result::ERROR_INTERNAL_ERROR, text, || body().err().unwrap_or(result::SUCCESS))
}

/// Adds an input. Null and unknown links or types are invalid inputs; other errors are program creation
/// failures.
fn add(link: Handle, kind: u32, bytes: &[u8], name: &str, call: &Jit) -> Answer {
    link::add(link, kind, bytes, name, call).map_err(|error| match error {
        driver::Error::InvalidHandle | driver::Error::InvalidValue => result::ERROR_INVALID_INPUT,
        driver::Error::OutOfMemory => result::ERROR_OUT_OF_MEMORY,
        _ => result::ERROR_PROGRAM_CREATION_FAILURE,
    })
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

/// `hiprtcLinkCreate`.
pub extern "C" fn hiprtcLinkCreate(count: u32, options: In<u32>, values: Out<u64>, out: Out<Handle>) -> u32 {
    enter("hiprtcLinkCreate", &[("count", &count), ("out", &out)], || {
        out.required().map_err(input)?;
        if count != 0 && (options.is_null() || values.is_null()) {
            return Err(result::ERROR_INVALID_INPUT);
        }
        let jit = Jit::read_hip(count, options, values).map_err(|_| result::ERROR_INVALID_OPTION)?;
        let context = current::context().map_err(|_| result::ERROR_INTERNAL_ERROR)?;
        out.set(link::create(&context, jit).map_err(|_| result::ERROR_INVALID_OPTION)?);
        Ok(())
    })
}

/// `hiprtcLinkAddData`.
#[allow(clippy::too_many_arguments)]
pub extern "C" fn hiprtcLinkAddData(
    link: Handle,
    kind: u32,
    data: u64,
    size: usize,
    name: Text,
    count: u32,
    options: In<u32>,
    values: Out<u64>,
) -> u32 {
    enter("hiprtcLinkAddData", &[("link", &link), ("kind", &kind), ("size", &size), ("name", &name)], || {
        if data == 0 || size == 0 {
            return Err(result::ERROR_INVALID_INPUT);
        }
        let call = Jit::read_hip(count, options, values).map_err(|_| result::ERROR_INVALID_OPTION)?;
        let name = name.bytes().map(String::from_utf8_lossy).unwrap_or_default();
        add(link, kind, bytes_at(data, size), &name, &call)
    })
}

/// `hiprtcLinkAddFile`.
pub extern "C" fn hiprtcLinkAddFile(
    link: Handle,
    kind: u32,
    path: Text,
    count: u32,
    options: In<u32>,
    values: Out<u64>,
) -> u32 {
    enter("hiprtcLinkAddFile", &[("link", &link), ("kind", &kind), ("path", &path)], || {
        let call = Jit::read_hip(count, options, values).map_err(|_| result::ERROR_INVALID_OPTION)?;
        let name = String::from_utf8_lossy(path.bytes().map_err(input)?);
        let bytes = container::file(path).map_err(|_| result::ERROR_PROGRAM_CREATION_FAILURE)?;
        add(link, kind, &bytes, &name, &call)
    })
}

/// `hiprtcLinkComplete`.
pub extern "C" fn hiprtcLinkComplete(link: Handle, image: Out<u64>, size: Out<usize>) -> u32 {
    enter("hiprtcLinkComplete", &[("link", &link), ("image", &image), ("size", &size)], || {
        image.required().map_err(input)?;
        size.required().map_err(input)?;
        driver::link::get(link).map_err(input)?;
        let (at, length) = link::complete(link).map_err(|_| result::ERROR_LINKING)?;
        image.set(at);
        size.set(length);
        Ok(())
    })
}

/// `hiprtcLinkDestroy`.
pub extern "C" fn hiprtcLinkDestroy(link: Handle) -> u32 {
    enter("hiprtcLinkDestroy", &[("link", &link)], || link::destroy(link).map_err(input))
}

/// Functions that compile HIP C++.
macro_rules! no_compiler {
    ($(fn $name:ident;)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`: there is no compiler for HIP C++.")]
            pub extern "C" fn $name() -> u32 {
                capi::named_once(concat!(stringify!($name), " (which needs a compiler for HIP C++)"));
                result::ERROR_PROGRAM_CREATION_FAILURE
            }
        )*
    };
}

no_compiler! {
    fn hiprtcCreateProgram;
    fn hiprtcCompileProgram;
    fn hiprtcDestroyProgram;
    fn hiprtcAddNameExpression;
    fn hiprtcGetLoweredName;
    fn hiprtcGetProgramLog;
    fn hiprtcGetProgramLogSize;
    fn hiprtcGetCode;
    fn hiprtcGetCodeSize;
    fn hiprtcGetBitcode;
    fn hiprtcGetBitcodeSize;
}
