//! What every exported function does: the checks before it, the log, and no panic across the C boundary.

use std::cell::UnsafeCell;
use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fmt::{self, Debug};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use driver::log::{self, Level};
use driver::{Error, Result, context, stream};

/// `CUresult`.
pub type CUresult = u32;

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
    /// And it has one.
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
        Need::Init | Need::Live | Need::Context => {}
    }
    driver::driver()?;
    if stream::in_host_function() {
        return Err(Error::NotPermitted);
    }
    match need {
        Need::Context => context::usable().map(|_| ()),
        Need::Live => context::current().map_or(Ok(()), |c| c.check()),
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
    let run = || check(need).and_then(|()| body());
    let result = catch_unwind(AssertUnwindSafe(run)).unwrap_or(Err(Error::Unknown));
    let code = result.err().map_or(0, Error::code);
    if log::level() >= Level::Trace {
        let list: Vec<String> = args.iter().map(|(n, v)| format!("{n}={v:?}")).collect();
        log::say(Level::Trace, || format!("{name}({}) = {}", list.join(", "), error_name(code)));
    }
    code
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
    static NAMED: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let named = catch_unwind(|| {
        if log::level() >= Level::Warn && NAMED.lock().unwrap_or_else(PoisonError::into_inner).insert(name) {
            log::say(Level::Warn, || format!("{name} is not supported"));
        }
    });
    drop(named);
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

/// Defines exported functions: what each needs, its names, its arguments, its body. A second name after `/` is the twin whose null stream is
/// the thread's own; the body then tells them apart by the variable in bars.
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

/// One exported function.
#[macro_export]
macro_rules! api_fn {
    ([$($meta:tt)*] $need:ident $name:ident ($($arg:ident: $ty:ty),*) { $($before:tt)* } $body:block) => {
        #[doc = concat!("`", stringify!($name), "`, as the CUDA driver API's manual has it.")]
        $($meta)*
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments)]
        pub extern "C" fn $name($($arg: $ty),*) -> $crate::abi::CUresult {
            $crate::abi::enter(
                stringify!($name),
                $crate::abi::Need::$need,
                &[$((stringify!($arg), &$arg as &dyn std::fmt::Debug)),*],
                || { $($before)* $body },
            )
        }
    };
}
