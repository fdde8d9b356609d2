//! Tensor maps: they describe how bulk copies find the parts of a tensor (PTX ISA 5.5, 9.7.9.27).
//!
//! A map is 128 bytes in the hardware's own layout, which was derived from maps that its driver encoded
//! (`tests/async`), so that programs can read or replace fields. [`Map`] is the decoded form, [`Map::check`]
//! performs the driver's checks, and [`walk`] yields the rows that a copy touches, in global memory and in
//! the box.
//!
//! **Architecture invariant:** this crate knows no other crate and touches no memory.

mod bits;
mod check;
mod map;
pub mod walk;

pub use bits::{BYTES, Field, WORDS, replace, replace_address};
pub use check::{Invalid, MOST_BYTES, is_address};
pub use map::{Element, Interleave, MAX_RANK, Map, NAN, Promotion, Shape, Swizzle};
