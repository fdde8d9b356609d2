//! A tensor map's 128 bytes.
//!
//! | bits | content |
//! |---|---|
//! | 0 to 63 | the address |
//! | 64 | whether it is im2col |
//! | 65 | whether it is im2col::w; no hardware's bits are known, these are ours |
//! | 68 to 70 | rank - 1 |
//! | 71 to 74 | element type |
//! | 75, 76 | interleave |
//! | 77, 78 | swizzle |
//! | 79 | whether elements outside are NaN |
//! | 80 | whether the type is tf32 |
//! | 81, 82 | promotion |
//! | 96 to 223 | strides / 16, their lower 32 bits |
//! | 224 to 239 | strides / 16, 4 further bits of each |
//! | 256 to 415 | dimensions - 1, 32 bits each |
//! | 416 to 430 | steps - 1, 3 bits each |
//! | 440 to 447 | elements of the innermost dimension - 1 |
//! | 448 to 479 | tiled: the other dimensions - 1, 8 bits each; im2col: the corners |
//! | 480 to 489 | im2col: pixels - 1 |
//! | 512 to 543 | bytes of a box |
//! | 576 to 607 | alignment of a box in shared memory |
//!
//! The lower corner is in the first half of its field, the upper one in the second. A corner has one
//! coordinate of 16 bits (always for im2col::w), two of 8 or three of 5.

use crate::map::{Element, Interleave, MAX_RANK, Map, Promotion, Shape, Swizzle};

/// Bytes of a map.
pub const BYTES: usize = 128;

/// 64-bit words of a map.
pub const WORDS: usize = BYTES / 8;

/// The types' codes in the bits, by the driver's numbers.
const CODES: [u64; 13] = [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 7, 8];

/// A field of a map, or the first element of an array of fields. No field crosses a word.
#[derive(Clone, Copy)]
struct Bits {
    /// The first bit.
    at: usize,
    /// The number of bits.
    width: usize,
}

const fn bits(at: usize, width: usize) -> Bits {
    Bits { at, width }
}

const ADDRESS: Bits = bits(0, 64);
const IM2COL: Bits = bits(64, 1);
const IM2COL_W: Bits = bits(65, 1);
const RANK: Bits = bits(68, 3);
const ELEMENT: Bits = bits(71, 4);
const INTERLEAVE: Bits = bits(75, 2);
const SWIZZLE: Bits = bits(77, 2);
const NAN: Bits = bits(79, 1);
const TF32: Bits = bits(80, 1);
const PROMOTION: Bits = bits(81, 2);
const STRIDE: Bits = bits(96, 32);
const STRIDE_HIGH: Bits = bits(224, 4);
const DIM: Bits = bits(256, 32);
const STEP: Bits = bits(416, 3);
const BOX_DIM: Bits = bits(440, 8);
const LOWER_CORNER: usize = 448;
const UPPER_CORNER: usize = 464;
const PIXELS: Bits = bits(480, 10);
const BOX_BYTES: Bits = bits(512, 32);
const BOX_ALIGNMENT: Bits = bits(576, 32);

impl Bits {
    /// Element `n` of an array of fields.
    const fn nth(self, n: usize) -> Bits {
        bits(self.at + n * self.width, self.width)
    }

    const fn mask(self) -> u64 {
        u64::MAX >> (u64::BITS as usize - self.width)
    }
}

fn get(words: &[u64; WORDS], field: Bits) -> u64 {
    words.get(field.at / 64).copied().unwrap_or(0) >> (field.at % 64) & field.mask()
}

fn put(words: &mut [u64; WORDS], field: Bits, value: u64) {
    if let Some(word) = words.get_mut(field.at / 64) {
        let shift = field.at % 64;
        *word = *word & !(field.mask() << shift) | (value & field.mask()) << shift;
    }
}

fn signed(value: u64, bits: usize) -> i32 {
    let unused = 64 - bits;
    ((value << unused) as i64 >> unused) as i32
}

/// Number of bits per coordinate of a corner.
pub(crate) fn corner_bits(rank: usize, wide: bool) -> usize {
    match rank {
        _ if wide => 16,
        ..=3 => 16,
        4 => 8,
        _ => 5,
    }
}

/// Number of coordinates of a corner.
fn corners(rank: usize, wide: bool) -> usize {
    if wide { 1 } else { rank.saturating_sub(2).min(3) }
}

impl Map {
    /// The words of a map, which must have been checked.
    pub fn encode(&self) -> [u64; WORDS] {
        let mut w = [0; WORDS];
        let w = &mut w;
        put(w, ADDRESS, self.address);
        put(w, RANK, self.rank as u64 - 1);
        put(w, ELEMENT, CODES.get(self.element as usize).copied().unwrap_or(0));
        put(w, INTERLEAVE, self.interleave as u64);
        put(w, SWIZZLE, self.swizzle as u64);
        put(w, NAN, u64::from(self.nan));
        put(w, TF32, u64::from(matches!(self.element, Element::Tf32 | Element::Tf32Ftz)));
        put(w, PROMOTION, self.promotion as u64);
        for (d, (&size, &step)) in self.dims.iter().zip(&self.steps).enumerate().take(self.rank) {
            put(w, DIM.nth(d), size.wrapping_sub(1));
            put(w, STEP.nth(d), u64::from(step.wrapping_sub(1)));
        }
        for (d, stride) in self.strides.iter().map(|s| s >> 4).enumerate().take(self.rank.saturating_sub(1)) {
            put(w, STRIDE.nth(d), stride);
            put(w, STRIDE_HIGH.nth(d), stride >> 32);
        }
        put(w, BOX_DIM, u64::from(self.inner().wrapping_sub(1)));
        match self.shape {
            Shape::Tiled(size) => {
                for (d, &n) in size.iter().enumerate().take(self.rank).skip(1) {
                    put(w, BOX_DIM.nth(d), u64::from(n.wrapping_sub(1)));
                }
            }
            Shape::Im2col { lower, upper, pixels, wide, .. } => {
                put(w, IM2COL, 1);
                put(w, IM2COL_W, u64::from(wide));
                let width = corner_bits(self.rank, wide);
                for d in 0..corners(self.rank, wide) {
                    put(w, Bits { at: LOWER_CORNER, width }.nth(d), lower[d] as u64);
                    put(w, Bits { at: UPPER_CORNER, width }.nth(d), upper[d] as u64);
                }
                put(w, PIXELS, u64::from(pixels.wrapping_sub(1)));
            }
        }
        put(w, BOX_BYTES, self.bytes());
        put(w, BOX_ALIGNMENT, if self.swizzle == Swizzle::None { 16 } else { 8 * self.swizzle.span() });
        *w
    }

    /// Decodes a map; `None` if the words are not valid.
    pub fn decode(w: &[u64; WORDS]) -> Option<Map> {
        let rank = get(w, RANK) as usize + 1;
        let (code, tf32) = (get(w, ELEMENT), get(w, TF32) != 0);
        let element = match (code, tf32) {
            (7, true) => Element::Tf32,
            (8, true) => Element::Tf32Ftz,
            _ => Element::of(CODES.iter().position(|&c| c == code)? as u32)?,
        };
        if rank > MAX_RANK {
            return None;
        }
        let mut dims = [1; MAX_RANK];
        let mut steps = [1; MAX_RANK];
        for d in 0..rank {
            dims[d] = get(w, DIM.nth(d)) + 1;
            steps[d] = get(w, STEP.nth(d)) as u32 + 1;
        }
        let mut strides = [0; 4];
        for (d, stride) in strides.iter_mut().enumerate().take(rank - 1) {
            *stride = (get(w, STRIDE.nth(d)) | get(w, STRIDE_HIGH.nth(d)) << 32) << 4;
        }
        let inner = get(w, BOX_DIM) as u32 + 1;
        let shape = if get(w, IM2COL) == 0 {
            let mut size = [1; MAX_RANK];
            for (d, n) in size.iter_mut().enumerate().take(rank) {
                *n = get(w, BOX_DIM.nth(d)) as u32 + 1;
            }
            Shape::Tiled(size)
        } else {
            let wide = get(w, IM2COL_W) != 0;
            let width = corner_bits(rank, wide);
            let corner = |at: usize| {
                let mut all = [0; 3];
                for (d, one) in all.iter_mut().enumerate().take(corners(rank, wide)) {
                    *one = signed(get(w, Bits { at, width }.nth(d)), width);
                }
                all
            };
            Shape::Im2col {
                lower: corner(LOWER_CORNER),
                upper: corner(UPPER_CORNER),
                channels: inner,
                pixels: get(w, PIXELS) as u32 + 1,
                wide,
            }
        };
        Some(Map {
            element,
            rank,
            address: get(w, ADDRESS),
            dims,
            strides,
            steps,
            shape,
            interleave: Interleave::of(get(w, INTERLEAVE) as u32)?,
            swizzle: Swizzle::of(get(w, SWIZZLE) as u32)?,
            promotion: Promotion::of(get(w, PROMOTION) as u32)?,
            nan: get(w, NAN) != 0,
        })
    }
}

/// Replaces the address in a map's words. As on the hardware, the 7 bits above it stay as they are.
pub fn replace_address(words: &mut [u64; WORDS], address: u64) {
    put(words, bits(0, 57), address);
}

/// A field that `tensormap.replace` writes (PTX ISA 9.7.9.28).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The address.
    GlobalAddress,
    /// The rank, less one.
    Rank,
    /// Elements of the box in a dimension.
    BoxDim(u8),
    /// Elements in a dimension.
    GlobalDim(u8),
    /// Bytes from one element to the next in the dimension after this one.
    GlobalStride(u8),
    /// The step in a dimension.
    ElementStride(u8),
    /// The type, in the numbers of the PTX manual.
    ElemType,
    /// The interleaved layout.
    InterleaveLayout,
    /// The swizzle mode.
    SwizzleMode,
    /// The value of elements outside the tensor.
    FillMode,
}

/// The types of `tensormap.replace`, as codes, and whether they are tf32.
const PTX_TYPES: [(u64, u64); 13] =
    [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (8, 0), (9, 0), (10, 0), (7, 1), (8, 1)];

/// Replaces a field.
pub fn replace(w: &mut [u64; WORDS], field: Field, value: u64) {
    match field {
        Field::GlobalAddress => put(w, ADDRESS, value),
        Field::Rank => put(w, RANK, value),
        Field::BoxDim(d) => put(w, BOX_DIM.nth(usize::from(d)), value.wrapping_sub(1)),
        Field::GlobalDim(d) => put(w, DIM.nth(usize::from(d)), value.wrapping_sub(1)),
        Field::GlobalStride(d) => {
            put(w, STRIDE.nth(usize::from(d)), value >> 4);
            put(w, STRIDE_HIGH.nth(usize::from(d)), value >> 36);
        }
        Field::ElementStride(d) => put(w, STEP.nth(usize::from(d)), value.wrapping_sub(1)),
        Field::ElemType => {
            let (code, tf32) = PTX_TYPES.get(value as usize).copied().unwrap_or((value, 0));
            put(w, ELEMENT, code);
            put(w, TF32, tf32);
        }
        Field::InterleaveLayout => put(w, INTERLEAVE, value),
        Field::SwizzleMode => put(w, SWIZZLE, value),
        Field::FillMode => put(w, NAN, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> Map {
        Map {
            element: Element::F32,
            rank: 3,
            address: 0x7f12_3456_7000,
            dims: [64, 40, 24, 1, 1],
            strides: [256, 10240, 0, 0],
            steps: [1; 5],
            shape: Shape::Tiled([32, 8, 4, 1, 1]),
            interleave: Interleave::None,
            swizzle: Swizzle::None,
            promotion: Promotion::None,
            nan: false,
        }
    }

    /// The driver's words for the same map (`encode.tiled.base.3` in `tests/async`).
    #[test]
    fn bits_are_the_hardware_s() {
        let words = map().encode();
        let expected = [
            0x0000_7f12_3456_7000,
            0x0000_0010_0000_03a0,
            0x280,
            0,
            0x0000_0027_0000_003f,
            0x17,
            0x1f00_0000_0000_0000,
            0x307,
            0x1000,
            16,
        ];
        assert_eq!(words[..10], expected);
        assert!(words[10..].iter().all(|&w| w == 0));
        assert_eq!(Map::decode(&words), Some(map()));
    }

    #[test]
    fn pixels_come_back() {
        let shape =
            Shape::Im2col { lower: [-16, 15, -1], upper: [-2, 0, 7], channels: 8, pixels: 1024, wide: false };
        let image = Map {
            element: Element::Tf32,
            rank: 5,
            dims: [1 << 32, 2, 3, 4, 5],
            strides: [16, 32, 48, (1 << 40) - 16],
            steps: [1, 2, 3, 8, 1],
            shape,
            swizzle: Swizzle::Bytes128,
            promotion: Promotion::Bytes256,
            nan: true,
            ..map()
        };
        assert_eq!(Map::decode(&image.encode()), Some(image));
        let shape = Shape::Im2col {
            lower: [-32768, 0, 0],
            upper: [32767, 0, 0],
            channels: 64,
            pixels: 5,
            wide: true,
        };
        let rows = Map { shape, ..image };
        assert_eq!(Map::decode(&rows.encode()), Some(rows));
    }

    #[test]
    fn fields_are_replaced() {
        let mut words = map().encode();
        for (field, value) in [
            (Field::GlobalAddress, 0x1000),
            (Field::Rank, 3),
            (Field::BoxDim(3), 2),
            (Field::GlobalDim(3), 12),
            (Field::GlobalStride(2), 1 << 36),
            (Field::ElementStride(1), 8),
            (Field::ElemType, 9),
            (Field::SwizzleMode, 2),
            (Field::FillMode, 1),
        ] {
            replace(&mut words, field, value);
        }
        let expected = Map {
            element: Element::F64,
            rank: 4,
            address: 0x1000,
            dims: [64, 40, 24, 12, 1],
            strides: [256, 10240, 1 << 36, 0],
            steps: [1, 8, 1, 1, 1],
            shape: Shape::Tiled([32, 8, 4, 2, 1]),
            swizzle: Swizzle::Bytes64,
            nan: true,
            ..map()
        };
        assert_eq!(Map::decode(&words), Some(expected));
    }
}
