//! Scale factors of blocks along `k` in sm_120's products (PTX ISA 9.7.14.3). They follow the manual: no such
//! hardware was available for recordings.

use crate::LANES;
use crate::format::{Float, Format};
use crate::mma::{Kind, Mma};

/// Number of fraction bits of a scale factor.
pub fn fraction(x: &Mma) -> i32 {
    if x.kind == Kind::Nvf4 { 3 } else { 0 }
}

/// A scale factor.
#[derive(Clone, Copy, Debug)]
pub struct Factor(Float);

impl Factor {
    fn of(x: &Mma, byte: u8) -> Factor {
        Factor(match x.kind {
            // ue4m3 has no sign.
            Kind::Nvf4 => Format::E4M3.float(u64::from(byte & 0x7f)),
            _ if byte == 0xff => Float::Nan,
            _ => Float::Number { negative: false, exponent: i32::from(byte) - 127, significand: 1 },
        })
    }

    /// An element times the scale factor; the product has the fraction bits of both.
    pub fn times(self, v: Float) -> Float {
        match (self.0, v) {
            (
                Float::Number { exponent: e, significand: s, .. },
                Float::Number { negative, exponent, significand },
            ) => Float::Number { negative, exponent: exponent + e, significand: significand * s },
            (Float::Nan, _) => Float::Nan,
            (_, other) => other,
        }
    }
}

/// The scale factor of an operand (`number` 0 for `a`, 1 for `b`) in a group of four lanes, from lane `own`
/// on, for column `k`.
fn factor(x: &Mma, factors: &[u32], number: usize, group: usize, own: usize, k: usize) -> Factor {
    let (blocks, length) = (x.kind.factors().max(1), usize::from(x.k));
    let ids = factors.get(2 * LANES).copied().unwrap_or(0) >> (8 * number);
    let (byte, lane) = ((ids & 3) as usize, (ids >> 2 & 3) as usize);
    let lane = group * 4 + (if number == 0 { 2 * (lane & 1) + own } else { lane });
    let word = factors.get(number * LANES + lane % LANES).copied().unwrap_or(0);
    let at = byte + (k * blocks / length.max(1)).min(blocks - 1);
    Factor::of(x, word.to_le_bytes()[at % 4])
}

/// The scale factor of an element of `a`. Of a group's rows, the upper eight use the next lane.
pub fn of_a(x: &Mma, factors: &[u32], row: usize, k: usize) -> Factor {
    factor(x, factors, 0, row % 8, row / 8, k)
}

/// The scale factor of an element of `b`.
pub fn of_b(x: &Mma, factors: &[u32], column: usize, k: usize) -> Factor {
    factor(x, factors, 1, column, 0, k)
}
