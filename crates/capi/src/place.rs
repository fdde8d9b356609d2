//! Places to write to, values to read and texts, as C programs pass them.

use std::ffi::CStr;
use std::fmt::{self, Debug};

use driver::{Error, Result};

/// A place where a function writes a result: by the C contract null or valid for one `T` (or, where said, for several).
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> Debug for Out<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:p}", self.0)
    }
}

impl<T: Copy> Out<T> {
    /// Nowhere.
    pub const fn none() -> Self {
        Out(std::ptr::null_mut())
    }

    /// The place of another of several.
    pub fn after(self, count: usize) -> Self {
        Out(if self.0.is_null() { self.0 } else { self.0.wrapping_add(count) })
    }

    /// The place at an address that the program gave as a number.
    pub fn at(address: u64) -> Self {
        Out(address as *mut T)
    }

    /// Whether it is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// [`Error::InvalidValue`] for null.
    pub fn required(self) -> Result<Self> {
        if self.0.is_null() { Err(Error::InvalidValue) } else { Ok(self) }
    }

    /// Writes, if there is a place.
    pub fn set(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: not null, so by the C contract valid for a write of T; the program may have left it unaligned.
            unsafe { self.0.write_unaligned(value) };
        }
    }

    /// Reads what the program put there.
    pub fn read(self) -> Result<T> {
        self.required()?;
        // SAFETY: as for `set`.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Writes several; the place must have room for them.
    pub fn set_all(self, values: &[T]) {
        for (i, value) in values.iter().enumerate() {
            if !self.0.is_null() {
                // SAFETY: by the C contract the place has room for as many as the program said.
                unsafe { self.0.wrapping_add(i).write_unaligned(*value) };
            }
        }
    }

    /// The address.
    pub fn address(self) -> u64 {
        self.0 as u64
    }
}

impl Out<u8> {
    /// Writes as much of a text as `room` bytes hold, and a NUL. No room at all is [`Error::InvalidValue`].
    pub fn set_text(self, text: &str, room: usize) -> Result<()> {
        let longest = room.checked_sub(1).ok_or(Error::InvalidValue)?;
        let mut bytes: Vec<u8> = text.bytes().take(longest).collect();
        bytes.push(0);
        self.set_all(&bytes);
        Ok(())
    }
}

/// What a function reads: by the C contract null or valid for one `T` (or, where said, for several).
#[repr(transparent)]
pub struct In<T>(*const T);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T> Debug for In<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:p}", self.0)
    }
}

impl<T: Copy> In<T> {
    /// What is at an address that the program gave as a number.
    pub fn at_address(address: u64) -> Self {
        In(address as *const T)
    }

    /// Whether it is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The value; [`Error::InvalidValue`] for null.
    pub fn get(self) -> Result<T> {
        self.at(0)
    }

    /// One of several values.
    pub fn at(self, index: usize) -> Result<T> {
        if self.0.is_null() {
            return Err(Error::InvalidValue);
        }
        // SAFETY: not null, so by the C contract valid for reads of as many as the program said.
        Ok(unsafe { self.0.wrapping_add(index).read_unaligned() })
    }

    /// Several values; none where there are none to read.
    pub fn list(self, count: usize) -> Result<Vec<T>> {
        (0..count).map(|i| self.at(i)).collect()
    }

    /// The address.
    pub fn address(self) -> u64 {
        self.0 as u64
    }
}

/// A C string: by the C contract null or ended by a NUL.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Text(*const std::ffi::c_char);

impl Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bytes() {
            Ok(bytes) => write!(f, "{:?}", String::from_utf8_lossy(bytes.get(..80).unwrap_or(bytes))),
            Err(_) => f.write_str("null"),
        }
    }
}

impl Text {
    /// The text at an address that the program gave as a number.
    pub fn at(address: u64) -> Self {
        Text(address as *const std::ffi::c_char)
    }

    /// Its bytes without the NUL.
    pub fn bytes<'a>(self) -> Result<&'a [u8]> {
        if self.0.is_null() {
            return Err(Error::InvalidValue);
        }
        // SAFETY: not null, so by the C contract ended by a NUL and alive during the call.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_bytes())
    }

    /// Its bytes; empty is [`Error::InvalidValue`], too.
    pub fn name<'a>(self) -> Result<&'a [u8]> {
        self.bytes().and_then(|b| if b.is_empty() { Err(Error::InvalidValue) } else { Ok(b) })
    }

    /// The address.
    pub fn address(self) -> u64 {
        self.0 as u64
    }
}

/// Bytes at an address that the program vouches for.
pub fn bytes_at<'a>(address: u64, length: usize) -> &'a [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: by the C contract of the function that was given the address, `length` bytes can be read there during the call.
    unsafe { std::slice::from_raw_parts(address as *const u8, length) }
}
