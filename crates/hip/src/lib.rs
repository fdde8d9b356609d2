//! HIP's C interface over the driver.
//!
//! The functions in [`mod@api`] check their arguments in HIP's order (the sources of HIP and clr 6.3; for
//! later functions, of the release that added them) and call the crate `driver`. Names of `data/exports.tsv`
//! that are not implemented there return hipErrorNotSupported. Programs link to *fronts*:
//! `libamdhip64.so.5`, `.so.6` and `.so.7`, small libraries with the symbol versions that programs expect,
//! and `libhiprtc.so.6` and `.so.7`, made by the build script. A front loads the `libcuda.so.1` in its folder
//! and uses its [`table`](table()), so HIP and CUDA share one driver and its handles.
//!
//! **Architecture invariant:** this crate holds C types, error codes and symbol versions, but no
//! implementation.

pub mod abi;
pub mod api;
pub mod code;
pub mod current;
pub mod error;
pub mod registered;
pub mod table;
pub mod types;

pub use capi::api;
pub use error::{Error, Result};
pub use table::table;
