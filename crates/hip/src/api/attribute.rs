//! Device attributes, which HIP 5 and 6 number alike.

use driver::device::Device;

use crate::abi::Out;
use crate::{Error, Result, api, current};

/// The source of an attribute's value.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// The device attribute with this CUDA number.
    Device(i32),
    /// The same value on every device.
    Always(i32),
    /// Bytes of memory, up to the largest `i32`.
    Memory,
}

use Source::{Always, Device as Of, Memory};

/// `hipDeviceAttribute_t`. Attributes that are not a single number are missing and give hipErrorInvalidValue.
#[rustfmt::skip]
const ATTRIBUTES: &[(u32, Source)] = &[
    (0, Of(32)), // ECC enabled
    (1, Of(109)), // max access policy window
    (2, Of(40)), // async engine count
    (3, Of(19)), // can map host memory
    (4, Of(91)), // can use the host pointer of registered memory
    (5, Of(13)), // clock rate
    (6, Of(20)), // compute mode
    (7, Of(90)), // compute preemption
    (8, Of(31)), // concurrent kernels
    (9, Of(89)), // concurrent managed access
    (10, Of(95)), // cooperative launch
    (11, Of(96)), // cooperative multi-device launch
    (12, Of(15)), // device overlap
    (13, Of(101)), // direct managed memory access from the host
    (14, Of(79)), // global L1 cache
    (15, Of(86)), // host native atomics
    (16, Of(18)), // integrated
    (17, Of(84)), // multi-GPU board
    (18, Of(17)), // kernel execution timeout
    (19, Of(38)), // L2 cache size
    (20, Of(80)), // local L1 cache
    (22, Always(0)), // LUID node mask
    (23, Of(75)), // compute capability, major
    (24, Of(83)), // managed memory
    (25, Of(106)), // max blocks per multiprocessor
    (26, Of(2)), // max block dimension x
    (27, Of(3)), // max block dimension y
    (28, Of(4)), // max block dimension z
    (29, Of(5)), // max grid dimension x
    (30, Of(6)), // max grid dimension y
    (31, Of(7)), // max grid dimension z
    (32, Of(55)), // surface, 1-D
    (37, Of(66)), // surface, cube
    (39, Of(21)), // texture, 1-D
    (41, Of(69)), // texture, 1-D linear
    (42, Of(77)), // texture, 1-D mipmap
    (43, Of(22)), // texture, 2-D width
    (44, Of(23)), // texture, 2-D height
    (49, Of(24)), // texture, 3-D width
    (50, Of(25)), // texture, 3-D height
    (51, Of(26)), // texture, 3-D depth
    (53, Of(52)), // texture, cube
    (56, Of(1)), // max threads per block
    (57, Of(39)), // max threads per multiprocessor
    (58, Of(11)), // max pitch
    (59, Of(37)), // memory bus width
    (60, Of(36)), // memory clock rate
    (61, Of(76)), // compute capability, minor
    (62, Of(85)), // multi-GPU board group
    (63, Of(16)), // multiprocessors
    (65, Of(88)), // pageable memory access
    (66, Of(100)), // pageable memory access uses host page tables
    (67, Of(33)), // PCI bus
    (68, Of(34)), // PCI device
    (69, Of(50)), // PCI domain
    (70, Of(108)), // max persisting L2 cache size
    (71, Of(12)), // max registers per block
    (72, Of(82)), // max registers per multiprocessor
    (73, Of(111)), // reserved shared memory per block
    (74, Of(8)), // max shared memory per block
    (75, Of(97)), // max shared memory per block, opt-in
    (76, Of(81)), // max shared memory per multiprocessor
    (77, Of(87)), // single to double precision performance ratio
    (78, Of(78)), // stream priorities
    (79, Of(30)), // surface alignment
    (80, Of(35)), // TCC driver
    (81, Of(14)), // texture alignment
    (82, Of(51)), // texture pitch alignment
    (83, Of(9)), // constant memory
    (84, Memory), // global memory
    (85, Of(41)), // unified addressing
    (87, Of(10)), // warp size
    (88, Of(115)), // memory pools
    (89, Always(1)), // virtual memory management
    (90, Of(99)), // host register supported
    (91, Of(119)), // memory pool handle types
    (10000, Of(13)), // clock instruction rate
    (10002, Of(81)), // max shared memory per multiprocessor
    (10007, Of(96)), // cooperative multi-device launch: unmatched functions
    (10008, Of(96)), // unmatched grid dimensions
    (10009, Of(96)), // unmatched block dimensions
    (10010, Of(96)), // unmatched shared memory
    (10011, Always(1)), // large BAR: the host reaches all device memory
    (10012, Always(0)), // ASIC revision
    (10013, Of(122)), // stream wait value
    (10014, Always(1)), // image support
    (10015, Of(16)), // physical multiprocessors
    (10016, Always(1)), // fine-grained memory
    (10017, Always(1_000_000)), // wall clock rate in kHz: the clock counts nanoseconds
];

/// Attributes that are pointers to hardware registers; this device has none.
const REGISTERS: [u32; 2] = [10005, 10006];

fn value(device: &Device, from: Source) -> Result<i32> {
    match from {
        Of(number) => Ok(device.attribute(number)?),
        Always(value) => Ok(value),
        Memory => Ok(i32::try_from(device.info.total_memory).unwrap_or(i32::MAX)),
    }
}

api! {
    Nothing Legal fn hipDeviceGetAttribute(out: Out<i32>, number: u32, ordinal: i32) {
        out.required()?;
        let device = current::device_at(ordinal)?;
        if REGISTERS.contains(&number) {
            out.set_all(&[0; 2]);
            return Ok(());
        }
        let row = ATTRIBUTES.iter().find(|a| a.0 == number).ok_or(Error::InvalidValue)?;
        out.set(value(&device, row.1)?);
        Ok(())
    }
}
