//! Arrays and mipmaps. Handles are the CUDA driver's, and point to the structures of HIP's headers
//! ([`super::structure`]).

use capi::types::{Array3DDescriptor, ArrayDescriptor};
use driver::memory::array::{self, Descriptor};

use crate::abi::{In, Out, tell};
use crate::current::{self, Handle};
use crate::types::{ArrayRequirements, ChannelFormat, Extent};
use crate::{Error, Result, api};

/// The alignment of an array's memory.
const ALIGNMENT: usize = 512;
/// `hipArrayTextureGather`: two-dimensional arrays only.
const GATHER: u32 = 8;
/// The valid flags: `hipArrayLayered`, `hipArraySurfaceLoadStore`, `hipArrayCubemap` and
/// `hipArrayTextureGather`.
const FLAGS: u32 = 0xf;

/// `hipChannelFormatKind`, bits per channel, `hipArray_Format`.
const FORMATS: &[(u32, i32, u32)] = &[
    (1, 8, 0x01),
    (1, 16, 0x02),
    (1, 32, 0x03),
    (0, 8, 0x08),
    (0, 16, 0x09),
    (0, 32, 0x0a),
    (2, 16, 0x10),
    (2, 32, 0x20),
];

impl ChannelFormat {
    /// The channel format and the number of channels, which must be equal and without gaps.
    pub(super) fn channels(&self) -> Result<(u32, u32)> {
        let bits = [self.x, self.y, self.z, self.w];
        let count = bits.iter().take_while(|b| **b != 0).count();
        let alike = bits.iter().zip(0..).all(|(b, i)| *b == if i < count { self.x } else { 0 });
        let row = FORMATS.iter().find(|f| f.0 == self.kind && f.1 == self.x);
        let (_, _, format) = row.filter(|_| alike).ok_or(Error::InvalidValue)?;
        Ok((*format, count as u32))
    }

    /// The description of `channels` channels of a format; all zeros if it has no channels.
    pub(super) fn of(format: u32, channels: u32) -> Self {
        let row = FORMATS.iter().find(|f| f.2 == format);
        let (kind, bits, _) = row.copied().unwrap_or((3, 0, 0));
        let channel = |number| if channels > number { bits } else { 0 };
        ChannelFormat { x: channel(0), y: channel(1), z: channel(2), w: channel(3), kind }
    }
}

fn checked(d: Array3DDescriptor) -> Result<Descriptor> {
    if !matches!(d.channels, 1 | 2 | 4) || d.flags & !FLAGS != 0 {
        return Err(Error::InvalidValue);
    }
    if d.flags & GATHER != 0 && (d.width == 0 || d.height == 0 || d.depth > 0) {
        return Err(Error::InvalidValue);
    }
    Ok(d.into())
}

pub(super) fn described(format: ChannelFormat, extent: Extent, flags: u32) -> Result<Descriptor> {
    let (format, channels) = format.channels()?;
    let Extent { width, height, depth } = extent;
    checked(Array3DDescriptor { width, height, depth, format, channels, flags })
}

fn create(out: Out<Handle>, descriptor: Descriptor) -> Result<()> {
    out.set(array::create(&*current::context()?, descriptor)?);
    Ok(())
}

/// Creates a mipmap with no more levels than it takes to reach a single element.
fn create_mipmap(out: Out<Handle>, descriptor: Descriptor, levels: u32) -> Result<()> {
    let largest = descriptor.width.max(descriptor.height).max(descriptor.depth);
    if levels > largest.checked_ilog2().map_or(0, |n| n + 1) {
        return Err(Error::InvalidValue);
    }
    out.set(array::create_mipmap(&*current::context()?, descriptor, levels)?);
    Ok(())
}

fn destroy(handle: Handle) -> Result<()> {
    if handle == 0 {
        return Err(Error::InvalidValue);
    }
    array::destroy(handle).map_err(|_| Error::ContextIsDestroyed)
}

fn destroy_mipmap(handle: Handle) -> Result<()> {
    array::destroy_mipmap(handle).map_err(|_| Error::InvalidValue)
}

fn level(out: Out<Handle>, handle: Handle, level: u32) -> Result<()> {
    out.required()?;
    out.set(array::level(handle, level)?);
    Ok(())
}

/// The descriptor of an array. [`Error::InvalidHandle`] for null or any other handle.
fn descriptor(handle: Handle) -> Result<Array3DDescriptor> {
    Ok(array::get(handle).map_err(|_| Error::InvalidHandle)?.descriptor.into())
}

/// `hipCreateChannelDesc`: returns a channel description.
pub extern "C" fn hipCreateChannelDesc(x: i32, y: i32, z: i32, w: i32, kind: u32) -> ChannelFormat {
    tell("hipCreateChannelDesc", &[("x", &x), ("y", &y), ("z", &z), ("w", &w), ("kind", &kind)], || 0);
    ChannelFormat { x, y, z, w, kind }
}

api! {
    Context Unsafe fn hipArrayCreate(out: Out<Handle>, description: In<ArrayDescriptor>) {
        let description = description.get()?;
        out.required()?;
        create(out, checked(description.into())?)
    }

    Context Unsafe fn hipArray3DCreate(out: Out<Handle>, description: In<Array3DDescriptor>) {
        let description = description.get()?;
        out.required()?;
        create(out, checked(description)?)
    }

    Context Unsafe fn hipMallocArray(
        out: Out<Handle>, format: In<ChannelFormat>, width: usize, height: usize, flags: u32,
    ) {
        out.required()?;
        create(out, described(format.get()?, Extent { width, height, depth: 0 }, flags)?)
    }

    Context Unsafe fn hipMalloc3DArray(
        out: Out<Handle>, format: In<ChannelFormat>, extent: Extent, flags: u32,
    ) {
        out.required()?;
        create(out, described(format.get()?, extent, flags)?)
    }

    Context Unsafe fn hipFreeArray(handle: Handle) {
        destroy(handle)
    }

    Context Unsafe fn hipArrayDestroy(handle: Handle) {
        destroy(handle)
    }

    Context Legal fn hipArrayGetInfo(
        format: Out<ChannelFormat>, extent: Out<Extent>, flags: Out<u32>, handle: Handle,
    ) {
        let d = descriptor(handle)?;
        format.set(ChannelFormat::of(d.format, d.channels));
        extent.set(Extent { width: d.width, height: d.height, depth: d.depth });
        flags.set(d.flags);
        Ok(())
    }

    Context Legal fn hipArrayGetDescriptor(out: Out<ArrayDescriptor>, handle: Handle) {
        let d = descriptor(handle)?;
        out.required()?.set(d.into());
        Ok(())
    }

    Context Legal fn hipArray3DGetDescriptor(out: Out<Array3DDescriptor>, handle: Handle) {
        let d = descriptor(handle)?;
        out.required()?.set(d);
        Ok(())
    }

    Context Legal fn hipGetChannelDesc(out: Out<ChannelFormat>, handle: Handle) {
        out.required()?;
        let d = descriptor(handle)?;
        out.set(ChannelFormat::of(d.format, d.channels));
        Ok(())
    }

    Context Unsafe fn hipMallocMipmappedArray(
        out: Out<Handle>, format: In<ChannelFormat>, extent: Extent, levels: u32, flags: u32,
    ) {
        out.required()?;
        create_mipmap(out, described(format.get()?, extent, flags)?, levels)
    }

    Context Unsafe fn hipMipmappedArrayCreate(
        out: Out<Handle>, description: In<Array3DDescriptor>, levels: u32,
    ) {
        out.required()?;
        create_mipmap(out, checked(description.get()?)?, levels)
    }

    Context Unsafe fn hipFreeMipmappedArray(handle: Handle) {
        destroy_mipmap(handle)
    }

    Context Unsafe fn hipMipmappedArrayDestroy(handle: Handle) {
        destroy_mipmap(handle)
    }

    Context Legal fn hipGetMipmappedArrayLevel(out: Out<Handle>, handle: Handle, number: u32) {
        level(out, handle, number)
    }

    /// The memory of all levels.
    Context Legal fn hipMipmappedArrayGetMemoryRequirements(
        out: Out<ArrayRequirements>, handle: Handle, _device: i32,
    ) {
        out.required()?;
        if handle == 0 {
            return Err(Error::InvalidHandle);
        }
        let levels = array::mipmap(handle).and_then(|m| m.arrays()).map_err(|_| Error::InvalidValue)?;
        let size = levels.iter().fold(0u64, |sum, level| sum.saturating_add(level.size()));
        out.set(ArrayRequirements { alignment: ALIGNMENT, size: size as usize });
        Ok(())
    }

    Context Legal fn hipMipmappedArrayGetLevel(out: Out<Handle>, handle: Handle, number: u32) {
        level(out, handle, number)
    }
}
