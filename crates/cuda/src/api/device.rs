//! Devices.

use driver::device::{attribute, parse_pci, peer_attribute, texture_1d_linear_max_width};
use driver::memory::{format, pool};
use driver::{Error, Result, driver};

use crate::abi::{In, Out, Text};
use crate::api;
use crate::types::{CUdevice, DeviceProperties, Handle};

/// `CUatomicOperationCapability`.
mod atomic {
    pub const SIGNED: u32 = 1;
    pub const UNSIGNED: u32 = 2;
    pub const REDUCTION: u32 = 4;
    pub const SCALAR_32: u32 = 8;
    pub const SCALAR_64: u32 = 16;
    pub const SCALAR_128: u32 = 32;
    pub const VECTOR_32X4: u32 = 64;
}

/// What kernels can do atomically in any memory, since all of it is the host's, by `CUatomicOperation`: the
/// widths for which PTX has the operation.
const ATOMICS: [u32; 13] = {
    use atomic::{REDUCTION, SCALAR_32, SCALAR_64, SCALAR_128, SIGNED, UNSIGNED, VECTOR_32X4};
    let both = SIGNED | UNSIGNED | REDUCTION | SCALAR_32 | SCALAR_64;
    let counter = UNSIGNED | REDUCTION | SCALAR_32;
    let bits = UNSIGNED | REDUCTION | SCALAR_32 | SCALAR_64;
    let swap = UNSIGNED | SCALAR_32 | SCALAR_64 | SCALAR_128;
    let sum = SIGNED | REDUCTION | SCALAR_32 | SCALAR_64 | VECTOR_32X4;
    [both, both, both, counter, counter, bits, bits, bits, swap, swap, sum, 0, 0]
};

fn atomics(capabilities: Out<u32>, operations: In<u32>, count: u32) -> Result<()> {
    capabilities.required()?;
    let of = |number: u32| ATOMICS.get(number as usize).copied().ok_or(Error::InvalidValue);
    let all = operations.each(count as usize).map(|number| of(number?)).collect::<Result<Vec<u32>>>()?;
    if all.is_empty() {
        return Err(Error::InvalidValue);
    }
    capabilities.set_all(&all);
    Ok(())
}

api! {
    Init Legal fn cuDeviceGetCount(count: Out<i32>) {
        count.required()?.set(driver()?.devices.len() as i32);
        Ok(())
    }

    Init Legal fn cuDeviceGet(device: Out<CUdevice>, ordinal: i32) {
        device.required()?;
        driver()?.device(ordinal)?;
        device.set(ordinal);
        Ok(())
    }

    Init Legal fn cuDeviceGetName(name: Out<u8>, length: i32, device: CUdevice) {
        name.required()?;
        let device = driver()?.device(device)?;
        // The hardware's driver treats a negative length as a large one.
        name.set_text(&device.info.name, usize::try_from(length).unwrap_or(256))
    }

    Init Legal fn cuDeviceTotalMem_v2(bytes: Out<usize>, device: CUdevice) {
        bytes.required()?.set(driver()?.device(device)?.info.total_memory as usize);
        Ok(())
    }

    Init Legal fn cuDeviceGetUuid / cuDeviceGetUuid_v2 (uuid: Out<[u8; 16]>, device: CUdevice) {
        uuid.required()?.set(driver()?.device(device)?.info.uuid);
        Ok(())
    }

    Init Legal fn cuDeviceGetLuid(_luid: Out<u8>, _mask: Out<u32>, device: CUdevice) {
        driver()?.device(device)?;
        Err(Error::NotSupported)
    }

    Init Legal fn cuDeviceGetAttribute(value: Out<i32>, number: i32, device: CUdevice) {
        value.required()?;
        value.set(driver()?.device(device)?.attribute(number)?);
        Ok(())
    }

    Init Legal fn cuDeviceComputeCapability(major: Out<i32>, minor: Out<i32>, device: CUdevice) {
        if major.is_null() || minor.is_null() {
            return Err(Error::InvalidValue);
        }
        let (a, b) = driver()?.device(device)?.info.compute_capability;
        major.set(a as i32);
        minor.set(b as i32);
        Ok(())
    }

    Init Legal fn cuDeviceGetProperties(properties: Out<DeviceProperties>, device: CUdevice) {
        properties.required()?;
        let device = driver()?.device(device)?;
        let a = |n| device.attribute(n).unwrap_or(0);
        properties.set(DeviceProperties {
            max_threads_per_block: a(1),
            max_threads_dim: [a(2), a(3), a(4)],
            max_grid_size: [a(5), a(6), a(7)],
            shared_mem_per_block: a(8),
            total_constant_memory: a(9),
            simd_width: a(10),
            mem_pitch: a(11),
            regs_per_block: a(12),
            clock_rate: a(attribute::CLOCK_RATE),
            texture_align: a(14),
        });
        Ok(())
    }

    Init Legal fn cuDeviceGetPCIBusId(text: Out<u8>, length: i32, device: CUdevice) {
        text.required()?;
        let mut id = driver()?.device(device)?.pci_bus_id().into_bytes();
        id.push(0);
        if i64::from(length) < id.len() as i64 {
            return Err(Error::InvalidValue);
        }
        text.set_all(&id);
        Ok(())
    }

    Init Legal fn cuDeviceGetByPCIBusId(device: Out<CUdevice>, id: Text) {
        device.required()?;
        let text = String::from_utf8_lossy(id.bytes()?).into_owned();
        let wanted = parse_pci(&text).ok_or(Error::InvalidValue)?;
        let found = driver()?.devices.iter().find(|d| d.info.pci == wanted).ok_or(Error::InvalidDevice)?;
        device.set(found.ordinal as i32);
        Ok(())
    }

    Init Legal fn cuDeviceCanAccessPeer(can: Out<i32>, device: CUdevice, peer: CUdevice) {
        can.required()?;
        let driver = driver()?;
        driver.device(device)?;
        driver.device(peer)?;
        can.set(i32::from(device != peer));
        Ok(())
    }

    Init Legal fn cuDeviceGetP2PAttribute(value: Out<i32>, attribute: u32, device: CUdevice, peer: CUdevice) {
        value.required()?;
        let driver = driver()?;
        driver.device(device)?;
        driver.device(peer)?;
        if device == peer {
            return Err(Error::InvalidDevice);
        }
        value.set(peer_attribute(attribute.wrapping_sub(1))?);
        Ok(())
    }

    Init Legal fn cuDeviceGetExecAffinitySupport(value: Out<i32>, _kind: u32, device: CUdevice) {
        value.required()?;
        driver()?.device(device)?;
        value.set(0);
        Ok(())
    }

    Init Legal fn cuDeviceGetTexture1DLinearMaxWidth(
        width: Out<usize>, format: u32, channels: u32, device: CUdevice,
    ) {
        width.required()?;
        driver()?.device(device)?;
        if !format::is_plain(format) {
            return Err(Error::InvalidValue);
        }
        let texel = format::format(format, channels)?;
        width.set(texture_1d_linear_max_width(texel.element())? as usize);
        Ok(())
    }

    Init Legal fn cuDeviceGetDefaultMemPool(out: Out<Handle>, device: CUdevice) {
        out.required()?;
        out.set(pool::default_pool(driver()?.device(device)?)?);
        Ok(())
    }

    Init Legal fn cuDeviceGetMemPool(out: Out<Handle>, device: CUdevice) {
        out.required()?;
        out.set(pool::current(driver()?.device(device)?)?);
        Ok(())
    }

    Init Unsafe fn cuDeviceSetMemPool(device: CUdevice, handle: Handle) {
        pool::set_current(driver()?.device(device)?, handle)
    }

    /// All operations at all widths are supported: device memory is host memory.
    Init Legal fn cuDeviceGetHostAtomicCapabilities(
        capabilities: Out<u32>, operations: In<u32>, count: u32, device: CUdevice,
    ) {
        driver()?.device(device)?;
        atomics(capabilities, operations, count)
    }

    Init Legal fn cuDeviceGetP2PAtomicCapabilities(
        capabilities: Out<u32>, operations: In<u32>, count: u32, from: CUdevice, to: CUdevice,
    ) {
        if capabilities.is_null() || operations.is_null() || count == 0 {
            return Err(Error::InvalidValue);
        }
        driver()?.device(from)?;
        driver()?.device(to)?;
        if from == to {
            return Err(Error::InvalidDevice);
        }
        atomics(capabilities, operations, count)
    }
}
