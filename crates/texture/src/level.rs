//! The mipmap levels that a fetch uses.

use crate::descriptor::Descriptor;

/// One level, or two adjacent ones with the weight of the second in 256ths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// The finer level.
    pub first: usize,
    /// The weight of the next level.
    pub fraction: u32,
}

/// The level of detail that an instruction requests.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Detail {
    /// The sampler's minimum, without its bias.
    #[default]
    Base,
    /// This level, plus the bias.
    Level(f32),
}

/// In 256ths, truncated; NaN gives 0.
fn fixed(value: f64) -> i64 {
    if value.is_nan() { 0 } else { (value * 256.0).trunc().clamp(-65536.0, 65536.0) as i64 }
}

/// A level in 256ths: as requested, and as the sampler and the object bound it. To the request, `bias` is
/// added, and `floor` is its lower bound.
pub fn bounded(descriptor: &Descriptor, detail: Detail, [bias, floor]: [f32; 2]) -> [i64; 2] {
    let sampler = &descriptor.sampler;
    let last = descriptor.levels.len().saturating_sub(1);
    let requested = match detail {
        Detail::Base => 0,
        Detail::Level(level) => fixed(level.into()) + fixed(sampler.bias.into()) + fixed(bias.into()),
    };
    let (least, most) = (fixed(sampler.least.into()), fixed(sampler.most.into()));
    let level = requested.min(most).max(least).max(fixed(floor.into()));
    [requested, level.clamp(0, last as i64 * 256)]
}

/// The levels for a level of detail, with a bias and a lower bound.
pub fn choose(descriptor: &Descriptor, detail: Detail, more: [f32; 2]) -> Levels {
    let sampler = &descriptor.sampler;
    let last = descriptor.levels.len().saturating_sub(1);
    if last == 0 {
        return Levels { first: 0, fraction: 0 };
    }
    let [_, level] = bounded(descriptor, detail, more);
    let level = level as u32;
    if sampler.linear_levels {
        Levels { first: (level >> 8) as usize, fraction: level & 255 }
    } else {
        Levels { first: ((level + 128) >> 8).min(last as u32) as usize, fraction: 0 }
    }
}

/// The level of detail from derivatives in texels. The hardware takes the longest of the two, of their sum
/// and of their difference (the latter two at 11/16, since they exceed the others by up to a square root of
/// two), and approximates the lengths.
pub fn of_gradients(across: [f32; 3], down: [f32; 3]) -> f32 {
    let both = |sign: f64| length(std::array::from_fn(|k| f64::from(across[k]) + sign * f64::from(down[k])));
    let (across, down) = (length(across.map(f64::from)), length(down.map(f64::from)));
    logarithm(across.max(down).max(both(1.0).max(both(-1.0)) * (11.0 / 16.0)))
}

/// The largest component plus 11/32 of the others.
fn length(v: [f64; 3]) -> f64 {
    let [x, y, z] = v.map(f64::abs);
    let greatest = x.max(y).max(z);
    greatest + (x + y + z - greatest) * (11.0 / 32.0)
}

/// The logarithm to base 2, from the eight bits after the leading one.
fn logarithm(length: f64) -> f32 {
    if !length.is_normal() {
        return length.log2() as f32;
    }
    let bits = length.to_bits();
    let (exponent, fraction) = ((bits >> 52) as i32 - 1023, (bits >> 44) as usize & 255);
    exponent as f32 + f32::from(FRACTIONS[fraction]) / 256.0
}

/// The logarithms of 1, 257/256, 258/256, … in 256ths, as in the hardware: approximately those of the middle
/// of each step.
static FRACTIONS: [u8; 256] = [
    0, 2, 4, 5, 6, 8, 9, 11, 12, 13, 15, 16, 18, 19, 20, 22, 23, 24, 26, 27, 28, 30, 31, 32, 34, 35, 36, 38,
    39, 40, 42, 43, 44, 45, 47, 48, 49, 50, 52, 53, 54, 55, 57, 58, 59, 60, 62, 63, 64, 65, 66, 68, 69, 70,
    71, 72, 74, 75, 76, 77, 78, 79, 81, 82, 83, 84, 85, 86, 88, 89, 90, 91, 92, 93, 94, 95, 97, 98, 99, 100,
    101, 102, 103, 104, 105, 106, 107, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122,
    123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 135, 136, 137, 137, 138, 139, 140, 141, 142, 143,
    144, 145, 146, 147, 148, 149, 150, 151, 152, 153, 154, 155, 156, 157, 158, 159, 160, 161, 162, 162, 163,
    164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 173, 174, 175, 176, 177, 178, 179, 180, 181, 181, 182,
    183, 184, 185, 186, 187, 188, 188, 189, 190, 191, 192, 193, 194, 195, 195, 196, 197, 198, 199, 200, 200,
    201, 202, 203, 204, 205, 205, 206, 207, 208, 209, 210, 210, 211, 212, 213, 214, 214, 215, 216, 217, 218,
    218, 219, 220, 221, 222, 222, 223, 224, 225, 226, 226, 227, 228, 229, 229, 230, 231, 232, 233, 233, 234,
    235, 236, 236, 237, 238, 239, 239, 240, 241, 242, 242, 243, 244, 245, 245, 246, 247, 248, 248, 249, 250,
    251, 251, 252, 253, 253, 254, 255, 255,
];
