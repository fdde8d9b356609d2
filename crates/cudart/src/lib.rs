//! The CUDA runtime's C interface over the driver's.
//!
//! The functions in [`mod@api`] choose the thread's context, translate what the two interfaces spell
//! differently, and call the driver's C functions ([`cu`]), as NVIDIA's runtime does; so the handles of both
//! are the same. Names of `data/exports.tsv` that are not implemented there return cudaErrorNotSupported.
//! Programs link to *fronts*: `libcudart.so.11.0`, `.so.12` and `.so.13`, small libraries with the symbol
//! versions that programs expect, made by the build script. A front loads the `libcuda.so.1` in its folder
//! and uses its [`table`](table()).
//!
//! **Architecture invariant:** this crate holds names, C types and the registry of compiled-in code, but no
//! rule of how anything works.

// Rows of `forward!` pass pointers on as numbers; `cu` gives them types.
#![allow(clashing_extern_declarations)]

pub mod abi;
pub mod api;
pub mod code;
pub mod cu;
pub mod current;
pub mod error;
pub mod registered;
pub mod table;
pub mod types;

pub use capi::api;
pub use error::{Error, Result};
pub use table::table;
