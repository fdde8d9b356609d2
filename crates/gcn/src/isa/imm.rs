//! Immediates and constants as LLVM's assembler writes them.

use std::fmt::{Result, Write};

use super::inst::Type;

/// `1.0` for the bits of 1.0 and so on, in a format; `None` for other numbers.
fn float(bits: u64, table: [u64; 9], inverse: &'static str) -> Option<&'static str> {
    const NAMES: [&str; 8] = ["0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0"];
    let at = table.iter().position(|b| *b == bits)?;
    Some(NAMES.get(at).copied().unwrap_or(inverse))
}

const F16: [u64; 9] = [0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118];
const BF16: [u64; 9] = [0x3f00, 0xbf00, 0x3f80, 0xbf80, 0x4000, 0xc000, 0x4080, 0xc080, 0x3e22];
const F32: [u64; 9] = [
    0x3f00_0000,
    0xbf00_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x4000_0000,
    0xc000_0000,
    0x4080_0000,
    0xc080_0000,
    0x3e22_f983,
];
const F64: [u64; 9] = [
    0x3fe0_0000_0000_0000,
    0xbfe0_0000_0000_0000,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x4000_0000_0000_0000,
    0xc000_0000_0000_0000,
    0x4010_0000_0000_0000,
    0xc010_0000_0000_0000,
    0x3fc4_5f30_6dc9_c882,
];

/// 1/2π with the digits that floats of 32 and of 64 bits have.
const INVERSE_32: &str = "0.15915494";
const INVERSE_64: &str = "0.15915494309189532";

/// The bits of an inline float in a type, by its index: 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1/2π (AMD's
/// instruction set documents, "Scalar Operands"). Types that are no floats have those of 32 bits, or of 64.
#[must_use]
pub fn inline_bits(index: u8, ty: Type) -> u64 {
    let table = match ty {
        Type::F16 | Type::V2F16 | Type::I16 => F16,
        Type::Bf16 | Type::V2Bf16 => BF16,
        Type::I64 | Type::F64 => F64,
        _ => F32,
    };
    table.get(usize::from(index)).copied().unwrap_or(0)
}

fn small(value: i64) -> bool {
    (-16..=64).contains(&value)
}

/// A constant of 32 bits.
pub fn word(out: &mut String, bits: u32) -> Result {
    match float(bits.into(), F32, INVERSE_32) {
        _ if small(i64::from(bits as i32)) => write!(out, "{}", bits as i32),
        Some(name) => out.write_str(name),
        None => write!(out, "{bits:#x}"),
    }
}

/// A literal, which the type says how to read.
pub fn literal(out: &mut String, bits: u32, ty: Type) -> Result {
    let (whole, half) = (i64::from(bits as i32), i64::from(bits as i16));
    let (name, integer, shown) = match ty {
        Type::I16 => (float(bits.into(), F32, INVERSE_32), whole, bits & 0xffff),
        Type::F16 => (float((bits & 0xffff).into(), F16, INVERSE_32), half, bits & 0xffff),
        Type::Bf16 => (float((bits & 0xffff).into(), BF16, INVERSE_32), half, bits),
        Type::V2F16 => (float(bits.into(), F16, INVERSE_32), whole, bits),
        Type::V2Bf16 => (float(bits.into(), BF16, INVERSE_32), whole, bits),
        Type::F64 => {
            let wide = u64::from(bits) << 32;
            (float(wide, F64, INVERSE_64), wide as i64, bits)
        }
        Type::I64 => (None, i64::from(bits), bits),
        _ => return word(out, bits),
    };
    match name {
        _ if small(integer) => write!(out, "{integer}"),
        Some(name) => out.write_str(name),
        None => write!(out, "{shown:#x}"),
    }
}

/// An inline float: its name, or its bits where the type is an integer that does not take floats.
pub fn inline(out: &mut String, index: u8, ty: Type) -> Result {
    let bits = inline_bits(index, ty);
    let name = match ty {
        Type::I16 => None,
        Type::F16 | Type::V2F16 => float(bits, F16, INVERSE_32),
        Type::Bf16 | Type::V2Bf16 => float(bits, BF16, INVERSE_32),
        Type::I64 | Type::F64 => float(bits, F64, INVERSE_64),
        _ => float(bits, F32, INVERSE_32),
    };
    match name {
        Some(name) => out.write_str(name),
        None => write!(out, "{bits:#x}"),
    }
}
