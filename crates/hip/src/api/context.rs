//! Contexts (all deprecated by HIP): the thread's context stack, and primary contexts.
//!
//! A device has one context, its primary one; `hipCtxCreate` returns it (clr, hip_context.cpp). Functions
//! that clr does not implement work here, except in strict mode (`crate::abi`).

use std::sync::Arc;

use driver::context as contexts;
use driver::device::{Device, bank_size};

use crate::abi::Out;
use crate::current::{self, Handle, Rule};
use crate::{Error, Result, api};

/// The device with an ordinal; `error` if there is none.
fn device(ordinal: i32, error: Error) -> Result<Arc<Device>> {
    current::device_at(ordinal).map_err(|_| error)
}

/// The result of `hipCtxGetApiVersion`.
const API_VERSION: u32 = 4;

api! {
    Device Unsafe fn hipCtxCreate(out: Out<Handle>, flags: u32, ordinal: i32) {
        let device = device(ordinal, Error::InvalidValue)?;
        out.required()?;
        let handle = contexts::retain_primary(&device)?;
        let context = contexts::get(handle)?;
        context.set_flags(flags)?;
        contexts::push(context)?;
        out.set(handle);
        Ok(())
    }

    Device Unsafe fn hipCtxDestroy(handle: Handle) {
        if handle == 0 {
            return Err(Error::InvalidValue);
        }
        let context = contexts::get(handle)?;
        if contexts::current().is_some_and(|top| Arc::ptr_eq(&top, &context)) {
            contexts::pop()?;
        }
        let primary = contexts::primary(&context.device);
        if primary.is_some_and(|p| Arc::ptr_eq(&p, &context)) {
            return Ok(contexts::release_primary(&context.device)?);
        }
        Ok(contexts::destroy(&context)?)
    }

    Device Legal fn hipCtxPopCurrent(out: Out<Handle>) {
        let context = contexts::pop().map_err(|_| Error::InvalidContext)?;
        out.set(context.handle);
        Ok(())
    }

    Device Legal fn hipCtxPushCurrent(handle: Handle) {
        if handle == 0 {
            return Err(Error::InvalidContext);
        }
        Ok(contexts::push(contexts::get(handle)?)?)
    }

    Device Legal fn hipCtxSetCurrent(handle: Handle) {
        if handle == 0 {
            if contexts::current().is_some() {
                contexts::pop()?;
            }
            return Ok(());
        }
        Ok(contexts::set_current(Some(contexts::get(handle)?))?)
    }

    /// Null only under the NVIDIA rule.
    Device Legal fn hipCtxGetCurrent(out: Out<Handle>) {
        out.required()?;
        out.set(match current::driver()?.options.hip_context {
            Rule::Amd => current::context()?.handle,
            Rule::Nvidia => contexts::current().map_or(0, |c| c.handle),
        });
        Ok(())
    }

    Driver Legal fn hipCtxGetDevice(out: Out<i32>) {
        out.required()?;
        out.set(current::driver_context()?.device.ordinal as i32);
        Ok(())
    }

    Device Legal fn hipCtxGetApiVersion(handle: Handle, out: Out<u32>) {
        if handle != 0 {
            contexts::get(handle)?;
        }
        out.required()?.set(API_VERSION);
        Ok(())
    }

    Driver Legal fn hipCtxGetCacheConfig(out: Out<u32>) {
        out.required()?.set(current::driver_context()?.cache_config());
        Ok(())
    }

    Driver Legal fn hipCtxSetCacheConfig(config: u32) {
        Ok(current::driver_context()?.set_cache_config(config)?)
    }

    Driver Legal fn hipCtxGetSharedMemConfig(out: Out<u32>) {
        out.required()?.set(bank_size::FOUR_BYTE);
        Ok(())
    }

    /// Shared memory banks have one width; the call is accepted.
    Driver Legal fn hipCtxSetSharedMemConfig(config: u32) {
        if config <= bank_size::EIGHT_BYTE { Ok(()) } else { Err(Error::InvalidValue) }
    }

    Driver Invalidates fn hipCtxSynchronize() {
        Ok(current::driver_context()?.synchronize()?)
    }

    Driver Legal fn hipCtxGetFlags(out: Out<u32>) {
        out.required()?.set(current::driver_context()?.flags());
        Ok(())
    }

    Device Legal fn hipDevicePrimaryCtxGetState(ordinal: i32, flags: Out<u32>, active: Out<i32>) {
        let device = device(ordinal, Error::InvalidDevice)?;
        let (set, on) = contexts::primary_state(&device);
        flags.set(set);
        active.set(i32::from(on));
        Ok(())
    }

    /// HIP keeps primary contexts; only the argument is checked.
    Device Unsafe fn hipDevicePrimaryCtxRelease(ordinal: i32) {
        device(ordinal, Error::InvalidDevice).map(|_| ())
    }

    Device Legal fn hipDevicePrimaryCtxRetain(out: Out<Handle>, ordinal: i32) {
        let device = device(ordinal, Error::InvalidDevice)?;
        out.required()?.set(current::primary(&device)?.handle);
        Ok(())
    }

    Device Unsafe fn hipDevicePrimaryCtxReset(ordinal: i32) {
        device(ordinal, Error::InvalidDevice).map(|_| ())
    }

    /// The primary context is always active.
    Device Legal fn hipDevicePrimaryCtxSetFlags(ordinal: i32, flags: u32) {
        device(ordinal, Error::InvalidDevice)?;
        let _ = flags;
        Err(Error::ContextAlreadyInUse)
    }
}
