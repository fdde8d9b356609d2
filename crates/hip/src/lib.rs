//! HIP's C interface over the driver.
//!
//! The functions in [`mod@api`] check their arguments in the order in which HIP does (the sources of HIP and clr 6.3) and call the crate
//! `driver`; names of `data/exports.tsv` that no file there defines answer hipErrorNotSupported. Programs reach them through *fronts*:
//! `libamdhip64.so.5`, `.so.6` and `.so.7`, small libraries that the build script makes, with the symbol versions that programs ask
//! for. A front opens the `libcuda.so.1` beside it and takes its [`table`](table()); so HIP and CUDA work on one driver, and their handles are the
//! same.
//!
//! **Architecture invariant:** C types, error codes and symbol versions; not how anything works.

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
