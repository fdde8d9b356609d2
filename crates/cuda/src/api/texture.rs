//! Texture objects.

use driver::texture::{Resource, Sampling, View, object};
use driver::{Error, Result};

use crate::abi::{In, Out};
use crate::api;
use crate::api::current;
use crate::types::{ResourceDescriptor, TextureDescriptor, ViewDescriptor};

/// `CUresourcetype`.
mod kind {
    pub const ARRAY: u32 = 0;
    pub const MIPMAP: u32 = 1;
    pub const LINEAR: u32 = 2;
    pub const PITCH: u32 = 3;
}

/// The memory that a descriptor says: its words are the members of the union, two 32-bit ones in one.
pub(crate) fn resource(d: &ResourceDescriptor) -> Result<Resource> {
    let [first, second, third, fourth, fifth, ..] = d.words;
    let (format, channels) = (second as u32, (second >> 32) as u32);
    if d.flags != 0 {
        return Err(Error::InvalidValue);
    }
    Ok(match d.kind {
        kind::ARRAY => Resource::Array(first),
        kind::MIPMAP => Resource::Mipmap(first),
        kind::LINEAR => Resource::Linear { address: first, format, channels, size: third },
        kind::PITCH => {
            Resource::Pitch { address: first, format, channels, width: third, height: fourth, pitch: fifth }
        }
        _ => return Err(Error::InvalidValue),
    })
}

/// The descriptor of memory.
pub(crate) fn resource_descriptor(resource: &Resource) -> ResourceDescriptor {
    let mut d = ResourceDescriptor { kind: kind::ARRAY, padding: 0, words: [0; 16], flags: 0, end: 0 };
    let pair = |format: u32, channels: u32| u64::from(format) | u64::from(channels) << 32;
    match *resource {
        Resource::Array(handle) => d.words[0] = handle,
        Resource::Mipmap(handle) => (d.kind, d.words[0]) = (kind::MIPMAP, handle),
        Resource::Linear { address, format, channels, size } => {
            d.kind = kind::LINEAR;
            d.words[..3].copy_from_slice(&[address, pair(format, channels), size]);
        }
        Resource::Pitch { address, format, channels, width, height, pitch } => {
            d.kind = kind::PITCH;
            d.words[..5].copy_from_slice(&[address, pair(format, channels), width, height, pitch]);
        }
    }
    d
}

fn sampling(d: &TextureDescriptor) -> Result<Sampling> {
    let TextureDescriptor {
        address,
        filter,
        flags,
        anisotropy,
        level_filter,
        bias,
        least,
        most,
        border,
        reserved,
    } = *d;
    if reserved.iter().any(|&word| word != 0) {
        return Err(Error::InvalidValue);
    }
    Ok(Sampling { address, filter, flags, anisotropy, level_filter, bias, least, most, border })
}

fn view(d: &ViewDescriptor) -> View {
    View {
        format: d.format,
        width: d.width as u64,
        height: d.height as u64,
        depth: d.depth as u64,
        first_level: d.first_level,
        last_level: d.last_level,
        first_layer: d.first_layer,
        last_layer: d.last_layer,
    }
}

api! {
    Context fn cuTexObjectCreate(
        out: Out<u64>,
        memory: In<ResourceDescriptor>,
        texture: In<TextureDescriptor>,
        part: In<ViewDescriptor>,
    ) {
        out.required()?;
        let (memory, texture) = (resource(&memory.get()?)?, sampling(&texture.get()?)?);
        let part = if part.is_null() { None } else { Some(view(&part.get()?)) };
        out.set(object::create_texture(&*current()?, memory, texture, part)?);
        Ok(())
    }

    /// What is no object is no mistake.
    Context fn cuTexObjectDestroy(handle: u64) {
        object::destroy(handle);
        Ok(())
    }

    Context fn cuTexObjectGetResourceDesc(out: Out<ResourceDescriptor>, handle: u64) {
        out.required()?.set(resource_descriptor(&object::get(handle, false)?.resource));
        Ok(())
    }

    Context fn cuTexObjectGetTextureDesc(out: Out<TextureDescriptor>, handle: u64) {
        out.required()?;
        let s = object::get(handle, false)?.sampling.ok_or(Error::InvalidValue)?;
        out.set(TextureDescriptor {
            address: s.address,
            filter: s.filter,
            flags: s.flags,
            anisotropy: s.anisotropy,
            level_filter: s.level_filter,
            bias: s.bias,
            least: s.least,
            most: s.most,
            border: s.border,
            reserved: [0; 12],
        });
        Ok(())
    }

    /// All zeros where no view was given.
    Context fn cuTexObjectGetResourceViewDesc(out: Out<ViewDescriptor>, handle: u64) {
        out.required()?;
        let v = object::get(handle, false)?.view.unwrap_or_default();
        out.set(ViewDescriptor {
            format: v.format,
            padding: 0,
            width: v.width as usize,
            height: v.height as usize,
            depth: v.depth as usize,
            first_level: v.first_level,
            last_level: v.last_level,
            first_layer: v.first_layer,
            last_layer: v.last_layer,
            reserved: [0; 16],
        });
        Ok(())
    }
}
