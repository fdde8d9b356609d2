//! The table through which the fronts reach the functions.

#![allow(non_snake_case, missing_docs)]

use std::ffi::c_void;

use crate::current::MakeBackend;

pub use capi::front::{Function, Table};

/// Functions that are not implemented.
mod stubs {
    include!(concat!(env!("OUT_DIR"), "/stubs.rs"));
}

mod generated {
    use super::stubs::*;
    use crate::api::*;
    use std::ffi::c_void;
    include!(concat!(env!("OUT_DIR"), "/table.rs"));
}

/// The id by which a front asks the CUDA library for the table; the last byte is the number in the front's
/// soname.
pub const NAME: [u8; 15] = *b"anywarp hip tab";

/// The table for the front with a soname number: 5, 6 or 7. `backend` is used if a HIP call initialises the
/// driver. From then on HIP's variables select the visible devices, unless the driver is already initialised.
pub fn table(soname: u8, backend: MakeBackend) -> Option<&'static Table> {
    crate::current::set_backend(backend);
    crate::api::show_arrays();
    driver::visible::set_interface(driver::visible::Interface::Hip);
    match soname {
        5 => Some(&generated::OF_5),
        6 => Some(&generated::OF_6),
        7 => Some(&generated::OF_7),
        _ => None,
    }
}

/// A function by name, in the version of HIP 6.
pub fn function(name: &str) -> Option<*const c_void> {
    let at = generated::NAMES.binary_search(&name).ok()?;
    generated::FUNCTIONS_OF_6.get(at).map(|f| f.0)
}
