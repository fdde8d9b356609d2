//! User objects: resources of the program that graphs keep alive.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::error::{Error, Result};
use crate::handle::{Handle, Pointers, lock};

use super::Graph;

static OBJECTS: Pointers<Object> = Pointers::new();

/// The largest number of references that one call adds (recorded on an H200).
const MOST: u32 = i32::MAX as u32;

/// A user object.
pub struct Object {
    /// The handle; set when the object has been inserted.
    handle: AtomicU64,
    destructor: extern "C" fn(u64),
    data: u64,
    references: Mutex<u64>,
}

/// The user objects that a graph holds, with their numbers of references.
#[derive(Default)]
pub(crate) struct Retained(BTreeMap<Handle, (Arc<Object>, u64)>);

/// Creates an object with references of the caller. The last reference that is released calls `destructor`
/// with `data`.
pub fn create(data: u64, destructor: extern "C" fn(u64), references: u32) -> Result<Handle> {
    if references == 0 {
        return Err(Error::InvalidValue);
    }
    let references = Mutex::new(u64::from(references));
    let object = Arc::new(Object { handle: AtomicU64::new(0), destructor, data, references });
    let handle = OBJECTS.insert(Arc::clone(&object)).ok_or(Error::OutOfMemory)?;
    object.handle.store(handle, Ordering::Release);
    Ok(handle)
}

fn get(handle: Handle) -> Result<Arc<Object>> {
    OBJECTS.get(handle).ok_or(Error::InvalidValue)
}

/// Adds references of the caller.
pub fn retain(handle: Handle, count: u32) -> Result<()> {
    get(handle)?.retain(count)
}

/// Releases references of the caller.
pub fn release(handle: Handle, count: u32) -> Result<()> {
    get(handle)?.release(u64::from(count))
}

/// The number of references to an object.
pub fn references(handle: Handle) -> Result<u64> {
    Ok(*lock(&get(handle)?.references))
}

impl Object {
    fn retain(&self, count: u32) -> Result<()> {
        let mut references = lock(&self.references);
        // An object without references is on its way out.
        if count == 0 || count > MOST || *references == 0 {
            return Err(Error::InvalidValue);
        }
        *references = references.saturating_add(u64::from(count));
        Ok(())
    }

    fn release(&self, count: u64) -> Result<()> {
        let mut references = lock(&self.references);
        if count == 0 || count > *references {
            return Err(Error::InvalidValue);
        }
        *references -= count;
        if *references == 0 {
            drop(references);
            OBJECTS.remove(self.handle.load(Ordering::Acquire));
            crate::stream::end_function(|| (self.destructor)(self.data));
        }
        Ok(())
    }
}

impl Graph {
    /// Makes the graph hold references to an object: new ones, or those of the caller with `moved`.
    pub fn retain_object(&self, handle: Handle, count: u32, moved: bool) -> Result<()> {
        let object = get(handle)?;
        if count == 0 {
            return Err(Error::InvalidValue);
        }
        if !moved {
            object.retain(count)?;
        }
        let count = u64::from(count);
        if *lock(&object.references) < count {
            return Err(Error::InvalidValue);
        }
        let mut objects = self.objects();
        let held = objects.0.entry(handle).or_insert((object, 0));
        held.1 = held.1.saturating_add(count);
        Ok(())
    }

    /// Releases references that the graph holds. If it holds fewer, all of them are released, which is no
    /// error on the hardware either.
    pub fn release_object(&self, handle: Handle, count: u32) -> Result<()> {
        get(handle)?;
        if count == 0 {
            return Err(Error::InvalidValue);
        }
        let mut objects = self.objects();
        let Some(held) = objects.0.get_mut(&handle) else { return Ok(()) };
        let count = u64::from(count).min(held.1);
        held.1 -= count;
        let object = Arc::clone(&held.0);
        if held.1 == 0 {
            objects.0.remove(&handle);
        }
        drop(objects);
        object.release(count)
    }
}

impl Clone for Retained {
    /// The copy holds one reference to each object.
    fn clone(&self) -> Self {
        let held = self.0.iter().filter(|(_, (object, _))| object.retain(1).is_ok());
        Retained(held.map(|(handle, (object, _))| (*handle, (Arc::clone(object), 1))).collect())
    }
}

impl Drop for Retained {
    fn drop(&mut self) {
        for (object, count) in self.0.values() {
            // The graph holds these references, so there are that many.
            let _ = object.release(*count);
        }
    }
}
