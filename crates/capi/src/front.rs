//! The table through which a front library, which has only names and versions, reaches the functions in the
//! CUDA library.

use std::ffi::c_void;

/// The table that a front receives.
#[repr(C)]
#[derive(Debug)]
pub struct Table {
    /// Fingerprint of the list of names. A front from another build has a different one and refuses the
    /// table.
    pub fingerprint: u64,
    /// The number of functions.
    pub count: u64,
    /// The first function, in the order of `data/exports.tsv`.
    pub functions: *const Function,
}

// SAFETY: the pointers refer to functions and constants.
unsafe impl Sync for Table {}

/// The address of a function.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Function(pub *const c_void);

// SAFETY: code is immutable.
unsafe impl Sync for Function {}
