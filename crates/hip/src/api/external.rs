//! Imported memory and semaphores, by file descriptor. Other kinds of handles fail as imports do on AMD's
//! Linux runtime.

use capi::external::{OPAQUE_FD, TIMELINE_FD, Use, steps};
use capi::types::SemaphoreUse;
use driver::external;
use driver::stream::{Operation, Policy};

use super::array::described;
use crate::abi::{In, Out};
use crate::current::{self, Handle};
use crate::types::{ExternalBuffer, ExternalMemory, ExternalMipmap, ExternalSemaphore, SemaphoreUseIn5};
use crate::{Error, Result, api};

/// `hipExternalMemoryHandleTypeD3D11ResourceKmt`, the last type that AMD's runtime takes.
const LAST_MEMORY: u32 = 7;
/// `hipExternalSemaphoreHandleTypeD3D12Fence`, the last type that AMD's runtime takes.
const LAST_SEMAPHORE: u32 = 4;
/// `hipExternalMemoryDedicated`: the memory is one resource's, which makes no difference.
const DEDICATED: u32 = 1;

/// Every mistake with a handle is an invalid value.
fn checked<T>(outcome: driver::Result<T>) -> Result<T> {
    outcome.map_err(|error| match error {
        driver::Error::InvalidHandle => Error::InvalidValue,
        other => other.into(),
    })
}

/// Checks all semaphores of a call and submits their signals or waits as one operation.
fn submit<U: Use>(list: In<Handle>, uses: In<U>, count: u32, in_stream: Handle, signal: bool) -> Result<()> {
    if list.is_null() || uses.is_null() {
        return Err(Error::InvalidValue);
    }
    let stream = current::stream(in_stream, false).map_err(|_| Error::InvalidValue)?;
    let steps = checked(steps(list, uses, count, signal))?;
    if steps.is_empty() {
        return Ok(());
    }
    Ok(stream.submit(Operation::Batch(steps), Policy::Later)?)
}

api! {
    Context Legal fn hipImportExternalMemory(out: Out<Handle>, description: In<ExternalMemory>) {
        out.required()?;
        let ExternalMemory { kind, handle, size, flags } = description.get()?;
        if flags & !DEDICATED != 0 || size == 0 || !(OPAQUE_FD..=LAST_MEMORY).contains(&kind) {
            return Err(Error::InvalidValue);
        }
        if kind != OPAQUE_FD {
            capi::named_once("hipImportExternalMemory of a handle that is no file descriptor");
            return Err(Error::OutOfMemory);
        }
        let descriptor = handle[0] as u32 as i32;
        out.set(external::import_memory(descriptor, size).map_err(|_| Error::OutOfMemory)?);
        Ok(())
    }

    Context Unsafe fn hipExternalMemoryGetMappedBuffer(
        out: Out<u64>, handle: Handle, description: In<ExternalBuffer>,
    ) {
        out.required()?;
        let ExternalBuffer { offset, size, flags } = description.get()?;
        if handle == 0 || flags != 0 {
            return Err(Error::InvalidValue);
        }
        out.set(checked(external::map_buffer(&*current::context()?, handle, offset, size))?);
        Ok(())
    }

    /// The memory holds the levels one after another, rows without gaps.
    Context Unsafe fn hipExternalMemoryGetMappedMipmappedArray(
        out: Out<Handle>, handle: Handle, description: In<ExternalMipmap>,
    ) {
        out.required()?;
        let ExternalMipmap { offset, format, extent, flags, levels } = description.get()?;
        if handle == 0 {
            return Err(Error::InvalidValue);
        }
        let array = described(format, extent, flags)?;
        out.set(checked(external::map_mipmap(&*current::context()?, handle, offset, array, levels))?);
        Ok(())
    }

    Context Unsafe fn hipDestroyExternalMemory(handle: Handle) {
        checked(external::destroy_memory(handle))
    }

    /// AMD's runtime takes no timelines; their type is CUDA's.
    Context Legal fn hipImportExternalSemaphore(out: Out<Handle>, description: In<ExternalSemaphore>) {
        out.required()?;
        let ExternalSemaphore { kind, handle, .. } = description.get()?;
        let descriptor = handle[0] as u32 as i32;
        if !(OPAQUE_FD..=LAST_SEMAPHORE).contains(&kind) && kind != TIMELINE_FD || descriptor == 0 {
            return Err(Error::InvalidValue);
        }
        if !matches!(kind, OPAQUE_FD | TIMELINE_FD) {
            capi::named_once("hipImportExternalSemaphore of a handle that is no file descriptor");
            return Err(Error::NotSupported);
        }
        let imported = external::import_semaphore(descriptor, kind == TIMELINE_FD);
        out.set(imported.map_err(|_| Error::NotSupported)?);
        Ok(())
    }

    Context Unsafe fn hipDestroyExternalSemaphore(handle: Handle) {
        checked(external::destroy_semaphore(handle))
    }

    Context Appends fn hipSignalExternalSemaphoresAsync(
        list: In<Handle>, uses: In<SemaphoreUse>, count: u32, in_stream: Handle,
    ) {
        submit(list, uses, count, in_stream, true)
    }

    Context Appends fn hipSignalExternalSemaphoresAsync_in_5(
        list: In<Handle>, uses: In<SemaphoreUseIn5>, count: u32, in_stream: Handle,
    ) {
        submit(list, uses, count, in_stream, true)
    }

    Context Appends fn hipWaitExternalSemaphoresAsync(
        list: In<Handle>, uses: In<SemaphoreUse>, count: u32, in_stream: Handle,
    ) {
        submit(list, uses, count, in_stream, false)
    }

    Context Appends fn hipWaitExternalSemaphoresAsync_in_5(
        list: In<Handle>, uses: In<SemaphoreUseIn5>, count: u32, in_stream: Handle,
    ) {
        submit(list, uses, count, in_stream, false)
    }
}
