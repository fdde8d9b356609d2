//! The driver's checks of a tensor map, which give an H200's answers.

use crate::bits::corner_bits;
use crate::map::{Interleave, MAX_RANK, Map, Shape, Swizzle};

/// Maximum number of bytes in a box: the most shared memory that a block can have.
pub const MOST_BYTES: u64 = 227 << 10;

/// Why a map is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// The rank is not 1 to [`MAX_RANK`], or below 3 for im2col and interleaved layouts.
    Rank,
    /// The address is not aligned, or too large.
    Address,
    /// A dimension is 0 or above 2³².
    Dimension(usize),
    /// A stride is not aligned, or 2⁴⁰ or more.
    Stride(usize),
    /// A step is not 1 to 8.
    Step(usize),
    /// A box's size is not 1 to 256 in a dimension, its channels are not 1 to 256, or its pixels not 1 to
    /// 1024.
    Size,
    /// A row of the box is not a multiple of 16 bytes, or longer than the swizzle's span.
    Row,
    /// A box exceeds [`MOST_BYTES`].
    Bytes,
    /// A corner does not fit in its bits.
    Corner,
    /// The bounding box is empty.
    Empty,
    /// An im2col::w map must be swizzled and not interleaved.
    Layout,
    /// The fill is NaN, but the elements are not floats.
    Fill,
}

impl std::fmt::Display for Invalid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Invalid::Rank => f.write_str("the rank is not legal for this encoding"),
            Invalid::Address => f.write_str("the address is not aligned"),
            Invalid::Dimension(d) => write!(f, "dimension {d} is not 1 to 2^32"),
            Invalid::Stride(d) => write!(f, "stride {d} is not aligned, or 2^40 or more"),
            Invalid::Step(d) => write!(f, "element stride {d} is not 1 to 8"),
            Invalid::Size => f.write_str("a size of the box is out of range"),
            Invalid::Row => {
                f.write_str("a row of the box is not a multiple of 16 bytes or exceeds the swizzle")
            }
            Invalid::Bytes => write!(f, "the box has more than {MOST_BYTES} bytes"),
            Invalid::Corner => f.write_str("a corner is out of range"),
            Invalid::Empty => f.write_str("the bounding box is empty"),
            Invalid::Layout => f.write_str("an im2col::w map must be swizzled and not interleaved"),
            Invalid::Fill => f.write_str("the fill is NaN but the elements are not floats"),
        }
    }
}

impl std::error::Error for Invalid {}

/// Number of bits in an address.
const ADDRESS_BITS: u32 = 57;

/// Whether this is a legal address of a tensor, unless it is interleaved in slices of 32 bytes.
pub const fn is_address(address: u64) -> bool {
    address.is_multiple_of(16) && address >> ADDRESS_BITS == 0
}

impl Map {
    /// Checks whether the driver accepts the map.
    ///
    /// # Errors
    /// The first problem.
    pub fn check(&self) -> Result<(), Invalid> {
        let interleaved = self.interleave != Interleave::None;
        let least = if interleaved || matches!(self.shape, Shape::Im2col { .. }) { 3 } else { 1 };
        if !(least..=MAX_RANK).contains(&self.rank) {
            return Err(Invalid::Rank);
        }
        let unit = if self.interleave == Interleave::Bytes32 { 32 } else { 16 };
        if !self.address.is_multiple_of(unit) || !is_address(self.address) {
            return Err(Invalid::Address);
        }
        let dims = self.dims.iter().take(self.rank);
        if let Some(d) = dims.clone().position(|n| !(1..=1 << 32).contains(n)) {
            return Err(Invalid::Dimension(d));
        }
        let bad = |s: &u64| !s.is_multiple_of(unit) || *s >> 40 != 0;
        if let Some(d) = self.strides.iter().take(self.rank - 1).position(bad) {
            return Err(Invalid::Stride(d));
        }
        if let Some(d) = self.steps.iter().take(self.rank).position(|s| !(1..=8).contains(s)) {
            return Err(Invalid::Step(d));
        }
        self.check_shape()?;
        let rows = matches!(self.shape, Shape::Im2col { wide: true, .. });
        if rows && (interleaved || self.swizzle == Swizzle::None) {
            return Err(Invalid::Layout);
        }
        let row = u64::from(self.inner()) * self.element.bytes();
        // This applies to interleaved boxes too: their rows count as elements here, although whole slices are
        // copied.
        if !row.is_multiple_of(16)
            || !interleaved && self.swizzle != Swizzle::None && row > self.swizzle.span()
        {
            return Err(Invalid::Row);
        }
        if self.bytes() > MOST_BYTES {
            return Err(Invalid::Bytes);
        }
        if self.nan && !self.element.is_float() {
            return Err(Invalid::Fill);
        }
        Ok(())
    }

    fn check_shape(&self) -> Result<(), Invalid> {
        match self.shape {
            Shape::Tiled(size) => {
                let good = size.iter().take(self.rank).all(|n| (1..=256).contains(n));
                good.then_some(()).ok_or(Invalid::Size)
            }
            Shape::Im2col { lower, upper, channels, pixels, wide } => {
                if !(1..=256).contains(&channels) || !(1..=1024).contains(&pixels) {
                    return Err(Invalid::Size);
                }
                let bound = 1 << (corner_bits(self.rank, wide) - 1);
                let spatial = if wide { 1 } else { self.rank - 2 };
                let fits = |c: &i32| (-bound..bound).contains(c);
                if !lower.iter().chain(&upper).all(fits) {
                    return Err(Invalid::Corner);
                }
                // In the driver's order, interleaved channels are not the first dimension. It computes in 32
                // bits.
                let first = usize::from(self.interleave == Interleave::None);
                let dims = self.dims.iter().skip(first).take(spatial);
                let empty = dims
                    .zip(lower.iter().zip(&upper))
                    .any(|(&size, (&lower, &upper))| (size as i32).wrapping_add(upper) <= lower);
                if empty { Err(Invalid::Empty) } else { Ok(()) }
            }
        }
    }
}
