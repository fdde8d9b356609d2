//! Texture objects.

use capi::texture::{ResourceDescriptor, TextureDescriptor, ViewDescriptor, create};
use driver::Error;
use driver::texture::object;

use crate::abi::{In, Out};
use crate::api;
use crate::api::current;

api! {
    Context Legal fn cuTexObjectCreate(
        out: Out<u64>,
        memory: In<ResourceDescriptor>,
        texture: In<TextureDescriptor>,
        part: In<ViewDescriptor>,
    ) {
        out.required()?.set(create(&*current()?, memory, texture, part)?);
        Ok(())
    }

    /// An invalid handle is not an error.
    Context Legal fn cuTexObjectDestroy(handle: u64) {
        object::destroy(handle);
        Ok(())
    }

    Context Legal fn cuTexObjectGetResourceDesc(out: Out<ResourceDescriptor>, handle: u64) {
        out.required()?.set(object::get(handle, false)?.resource.into());
        Ok(())
    }

    Context Legal fn cuTexObjectGetTextureDesc(out: Out<TextureDescriptor>, handle: u64) {
        out.required()?;
        out.set(object::get(handle, false)?.sampling.ok_or(Error::InvalidValue)?.into());
        Ok(())
    }

    /// All zeros if the object has no view.
    Context Legal fn cuTexObjectGetResourceViewDesc(out: Out<ViewDescriptor>, handle: u64) {
        out.required()?;
        out.set(object::get(handle, false)?.view.unwrap_or_default().into());
        Ok(())
    }
}
