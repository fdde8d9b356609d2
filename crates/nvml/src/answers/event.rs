//! Events: sets can be made and waited for, but no device reports any event. Nor is a device bound to its
//! driver or unbound, which are the events of the system.

use std::time::Duration;

use super::Table;
use crate::code::{Failure, Result};
use crate::engine::Call;
use crate::handle::{self, Events};
use crate::layout::{SystemEventRegistration, SystemEventSet, SystemEventWait};

pub(super) const TABLE: Table = &[
    ("nvmlEventSetCreate", |call| call.set(0, handle::new_event_set(Events::Devices))),
    ("nvmlEventSetFree", |call| {
        handle::free_event_set(call.handle(0));
        Ok(())
    }),
    ("nvmlEventSetWait", wait),
    ("nvmlEventSetWait_v2", wait),
    ("nvmlSystemEventSetCreate", |call| {
        let SystemEventSet { version, .. } = call.read(0)?;
        call.set(0, SystemEventSet { version, set: handle::new_event_set(Events::System) })
    }),
    ("nvmlSystemEventSetFree", |call| {
        let SystemEventSet { set, .. } = call.read(0)?;
        system_set(set)?;
        handle::free_event_set(set);
        Ok(())
    }),
    ("nvmlSystemRegisterEvents", |call| {
        let SystemEventRegistration { event_types, set, .. } = call.read(0)?;
        system_set(set)?;
        if event_types & !SYSTEM_EVENTS == 0 { Ok(()) } else { Err(Failure::NotSupported) }
    }),
    ("nvmlSystemEventSetWait", |call| {
        let request: SystemEventWait = call.read(0)?;
        system_set(request.set)?;
        call.set(0, SystemEventWait { num_event: 0, ..request })?;
        pass(request.timeout_ms)
    }),
    ("nvmlDeviceGetSupportedEventTypes", |call| call.set(1, 0u64)),
];

/// The events that a system can have: a device's driver is unbound (1) or bound (2).
const SYSTEM_EVENTS: u64 = 3;

fn system_set(handle: u64) -> Result<()> {
    if handle::is_event_set(handle, Events::System) { Ok(()) } else { Err(Failure::InvalidArgument) }
}

fn wait(call: &Call<'_>) -> Result<()> {
    pass(call.number(2))
}

/// Nothing can happen, so the time always runs out.
fn pass(milliseconds: u32) -> Result<()> {
    std::thread::sleep(Duration::from_millis(milliseconds.into()));
    Err(Failure::Timeout)
}
