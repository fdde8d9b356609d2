//! Events.

use std::sync::Arc;

use driver::event::{self, Event};
use driver::stream::capture::check_unsafe;
use driver::{Error, Result};

use crate::abi::{Need, Out, check};
use crate::api;
use crate::api::{check_default, current, stream};
use crate::types::Handle;

/// `CUevent_record_flags`.
mod record_flag {
    pub const DEFAULT: u32 = 0;
    /// For stream capture only.
    pub const EXTERNAL: u32 = 1;
}

fn record(handle: Handle, stream_handle: Handle, own: bool, flags: u32) -> Result<()> {
    check_default(stream_handle)?;
    let event = event::get(handle)?;
    let stream = stream(stream_handle, own)?;
    match flags {
        record_flag::DEFAULT => {}
        record_flag::EXTERNAL => return event.record_in_graph(&stream),
        _ => return Err(Error::InvalidValue),
    }
    if event.context_id != stream.context_id() {
        return Err(Error::InvalidHandle);
    }
    event.record(&stream)
}

fn elapsed(out: Out<f32>, start: Handle, end: Handle) -> Result<()> {
    let (start, end): (Arc<Event>, Arc<Event>) = (event::get(start)?, event::get(end)?);
    if start.context_id != end.context_id {
        return Err(Error::InvalidHandle);
    }
    let milliseconds = event::elapsed(&start, &end)?;
    if out.is_null() {
        return Err(Error::InvalidHandle);
    }
    out.set(milliseconds);
    Ok(())
}

api! {
    Context Legal fn cuEventCreate(out: Out<Handle>, flags: u32) {
        out.required()?;
        out.set(event::create(&*current()?, flags)?);
        Ok(())
    }

    Process Legal fn cuEventDestroy / cuEventDestroy_v2 (handle: Handle) {
        if handle == 0 {
            return Err(Error::InvalidHandle);
        }
        check(Need::Object)?;
        event::destroy(handle)
    }

    Object Appends fn cuEventRecord / cuEventRecord_ptsz (handle: Handle, in_stream: Handle) |own| {
        record(handle, in_stream, own, record_flag::DEFAULT)
    }

    Object Appends fn cuEventRecordWithFlags / cuEventRecordWithFlags_ptsz (
        handle: Handle, in_stream: Handle, flags: u32,
    ) |own| {
        record(handle, in_stream, own, flags)
    }

    Object Invalidates fn cuEventQuery(handle: Handle) {
        let event = event::get(handle)?;
        event.check_not_captured()?;
        check_unsafe()?;
        if event.query()? { event.check() } else { Err(Error::NotReady) }
    }

    Object Invalidates fn cuEventSynchronize(handle: Handle) {
        let event = event::get(handle)?;
        event.check_not_captured()?;
        check_unsafe()?;
        event.synchronize()?;
        event.check()
    }

    Object Invalidates fn cuEventElapsedTime / cuEventElapsedTime_v2 (
        milliseconds: Out<f32>, start: Handle, end: Handle,
    ) {
        elapsed(milliseconds, start, end)
    }
}
