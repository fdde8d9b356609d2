//! The table by which the fronts reach the functions.

#![allow(non_snake_case, missing_docs)]

use std::ffi::c_void;

use crate::current::MakeBackend;

/// Functions that are not written yet.
mod stubs {
    include!(concat!(env!("OUT_DIR"), "/stubs.rs"));
}

mod generated {
    use super::stubs::*;
    use crate::api::*;
    use std::ffi::c_void;
    include!(concat!(env!("OUT_DIR"), "/table.rs"));
}

/// What a front is given.
#[repr(C)]
#[derive(Debug)]
pub struct Table {
    /// Of the list of names that the front was built from, too: two builds do not fit together else.
    pub fingerprint: u64,
    /// Functions.
    pub count: u64,
    /// The first of them, in the order of `data/exports.tsv`.
    pub functions: *const Function,
}

// SAFETY: the pointers are to functions and constants.
unsafe impl Sync for Table {}

/// The address of a function.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Function(pub *const c_void);

// SAFETY: code does not change.
unsafe impl Sync for Function {}

/// The name by which a front asks the CUDA library for the table; the last byte is the number in the front's soname.
pub const NAME: [u8; 15] = *b"anywarp hip tab";

/// The table for the front of a soname: 5, 6 or 7. `backend` is what the driver runs on, should a HIP call be its first.
/// From then on HIP's variables tell which devices the process sees, unless it has a driver already.
pub fn table(soname: u8, backend: MakeBackend) -> Option<&'static Table> {
    crate::current::set_backend(backend);
    crate::api::show_arrays();
    driver::visible::set_interface(driver::visible::Interface::Hip);
    match soname {
        5 => Some(&generated::FIVE),
        6 | 7 => Some(&generated::SIX),
        _ => None,
    }
}

/// A function by its name, as HIP 6 and later have it.
pub fn function(name: &str) -> Option<*const c_void> {
    let at = generated::NAMES.binary_search(&name).ok()?;
    generated::SIX_FUNCTIONS.get(at).map(|f| f.0)
}
