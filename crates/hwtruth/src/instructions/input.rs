//! The inputs of the forms: a function of type, operand and index. `tests/hw/inputs.h` is the same in C.

use crate::splitmix;

/// A type of input: the set of values, and the size of the register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputType {
    /// An integer of 16 bits.
    I16,
    /// An integer of 32 bits.
    I32,
    /// An integer of 64 bits.
    I64,
    /// A shift count or a bit position, in 32 bits.
    Shift,
    /// 0 or 1, in 32 bits.
    Bool,
    /// `.f16`
    F16,
    /// `.bf16`
    BF16,
    /// `.f32`
    F32,
    /// `.f64`
    F64,
    /// A pair of `.f16`.
    F16x2,
    /// A pair of `.bf16`.
    BF16x2,
}

/// The structure of a type's values.
struct Shape {
    edges: &'static [u64],
    /// Bits of an element; 0 for a shift count.
    bits: u32,
    /// Bits of exponent and mantissa; `None` for an integer.
    float: Option<Float>,
    /// Elements per value.
    packed: u32,
}

struct Float {
    exponent: u32,
    mantissa: u32,
    bias: u64,
    /// Number of exponents around that of 1.0 that are used.
    span: u64,
}

const HALF: Option<Float> = Some(Float { exponent: 5, mantissa: 10, bias: 15, span: 16 });
const BRAIN: Option<Float> = Some(Float { exponent: 8, mantissa: 7, bias: 127, span: 48 });
const SINGLE: Option<Float> = Some(Float { exponent: 8, mantissa: 23, bias: 127, span: 48 });
const DOUBLE: Option<Float> = Some(Float { exponent: 11, mantissa: 52, bias: 1023, span: 48 });

impl InputType {
    /// The type with this name in `forms.tsv`.
    pub fn from_name(name: &str) -> Option<InputType> {
        Some(match name {
            "i16" => InputType::I16,
            "i32" => InputType::I32,
            "i64" => InputType::I64,
            "sh" => InputType::Shift,
            "p" => InputType::Bool,
            "f16" => InputType::F16,
            "bf16" => InputType::BF16,
            "f32" => InputType::F32,
            "f64" => InputType::F64,
            "f16x2" => InputType::F16x2,
            "bf16x2" => InputType::BF16x2,
            _ => return None,
        })
    }

    /// The size of the register in bits.
    pub fn bits(self) -> u32 {
        match self {
            InputType::I16 | InputType::F16 | InputType::BF16 => 16,
            InputType::I64 | InputType::F64 => 64,
            _ => 32,
        }
    }

    fn shape(self) -> Shape {
        let (edges, bits, float, packed) = match self {
            InputType::I16 => (I16, 16, None, 1),
            InputType::I32 => (I32, 32, None, 1),
            InputType::I64 => (I64, 64, None, 1),
            InputType::Shift => (SH, 0, None, 1),
            InputType::Bool => (BOOL, 1, None, 1),
            InputType::F16 => (F16, 16, HALF, 1),
            InputType::BF16 => (BF16, 16, BRAIN, 1),
            InputType::F32 => (F32, 32, SINGLE, 1),
            InputType::F64 => (F64, 64, DOUBLE, 1),
            InputType::F16x2 => (F16, 16, HALF, 2),
            InputType::BF16x2 => (BF16, 16, BRAIN, 2),
        };
        Shape { edges, bits, float, packed }
    }
}

fn word(index: u64, operand: u64) -> u64 {
    splitmix(index * 4 + operand)
}

fn pick(table: &[u64], at: u64) -> u64 {
    table[(at % table.len() as u64) as usize]
}

/// An element made from two random words.
fn random(shape: &Shape, w: u64, v: u64) -> u64 {
    let kind = w & 7;
    if kind <= 1 {
        return pick(shape.edges, v);
    }
    if shape.bits == 0 {
        return v % 72;
    }
    let mask = u64::MAX >> (64 - shape.bits);
    let mut value = v & mask;
    match &shape.float {
        None => {
            if kind == 2 || kind == 3 {
                value >>= (w >> 8) % u64::from(shape.bits);
            }
            if kind == 3 { value.wrapping_neg() & mask } else { value }
        }
        Some(_) if kind == 2 => value,
        Some(f) => {
            let exponent = if kind == 3 { (w >> 8) % 4 } else { f.bias - f.span / 2 + (w >> 8) % f.span };
            let keep = mask & !(((1 << f.exponent) - 1) << f.mantissa);
            value & keep | exponent << f.mantissa
        }
    }
}

/// Input `index` of operand `operand`, of type `own`, for a form whose inputs have the types `all`.
pub(super) fn value(all: &[InputType], own: InputType, operand: u64, index: u64) -> u64 {
    let length = |k: usize| all.get(k).map_or(1, |t| t.shape().edges.len() as u64);
    let (first, cross) = (length(0), length(0) * length(1));
    let shape = own.shape();
    let mut result = 0;
    for part in 0..u64::from(shape.packed) {
        let at = index + 8192 * part;
        let (w, v) = (word(at, operand), word(at + 4096, operand));
        let element = if index < cross {
            let edge = match operand {
                0 => index % first,
                1 => index / first,
                _ => v,
            };
            pick(shape.edges, edge.wrapping_add(7 * part))
        } else {
            random(&shape, w, v)
        };
        result |= element << (part * u64::from(shape.bits));
    }
    result
}

const I16: &[u64] = &[
    0, 1, 2, 3, 7, 8, 15, 16, 0x7f, 0x80, 0xff, 0x100, 0x5555, 0xaaaa, 0x7ffe, 0x7fff, 0x8000, 0x8001,
    0xfffe, 0xffff,
];
const I32: &[u64] = &[
    0,
    1,
    2,
    3,
    8,
    31,
    32,
    33,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x0001_0000,
    0x00ff_ffff,
    0x5555_5555,
    0xaaaa_aaaa,
    0x7fff_fffe,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_fffe,
    0xffff_ffff,
];
const I64: &[u64] = &[
    0,
    1,
    2,
    3,
    32,
    63,
    64,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x0001_0000_0000,
    0x0001_0000_0001,
    0x5555_5555_5555_5555,
    0xaaaa_aaaa_aaaa_aaaa,
    0x7fff_ffff_ffff_fffe,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0x8000_0000_0000_0001,
    0xffff_ffff_0000_0000,
    0xffff_ffff_8000_0000,
    0xffff_ffff_ffff_fffe,
    0xffff_ffff_ffff_ffff,
];
const SH: &[u64] = &[
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    15,
    16,
    17,
    24,
    30,
    31,
    32,
    33,
    48,
    63,
    64,
    65,
    0x7f,
    0xff,
    0x100,
    0x8000_0000,
    0xffff_ffff,
];
const F16: &[u64] = &[
    0, 0x8000, 0x3c00, 0xbc00, 0x3800, 0x3e00, 0x4000, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7d01, 1, 0x8001,
    0x3ff, 0x400, 0x8400, 0x7bff, 0xfbff, 0x3bff, 0x3c01, 0x4100, 0x5c00, 0x6400,
];
const BF16: &[u64] = &[
    0, 0x8000, 0x3f80, 0xbf80, 0x3f00, 0x3fc0, 0x4000, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81, 1, 0x8001,
    0x7f, 0x80, 0x8080, 0x7f7f, 0xff7f, 0x3f7f, 0x3f81, 0x4020, 0x4380, 0x4f00,
];
const F32: &[u64] = &[
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3f00_0000,
    0x3fc0_0000,
    0x4000_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffc0_0001,
    0x7fa0_0001,
    1,
    0x8000_0001,
    0x007f_ffff,
    0x0080_0000,
    0x8080_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x3f7f_ffff,
    0x4020_0000,
    0x4b00_0001,
    0x4f00_0000,
    0xcf00_0000,
];
const F64: &[u64] = &[
    0,
    0x8000_0000_0000_0000,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x3fe0_0000_0000_0000,
    0x3ff8_0000_0000_0000,
    0x4000_0000_0000_0000,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0xfff8_0000_0000_0001,
    0x7ff4_0000_0000_0001,
    1,
    0x8000_0000_0000_0001,
    0x000f_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0xffef_ffff_ffff_ffff,
    0x3fef_ffff_ffff_ffff,
    0x4004_0000_0000_0000,
    0x4330_0000_0000_0001,
    0x41e0_0000_0000_0000,
    0x43e0_0000_0000_0000,
    0x36a0_0000_0000_0000,
];
const BOOL: &[u64] = &[0, 1];
