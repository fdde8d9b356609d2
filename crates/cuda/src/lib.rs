//! `libcuda.so.1`: the CUDA driver's C interface over the driver.
//!
//! Every name in `data/exports.txt` is exported. The functions in [`mod@api`] check their arguments in the order in which the hardware's driver
//! does and call the crate `driver`; the others ([`abi::unsupported`]) answer CUDA_ERROR_NOT_SUPPORTED.
//!
//! After a build `target/PROFILE/lib-anywarp/` holds `libcuda.so.1` and `libcuda.so`: put it in `LD_LIBRARY_PATH`.
//!
//! **Architecture invariant:** C types, error codes and symbol versions; not how anything works.

pub mod abi;
pub mod api;
pub mod backend;
pub mod exports;
pub mod types;

pub use capi::api;
