//! The inputs of the matrix forms: a function of type, operand, register and thread.
//! `tests/hw/matrix/fragments.h` is the same in C.

use crate::splitmix;

/// The contents of an input's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FragmentType {
    /// Floats.
    Float {
        /// Bits of an element.
        bits: u32,
        /// Bits of its exponent.
        exponent: u32,
        /// Bits of its fraction.
        mantissa: u32,
    },
    /// Any 32 bits.
    Raw,
    /// Integers of four or eight bits, or single bits.
    Int,
    /// 32-bit accumulators.
    S32,
    /// Sparsity metadata that selects two of four.
    Two4,
    /// Sparsity metadata that selects one of two.
    One2,
}

impl FragmentType {
    /// The type with this name in the table.
    pub fn from_name(name: &str) -> Option<FragmentType> {
        let float = |bits, exponent, mantissa| FragmentType::Float { bits, exponent, mantissa };
        Some(match name {
            "f16" => float(16, 5, 10),
            "bf16" => float(16, 8, 7),
            "tf32" | "f32" => float(32, 8, 23),
            "f64" => float(64, 11, 52),
            "e4m3" => float(8, 4, 3),
            "e5m2" => float(8, 5, 2),
            "e3m2" => float(8, 3, 2),
            "e2m3" => float(8, 2, 3),
            "e2m1" => float(4, 2, 1),
            "raw" => FragmentType::Raw,
            "int" => FragmentType::Int,
            "s32" => FragmentType::S32,
            "two4" => FragmentType::Two4,
            "one2" => FragmentType::One2,
            _ => return None,
        })
    }

    /// Bytes of a register.
    pub fn bytes(self) -> usize {
        if matches!(self, FragmentType::Float { bits: 64, .. }) { 8 } else { 4 }
    }

    /// The contents of a thread's register.
    pub fn register(self, operand: u64, register: u64, thread: u64) -> u64 {
        let mode = (thread / 32) % 8;
        let first = ((thread * 8 + operand) * 128 + register) * 32;
        if let FragmentType::Float { bits, exponent, mantissa } = self {
            let elements = (32 / bits).max(1);
            return (0..elements).fold(0, |value, e| {
                let n = first + u64::from(e);
                let (u, v) = (splitmix(2 * n), splitmix(2 * n + 1));
                let element = float((exponent, mantissa), mode, operand == 2, u, v);
                value | element << (e * bits)
            });
        }
        let (u, v) = (splitmix(2 * first), splitmix(2 * first + 1));
        let low = v & 0xffff_ffff;
        let nibbles =
            |of: &dyn Fn(u64) -> u64| (0..8).fold(0, |value, i| value | of(v >> (8 * i) & 255) << (4 * i));
        match self {
            FragmentType::Int => match mode {
                3 => [0x7f7f_7f7f, 0x8080_8080, 0xffff_ffff, 0, 0x7777_7777, 0x8888_8888][(u % 6) as usize],
                4 => v & 0x0303_0303,
                _ => low,
            },
            FragmentType::S32 => match mode {
                0 => v & 0xffff,
                1 | 2 => low,
                _ if u & 1 == 1 => 0x7fff_ffff - (v & 0xffff),
                _ => 0x8000_0000 + (v & 0xffff),
            },
            FragmentType::Two4 => nibbles(&|four| [4, 8, 9, 12, 13, 14][(four % 6) as usize]),
            FragmentType::One2 => nibbles(&|four| if four & 1 == 1 { 4 } else { 14 }),
            _ => low,
        }
    }
}

/// A float of a fragment; `sum` if it belongs to an accumulator.
fn float((ebits, mbits): (u32, u32), mode: u64, sum: bool, u: u64, v: u64) -> u64 {
    let (top, ones) = ((1u64 << ebits) - 1, (1u64 << mbits) - 1);
    let bias = top >> 1;
    let (sign, kind) = ((v >> 63) << (ebits + mbits), u >> 40);
    let half = if sum && bias > 100 { 32 } else { (bias - 1).min(16) };
    let wide = bias - half + u % (2 * half + 1);
    let mut mantissa = v & ones;
    let exponent = match mode {
        0 if bias < 3 => u % top,
        0 => bias - 3 + u % if sum { 9 } else { 7 },
        1 => wide,
        2 => u % top,
        3 => {
            if kind % 64 == 0 {
                let edges = [
                    0,
                    bias << mbits,
                    top << mbits,
                    top << mbits | 1 << (mbits - 1),
                    top << mbits | 1,
                    1,
                    ones,
                    1 << mbits,
                    (top - 1) << mbits | ones,
                    top << mbits | ones,
                ];
                return sign | edges[(kind / 64 % 10) as usize];
            }
            wide
        }
        4 => {
            if kind % 4 == 0 {
                return sign;
            }
            mantissa = 0;
            bias + u % 3
        }
        5 if !sum => bias,
        5 if bias > 100 => bias - 28 + u % 57,
        5 => wide,
        6 if sum && bias > 100 && kind % 2 == 1 => bias - 50 + u % 40,
        6 => u % 4,
        _ => {
            if kind % 4 != 0 {
                return sign;
            }
            wide
        }
    };
    sign | exponent.min(top - 1) << mbits | mantissa
}
