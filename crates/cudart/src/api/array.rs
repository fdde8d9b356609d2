//! Arrays, and the objects of textures and surfaces.

use capi::texture::{ResourceDescriptor, TextureDescriptor};
use capi::types::Array3DDescriptor;
use driver::memory::format;

use crate::abi::{In, Out};
use crate::error::checked;
use crate::types::{Channels, Extent};
use crate::{Error, Result, api, cu, forward};

/// `cudaChannelFormatKind`, with the driver's array format for each: a format for each width, or the number
/// of the first of a row of formats that both list in the same order.
mod kind {
    pub const SIGNED: u32 = 0;
    pub const UNSIGNED: u32 = 1;
    pub const FLOAT: u32 = 2;
    pub const NV12: u32 = 4;
    /// Runtime's first, its last, the driver's first.
    pub const NORMALISED: (u32, u32, u32) = (5, 16, 0xc0);
    pub const COMPRESSED: (u32, u32, u32) = (17, 30, 0x91);
}

/// The driver's formats of plain elements: kind, bits, format.
const PLAIN: [(u32, i32, u32); 8] = [
    (kind::UNSIGNED, 8, 0x01),
    (kind::UNSIGNED, 16, 0x02),
    (kind::UNSIGNED, 32, 0x03),
    (kind::SIGNED, 8, 0x08),
    (kind::SIGNED, 16, 0x09),
    (kind::SIGNED, 32, 0x0a),
    (kind::FLOAT, 16, 0x10),
    (kind::FLOAT, 32, 0x20),
];
const NV12_FORMAT: u32 = 0xb0;

/// The driver's format and number of channels.
fn format_of(channels: Channels) -> Result<(u32, u32)> {
    let Channels { bits, kind } = channels;
    let count = bits.iter().take_while(|b| **b > 0).count() as u32;
    for (first, last, format) in [kind::NORMALISED, kind::COMPRESSED] {
        if (first..=last).contains(&kind) {
            return Ok((format + kind - first, count));
        }
    }
    if kind == kind::NV12 && bits == [8, 8, 8, 0] {
        return Ok((NV12_FORMAT, count));
    }
    let same = bits.iter().take(count as usize).all(|b| *b == bits[0]);
    let rest = bits.iter().skip(count as usize).all(|b| *b == 0);
    let plain = PLAIN.iter().find(|row| row.0 == kind && row.1 == bits[0]);
    match plain {
        Some(row) if same && rest && matches!(count, 1 | 2 | 4) => Ok((row.2, count)),
        _ => Err(Error::INVALID_CHANNEL_DESCRIPTOR),
    }
}

/// The runtime's form of a format.
fn channels_of(number: u32, count: u32) -> Channels {
    let bits = |each: i32| std::array::from_fn(|i| if (i as u32) < count { each } else { 0 });
    if let Some(row) = PLAIN.iter().find(|row| row.2 == number) {
        return Channels { bits: bits(row.1), kind: row.0 };
    }
    for (first, last, format) in [kind::NORMALISED, kind::COMPRESSED] {
        if (format..=format + last - first).contains(&number) {
            // The normalised formats of 16 bits are those from the fourth on of each half.
            let wide = first == kind::NORMALISED.0 && (number - format) % 6 >= 3;
            return Channels { bits: bits(if wide { 16 } else { 8 }), kind: number - format + first };
        }
    }
    Channels { bits: bits(8), kind: kind::NV12 }
}

/// An array's description, and the bytes of an element.
pub(super) fn element_size(array: u64) -> Result<(Array3DDescriptor, usize)> {
    let mut description =
        Array3DDescriptor { width: 0, height: 0, depth: 0, format: 0, channels: 0, flags: 0 };
    checked(cu::cuArray3DGetDescriptor_v2(&mut description, array))?;
    let size = format::format(description.format, description.channels).map(|f| f.element() as usize);
    Ok((description, size.unwrap_or(1)))
}

fn description(channels: In<Channels>, extent: Extent, flags: u32) -> Result<Array3DDescriptor> {
    let (format, channels) = format_of(channels.get()?)?;
    let Extent { width, height, depth } = extent;
    Ok(Array3DDescriptor { width, height, depth, format, channels, flags })
}

/// `cudaResourceDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Resource {
    pub kind: u32,
    pub padding: u32,
    pub words: [u64; 16],
    pub flags: u32,
    pub end: u32,
}

/// `cudaResourceType`, which has the driver's numbers.
const LINEAR: u32 = 2;
const PITCHED: u32 = 3;

/// The driver's form of a resource. Where both have memory with a format, the runtime spells the format in
/// five words of 32 bits and the driver in two.
fn driver_resource(resource: Resource) -> Result<ResourceDescriptor> {
    let mut words = resource.words;
    if matches!(resource.kind, LINEAR | PITCHED) {
        let bits = [words[1] as i32, (words[1] >> 32) as i32, words[2] as i32, (words[2] >> 32) as i32];
        let (format, channels) = format_of(Channels { bits, kind: words[3] as u32 })?;
        words = [0; 16];
        words[0] = resource.words[0];
        words[1] = u64::from(format) | u64::from(channels) << 32;
        words[2..5].copy_from_slice(&resource.words[4..7]);
    }
    Ok(ResourceDescriptor { kind: resource.kind, padding: 0, words, flags: resource.flags, end: 0 })
}

fn runtime_resource(resource: ResourceDescriptor) -> Resource {
    let mut words = resource.words;
    if matches!(resource.kind, LINEAR | PITCHED) {
        let Channels { bits, kind } = channels_of(words[1] as u32, (words[1] >> 32) as u32);
        let pair = |low: i32, high: i32| u64::from(low as u32) | u64::from(high as u32) << 32;
        words = [0; 16];
        words[0] = resource.words[0];
        words[1] = pair(bits[0], bits[1]);
        words[2] = pair(bits[2], bits[3]);
        words[3] = u64::from(kind);
        words[4..7].copy_from_slice(&resource.words[2..5]);
    }
    Resource { kind: resource.kind, padding: 0, words, flags: resource.flags, end: 0 }
}

/// `cudaTextureDesc`. 11 lacks the last field, except in its functions `_v2`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Texture {
    pub address: [u32; 3],
    pub filter: u32,
    pub read: u32,
    pub srgb: i32,
    pub border: [f32; 4],
    pub normalised: i32,
    pub anisotropy: u32,
    pub level_filter: u32,
    pub bias: f32,
    pub least: f32,
    pub most: f32,
    pub no_trilinear: i32,
}

/// `CU_TRSF_…`.
mod flag {
    pub const READ_AS_INTEGER: u32 = 1;
    pub const NORMALISED: u32 = 2;
    pub const SRGB: u32 = 0x10;
    pub const NO_TRILINEAR: u32 = 0x20;
    pub const SEAMLESS_CUBEMAP: u32 = 0x40;
}

/// `cudaReadModeElementType`.
const READ_ELEMENTS: u32 = 0;

fn driver_texture(t: Texture, seamless: bool) -> TextureDescriptor {
    let flags = [
        (t.read == READ_ELEMENTS, flag::READ_AS_INTEGER),
        (t.normalised != 0, flag::NORMALISED),
        (t.srgb != 0, flag::SRGB),
        (t.no_trilinear != 0, flag::NO_TRILINEAR),
        (seamless, flag::SEAMLESS_CUBEMAP),
    ];
    TextureDescriptor {
        address: t.address,
        filter: t.filter,
        flags: flags.iter().filter(|f| f.0).map(|f| f.1).sum(),
        anisotropy: t.anisotropy,
        level_filter: t.level_filter,
        bias: t.bias,
        least: t.least,
        most: t.most,
        border: t.border,
        reserved: [0; 12],
    }
}

/// What follows a texture's description in 12 and later.
fn seamless_of(texture: u64) -> u64 {
    texture.wrapping_add(size_of::<Texture>() as u64)
}

fn create(out: Out<u64>, resource: In<Resource>, texture: In<Texture>, view: u64, later: bool) -> Result<()> {
    let resource = driver_resource(resource.get()?)?;
    let seamless = later && In::<i32>::at_address(seamless_of(texture.address())).get()? != 0;
    let texture = driver_texture(texture.get()?, seamless);
    let (resource, texture) = (&raw const resource as u64, &raw const texture as u64);
    checked(cu::cuTexObjectCreate(out.address(), resource, texture, view))
}

fn describe(out: Out<Texture>, object: u64, later: bool) -> Result<()> {
    out.required()?;
    let empty = Texture {
        address: [0; 3],
        filter: 0,
        read: 0,
        srgb: 0,
        border: [0.0; 4],
        normalised: 0,
        anisotropy: 0,
        level_filter: 0,
        bias: 0.0,
        least: 0.0,
        most: 0.0,
        no_trilinear: 0,
    };
    let mut t = driver_texture(empty, false);
    checked(cu::cuTexObjectGetTextureDesc(&raw mut t as u64, object))?;
    let has = |flag| t.flags & flag != 0;
    out.set(Texture {
        address: t.address,
        filter: t.filter,
        read: u32::from(!has(flag::READ_AS_INTEGER)),
        srgb: i32::from(has(flag::SRGB)),
        border: t.border,
        normalised: i32::from(has(flag::NORMALISED)),
        anisotropy: t.anisotropy,
        level_filter: t.level_filter,
        bias: t.bias,
        least: t.least,
        most: t.most,
        no_trilinear: i32::from(has(flag::NO_TRILINEAR)),
    });
    if later {
        Out::<i32>::at(seamless_of(out.address())).set(i32::from(has(flag::SEAMLESS_CUBEMAP)));
    }
    Ok(())
}

/// An empty description for the driver to fill.
fn no_resource() -> ResourceDescriptor {
    ResourceDescriptor { kind: 0, padding: 0, words: [0; 16], flags: 0, end: 0 }
}

/// `cudaExternalMemoryMipmappedArrayDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct ExternalArray {
    pub offset: u64,
    pub channels: Channels,
    pub extent: Extent,
    pub flags: u32,
    pub levels: u32,
}

/// `CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC`.
#[repr(C)]
struct DriverExternalArray {
    offset: u64,
    array: Array3DDescriptor,
    levels: u32,
    reserved: [u32; 16],
}

forward! {
    Context fn cudaGetMipmappedArrayLevel(out: u64, array: u64, level: u32) = cuMipmappedArrayGetLevel;
    Context fn cudaArrayGetPlane(out: u64, array: u64, plane: u32) = cuArrayGetPlane;
    Context fn cudaArrayGetMemoryRequirements(out: u64, array: u64, device: i32)
        = cuArrayGetMemoryRequirements;
    Context fn cudaMipmappedArrayGetMemoryRequirements(out: u64, array: u64, device: i32)
        = cuMipmappedArrayGetMemoryRequirements;
    Context fn cudaArrayGetSparseProperties(out: u64, array: u64) = cuArrayGetSparseProperties;
    Context fn cudaMipmappedArrayGetSparseProperties(out: u64, array: u64)
        = cuMipmappedArrayGetSparseProperties;
    Context fn cudaDestroyTextureObject(object: u64) = cuTexObjectDestroy;
    Context fn cudaDestroySurfaceObject(object: u64) = cuSurfObjectDestroy;
    Context fn cudaGetTextureObjectResourceViewDesc(view: u64, object: u64) = cuTexObjectGetResourceViewDesc;
}

api! {
    Context Inherits fn cudaMallocArray(
        out: Out<u64>, channels: In<Channels>, width: usize, height: usize, flags: u32,
    ) {
        let made = description(channels, Extent { width, height, depth: 0 }, flags)?;
        checked(cu::cuArray3DCreate_v2(out.address(), &made))
    }

    Context Inherits fn cudaMalloc3DArray(out: Out<u64>, channels: In<Channels>, extent: Extent, flags: u32) {
        checked(cu::cuArray3DCreate_v2(out.address(), &description(channels, extent, flags)?))
    }

    Context Inherits fn cudaMallocMipmappedArray(
        out: Out<u64>, channels: In<Channels>, extent: Extent, levels: u32, flags: u32,
    ) {
        checked(cu::cuMipmappedArrayCreate(out.address(), &description(channels, extent, flags)?, levels))
    }

    Context Inherits fn cudaFreeArray(array: u64) {
        if array == 0 { Ok(()) } else { checked(cu::cuArrayDestroy(array)) }
    }

    Context Inherits fn cudaFreeMipmappedArray(array: u64) {
        if array == 0 { Ok(()) } else { checked(cu::cuMipmappedArrayDestroy(array)) }
    }

    Context Inherits fn cudaGetChannelDesc(channels: Out<Channels>, array: u64) {
        let (description, _) = element_size(array)?;
        channels.required()?.set(channels_of(description.format, description.channels));
        Ok(())
    }

    Context Inherits fn cudaArrayGetInfo(
        channels: Out<Channels>, extent: Out<Extent>, flags: Out<u32>, array: u64,
    ) {
        let (d, _) = element_size(array)?;
        channels.set(channels_of(d.format, d.channels));
        extent.set(Extent { width: d.width, height: d.height, depth: d.depth });
        flags.set(d.flags);
        Ok(())
    }

    Context Inherits fn cudaCreateTextureObject(
        out: Out<u64>, resource: In<Resource>, texture: In<Texture>, view: u64,
    ) {
        create(out, resource, texture, view, true)
    }

    Context Inherits fn cudaCreateTextureObject_in_11(
        out: Out<u64>, resource: In<Resource>, texture: In<Texture>, view: u64,
    ) {
        create(out, resource, texture, view, false)
    }

    Context Inherits fn cudaCreateTextureObject_v2(
        out: Out<u64>, resource: In<Resource>, texture: In<Texture>, view: u64,
    ) {
        create(out, resource, texture, view, true)
    }

    Context Inherits fn cudaGetTextureObjectTextureDesc(texture: Out<Texture>, object: u64) {
        describe(texture, object, true)
    }

    Context Inherits fn cudaGetTextureObjectTextureDesc_in_11(texture: Out<Texture>, object: u64) {
        describe(texture, object, false)
    }

    Context Inherits fn cudaGetTextureObjectTextureDesc_v2(texture: Out<Texture>, object: u64) {
        describe(texture, object, true)
    }

    Context Inherits fn cudaGetTextureObjectResourceDesc(resource: Out<Resource>, object: u64) {
        resource.required()?;
        let mut found = no_resource();
        checked(cu::cuTexObjectGetResourceDesc(&raw mut found as u64, object))?;
        resource.set(runtime_resource(found));
        Ok(())
    }

    Context Inherits fn cudaCreateSurfaceObject(out: Out<u64>, resource: In<Resource>) {
        let resource = driver_resource(resource.get()?)?;
        checked(cu::cuSurfObjectCreate(out.address(), &raw const resource as u64))
    }

    Context Inherits fn cudaGetSurfaceObjectResourceDesc(resource: Out<Resource>, object: u64) {
        resource.required()?;
        let mut found = no_resource();
        checked(cu::cuSurfObjectGetResourceDesc(&raw mut found as u64, object))?;
        resource.set(runtime_resource(found));
        Ok(())
    }

    Driver Inherits fn cudaDeviceGetTexture1DLinearMaxWidth(
        width: Out<usize>, channels: In<Channels>, device: i32,
    ) {
        let (format, count) = format_of(channels.get()?)?;
        checked(cu::cuDeviceGetTexture1DLinearMaxWidth(width.address(), format, count, device))
    }

    Context Inherits fn cudaExternalMemoryGetMappedMipmappedArray(
        out: Out<u64>, memory: u64, external: In<ExternalArray>,
    ) {
        let ExternalArray { offset, channels, extent, flags, levels } = external.get()?;
        let (format, count) = format_of(channels)?;
        let Extent { width, height, depth } = extent;
        let array = Array3DDescriptor { width, height, depth, format, channels: count, flags };
        let made = DriverExternalArray { offset, array, levels, reserved: [0; 16] };
        checked(cu::cuExternalMemoryGetMappedMipmappedArray(out.address(), memory, &raw const made as u64))
    }
}

/// `cudaCreateChannelDesc`.
pub extern "C" fn cudaCreateChannelDesc(x: i32, y: i32, z: i32, w: i32, kind: u32) -> Channels {
    Channels { bits: [x, y, z, w], kind }
}
