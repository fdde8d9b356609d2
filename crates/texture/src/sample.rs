//! Texture fetches and gathers.

use std::cmp::Ordering;

use crate::access::{Access, Geometry, Level, Operation};
use crate::descriptor::{Address, Channel, Descriptor, Format, Plane, Sampler};
use crate::filter::{SLICE, mix, weights};
use crate::format::{Class, EXACT, float_to_half};
use crate::level::{self, Detail, Levels};
use crate::place::{Axis, Tap};
use crate::{Lanes, cube, lanes, texel};

/// The coordinates of one lane.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Point {
    pub words: [u32; 3],
    pub layer: u32,
    pub face: u32,
    /// Whether an integer coordinate names a missing layer.
    pub outside: bool,
    pub detail: Detail,
    /// Added to the level.
    pub bias: f32,
    /// A lower bound of the level.
    pub least: f32,
    pub offsets: [i32; 3],
    /// What texels are compared with instead of being read.
    pub compare: Option<Reference>,
    /// Whether coordinates are texels, whatever the sampler says.
    pub texels: bool,
}

/// A comparison of a reference with texels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference {
    /// The comparison, as in AMD's descriptors: less, equal and greater are its bits.
    pub function: u32,
    pub value: f32,
}

impl Reference {
    /// 1 if the comparison holds for a texel's value, otherwise 0, as an f32.
    fn with(self, class: Class, texel: u32) -> u32 {
        let mut value = self.value;
        // References have the texels' range.
        match class {
            Class::Float | Class::Half | Class::Integer | Class::Unsigned | Class::Signed => {}
            Class::Snorm8 | Class::Snorm16 => value = value.clamp(-1.0, 1.0),
            _ => value = value.clamp(0.0, 1.0),
        }
        let texel = f32::from_bits(texel);
        let bit = match value.partial_cmp(&texel) {
            Some(Ordering::Less) => 1,
            Some(Ordering::Equal) => 2,
            Some(Ordering::Greater) => 4,
            // Always, and not equal.
            None => return f32::from(self.function == 7 || self.function == 5).to_bits(),
        };
        f32::from(self.function & bit != 0).to_bits()
    }
}

/// Runs a fetch or a gather.
pub fn run(access: Access, descriptor: &Descriptor, mask: u32, args: &[Lanes], results: &mut [Lanes]) {
    for lane in lanes(mask) {
        let point = point(access, descriptor, args, lane);
        let mut texel = match access.operation {
            Operation::Gather => gather(access, descriptor, &point),
            _ => fetch(access, descriptor, &point),
        };
        if access.halves {
            let [r, g, b, a] = texel.map(|v| u32::from(float_to_half(v)));
            texel = [g << 16 | r, a << 16 | b, 0, 0];
        }
        for (result, value) in results.iter_mut().zip(texel) {
            if let Some(r) = result.get_mut(lane) {
                *r = u64::from(value);
            }
        }
    }
}

impl Point {
    /// The levels that are read.
    pub fn levels(&self, descriptor: &Descriptor) -> Levels {
        level::choose(descriptor, self.detail, [self.bias, self.least])
    }
}

/// Decodes the operands of a lane.
fn point(access: Access, descriptor: &Descriptor, args: &[Lanes], lane: usize) -> Point {
    let mut words = args.iter().map(|a| a.get(lane).copied().unwrap_or_default() as u32);
    let mut next = || words.next().unwrap_or_default();
    let mut point = Point::default();
    let geometry = access.geometry;
    if geometry.layered() {
        let word = next();
        // With a level in the instruction, the last layer is used; otherwise the access is out of bounds.
        let plain = access.integers && access.level != Level::Level;
        point.outside = plain && word >= descriptor.layers;
        point.layer = layer(word, descriptor.layers);
    }
    let count = geometry.coordinates();
    for word in point.words.iter_mut().take(count) {
        *word = next();
    }
    let mut derivatives = [[0f32; 3]; 2];
    match access.level {
        Level::Base => {}
        Level::Level if access.integers => point.detail = Detail::Level(next() as i32 as f32),
        Level::Level => point.detail = Detail::Level(f32::from_bits(next())),
        Level::Gradient | Level::Quad => {
            for derivative in &mut derivatives {
                for d in derivative.iter_mut().take(count) {
                    *d = f32::from_bits(next());
                }
            }
        }
    }
    if access.offsets {
        for offset in point.offsets.iter_mut().take(count) {
            *offset = next() as i32;
        }
    }
    let direction = point.words.map(f32::from_bits);
    if geometry.cube() {
        let (face, [s, t]) = cube::face(direction);
        point.face = face;
        point.words = [s.to_bits(), t.to_bits(), 0];
    }
    if matches!(access.level, Level::Gradient | Level::Quad) {
        let plane = descriptor.levels.first().copied().unwrap_or_default();
        let sizes = if geometry.cube() {
            derivatives = derivatives.map(|d| cube::moved(direction, d));
            [plane.width as f32 / 2.0; 3]
        } else if descriptor.sampler.normalized {
            [plane.width as f32, plane.height as f32, plane.depth as f32]
        } else {
            [1.0; 3]
        };
        let [across, down] = derivatives.map(|d| std::array::from_fn(|k| d[k] * sizes[k]));
        point.detail = Detail::Level(level::of_gradients(across, down));
    }
    point
}

/// The layer that a word selects: an unsigned number, clamped to the last layer.
fn layer(word: u32, layers: u32) -> u32 {
    word.min(layers.saturating_sub(1))
}

fn axes(sampler: &Sampler, plane: &Plane, geometry: Geometry) -> [Axis; 3] {
    let sizes = [plane.width, plane.height, plane.depth];
    std::array::from_fn(|k| Axis {
        size: sizes[k],
        address: if geometry.cube() { Address::Clamp } else { sampler.address[k] },
        open: geometry.cube() && sampler.seamless,
        normalized: sampler.normalized || geometry.cube(),
        linear: sampler.linear,
        rounds: sampler.rounds,
    })
}

/// The taps of a point on a level; an axis that the access lacks uses its first texel.
///
/// A one-dimensional texture is a two-dimensional one at y = 0, which mixes in half of the border. `None` if
/// an integer coordinate is outside.
fn taps(
    access: Access,
    descriptor: &Descriptor,
    plane: &Plane,
    point: &Point,
    linear: bool,
) -> Option<[Tap; 3]> {
    let axes = axes(&descriptor.sampler, plane, access.geometry).map(|a| Axis {
        open: a.open && linear,
        normalized: a.normalized && !point.texels,
        ..a
    });
    let count = if access.geometry.cube() { 2 } else { access.geometry.coordinates() };
    let mut taps = [Tap::default(); 3];
    for (k, tap) in taps.iter_mut().enumerate() {
        let axis = Axis { linear, ..axes[k] };
        let (word, offset) = (point.words[k], point.offsets[k]);
        *tap = match access.integers {
            _ if k >= count => {
                if k == 1 && linear {
                    axis.tap(0.0, 0)
                } else {
                    Tap::default()
                }
            }
            // With a level in the instruction, the nearest texel; otherwise nothing outside.
            true if access.level == Level::Level => axis.nearest(word as i32, offset),
            true => axis.whole(word as i32, offset)?,
            false => axis.tap(f32::from_bits(word), offset),
        };
    }
    Some(taps)
}

fn slice(descriptor: &Descriptor, point: &Point, depth: i32) -> u32 {
    let faces = descriptor.faces();
    if descriptor.layered || descriptor.cube {
        (point.layer * faces + point.face.min(faces - 1)).min(descriptor.layers * faces - 1)
    } else {
        depth.max(0) as u32
    }
}

/// The raw channels of a texel; `None` outside.
fn at(descriptor: &Descriptor, plane: &Plane, point: &Point, [x, y, z]: [i32; 3]) -> Option<[u32; 4]> {
    if x < 0 || y < 0 || z < 0 || x >= plane.width as i32 || y >= plane.height as i32 {
        let corner = (x < 0 || x >= plane.width as i32) && (y < 0 || y >= plane.height as i32);
        if !descriptor.cube || !descriptor.sampler.seamless || corner {
            return None;
        }
        let (face, [x, y]) = cube::beyond(point.face, x.into(), y.into(), plane.width);
        let slice = slice(descriptor, &Point { face, ..*point }, z);
        return Some(texel::read(plane, descriptor.format, x, y, slice));
    }
    let slice = slice(descriptor, point, z);
    Some(texel::read(plane, descriptor.format, x as u32, y as u32, slice))
}

/// Three faces meet at a corner of a cube: the missing fourth texel is the mean of the other three.
fn close_corners(texels: &mut [(u32, Option<[u32; 4]>)]) {
    for slice in texels.chunks_mut(SLICE) {
        let Some(missing) = slice.iter().position(|t| t.0 != 0 && t.1.is_none()) else { continue };
        let weight = std::mem::take(&mut slice[missing].0);
        let third = (2 * weight + 3) / 6;
        for (corner, t) in slice.iter_mut().enumerate().filter(|(corner, _)| *corner != missing) {
            t.0 += if corner == 3 - missing { weight - 2 * third } else { third };
        }
    }
}

/// The value of a channel that the format lacks: zero, except that arrays of compressed formats are opaque.
fn absent(format: Format, channel: usize) -> u32 {
    if channel == 3 && format.opaque { 1f32.to_bits() } else { 0 }
}

/// The value of a missing texel.
fn nothing(format: Format) -> [u32; 4] {
    std::array::from_fn(
        |channel| if channel < usize::from(format.channels) { 0 } else { absent(format, channel) },
    )
}

/// The border colour's channel, encoded like a raw texel. `mixed`: for a filter, which treats ten bits as
/// sixteen.
fn border(format: Format, class: Class, sampler: &Sampler, channel: usize, mixed: bool) -> u32 {
    let colour = sampler.border.get(channel).copied().unwrap_or_default();
    let fraction = |most: f32| (colour.clamp(0.0, 1.0) * most).round_ties_even() as u32;
    let signed_fraction = |most: f32| (colour.clamp(-1.0, 1.0) * most + 0.5).floor() as i32 as u32;
    match class {
        // The float's bits that the channel has room for.
        Class::Integer | Class::Unsigned | Class::Signed => match (format.bytes, format.channel) {
            (1, Channel::Signed) => colour.to_bits() as i8 as u32,
            (1, _) => colour.to_bits() & 0xff,
            (2, Channel::Signed) => colour.to_bits() as i16 as u32,
            (2, _) => colour.to_bits() & 0xffff,
            _ => colour.to_bits(),
        },
        Class::Float => colour.to_bits(),
        Class::Half => u32::from(float_to_half(colour.to_bits())),
        // A border always has sixteen bits here.
        Class::Unorm2 => fraction(65535.0) | EXACT,
        Class::Unorm10 if mixed => fraction(65535.0) | EXACT,
        Class::Unorm8 => fraction(255.0),
        // The border is linear already.
        Class::Srgb => colour.clamp(0.0, 1.0).to_bits(),
        Class::Unorm16 => fraction(65535.0),
        Class::Unorm10 => fraction(1023.0),
        Class::Snorm8 => signed_fraction(127.0),
        Class::Snorm16 => signed_fraction(32767.0),
    }
}

pub(crate) fn fetch(access: Access, descriptor: &Descriptor, point: &Point) -> [u32; 4] {
    let Levels { first, fraction } = if access.integers && access.level == Level::Level {
        let Detail::Level(level) = point.detail else { return nothing(descriptor.format) };
        if level < 0.0 || level >= descriptor.levels.len() as f32 {
            return nothing(descriptor.format);
        }
        Levels { first: level as usize, fraction: 0 }
    } else {
        point.levels(descriptor)
    };
    let format = descriptor.format;
    let sampler = &descriptor.sampler;
    // AMD's texture units do not interpolate integers.
    let whole = sampler.rounds && Class::of(format, sampler, 0).is_integer();
    let mixes = !access.integers && !whole;
    let linear = sampler.linear && mixes;
    // One-dimensional arrays have no access by integer coordinates.
    let numberless = access.integers && access.geometry == Geometry::D1 && !descriptor.borrowed;
    if numberless || point.outside {
        return nothing(format);
    }
    // Each texel with its weight, ordered by level and slice.
    let mut texels = [(0u32, None::<[u32; 4]>); 16];
    let (mut end, mut weighty, mut only) = (0, 0, 0);
    // Filtering affects texels even with nothing to interpolate.
    let filters = linear || (sampler.linear_levels && mixes && descriptor.levels.len() > 1);
    for (step, share) in [256 - fraction, fraction].into_iter().enumerate() {
        let Some(plane) = descriptor.levels.get(first + step).filter(|_| share != 0) else { continue };
        let Some([x, y, z]) = taps(access, descriptor, plane, point, linear) else { return nothing(format) };
        for (corner, weight) in weights(share, [x.fraction, y.fraction, z.fraction]).into_iter().enumerate() {
            if weight != 0 {
                let place = [x.texels[corner & 1], y.texels[corner >> 1 & 1], z.texels[corner >> 2]];
                texels[end + corner] = (weight, at(descriptor, plane, point, place));
                if weighty == 0 {
                    only = end + corner;
                }
                weighty += 1;
            }
        }
        end += 8;
    }
    if access.geometry.cube() && sampler.seamless {
        close_corners(&mut texels[..end]);
    }
    let mut result = nothing(format);
    for (channel, value) in result.iter_mut().enumerate().take(usize::from(format.channels)) {
        let class = Class::of(format, sampler, channel);
        let raw = |t: &(u32, Option<[u32; 4]>)| match t.1 {
            Some(channels) => channels[channel],
            None => border(format, class, sampler, channel, filters),
        };
        if let (Some(reference), 0) = (point.compare, channel) {
            let mut taps = [(0, 0); 16];
            for (tap, t) in taps.iter_mut().zip(&texels[..end]).filter(|(_, t)| t.0 != 0) {
                *tap = (t.0, reference.with(class, class.read(raw(t))));
            }
            *value = mix(Class::Float, &taps[..end]);
            continue;
        }
        *value = if (weighty == 1 || whole) && !filters {
            class.read(raw(&texels[only]))
        } else {
            let mut taps = [(0, 0); 16];
            for (tap, t) in taps.iter_mut().zip(&texels[..end]).filter(|(_, t)| t.0 != 0) {
                *tap = (t.0, raw(t));
            }
            mix(class, &taps[..end])
        };
    }
    result
}

pub(crate) fn gather(access: Access, descriptor: &Descriptor, point: &Point) -> [u32; 4] {
    let Levels { first, fraction } = point.levels(descriptor);
    // One level, the nearest.
    let Some(plane) = descriptor.levels.get(first + (fraction >> 7) as usize) else { return [0; 4] };
    let Some([x, y, _]) = taps(access, descriptor, plane, point, true) else { return [0; 4] };
    let channel = usize::from(access.channel & 3);
    let class = Class::of(descriptor.format, &descriptor.sampler, channel);
    if channel >= usize::from(descriptor.format.channels) {
        return [absent(descriptor.format, channel); 4];
    }
    // Fractions pass through the filter's 16 bits.
    let fractions = !class.is_integer() && !matches!(class, Class::Float | Class::Half | Class::Srgb);
    // Counter-clockwise from the lower left.
    [[0, 1], [1, 1], [1, 0], [0, 0]].map(|[right, down]: [usize; 2]| {
        let place = [x.texels[right], y.texels[down], 0];
        let raw = at(descriptor, plane, point, place).map(|c| c[channel]);
        let border = || border(descriptor.format, class, &descriptor.sampler, channel, fractions);
        let raw = raw.unwrap_or_else(border);
        if let Some(reference) = point.compare {
            return reference.with(class, class.read(raw));
        }
        if fractions { mix(class, &[(256, raw)]) } else { class.read(raw) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_mixed_but_not_as_amd_reads_them() {
        let texels = [10u8, 20];
        let of = |rounds| {
            let plane =
                Plane { base: texels.as_ptr() as u64, width: 2, height: 1, depth: 1, ..Plane::default() };
            let sampler = Sampler { linear: true, integers: true, rounds, ..Sampler::default() };
            let descriptor = Descriptor {
                surface: false,
                format: Format::plain(Channel::Unsigned, 1, 1),
                sampler,
                levels: vec![plane],
                extent: [2, 1, 0],
                layers: 1,
                layered: false,
                cube: false,
                borrowed: false,
                mapped: None,
                keep: Vec::new(),
            };
            let access = Access { geometry: Geometry::D2, ..Access::default() };
            let at = |x: f32| Point { words: [x.to_bits(), 0.5f32.to_bits(), 0], ..Point::default() };
            [1.0, 1.25, 1.5].map(|x| fetch(access, &descriptor, &at(x))[0])
        };
        assert_eq!(of(false), [15, 18, 20]);
        assert_eq!(of(true), [20, 20, 20]);
    }
}
