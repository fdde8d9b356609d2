//! Arrays and mipmaps.

use capi::texture::kind;
use driver::memory::address;
use driver::memory::array::{self, Descriptor};
use driver::memory::sparse::{Part, Region, Remap};
use driver::stream::{Operation, Policy};
use driver::{Error, Result};

use crate::abi::{In, Out};
use crate::api;
use crate::api::{check_default, current, stream};
use crate::types::{Array3DDescriptor, ArrayDescriptor, ArrayRequirements, Handle};

/// `CUDA_ARRAY_SPARSE_PROPERTIES`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct SparseProperties {
    pub tile: [u32; 3],
    pub first_tail_level: u32,
    pub tail_size: u64,
    pub flags: u32,
    pub reserved: [u32; 4],
}

/// `CUarrayMapInfo`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct ArrayMapping {
    pub resource_kind: u32,
    pub resource: Handle,
    pub part_kind: u32,
    pub part: [u64; 4],
    pub operation: u32,
    pub memory_kind: u32,
    pub memory: Handle,
    pub offset: u64,
    pub devices: u32,
    pub flags: u32,
    pub reserved: [u32; 2],
}

/// The maximum number of mappings in a call.
const MOST_MAPPINGS: u32 = 1 << 20;
/// `CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL`.
const SINGLE_TAIL: u32 = 1;
/// `CUarraySparseSubresourceType`.
const LEVEL: u32 = 0;
const TAIL: u32 = 1;
/// `CUmemOperationType`.
const MAP: u32 = 1;
const UNMAP: u32 = 2;
/// `CU_MEM_HANDLE_TYPE_GENERIC`.
const GENERIC: u32 = 0;

impl ArrayMapping {
    /// The part of the array; `None` if it is of no known kind.
    fn part(&self) -> Option<Part> {
        let words: [u32; 8] = std::array::from_fn(|i| (self.part[i / 2] >> (32 * (i % 2))) as u32);
        let [level, layer, x, y, z, width, height, depth] = words;
        match self.part_kind {
            LEVEL => Some(Part::Level { level, layer, offset: [x, y, z], extent: [width, height, depth] }),
            TAIL => Some(Part::Tail { layer: level, offset: self.part[1], size: self.part[2] }),
            _ => None,
        }
    }

    /// Checks a mapping for a stream of a device.
    fn check(&self, device: u32) -> Result<Remap> {
        some(self.resource)?;
        let (region, of) = match self.resource_kind {
            kind::ARRAY => {
                let array = array::get(self.resource)?;
                (array.region()?.clone(), array.device())
            }
            kind::MIPMAP => {
                let mipmap = array::mipmap(self.resource)?;
                (mipmap.region()?.clone(), mipmap.device())
            }
            _ => return Err(Error::InvalidValue),
        };
        let only = 1u32.checked_shl(device) == Some(self.devices) && of == device;
        if !only || self.flags != 0 || self.reserved != [0; 2] || self.memory_kind != GENERIC {
            return Err(Error::InvalidValue);
        }
        let memory = match self.operation {
            MAP => {
                let memory = address::get(self.memory)?;
                if memory.device() != device {
                    return Err(Error::InvalidValue);
                }
                Some((memory, self.offset))
            }
            // An H200 does not look at the memory.
            UNMAP => None,
            _ => return Err(Error::InvalidValue),
        };
        Remap::new(&region, self.part(), memory)
    }
}

fn requirements(out: Out<ArrayRequirements>, region: &Region, device: i32) -> Result<()> {
    let (size, alignment) = region.requirements().ok_or(Error::InvalidValue)?;
    driver::driver()?.device(device)?;
    out.required()?.set(ArrayRequirements {
        size: size as usize,
        alignment: alignment as usize,
        reserved: [0; 4],
    });
    Ok(())
}

fn properties(out: Out<SparseProperties>, region: &Region) -> Result<()> {
    let made = region.properties().ok_or(Error::InvalidValue)?;
    out.required()?.set(SparseProperties {
        tile: made.tile,
        first_tail_level: made.first_tail_level,
        tail_size: made.tail_size,
        flags: if made.single_tail { SINGLE_TAIL } else { 0 },
        reserved: [0; 4],
    });
    Ok(())
}

pub(super) fn create(out: Out<Handle>, descriptor: Descriptor) -> Result<()> {
    out.required()?;
    out.set(array::create(&*current()?, descriptor)?);
    Ok(())
}

/// [`Error::InvalidValue`] for null.
fn some(handle: Handle) -> Result<()> {
    if handle == 0 { Err(Error::InvalidValue) } else { Ok(()) }
}

api! {
    Context Unsafe fn cuArrayCreate_v2(out: Out<Handle>, description: In<ArrayDescriptor>) {
        out.required()?;
        create(out, Array3DDescriptor::from(description.get()?).into())
    }

    Context Unsafe fn cuArray3DCreate_v2(out: Out<Handle>, description: In<Array3DDescriptor>) {
        create(out, description.get()?.into())
    }

    Context Legal fn cuArrayGetDescriptor_v2(out: Out<ArrayDescriptor>, handle: Handle) {
        let descriptor = Array3DDescriptor::from(array::get(handle)?.descriptor);
        out.required()?.set(descriptor.into());
        Ok(())
    }

    Context Legal fn cuArray3DGetDescriptor_v2(out: Out<Array3DDescriptor>, handle: Handle) {
        let descriptor = array::get(handle)?.descriptor;
        out.required()?.set(descriptor.into());
        Ok(())
    }

    Context Unsafe fn cuArrayDestroy(handle: Handle) {
        array::destroy(handle)
    }

    Context Legal fn cuArrayGetMemoryRequirements(out: Out<ArrayRequirements>, handle: Handle, device: i32) {
        some(handle)?;
        let array = array::get(handle)?;
        requirements(out, array.region()?, device)
    }

    Context Legal fn cuMipmappedArrayGetMemoryRequirements(
        out: Out<ArrayRequirements>, handle: Handle, device: i32,
    ) {
        some(handle)?;
        let mipmap = array::mipmap(handle)?;
        requirements(out, mipmap.region()?, device)
    }

    Context Legal fn cuArrayGetSparseProperties(out: Out<SparseProperties>, handle: Handle) {
        some(handle)?;
        properties(out, array::get(handle)?.region()?)
    }

    Context Legal fn cuMipmappedArrayGetSparseProperties(out: Out<SparseProperties>, handle: Handle) {
        some(handle)?;
        properties(out, array::mipmap(handle)?.region()?)
    }

    Object Invalidates fn cuMemMapArrayAsync / cuMemMapArrayAsync_ptsz (
        list: In<ArrayMapping>, count: u32, in_stream: Handle,
    ) |own| {
        check_default(in_stream)?;
        if count == 0 || count > MOST_MAPPINGS {
            return Err(Error::InvalidValue);
        }
        let list = list.list(count as usize)?;
        let stream = stream(in_stream, own)?;
        let device = stream.context()?.device.ordinal;
        let changes: Result<Vec<Remap>> = list.iter().map(|mapping| mapping.check(device)).collect();
        stream.submit(Operation::Remap(changes?.into()), Policy::Later)
    }

    Context Legal fn cuArrayGetPlane(out: Out<Handle>, handle: Handle, plane: u32) {
        array::get(handle)?;
        out.required()?;
        out.set(array::plane(handle, plane)?);
        Ok(())
    }

    Context Unsafe fn cuMipmappedArrayCreate(
        out: Out<Handle>, description: In<Array3DDescriptor>, levels: u32,
    ) {
        out.required()?;
        out.set(array::create_mipmap(&*current()?, description.get()?.into(), levels)?);
        Ok(())
    }

    Context Legal fn cuMipmappedArrayGetLevel(out: Out<Handle>, handle: Handle, level: u32) {
        out.required()?;
        out.set(array::level(handle, level)?);
        Ok(())
    }

    Context Unsafe fn cuMipmappedArrayDestroy(handle: Handle) {
        array::destroy_mipmap(handle)
    }
}
