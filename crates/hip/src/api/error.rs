//! Errors: the thread's last error, names and texts.

use std::ffi::c_char;

use crate::abi::{Code, Out, last_error, replace_last_error, tell};
use crate::error::{name, text};
use crate::{Error, api};

/// `hipGetLastError`: returns the thread's last error and resets it to success.
pub extern "C" fn hipGetLastError() -> Code {
    tell("hipGetLastError", &[], || replace_last_error(0))
}

/// `hipExtGetLastError`: the same.
pub extern "C" fn hipExtGetLastError() -> Code {
    tell("hipExtGetLastError", &[], || replace_last_error(0))
}

/// `hipPeekAtLastError`: returns the thread's last error without resetting it.
pub extern "C" fn hipPeekAtLastError() -> Code {
    tell("hipPeekAtLastError", &[], last_error)
}

/// `hipGetErrorName`: the name of a code, valid forever.
pub extern "C" fn hipGetErrorName(code: Code) -> *const c_char {
    name(code).as_ptr().cast()
}

/// `hipGetErrorString`: the text of a code, valid forever.
pub extern "C" fn hipGetErrorString(code: Code) -> *const c_char {
    text(code).as_ptr().cast()
}

fn known(code: Code) -> crate::Result<()> {
    if code == 0 || Error::from_code(code).is_some() { Ok(()) } else { Err(Error::InvalidValue) }
}

api! {
    Nothing Legal fn hipDrvGetErrorName(code: u32, out: Out<u64>) {
        out.required()?;
        known(code)?;
        out.set(name(code).as_ptr() as u64);
        Ok(())
    }

    Nothing Legal fn hipDrvGetErrorString(code: u32, out: Out<u64>) {
        out.required()?;
        known(code)?;
        out.set(text(code).as_ptr() as u64);
        Ok(())
    }
}
