//! The positions of matrix elements in fragments: lane, register, and part of the register (PTX ISA
//! 9.7.14.5).
//!
//! A position is a lane and the index of an element in it, counted over the lane's registers. Elements that
//! share a 32-bit register fill it from the low end.

use crate::LANES;
use crate::format::Format;
use crate::mma::Mma;

/// Number of elements of a format per register.
pub fn per_register(format: Format) -> usize {
    (32 / format.bits()).max(1) as usize
}

/// The row and column of a lane's element of `a`, or of `b` transposed. Each group of four lanes has one of
/// eight rows; columns follow the lane's number in the group, then the register.
fn row_and_k(rows: usize, format: Format, lane: usize, element: usize) -> (usize, usize) {
    let (group, own) = (lane / 4, lane % 4);
    let e = per_register(format);
    let (register, part) = (element / e, element % e);
    let halves = rows / 8;
    (group + 8 * (register % halves), own * e + part + 4 * e * (register / halves))
}

/// The row and the column of a stored element of `a`.
pub fn a(x: &Mma, lane: usize, element: usize) -> (usize, usize) {
    if x.is_quad() {
        let upper = 4 * (lane / 16);
        return match x.a_by_column {
            false => (lane % 4 + upper, element),
            true => (element + upper, lane % 4),
        };
    }
    row_and_k(usize::from(x.m), x.held(x.a), lane, element)
}

/// The row (along `k`) and the column of `b`'s element.
pub fn b(x: &Mma, lane: usize, element: usize) -> (usize, usize) {
    if x.is_quad() {
        let upper = 4 * (lane / 16);
        return match x.b_by_row {
            false => (element, lane % 4 + upper),
            true => (lane % 4, element + upper),
        };
    }
    let (column, k) = row_and_k(8, x.held(x.b), lane, element);
    (k, column)
}

/// The row and the column of an element of `c` or `d` in this format.
pub fn c(x: &Mma, format: Format, lane: usize, element: usize) -> (usize, usize) {
    if x.is_quad() {
        let upper = 4 * (lane / 16);
        return match format {
            Format::F32 => ((lane & 1) + (element & 2) + upper, (element & 4) + (lane & 2) + (element & 1)),
            _ => (lane % 4 + upper, element),
        };
    }
    let (group, own) = (lane / 4, lane % 4);
    let halves = usize::from(x.m / 8);
    let (pair, part) = (element / 2, element % 2);
    (group + 8 * (pair % halves), own * 2 + part + 8 * (pair / halves))
}

/// The index of the product that a lane's registers belong to, for instructions that compute several at once.
pub fn quad(x: &Mma, lane: usize) -> usize {
    if x.is_quad() { lane / 4 % 4 } else { 0 }
}

/// Reads an element of a lane from the registers of an operand, `[register][lane]`.
pub fn get(registers: &[u32], format: Format, lane: usize, element: usize) -> u64 {
    let word = |at: usize| u64::from(registers.get(at).copied().unwrap_or(0));
    match format.bits() {
        64 => {
            let at = (element * LANES + lane) * 2;
            word(at) | word(at + 1) << 32
        }
        bits => {
            let e = (32 / bits) as usize;
            let v = word(element / e * LANES + lane) >> (element % e * bits as usize);
            v & ((1 << bits) - 1)
        }
    }
}

/// Writes an element to registers whose bits there are zero.
pub fn put(registers: &mut [u32], format: Format, lane: usize, element: usize, value: u64) {
    let mut or = |at: usize, v: u32| {
        if let Some(r) = registers.get_mut(at) {
            *r |= v;
        }
    };
    match format.bits() {
        64 => {
            let at = (element * LANES + lane) * 2;
            or(at, value as u32);
            or(at + 1, (value >> 32) as u32);
        }
        bits => {
            let e = (32 / bits) as usize;
            or(element / e * LANES + lane, (value as u32) << (element % e * bits as usize));
        }
    }
}
