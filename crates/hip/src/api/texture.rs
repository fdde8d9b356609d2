//! Texture and surface objects, in the driver API's form and in the runtime API's.

use capi::texture::{ResourceDescriptor, TextureDescriptor, ViewDescriptor, create, kind};
use driver::texture::{Resource, Sampling, View, flag, object};

use crate::abi::{In, Out};
use crate::current;
use crate::types::{ChannelFormat, ResourceDesc, TextureDesc, ViewDesc};
use crate::{Error, Result, api};

/// `hipReadModeElementType`.
pub(super) const READ_ELEMENTS: u32 = 0;
/// `hipReadModeNormalizedFloat`.
pub(super) const READ_NORMALIZED: u32 = 1;

/// The memory in a resource descriptor of the runtime API.
pub(super) fn resource(d: &ResourceDesc) -> Result<Resource> {
    let described = || d.format.channels();
    Ok(match d.kind {
        kind::ARRAY | kind::MIPMAP if d.pointer == 0 => return Err(Error::InvalidValue),
        kind::ARRAY => Resource::Array(d.pointer),
        kind::MIPMAP => Resource::Mipmap(d.pointer),
        kind::LINEAR => {
            let (format, channels) = described()?;
            Resource::Linear { address: d.pointer, format, channels, size: d.sizes[0] }
        }
        kind::PITCH => {
            let (format, channels) = described()?;
            let [width, height, pitch] = d.sizes;
            Resource::Pitch { address: d.pointer, format, channels, width, height, pitch }
        }
        _ => return Err(Error::InvalidValue),
    })
}

fn resource_desc(resource: Resource) -> ResourceDesc {
    let none = ChannelFormat { x: 0, y: 0, z: 0, w: 0, kind: 0 };
    let plain = |kind, pointer, format, sizes| ResourceDesc { kind, pointer, format, sizes };
    match resource {
        Resource::Array(handle) => plain(kind::ARRAY, handle, none, [0; 3]),
        Resource::Mipmap(handle) => plain(kind::MIPMAP, handle, none, [0; 3]),
        Resource::Linear { address, format, channels, size } => {
            plain(kind::LINEAR, address, ChannelFormat::of(format, channels), [size, 0, 0])
        }
        Resource::Pitch { address, format, channels, width, height, pitch } => {
            plain(kind::PITCH, address, ChannelFormat::of(format, channels), [width, height, pitch])
        }
    }
}

/// The flags for the sampling fields of the runtime API.
pub(super) fn flags(read_mode: u32, normalized: bool, srgb: bool) -> u32 {
    let when = |on: bool, flag: u32| if on { flag } else { 0 };
    when(read_mode == READ_ELEMENTS, flag::INTEGERS)
        | when(normalized, flag::NORMALIZED)
        | when(srgb, flag::SRGB)
}

fn sampling(d: &TextureDesc) -> Sampling {
    Sampling {
        address: d.address,
        filter: d.filter,
        flags: flags(d.read_mode, d.normalized != 0, d.srgb != 0),
        anisotropy: d.anisotropy,
        level_filter: d.level_filter,
        bias: d.bias,
        least: d.least,
        most: d.most,
        border: d.border,
    }
}

fn texture_desc(s: &Sampling) -> TextureDesc {
    TextureDesc {
        address: s.address,
        filter: s.filter,
        read_mode: if s.flags & flag::INTEGERS == 0 { READ_NORMALIZED } else { READ_ELEMENTS },
        srgb: i32::from(s.flags & flag::SRGB != 0),
        border: s.border,
        normalized: i32::from(s.flags & flag::NORMALIZED != 0),
        anisotropy: s.anisotropy,
        level_filter: s.level_filter,
        bias: s.bias,
        least: s.least,
        most: s.most,
    }
}

impl From<ViewDesc> for View {
    fn from(d: ViewDesc) -> Self {
        let ViewDesc { format, width, height, depth, first_level, last_level, first_layer, last_layer } = d;
        let whole = ViewDescriptor {
            format,
            padding: 0,
            width,
            height,
            depth,
            first_level,
            last_level,
            first_layer,
            last_layer,
            reserved: [0; 16],
        };
        whole.into()
    }
}

impl From<View> for ViewDesc {
    fn from(v: View) -> Self {
        let ViewDescriptor {
            format,
            width,
            height,
            depth,
            first_level,
            last_level,
            first_layer,
            last_layer,
            ..
        } = v.into();
        ViewDesc { format, width, height, depth, first_level, last_level, first_layer, last_layer }
    }
}

/// Arrays may have a view, plain memory may not.
fn viewable(resource: &Resource) -> Result<()> {
    match resource {
        Resource::Array(_) | Resource::Mipmap(_) => Ok(()),
        _ => Err(Error::InvalidValue),
    }
}

pub use self::hipCreateSurfaceObject as _Z22hipCreateSurfaceObjectPP13__hip_surfacePK15hipResourceDesc;
pub use self::hipDestroySurfaceObject as _Z23hipDestroySurfaceObjectP13__hip_surface;

api! {
    Context Legal fn hipTexObjectCreate(
        out: Out<u64>, memory: In<ResourceDescriptor>, texture: In<TextureDescriptor>,
        part: In<ViewDescriptor>,
    ) {
        out.required()?.set(create(&*current::context()?, memory, texture, part)?);
        Ok(())
    }

    /// An invalid handle is not an error.
    Context Legal fn hipTexObjectDestroy(handle: u64) {
        object::destroy(handle);
        Ok(())
    }

    Context Legal fn hipTexObjectGetResourceDesc(out: Out<ResourceDescriptor>, handle: u64) {
        out.required()?.set(object::get(handle, false)?.resource.into());
        Ok(())
    }

    Context Legal fn hipTexObjectGetTextureDesc(out: Out<TextureDescriptor>, handle: u64) {
        out.required()?.set(object::get(handle, false)?.sampling.ok_or(Error::InvalidValue)?.into());
        Ok(())
    }

    Context Legal fn hipTexObjectGetResourceViewDesc(out: Out<ViewDescriptor>, handle: u64) {
        out.required()?.set(object::get(handle, false)?.view.unwrap_or_default().into());
        Ok(())
    }

    Context Legal fn hipCreateTextureObject(
        out: Out<u64>, memory: In<ResourceDesc>, texture: In<TextureDesc>, part: In<ViewDesc>,
    ) {
        out.required()?;
        let (memory, texture) = (resource(&memory.get()?)?, sampling(&texture.get()?));
        let part = if part.is_null() { None } else { Some(View::from(part.get()?)) };
        if part.is_some() {
            viewable(&memory)?;
        }
        if matches!(memory, Resource::Mipmap(_)) && texture.flags & flag::NORMALIZED == 0 {
            return Err(Error::InvalidValue);
        }
        out.set(object::create_texture(&*current::context()?, memory, texture, part)?);
        Ok(())
    }

    /// An invalid handle is not an error.
    Context Legal fn hipDestroyTextureObject(handle: u64) {
        object::destroy(handle);
        Ok(())
    }

    Context Legal fn hipGetTextureObjectResourceDesc(out: Out<ResourceDesc>, handle: u64) {
        out.required()?.set(resource_desc(object::get(handle, false)?.resource));
        Ok(())
    }

    Context Legal fn hipGetTextureObjectTextureDesc(out: Out<TextureDesc>, handle: u64) {
        out.required()?.set(texture_desc(&object::get(handle, false)?.sampling.ok_or(Error::InvalidValue)?));
        Ok(())
    }

    Context Legal fn hipGetTextureObjectResourceViewDesc(out: Out<ViewDesc>, handle: u64) {
        out.required()?.set(object::get(handle, false)?.view.unwrap_or_default().into());
        Ok(())
    }

    Context Legal fn hipCreateSurfaceObject(out: Out<u64>, memory: In<ResourceDesc>) {
        out.required()?;
        let memory = memory.get()?;
        if memory.kind != kind::ARRAY || memory.pointer == 0 {
            return Err(Error::InvalidValue);
        }
        out.set(object::create_surface(&*current::context()?, resource(&memory)?)?);
        Ok(())
    }

    /// An invalid handle is not an error.
    Context Legal fn hipDestroySurfaceObject(handle: u64) {
        object::destroy(handle);
        Ok(())
    }
}
