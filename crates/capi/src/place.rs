//! Output pointers, input pointers and strings, as C programs pass them.

use std::ffi::CStr;
use std::fmt::{self, Debug};

use driver::{Error, Result};

/// An output pointer: null or, by the C contract, valid for writing one `T` (several where documented).
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
    /// A null pointer.
    pub const fn none() -> Self {
        Out(std::ptr::null_mut())
    }

    /// The pointer to the element with this index.
    pub fn after(self, count: usize) -> Self {
        Out(if self.0.is_null() { self.0 } else { self.0.wrapping_add(count) })
    }

    /// The output pointer at an address.
    pub fn at(address: u64) -> Self {
        Out(address as *mut T)
    }

    /// Whether it is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// [`Error::InvalidValue`] if it is null.
    pub fn required(self) -> Result<Self> {
        if self.0.is_null() { Err(Error::InvalidValue) } else { Ok(self) }
    }

    /// Writes the value unless the pointer is null.
    pub fn set(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: not null, so by the C contract valid for writing a T; it may be unaligned.
            unsafe { self.0.write_unaligned(value) };
        }
    }

    /// Reads the program's value.
    pub fn read(self) -> Result<T> {
        self.required()?;
        // SAFETY: as for `set`.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Writes several values; there must be space for them.
    pub fn set_all(self, values: &[T]) {
        for (i, value) in values.iter().enumerate() {
            if !self.0.is_null() {
                // SAFETY: by the C contract there is space for as many values as the program said.
                unsafe { self.0.wrapping_add(i).write_unaligned(*value) };
            }
        }
    }

    /// The address.
    pub fn address(self) -> u64 {
        self.0 as u64
    }
}

impl Out<u64> {
    /// Writes a list of handles as the graph functions do: without a list the total, otherwise as many as the
    /// count says that there is space for, zeros after the last, and their number.
    pub fn set_list(self, handles: &[u64], count: Out<usize>) -> Result<()> {
        let room = count.read()?;
        if self.is_null() {
            count.set(handles.len());
            return Ok(());
        }
        let written = handles.len().min(room);
        self.set_all(handles.get(..written).unwrap_or_default());
        (written..room).for_each(|rest| self.after(rest).set(0));
        count.set(written);
        Ok(())
    }
}

impl Out<u8> {
    /// Writes as much of a text as fits into `room` bytes with a NUL. [`Error::InvalidValue`] if `room` is 0.
    pub fn set_text(self, text: &str, room: usize) -> Result<()> {
        let longest = room.checked_sub(1).ok_or(Error::InvalidValue)?;
        let mut bytes: Vec<u8> = text.bytes().take(longest).collect();
        bytes.push(0);
        self.set_all(&bytes);
        Ok(())
    }
}

/// An input pointer: null or, by the C contract, valid for reading one `T` (several where documented).
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
    /// The input pointer at an address.
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

    /// The value with this index.
    pub fn at(self, index: usize) -> Result<T> {
        if self.0.is_null() {
            return Err(Error::InvalidValue);
        }
        // SAFETY: not null, so by the C contract valid for reading as many values as the program said.
        Ok(unsafe { self.0.wrapping_add(index).read_unaligned() })
    }

    /// The first `count` values.
    pub fn list(self, count: usize) -> Result<Vec<T>> {
        self.each(count).collect()
    }

    /// The first `count` values, each read when it is asked for: a caller that checks every value before the
    /// next does not read far beyond a list that is shorter than the program says. A list that would end
    /// outside the address space is [`Error::InvalidValue`] and is not read.
    pub fn each(self, count: usize) -> impl Iterator<Item = Result<T>> {
        let size = count.checked_mul(size_of::<T>());
        let end = size.and_then(|size| size.checked_add(self.0.addr()));
        let fits = end.is_some_and(|end| isize::try_from(end).is_ok());
        // Without space for it, one error instead of the values.
        (0..if fits { count } else { count.min(1) })
            .map(move |i| if fits { self.at(i) } else { Err(Error::InvalidValue) })
    }

    /// The address.
    pub fn address(self) -> u64 {
        self.0 as u64
    }
}

/// A C string: null or, by the C contract, NUL-terminated.
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
    /// The string at an address.
    pub fn at(address: u64) -> Self {
        Text(address as *const std::ffi::c_char)
    }

    /// The bytes without the NUL.
    pub fn bytes<'a>(self) -> Result<&'a [u8]> {
        if self.0.is_null() {
            return Err(Error::InvalidValue);
        }
        // SAFETY: not null, so by the C contract NUL-terminated and alive during the call.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_bytes())
    }

    /// The bytes without the NUL; [`Error::InvalidValue`] if there are none.
    pub fn name<'a>(self) -> Result<&'a [u8]> {
        self.bytes().and_then(|b| if b.is_empty() { Err(Error::InvalidValue) } else { Ok(b) })
    }

    /// The address.
    pub fn address(self) -> u64 {
        self.0 as u64
    }
}

/// The bytes at an address, which the program guarantees.
pub fn bytes_at<'a>(address: u64, length: usize) -> &'a [u8] {
    // Nothing is longer than half the address space; what is said to be is refused by its length.
    let length = length.min(isize::MAX as usize);
    if length == 0 {
        return &[];
    }
    // SAFETY: by the contract of the C function that received the address, `length` bytes are readable during
    // the call.
    unsafe { std::slice::from_raw_parts(address as *const u8, length) }
}
