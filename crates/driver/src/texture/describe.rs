//! Translation of a program's texture descriptions to descriptors of the texture unit.

use std::any::Any;
use std::sync::Arc;

use ::texture::Descriptor;
use ::texture::descriptor::{Address, Channel, FACES, Format, Plane, Sampler};
use ::texture::mapped::Mapped;

use super::{
    LONGEST, OFFSET_ALIGNMENT, PITCH_ALIGNMENT, Resource, Sampling, View, WIDEST, address_mode as mode,
    filter_mode, flag,
};
use crate::error::{Error, Result};
use crate::memory::array::{self, Array, flag as shape};
use crate::memory::format;

/// The format with a number, if plain memory can have it.
fn plain_format(number: u32, channels: u32) -> Result<Format> {
    if format::is_plain(number) { format::format(number, channels) } else { Err(Error::InvalidValue) }
}

/// The part of a descriptor that only the memory determines.
struct Shape {
    format: Format,
    levels: Vec<Plane>,
    extent: [u32; 3],
    layers: u32,
    layered: bool,
    cube: bool,
    borrowed: bool,
    /// Whether it can be a texture.
    textures: bool,
    mapped: Option<Arc<Mapped>>,
    keep: Vec<Arc<dyn Any + Send + Sync>>,
}

fn arrays(all: Vec<Arc<Array>>) -> Result<Shape> {
    let first = &all.first().ok_or(Error::InvalidValue)?.descriptor;
    let (layered, cube) = (first.flags & shape::LAYERED != 0, first.flags & shape::CUBEMAP != 0);
    let layers = match (layered, cube) {
        (true, true) => first.depth / u64::from(FACES),
        (true, false) => first.depth,
        (false, _) => 1,
    };
    let levels = all.iter().map(|a| a.plane()).collect();
    let mapped = all.first().and_then(|a| a.mapped().cloned());
    Ok(Shape {
        format: format::format(first.format, first.channels)?,
        levels,
        extent: [first.width as u32, first.height as u32, first.depth as u32],
        layers: layers as u32,
        layered,
        cube,
        borrowed: false,
        textures: all.iter().all(|a| a.has_textures()),
        mapped,
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
        tile: None,
    };
    Shape {
        format,
        levels: vec![plane],
        extent: [width as u32, height as u32, 0],
        layers: 1,
        layered: false,
        cube: false,
        borrowed: true,
        textures: true,
        mapped: None,
        keep: Vec::new(),
    }
}

fn aligned(address: u64) -> Result<()> {
    if address == 0 || !address.is_multiple_of(OFFSET_ALIGNMENT) { Err(Error::InvalidValue) } else { Ok(()) }
}

fn shape_of(resource: &Resource) -> Result<Shape> {
    // A destroyed array is an invalid value here.
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

/// Narrows an array to a view. Plain memory has no views, so the view is ignored.
fn look_through(shape: &mut Shape, view: &View) -> Result<()> {
    if shape.borrowed {
        return Ok(());
    }
    let format = format::view(view.format)?;
    let blocks = format.side() != 1;
    // A view may read compressed blocks as 32-bit integers; a compressed view needs a compressed format.
    if shape.format.side() != 1
        || (blocks && (shape.format.channel, shape.format.bytes) != (Channel::Unsigned, 4))
    {
        return Err(Error::InvalidValue);
    }
    let side = format.side();
    let [width, height, _] = shape.extent.map(|n| n.saturating_mul(side));
    let same = [view.width, view.height] == [width, height].map(u64::from);
    let slices = if shape.layered { 0 } else { u64::from(shape.extent[2]) };
    let levels = view.first_level <= view.last_level && (view.last_level as usize) < shape.levels.len();
    let layers = view.first_layer <= view.last_layer && view.last_layer < shape.layers;
    if format.element() != shape.format.element() || !same || view.depth != slices || !levels || !layers {
        return Err(Error::InvalidValue);
    }
    shape.format = format;
    (shape.extent[0], shape.extent[1]) = (width, height);
    for plane in &mut shape.levels {
        (plane.width, plane.height) = (plane.width.saturating_mul(side), plane.height.saturating_mul(side));
    }
    shape.levels.truncate(view.last_level as usize + 1);
    shape.levels.drain(..view.first_level as usize);
    if shape.layered {
        let faces = if shape.cube { FACES } else { 1 };
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
    let modes = sampling.address.iter().take(axes).all(|&mode| mode <= mode::BORDER);
    let filters = [sampling.filter, sampling.level_filter].iter().all(|&mode| mode <= filter_mode::LINEAR);
    if !modes || !filters || sampling.flags & !known != 0 {
        return Err(Error::InvalidValue);
    }
    let has = |bit: u32| sampling.flags & bit != 0;
    Ok(Sampler {
        address: sampling.address.map(|mode| match mode {
            mode::WRAP => Address::Wrap,
            mode::MIRROR => Address::Mirror,
            mode::BORDER => Address::Border,
            _ => Address::Clamp,
        }),
        linear: sampling.filter == filter_mode::LINEAR,
        linear_levels: sampling.level_filter == filter_mode::LINEAR,
        normalized: has(flag::NORMALIZED),
        integers: has(flag::INTEGERS),
        srgb: has(flag::SRGB),
        seamless: has(flag::SEAMLESS),
        bias: sampling.bias,
        least: sampling.least,
        most: sampling.most,
        border: sampling.border,
        rounds: false,
    })
}

fn whole(shape: Shape, sampler: Sampler, surface: bool) -> Descriptor {
    let Shape { format, levels, extent, layers, layered, cube, borrowed, mapped, keep, .. } = shape;
    Descriptor { surface, format, sampler, levels, extent, layers, layered, cube, borrowed, mapped, keep }
}

/// The descriptor of a texture.
///
/// # Errors
/// [`Error::InvalidValue`]: an argument is invalid, or an object is destroyed.
pub fn texture(resource: &Resource, sampling: &Sampling, view: Option<&View>) -> Result<Descriptor> {
    let mut shape = shape_of(resource)?;
    let sampler = sampler(sampling, &shape)?;
    if let Some(view) = view {
        look_through(&mut shape, view)?;
    }
    // An sRGB format must be read as sRGB.
    if (shape.format.srgb && !sampler.srgb) || !shape.textures {
        return Err(Error::InvalidValue);
    }
    Ok(whole(shape, sampler, false))
}

/// The descriptor of a surface, which only an array can have.
///
/// # Errors
/// As for [`texture`].
pub fn surface(resource: &Resource) -> Result<Descriptor> {
    match resource {
        Resource::Array(_) => match shape_of(resource)? {
            // Compressed blocks cannot be written one texel at a time.
            shape if shape.format.side() != 1 => Err(Error::InvalidValue),
            shape => Ok(whole(shape, Sampler::default(), true)),
        },
        _ => Err(Error::InvalidValue),
    }
}
