//! AMD's image instructions, whose operands are the address words as the instruction lists them.
//!
//! Before gfx10 an instruction does not say what geometry it means: the object's decides how many coordinates
//! there are, and where the level is.

use crate::access::{Access, Geometry, Level, Operation};
use crate::descriptor::{Channel, Code, Descriptor, Plane, Sampler};
use crate::format::{Class, float_to_half, half_to_float};
use crate::level::{self, Detail};
use crate::sample::{Point, Reference, fetch, gather};
use crate::typed::{Number, encoded};
use crate::{Lanes, lanes, texel};

/// The geometry of an object.
fn geometry(access: Access, descriptor: &Descriptor) -> Geometry {
    let [_, height, depth] = descriptor.extent;
    match access.geometry {
        Geometry::Own if descriptor.cube => Geometry::Cube,
        Geometry::Own if descriptor.layered && height == 0 => Geometry::A1,
        Geometry::Own if descriptor.layered => Geometry::A2,
        Geometry::Own if depth != 0 => Geometry::D3,
        Geometry::Own if height != 0 => Geometry::D2,
        Geometry::Own => Geometry::D1,
        given => given,
    }
}

/// Numbers of coordinates on a face or in a layer, and of all, with the layer or the face.
fn counts(geometry: Geometry) -> (usize, usize) {
    match geometry {
        Geometry::D1 => (1, 1),
        Geometry::D2 => (2, 2),
        Geometry::D3 | Geometry::Own => (3, 3),
        Geometry::A1 => (1, 2),
        Geometry::A2 | Geometry::Cube | Geometry::ACube => (2, 3),
    }
}

/// Runs an instruction.
pub fn run(access: Access, descriptor: &Descriptor, mask: u32, args: &[Lanes], results: &mut [Lanes]) {
    for lane in lanes(mask) {
        let words: Vec<u32> = args.iter().map(|a| a.get(lane).copied().unwrap_or_default() as u32).collect();
        let answer = match access.operation {
            Operation::ImageSample | Operation::ImageGather => sample(access, descriptor, &words),
            Operation::ImageLoad => load(access, descriptor, &words),
            Operation::ImageLevel => levels(descriptor, &point(access, descriptor, &words).0),
            Operation::ImageSize => size(descriptor, words.first().copied().unwrap_or_default()),
            Operation::ImageAddress => {
                let address = place(access, descriptor, &words)
                    .map_or(0, |(plane, [x, y, z])| texel::address(plane, descriptor.format, x, y, z));
                if let Some(r) = results.first_mut().and_then(|r| r.get_mut(lane)) {
                    *r = address;
                }
                continue;
            }
            _ => {
                store(access, descriptor, &words);
                continue;
            }
        };
        for (result, value) in results.iter_mut().zip(answer) {
            if let Some(r) = result.get_mut(lane) {
                *r = u64::from(value);
            }
        }
    }
}

/// Whether a channel is read as a float.
fn is_float(descriptor: &Descriptor) -> bool {
    !Class::of(descriptor.format, &sampler_of(descriptor), 0).is_integer()
}

/// How an object is read: a surface's integers are integers.
fn sampler_of(descriptor: &Descriptor) -> Sampler {
    let integers = descriptor.sampler.integers || descriptor.surface;
    Sampler { integers, ..descriptor.sampler }
}

/// The channels that a format has, the others being those of (0, 0, 0, 1), in 16 bits if wanted.
fn completed(access: Access, descriptor: &Descriptor, mut texel: [u32; 4]) -> [u32; 4] {
    let float = is_float(descriptor);
    let one = if float { 1f32.to_bits() } else { 1 };
    for (channel, value) in texel.iter_mut().enumerate().skip(descriptor.format.channels.into()) {
        *value = if channel == 3 { one } else { 0 };
    }
    if access.halves {
        texel = texel.map(|v| if float { u32::from(float_to_half(v)) } else { v & 0xffff });
    }
    texel
}

/// The operands of a sample, and the access that reads it.
fn point(access: Access, descriptor: &Descriptor, words: &[u32]) -> (Point, Access) {
    let mut words = words.iter().copied();
    let mut next = || words.next().unwrap_or_default();
    let geometry = geometry(access, descriptor);
    let (axes, all) = counts(geometry);
    let mut point = Point { texels: access.image.texels, ..Point::default() };
    let function = if access.image.compare { next() } else { 0 };
    if access.offsets {
        // Six bits with a sign in each byte.
        let packed = next();
        point.offsets = std::array::from_fn(|k| ((packed >> (8 * k)) << 26) as i32 >> 26);
    }
    if access.image.bias {
        point.bias = f32::from_bits(next());
    }
    if access.image.compare {
        point.compare = Some(Reference { function, value: f32::from_bits(next()) });
    }
    let mut derivatives = [[0f32; 3]; 2];
    let given = match access.level {
        Level::Gradient => axes,
        Level::Quad => 3,
        Level::Base | Level::Level => 0,
    };
    for derivative in &mut derivatives {
        derivative.iter_mut().take(given).for_each(|d| *d = f32::from_bits(next()));
        // Those of layers and faces do not count.
        derivative.iter_mut().skip(axes).for_each(|d| *d = 0.0);
    }
    let mut coordinates = [0u32; 3];
    coordinates.iter_mut().take(all).for_each(|c| *c = next());
    match access.level {
        Level::Level => point.detail = Detail::Level(f32::from_bits(next())),
        _ if access.image.least => point.least = f32::from_bits(next()),
        _ => {}
    }
    point.words[..axes].copy_from_slice(&coordinates[..axes]);
    let last = f32::from_bits(coordinates[all - 1]);
    let nearest =
        |at: f32, count: u32| at.round_ties_even().clamp(0.0, count.saturating_sub(1) as f32) as u32;
    let cube = matches!(geometry, Geometry::Cube | Geometry::ACube);
    let mut read = Access { geometry, integers: false, halves: false, ..access };
    if cube {
        // Eight numbers for each cube, six of which are faces. Positions on a face are 0 to 1, or 1 to 2.
        let number = if last.is_nan() { 0.0 } else { last.round_ties_even().clamp(0.0, 1e6) } as u32;
        point.face = (number & 7).min(5);
        point.layer = (number >> 3).min(descriptor.layers.saturating_sub(1));
        let place = |word: u32| {
            let v = f32::from_bits(word);
            if v > 1.0 { v - 1.0 } else { v }
        };
        point.words = [place(coordinates[0]).to_bits(), place(coordinates[1]).to_bits(), 0];
        read.geometry = Geometry::Cube;
    } else if all > axes {
        point.layer = nearest(last, descriptor.layers);
    }
    if given > 0 {
        let plane = descriptor.levels.first().copied().unwrap_or_default();
        let sizes = match descriptor.sampler.normalized && !point.texels || cube {
            true => [plane.width as f32, plane.height as f32, plane.depth as f32],
            false => [1.0; 3],
        };
        let [across, down] = derivatives.map(|d| std::array::from_fn(|k| d[k] * sizes[k]));
        point.detail = Detail::Level(level::of_gradients(across, down));
    }
    (point, read)
}

fn sample(access: Access, descriptor: &Descriptor, words: &[u32]) -> [u32; 4] {
    let (point, read) = point(access, descriptor, words);
    if access.operation == Operation::ImageGather {
        let answer = gather(Access { operation: Operation::Gather, ..read }, descriptor, &point);
        let float = is_float(descriptor) || access.image.compare;
        let half = |v: u32| if float { u32::from(float_to_half(v)) } else { v & 0xffff };
        return if access.halves { answer.map(half) } else { answer };
    }
    completed(access, descriptor, fetch(Access { operation: Operation::Fetch, ..read }, descriptor, &point))
}

/// The level that a sample would read, which is a whole one if only one is read, and the one that its
/// coordinates ask for.
fn levels(descriptor: &Descriptor, point: &Point) -> [u32; 4] {
    let [requested, mut level] = level::bounded(descriptor, point.detail, [point.bias, point.least]);
    if !descriptor.sampler.linear_levels {
        level = (level + 128) >> 8 << 8;
    }
    let word = |level: i64| (level as f32 / 256.0).to_bits();
    [word(level), word(requested), 0, 0]
}

/// The level and the place of a texel by integer coordinates; `None` outside.
fn place<'a>(access: Access, descriptor: &'a Descriptor, words: &[u32]) -> Option<(&'a Plane, [u32; 3])> {
    let geometry = geometry(access, descriptor);
    let (axes, all) = counts(geometry);
    let at = |k: usize| words.get(k).copied().unwrap_or_default();
    let level = if access.level == Level::Level { at(all) } else { 0 };
    let plane = descriptor.levels.get(level as usize)?;
    let mut place = [0; 3];
    for (k, (place, size)) in place.iter_mut().zip([plane.width, plane.height, plane.depth]).enumerate() {
        if k < axes {
            *place = at(k);
            (*place < size).then_some(())?;
        }
    }
    if all > axes {
        let faces = descriptor.faces();
        place[2] = at(all - 1);
        (place[2] < descriptor.layers.saturating_mul(faces)).then_some(())?;
    }
    Some((plane, place))
}

fn load(access: Access, descriptor: &Descriptor, words: &[u32]) -> [u32; 4] {
    let Some((plane, [x, y, slice])) = place(access, descriptor, words) else { return [0; 4] };
    if access.image.raw {
        return texel::words(plane, descriptor.format, [x, y, slice], access.image.signed);
    }
    let raw = texel::read(plane, descriptor.format, x, y, slice);
    let sampler = sampler_of(descriptor);
    let mut channel = 0;
    let read = raw.map(|raw| {
        channel += 1;
        Class::of(descriptor.format, &sampler, channel - 1).read(raw)
    });
    completed(access, descriptor, read)
}

fn store(access: Access, descriptor: &Descriptor, words: &[u32]) {
    let Some((plane, [x, y, slice])) = place(access, descriptor, words) else { return };
    let first = 3 + usize::from(access.level == Level::Level);
    let format = descriptor.format;
    if access.image.raw {
        let words = words.get(first..).unwrap_or_default();
        let at = texel::address(plane, format, x, y, slice);
        let bytes = words.iter().flat_map(|w| w.to_le_bytes()).zip(0..format.element());
        return bytes.for_each(|(byte, n)| texel::write(at.wrapping_add(n), 1, byte.into()));
    }
    // Blocks and packed channels cannot be written.
    if format.side() != 1 || format.code != Code::Plain {
        return;
    }
    let signed = matches!(format.channel, Channel::Signed | Channel::Snorm);
    let norm = matches!(format.channel, Channel::Unorm | Channel::Snorm);
    let bits = u32::from(format.bytes) * 8;
    let at = texel::address(plane, format, x, y, slice);
    for channel in 0..usize::from(format.channels) {
        let word = words.get(first + channel).copied().unwrap_or_default();
        let float = norm || format.channel == Channel::Float;
        let word = match access.halves {
            true if float => half_to_float(word as u16),
            true if signed => word as u16 as i16 as u32,
            true => word & 0xffff,
            false => word,
        };
        let number = match format.channel {
            Channel::Unsigned => Number::Uint,
            Channel::Signed => Number::Sint,
            Channel::Unorm => Number::Unorm,
            Channel::Snorm => Number::Snorm,
            Channel::Float => Number::Float,
        };
        let value = encoded(word, bits, number);
        texel::write(at.wrapping_add(channel as u64 * u64::from(format.bytes)), format.bytes, value);
    }
}

/// Width, height, depth or layers, and the number of levels.
fn size(descriptor: &Descriptor, level: u32) -> [u32; 4] {
    let levels = descriptor.levels.len() as u32;
    let Some(plane) = descriptor.levels.get(level as usize) else { return [0, 0, 0, levels] };
    let faces = descriptor.faces();
    let layers = descriptor.layers * faces;
    match geometry(Access { geometry: Geometry::Own, ..Access::default() }, descriptor) {
        Geometry::A1 => [plane.width, layers, 1, levels],
        Geometry::A2 | Geometry::Cube | Geometry::ACube => [plane.width, plane.height, layers, levels],
        _ => [plane.width, plane.height, plane.depth, levels],
    }
}
