//! Handles, which C programs see as pointers.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The kinds of handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handle {
    /// A device.
    Device,
    /// A unit (a chassis with its own power supply), of which there are none.
    Unit,
    /// A part of a device, of which there are none.
    GpuInstance,
    /// A part of a part of a device, of which there are none.
    ComputeInstance,
    /// A set of events of devices.
    EventSet,
    /// A sample of performance counters, of which there are none.
    Sample,
}

/// The number of devices that there can be.
pub const MOST_DEVICES: usize = 64;

/// Handles of devices are the addresses of these bytes, so that they are unique in the process and stay valid
/// when the library is initialised again.
static DEVICES: [u8; MOST_DEVICES] = [0; MOST_DEVICES];

/// The handle of the device with an index below [`MOST_DEVICES`].
pub fn of_device(index: usize) -> u64 {
    (DEVICES.as_ptr() as u64).wrapping_add(index as u64)
}

/// The index of a device's handle. The caller checks that there is such a device.
pub fn device(handle: u64) -> Option<usize> {
    let index = handle.wrapping_sub(DEVICES.as_ptr() as u64);
    usize::try_from(index).ok().filter(|index| *index < MOST_DEVICES)
}

/// What a set of events is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Events {
    /// Devices.
    Devices,
    /// The system.
    System,
}

/// The sets of events that exist, and the number of sets ever made.
static SETS: Mutex<(BTreeMap<u64, Events>, u64)> = Mutex::new((BTreeMap::new(), 0));

/// The space between the handles of sets, so that no two look alike.
const STEP: u64 = 16;

/// Makes a set of events.
pub fn new_event_set(of: Events) -> u64 {
    let (sets, made) = &mut *SETS.lock().unwrap_or_else(PoisonError::into_inner);
    *made += STEP;
    sets.insert(*made, of);
    *made
}

/// Whether a set of such events exists.
pub fn is_event_set(handle: u64, of: Events) -> bool {
    SETS.lock().unwrap_or_else(PoisonError::into_inner).0.get(&handle) == Some(&of)
}

/// Releases a set of events.
pub fn free_event_set(handle: u64) {
    SETS.lock().unwrap_or_else(PoisonError::into_inner).0.remove(&handle);
}
