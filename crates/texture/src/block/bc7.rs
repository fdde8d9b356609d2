//! BC7: eight modes with one to three pairs of colours.

use super::{bits, index, partition, weight};

/// The block layout of a mode: bits per field, in block order (the specification's table of modes).
struct Mode {
    /// Number of pairs of colours.
    subsets: u32,
    partition: u32,
    rotation: u32,
    /// Bits that select which of two indices is the colour's.
    selector: u32,
    colour: u32,
    alpha: u32,
    /// A lowest bit for each endpoint.
    own_low: u32,
    /// A lowest bit shared by both endpoints of a pair.
    shared_low: u32,
    index: u32,
    second: u32,
}

const fn mode(n: [u32; 10]) -> Mode {
    let [subsets, partition, rotation, selector, colour, alpha, own_low, shared_low, index, second] = n;
    Mode { subsets, partition, rotation, selector, colour, alpha, own_low, shared_low, index, second }
}

static MODES: [Mode; 8] = [
    mode([3, 4, 0, 0, 4, 0, 1, 0, 3, 0]),
    mode([2, 6, 0, 0, 6, 0, 0, 1, 3, 0]),
    mode([3, 6, 0, 0, 5, 0, 0, 0, 2, 0]),
    mode([2, 6, 0, 0, 7, 0, 1, 0, 2, 0]),
    mode([1, 0, 2, 1, 5, 6, 0, 0, 2, 3]),
    mode([1, 0, 2, 0, 7, 8, 0, 0, 2, 2]),
    mode([1, 0, 0, 0, 7, 7, 1, 0, 4, 0]),
    mode([2, 6, 0, 0, 5, 5, 1, 0, 2, 0]),
];

/// A texel, in units of 1/255. Blocks without a valid mode are 0.
pub fn texel(block: u128, texel: u32) -> [u32; 4] {
    let Some(m) = MODES.get(block.trailing_zeros() as usize) else { return [0; 4] };
    let mut at = block.trailing_zeros() + 1;
    let mut take = |count: u32| {
        let value = bits(block, at, count);
        at += count;
        value
    };
    let shape = take(m.partition);
    let rotation = take(m.rotation);
    let swapped = take(m.selector) == 1;
    let (subset, anchors) = partition::of(m.subsets, shape, texel);
    let anchors = &anchors[..m.subsets as usize];
    // Endpoints are ordered by channel, then by pair.
    let colours = at;
    let alphas = colours + 3 * 2 * m.subsets * m.colour;
    let lows = alphas + 2 * m.subsets * m.alpha;
    let low_bits = m.own_low * 2 * m.subsets + m.shared_low * m.subsets;
    let endpoint = |channel: u32, end: u32| {
        let (first, count) = if channel < 3 {
            (colours + channel * 2 * m.subsets * m.colour, m.colour)
        } else {
            (alphas, m.alpha)
        };
        if count == 0 {
            return 255;
        }
        let pair = 2 * subset + end;
        let high = bits(block, first + pair * count, count);
        let (value, count) = match (m.own_low, m.shared_low) {
            (1, _) => (high << 1 | bits(block, lows + pair, 1), count + 1),
            (_, 1) => (high << 1 | bits(block, lows + subset, 1), count + 1),
            _ => (high, count),
        };
        // Repeat the upper bits below.
        value << (8 - count) | value >> (2 * count - 8)
    };
    let first = lows + low_bits;
    let primary = (index(block, first, m.index, texel, anchors), m.index);
    let second = if m.second == 0 {
        primary
    } else {
        (index(block, first + 16 * m.index - m.subsets, m.second, texel, anchors), m.second)
    };
    let (colour, alpha) = if swapped { (second, primary) } else { (primary, second) };
    let mixed = |channel: u32| {
        let (index, count) = if channel < 3 { colour } else { alpha };
        let (a, b, w) = (endpoint(channel, 0), endpoint(channel, 1), weight(index, count) as u32);
        ((64 - w) * a + w * b + 32) >> 6
    };
    let mut texel = [mixed(0), mixed(1), mixed(2), mixed(3)];
    if rotation != 0 {
        texel.swap(3, rotation as usize - 1);
    }
    texel
}
