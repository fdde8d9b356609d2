//! Tensor maps, which are encoded entirely on the host.

use driver::{Error, driver};
use tensormap::{Element, Interleave, MAX_RANK, Map, Promotion, Shape, Swizzle, WORDS};

use crate::abi::{In, Out};
use crate::api;

/// `CUtensorMapFloatOOBfill`: what elements outside of the tensor are.
mod fill {
    /// `CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE`: zero.
    pub const NONE: u32 = 0;
    /// `CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA`.
    pub const NAN: u32 = 1;
}

/// The arguments that the three encodings have in common.
struct Common {
    element: u32,
    rank: u32,
    address: u64,
    sizes: In<u64>,
    strides: In<u64>,
    steps: In<u32>,
    interleave: u32,
    swizzle: u32,
    promotion: u32,
    fill: u32,
}

/// The first `count` values, and `rest` for all others.
fn list<T: Copy, const N: usize>(values: In<T>, count: usize, rest: T) -> driver::Result<[T; N]> {
    let mut all = [rest; N];
    for (slot, value) in all.iter_mut().zip(values.list(count)?) {
        *slot = value;
    }
    Ok(all)
}

impl Common {
    /// Checks and encodes a tensor map with the shape for a rank.
    fn encode(
        self,
        to: Out<[u64; WORDS]>,
        shape: impl FnOnce(usize) -> driver::Result<Shape>,
    ) -> driver::Result<()> {
        to.required()?;
        let rank = self.rank as usize;
        // The header aligns maps to 64 bytes, but the hardware's driver writes them at any address.
        if !(1..=MAX_RANK).contains(&rank) {
            return Err(Error::InvalidValue);
        }
        let map = Map {
            element: Element::of(self.element).ok_or(Error::InvalidValue)?,
            rank,
            address: self.address,
            dims: list(self.sizes, rank, 1)?,
            strides: list(self.strides, rank - 1, 0)?,
            steps: list(self.steps, rank, 1)?,
            shape: shape(rank)?,
            interleave: Interleave::of(self.interleave).ok_or(Error::InvalidValue)?,
            swizzle: Swizzle::of(self.swizzle).ok_or(Error::InvalidValue)?,
            promotion: Promotion::of(self.promotion).ok_or(Error::InvalidValue)?,
            nan: match self.fill {
                fill::NONE => false,
                fill::NAN => true,
                _ => return Err(Error::InvalidValue),
            },
        };
        map.check().map_err(|_| Error::InvalidValue)?;
        to.set(map.encode());
        Ok(())
    }
}

/// Whether the first device supports the wide im2col mode (`im2col::w`).
fn has_rows() -> bool {
    let device = driver().and_then(|d| d.device(0).map(|d| d.info.compute_capability));
    device.is_ok_and(|c| c >= (10, 0))
}

api! {
    Nothing Legal fn cuTensorMapEncodeTiled(
        map: Out<[u64; WORDS]>, element: u32, rank: u32, address: u64, sizes: In<u64>, strides: In<u64>,
        size: In<u32>, steps: In<u32>, interleave: u32, swizzle: u32, promotion: u32, fill: u32,
    ) {
        let common = Common { element, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill };
        common.encode(map, |rank| Ok(Shape::Tiled(list(size, rank, 1)?)))
    }

    Nothing Legal fn cuTensorMapEncodeIm2col(
        map: Out<[u64; WORDS]>, element: u32, rank: u32, address: u64, sizes: In<u64>, strides: In<u64>,
        lower: In<i32>, upper: In<i32>, channels: u32, pixels: u32, steps: In<u32>, interleave: u32,
        swizzle: u32, promotion: u32, fill: u32,
    ) {
        let common = Common { element, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill };
        common.encode(map, |rank| {
            let spatial = rank.saturating_sub(2);
            let (lower, upper) = (list(lower, spatial, 0)?, list(upper, spatial, 0)?);
            Ok(Shape::Im2col { lower, upper, channels, pixels, wide: false })
        })
    }

    /// A device without the wide mode gets the plain mode with a box as high and deep as the tensor.
    Nothing Legal fn cuTensorMapEncodeIm2colWide(
        map: Out<[u64; WORDS]>, element: u32, rank: u32, address: u64, sizes: In<u64>, strides: In<u64>,
        lower: i32, upper: i32, channels: u32, pixels: u32, steps: In<u32>, interleave: u32, mode: u32,
        swizzle: u32, promotion: u32, fill: u32,
    ) {
        if mode > 1 {
            return Err(Error::InvalidValue);
        }
        let common = Common { element, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill };
        let wide = has_rows();
        common.encode(map, |_| Ok(Shape::Im2col { lower: [lower, 0, 0], upper: [upper, 0, 0], channels, pixels, wide }))
    }

    Nothing Legal fn cuTensorMapReplaceAddress(map: Out<[u64; WORDS]>, address: u64) {
        let mut words = map.read()?;
        // The words are not checked: they need not be a map.
        if address == 0 || !tensormap::is_address(address) {
            return Err(Error::InvalidValue);
        }
        tensormap::replace_address(&mut words, address);
        map.set(words);
        Ok(())
    }
}
