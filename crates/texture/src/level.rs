//! Which levels of a mipmap a fetch mixes.

use crate::descriptor::Descriptor;

/// Up to two neighbouring levels, and the weight of the second in 256ths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// The finer one.
    pub first: usize,
    /// The weight of the next.
    pub fraction: u32,
}

/// The level that an instruction asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Detail {
    /// The least that the sampler allows; without its bias.
    #[default]
    Base,
    /// This one, with the bias.
    Level(f32),
}

/// In 256ths, cut; what is no number is 0.
fn fixed(value: f64) -> i64 {
    if value.is_nan() { 0 } else { (value * 256.0).trunc().clamp(-65536.0, 65536.0) as i64 }
}

/// The levels of a level of detail.
pub fn choose(descriptor: &Descriptor, detail: Detail) -> Levels {
    let sampler = &descriptor.sampler;
    let last = descriptor.levels.len().saturating_sub(1);
    if last == 0 {
        return Levels { first: 0, fraction: 0 };
    }
    let asked = match detail {
        Detail::Base => 0,
        Detail::Level(level) => fixed(level.into()) + fixed(sampler.bias.into()),
    };
    let (least, most) = (fixed(sampler.least.into()), fixed(sampler.most.into()));
    let level = asked.min(most).max(least).clamp(0, last as i64 * 256) as u32;
    if sampler.linear_levels {
        Levels { first: (level >> 8) as usize, fraction: level & 255 }
    } else {
        Levels { first: ((level + 128) >> 8).min(last as u32) as usize, fraction: 0 }
    }
}

/// The level of detail of derivatives in texels: of the longer axis of the ellipse that they span. The hardware comes close to it.
pub fn of_gradients(across: [f32; 3], down: [f32; 3]) -> f32 {
    let dot =
        |a: [f32; 3], b: [f32; 3]| a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(y)).sum::<f64>();
    let (a, b, both) = (dot(across, across), dot(down, down), dot(across, down));
    let longest = 0.5 * (a + b + ((a - b) * (a - b) + 4.0 * both * both).sqrt());
    (longest.log2() * 0.5) as f32
}
