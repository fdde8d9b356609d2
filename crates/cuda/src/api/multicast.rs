//! Multicast objects.

use driver::device::attribute;
use driver::memory::{address, multicast};
use driver::{Error, Result, driver};

use crate::abi::{In, Out};
use crate::api;
use crate::types::{CUdevice, CUdeviceptr, Handle, MulticastProp};

/// Without a device that takes part in multicast, nothing else is checked.
fn supported() -> Result<()> {
    let devices = &driver()?.devices;
    let some = devices.iter().any(|device| device.known(attribute::MULTICAST_SUPPORTED) != 0);
    if some { Ok(()) } else { Err(Error::NotSupported) }
}

/// Bindings have no valid flags.
fn no_flags(flags: u64) -> Result<()> {
    if flags == 0 { Ok(()) } else { Err(Error::InvalidValue) }
}

api! {
    Live Legal fn cuMulticastCreate(out: Out<Handle>, properties: In<MulticastProp>) {
        supported()?;
        out.required()?;
        let MulticastProp { devices, size, handle_types, flags } = properties.get()?;
        out.set(multicast::create(devices, size as u64, handle_types, flags)?);
        Ok(())
    }

    Live Legal fn cuMulticastAddDevice(handle: Handle, device: CUdevice) {
        supported()?;
        multicast::add_device(handle, device)
    }

    Live Unsafe fn cuMulticastBindMem(
        handle: Handle, at: usize, memory: Handle, offset: usize, size: usize, flags: u64,
    ) {
        supported()?;
        no_flags(flags)?;
        multicast::bind(handle, at as u64, &address::get(memory)?, offset as u64, size as u64)
    }

    Live Unsafe fn cuMulticastBindAddr(
        handle: Handle, at: usize, start: CUdeviceptr, size: usize, flags: u64,
    ) {
        supported()?;
        no_flags(flags)?;
        let (memory, offset) = address::behind(start, size as u64)?;
        multicast::bind(handle, at as u64, &memory, offset, size as u64)
    }

    Live Unsafe fn cuMulticastBindMem_v2(
        handle: Handle, device: CUdevice, at: usize, memory: Handle, offset: usize, size: usize, flags: u64,
    ) {
        supported()?;
        no_flags(flags)?;
        let memory = address::get(memory)?;
        multicast::check_location(device, &memory)?;
        multicast::bind(handle, at as u64, &memory, offset as u64, size as u64)
    }

    Live Unsafe fn cuMulticastBindAddr_v2(
        handle: Handle, device: CUdevice, at: usize, start: CUdeviceptr, size: usize, flags: u64,
    ) {
        supported()?;
        no_flags(flags)?;
        let (memory, offset) = address::behind(start, size as u64)?;
        multicast::check_location(device, &memory)?;
        multicast::bind(handle, at as u64, &memory, offset, size as u64)
    }

    Live Unsafe fn cuMulticastUnbind(handle: Handle, device: CUdevice, at: usize, size: usize) {
        supported()?;
        multicast::unbind(handle, device, at as u64, size as u64)
    }

    Live Legal fn cuMulticastGetGranularity(out: Out<usize>, properties: In<MulticastProp>, option: u32) {
        supported()?;
        out.required()?;
        let MulticastProp { devices, size, flags, .. } = properties.get()?;
        if option > 1 {
            return Err(Error::InvalidValue);
        }
        out.set(multicast::granularity(devices, size as u64, flags)? as usize);
        Ok(())
    }
}
