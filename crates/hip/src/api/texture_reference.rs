//! Texture references (all deprecated by HIP).
//!
//! A reference is identified by the handle from hipModuleGetTexRef, which is CUDA's handle and points to the
//! structure of HIP's headers, or by the address of a registered `texture` variable, which is that structure.
//! What the program writes there takes effect at the next call with the reference.

use std::sync::Arc;

use capi::types::ArrayDescriptor;
use driver::module;
use driver::texture::reference::{self, Reference, State};
use driver::texture::{Resource, flag};

use crate::abi::{In, Out, Text};
use crate::current::{self, Handle};
use crate::types::{ChannelFormat, TextureReference};
use crate::{Error, Result, api, registered};

use super::structure;

/// `HIP_TRSA_OVERRIDE_FORMAT`.
const OVERRIDE_FORMAT: u32 = 1;
/// `HIP_TRSF_READ_AS_INTEGER`, `…NORMALIZED_COORDINATES`, `…SRGB`.
const FLAGS: u32 = flag::INTEGERS | flag::NORMALIZED | flag::SRGB;
/// `HIP_AD_FORMAT_FLOAT`.
const FLOAT: u32 = 0x20;

/// Which structure holds the sampling state.
enum Of {
    /// The driver's, behind the reference's handle.
    Module,
    /// The program's, at the address of a registered variable.
    Variable,
}

/// The reference of a handle or of a registered variable, updated from its structure.
fn of(handle: Handle) -> Result<(Arc<Reference>, Of)> {
    if handle == 0 {
        return Err(Error::InvalidValue);
    }
    if let Ok(reference) = reference::get(handle, false) {
        structure::take(handle, &reference)?;
        return Ok((reference, Of::Module));
    }
    let context = current::context()?;
    let (module, name) = registered::place_of(handle, &context)?;
    let reference = reference::get(module.reference(name.as_bytes(), false)?, false)?;
    let told = In::<TextureReference>::at_address(handle).get()?;
    reference.change(|state| told.sampling(state));
    Ok((reference, Of::Variable))
}

/// Works on a reference, then writes the structure if it is a module's. That of a registered variable is not
/// written, since runtime functions take it as a constant.
fn on<R>(handle: Handle, work: impl FnOnce(&Reference) -> Result<R>) -> Result<R> {
    let (reference, of) = of(handle)?;
    let done = work(&reference);
    if matches!(of, Of::Module) {
        structure::show(handle, &reference);
    }
    done
}

/// Changes the sampling state of a reference and writes its structure.
fn change(handle: Handle, change: impl FnOnce(&mut State)) -> Result<()> {
    let (reference, of) = of(handle)?;
    reference.change(change);
    match of {
        Of::Module => structure::show(handle, &reference),
        Of::Variable => structure::show_registered(handle, &reference)?,
    }
    Ok(())
}

/// Writes a part of a reference's state.
fn give<T: Copy>(out: Out<T>, handle: Handle, part: impl FnOnce(&State) -> T) -> Result<()> {
    out.required()?;
    out.set(part(&on(handle, |r| Ok(r.state()))?));
    Ok(())
}

/// Writes what the reference is bound to, if it is of that kind.
fn give_bound(out: Out<u64>, handle: Handle, part: impl FnOnce(Resource) -> Option<u64>) -> Result<()> {
    out.required()?;
    let bound = on(handle, |r| Ok(r.state()))?.resource.and_then(part);
    out.set(bound.ok_or(Error::InvalidValue)?);
    Ok(())
}

/// An axis below `most`.
fn axis(number: i32, most: i32) -> Result<usize> {
    if (0..most).contains(&number) { Ok(number as usize) } else { Err(Error::InvalidValue) }
}

fn array(handle: Handle, array: Handle, flags: u32) -> Result<()> {
    if handle == 0 || array == 0 || flags != OVERRIDE_FORMAT {
        return Err(Error::InvalidValue);
    }
    on(handle, |r| Ok(r.set_array(array)?))
}

fn mipmap(handle: Handle, mipmap: Handle, flags: u32) -> Result<()> {
    if handle == 0 || mipmap == 0 || flags != OVERRIDE_FORMAT {
        return Err(Error::InvalidValue);
    }
    on(handle, |r| Ok(r.set_mipmap(mipmap)?))
}

/// Binds linear memory. If the address is not aligned for textures, the caller must accept an offset.
fn linear(offset: Out<usize>, reference: &Reference, address: u64, size: usize) -> Result<()> {
    if offset.is_null() && reference::misalignment(address) != 0 {
        return Err(Error::InvalidValue);
    }
    offset.set(reference.set_linear(address, size as u64)? as usize);
    Ok(())
}

api! {
    Device Legal fn hipModuleGetTexRef(out: Out<Handle>, handle: Handle, name: Text) {
        out.required()?;
        let name = name.name()?;
        if handle == 0 {
            return Err(Error::InvalidHandle);
        }
        let module = module::get(handle).map_err(|_| Error::NotFound)?;
        let found = module.reference(name, false).map_err(|_| Error::NotFound)?;
        // HIP's initial state: one float channel; integers are read as normalised floats.
        let reference = reference::get(found, false)?;
        reference.change(|s| {
            s.format = (FLOAT, 1);
            s.sampling.flags &= !flag::INTEGERS;
        });
        structure::show(found, &reference);
        out.set(found);
        Ok(())
    }

    Context Legal fn hipTexRefSetArray(handle: Handle, to: Handle, flags: u32) {
        array(handle, to, flags)
    }

    Context Legal fn hipTexRefSetMipmappedArray(handle: Handle, to: Handle, flags: u32) {
        mipmap(handle, to, flags)
    }

    Context Legal fn hipTexRefSetAddress(offset: Out<usize>, handle: Handle, address: u64, size: usize) {
        on(handle, |r| linear(offset, r, address, size))
    }

    Context Legal fn hipTexRefSetAddress2D(
        handle: Handle, description: In<ArrayDescriptor>, address: u64, pitch: usize,
    ) {
        if handle == 0 {
            return Err(Error::InvalidValue);
        }
        let d = description.get()?;
        let extent = [d.width as u64, d.height as u64];
        on(handle, |r| Ok(r.set_pitch(address, (d.format, d.channels), extent, pitch as u64)?))
    }

    Context Legal fn hipTexRefSetFormat(handle: Handle, format: u32, channels: i32) {
        on(handle, |r| Ok(r.set_format(format, channels as u32)?))
    }

    /// Unknown flags are ignored.
    Context Legal fn hipTexRefSetFlags(handle: Handle, flags: u32) {
        change(handle, |s| s.sampling.flags = flags & FLAGS)
    }

    Context Legal fn hipTexRefSetFilterMode(handle: Handle, mode: u32) {
        change(handle, |s| s.sampling.filter = mode)
    }

    Context Legal fn hipTexRefSetAddressMode(handle: Handle, number: i32, mode: u32) {
        if handle == 0 {
            return Err(Error::InvalidValue);
        }
        let axis = axis(number, 3)?;
        change(handle, |s| s.sampling.address[axis] = mode)
    }

    Context Legal fn hipTexRefSetBorderColor(handle: Handle, colour: In<[f32; 4]>) {
        if handle == 0 {
            return Err(Error::InvalidValue);
        }
        let colour = colour.get()?;
        change(handle, |s| s.sampling.border = colour)
    }

    Context Legal fn hipTexRefSetMaxAnisotropy(handle: Handle, most: u32) {
        change(handle, |s| s.sampling.anisotropy = most)
    }

    Context Legal fn hipTexRefSetMipmapFilterMode(handle: Handle, mode: u32) {
        change(handle, |s| s.sampling.level_filter = mode)
    }

    Context Legal fn hipTexRefSetMipmapLevelBias(handle: Handle, bias: f32) {
        change(handle, |s| s.sampling.bias = bias)
    }

    Context Legal fn hipTexRefSetMipmapLevelClamp(handle: Handle, least: f32, most: f32) {
        if least > most {
            return Err(Error::InvalidValue);
        }
        change(handle, |s| (s.sampling.least, s.sampling.most) = (least, most))
    }

    Context Legal fn hipTexRefGetArray(out: Out<Handle>, handle: Handle) {
        give_bound(out, handle, |r| if let Resource::Array(array) = r { Some(array) } else { None })
    }

    Context Legal fn hipTexRefGetMipMappedArray(out: Out<Handle>, handle: Handle) {
        give_bound(out, handle, |r| if let Resource::Mipmap(mipmap) = r { Some(mipmap) } else { None })
    }

    Context Legal fn hipTexRefGetAddress(out: Out<u64>, handle: Handle) {
        give_bound(out, handle, |r| match r {
            Resource::Linear { address, .. } | Resource::Pitch { address, .. } => Some(address),
            _ => None,
        })
    }

    Context Legal fn hipTexRefGetAddressMode(out: Out<u32>, handle: Handle, number: i32) {
        out.required()?;
        if handle == 0 {
            return Err(Error::InvalidValue);
        }
        // HIP allows two axes here.
        let axis = axis(number, 2)?;
        give(out, handle, |s| s.sampling.address[axis])
    }

    Context Legal fn hipTexRefGetBorderColor(out: Out<[f32; 4]>, handle: Handle) {
        give(out, handle, |s| s.sampling.border)
    }

    Context Legal fn hipTexRefGetFilterMode(out: Out<u32>, handle: Handle) {
        give(out, handle, |s| s.sampling.filter)
    }

    Context Legal fn hipTexRefGetFlags(out: Out<u32>, handle: Handle) {
        give(out, handle, |s| s.sampling.flags & FLAGS)
    }

    Context Legal fn hipTexRefGetFormat(format: Out<u32>, channels: Out<i32>, handle: Handle) {
        format.required()?;
        channels.required()?;
        let state = on(handle, |r| Ok(r.state()))?;
        format.set(state.format.0);
        channels.set(state.format.1 as i32);
        Ok(())
    }

    Context Legal fn hipTexRefGetMaxAnisotropy(out: Out<i32>, handle: Handle) {
        give(out, handle, |s| s.sampling.anisotropy as i32)
    }

    Context Legal fn hipTexRefGetMipmapFilterMode(out: Out<u32>, handle: Handle) {
        give(out, handle, |s| s.sampling.level_filter)
    }

    Context Legal fn hipTexRefGetMipmapLevelBias(out: Out<f32>, handle: Handle) {
        give(out, handle, |s| s.sampling.bias)
    }

    Context Legal fn hipTexRefGetMipmapLevelClamp(least: Out<f32>, most: Out<f32>, handle: Handle) {
        least.required()?;
        most.required()?;
        give(least, handle, |s| s.sampling.least)?;
        give(most, handle, |s| s.sampling.most)
    }

    Context Legal fn hipBindTexture(
        offset: Out<usize>, handle: Handle, address: u64, format: In<ChannelFormat>, size: usize,
    ) {
        if address == 0 || handle == 0 {
            return Err(Error::InvalidValue);
        }
        let (format, channels) = format.get()?.channels()?;
        on(handle, |reference| {
            reference.set_format(format, channels)?;
            linear(offset, reference, address, size)
        })
    }

    Context Legal fn hipBindTexture2D(
        offset: Out<usize>, handle: Handle, address: u64, format: In<ChannelFormat>, width: usize,
        height: usize, pitch: usize,
    ) {
        if address == 0 || handle == 0 || pitch == 0 {
            return Err(Error::InvalidValue);
        }
        let format = format.get()?.channels()?;
        on(handle, |r| Ok(r.set_pitch(address, format, [width as u64, height as u64], pitch as u64)?))?;
        offset.set(0);
        Ok(())
    }

    Context Legal fn hipBindTextureToArray(handle: Handle, to: Handle, format: In<ChannelFormat>) {
        format.get()?;
        array(handle, to, OVERRIDE_FORMAT)
    }

    Context Legal fn hipBindTextureToMipmappedArray(handle: Handle, to: Handle, format: In<ChannelFormat>) {
        format.get()?;
        mipmap(handle, to, OVERRIDE_FORMAT)
    }

    Context Legal fn hipUnbindTexture(handle: Handle) {
        on(handle, |r| {
            r.change(|s| s.resource = None);
            Ok(())
        })
    }

    Context Legal fn hipGetTextureAlignmentOffset(out: Out<usize>, handle: Handle) {
        if handle == 0 {
            return Err(Error::InvalidValue);
        }
        out.required()?.set(0);
        Ok(())
    }

    /// The address of a registered variable is its reference.
    Context Legal fn hipGetTextureReference(out: Out<Handle>, symbol: u64) {
        out.required()?.set(symbol);
        Ok(())
    }
}
