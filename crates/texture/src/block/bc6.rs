//! BC6: three f16 channels, in fourteen modes with one or two pairs of colours.

use super::{bits, index, partition, weight};

/// The block layout of a mode.
struct Mode {
    /// The mode's number in the block: two bits if below 2, otherwise five.
    number: u32,
    /// Whether all endpoints but the first are differences from it.
    transformed: bool,
    /// Whether there are two pairs of colours.
    two: bool,
    /// Number of bits of an endpoint.
    bits: u32,
    /// Number of bits of a difference, per channel.
    deltas: [u32; 3],
    /// The fields after the mode number, in hexadecimal digits: endpoint × 3 + channel, lowest bit, number of
    /// bits.
    fields: &'static [u16],
}

static MODES: [Mode; 14] = [
    Mode {
        number: 0,
        transformed: true,
        two: true,
        bits: 10,
        deltas: [5, 5, 5],
        fields: &[
            0x741, 0x841, 0xb41, 0x00a, 0x10a, 0x20a, 0x305, 0xa41, 0x704, 0x405, 0xb01, 0xa04, 0x505, 0xb11,
            0x804, 0x605, 0xb21, 0x905, 0xb31,
        ],
    },
    Mode {
        number: 1,
        transformed: true,
        two: true,
        bits: 7,
        deltas: [6, 6, 6],
        fields: &[
            0x751, 0xa41, 0xa51, 0x007, 0xb01, 0xb11, 0x841, 0x107, 0x851, 0xb21, 0x741, 0x207, 0xb31, 0xb51,
            0xb41, 0x306, 0x704, 0x406, 0xa04, 0x506, 0x804, 0x606, 0x906,
        ],
    },
    Mode {
        number: 2,
        transformed: true,
        two: true,
        bits: 11,
        deltas: [5, 4, 4],
        fields: &[
            0x00a, 0x10a, 0x20a, 0x305, 0x0a1, 0x704, 0x404, 0x1a1, 0xb01, 0xa04, 0x504, 0x2a1, 0xb11, 0x804,
            0x605, 0xb21, 0x905, 0xb31,
        ],
    },
    Mode {
        number: 3,
        transformed: false,
        two: false,
        bits: 10,
        deltas: [10, 10, 10],
        fields: &[0x00a, 0x10a, 0x20a, 0x30a, 0x40a, 0x50a],
    },
    Mode {
        number: 6,
        transformed: true,
        two: true,
        bits: 11,
        deltas: [4, 5, 4],
        fields: &[
            0x00a, 0x10a, 0x20a, 0x304, 0x0a1, 0xa41, 0x704, 0x405, 0x1a1, 0xa04, 0x504, 0x2a1, 0xb11, 0x804,
            0x604, 0xb01, 0xb21, 0x904, 0x741, 0xb31,
        ],
    },
    Mode {
        number: 7,
        transformed: true,
        two: false,
        bits: 11,
        deltas: [9, 9, 9],
        fields: &[0x00a, 0x10a, 0x20a, 0x309, 0x0a1, 0x409, 0x1a1, 0x509, 0x2a1],
    },
    Mode {
        number: 10,
        transformed: true,
        two: true,
        bits: 11,
        deltas: [4, 4, 5],
        fields: &[
            0x00a, 0x10a, 0x20a, 0x304, 0x0a1, 0x841, 0x704, 0x404, 0x1a1, 0xb01, 0xa04, 0x505, 0x2a1, 0x804,
            0x604, 0xb11, 0xb21, 0x904, 0xb41, 0xb31,
        ],
    },
    Mode {
        number: 11,
        transformed: true,
        two: false,
        bits: 12,
        deltas: [8, 8, 8],
        fields: &[0x00a, 0x10a, 0x20a, 0x308, 0x0b1, 0x0a1, 0x408, 0x1b1, 0x1a1, 0x508, 0x2b1, 0x2a1],
    },
    Mode {
        number: 14,
        transformed: true,
        two: true,
        bits: 9,
        deltas: [5, 5, 5],
        fields: &[
            0x009, 0x841, 0x109, 0x741, 0x209, 0xb41, 0x305, 0xa41, 0x704, 0x405, 0xb01, 0xa04, 0x505, 0xb11,
            0x804, 0x605, 0xb21, 0x905, 0xb31,
        ],
    },
    Mode {
        number: 15,
        transformed: true,
        two: false,
        bits: 16,
        deltas: [4, 4, 4],
        fields: &[
            0x00a, 0x10a, 0x20a, 0x304, 0x0f1, 0x0e1, 0x0d1, 0x0c1, 0x0b1, 0x0a1, 0x404, 0x1f1, 0x1e1, 0x1d1,
            0x1c1, 0x1b1, 0x1a1, 0x504, 0x2f1, 0x2e1, 0x2d1, 0x2c1, 0x2b1, 0x2a1,
        ],
    },
    Mode {
        number: 18,
        transformed: true,
        two: true,
        bits: 8,
        deltas: [6, 5, 5],
        fields: &[
            0x008, 0xa41, 0x841, 0x108, 0xb21, 0x741, 0x208, 0xb31, 0xb41, 0x306, 0x704, 0x405, 0xb01, 0xa04,
            0x505, 0xb11, 0x804, 0x606, 0x906,
        ],
    },
    Mode {
        number: 22,
        transformed: true,
        two: true,
        bits: 8,
        deltas: [5, 6, 5],
        fields: &[
            0x008, 0xb01, 0x841, 0x108, 0x751, 0x741, 0x208, 0xa51, 0xb41, 0x305, 0xa41, 0x704, 0x406, 0xa04,
            0x505, 0xb11, 0x804, 0x605, 0xb21, 0x905, 0xb31,
        ],
    },
    Mode {
        number: 26,
        transformed: true,
        two: true,
        bits: 8,
        deltas: [5, 5, 6],
        fields: &[
            0x008, 0xb11, 0x841, 0x108, 0x851, 0x741, 0x208, 0xb51, 0xb41, 0x305, 0xa41, 0x704, 0x405, 0xb01,
            0xa04, 0x506, 0x804, 0x605, 0xb21, 0x905, 0xb31,
        ],
    },
    Mode {
        number: 30,
        transformed: false,
        two: true,
        bits: 6,
        deltas: [6, 6, 6],
        fields: &[
            0x006, 0xa41, 0xb01, 0xb11, 0x841, 0x106, 0x751, 0x851, 0xb21, 0x741, 0x206, 0xa51, 0xb31, 0xb51,
            0xb41, 0x306, 0x704, 0x406, 0xa04, 0x506, 0x804, 0x606, 0x906,
        ],
    },
];

/// Sign-extends a number of `count` bits.
fn extended(value: u32, count: u32) -> i32 {
    (value << (32 - count)) as i32 >> (32 - count)
}

/// Scales an endpoint to the whole range of 16 bits.
fn unquantized(value: i32, count: u32, signed: bool) -> i32 {
    if !signed {
        return match value {
            _ if count >= 15 => value,
            0 => 0,
            v if v == (1 << count) - 1 => 0xffff,
            v => ((v << 15) + 0x4000) >> (count - 1),
        };
    }
    if count >= 16 {
        return value;
    }
    let size = match value.abs() {
        0 => 0,
        v if v >= (1 << (count - 1)) - 1 => 0x7fff,
        v => ((v << 15) + 0x4000) >> (count - 1),
    };
    size * value.signum()
}

/// A texel: three f16. Blocks without a valid mode are 0.
pub fn texel(block: u128, texel: u32, signed: bool) -> [u32; 4] {
    let short = bits(block, 0, 2);
    let (number, mut at) = if short < 2 { (short, 2) } else { (bits(block, 0, 5), 5) };
    let Some(m) = MODES.iter().find(|m| m.number == number) else { return [0; 4] };
    let mut ends = [0u32; 12];
    for &field in m.fields {
        let (to, low, count) = (usize::from(field >> 8), field >> 4 & 15, u32::from(field & 15));
        ends[to] |= bits(block, at, count) << low;
        at += count;
    }
    let subsets = 1 + u32::from(m.two);
    let shape = if m.two { bits(block, at, 5) } else { 0 };
    let (subset, anchors) = partition::of(subsets, shape, texel);
    let (first, count) = if m.two { (82, 3) } else { (65, 4) };
    let w = weight(index(block, first, count, texel, &anchors[..subsets as usize]), count);
    let whole = (1u32 << m.bits) - 1;
    let mixed = |channel: usize| {
        let end = |number: usize| {
            let raw = ends[number * 3 + channel];
            let value = if m.transformed && number != 0 {
                ends[channel].wrapping_add(extended(raw, m.deltas[channel]) as u32) & whole
            } else {
                raw
            };
            unquantized(if signed { extended(value, m.bits) } else { value as i32 }, m.bits, signed)
        };
        let pair = 2 * subset as usize;
        let value = ((64 - w) * end(pair) + w * end(pair + 1) + 32) >> 6;
        // Convert to f16; infinity is never reached.
        match signed {
            false => ((value * 31) >> 6) as u32,
            true if value < 0 => 0x8000 | ((-value * 31) >> 5) as u32,
            true => ((value * 31) >> 5) as u32,
        }
    };
    [mixed(0), mixed(1), mixed(2), 0]
}
