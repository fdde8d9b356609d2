//! Memory and semaphores of other interfaces, which a virtual device cannot import. Imports check their
//! arguments and are then refused by name, so every handle is an invalid value.

use crate::abi::{In, Out};
use crate::current::Handle;
use crate::{Error, Result, api};

/// The first word of a description is a type, numbered from 1: `hipExternalMemoryHandleType`,
/// `hipExternalSemaphoreHandleType`.
const LAST_MEMORY_TYPE: u32 = 8;
const LAST_SEMAPHORE_TYPE: u32 = 10;

/// Checks an import; refuses a valid one and logs the function's name.
fn refuse(name: &'static str, out: Out<Handle>, description: In<u32>, last: u32) -> Result<()> {
    out.required()?;
    if !(1..=last).contains(&description.get()?) {
        return Err(Error::InvalidValue);
    }
    capi::named_once(name);
    Err(Error::NotSupported)
}

api! {
    Context Unsafe fn hipImportExternalMemory(out: Out<Handle>, description: In<u32>) {
        refuse("hipImportExternalMemory", out, description, LAST_MEMORY_TYPE)
    }

    Context Unsafe fn hipExternalMemoryGetMappedBuffer(_address: Out<u64>, _memory: Handle, _buffer: u64) {
        Err(Error::InvalidValue)
    }

    Context Unsafe fn hipDestroyExternalMemory(_memory: Handle) {
        Err(Error::InvalidValue)
    }

    Context Unsafe fn hipImportExternalSemaphore(out: Out<Handle>, description: In<u32>) {
        refuse("hipImportExternalSemaphore", out, description, LAST_SEMAPHORE_TYPE)
    }

    Context Appends fn hipSignalExternalSemaphoresAsync(
        _list: In<Handle>, _parameters: u64, _count: u32, _stream: Handle,
    ) {
        Err(Error::InvalidValue)
    }

    Context Appends fn hipWaitExternalSemaphoresAsync(
        _list: In<Handle>, _parameters: u64, _count: u32, _stream: Handle,
    ) {
        Err(Error::InvalidValue)
    }

    Context Unsafe fn hipDestroyExternalSemaphore(_semaphore: Handle) {
        Err(Error::InvalidValue)
    }
}
