//! Streams.

use driver::memory::value::Word;
use driver::stream::{self as streams, Kind};
use driver::{Error, Result, context, event};

use crate::abi::{In, Need, Out, check};
use crate::api;
use crate::api::{check_default, current, stream};
use crate::types::{Handle, stream as special};

fn create(out: Out<Handle>, flags: u32, priority: i32) -> Result<()> {
    out.required()?;
    let kind = Kind::from_flags(flags)?;
    out.set(current()?.create_stream(kind, priority.min(0))?);
    Ok(())
}

type HostFunction = extern "C" fn(u64);
type Callback = extern "C" fn(Handle, u32, u64);

/// `CUstreamAttrValue`.
type AttributeValue = [u64; 8];

/// Whether a word of memory is what a wait is for: at least (cyclically), equal, some common bit, not all bits of either.
fn reached(now: u64, wide: bool, value: u64, flags: u32) -> bool {
    match flags & 3 {
        0 if wide => now.wrapping_sub(value) as i64 >= 0,
        0 => (now as u32).wrapping_sub(value as u32) as i32 >= 0,
        1 => now == value,
        2 => now & value != 0,
        _ if wide => !(now | value) != 0,
        _ => !(now as u32 | value as u32) != 0,
    }
}

fn wait(handle: Handle, own: bool, address: u64, wide: bool, value: u64, flags: u32) -> Result<()> {
    check_default(handle)?;
    let word = Word::at(address, wide)?;
    if flags & !3 != 0 {
        return Err(Error::InvalidValue);
    }
    word.wait(&stream(handle, own)?, move |now| reached(now, wide, value, flags));
    Ok(())
}

fn write(handle: Handle, own: bool, address: u64, wide: bool, value: u64, flags: u32) -> Result<()> {
    check_default(handle)?;
    let word = Word::at(address, wide)?;
    if flags != 0 {
        return Err(Error::InvalidValue);
    }
    word.write(&stream(handle, own)?, value);
    Ok(())
}

/// `CUstreamBatchMemOpParams`: 48 bytes; the operation, then by operation the address, the value and the flags.
type BatchOp = [u64; 6];
/// Operations that one batch may have.
const MAX_BATCH: u32 = 256;

api! {
    Context fn cuStreamCreate(out: Out<Handle>, flags: u32) {
        create(out, flags, 0)
    }

    Context fn cuStreamCreateWithPriority(out: Out<Handle>, flags: u32, priority: i32) {
        create(out, flags, priority)
    }

    Process fn cuStreamDestroy / cuStreamDestroy_v2 (handle: Handle) {
        if matches!(handle, 0 | special::LEGACY | special::PER_THREAD) {
            return Err(Error::InvalidHandle);
        }
        check(Need::Object)?;
        streams::destroy(handle).map(|_| ()).ok_or(Error::InvalidHandle)
    }

    Object fn cuStreamQuery / cuStreamQuery_ptsz (handle: Handle) |own| {
        let stream = stream(handle, own)?;
        if stream.idle() {
            return stream.context()?.check();
        }
        Err(Error::NotReady)
    }

    Object fn cuStreamSynchronize / cuStreamSynchronize_ptsz (handle: Handle) |own| {
        let stream = stream(handle, own)?;
        stream.synchronize();
        stream.context()?.check()
    }

    Object fn cuStreamGetFlags / cuStreamGetFlags_ptsz (handle: Handle, flags: Out<u32>) |own| {
        let stream = stream(handle, own)?;
        flags.required()?.set(u32::from(stream.kind == Kind::NonBlocking));
        Ok(())
    }

    Object fn cuStreamGetPriority / cuStreamGetPriority_ptsz (handle: Handle, priority: Out<i32>) |own| {
        let stream = stream(handle, own)?;
        priority.required()?.set(stream.priority().min(0));
        Ok(())
    }

    Object fn cuStreamGetId / cuStreamGetId_ptsz (handle: Handle, id: Out<u64>) |own| {
        let stream = stream(handle, own)?;
        id.required()?.set(stream.id);
        Ok(())
    }

    Object fn cuStreamGetCtx / cuStreamGetCtx_ptsz (handle: Handle, context: Out<Handle>) |own| {
        let stream = stream(handle, own)?;
        context.required()?.set(stream.context()?.handle);
        Ok(())
    }

    Object fn cuStreamGetCtx_v2 / cuStreamGetCtx_v2_ptsz (handle: Handle, context: Out<Handle>, green: Out<Handle>) |own| {
        let stream = stream(handle, own)?;
        context.required()?.set(stream.context()?.handle);
        green.set(0);
        Ok(())
    }

    Object fn cuStreamGetDevice / cuStreamGetDevice_ptsz (handle: Handle, device: Out<i32>) |own| {
        let stream = stream(handle, own)?;
        device.required()?.set(stream.context()?.device.ordinal as i32);
        Ok(())
    }

    Object fn cuStreamWaitEvent / cuStreamWaitEvent_ptsz (handle: Handle, event: Handle, flags: u32) |own| {
        let stream = stream(handle, own)?;
        let event = event::get(event)?;
        match flags {
            0 => {}
            1 => return Err(Error::IllegalState),
            _ => return Err(Error::InvalidValue),
        }
        event.wait_in(&stream);
        Ok(())
    }

    Process fn cuLaunchHostFunc / cuLaunchHostFunc_ptsz (handle: Handle, function: Option<HostFunction>, data: u64) |own| {
        let function = function.ok_or(Error::InvalidValue)?;
        check(Need::Object)?;
        let stream = stream(handle, own)?;
        if context::current().is_some_and(|c| c.id() != stream.context_id()) {
            return Err(Error::InvalidValue);
        }
        stream.call(false, move || function(data));
        Ok(())
    }

    Object fn cuStreamAddCallback / cuStreamAddCallback_ptsz (handle: Handle, function: Option<Callback>, data: u64, flags: u32) |own| {
        check_default(handle)?;
        let function = function.ok_or(Error::InvalidValue)?;
        if flags != 0 {
            return Err(Error::InvalidValue);
        }
        let stream = stream(handle, own)?;
        let context = stream.context()?;
        stream.call(true, move || function(handle, context.check().err().map_or(0, Error::code), data));
        Ok(())
    }

    /// No stream captures.
    Object fn cuStreamEndCapture / cuStreamEndCapture_ptsz (handle: Handle, graph: Out<Handle>) |own| {
        stream(handle, own)?;
        graph.required()?;
        Err(Error::IllegalState)
    }

    Object fn cuStreamIsCapturing / cuStreamIsCapturing_ptsz (handle: Handle, status: Out<u32>) |own| {
        stream(handle, own)?;
        status.required()?.set(0);
        Ok(())
    }

    Object fn cuStreamGetCaptureInfo_v2 / cuStreamGetCaptureInfo_v2_ptsz (
        handle: Handle, status: Out<u32>, _id: Out<u64>, _graph: Out<u64>, _nodes: Out<u64>, _count: Out<usize>,
    ) |own| {
        stream(handle, own)?;
        status.required()?.set(0);
        Ok(())
    }

    Object fn cuStreamGetCaptureInfo_v3 / cuStreamGetCaptureInfo_v3_ptsz (
        handle: Handle, status: Out<u32>, _id: Out<u64>, _graph: Out<u64>, _nodes: Out<u64>, _edges: Out<u64>, _count: Out<usize>,
    ) |own| {
        stream(handle, own)?;
        status.required()?.set(0);
        Ok(())
    }

    Object fn cuStreamGetAttribute / cuStreamGetAttribute_ptsz (handle: Handle, attribute: u32, value: Out<AttributeValue>) |own| {
        let stream = stream(handle, own)?;
        value.required()?;
        let mut out: AttributeValue = [0; 8];
        out[0] = match attribute {
            // Access policy window, synchronisation policy (automatic), memory domains: nothing is set.
            1 | 9 | 10 => 0,
            3 => 1,
            8 => u64::from(stream.priority() as u32),
            _ => return Err(Error::InvalidValue),
        };
        value.set(out);
        Ok(())
    }

    Object fn cuStreamSetAttribute / cuStreamSetAttribute_ptsz (handle: Handle, attribute: u32, value: In<AttributeValue>) |own| {
        let stream = stream(handle, own)?;
        let value = value.get()?;
        match attribute {
            1 | 3 | 9 | 10 => Ok(()),
            8 => {
                stream.set_priority((value[0] as u32 as i32).min(0));
                Ok(())
            }
            _ => Err(Error::InvalidValue),
        }
    }

    Object fn cuStreamCopyAttributes / cuStreamCopyAttributes_ptsz (to: Handle, from: Handle) |own| {
        let (to, from) = (stream(to, own)?, stream(from, own)?);
        to.set_priority(from.priority());
        Ok(())
    }

    Object fn cuStreamWaitValue32_v2 / cuStreamWaitValue32_v2_ptsz (handle: Handle, address: u64, value: u32, flags: u32) |own| {
        wait(handle, own, address, false, u64::from(value), flags)
    }

    Object fn cuStreamWaitValue64_v2 / cuStreamWaitValue64_v2_ptsz (handle: Handle, address: u64, value: u64, flags: u32) |own| {
        wait(handle, own, address, true, value, flags)
    }

    Object fn cuStreamWriteValue32_v2 / cuStreamWriteValue32_v2_ptsz (handle: Handle, address: u64, value: u32, flags: u32) |own| {
        write(handle, own, address, false, u64::from(value), flags)
    }

    Object fn cuStreamWriteValue64_v2 / cuStreamWriteValue64_v2_ptsz (handle: Handle, address: u64, value: u64, flags: u32) |own| {
        write(handle, own, address, true, value, flags)
    }

    Object fn cuStreamBatchMemOp_v2 / cuStreamBatchMemOp_v2_ptsz (handle: Handle, count: u32, operations: In<BatchOp>, flags: u32) |own| {
        check_default(handle)?;
        if flags != 0 || count > MAX_BATCH {
            return Err(Error::InvalidValue);
        }
        let list = operations.list(count as usize)?;
        for op in &list {
            match op[0] as u32 {
                1 | 2 | 4 | 5 => Word::at(op[1], matches!(op[0] as u32, 4 | 5)).map(|_| ())?,
                3 | 6 => {}
                _ => return Err(Error::InvalidValue),
            }
        }
        for [kind, address, value, flags, ..] in list {
            let flags = flags as u32;
            match kind as u32 {
                1 => wait(handle, own, address, false, value & 0xffff_ffff, flags)?,
                4 => wait(handle, own, address, true, value, flags)?,
                2 => write(handle, own, address, false, value & 0xffff_ffff, flags)?,
                5 => write(handle, own, address, true, value, flags)?,
                // A flush of remote writes, a barrier: order is kept anyway.
                _ => {}
            }
        }
        Ok(())
    }
}
