//! The tensor core: `d = a × b + c` on small matrices whose elements are distributed over the registers of a
//! warp.
//!
//! [`Matrix`] describes an instruction; [`Matrix::run`] executes it for a whole warp. Fragments have the PTX
//! manual's layout (9.7.14.5); sums are identical to an H200's, as recorded in `tests/hw/matrix`.

mod fast;
pub mod format;
mod fragment;
mod matrix;
mod mma;
mod movement;
mod scale;
mod sparse;
mod sum;
mod warp;
mod wgmma;

#[doc(hidden)]
pub use fast::{Way, ways};
pub use format::Format;
pub use matrix::{Fault, Matrix, Shared};
pub use mma::{Bits, Kind, Mma, Round, shape};
pub use movement::{Action, Movement, Rows, Source};
pub use wgmma::Wgmma;

/// Lanes of a warp.
pub const LANES: usize = 32;
