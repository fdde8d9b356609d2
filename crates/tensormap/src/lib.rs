//! Tensor maps: how bulk copies find the parts of a tensor (PTX ISA 5.5, 9.7.9.27).
//!
//! A map is 128 bytes in the hardware's own layout, learnt from encodings that its driver made (`tests/async`), so that programs that look into
//! one, or replace fields of it, agree. [`Map`] is what the bytes say, [`Map::check`] what the driver refuses, and [`walk`] the rows that a copy
//! touches, in global memory and in the box.
//!
//! **Architecture invariant:** this crate knows no other; it touches no memory.

mod bits;
mod check;
mod map;
pub mod walk;

pub use bits::{BYTES, Field, WORDS, replace, replace_address};
pub use check::{Invalid, MOST_BYTES, is_address};
pub use map::{Element, Interleave, Map, NAN, Shape, Swizzle};
