//! Events: sets can be made and waited for, but no device reports any event.

use std::time::Duration;

use super::Table;
use crate::code::{Failure, Result};
use crate::engine::Call;
use crate::handle;

pub(super) const TABLE: Table = &[
    ("nvmlEventSetCreate", |call| call.set(0, handle::new_event_set())),
    ("nvmlEventSetFree", |call| {
        handle::free_event_set(call.handle(0));
        Ok(())
    }),
    ("nvmlEventSetWait", wait),
    ("nvmlEventSetWait_v2", wait),
    ("nvmlDeviceGetSupportedEventTypes", |call| call.set(1, 0u64)),
];

/// Nothing can happen, so the time always runs out.
fn wait(call: &Call<'_>) -> Result<()> {
    std::thread::sleep(Duration::from_millis(call.number(2).into()));
    Err(Failure::Timeout)
}
