//! The runtime's status codes. Those that the driver has too have its numbers.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::sync::OnceLock;

use crate::abi::Code;

/// A status code other than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error(pub Code);

/// The result type of most functions.
pub type Result<T, E = Error> = core::result::Result<T, E>;

#[allow(missing_docs)]
impl Error {
    pub const INVALID_VALUE: Error = Error(1);
    pub const MEMORY_ALLOCATION: Error = Error(2);
    pub const CUDART_UNLOADING: Error = Error(4);
    pub const INVALID_CONFIGURATION: Error = Error(9);
    pub const INVALID_PITCH_VALUE: Error = Error(12);
    pub const INVALID_SYMBOL: Error = Error(13);
    pub const INVALID_CHANNEL_DESCRIPTOR: Error = Error(20);
    pub const INVALID_MEMCPY_DIRECTION: Error = Error(21);
    pub const MISSING_CONFIGURATION: Error = Error(52);
    pub const INVALID_DEVICE_FUNCTION: Error = Error(98);
    pub const NO_KERNEL_IMAGE: Error = Error(209);
    pub const INVALID_HANDLE: Error = Error(400);
    pub const SYMBOL_NOT_FOUND: Error = Error(500);
    pub const NOT_READY: Error = Error(600);
    pub const NOT_SUPPORTED: Error = Error(801);
    pub const UNKNOWN: Error = Error(999);
}

impl From<driver::Error> for Error {
    fn from(error: driver::Error) -> Self {
        Error(error.code())
    }
}

/// The result of a driver's function.
pub fn checked(code: Code) -> Result<()> {
    if code == 0 { Ok(()) } else { Err(Error(code)) }
}

/// Every status: number, name.
pub const NAMES: &[(Code, &CStr)] = include!(concat!(env!("OUT_DIR"), "/errors.rs"));

/// Texts of statuses that the driver lacks.
const TEXTS: &[(Code, &CStr)] = &[
    (9, c"invalid configuration argument"),
    (12, c"invalid pitch argument"),
    (13, c"invalid device symbol"),
    (16, c"invalid host pointer"),
    (17, c"invalid device pointer"),
    (18, c"invalid texture reference"),
    (19, c"texture is not bound to a pointer"),
    (20, c"invalid channel descriptor"),
    (21, c"invalid copy direction for memcpy"),
    (22, c"invalid address of constant"),
    (23, c"fetch from texture failed"),
    (24, c"cannot fetch from a texture that is not bound"),
    (25, c"incorrect use of __syncthreads()"),
    (26, c"linear filtering not supported for non-float type"),
    (27, c"read as normalized float not supported for data type"),
    (28, c"device emulation mode and device execution mode cannot be mixed"),
    (31, c"feature not yet implemented"),
    (32, c"memory size or pointer value too large to fit in 32 bit"),
    (34, c"CUDA driver is a stub library"),
    (35, c"CUDA driver version is insufficient for CUDA runtime version"),
    (36, c"API call is not supported in the installed CUDA driver"),
    (37, c"invalid surface reference"),
    (43, c"duplicate global variable looked up by string name"),
    (44, c"duplicate texture looked up by string name"),
    (45, c"duplicate surface looked up by string name"),
    (49, c"incompatible driver context"),
    (52, c"__global__ function call is not configured"),
    (53, c"unspecified launch failure in prior launch"),
    (65, c"launch would exceed maximum depth of nested launches"),
    (
        66,
        c"launch failed because kernel uses unsupported, file-scoped textures (texture objects are supported)",
    ),
    (
        67,
        c"launch failed because kernel uses unsupported, file-scoped surfaces (surface objects are supported)",
    ),
    (
        68,
        c"cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth",
    ),
    (69, c"launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"),
    (98, c"invalid device function"),
    (103, c"integrity checks failed"),
    (127, c"startup failure in cuda runtime"),
    (10000, c"api failure base"),
];

fn texts() -> &'static HashMap<Code, CString> {
    static ALL: OnceLock<HashMap<Code, CString>> = OnceLock::new();
    ALL.get_or_init(|| {
        let shared =
            driver::error::ERRORS.iter().map(|e| (e.0.code(), CString::new(e.2).unwrap_or_default()));
        let own = TEXTS.iter().map(|(code, text)| (*code, CString::from(*text)));
        own.chain(shared).chain([(0, CString::from(c"no error"))]).collect()
    })
}

/// Statuses that the runtime 11 does not know (asked of 11.8).
const AFTER_11: [Code; 9] = [225, 226, 402, 721, 811, 812, 913, 914, 915];

/// A status code's name in the runtime 11.
pub fn name_in_11(code: Code) -> &'static CStr {
    if AFTER_11.contains(&code) { c"unrecognized error code" } else { name(code) }
}

/// A status code's text in the runtime 11.
pub fn text_in_11(code: Code) -> &'static CStr {
    match code {
        27 => c"read as normalized float not supported for 32-bit non float type",
        code if AFTER_11.contains(&code) => c"unrecognized error code",
        code => text(code),
    }
}

/// A status code's name.
pub fn name(code: Code) -> &'static CStr {
    NAMES.iter().find(|row| row.0 == code).map_or(c"unrecognized error code", |row| row.1)
}

/// A status code's text.
pub fn text(code: Code) -> &'static CStr {
    match texts().get(&code) {
        Some(text) => text,
        None if NAMES.iter().any(|row| row.0 == code) => name(code),
        None => c"unrecognized error code",
    }
}
