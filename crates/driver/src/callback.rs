//! Functions that programs register for events which this driver never has: a core dump begins or ends, or
//! the process uses more memory than it may. Only the registrations are kept.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::handle::{Handle, Pointers};

/// What a function is registered for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A core dump begins.
    DumpBegins,
    /// A core dump is complete.
    DumpEnds,
    /// A notification of a device, by its ordinal.
    OfDevice(u32),
}

static REGISTERED: Pointers<Event> = Pointers::new();

/// Registers a function for an event.
pub fn register(event: Event) -> Result<Handle> {
    REGISTERED.insert(Arc::new(event)).ok_or(Error::OutOfMemory)
}

/// Ends a registration. [`Error::InvalidValue`]: there is none for this event.
pub fn unregister(event: Event, handle: Handle) -> Result<()> {
    REGISTERED.get(handle).filter(|registered| **registered == event).ok_or(Error::InvalidValue)?;
    REGISTERED.remove(handle).map(drop).ok_or(Error::InvalidValue)
}
