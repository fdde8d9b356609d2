//! Texture references.

use driver::texture::reference::{self, State};
use driver::texture::{Resource, address_mode, filter_mode};
use driver::{Error, Result, module};

use crate::abi::{In, Out};
use crate::api;
use crate::api::current;
use crate::types::{ArrayDescriptor, CUdeviceptr, Handle};

/// `CU_TRSA_OVERRIDE_FORMAT`: use the array's format, which is always the case.
const OVERRIDE_FORMAT: u32 = 1;
/// The valid flags of a reference.
const FLAGS: u32 = 0x3f;
/// The number of axes.
const AXES: i32 = 3;

fn change(handle: Handle, change: impl FnOnce(&mut State)) -> Result<()> {
    reference::get(handle, false)?.change(change);
    Ok(())
}

/// Writes a part of a reference's state.
fn give<T: Copy>(out: Out<T>, handle: Handle, part: impl FnOnce(&State) -> T) -> Result<()> {
    out.required()?;
    out.set(part(&reference::get(handle, false)?.state()));
    Ok(())
}

/// Writes what the reference is bound to, if it is of that kind.
fn give_bound(out: Out<u64>, handle: Handle, part: impl FnOnce(Resource) -> Option<u64>) -> Result<()> {
    out.required()?;
    let bound = reference::get(handle, false)?.state().resource.and_then(part);
    out.set(bound.ok_or(Error::InvalidValue)?);
    Ok(())
}

fn axis(number: i32) -> Result<usize> {
    if (0..AXES).contains(&number) { Ok(number as usize) } else { Err(Error::InvalidValue) }
}

fn up_to(value: u32, most: u32) -> Result<u32> {
    if value <= most { Ok(value) } else { Err(Error::InvalidValue) }
}

fn set_pitch(
    handle: Handle,
    description: In<ArrayDescriptor>,
    address: CUdeviceptr,
    pitch: usize,
) -> Result<()> {
    let reference = reference::get(handle, false)?;
    let d = description.get()?;
    reference.set_pitch(address, (d.format, d.channels), [d.width as u64, d.height as u64], pitch as u64)
}

api! {
    Context Legal fn cuTexRefCreate(out: Out<Handle>) {
        out.required()?.set(reference::create(&*current()?)?);
        Ok(())
    }

    Context Legal fn cuTexRefDestroy(handle: Handle) {
        reference::destroy(handle)
    }

    Context Legal fn cuTexRefSetArray(handle: Handle, array: Handle, flags: u32) {
        let reference = reference::get(handle, false)?;
        if flags & !OVERRIDE_FORMAT != 0 {
            return Err(Error::InvalidValue);
        }
        reference.set_array(array)
    }

    Context Legal fn cuTexRefSetMipmappedArray(handle: Handle, mipmap: Handle, flags: u32) {
        let reference = reference::get(handle, false)?;
        if flags & !OVERRIDE_FORMAT != 0 {
            return Err(Error::InvalidValue);
        }
        reference.set_mipmap(mipmap)
    }

    Context Legal fn cuTexRefSetAddress_v2(
        offset: Out<usize>, handle: Handle, address: CUdeviceptr, size: usize,
    ) {
        let reference = reference::get(handle, false)?;
        if offset.is_null() && reference::misalignment(address) != 0 {
            return Err(Error::InvalidValue);
        }
        offset.set(reference.set_linear(address, size as u64)? as usize);
        Ok(())
    }

    Context Legal fn cuTexRefSetAddress2D_v2(
        handle: Handle, description: In<ArrayDescriptor>, address: CUdeviceptr, pitch: usize,
    ) {
        set_pitch(handle, description, address, pitch)
    }

    Context Legal fn cuTexRefSetAddress2D_v3(
        handle: Handle, description: In<ArrayDescriptor>, address: CUdeviceptr, pitch: usize,
    ) {
        set_pitch(handle, description, address, pitch)
    }

    Context Legal fn cuTexRefSetFormat(handle: Handle, format: u32, channels: i32) {
        reference::get(handle, false)?.set_format(format, channels as u32)
    }

    Context Legal fn cuTexRefSetAddressMode(handle: Handle, number: i32, mode: u32) {
        reference::get(handle, false)?;
        let axis = axis(number)?;
        let mode = if mode <= address_mode::BORDER { mode } else { address_mode::CLAMP };
        change(handle, |s| s.sampling.address[axis] = mode)
    }

    Context Legal fn cuTexRefSetFilterMode(handle: Handle, mode: u32) {
        change(handle, |s| s.sampling.filter = mode)
    }

    Context Legal fn cuTexRefSetMipmapFilterMode(handle: Handle, mode: u32) {
        reference::get(handle, false)?;
        let mode = up_to(mode, filter_mode::LINEAR)?;
        change(handle, |s| s.sampling.level_filter = mode)
    }

    Context Legal fn cuTexRefSetMipmapLevelBias(handle: Handle, bias: f32) {
        change(handle, |s| s.sampling.bias = bias)
    }

    Context Legal fn cuTexRefSetMipmapLevelClamp(handle: Handle, least: f32, most: f32) {
        change(handle, |s| (s.sampling.least, s.sampling.most) = (least, most))
    }

    Context Legal fn cuTexRefSetMaxAnisotropy(handle: Handle, most: u32) {
        change(handle, |s| s.sampling.anisotropy = most)
    }

    Context Legal fn cuTexRefSetBorderColor(handle: Handle, colour: In<[f32; 4]>) {
        reference::get(handle, false)?;
        let colour = colour.get()?;
        change(handle, |s| s.sampling.border = colour)
    }

    Context Legal fn cuTexRefSetFlags(handle: Handle, flags: u32) {
        reference::get(handle, false)?;
        if flags & !FLAGS != 0 {
            return Err(Error::InvalidValue);
        }
        change(handle, |s| s.sampling.flags = flags)
    }

    /// Writes 0 and fails if no memory is bound.
    Context Legal fn cuTexRefGetAddress_v2(out: Out<CUdeviceptr>, handle: Handle) {
        out.required()?;
        let bound = match reference::get(handle, false)?.state().resource {
            Some(Resource::Linear { address, .. } | Resource::Pitch { address, .. }) => Ok(address),
            _ => Err(Error::InvalidValue),
        };
        out.set(bound.unwrap_or(0));
        bound.map(|_| ())
    }

    Context Legal fn cuTexRefGetArray(out: Out<Handle>, handle: Handle) {
        give_bound(out, handle, |r| if let Resource::Array(array) = r { Some(array) } else { None })
    }

    Context Legal fn cuTexRefGetMipmappedArray(out: Out<Handle>, handle: Handle) {
        give_bound(out, handle, |r| if let Resource::Mipmap(mipmap) = r { Some(mipmap) } else { None })
    }

    Context Legal fn cuTexRefGetAddressMode(out: Out<u32>, handle: Handle, number: i32) {
        out.required()?;
        let axis = axis(number)?;
        give(out, handle, |s| s.sampling.address[axis])
    }

    Context Legal fn cuTexRefGetFilterMode(out: Out<u32>, handle: Handle) {
        give(out, handle, |s| s.sampling.filter)
    }

    /// Either pointer may be null.
    Context Legal fn cuTexRefGetFormat(format: Out<u32>, channels: Out<u32>, handle: Handle) {
        let state = reference::get(handle, false)?.state();
        format.set(state.format.0);
        channels.set(state.format.1);
        Ok(())
    }

    Context Legal fn cuTexRefGetMipmapFilterMode(out: Out<u32>, handle: Handle) {
        give(out, handle, |s| s.sampling.level_filter)
    }

    Context Legal fn cuTexRefGetMipmapLevelBias(out: Out<f32>, handle: Handle) {
        give(out, handle, |s| s.sampling.bias)
    }

    Context Legal fn cuTexRefGetMipmapLevelClamp(least: Out<f32>, most: Out<f32>, handle: Handle) {
        least.required()?;
        most.required()?;
        give(least, handle, |s| s.sampling.least)?;
        give(most, handle, |s| s.sampling.most)
    }

    Context Legal fn cuTexRefGetMaxAnisotropy(out: Out<u32>, handle: Handle) {
        give(out, handle, |s| s.sampling.anisotropy)
    }

    Context Legal fn cuTexRefGetBorderColor(out: Out<[f32; 4]>, handle: Handle) {
        give(out, handle, |s| s.sampling.border)
    }

    Context Legal fn cuTexRefGetFlags(out: Out<u32>, handle: Handle) {
        give(out, handle, |s| s.sampling.flags)
    }

    /// Kernels find their references themselves; only the arguments are checked.
    Object Legal fn cuParamSetTexRef(function: Handle, _unit: i32, handle: Handle) {
        module::function(function)?;
        reference::get(handle, false).map(|_| ())
    }
}
