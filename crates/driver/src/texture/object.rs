//! Texture and surface objects.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use ::texture::record::Family;
use ::texture::table;

use super::{Resource, Sampling, View, describe};
use crate::context::{self, Context};
use crate::error::{Error, Result};
use crate::handle::lock;

/// The description that an object was created from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Object {
    /// The memory.
    pub resource: Resource,
    /// How it is sampled; `None` for a surface.
    pub sampling: Option<Sampling>,
    /// The view, if one was given.
    pub view: Option<View>,
    context: u64,
}

/// The objects by handle, which the texture unit assigns.
static OBJECTS: LazyLock<Mutex<HashMap<u64, Arc<Object>>>> = LazyLock::new(Mutex::default);

/// On an AMD device, the handle is the address of a record that kernels read.
fn insert(context: &Context, object: Object, descriptor: ::texture::Descriptor) -> Result<u64> {
    let family = context.device.info.amd_target.as_deref().map(Family::of_target);
    let handle = super::reference::insert_for(family, descriptor)?;
    lock(&OBJECTS).insert(handle, Arc::new(object));
    Ok(handle)
}

/// Creates a texture object and returns the handle for kernels.
///
/// # Errors
/// [`Error::InvalidValue`]: an argument is invalid, or an object is destroyed.
pub fn create_texture(
    context: &Context,
    resource: Resource,
    sampling: Sampling,
    view: Option<View>,
) -> Result<u64> {
    let descriptor = describe::texture(&resource, &sampling, view.as_ref())?;
    let sampling = Some(sampling);
    insert(context, Object { resource, sampling, view, context: context.id() }, descriptor)
}

/// Creates a surface object of an array and returns the handle for kernels.
///
/// # Errors
/// [`Error::InvalidValue`]: the resource is not an array, or the array is destroyed.
pub fn create_surface(context: &Context, resource: Resource) -> Result<u64> {
    let descriptor = describe::surface(&resource)?;
    insert(context, Object { resource, sampling: None, view: None, context: context.id() }, descriptor)
}

/// The texture or surface object of a handle.
///
/// # Errors
/// [`Error::InvalidValue`]: there is no such object.
pub fn get(handle: u64, surface: bool) -> Result<Arc<Object>> {
    let object = lock(&OBJECTS).get(&handle).cloned();
    object.filter(|o| o.sampling.is_none() == surface).ok_or(Error::InvalidValue)
}

/// Destroys an object after the pending work of its context, which may use it. An invalid handle is ignored,
/// as on the hardware.
pub fn destroy(handle: u64) {
    let Some(object) = lock(&OBJECTS).get(&handle).cloned() else { return };
    if let Some(context) = context::CONTEXTS.all().into_iter().find(|c| c.id() == object.context) {
        context.settle();
    }
    lock(&OBJECTS).remove(&handle);
    table::remove(handle);
}

/// Destroys the objects of a destroyed context.
pub(crate) fn context_ended(id: u64) {
    let mut objects = lock(&OBJECTS);
    objects.retain(|handle, object| {
        let stays = object.context != id;
        if !stays {
            table::remove(*handle);
        }
        stays
    });
}
