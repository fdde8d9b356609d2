//! BC4 and BC5: two values of a channel and those interpolated between them, in 16 bits.
//!
//! The specification leaves the rounding of interpolated values open. The hardware uses 36/257 for a seventh
//! of the difference and 48/257 for a fifth.

/// A channel of a texel, in units of 1/65535, or of 1/32767 if signed.
pub fn channel(word: u64, index: u32, signed: bool) -> u32 {
    let value = |byte: u64| {
        let byte = byte as u8;
        if signed { i32::from((byte as i8).max(-127)) } else { i32::from(byte) }
    };
    let (a, b) = (value(word), value(word >> 8));
    let widened = |v: i32| {
        if signed { ((v.abs() * 16513) >> 6) * v.signum() } else { v << 8 | v }
    };
    let d = b - a;
    let result = match ((word >> (16 + 3 * index)) as u32 & 7, a > b) {
        (0, _) => widened(a),
        (1, _) => widened(b),
        (2, true) => widened(a) + 36 * d,
        (3, true) => widened(a) + 72 * d,
        (4, true) => widened(b) - 144 * d,
        (5, true) => widened(a) + 144 * d,
        (6, true) => widened(b) - 72 * d,
        (_, true) => widened(b) - 36 * d,
        (2, false) => widened(a) + 48 * d,
        (3, false) => widened(a) + 96 * d,
        (4, false) => widened(b) - 96 * d,
        (5, false) => widened(b) - 48 * d,
        (6, false) => {
            if signed {
                -32767
            } else {
                0
            }
        }
        (_, false) => {
            if signed {
                32767
            } else {
                65535
            }
        }
    };
    result as u32
}
