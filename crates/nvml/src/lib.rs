//! `libnvidia-ml.so.1`: NVIDIA's management library (NVML) over the driver's devices.
//!
//! `data/functions.tsv` lists every function with its arguments; the build makes a C function of each row.
//! The [`engine`] checks the arguments by their kinds and calls the function's answer in [`mod@answers`]. A
//! function without one returns NVML_ERROR_NOT_SUPPORTED, as hardware without the feature does.
//!
//! A build puts `libnvidia-ml.so.1` and `libnvidia-ml.so` into `target/PROFILE/lib-anywarp/`.
//!
//! **Architecture invariant:** this crate holds NVML's names, codes and layouts. What it reports comes from
//! `driver::inventory`; it must not depend on `cuda`, whose exported functions it would export as well.

pub mod answers;
pub mod code;
pub mod engine;
pub mod exports;
pub mod handle;
pub mod layout;
pub mod state;
