//! Multicast objects: memory of several devices behind one address, which only `multimem` instructions
//! access.
//!
//! Bound memory is mapped once more, at an address of the object's own, so that kernels reach each device's
//! bytes. The rules come from the manual (cuMulticast*); they have not been compared with multicast hardware.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::address::{self, GRANULARITY, Memory};
use crate::device::attribute;
use crate::driver;
use crate::error::{Error, Result};
use crate::handle::{self, Handle, Table, lock};

static OBJECTS: Table<Object> = Table::new(handle::Kind::Multicast);

/// A multicast object.
pub struct Object {
    /// The handle.
    pub handle: Handle,
    /// The size in bytes.
    pub size: u64,
    /// The number of devices that take part.
    wanted: usize,
    state: Mutex<State>,
    /// The reference count of the handle.
    holders: AtomicU64,
}

#[derive(Default)]
struct State {
    /// The devices, in the order in which they were added.
    devices: Vec<u32>,
    /// Bound memory, by device and offset in the object.
    bound: BTreeMap<(u32, u64), Bound>,
}

/// A bound part of one device's memory.
struct Bound {
    size: u64,
    /// The address at which kernels access it.
    at: u64,
    /// Keeps the memory alive while it is bound.
    _memory: Arc<Memory>,
}

impl Drop for Bound {
    fn drop(&mut self) {
        address::unmap(self.at, self.size);
    }
}

/// Checks that a device supports multicast objects.
fn check_device(ordinal: i32) -> Result<u32> {
    let device = driver()?.device(ordinal)?;
    if device.known(attribute::MULTICAST_SUPPORTED) == 0 {
        return Err(Error::NotSupported);
    }
    Ok(device.ordinal)
}

/// The alignment of sizes and offsets in an object of `size` bytes for `devices` devices.
///
/// # Errors
/// No object can have these properties.
pub fn granularity(devices: u32, size: u64, flags: u64) -> Result<u64> {
    if devices == 0 || size == 0 || flags != 0 {
        return Err(Error::InvalidValue);
    }
    check_device(0)?;
    Ok(GRANULARITY)
}

/// Creates an object of `size` bytes for `devices` devices.
///
/// # Errors
/// No object can have these properties, or the devices do not support multicast objects.
pub fn create(devices: u32, size: u64, handle_types: u64, flags: u64) -> Result<Handle> {
    granularity(devices, size, flags)?;
    let known = driver()?.devices.len();
    let wanted = usize::try_from(devices).ok().filter(|n| *n <= known).ok_or(Error::InvalidValue)?;
    if !size.is_multiple_of(GRANULARITY) {
        return Err(Error::InvalidValue);
    }
    if handle_types != 0 {
        return Err(Error::NotSupported);
    }
    let made = OBJECTS.insert_with(|handle| {
        let (state, holders) = (Mutex::default(), AtomicU64::new(1));
        Arc::new(Object { handle, size, wanted, state, holders })
    });
    made.map(|m| m.0).ok_or(Error::OutOfMemory)
}

/// The object of a handle.
///
/// # Errors
/// There is no such object.
pub fn get(handle: Handle) -> Result<Arc<Object>> {
    OBJECTS.get(handle).ok_or(Error::InvalidValue)
}

/// Drops a reference to the handle; the last one ends it. The object stays while it is mapped.
pub(super) fn release(object: &Object) {
    if object.holders.fetch_sub(1, Ordering::AcqRel) <= 1 {
        OBJECTS.remove(object.handle);
    }
}

/// Adds a device, before anything is bound.
///
/// # Errors
/// The device was added before, the object has all its devices, or the device does not support multicast.
pub fn add_device(handle: Handle, ordinal: i32) -> Result<()> {
    let object = get(handle)?;
    let device = check_device(ordinal)?;
    let mut state = lock(&object.state);
    if state.devices.len() >= object.wanted || state.devices.contains(&device) {
        return Err(Error::InvalidValue);
    }
    state.devices.push(device);
    Ok(())
}

/// Binds a part of a device's memory at an offset in the object.
///
/// # Errors
/// A size or offset is unaligned or out of range, something is already bound there, the device does not take
/// part, or not all devices have been added.
pub fn bind(handle: Handle, at: u64, memory: &Arc<Memory>, offset: u64, size: u64) -> Result<()> {
    let object = get(handle)?;
    let end = |start: u64| start.checked_add(size).ok_or(Error::InvalidValue);
    let whole = [at, offset, size].iter().all(|n| n.is_multiple_of(GRANULARITY));
    if !whole || size == 0 || end(at)? > object.size || end(offset)? > memory.size {
        return Err(Error::InvalidValue);
    }
    let mut state = lock(&object.state);
    let device = memory.device();
    if !state.devices.contains(&device) {
        return Err(Error::InvalidDevice);
    }
    if state.devices.len() < object.wanted {
        return Err(Error::InvalidValue);
    }
    let before = state.bound.range((device, 0)..(device, end(at)?)).next_back();
    if before.is_some_and(|((_, start), bound)| start + bound.size > at) {
        return Err(Error::InvalidValue);
    }
    let place = memory.map_again(offset, size)?;
    state.bound.insert((device, at), Bound { size, at: place, _memory: Arc::clone(memory) });
    Ok(())
}

/// Fails unless the memory is of this device, or of the host, which is every device's.
pub fn check_location(ordinal: i32, memory: &Memory) -> Result<()> {
    let device = driver()?.device(ordinal)?.ordinal;
    let elsewhere = memory.location.kind == super::managed::DEVICE && memory.device() != device;
    if elsewhere { Err(Error::InvalidDevice) } else { Ok(()) }
}

/// Unbinds a device's memory at an offset.
///
/// # Errors
/// Nothing of that size is bound there.
pub fn unbind(handle: Handle, ordinal: i32, at: u64, size: u64) -> Result<()> {
    let object = get(handle)?;
    let device = driver()?.device(ordinal)?.ordinal;
    crate::context::settled_all()?;
    let mut state = lock(&object.state);
    if state.bound.get(&(device, at)).is_none_or(|bound| bound.size != size) {
        return Err(Error::InvalidValue);
    }
    state.bound.remove(&(device, at));
    Ok(())
}

impl Object {
    /// The address of the bytes of the device with number `index`; `None` if there is no such device or some
    /// bytes are not bound.
    fn place(&self, at: u64, size: u64, index: usize) -> Option<u64> {
        let state = lock(&self.state);
        let device = *state.devices.get(index)?;
        let ((_, start), bound) = state.bound.range((device, 0)..=(device, at)).next_back()?;
        let inside = at - start;
        (inside.checked_add(size)? <= bound.size).then(|| bound.at + inside)
    }

    /// The number of devices, if all of them have these bytes bound.
    fn count(&self, at: u64, size: u64) -> Option<u32> {
        let count = lock(&self.state).devices.len();
        let all = count > 0 && (0..count).all(|index| self.place(at, size, index).is_some());
        all.then_some(count as u32)
    }
}

/// The number of devices that have the `size` bytes at an address bound; `None` if no multicast object is
/// mapped there.
pub fn count(address: u64, size: u64) -> Option<u32> {
    let (object, at) = address::multicast_at(address)?;
    object.count(at, size)
}

/// The address of the bytes that the device with number `index` has behind an address.
pub fn place(address: u64, size: u64, index: u32) -> Option<u64> {
    let (object, at) = address::multicast_at(address)?;
    object.place(at, size, index as usize)
}
