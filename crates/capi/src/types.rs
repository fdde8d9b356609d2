//! C structures with the same layout in CUDA and HIP, field for field as in the headers.

use driver::memory::array::Descriptor;
use driver::memory::managed::Location;

use crate::{In, structures};

structures! {
    /// `CUDA_MEMCPY2D`, `hip_Memcpy2D`.
    pub struct Memcpy2D = "hip_Memcpy2D" {
        pub src_x: usize,
        pub src_y: usize,
        pub src_type: u32,
        pub src_host: u64,
        pub src_device: u64,
        pub src_array: u64,
        pub src_pitch: usize,
        pub dst_x: usize,
        pub dst_y: usize,
        pub dst_type: u32,
        pub dst_host: u64,
        pub dst_device: u64,
        pub dst_array: u64,
        pub dst_pitch: usize,
        pub width: usize,
        pub height: usize,
    }

    /// `CUmemLocation`, `hipMemLocation`.
    pub struct MemLocation = "hipMemLocation" {
        pub kind: u32,
        pub id: i32,
    }

    /// `CUmemPoolProps`, `hipMemPoolProps`.
    pub struct PoolProps = "hipMemPoolProps" {
        pub alloc_type: u32,
        pub handle_types: u32,
        pub location: MemLocation,
        pub security: u64,
        pub max_size: usize,
        pub usage: u16,
        pub reserved: [u8; 54],
    }

    /// `CUmemAccessDesc`, `hipMemAccessDesc`.
    pub struct AccessDesc = "hipMemAccessDesc" {
        pub location: MemLocation,
        pub flags: u32,
    }

    /// `CUDA_EXTERNAL_MEMORY_HANDLE_DESC`, `hipExternalMemoryHandleDesc`.
    pub struct MemoryDescription = "hipExternalMemoryHandleDesc" {
        pub kind: u32,
        pub handle: [u64; 2],
        pub size: u64,
        pub flags: u32,
        pub reserved: [u32; 16],
    }

    /// `CUDA_EXTERNAL_MEMORY_BUFFER_DESC`, `hipExternalMemoryBufferDesc`.
    pub struct BufferDescription = "hipExternalMemoryBufferDesc" {
        pub offset: u64,
        pub size: u64,
        pub flags: u32,
        pub reserved: [u32; 16],
    }

    /// `CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC`, `hipExternalSemaphoreHandleDesc`.
    pub struct SemaphoreDescription = "hipExternalSemaphoreHandleDesc" {
        pub kind: u32,
        pub handle: [u64; 2],
        pub flags: u32,
        pub reserved: [u32; 16],
    }

    /// The parameters of a signal, and those of a wait, which both begin with the value:
    /// `CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS`, `hipExternalSemaphoreSignalParams`.
    pub struct SemaphoreUse = "hipExternalSemaphoreSignalParams" {
        pub value: u64,
        pub rest: [u64; 8],
        pub flags: u32,
        pub reserved: [u32; 16],
    }

    /// The parameters of a node of signals, and those of a node of waits: `CUDA_EXT_SEM_SIGNAL_NODE_PARAMS`,
    /// `hipExternalSemaphoreSignalNodeParams`.
    pub struct SemaphoreParams = "hipExternalSemaphoreSignalNodeParams" {
        pub list: u64,
        pub uses: u64,
        pub count: u32,
    }

    /// `CUDA_ARRAY_DESCRIPTOR`, `HIP_ARRAY_DESCRIPTOR`.
    pub struct ArrayDescriptor = "HIP_ARRAY_DESCRIPTOR" {
        pub width: usize,
        pub height: usize,
        pub format: u32,
        pub channels: u32,
    }

    /// `CUDA_LAUNCH_PARAMS`, `hipFunctionLaunchParams`.
    pub struct FunctionLaunchParams = "hipFunctionLaunchParams" {
        pub function: u64,
        pub grid: [u32; 3],
        pub block: [u32; 3],
        pub shared: u32,
        pub stream: u64,
        pub params: In<u64>,
    }

    /// `CUlaunchAttribute`, `hipLaunchAttribute`.
    pub struct LaunchAttribute = "hipLaunchAttribute" {
        pub id: u32,
        pub pad: [u8; 4],
        pub value: [u64; 8],
    }

    /// `CUlaunchConfig`, `HIP_LAUNCH_CONFIG`.
    pub struct LaunchConfig = "HIP_LAUNCH_CONFIG" {
        pub grid: [u32; 3],
        pub block: [u32; 3],
        pub shared: u32,
        pub stream: u64,
        pub attributes: In<LaunchAttribute>,
        pub attribute_count: u32,
    }

    /// `CUmemcpyAttributes`, `hipMemcpyAttributes`.
    pub struct CopyAttributes = "hipMemcpyAttributes" {
        pub source_order: u32,
        pub hints: [MemLocation; 2],
        pub flags: u32,
    }

    /// `CUDA_ARRAY3D_DESCRIPTOR`, `HIP_ARRAY3D_DESCRIPTOR`.
    pub struct Array3DDescriptor = "HIP_ARRAY3D_DESCRIPTOR" {
        pub width: usize,
        pub height: usize,
        pub depth: usize,
        pub format: u32,
        pub channels: u32,
        pub flags: u32,
    }

    /// `CUmemAllocationProp`, `hipMemAllocationProp`.
    pub struct AllocationProp = "hipMemAllocationProp" {
        pub kind: u32,
        pub handle_types: u32,
        pub location: MemLocation,
        pub meta_data: u64,
        pub flags: [u8; 8],
    }

    /// `CUipcMemHandle`, `CUipcEventHandle`, `hipIpcMemHandle_t` and `hipIpcEventHandle_t`.
    pub struct IpcHandle = "hipIpcMemHandle_t" {
        pub name: [u8; 64],
    }
}

impl From<ArrayDescriptor> for Array3DDescriptor {
    /// At most two dimensions, and no flags.
    fn from(d: ArrayDescriptor) -> Self {
        let ArrayDescriptor { width, height, format, channels } = d;
        Array3DDescriptor { width, height, depth: 0, format, channels, flags: 0 }
    }
}

impl From<Array3DDescriptor> for ArrayDescriptor {
    fn from(d: Array3DDescriptor) -> Self {
        let Array3DDescriptor { width, height, format, channels, .. } = d;
        ArrayDescriptor { width, height, format, channels }
    }
}

impl From<Array3DDescriptor> for Descriptor {
    fn from(d: Array3DDescriptor) -> Self {
        Descriptor {
            width: d.width as u64,
            height: d.height as u64,
            depth: d.depth as u64,
            format: d.format,
            channels: d.channels,
            flags: d.flags,
        }
    }
}

impl From<Descriptor> for Array3DDescriptor {
    fn from(d: Descriptor) -> Self {
        Array3DDescriptor {
            width: d.width as usize,
            height: d.height as usize,
            depth: d.depth as usize,
            format: d.format,
            channels: d.channels,
            flags: d.flags,
        }
    }
}

impl From<MemLocation> for Location {
    fn from(l: MemLocation) -> Self {
        Location { kind: l.kind, id: l.id }
    }
}

impl From<Location> for MemLocation {
    fn from(l: Location) -> Self {
        MemLocation { kind: l.kind, id: l.id }
    }
}
