//! Streams.

use driver::stream::capture::check_unsafe;
use driver::stream::{self as streams, HostCall, Kind, Operation, Policy};
use driver::{Error, Result, context, event, green};

use crate::abi::{In, Need, Out, check};
use crate::api;
use crate::api::{check_default, current, stream};
use crate::types::{Handle, stream as special};

fn create(out: Out<Handle>, flags: u32, priority: i32) -> Result<()> {
    out.required()?;
    let kind = Kind::from_flags(flags)?;
    out.set(green::create_stream(&*current()?, kind, priority.min(0))?);
    Ok(())
}

type HostFunction = extern "C" fn(u64);
type Callback = extern "C" fn(Handle, u32, u64);

/// `CUstreamAttrValue`.
type AttributeValue = [u64; 8];

/// `CUstreamAttrID`.
mod attribute {
    pub const ACCESS_POLICY_WINDOW: u32 = 1;
    pub const SYNCHRONIZATION_POLICY: u32 = 3;
    pub const PRIORITY: u32 = 8;
    pub const MEM_SYNC_DOMAIN_MAP: u32 = 9;
    pub const MEM_SYNC_DOMAIN: u32 = 10;
}

/// `CU_SYNC_POLICY_AUTO`.
const SYNC_POLICY_AUTO: u64 = 1;

/// `CUevent_wait_flags`.
mod wait_flag {
    pub const DEFAULT: u32 = 0;
    /// For stream capture only.
    pub const EXTERNAL: u32 = 1;
}

/// The highest `CUhostTaskSyncMode`: how the thread that calls host functions waits for the next one, which
/// is this driver's own affair.
const LAST_HOST_WAIT: u32 = 1;

fn host_function(handle: Handle, own: bool, function: Option<HostFunction>, data: u64) -> Result<()> {
    let function = function.ok_or(Error::InvalidValue)?;
    check(Need::Object)?;
    let stream = stream(handle, own)?;
    if context::current().is_some_and(|c| c.id() != stream.context_id()) {
        return Err(Error::InvalidValue);
    }
    stream.submit(Operation::Host(HostCall::Function { function, data }), Policy::Later)
}

/// The status code for the result of a stream's work.
fn status(outcome: Result<()>) -> u32 {
    outcome.err().map_or(0, Error::code)
}

api! {
    Context Legal fn cuStreamCreate(out: Out<Handle>, flags: u32) {
        create(out, flags, 0)
    }

    Context Legal fn cuStreamCreateWithPriority(out: Out<Handle>, flags: u32, priority: i32) {
        create(out, flags, priority)
    }

    Process Legal fn cuStreamDestroy / cuStreamDestroy_v2 (handle: Handle) {
        if matches!(handle, 0 | special::LEGACY | special::PER_THREAD) {
            return Err(Error::InvalidHandle);
        }
        check(Need::Object)?;
        let stream = streams::destroy(handle).ok_or(Error::InvalidHandle)?;
        let alive = green::check_stream(&stream);
        green::forget(&stream);
        alive
    }

    Object Invalidates fn cuStreamQuery / cuStreamQuery_ptsz (handle: Handle) |own| {
        let stream = stream(handle, own)?;
        stream.check_not_capturing()?;
        check_unsafe()?;
        if stream.poll() {
            return stream.context()?.check();
        }
        Err(Error::NotReady)
    }

    Object Invalidates fn cuStreamSynchronize / cuStreamSynchronize_ptsz (handle: Handle) |own| {
        let stream = stream(handle, own)?;
        stream.check_not_capturing()?;
        check_unsafe()?;
        stream.synchronize();
        stream.context()?.check()
    }

    Object Invalidates fn cuStreamGetFlags / cuStreamGetFlags_ptsz (handle: Handle, flags: Out<u32>) |own| {
        let stream = stream(handle, own)?;
        stream.check_not_capturing()?;
        flags.required()?.set(u32::from(stream.kind == Kind::NonBlocking));
        Ok(())
    }

    Object Legal fn cuStreamGetPriority / cuStreamGetPriority_ptsz (
        handle: Handle, priority: Out<i32>,
    ) |own| {
        let stream = stream(handle, own)?;
        priority.required()?.set(stream.priority().min(0));
        Ok(())
    }

    Object Invalidates fn cuStreamGetId / cuStreamGetId_ptsz (handle: Handle, id: Out<u64>) |own| {
        let stream = stream(handle, own)?;
        stream.check_not_capturing()?;
        id.required()?.set(stream.id);
        Ok(())
    }

    Object Legal fn cuStreamGetCtx / cuStreamGetCtx_ptsz (handle: Handle, context: Out<Handle>) |own| {
        let stream = stream(handle, own)?;
        let green = green::share_of(&stream);
        context.required()?.set(green.map_or(stream.context()?.handle, |green| green.handle()));
        Ok(())
    }

    Object Legal fn cuStreamGetCtx_v2 / cuStreamGetCtx_v2_ptsz (
        handle: Handle, context: Out<Handle>, share: Out<Handle>,
    ) |own| {
        let stream = stream(handle, own)?;
        context.required()?.set(stream.context()?.handle);
        share.set(green::share_of(&stream).map_or(0, |green| green.handle()));
        Ok(())
    }

    Object Invalidates fn cuStreamGetDevice / cuStreamGetDevice_ptsz (handle: Handle, device: Out<i32>) |own| {
        let stream = stream(handle, own)?;
        stream.check_not_capturing()?;
        device.required()?.set(stream.context()?.device.ordinal as i32);
        Ok(())
    }

    Object Appends fn cuStreamWaitEvent / cuStreamWaitEvent_ptsz (
        handle: Handle, event: Handle, flags: u32,
    ) |own| {
        let stream = stream(handle, own)?;
        let event = event::get(event)?;
        match flags {
            wait_flag::DEFAULT => event.wait_in(&stream),
            wait_flag::EXTERNAL => event.wait_in_graph(&stream),
            _ => Err(Error::InvalidValue),
        }
    }

    Process Appends fn cuLaunchHostFunc / cuLaunchHostFunc_ptsz (
        handle: Handle, function: Option<HostFunction>, data: u64,
    ) |own| {
        host_function(handle, own, function, data)
    }

    Process Appends fn cuLaunchHostFunc_v2 / cuLaunchHostFunc_v2_ptsz (
        handle: Handle, function: Option<HostFunction>, data: u64, wait: u32,
    ) |own| {
        if wait > LAST_HOST_WAIT {
            return Err(Error::InvalidValue);
        }
        host_function(handle, own, function, data)
    }

    Object Invalidates fn cuStreamAddCallback / cuStreamAddCallback_ptsz (
        handle: Handle, function: Option<Callback>, data: u64, flags: u32,
    ) |own| {
        check_default(handle)?;
        let function = function.ok_or(Error::InvalidValue)?;
        if flags != 0 {
            return Err(Error::InvalidValue);
        }
        let stream = stream(handle, own)?;
        stream.context()?;
        let callback = HostCall::Callback { function, stream: handle, data, status };
        stream.submit(Operation::Host(callback), Policy::Later)
    }

    Object Legal fn cuStreamGetAttribute / cuStreamGetAttribute_ptsz (
        handle: Handle, number: u32, value: Out<AttributeValue>,
    ) |own| {
        let stream = stream(handle, own)?;
        value.required()?;
        let mut out: AttributeValue = [0; 8];
        out[0] = match number {
            // These have their default value.
            attribute::ACCESS_POLICY_WINDOW | attribute::MEM_SYNC_DOMAIN_MAP | attribute::MEM_SYNC_DOMAIN => 0,
            attribute::SYNCHRONIZATION_POLICY => SYNC_POLICY_AUTO,
            attribute::PRIORITY => u64::from(stream.priority() as u32),
            _ => return Err(Error::InvalidValue),
        };
        value.set(out);
        Ok(())
    }

    Object Legal fn cuStreamSetAttribute / cuStreamSetAttribute_ptsz (
        handle: Handle, number: u32, value: In<AttributeValue>,
    ) |own| {
        let stream = stream(handle, own)?;
        let value = value.get()?;
        match number {
            attribute::ACCESS_POLICY_WINDOW
            | attribute::SYNCHRONIZATION_POLICY
            | attribute::MEM_SYNC_DOMAIN_MAP
            | attribute::MEM_SYNC_DOMAIN => Ok(()),
            attribute::PRIORITY => {
                stream.set_priority((value[0] as u32 as i32).min(0));
                Ok(())
            }
            _ => Err(Error::InvalidValue),
        }
    }

    Object Legal fn cuStreamCopyAttributes / cuStreamCopyAttributes_ptsz (to: Handle, from: Handle) |own| {
        let (to, from) = (stream(to, own)?, stream(from, own)?);
        to.set_priority(from.priority());
        Ok(())
    }
}
