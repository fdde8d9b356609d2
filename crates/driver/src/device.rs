//! Devices and their attributes.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crate::capability;
use crate::context::Primary;
use crate::error::{Error, Result};
use crate::handle::Handle;

/// Widths of shared memory banks (`CUsharedconfig`, `hipSharedMemConfig`). Banks are always four bytes wide;
/// calls that ask for another width have no effect.
pub mod bank_size {
    /// `CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE`, `hipSharedMemBankSizeFourByte`.
    pub const FOUR_BYTE: u32 = 1;
    /// `CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE`, `hipSharedMemBankSizeEightByte`: the last one.
    pub const EIGHT_BYTE: u32 = 2;
}

/// A backend's description of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The name.
    pub name: String,
    /// Total memory in bytes.
    pub total_memory: u64,
    /// Multiprocessors (CPU worker threads).
    pub multiprocessors: u32,
    /// Major and minor compute capability.
    pub compute_capability: (u32, u32),
    /// A UUID that stays the same from run to run.
    pub uuid: [u8; 16],
    /// PCI domain, bus and device.
    pub pci: (u32, u32, u32),
    /// Clock rate in kHz.
    pub clock_khz: u32,
    /// The instruction set with its features, for an AMD device: `gfx90a:sramecc+:xnack-`.
    pub amd_target: Option<String>,
    /// Attributes that differ from the table, by number.
    pub attributes: Vec<(i32, i32)>,
}

impl DeviceInfo {
    /// The UUID as tools show it and as `CUDA_VISIBLE_DEVICES` takes it.
    pub fn uuid_text(&self) -> String {
        let hex: String = self.uuid.iter().map(|byte| format!("{byte:02x}")).collect();
        let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| hex.get(part).unwrap_or_default());
        format!("GPU-{}", parts.join("-"))
    }

    /// The PCI address with the digits that management tools use, `dddddddd:bb:dd.0`.
    pub fn bus_id(&self) -> String {
        let (domain, bus, device) = self.pci;
        format!("{domain:08X}:{bus:02X}:{device:02X}.0")
    }

    /// The value of an attribute.
    pub fn attribute(&self, number: i32) -> Result<i32> {
        if let Some(&(_, value)) = self.attributes.iter().find(|a| a.0 == number) {
            return Ok(value);
        }
        let value = match number {
            attribute::CLOCK_RATE => self.clock_khz as i32,
            attribute::MULTIPROCESSOR_COUNT => self.multiprocessors as i32,
            attribute::PCI_BUS_ID => self.pci.1 as i32,
            attribute::PCI_DEVICE_ID => self.pci.2 as i32,
            attribute::PCI_DOMAIN_ID => self.pci.0 as i32,
            _ => {
                let follows = capability::attribute(self.compute_capability, number);
                let fixed = || ATTRIBUTES.iter().find(|a| a.0 == number).map(|a| a.1);
                return follows.or_else(fixed).ok_or(Error::InvalidValue);
            }
        };
        Ok(value)
    }
}

/// Attribute numbers that the driver itself uses.
pub mod attribute {
    /// Maximum threads per block.
    pub const MAX_THREADS_PER_BLOCK: i32 = 1;
    /// Maximum block dimensions in x, y and z.
    pub const MAX_BLOCK_DIM: [i32; 3] = [2, 3, 4];
    /// Maximum grid dimensions in x, y and z.
    pub const MAX_GRID_DIM: [i32; 3] = [5, 6, 7];
    /// Maximum shared memory per block without opt-in.
    pub const MAX_SHARED_MEMORY_PER_BLOCK: i32 = 8;
    /// Maximum registers per block.
    pub const MAX_REGISTERS_PER_BLOCK: i32 = 12;
    /// Clock rate in kHz.
    pub const CLOCK_RATE: i32 = 13;
    /// Multiprocessors.
    pub const MULTIPROCESSOR_COUNT: i32 = 16;
    /// PCI bus.
    pub const PCI_BUS_ID: i32 = 33;
    /// PCI device.
    pub const PCI_DEVICE_ID: i32 = 34;
    /// Width of the memory bus in bits.
    pub const MEMORY_BUS_WIDTH: i32 = 37;
    /// Maximum resident threads per multiprocessor.
    pub const MAX_THREADS_PER_MULTIPROCESSOR: i32 = 39;
    /// PCI domain.
    pub const PCI_DOMAIN_ID: i32 = 50;
    /// Compute capability, major.
    pub const COMPUTE_CAPABILITY_MAJOR: i32 = 75;
    /// Compute capability, minor.
    pub const COMPUTE_CAPABILITY_MINOR: i32 = 76;
    /// Shared memory per multiprocessor.
    pub const MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: i32 = 81;
    /// Ratio of single- to double-precision throughput.
    pub const SINGLE_TO_DOUBLE_RATIO: i32 = 87;
    /// Maximum shared memory per block with opt-in.
    pub const MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: i32 = 97;
    /// Maximum resident blocks per multiprocessor.
    pub const MAX_BLOCKS_PER_MULTIPROCESSOR: i32 = 106;
    /// Shared memory per block that the system reserves.
    pub const RESERVED_SHARED_MEMORY_PER_BLOCK: i32 = 111;
    /// Support for thread block clusters.
    pub const CLUSTER_LAUNCH: i32 = 120;
    /// Support for multicast objects.
    pub const MULTICAST_SUPPORTED: i32 = 132;
    /// Number of memory synchronisation domains.
    pub const MEM_SYNC_DOMAIN_COUNT: i32 = 126;
    /// Support for tensor maps.
    pub const TENSOR_MAPS: i32 = 127;
    /// The formats that the device decompresses, as a mask.
    pub const DECOMPRESS_ALGORITHMS: i32 = 136;
    /// The most bytes that it decompresses at once.
    pub const DECOMPRESS_LENGTH: i32 = 137;
}

/// Default attributes of a device, from number 1 on without gaps. Values from the backend and from the
/// compute capability ([`capability`]; the table holds those of 8.6) take precedence. Features of the
/// hardware that this driver lacks are reported as unsupported; textures keep their documented limits.
#[rustfmt::skip]
const ATTRIBUTES: &[(i32, i32)] = &[
    (1, 1024), // max threads per block
    (2, 1024), // max block dim x
    (3, 1024), // max block dim y
    (4, 64), // max block dim z
    (5, 2147483647), // max grid dim x
    (6, 65535), // max grid dim y
    (7, 65535), // max grid dim z
    (8, 49152), // max shared memory per block
    (9, 65536), // total constant memory
    (10, 32), // warp size
    (11, 2147483647), // max pitch
    (12, 65536), // max registers per block
    (13, 1500000), // clock rate
    (14, 512), // texture alignment
    (15, 1), // gpu overlap
    (16, 132), // multiprocessor count
    (17, 0), // kernel exec timeout
    (18, 0), // integrated
    (19, 1), // can map host memory
    (20, 0), // compute mode
    (21, 131072), // maximum texture1d width
    (22, 131072), // maximum texture2d width
    (23, 65536), // maximum texture2d height
    (24, 16384), // maximum texture3d width
    (25, 16384), // maximum texture3d height
    (26, 16384), // maximum texture3d depth
    (27, 32768), // maximum texture2d layered width
    (28, 32768), // maximum texture2d layered height
    (29, 2048), // maximum texture2d layered layers
    (30, 512), // surface alignment
    (31, 1), // concurrent kernels
    (32, 0), // ecc enabled
    (33, 1), // pci bus id
    (34, 0), // pci device id
    (35, 0), // tcc driver
    (36, 6001000), // memory clock rate
    (37, 384), // global memory bus width
    (38, 6291456), // l2 cache size
    (39, 1536), // max threads per multiprocessor
    (40, 2), // async engine count
    (41, 1), // unified addressing
    (42, 32768), // maximum texture1d layered width
    (43, 2048), // maximum texture1d layered layers
    (44, 1), // can tex2d gather
    (45, 32768), // maximum texture2d gather width
    (46, 32768), // maximum texture2d gather height
    (47, 8192), // maximum texture3d width alternate
    (48, 8192), // maximum texture3d height alternate
    (49, 32768), // maximum texture3d depth alternate
    (50, 0), // pci domain id
    (51, 32), // texture pitch alignment
    (52, 32768), // maximum texturecubemap width
    (53, 32768), // maximum texturecubemap layered width
    (54, 2046), // maximum texturecubemap layered layers
    (55, 32768), // maximum surface1d width
    (56, 131072), // maximum surface2d width
    (57, 65536), // maximum surface2d height
    (58, 16384), // maximum surface3d width
    (59, 16384), // maximum surface3d height
    (60, 16384), // maximum surface3d depth
    (61, 32768), // maximum surface1d layered width
    (62, 2048), // maximum surface1d layered layers
    (63, 32768), // maximum surface2d layered width
    (64, 32768), // maximum surface2d layered height
    (65, 2048), // maximum surface2d layered layers
    (66, 32768), // maximum surfacecubemap width
    (67, 32768), // maximum surfacecubemap layered width
    (68, 2046), // maximum surfacecubemap layered layers
    (69, 268435456), // maximum texture1d linear width
    (70, 131072), // maximum texture2d linear width
    (71, 65000), // maximum texture2d linear height
    (72, 2097120), // maximum texture2d linear pitch
    (73, 32768), // maximum texture2d mipmapped width
    (74, 32768), // maximum texture2d mipmapped height
    (75, 8), // compute capability major
    (76, 6), // compute capability minor
    (77, 32768), // maximum texture1d mipmapped width
    (78, 1), // stream priorities supported
    (79, 1), // global l1 cache supported
    (80, 1), // local l1 cache supported
    (81, 102400), // max shared memory per multiprocessor
    (82, 65536), // max registers per multiprocessor
    (83, 1), // managed memory
    (84, 0), // multi gpu board
    (85, 0), // multi gpu board group id
    (86, 1), // host native atomic supported
    (87, 32), // single to double precision perf ratio
    (88, 1), // pageable memory access
    (89, 1), // concurrent managed access
    (90, 1), // compute preemption supported
    (91, 1), // can use host pointer for registered mem
    (92, 1), // can use stream mem ops v1
    (93, 1), // can use 64 bit stream mem ops v1
    (94, 1), // can use stream wait value nor v1
    (95, 1), // cooperative launch
    (96, 1), // cooperative multi device launch
    (97, 101376), // max shared memory per block optin
    (98, 0), // can flush remote writes
    (99, 1), // host register supported
    (100, 1), // pageable memory access uses host page tables
    (101, 1), // direct managed mem access from host
    (102, 1), // virtual address management supported
    (103, 1), // handle type posix file descriptor supported
    (104, 0), // handle type win32 handle supported
    (105, 0), // handle type win32 kmt handle supported
    (106, 16), // max blocks per multiprocessor
    (107, 0), // generic compression supported
    (108, 0), // max persisting l2 cache size
    (109, 0), // max access policy window size
    (110, 0), // gpu direct rdma with cuda vmm supported
    (111, 1024), // reserved shared memory per block
    (112, 1), // sparse cuda array supported
    (113, 1), // read only host register supported
    (114, 0), // timeline semaphore interop supported
    (115, 1), // memory pools supported
    (116, 0), // gpu direct rdma supported
    (117, 0), // gpu direct rdma flush writes options
    (118, 0), // gpu direct rdma writes ordering
    (119, 1), // mempool supported handle types
    (120, 0), // cluster launch
    (121, 1), // deferred mapping cuda array supported
    (122, 1), // can use 64 bit stream mem ops
    (123, 1), // can use stream wait value nor
    (124, 0), // dma buf supported
    (125, 1), // ipc event supported
    (126, 1), // mem sync domain count
    (127, 0), // tensor map access supported
    (128, 0), // handle type fabric supported
    (129, 1), // unified function pointers
    (130, 0), // numa config
    (131, -1), // numa id
    (132, 0), // multicast supported
    (133, 0), // mps enabled
    (134, 0), // host numa id
    (135, 0), // d3d12 cig supported
    (136, 0), // mem decompress algorithm mask
    (137, 0), // mem decompress maximum length
    (138, 0), // vulkan cig supported
    (139, 0), // gpu pci device id
    (140, 0), // gpu pci subsystem id
    (141, 1), // host numa virtual memory management supported
    (142, 1), // host numa memory pools supported
    (143, 0), // host numa multinode ipc supported
    (144, 1), // host memory pools supported
    (145, 1), // host virtual memory management supported
    (146, 0), // host alloc dma buf supported
    (147, 0), // only partial host native atomic supported
];

/// A device.
pub struct Device {
    /// The ordinal, which is also the C handle.
    pub ordinal: u32,
    /// The backend's description.
    pub info: DeviceInfo,
    /// The attributes by number, from 0: launches read several.
    attributes: Vec<Option<i32>>,
    pub(crate) primary: Mutex<Primary>,
    pub(crate) pool: Mutex<Option<Handle>>,
    /// Its default pool, once there is one.
    pub(crate) default_pool: OnceLock<Handle>,
    /// The status of a fault that has not been reset yet, or 0.
    fault: AtomicU32,
}

impl Device {
    pub(crate) fn new(ordinal: u32, info: DeviceInfo) -> Arc<Self> {
        let attributes = (0..=ATTRIBUTES.len() as i32).map(|number| info.attribute(number).ok()).collect();
        Arc::new(Self {
            ordinal,
            info,
            attributes,
            primary: Mutex::new(Primary::default()),
            pool: Mutex::new(None),
            default_pool: OnceLock::new(),
            fault: AtomicU32::new(0),
        })
    }

    /// The value of an attribute.
    pub fn attribute(&self, number: i32) -> Result<i32> {
        let known = usize::try_from(number).ok().and_then(|number| self.attributes.get(number));
        known.copied().flatten().ok_or(Error::InvalidValue)
    }

    /// The value of an attribute that is known to exist.
    pub fn known(&self, number: i32) -> u64 {
        self.attribute(number).unwrap_or(0).max(0) as u64
    }

    /// Fails after a kernel fault until the device is reset.
    pub(crate) fn check(&self) -> Result<()> {
        match self.fault.load(Ordering::Acquire) {
            0 => Ok(()),
            code => Err(Error::from_code(code).unwrap_or(Error::Unknown)),
        }
    }

    pub(crate) fn set_fault(&self, error: Error) {
        let _ = self.fault.compare_exchange(0, error.code(), Ordering::AcqRel, Ordering::Acquire);
    }

    pub(crate) fn clear_fault(&self) {
        self.fault.store(0, Ordering::Release);
    }

    /// The PCI address as `dddd:bb:dd.0`.
    pub fn pci_bus_id(&self) -> String {
        let (domain, bus, device) = self.info.pci;
        format!("{domain:04X}:{bus:02X}:{device:02X}.0")
    }
}

/// Attribute numbers of pairs of devices.
pub mod peer {
    /// The performance rank of the link.
    pub const PERFORMANCE_RANK: u32 = 0;
    /// Whether kernels can access the other device's memory.
    pub const ACCESS_SUPPORTED: u32 = 1;
    /// Whether atomic operations on the other device's memory are supported.
    pub const NATIVE_ATOMIC_SUPPORTED: u32 = 2;
    /// Whether the other device's arrays can be accessed.
    pub const ARRAY_ACCESS_SUPPORTED: u32 = 3;
}

/// An attribute of a pair of devices. It is the same for every pair, since all memory is the process's.
pub fn peer_attribute(number: u32) -> Result<i32> {
    match number {
        peer::ACCESS_SUPPORTED | peer::NATIVE_ATOMIC_SUPPORTED => Ok(1),
        peer::PERFORMANCE_RANK | peer::ARRAY_ACCESS_SUPPORTED => Ok(0),
        _ => Err(Error::InvalidValue),
    }
}

/// The maximum width of a one-dimensional linear texture with elements of `bytes` bytes: 2^28 for 16 bytes,
/// at most 2^30.
pub fn texture_1d_linear_max_width(bytes: u64) -> Result<u64> {
    (1u64 << 32).checked_div(bytes).map(|width| width.min(1 << 30)).ok_or(Error::InvalidValue)
}

/// Parses a PCI address, `[domain:]bus:device[.function]` in hexadecimal, to domain, bus and device.
pub fn parse_pci(text: &str) -> Option<(u32, u32, u32)> {
    let parts: Vec<&str> = text.split(':').collect();
    let (domain, bus, device) = match parts.as_slice() {
        [domain, bus, device] => (*domain, *bus, *device),
        [bus, device] => ("0", *bus, *device),
        _ => return None,
    };
    let device = device.split('.').next()?;
    let hex = |s| u32::from_str_radix(s, 16).ok();
    Some((hex(domain)?, hex(bus)?, hex(device)?))
}

/// `count` devices like `base`. The process may see only some of them ([`crate::visible`]).
pub fn virtual_devices(base: &DeviceInfo, count: u32) -> Vec<DeviceInfo> {
    (0..count)
        .map(|i| {
            let mut info = base.clone();
            if count > 1 && info.compute_capability >= (9, 0) {
                info.attributes.push((attribute::MULTICAST_SUPPORTED, 1));
            }
            info.pci.1 = info.pci.1.wrapping_add(i);
            if let Some(last) = info.uuid.last_mut() {
                *last = last.wrapping_add(i as u8);
            }
            info
        })
        .collect()
}

#[cfg(test)]
impl DeviceInfo {
    /// A device without memory or attributes.
    pub(crate) fn for_tests() -> Self {
        DeviceInfo {
            name: String::new(),
            total_memory: 0,
            multiprocessors: 1,
            compute_capability: (8, 6),
            uuid: [0; 16],
            pci: (0, 0, 0),
            clock_khz: 0,
            amd_target: None,
            attributes: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_tools_write_them() {
        let info = DeviceInfo { uuid: *b"anywarp-cpu-0000", pci: (1, 0x2f, 3), ..DeviceInfo::for_tests() };
        assert_eq!(info.uuid_text(), "GPU-616e7977-6172-702d-6370-752d30303030");
        assert_eq!(info.bus_id(), "00000001:2F:03.0");
        assert_eq!(parse_pci(&info.bus_id()), Some(info.pci));
    }

    #[test]
    fn attributes_have_no_gap() {
        for (i, (number, _)) in ATTRIBUTES.iter().enumerate() {
            assert_eq!(*number, i as i32 + 1);
        }
        assert_eq!(ATTRIBUTES.len(), 147);
    }

    #[test]
    fn attributes_are_those_of_the_usual_capability() {
        for &(number, value) in ATTRIBUTES {
            let follows = capability::attribute((8, 6), number);
            assert!(follows.is_none_or(|f| f == value), "{number}: {follows:?}");
        }
    }
}
