//! Devices: how they are found, and what they are.

use driver::device::{DeviceInfo, attribute, parse_pci};
use driver::inventory::architecture;

use super::{Table, filled};
use crate::code::{Failure, Result};
use crate::engine::Call;
use crate::handle;
use crate::layout::{
    Capabilities, FieldValue, GpmSupport, Memory, Memory2, PciInfo, PciInfoExt, Pdi, Utilization, Uuid,
};

/// `NVML_BRAND_UNKNOWN`, `NVML_BUS_TYPE_UNKNOWN`, `NVML_COMPUTEMODE_DEFAULT`,
/// `NVML_GPU_VIRTUALIZATION_MODE_NONE`, `NVML_FEATURE_DISABLED`.
const NONE: u32 = 0;
/// What precedes the UUID of a device that is not a part of one.
const UUID_PREFIX: &str = "GPU-";
/// `NVML_COMPUTEMODE_COUNT`.
const COMPUTE_MODES: u32 = 4;
/// `NVML_DEVICE_ARCH_UNKNOWN`.
const UNKNOWN_ARCHITECTURE: u32 = u32::MAX;
pub(super) const TABLE: Table = &[
    ("nvmlDeviceGetCount", count),
    ("nvmlDeviceGetCount_v2", count),
    ("nvmlDeviceGetHandleByIndex", by_index),
    ("nvmlDeviceGetHandleByIndex_v2", by_index),
    ("nvmlDeviceGetHandleByPciBusId", by_bus_id),
    ("nvmlDeviceGetHandleByPciBusId_v2", by_bus_id),
    // No device has a serial number.
    ("nvmlDeviceGetHandleBySerial", |_| Err(Failure::NotFound)),
    ("nvmlDeviceGetHandleByUUID", |call| {
        let text = call.bytes(0)?;
        // cuda.core names devices without the prefix, as `cuDeviceGetUuid` gives the UUID.
        find(call, 1, |device| {
            let uuid = device.uuid_text();
            uuid.as_bytes() == text
                || uuid.strip_prefix(UUID_PREFIX).is_some_and(|rest| rest.as_bytes() == text)
        })
    }),
    ("nvmlDeviceGetHandleByUUIDV", |call| {
        let Uuid { kind, value, .. } = call.read(0)?;
        match kind {
            1 => find(call, 1, |device| value.starts_with(device.uuid_text().as_bytes())),
            2 => find(call, 1, |device| value.starts_with(&device.uuid)),
            _ => Err(Failure::InvalidArgument),
        }
    }),
    ("nvmlDeviceGetName", |call| call.set_text(1, &call.device(0)?.name)),
    ("nvmlDeviceGetUUID", |call| call.set_text(1, &call.device(0)?.uuid_text())),
    // A number that no other device has; the UUID is such a one.
    ("nvmlDeviceGetPdi", |call| {
        let [a, b, c, d, e, f, g, h, ..] = call.device(0)?.uuid;
        let Pdi { version, .. } = call.read(1)?;
        call.set(1, Pdi { version, value: u64::from_be_bytes([a, b, c, d, e, f, g, h]) })
    }),
    ("nvmlDeviceGetCapabilities", |call| {
        let Capabilities { version, .. } = call.read(1)?;
        call.set(1, Capabilities { version, cap_mask: NONE })
    }),
    ("nvmlDeviceGetGridLicensableFeatures", no_licences),
    ("nvmlDeviceGetGridLicensableFeatures_v2", no_licences),
    ("nvmlDeviceGetGridLicensableFeatures_v3", no_licences),
    ("nvmlDeviceGetGridLicensableFeatures_v4", no_licences),
    ("nvmlDeviceGetBrand", |call| call.set(1, NONE)),
    ("nvmlDeviceGetBusType", |call| call.set(1, NONE)),
    ("nvmlDeviceGetIndex", index),
    ("nvmlDeviceGetMinorNumber", index),
    ("nvmlDeviceGetBoardId", index),
    ("nvmlDeviceGetMultiGpuBoard", |call| call.set(1, 0u32)),
    ("nvmlDeviceGetPciInfo", |call| old_pci(call, 4)),
    ("nvmlDeviceGetPciInfo_v2", |call| old_pci(call, 5)),
    ("nvmlDeviceGetPciInfo_v3", |call| call.set(1, pci(call.device(0)?))),
    ("nvmlDeviceGetPciInfoExt", |call| {
        let PciInfo { domain, bus, device, bus_id, .. } = pci(call.device(0)?);
        let PciInfoExt { version, .. } = call.read(1)?;
        let (pci_device_id, pci_sub_system_id, base_class, sub_class) = (0, 0, 0, 0);
        call.set(
            1,
            PciInfoExt {
                version,
                domain,
                bus,
                device,
                pci_device_id,
                pci_sub_system_id,
                base_class,
                sub_class,
                bus_id,
            },
        )
    }),
    ("nvmlDeviceGetCudaComputeCapability", |call| {
        let (major, minor) = call.device(0)?.compute_capability;
        call.set(1, major as i32)?;
        call.set(2, minor as i32)
    }),
    ("nvmlDeviceGetArchitecture", |call| {
        let found = architecture(call.device(0)?.compute_capability);
        call.set(1, found.map_or(UNKNOWN_ARCHITECTURE, |found| found.0))
    }),
    // A core is a CPU thread that runs blocks.
    ("nvmlDeviceGetNumGpuCores", |call| call.set(1, call.device(0)?.multiprocessors)),
    ("nvmlDeviceGetMemoryBusWidth", |call| {
        let width = call.device(0)?.attribute(attribute::MEMORY_BUS_WIDTH);
        call.set(1, width.map_err(|_| Failure::NotSupported)? as u32)
    }),
    ("nvmlDeviceGetMemoryInfo", |call| {
        let memory = call.inventory()?.memory(call.device(0)?);
        // This version counts what is reserved as used.
        call.set(1, Memory { total: memory.total, free: memory.free, used: memory.reserved + memory.used })
    }),
    ("nvmlDeviceGetMemoryInfo_v2", |call| {
        let driver::inventory::Memory { total, reserved, used, free } =
            call.inventory()?.memory(call.device(0)?);
        let Memory2 { version, .. } = call.read(1)?;
        call.set(1, Memory2 { version, total, reserved, free, used })
    }),
    ("nvmlDeviceGetUtilizationRates", |call| {
        let gpu = call.inventory()?.utilisation().ok_or(Failure::NotSupported)?;
        // How busy the memory is, is not measured.
        call.set(1, Utilization { gpu, memory: 0 })
    }),
    ("nvmlDeviceGetComputeMode", |call| call.set(1, NONE)),
    // No other mode would reach the drivers of other processes.
    ("nvmlDeviceSetComputeMode", |call| match call.number(1) {
        NONE => Ok(()),
        1..COMPUTE_MODES => Err(Failure::NotSupported),
        _ => Err(Failure::InvalidArgument),
    }),
    // A process's driver ends with the process.
    ("nvmlDeviceGetPersistenceMode", |call| call.set(1, NONE)),
    ("nvmlDeviceSetPersistenceMode", |call| match call.number(1) {
        NONE => Ok(()),
        1 => Err(Failure::NotSupported),
        _ => Err(Failure::InvalidArgument),
    }),
    ("nvmlDeviceGetNumFans", |call| call.set(1, 0u32)),
    ("nvmlDeviceGetDisplayMode", |call| call.set(1, NONE)),
    ("nvmlDeviceGetDisplayActive", |call| call.set(1, NONE)),
    ("nvmlDeviceGetVirtualizationMode", |call| call.set(1, NONE)),
    ("nvmlDeviceIsMigDeviceHandle", |call| call.set(1, 0u32)),
    ("nvmlDeviceGetMaxMigDeviceCount", |call| call.set(1, 0u32)),
    ("nvmlDeviceGetFieldValues", field_values),
    ("nvmlDeviceClearFieldValues", field_values),
    ("nvmlGpmQueryDeviceSupport", |call| {
        let GpmSupport { version, .. } = call.read(1)?;
        call.set(1, GpmSupport { version, is_supported_device: 0 })
    }),
];

fn count(call: &Call<'_>) -> Result<()> {
    call.set(0, call.inventory()?.devices.len() as u32)
}

fn index(call: &Call<'_>) -> Result<()> {
    call.set(1, call.index_of_device(0)? as u32)
}

/// The structure of each version begins with whether there are licences and with the number of features,
/// after which nothing is read.
fn no_licences(call: &Call<'_>) -> Result<()> {
    call.set_beginning(1, &[0; 8]);
    Ok(())
}

fn by_index(call: &Call<'_>) -> Result<()> {
    let index = call.number(0) as usize;
    if index >= call.inventory()?.devices.len() {
        return Err(Failure::InvalidArgument);
    }
    call.set(1, handle::of_device(index))
}

fn by_bus_id(call: &Call<'_>) -> Result<()> {
    let text = String::from_utf8_lossy(call.bytes(0)?);
    let wanted = parse_pci(&text).ok_or(Failure::InvalidArgument)?;
    find(call, 1, |device| device.pci == wanted)
}

/// Sets an argument to the handle of the first device that fits.
fn find(call: &Call<'_>, argument: usize, fits: impl Fn(&DeviceInfo) -> bool) -> Result<()> {
    let index = call.inventory()?.devices.iter().position(fits).ok_or(Failure::NotFound)?;
    call.set(argument, handle::of_device(index))
}

/// Where the device says that it is. There is no device of this name on the bus, so it has no vendor.
fn pci(info: &DeviceInfo) -> PciInfo {
    let (domain, bus, device) = info.pci;
    PciInfo {
        bus_id_legacy: filled(&format!("{domain:04X}:{bus:02X}:{device:02X}.0")),
        domain,
        bus,
        device,
        pci_device_id: 0,
        pci_sub_system_id: 0,
        bus_id: filled(&info.bus_id()),
    }
}

/// The first and the second version of the structure end after four and five numbers.
fn old_pci(call: &Call<'_>, numbers: usize) -> Result<()> {
    let info = pci(call.device(0)?);
    let all = [info.domain, info.bus, info.device, info.pci_device_id, info.pci_sub_system_id];
    let numbers = all.iter().take(numbers).flat_map(|number| number.to_ne_bytes());
    let bytes: Vec<u8> = info.bus_id_legacy.into_iter().chain(numbers).collect();
    call.set_beginning(1, &bytes);
    Ok(())
}

/// Each of the program's fields gets its own code: no field is supported.
fn field_values(call: &Call<'_>) -> Result<()> {
    let count = usize::try_from(call.number(1) as i32).map_err(|_| Failure::InvalidArgument)?;
    if count == 0 {
        return Err(Failure::InvalidArgument);
    }
    for index in 0..count {
        let field: FieldValue = call.read_at(2, index)?;
        call.set_at(2, index, FieldValue { nvml_return: Failure::NotSupported as u32, ..field })?;
    }
    Ok(())
}
