//! Arrays and mipmaps.

use driver::memory::array::{self, Descriptor};
use driver::{Error, Result};

use crate::abi::{In, Out};
use crate::api;
use crate::api::current;
use crate::types::{Array3DDescriptor, ArrayDescriptor, ArrayRequirements, Handle};

fn descriptor(d: &Array3DDescriptor) -> Descriptor {
    Descriptor {
        width: d.width as u64,
        height: d.height as u64,
        depth: d.depth as u64,
        format: d.format,
        channels: d.channels,
        flags: d.flags,
    }
}

fn create(out: Out<Handle>, descriptor: Descriptor) -> Result<()> {
    out.required()?;
    out.set(array::create(&*current()?, descriptor)?);
    Ok(())
}

api! {
    Context fn cuArrayCreate_v2(out: Out<Handle>, description: In<ArrayDescriptor>) {
        out.required()?;
        let ArrayDescriptor { width, height, format, channels } = description.get()?;
        create(out, descriptor(&Array3DDescriptor { width, height, depth: 0, format, channels, flags: 0 }))
    }

    Context fn cuArray3DCreate_v2(out: Out<Handle>, description: In<Array3DDescriptor>) {
        create(out, descriptor(&description.get()?))
    }

    Context fn cuArrayGetDescriptor_v2(out: Out<ArrayDescriptor>, handle: Handle) {
        let d = array::get(handle)?.descriptor;
        out.required()?.set(ArrayDescriptor {
            width: d.width as usize,
            height: d.height as usize,
            format: d.format,
            channels: d.channels,
        });
        Ok(())
    }

    Context fn cuArray3DGetDescriptor_v2(out: Out<Array3DDescriptor>, handle: Handle) {
        let d = array::get(handle)?.descriptor;
        out.required()?.set(Array3DDescriptor {
            width: d.width as usize,
            height: d.height as usize,
            depth: d.depth as usize,
            format: d.format,
            channels: d.channels,
            flags: d.flags,
        });
        Ok(())
    }

    Context fn cuArrayDestroy(handle: Handle) {
        array::destroy(handle)
    }

    Context fn cuArrayGetMemoryRequirements(out: Out<ArrayRequirements>, handle: Handle, device: i32) {
        let array = array::get(handle)?;
        driver::driver()?.device(device)?;
        out.required()?.set(ArrayRequirements { size: array.size() as usize, alignment: 512, reserved: [0; 4] });
        Ok(())
    }

    /// No array has planes of its own: the planar formats are not supported.
    Context fn cuArrayGetPlane(out: Out<Handle>, handle: Handle, _plane: u32) {
        array::get(handle)?;
        out.required()?;
        Err(Error::InvalidValue)
    }

    Context fn cuMipmappedArrayCreate(out: Out<Handle>, description: In<Array3DDescriptor>, levels: u32) {
        out.required()?;
        out.set(array::create_mipmap(&*current()?, descriptor(&description.get()?), levels)?);
        Ok(())
    }

    Context fn cuMipmappedArrayGetLevel(out: Out<Handle>, handle: Handle, level: u32) {
        out.required()?;
        out.set(array::level(handle, level)?);
        Ok(())
    }

    Context fn cuMipmappedArrayDestroy(handle: Handle) {
        array::destroy_mipmap(handle)
    }
}
