//! Surface objects and surface references.

use capi::texture::ResourceDescriptor;
use driver::Error;
use driver::texture::{Resource, object, reference};

use crate::abi::{In, Out};
use crate::api;
use crate::api::current;
use crate::types::Handle;

api! {
    Context Legal fn cuSurfObjectCreate(out: Out<u64>, memory: In<ResourceDescriptor>) {
        out.required()?;
        out.set(object::create_surface(&*current()?, Resource::try_from(memory.get()?)?)?);
        Ok(())
    }

    /// An invalid handle is not an error.
    Context Legal fn cuSurfObjectDestroy(handle: u64) {
        object::destroy(handle);
        Ok(())
    }

    Context Legal fn cuSurfObjectGetResourceDesc(out: Out<ResourceDescriptor>, handle: u64) {
        out.required()?.set(object::get(handle, true)?.resource.into());
        Ok(())
    }

    Context Legal fn cuSurfRefSetArray(handle: Handle, array: Handle, flags: u32) {
        let reference = reference::get(handle, true)?;
        if flags != 0 {
            return Err(Error::InvalidValue);
        }
        reference.set_array(array)
    }

    Context Legal fn cuSurfRefGetArray(out: Out<Handle>, handle: Handle) {
        out.required()?;
        match reference::get(handle, true)?.state().resource {
            Some(Resource::Array(array)) => {
                out.set(array);
                Ok(())
            }
            _ => Err(Error::InvalidValue),
        }
    }
}
