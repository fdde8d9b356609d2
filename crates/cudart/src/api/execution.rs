//! Execution contexts: a device's primary context, or a green context with a part of its multiprocessors.
//!
//! A handle is that of the driver's context; a green context and the context as which it is made current have
//! the same one.

use crate::abi::Out;
use crate::error::{Error, checked};
use crate::{Result, api, cu, current, forward};

/// `CU_GREEN_CTX_DEFAULT_STREAM`, which the driver requires.
const DEFAULT_STREAM: u32 = 1;
/// `cudaStreamNonBlocking`.
const NON_BLOCKING: u32 = 1;

/// Fails for null, which stands for the current context in the driver's functions.
fn given(context: u64) -> Result<u64> {
    if context == 0 { Err(Error::INVALID_VALUE) } else { Ok(context) }
}

forward! {
    Driver fn cudaDeviceGetDevResource(device: i32, resource: u64, kind: u32) = cuDeviceGetDevResource;
    Driver fn cudaDevSmResourceSplitByCount(
        parts: u64, count: u64, from: u64, rest: u64, flags: u32, least: u32
    ) = cuDevSmResourceSplitByCount;
    Driver fn cudaDevSmResourceSplit(parts: u64, count: u32, from: u64, rest: u64, flags: u32, groups: u64)
        = cuDevSmResourceSplit;
    Driver fn cudaDevResourceGenerateDesc(out: u64, resources: u64, count: u32) = cuDevResourceGenerateDesc;
    Driver fn cudaExecutionCtxDestroy(context: u64) = cuGreenCtxDestroy;
    Driver fn cudaExecutionCtxRecordEvent(context: u64, event: u64) = cuCtxRecordEvent;
    Driver fn cudaExecutionCtxWaitEvent(context: u64, event: u64) = cuCtxWaitEvent;
    Context fn cudaStreamGetDevResource / cudaStreamGetDevResource_ptsz (
        stream: u64, resource: u64, kind: u32
    ) = cuStreamGetDevResource / cuStreamGetDevResource_ptsz;
}

api! {
    Driver Inherits fn cudaGreenCtxCreate(out: Out<u64>, description: u64, device: i32, flags: u32) {
        if flags != 0 || description == 0 {
            return Err(Error::INVALID_VALUE);
        }
        checked(cu::cuGreenCtxCreate(out.address(), description, device, DEFAULT_STREAM))
    }

    Driver Inherits fn cudaDeviceGetExecutionCtx(out: Out<u64>, device: i32) {
        out.required()?;
        out.set(current::primary(current::device_at(device)?)?.handle);
        Ok(())
    }

    Context Inherits fn cudaExecutionCtxGetDevResource(context: u64, resource: Out<u8>, kind: u32) {
        checked(cu::cuCtxGetDevResource(given(context)?, resource.address(), kind))
    }

    Driver Inherits fn cudaExecutionCtxGetDevice(device: Out<i32>, context: u64) {
        checked(cu::cuCtxGetDevice_v2(device.address(), given(context)?))
    }

    Driver Inherits fn cudaExecutionCtxGetId(context: u64, id: Out<u64>) {
        checked(cu::cuCtxGetId(given(context)?, id.address()))
    }

    Context Inherits fn cudaExecutionCtxSynchronize(context: u64) {
        checked(cu::cuCtxSynchronize_v2(given(context)?))
    }

    /// Streams of a green context never wait for the default stream.
    Driver Inherits fn cudaExecutionCtxStreamCreate(out: Out<u64>, context: u64, flags: u32, priority: i32) {
        out.required()?;
        if flags & !NON_BLOCKING != 0 {
            return Err(Error::INVALID_VALUE);
        }
        if cu::cuCtxFromGreenCtx(&mut 0, given(context)?) == 0 {
            return checked(cu::cuGreenCtxStreamCreate(out.address(), context, NON_BLOCKING, priority));
        }
        checked(cu::cuCtxPushCurrent_v2(context))?;
        let made = cu::cuStreamCreateWithPriority(out.address(), flags, priority);
        checked(cu::cuCtxPopCurrent_v2(0))?;
        checked(made)
    }
}
