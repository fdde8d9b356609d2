//! BC1, BC2 and BC3: two colours and those interpolated between them.
//!
//! The specification leaves the rounding of interpolated colours open. The hardware has one formula for red
//! and blue, which converts from 5 bits to 8 in the same step, and another for green and alpha, whose thirds,
//! sevenths and fifths are slightly too small.

/// The colour of a texel: red, green and blue in units of 1/255; `None` if it is transparent.
fn colour(word: u64, index: u32, always_four: bool) -> Option<[u32; 3]> {
    let (first, second) = ((word & 0xffff) as u32, (word >> 16 & 0xffff) as u32);
    let four = always_four || first > second;
    let select = (word >> (32 + 2 * index)) as u32 & 3;
    // Red and blue have 5 bits.
    let narrow = |shift: u32| {
        let (a, b) = (first >> shift & 31, second >> shift & 31);
        let widened = |v: u32| v << 3 | v >> 2;
        match (select, four) {
            (0, _) => widened(a),
            (1, _) => widened(b),
            (2, true) => ((2 * a + b) * 22) >> 3,
            (_, true) => ((a + 2 * b) * 22) >> 3,
            (_, false) => ((a + b) * 33) >> 3,
        }
    };
    let green = || {
        let (a, b) = (first >> 5 & 63, second >> 5 & 63);
        let [a, b] = [a, b].map(|v| (v << 2 | v >> 4) as i32);
        let part = |factor: i32| factor * (b - a) + (b - a) / 4;
        let value = match (select, four) {
            (0, _) => a,
            (1, _) => b,
            (2, true) => a + ((128 + part(80)) >> 8),
            (_, true) => b + ((128 - part(80)) >> 8),
            (_, false) => a + ((128 + part(128)) >> 8),
        };
        value as u32
    };
    (four || select != 3).then(|| [narrow(11), green(), narrow(0)])
}

/// A texel of BC1.
pub fn bc1(word: u64, index: u32) -> [u32; 4] {
    match colour(word, index, false) {
        Some([r, g, b]) => [r, g, b, 255],
        None => [0; 4],
    }
}

fn with_alpha(word: u64, index: u32, alpha: u32) -> [u32; 4] {
    let [r, g, b] = colour(word, index, true).unwrap_or_default();
    [r, g, b, alpha]
}

/// A texel of BC2, which stores alpha directly.
pub fn bc2(alpha: u64, colours: u64, index: u32) -> [u32; 4] {
    with_alpha(colours, index, ((alpha >> (4 * index)) as u32 & 15) * 17)
}

/// A texel of BC3, whose alpha is one of eight values.
pub fn bc3(alpha: u64, colours: u64, index: u32) -> [u32; 4] {
    let (a, b) = ((alpha & 0xff) as i32, (alpha >> 8 & 0xff) as i32);
    let part = |factor: i32, difference: i32| (factor * difference + (difference >> 3) + 128) >> 8;
    let d = b - a;
    let value = match ((alpha >> (16 + 3 * index)) as u32 & 7, a > b) {
        (0, _) => a,
        (1, _) => b,
        (2, true) => a + part(36, d),
        (3, true) => a + part(36, d * 2),
        (4, true) => b + part(36, -d * 4),
        (5, true) => a + part(36, d * 4),
        (6, true) => b + part(36, -d * 2),
        (_, true) => b + part(36, -d),
        (2, false) => a + part(48, d),
        (3, false) => a + part(48, d * 2),
        (4, false) => b + part(48, -d * 2),
        (5, false) => b + part(48, -d),
        (6, false) => 0,
        (_, false) => 255,
    };
    with_alpha(colours, index, value as u32)
}
