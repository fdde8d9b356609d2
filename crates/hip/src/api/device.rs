//! Devices: enumeration, the thread's current one, and its limits and flags.

use driver::context as contexts;
use driver::device::attribute::{COMPUTE_CAPABILITY_MAJOR, COMPUTE_CAPABILITY_MINOR};
use driver::device::{bank_size, parse_pci, texture_1d_linear_max_width};
use driver::stream::LOWEST_PRIORITY;

use crate::abi::{In, Out, Text};
use crate::types::ChannelFormat;
use crate::{Error, Result, api, current};

/// The number of limits in HIP: stack size, `printf` buffer size, `malloc` heap size. The driver uses the
/// same numbers.
const LIMITS: u32 = 3;
/// `hipDeviceScheduleMask`.
const SCHEDULE: u32 = 7;
/// `hipDeviceMapHost` and `hipDeviceLmemResizeToMax`, which have no effect.
const OTHER_FLAGS: u32 = 0x18;
/// The highest priority in HIP. Programs that use the CUDA driver can have higher ones.
pub(crate) const HIGHEST_PRIORITY: i32 = -1;

/// The number of configurations of `hipDeviceGetCacheConfig`.
const CONFIGS: u32 = 4;

fn exists(ordinal: i32) -> Result<()> {
    current::device_at(ordinal).map(|_| ())
}

api! {
    /// Without a device the count is 0 and the call fails.
    Nothing Legal fn hipGetDeviceCount(count: Out<i32>) {
        count.required()?.set(0);
        count.set(current::driver()?.devices.len() as i32);
        Ok(())
    }

    Device Legal fn hipGetDevice(out: Out<i32>) {
        out.required()?.set(current::device()?.ordinal as i32);
        Ok(())
    }

    Device Legal fn hipSetDevice(ordinal: i32) {
        current::set_device(ordinal)
    }

    /// The first device of the list becomes the thread's, unless the thread has called hipSetDevice.
    Device Legal fn hipSetValidDevices(list: In<i32>, length: i32) {
        if length == 0 {
            return Ok(());
        }
        let devices = &current::driver()?.devices;
        let length = usize::try_from(length).ok().filter(|n| !list.is_null() && *n <= devices.len());
        let list = list.list(length.ok_or(Error::InvalidValue)?)?;
        list.iter().copied().try_for_each(exists)?;
        match list.first() {
            Some(first) => current::prefer_device(*first),
            None => Ok(()),
        }
    }

    Device Legal fn hipDeviceGet(out: Out<i32>, ordinal: i32) {
        out.required()?;
        exists(ordinal)?;
        out.set(ordinal);
        Ok(())
    }

    Device Legal fn hipDeviceTotalMem(out: Out<usize>, ordinal: i32) {
        let device = current::device_at(ordinal)?;
        out.required()?.set(device.info.total_memory as usize);
        Ok(())
    }

    Device Legal fn hipDeviceComputeCapability(major: Out<i32>, minor: Out<i32>, ordinal: i32) {
        let device = current::device_at(ordinal)?;
        let (a, b) = (device.attribute(COMPUTE_CAPABILITY_MAJOR)?, device.attribute(COMPUTE_CAPABILITY_MINOR)?);
        if major.is_null() || minor.is_null() {
            return Err(Error::InvalidValue);
        }
        major.set(a);
        minor.set(b);
        Ok(())
    }

    Device Legal fn hipDeviceGetName(name: Out<u8>, length: i32, ordinal: i32) {
        let device = current::device_at(ordinal)?;
        let room = usize::try_from(length).map_err(|_| Error::InvalidValue)?;
        Ok(name.required()?.set_text(&device.info.name, room)?)
    }

    Device Legal fn hipDeviceGetUuid(out: Out<[u8; 16]>, ordinal: i32) {
        let device = current::device_at(ordinal)?;
        out.required()?.set(device.info.uuid);
        Ok(())
    }

    /// If the buffer is too small, the call fails but still writes as much as fits.
    Device Legal fn hipDeviceGetPCIBusId(text: Out<u8>, length: i32, ordinal: i32) {
        let id = current::device_at(ordinal)?.pci_bus_id().to_lowercase();
        text.required()?.set_text(&id, usize::try_from(length).unwrap_or(0))?;
        if usize::try_from(length).is_ok_and(|room| room > id.len()) { Ok(()) } else { Err(Error::InvalidValue) }
    }

    Device Legal fn hipDeviceGetByPCIBusId(out: Out<i32>, id: Text) {
        if out.is_null() {
            return Err(Error::InvalidValue);
        }
        let wanted = parse_pci(&String::from_utf8_lossy(id.bytes()?)).ok_or(Error::InvalidValue)?;
        let devices = &current::driver()?.devices;
        let found = devices.iter().find(|d| d.info.pci == wanted).ok_or(Error::InvalidValue)?;
        out.set(found.ordinal as i32);
        Ok(())
    }

    Context Invalidates fn hipDeviceSynchronize() {
        Ok(current::context()?.synchronize()?)
    }

    /// Destroys the primary context and everything in it.
    Device Unsafe fn hipDeviceReset() {
        contexts::reset_primary(&current::device()?);
        Ok(())
    }

    Context Legal fn hipDeviceGetLimit(out: Out<usize>, number: u32) {
        out.required()?;
        if number >= LIMITS {
            return Err(Error::InvalidValue);
        }
        out.set(current::context()?.limit(number)? as usize);
        Ok(())
    }

    Context Legal fn hipDeviceSetLimit(number: u32, value: usize) {
        if number >= LIMITS {
            return Err(Error::InvalidValue);
        }
        Ok(current::context()?.set_limit(number, value as u64)?)
    }

    Context Legal fn hipDeviceGetCacheConfig(out: Out<u32>) {
        out.required()?.set(current::context()?.cache_config());
        Ok(())
    }

    Context Legal fn hipDeviceSetCacheConfig(config: u32) {
        if config >= CONFIGS {
            return Err(Error::InvalidValue);
        }
        Ok(current::context()?.set_cache_config(config)?)
    }

    Device Legal fn hipDeviceGetSharedMemConfig(out: Out<u32>) {
        out.required()?.set(bank_size::FOUR_BYTE);
        Ok(())
    }

    /// Shared memory banks have one width; the call is accepted.
    Device Legal fn hipDeviceSetSharedMemConfig(config: u32) {
        if config <= bank_size::EIGHT_BYTE { Ok(()) } else { Err(Error::InvalidValue) }
    }

    Device Legal fn hipGetDeviceFlags(out: Out<u32>) {
        out.required()?.set(contexts::primary_state(&*current::device()?).0 & SCHEDULE);
        Ok(())
    }

    Device Legal fn hipSetDeviceFlags(flags: u32) {
        if flags & !(SCHEDULE | OTHER_FLAGS) != 0 {
            return Err(Error::InvalidValue);
        }
        Ok(contexts::set_primary_flags(&*current::device()?, flags & SCHEDULE)?)
    }

    Device Legal fn hipDeviceGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) {
        least.set(LOWEST_PRIORITY);
        greatest.set(HIGHEST_PRIORITY);
        Ok(())
    }

    Device Legal fn hipDeviceGetTexture1DLinearMaxWidth(
        out: Out<usize>, format: In<ChannelFormat>, ordinal: i32,
    ) {
        if out.is_null() {
            return Err(Error::InvalidValue);
        }
        let ChannelFormat { x, y, z, w, .. } = format.get()?;
        exists(ordinal)?;
        let bits = [x, y, z, w].iter().fold(0u64, |sum, n| sum.saturating_add((*n).max(0) as u64));
        out.set(texture_1d_linear_max_width(bits / 8)? as usize);
        Ok(())
    }
}
