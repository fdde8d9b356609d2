//! The tables through which the fronts reach the functions.

#![allow(non_snake_case, missing_docs)]

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

/// The id by which a front asks the CUDA library for its table; the last byte is the runtime's version.
pub const NAME: [u8; 15] = *b"anywarp cudart ";

/// The table for a version of the runtime: 11, 12 or 13.
pub fn table(version: u8) -> Option<&'static Table> {
    match version {
        11 => Some(&generated::OF_11),
        12 => Some(&generated::OF_12),
        13 => Some(&generated::OF_13),
        _ => None,
    }
}

/// The names of all functions, in the tables' order.
pub fn names() -> &'static [&'static str] {
    &generated::NAMES
}
