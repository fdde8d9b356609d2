//! Arrays and mipmaps.

use driver::memory::array::{self, Descriptor};
use driver::{Error, Result};

use crate::abi::{In, Out};
use crate::api;
use crate::api::current;
use crate::types::{Array3DDescriptor, ArrayDescriptor, ArrayRequirements, Handle};

fn create(out: Out<Handle>, descriptor: Descriptor) -> Result<()> {
    out.required()?;
    out.set(array::create(&*current()?, descriptor)?);
    Ok(())
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
        array::get(handle)?;
        driver::driver()?.device(device)?;
        out.required()?;
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
