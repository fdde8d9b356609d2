//! Texture and surface references: bindings of module variables, set piece by piece.

use std::sync::{Arc, Mutex};

use ::texture::record::Family;
use ::texture::{Descriptor, table};

use super::{LONGEST, OFFSET_ALIGNMENT, PITCH_ALIGNMENT, Resource, Sampling, describe};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::handle::{Handle, Pointers, lock};
use crate::memory::{array, format};

static REFERENCES: Pointers<Reference> = Pointers::new();

/// The initial format of a reference: one float.
const FORMAT: (u32, u32) = (0x20, 1);

/// The binding and sampling state of a reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// The bound memory.
    pub resource: Option<Resource>,
    /// The format number and channels: used for plain memory, and returned by queries.
    pub format: (u32, u32),
    /// How it is sampled.
    pub sampling: Sampling,
}

impl Default for State {
    fn default() -> Self {
        let sampling = Sampling { address: [1; 3], ..Sampling::default() };
        State { resource: None, format: FORMAT, sampling }
    }
}

/// A texture or surface reference.
#[derive(Debug)]
pub struct Reference {
    /// Whether it is a surface reference rather than a texture reference.
    pub surface: bool,
    /// The address of its variable; `None` if it does not belong to a module.
    slot: Option<u64>,
    /// The family of an AMD device, whose kernels read a record.
    family: Option<Family>,
    /// The state, and whether the variable must be updated.
    state: Mutex<(State, bool)>,
    /// The handle in the variable; 0 if it is not bound.
    bound: Mutex<u64>,
}

/// The handle for kernels of a device. Only AMD devices have a family.
pub(super) fn insert_for(family: Option<Family>, mut descriptor: Descriptor) -> Result<u64> {
    let handle = match family {
        Some(family) => {
            descriptor.sampler.rounds = true;
            table::insert_with_record(descriptor, family)
        }
        None => table::insert(descriptor),
    };
    handle.ok_or(Error::OutOfMemory)
}

/// Creates a reference; `slot` is the address of its variable of 8 bytes.
pub(crate) fn make(context: &Context, slot: Option<u64>, surface: bool) -> Result<(Handle, Arc<Reference>)> {
    let reference = Arc::new(Reference {
        surface,
        slot,
        family: context.device.info.amd_target.as_deref().map(Family::of_target),
        state: Mutex::new((State::default(), false)),
        bound: Mutex::new(0),
    });
    let handle = REFERENCES.insert(Arc::clone(&reference)).ok_or(Error::OutOfMemory)?;
    Ok((handle, reference))
}

/// Creates a texture reference without a module (`cuTexRefCreate`). It can be set and queried, but no kernel
/// reads it.
pub fn create(context: &Context) -> Result<Handle> {
    make(context, None, false).map(|made| made.0)
}

/// The reference of a handle.
///
/// # Errors
/// [`Error::InvalidHandle`]: there is no such reference.
pub fn get(handle: Handle, surface: bool) -> Result<Arc<Reference>> {
    REFERENCES.get(handle).filter(|r| r.surface == surface).ok_or(Error::InvalidHandle)
}

/// Destroys a reference from [`create`]. A module's references live as long as the module.
pub fn destroy(handle: Handle) -> Result<()> {
    if get(handle, false)?.slot.is_none() {
        forget(handle);
    }
    Ok(())
}

pub(crate) fn forget(handle: Handle) {
    REFERENCES.remove(handle);
}

/// The distance in bytes from an address down to the texture alignment. Binding plain memory returns it to
/// the program, which adds it to its coordinates.
pub fn misalignment(address: u64) -> u64 {
    address % OFFSET_ALIGNMENT
}

impl Reference {
    /// The state.
    pub fn state(&self) -> State {
        lock(&self.state).0
    }

    /// Changes the state; kernels see it from the next launch on.
    pub fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = lock(&self.state);
        change(&mut state.0);
        state.1 = true;
    }

    /// Binds an array and adopts its format.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]: there is no such array. [`Error::InvalidValue`]: for a surface, the array
    /// was not created for surfaces.
    pub fn set_array(&self, handle: Handle) -> Result<()> {
        let array = array::get(handle)?;
        if self.surface && array.descriptor.flags & array::flag::SURFACE == 0 {
            return Err(Error::InvalidValue);
        }
        self.change(|s| {
            s.resource = Some(Resource::Array(handle));
            s.format = (array.descriptor.format, array.descriptor.channels);
        });
        Ok(())
    }

    /// Binds a mipmapped array and adopts its format.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]: there is no such mipmapped array.
    pub fn set_mipmap(&self, handle: Handle) -> Result<()> {
        let arrays = array::mipmap(handle)?.arrays()?;
        let first = arrays.first().ok_or(Error::InvalidHandle)?.descriptor;
        self.change(|s| {
            s.resource = Some(Resource::Mipmap(handle));
            s.format = (first.format, first.channels);
        });
        Ok(())
    }

    /// Binds linear memory, from the aligned address at or below `address`; returns the distance between the
    /// two. Address 0 unbinds. The address is checked only at a launch that reads it.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: the memory has more elements than a texture can have.
    pub fn set_linear(&self, address: u64, size: u64) -> Result<u64> {
        if address == 0 {
            self.change(|s| s.resource = None);
            return Ok(0);
        }
        let (format, channels) = self.state().format;
        let element = format::format(format, channels).map_or(1, |f| f.element());
        if size / element > LONGEST {
            return Err(Error::InvalidValue);
        }
        let before = misalignment(address);
        self.change(|s| {
            let (format, channels) = s.format;
            let (address, size) = (address - before, size + before);
            s.resource = Some(Resource::Linear { address, format, channels, size });
        });
        Ok(before)
    }

    /// Binds pitched memory and sets the format, which is checked at the next launch.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: the address or the pitch is not aligned, or a row is longer than the pitch.
    pub fn set_pitch(
        &self,
        address: u64,
        format: (u32, u32),
        [width, height]: [u64; 2],
        pitch: u64,
    ) -> Result<()> {
        let resource =
            Resource::Pitch { address, format: format.0, channels: format.1, width, height, pitch };
        let element = format::format(format.0, format.1).map_or(1, |f| f.element());
        let aligned = misalignment(address) == 0 && pitch.is_multiple_of(PITCH_ALIGNMENT);
        if !aligned || pitch < width.saturating_mul(element) {
            return Err(Error::InvalidValue);
        }
        self.change(|s| {
            s.resource = Some(resource);
            s.format = format;
        });
        Ok(())
    }

    /// Sets the format of plain memory. Invalid format numbers are accepted here and refused at a launch.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: three channels.
    pub fn set_format(&self, format: u32, channels: u32) -> Result<()> {
        if channels == 3 {
            return Err(Error::InvalidValue);
        }
        self.change(|s| {
            s.format = (format, channels);
            if let Some(
                Resource::Linear { format: f, channels: c, .. }
                | Resource::Pitch { format: f, channels: c, .. },
            ) = &mut s.resource
            {
                (*f, *c) = (format, channels);
            }
        });
        Ok(())
    }

    /// Whether the variable must be updated.
    pub(crate) fn stale(&self) -> bool {
        lock(&self.state).1
    }

    /// Updates the variable. No kernel that reads it may be running.
    pub(crate) fn bind(&self) -> Result<()> {
        let Some(slot) = self.slot else { return Ok(()) };
        let mut state = lock(&self.state);
        if !state.1 {
            return Ok(());
        }
        let made = match state.0.resource {
            None => 0,
            Some(resource) if self.surface => self.insert(describe::surface(&resource)?)?,
            Some(resource) => {
                let descriptor = describe::texture(&resource, &state.0.sampling, None)?;
                self.insert(descriptor)?
            }
        };
        // SAFETY: the variable is aligned to 8 and lies in the image of a module that stays loaded while its
        // references are bound; no kernel is running.
        unsafe { (slot as *mut u64).write(made) };
        let old = std::mem::replace(&mut *lock(&self.bound), made);
        if old != 0 {
            table::remove(old);
        }
        state.1 = false;
        Ok(())
    }

    /// The handle by which kernels access what is bound.
    fn insert(&self, descriptor: Descriptor) -> Result<u64> {
        insert_for(self.family, descriptor)
    }

    /// Unbinds the reference because its module is unloaded.
    pub(crate) fn end(&self) {
        let bound = std::mem::take(&mut *lock(&self.bound));
        if bound != 0 {
            table::remove(bound);
        }
    }
}
