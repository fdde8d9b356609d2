//! Texture descriptors, which both driver interfaces lay out alike (`CUDA_RESOURCE_DESC` and
//! `HIP_RESOURCE_DESC`, and so on).

use driver::context::Context;
use driver::texture::{Resource, Sampling, View, object};
use driver::{Error, Result};

use crate::In;

/// `CUDA_RESOURCE_DESC`, `HIP_RESOURCE_DESC`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct ResourceDescriptor {
    pub kind: u32,
    pub padding: u32,
    pub words: [u64; 16],
    pub flags: u32,
    pub end: u32,
}

/// `CUDA_TEXTURE_DESC`, `HIP_TEXTURE_DESC`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct TextureDescriptor {
    pub address: [u32; 3],
    pub filter: u32,
    pub flags: u32,
    pub anisotropy: u32,
    pub level_filter: u32,
    pub bias: f32,
    pub least: f32,
    pub most: f32,
    pub border: [f32; 4],
    pub reserved: [u32; 12],
}

/// `CUDA_RESOURCE_VIEW_DESC`, `HIP_RESOURCE_VIEW_DESC`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct ViewDescriptor {
    pub format: u32,
    pub padding: u32,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub first_level: u32,
    pub last_level: u32,
    pub first_layer: u32,
    pub last_layer: u32,
    pub reserved: [u32; 16],
}

/// `CUresourcetype`, `HIPresourcetype`.
pub mod kind {
    /// An array.
    pub const ARRAY: u32 = 0;
    /// A mipmapped array.
    pub const MIPMAP: u32 = 1;
    /// Linear memory.
    pub const LINEAR: u32 = 2;
    /// Pitched memory.
    pub const PITCH: u32 = 3;
}

/// Reads the union of a descriptor: its words are the members, with two 32-bit members per word.
impl TryFrom<ResourceDescriptor> for Resource {
    type Error = Error;

    fn try_from(d: ResourceDescriptor) -> Result<Resource> {
        let [first, second, third, fourth, fifth, ..] = d.words;
        let (format, channels) = (second as u32, (second >> 32) as u32);
        if d.flags != 0 {
            return Err(Error::InvalidValue);
        }
        Ok(match d.kind {
            kind::ARRAY => Resource::Array(first),
            kind::MIPMAP => Resource::Mipmap(first),
            kind::LINEAR => Resource::Linear { address: first, format, channels, size: third },
            kind::PITCH => Resource::Pitch {
                address: first,
                format,
                channels,
                width: third,
                height: fourth,
                pitch: fifth,
            },
            _ => return Err(Error::InvalidValue),
        })
    }
}

/// The descriptor of memory.
impl From<Resource> for ResourceDescriptor {
    fn from(resource: Resource) -> Self {
        let mut d = ResourceDescriptor { kind: kind::ARRAY, padding: 0, words: [0; 16], flags: 0, end: 0 };
        let pair = |format: u32, channels: u32| u64::from(format) | u64::from(channels) << 32;
        match resource {
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
}

impl TryFrom<TextureDescriptor> for Sampling {
    type Error = Error;

    fn try_from(d: TextureDescriptor) -> Result<Sampling> {
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
        } = d;
        if reserved.iter().any(|&word| word != 0) {
            return Err(Error::InvalidValue);
        }
        Ok(Sampling { address, filter, flags, anisotropy, level_filter, bias, least, most, border })
    }
}

impl From<Sampling> for TextureDescriptor {
    fn from(s: Sampling) -> Self {
        TextureDescriptor {
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
        }
    }
}

impl From<ViewDescriptor> for View {
    fn from(d: ViewDescriptor) -> Self {
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
}

impl From<View> for ViewDescriptor {
    fn from(v: View) -> Self {
        ViewDescriptor {
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
        }
    }
}

/// Creates the texture object of `cuTexObjectCreate` and `hipTexObjectCreate`; `part` may be null.
///
/// # Errors
/// A required pointer is null, a value is invalid, or an object is destroyed.
pub fn create(
    context: &Context,
    memory: In<ResourceDescriptor>,
    texture: In<TextureDescriptor>,
    part: In<ViewDescriptor>,
) -> Result<u64> {
    let (memory, texture) = (Resource::try_from(memory.get()?)?, Sampling::try_from(texture.get()?)?);
    let part = if part.is_null() { None } else { Some(View::from(part.get()?)) };
    object::create_texture(context, memory, texture, part)
}
