//! The exported functions, made from the table, and the one that is not like the others.

#![allow(non_snake_case, missing_docs, clippy::too_many_arguments, clippy::unnecessary_cast)]

use std::ffi::{CString, c_char};
use std::panic::catch_unwind;
use std::sync::OnceLock;

use crate::code::CODES;

include!(concat!(env!("OUT_DIR"), "/functions.rs"));

/// The description of a code, for ever.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlErrorString(code: u32) -> *const c_char {
    static TEXTS: OnceLock<Vec<(u32, CString)>> = OnceLock::new();
    let text = catch_unwind(|| {
        let texts = TEXTS.get_or_init(|| {
            let text = |row: &(u32, &str, &str)| (row.0, CString::new(row.2).unwrap_or_default());
            CODES.iter().map(text).collect()
        });
        texts.iter().find(|text| text.0 == code).map_or(c"Unknown Error".as_ptr(), |text| text.1.as_ptr())
    });
    text.unwrap_or(c"Unknown Error".as_ptr())
}
