//! From a program's description to the texture unit's.

use std::any::Any;
use std::sync::Arc;

use ::texture::Descriptor;
use ::texture::descriptor::{Address, Channel, Format, Plane, Sampler};

use super::{LONGEST, OFFSET_ALIGNMENT, PITCH_ALIGNMENT, Resource, Sampling, View, WIDEST, flag};
use crate::error::{Error, Result};
use crate::memory::array::{self, Array, flag as shape};

/// The format of a number; the channels must be right for it.
pub fn format(number: u32, channels: u32) -> Result<Format> {
    use Channel as C;
    let (channel, bytes) = match number {
        0x01 => (C::Unsigned, 1),
        0x02 => (C::Unsigned, 2),
        0x03 => (C::Unsigned, 4),
        0x08 => (C::Signed, 1),
        0x09 => (C::Signed, 2),
        0x0a => (C::Signed, 4),
        0x10 => (C::Float, 2),
        0x20 => (C::Float, 4),
        0xc0..=0xc2 => (C::Unorm, 1),
        0xc3..=0xc5 => (C::Unorm, 2),
        0xc6..=0xc8 => (C::Snorm, 1),
        0xc9..=0xcb => (C::Snorm, 2),
        _ => return Err(Error::InvalidValue),
    };
    match channels {
        1 | 2 | 4 => Ok(Format { channel, bytes, channels: channels as u8 }),
        _ => Err(Error::InvalidValue),
    }
}

/// The format of plain memory: the normalised ones are for arrays alone.
fn plain_format(number: u32, channels: u32) -> Result<Format> {
    format(number, channels).and_then(|f| if number < 0xc0 { Ok(f) } else { Err(Error::InvalidValue) })
}

/// The format of a view: three numbers (1, 2 and 4 channels) a type, in this order.
fn view_format(number: u32) -> Result<Format> {
    use Channel as C;
    const TYPES: [(Channel, u8); 8] = [
        (C::Unsigned, 1),
        (C::Signed, 1),
        (C::Unsigned, 2),
        (C::Signed, 2),
        (C::Unsigned, 4),
        (C::Signed, 4),
        (C::Float, 2),
        (C::Float, 4),
    ];
    let index = number.checked_sub(1).ok_or(Error::InvalidValue)?;
    let (channel, bytes) = *TYPES.get(index as usize / 3).ok_or(Error::InvalidValue)?;
    Ok(Format { channel, bytes, channels: 1 << (index % 3) })
}

/// What is said of memory alone.
struct Shape {
    format: Format,
    levels: Vec<Plane>,
    extent: [u32; 3],
    layers: u32,
    layered: bool,
    cube: bool,
    borrowed: bool,
    keep: Vec<Arc<dyn Any + Send + Sync>>,
}

fn arrays(all: Vec<Arc<Array>>) -> Result<Shape> {
    let first = &all.first().ok_or(Error::InvalidValue)?.descriptor;
    let (layered, cube) = (first.flags & shape::LAYERED != 0, first.flags & shape::CUBEMAP != 0);
    let layers = match (layered, cube) {
        (true, true) => first.depth / 6,
        (true, false) => first.depth,
        (false, _) => 1,
    };
    let levels = all
        .iter()
        .map(|a| Plane {
            base: a.base,
            width: a.descriptor.width as u32,
            height: a.descriptor.height.max(1) as u32,
            depth: if layered || cube { 1 } else { a.descriptor.depth.max(1) as u32 },
            pitch: a.extent[0],
            slice: a.extent[0] * a.extent[1],
        })
        .collect();
    Ok(Shape {
        format: format(first.format, first.channels)?,
        levels,
        extent: [first.width as u32, first.height as u32, first.depth as u32],
        layers: layers as u32,
        layered,
        cube,
        borrowed: false,
        keep: all.into_iter().map(|a| a as Arc<dyn Any + Send + Sync>).collect(),
    })
}

fn memory(format: Format, address: u64, [width, height]: [u64; 2], pitch: u64) -> Shape {
    let plane = Plane {
        base: address,
        width: width as u32,
        height: height.max(1) as u32,
        depth: 1,
        pitch,
        slice: pitch.saturating_mul(height.max(1)),
    };
    Shape {
        format,
        levels: vec![plane],
        extent: [width as u32, height as u32, 0],
        layers: 1,
        layered: false,
        cube: false,
        borrowed: true,
        keep: Vec::new(),
    }
}

fn aligned(address: u64) -> Result<()> {
    if address == 0 || !address.is_multiple_of(OFFSET_ALIGNMENT) { Err(Error::InvalidValue) } else { Ok(()) }
}

fn shape_of(resource: &Resource) -> Result<Shape> {
    // A dead array is a wrong value here.
    let dead = |_| Error::InvalidValue;
    match *resource {
        Resource::Array(handle) => arrays(vec![array::get(handle).map_err(dead)?]),
        Resource::Mipmap(handle) => arrays(array::mipmap(handle).and_then(|m| m.arrays()).map_err(dead)?),
        Resource::Linear { address, format, channels, size } => {
            let format = plain_format(format, channels)?;
            aligned(address)?;
            let width = size / format.element();
            if width > LONGEST {
                return Err(Error::InvalidValue);
            }
            Ok(memory(format, address, [width, 0], size))
        }
        Resource::Pitch { address, format, channels, width, height, pitch } => {
            let format = plain_format(format, channels)?;
            aligned(address)?;
            let fits = width <= WIDEST[0] && height <= WIDEST[1];
            if !fits || !pitch.is_multiple_of(PITCH_ALIGNMENT) {
                return Err(Error::InvalidValue);
            }
            Ok(memory(format, address, [width, height], pitch))
        }
    }
}

/// Narrows an array to a view of it. Plain memory has no views: theirs are not looked at.
fn look_through(shape: &mut Shape, view: &View) -> Result<()> {
    if shape.borrowed {
        return Ok(());
    }
    let format = view_format(view.format)?;
    let same = [view.width, view.height] == [u64::from(shape.extent[0]), u64::from(shape.extent[1])];
    let slices = if shape.layered { 0 } else { u64::from(shape.extent[2]) };
    let levels = view.first_level <= view.last_level && (view.last_level as usize) < shape.levels.len();
    let layers = view.first_layer <= view.last_layer && view.last_layer < shape.layers;
    if format.element() != shape.format.element() || !same || view.depth != slices || !levels || !layers {
        return Err(Error::InvalidValue);
    }
    shape.format = format;
    shape.levels.truncate(view.last_level as usize + 1);
    shape.levels.drain(..view.first_level as usize);
    if shape.layered {
        let faces = if shape.cube { 6 } else { 1 };
        for plane in &mut shape.levels {
            plane.base += plane.slice * u64::from(view.first_layer * faces);
        }
        shape.layers = view.last_layer - view.first_layer + 1;
    }
    Ok(())
}

fn sampler(sampling: &Sampling, shape: &Shape) -> Result<Sampler> {
    let axes = match shape.extent {
        _ if shape.cube => 2,
        [_, 0, _] => 1,
        [_, _, depth] if depth != 0 && !shape.layered => 3,
        _ => 2,
    };
    let known = if shape.cube { flag::MASK } else { flag::MASK & !flag::SEAMLESS };
    let modes = sampling.address.iter().take(axes).all(|&mode| mode <= 3);
    if !modes || sampling.filter > 1 || sampling.level_filter > 1 || sampling.flags & !known != 0 {
        return Err(Error::InvalidValue);
    }
    let has = |bit: u32| sampling.flags & bit != 0;
    Ok(Sampler {
        address: sampling.address.map(|mode| match mode {
            0 => Address::Wrap,
            2 => Address::Mirror,
            3 => Address::Border,
            _ => Address::Clamp,
        }),
        linear: sampling.filter == 1,
        linear_levels: sampling.level_filter == 1,
        normalized: has(flag::NORMALIZED),
        integers: has(flag::INTEGERS),
        srgb: has(flag::SRGB),
        seamless: has(flag::SEAMLESS),
        bias: sampling.bias,
        least: sampling.least,
        most: sampling.most,
        border: sampling.border,
    })
}

fn whole(shape: Shape, sampler: Sampler, surface: bool) -> Descriptor {
    let Shape { format, levels, extent, layers, layered, cube, borrowed, keep } = shape;
    Descriptor { surface, format, sampler, levels, extent, layers, layered, cube, borrowed, keep }
}

/// The descriptor of a texture.
///
/// # Errors
/// [`Error::InvalidValue`]: something is wrong or dead.
pub fn texture(resource: &Resource, sampling: &Sampling, view: Option<&View>) -> Result<Descriptor> {
    let mut shape = shape_of(resource)?;
    let sampler = sampler(sampling, &shape)?;
    if let Some(view) = view {
        look_through(&mut shape, view)?;
    }
    Ok(whole(shape, sampler, false))
}

/// The descriptor of a surface: only arrays have surfaces.
///
/// # Errors
/// As for [`texture`].
pub fn surface(resource: &Resource) -> Result<Descriptor> {
    match resource {
        Resource::Array(_) => Ok(whole(shape_of(resource)?, Sampler::default(), true)),
        _ => Err(Error::InvalidValue),
    }
}
