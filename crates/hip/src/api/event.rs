//! Events.

use std::sync::Arc;

use driver::event::{self, Event, flag};

use crate::abi::Out;
use crate::current::{self, Handle, stream};
use crate::{Error, Result, api};

/// `hipEventDisableSystemFence`, `hipEventReleaseToDevice`, `hipEventReleaseToSystem`: the scope in which
/// writes before the event become visible. Here it is always the whole system; at most one of these flags may
/// be set.
const RELEASE: u32 = 0xe000_0000;
/// The flags that the driver implements.
const KNOWN: u32 = flag::BLOCKING_SYNC | flag::DISABLE_TIMING | flag::INTERPROCESS;

fn create(out: Out<Handle>, flags: u32) -> Result<()> {
    out.required()?;
    if flags & !(KNOWN | RELEASE) != 0 || (flags & RELEASE).count_ones() > 1 {
        return Err(Error::InvalidValue);
    }
    out.set(event::create(&*current::context()?, flags & KNOWN)?);
    Ok(())
}

/// The event of a handle; [`Error::InvalidHandle`] if there is none.
fn get(handle: Handle) -> Result<Arc<Event>> {
    Ok(event::get(handle)?)
}

/// As [`get`], for a call that asks for the last record. As in AMD's runtime, records of a capture end with
/// it; with CUDA such an event is invalid until it is recorded again.
pub(super) fn with_record(handle: Handle) -> Result<Arc<Event>> {
    let event = get(handle)?;
    event.forget_ended_capture();
    Ok(event)
}

/// `hipEventRecordExternal`: for stream capture; otherwise it has no effect.
const EXTERNAL: u32 = 1;

fn record(handle: Handle, in_stream: Handle, own: bool) -> Result<()> {
    if handle == 0 {
        return Err(Error::InvalidHandle);
    }
    let stream = stream(in_stream, own)?;
    let event = get(handle)?;
    if event.context_id != stream.context_id() {
        return Err(Error::InvalidHandle);
    }
    Ok(event.record(&stream)?)
}

api! {
    Context Legal fn hipEventCreate(out: Out<Handle>) {
        create(out, 0)
    }

    Context Legal fn hipEventCreateWithFlags(out: Out<Handle>, flags: u32) {
        create(out, flags)
    }

    Context Legal fn hipEventDestroy(handle: Handle) {
        if handle == 0 {
            return Err(Error::InvalidHandle);
        }
        event::destroy(handle).map_err(|_| Error::ContextIsDestroyed)
    }

    Context Appends fn hipEventRecord / hipEventRecord_spt (handle: Handle, in_stream: Handle) |own| {
        record(handle, in_stream, own)
    }

    Context Appends fn hipEventRecordWithFlags(handle: Handle, in_stream: Handle, flags: u32) {
        if flags > EXTERNAL {
            return Err(Error::InvalidValue);
        }
        record(handle, in_stream, false)
    }

    Context Invalidates fn hipEventQuery(handle: Handle) {
        if with_record(handle)?.query()? { Ok(current::context()?.check()?) } else { Err(Error::NotReady) }
    }

    Context Invalidates fn hipEventSynchronize(handle: Handle) {
        with_record(handle)?.synchronize()?;
        Ok(current::context()?.check()?)
    }

    Context Invalidates fn hipEventElapsedTime(milliseconds: Out<f32>, start: Handle, end: Handle) {
        milliseconds.required()?;
        let (start, end) = (with_record(start)?, with_record(end)?);
        if start.context_id != end.context_id {
            return Err(Error::InvalidHandle);
        }
        milliseconds.set(event::elapsed(&start, &end)?);
        Ok(())
    }
}
