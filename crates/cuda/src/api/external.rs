//! Imported memory and semaphores, by file descriptor. Other kinds of handles are refused by name.

use capi::external::{OPAQUE_FD, TIMELINE_FD, steps};
use capi::types::{BufferDescription, MemoryDescription, SemaphoreDescription, SemaphoreUse};
use driver::external;
use driver::stream::{Operation, Policy};
use driver::{Error, Result};

use crate::abi::{In, Out, unsupported};
use crate::api;
use crate::api::{check_default, current, stream};
use crate::types::{Array3DDescriptor, CUdeviceptr, Handle};

/// `CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_RESOURCE` to `CU_EXTERNAL_MEMORY_HANDLE_TYPE_NVSCIBUF`, which the
/// hardware's driver for this system does not know.
const ELSEWHERE: std::ops::RangeInclusive<u32> = 5..=7;
/// `CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD`.
const DMA_BUF: u32 = 9;
/// The last type of semaphores.
const LAST: u32 = 10;
/// `CUDA_EXTERNAL_MEMORY_DEDICATED`: the memory is one resource's, which makes no difference.
const DEDICATED: u32 = 1;

/// `CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct MipmapDescription {
    pub offset: u64,
    pub array: Array3DDescriptor,
    pub levels: u32,
    pub reserved: [u32; 16],
}

/// [`Error::InvalidValue`] for null.
fn some(handle: Handle) -> Result<()> {
    if handle == 0 { Err(Error::InvalidValue) } else { Ok(()) }
}

fn refuse(name: &'static str) -> Result<()> {
    unsupported(name);
    Err(Error::NotSupported)
}

/// Checks all semaphores of a call and submits their signals or waits as one operation.
fn submit(
    list: In<Handle>,
    uses: In<SemaphoreUse>,
    count: u32,
    (in_stream, own): (Handle, bool),
    signal: bool,
) -> Result<()> {
    check_default(in_stream)?;
    if count == 0 {
        return Err(Error::InvalidValue);
    }
    let steps = steps(list, uses, count, signal)?;
    stream(in_stream, own)?.submit(Operation::Batch(steps), Policy::Later)
}

api! {
    Context Legal fn cuImportExternalMemory(out: Out<Handle>, description: In<MemoryDescription>) {
        out.required()?;
        let MemoryDescription { kind, handle, size, flags, reserved } = description.get()?;
        let known = (1..=DMA_BUF).contains(&kind) && !ELSEWHERE.contains(&kind);
        let absent = kind == DMA_BUF && (handle[0] as i32) < 0;
        if !known || absent || flags & !DEDICATED != 0 || reserved != [0; 16] {
            return Err(Error::InvalidValue);
        }
        if kind != OPAQUE_FD {
            return refuse("cuImportExternalMemory");
        }
        out.set(external::import_memory(handle[0] as u32 as i32, size)?);
        Ok(())
    }

    Context Unsafe fn cuExternalMemoryGetMappedBuffer(
        out: Out<CUdeviceptr>, handle: Handle, description: In<BufferDescription>,
    ) {
        out.required()?;
        let BufferDescription { offset, size, flags, reserved } = description.get()?;
        if handle == 0 || flags != 0 || reserved != [0; 16] {
            return Err(Error::InvalidValue);
        }
        out.set(external::map_buffer(&*current()?, handle, offset, size)?);
        Ok(())
    }

    /// The memory holds the levels one after another, rows without gaps.
    Context Unsafe fn cuExternalMemoryGetMappedMipmappedArray(
        out: Out<Handle>, handle: Handle, description: In<MipmapDescription>,
    ) {
        out.required()?;
        let MipmapDescription { offset, array, levels, reserved } = description.get()?;
        if handle == 0 || reserved != [0; 16] {
            return Err(Error::InvalidValue);
        }
        out.set(external::map_mipmap(&*current()?, handle, offset, array.into(), levels)?);
        Ok(())
    }

    Context Unsafe fn cuDestroyExternalMemory(handle: Handle) {
        some(handle)?;
        external::destroy_memory(handle)
    }

    Context Legal fn cuImportExternalSemaphore(out: Out<Handle>, description: In<SemaphoreDescription>) {
        out.required()?;
        let SemaphoreDescription { kind, handle, flags, reserved } = description.get()?;
        let absent = kind == TIMELINE_FD && (handle[0] as i32) < 0;
        if !(1..=LAST).contains(&kind) || absent || flags != 0 || reserved != [0; 16] {
            return Err(Error::InvalidValue);
        }
        if !matches!(kind, OPAQUE_FD | TIMELINE_FD) {
            return refuse("cuImportExternalSemaphore");
        }
        out.set(external::import_semaphore(handle[0] as u32 as i32, kind == TIMELINE_FD)?);
        Ok(())
    }

    Context Unsafe fn cuDestroyExternalSemaphore(handle: Handle) {
        some(handle)?;
        external::destroy_semaphore(handle)
    }

    Object Appends fn cuSignalExternalSemaphoresAsync / cuSignalExternalSemaphoresAsync_ptsz (
        list: In<Handle>, uses: In<SemaphoreUse>, count: u32, in_stream: Handle,
    ) |own| {
        submit(list, uses, count, (in_stream, own), true)
    }

    Object Appends fn cuWaitExternalSemaphoresAsync / cuWaitExternalSemaphoresAsync_ptsz (
        list: In<Handle>, uses: In<SemaphoreUse>, count: u32, in_stream: Handle,
    ) |own| {
        submit(list, uses, count, (in_stream, own), false)
    }
}
