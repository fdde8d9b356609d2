//! The texts that programs pass.

use std::ffi::{CStr, c_char, c_void};

use libc::wchar_t;

use crate::ranges;

/// The longest text that is kept, in characters.
const LONGEST: usize = 4096;

/// `nvtxEventAttributes_t`.
#[repr(C)]
pub struct Attributes {
    version: u16,
    /// The size of the structure in the program.
    size: u16,
    category: u32,
    color_type: i32,
    color: u32,
    payload_type: i32,
    reserved: i32,
    payload: u64,
    message_type: i32,
    /// A text or the handle of one.
    message: *const c_void,
}

/// `nvtxMessageType_t`.
const NARROW: i32 = 1;
const WIDE: i32 = 2;
const REGISTERED: i32 = 3;

impl Attributes {
    /// The message; empty if there is none or its kind is unknown.
    ///
    /// # Safety
    /// The pointer is null, or to a structure that is as its `size` and its types say.
    pub unsafe fn text(this: *const Attributes) -> String {
        // SAFETY: the caller's condition.
        let Some(this) = (unsafe { this.as_ref() }) else { return String::new() };
        if usize::from(this.size) < size_of::<Attributes>() {
            return String::new();
        }
        match this.message_type {
            // SAFETY: the type says what the pointer is to.
            NARROW => unsafe { narrow(this.message.cast()) },
            // SAFETY: the same.
            WIDE => unsafe { wide(this.message.cast()) },
            REGISTERED => ranges::registered(this.message),
            _ => String::new(),
        }
    }
}

/// A text of bytes; empty for a null pointer.
///
/// # Safety
/// The pointer is null, or to a text that ends with 0.
pub unsafe fn narrow(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller's condition.
    let bytes = unsafe { CStr::from_ptr(text) }.to_bytes();
    String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST)]).into_owned()
}

/// A text of wide characters; empty for a null pointer.
///
/// # Safety
/// The pointer is null, or to a text that ends with 0.
pub unsafe fn wide(text: *const wchar_t) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller's condition; nothing behind the 0 is read.
    let characters = (0..LONGEST).map(|at| unsafe { *text.add(at) }).take_while(|character| *character != 0);
    let known = |character: wchar_t| char::from_u32(character as u32).unwrap_or(char::REPLACEMENT_CHARACTER);
    characters.map(known).collect()
}
