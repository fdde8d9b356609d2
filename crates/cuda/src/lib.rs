//! `libcuda.so.1`: the CUDA driver's C interface over the driver.
//!
//! Every name in `data/exports.txt` is exported. The functions in [`mod@api`] check their arguments in the
//! order in which the hardware's driver does, and call the crate `driver`. All other names
//! ([`abi::unsupported`]) return CUDA_ERROR_NOT_SUPPORTED.
//!
//! A build puts `libcuda.so.1` and `libcuda.so` into `target/PROFILE/lib-anywarp/`, to be added to
//! `LD_LIBRARY_PATH`.
//!
//! **Architecture invariant:** this crate holds C types, error codes and symbol versions, but no
//! implementation.

pub mod abi;
pub mod api;
pub mod backend;
pub mod exports;
pub mod types;

pub use capi::api;
