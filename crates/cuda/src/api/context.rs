//! Contexts and primary contexts.

use driver::device::bank_size;
use driver::{Error, Result, context, driver, green, peer};

use crate::abi::{In, Need, Out, check};
use crate::api;
use crate::api::current;
use crate::types::{CUdevice, Handle};

fn create(out: Out<Handle>, flags: u32, device: CUdevice, version: u32) -> Result<()> {
    out.required()?;
    let device = driver()?.device(device)?;
    out.set(context::create(device, flags, version)?);
    Ok(())
}

fn of(handle: Handle) -> Result<std::sync::Arc<context::Context>> {
    if handle == 0 { context::current().ok_or(Error::InvalidContext) } else { context::get(handle) }
}

api! {
    Init Legal fn cuCtxCreate(out: Out<Handle>, flags: u32, device: CUdevice) {
        create(out, flags, device, 3010)
    }

    Init Legal fn cuCtxCreate_v2(out: Out<Handle>, flags: u32, device: CUdevice) {
        create(out, flags, device, 3020)
    }

    Init Legal fn cuCtxCreate_v3(
        out: Out<Handle>, affinity: In<[u64; 2]>, count: i32, flags: u32, device: CUdevice,
    ) {
        if !affinity.is_null() && count > 0 {
            return Err(Error::UnsupportedExecAffinity);
        }
        create(out, flags, device, 3020)
    }

    Init Legal fn cuCtxCreate_v4(out: Out<Handle>, params: In<[u64; 3]>, flags: u32, device: CUdevice) {
        if !params.is_null() && params.get()? != [0; 3] {
            return Err(Error::UnsupportedExecAffinity);
        }
        create(out, flags, device, 3020)
    }

    Process Unsafe fn cuCtxDestroy / cuCtxDestroy_v2 (handle: Handle) {
        if handle == 0 {
            return Err(Error::InvalidValue);
        }
        check(Need::Init)?;
        context::destroy(&context::get(handle)?)
    }

    Init Legal fn cuCtxPushCurrent / cuCtxPushCurrent_v2 (handle: Handle) {
        if handle == 0 {
            return Err(Error::InvalidValue);
        }
        context::push_by(handle)
    }

    Init Legal fn cuCtxPopCurrent / cuCtxPopCurrent_v2 (out: Out<Handle>) {
        out.set(context::pop_handle()?);
        Ok(())
    }

    Init Legal fn cuCtxSetCurrent(handle: Handle) {
        context::set_current_by(handle)
    }

    Init Legal fn cuCtxGetCurrent(out: Out<Handle>) {
        out.required()?.set(context::current_handle());
        Ok(())
    }

    Init Legal fn cuCtxGetDevice(device: Out<CUdevice>) {
        let context = context::current().ok_or(Error::InvalidContext)?;
        device.required()?.set(context.device.ordinal as i32);
        Ok(())
    }

    Init Legal fn cuCtxGetDevice_v2(device: Out<CUdevice>, handle: Handle) {
        let context = of(handle)?;
        device.required()?.set(context.device.ordinal as i32);
        Ok(())
    }

    Init Legal fn cuCtxGetFlags(flags: Out<u32>) {
        let context = context::current().ok_or(Error::InvalidContext)?;
        flags.required()?.set(context.flags());
        Ok(())
    }

    Context Legal fn cuCtxSetFlags(flags: u32) {
        current()?.set_flags(flags)
    }

    Init Legal fn cuCtxGetId(handle: Handle, id: Out<u64>) {
        let context = of(handle)?;
        let green = green::named(handle).map(|green| green.id);
        id.required()?.set(green.unwrap_or(context.id()));
        Ok(())
    }

    Init Legal fn cuCtxGetApiVersion(handle: Handle, version: Out<u32>) {
        let context = of(handle)?;
        if !context.alive() {
            return Err(Error::InvalidContext);
        }
        version.required()?.set(context.api_version);
        Ok(())
    }

    Context Invalidates fn cuCtxSynchronize() {
        driver::context::synchronize_current()
    }

    Context Invalidates fn cuCtxSynchronize_v2(handle: Handle) {
        of(handle)?.synchronize()
    }

    Context Legal fn cuCtxGetLimit(value: Out<usize>, limit: u32) {
        let context = current()?;
        value.required()?.set(context.limit(limit)? as usize);
        Ok(())
    }

    Context Unsafe fn cuCtxSetLimit(limit: u32, value: usize) {
        current()?.set_limit(limit, value as u64)
    }

    Context Legal fn cuCtxGetCacheConfig(config: Out<u32>) {
        config.required()?.set(current()?.cache_config());
        Ok(())
    }

    Context Legal fn cuCtxSetCacheConfig(config: u32) {
        current()?.set_cache_config(config)
    }

    /// Shared memory banks are always four bytes wide.
    Context Legal fn cuCtxGetSharedMemConfig(config: Out<u32>) {
        config.required()?.set(bank_size::FOUR_BYTE);
        Ok(())
    }

    Context Legal fn cuCtxSetSharedMemConfig(config: u32) {
        if config > bank_size::EIGHT_BYTE { Err(Error::InvalidValue) } else { Ok(()) }
    }

    Context Legal fn cuCtxGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) {
        least.set(0);
        greatest.set(driver::stream::HIGHEST_PRIORITY);
        Ok(())
    }

    Context Legal fn cuCtxResetPersistingL2Cache() {
        Ok(())
    }

    Context Legal fn cuCtxGetExecAffinity(affinity: Out<[u32; 2]>, kind: u32) {
        if kind != 0 {
            return Err(Error::UnsupportedExecAffinity);
        }
        affinity.required()?.set([0, current()?.device.info.multiprocessors]);
        Ok(())
    }

    Init Legal fn cuCtxAttach(out: Out<Handle>, flags: u32) {
        check(Need::Context)?;
        out.required()?;
        if flags != 0 {
            return Err(Error::InvalidValue);
        }
        out.set(context::attach()?);
        Ok(())
    }

    Init Unsafe fn cuCtxDetach(handle: Handle) {
        if green::viewed(handle).is_some() {
            return Err(Error::InvalidContext);
        }
        context::detach(&context::get(handle)?)
    }

    Context Unsafe fn cuCtxEnablePeerAccess(peer: Handle, flags: u32) {
        if flags != 0 {
            return Err(Error::InvalidValue);
        }
        peer::enable(&*current()?, &*context::get(peer)?)
    }

    Context Unsafe fn cuCtxDisablePeerAccess(peer: Handle) {
        peer::disable(&*current()?, &*context::get(peer)?)
    }

    Init Legal fn cuDevicePrimaryCtxRetain(out: Out<Handle>, device: CUdevice) {
        out.required()?;
        out.set(context::retain_primary(driver()?.device(device)?)?);
        Ok(())
    }

    Init Unsafe fn cuDevicePrimaryCtxRelease / cuDevicePrimaryCtxRelease_v2 (device: CUdevice) {
        context::release_primary(driver()?.device(device)?)
    }

    Init Unsafe fn cuDevicePrimaryCtxReset / cuDevicePrimaryCtxReset_v2 (device: CUdevice) {
        context::reset_primary(driver()?.device(device)?);
        Ok(())
    }

    Init Legal fn cuDevicePrimaryCtxGetState(device: CUdevice, flags: Out<u32>, active: Out<i32>) {
        if flags.is_null() || active.is_null() {
            return Err(Error::InvalidValue);
        }
        let (f, a) = context::primary_state(driver()?.device(device)?);
        flags.set(f);
        active.set(i32::from(a));
        Ok(())
    }

    Init Legal fn cuDevicePrimaryCtxSetFlags / cuDevicePrimaryCtxSetFlags_v2 (device: CUdevice, flags: u32) {
        let device = driver()?.device(device)?;
        context::set_primary_flags(device, flags)
    }

    Init Invalidates fn cuCtxRecordEvent(handle: Handle, event: Handle) {
        let context = context::get(handle)?;
        context.check()?;
        green::viewed(handle).map_or(Ok(()), |green| green.check_not_capturing())?;
        context.check_not_capturing()?;
        let event = driver::event::get(event)?;
        green::viewed(handle).map_or_else(|| context.record(&event), |green| green.record(&event))
    }

    Init Invalidates fn cuCtxWaitEvent(handle: Handle, event: Handle) {
        let context = context::get(handle)?;
        context.check()?;
        green::viewed(handle).map_or(Ok(()), |green| green.check_not_capturing())?;
        context.check_not_capturing()?;
        let event = driver::event::get(event)?;
        green::viewed(handle).map_or_else(|| context.wait(&event), |green| green.wait(&event))
    }
}
