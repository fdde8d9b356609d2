//! Arrays and mipmaps.

use capi::texture::kind;
use driver::memory::array::{self, Descriptor};
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

    /// Only arrays with deferred mapping have memory requirements; this driver has none of those.
    Context Legal fn cuArrayGetMemoryRequirements(out: Out<ArrayRequirements>, handle: Handle, device: i32) {
        some(handle)?;
        array::get(handle)?;
        driver::driver()?.device(device)?;
        out.required()?;
        Err(Error::InvalidValue)
    }

    Context Legal fn cuMipmappedArrayGetMemoryRequirements(
        out: Out<ArrayRequirements>, handle: Handle, device: i32,
    ) {
        some(handle)?;
        array::mipmap(handle)?;
        driver::driver()?.device(device)?;
        out.required()?;
        Err(Error::InvalidValue)
    }

    /// No array is sparse (`CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED` is 0).
    Context Legal fn cuArrayGetSparseProperties(out: Out<SparseProperties>, handle: Handle) {
        some(handle)?;
        array::get(handle)?;
        out.required()?;
        Err(Error::InvalidValue)
    }

    Context Legal fn cuMipmappedArrayGetSparseProperties(out: Out<SparseProperties>, handle: Handle) {
        some(handle)?;
        array::mipmap(handle)?;
        out.required()?;
        Err(Error::InvalidValue)
    }

    /// Memory is mapped only onto arrays that are sparse or have deferred mapping: there are none.
    Object Invalidates fn cuMemMapArrayAsync / cuMemMapArrayAsync_ptsz (
        list: In<ArrayMapping>, count: u32, in_stream: Handle,
    ) |own| {
        check_default(in_stream)?;
        if count == 0 {
            return Err(Error::InvalidValue);
        }
        for mapping in list.list(count as usize)? {
            some(mapping.resource)?;
            match mapping.resource_kind {
                kind::ARRAY => array::get(mapping.resource).map(|_| ())?,
                kind::MIPMAP => array::mipmap(mapping.resource).map(|_| ())?,
                _ => return Err(Error::InvalidValue),
            }
        }
        stream(in_stream, own)?;
        Err(Error::InvalidValue)
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
