//! C types that several groups of functions use, field for field as in the header.

pub use capi::types::{
    AccessDesc, AllocationProp, Array3DDescriptor, ArrayDescriptor, CopyAttributes, IpcHandle,
    LaunchAttribute, LaunchConfig, MemLocation, Memcpy2D, PoolProps, SemaphoreParams,
};

/// A handle of any kind; a pointer in C.
pub type Handle = u64;
/// `CUdevice`.
pub type CUdevice = i32;
/// `CUdeviceptr`.
pub type CUdeviceptr = u64;

/// Special `CUstream` values.
pub mod stream {
    /// The legacy default stream, like 0.
    pub const LEGACY: u64 = 1;
    /// The per-thread default stream.
    pub const PER_THREAD: u64 = 2;
}

/// `CUDA_MEMCPY3D`, and `CUDA_MEMCPY3D_PEER`, which has contexts in the two reserved fields.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Memcpy3D {
    pub src_x: usize,
    pub src_y: usize,
    pub src_z: usize,
    pub src_lod: usize,
    pub src_type: u32,
    pub src_host: u64,
    pub src_device: u64,
    pub src_array: Handle,
    pub src_context: u64,
    pub src_pitch: usize,
    pub src_height: usize,
    pub dst_x: usize,
    pub dst_y: usize,
    pub dst_z: usize,
    pub dst_lod: usize,
    pub dst_type: u32,
    pub dst_host: u64,
    pub dst_device: u64,
    pub dst_array: Handle,
    pub dst_context: u64,
    pub dst_pitch: usize,
    pub dst_height: usize,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

/// `CUmulticastObjectProp`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct MulticastProp {
    pub devices: u32,
    pub size: usize,
    pub handle_types: u64,
    pub flags: u64,
}

/// `CUdevprop`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct DeviceProperties {
    pub max_threads_per_block: i32,
    pub max_threads_dim: [i32; 3],
    pub max_grid_size: [i32; 3],
    pub shared_mem_per_block: i32,
    pub total_constant_memory: i32,
    pub simd_width: i32,
    pub mem_pitch: i32,
    pub regs_per_block: i32,
    pub clock_rate: i32,
    pub texture_align: i32,
}

/// `CUDA_ARRAY_MEMORY_REQUIREMENTS`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct ArrayRequirements {
    pub size: usize,
    pub alignment: usize,
    pub reserved: [u32; 4],
}

/// `CUdevResource` that holds multiprocessors. Where they come from is in the bytes that are the driver's
/// own.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct DevResource {
    pub kind: u32,
    pub mark: u32,
    pub device: u32,
    pub split: [u32; 2],
    pub padding: [u32; 19],
    pub multiprocessors: u32,
    pub smallest_part: u32,
    pub scheduled_together: u32,
    pub flags: u32,
    pub rest: [u32; 8],
}

/// `CU_DEV_SM_RESOURCE_GROUP_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct DevResourceGroup {
    pub multiprocessors: u32,
    pub scheduled_together: u32,
    pub preferred_together: u32,
    pub flags: u32,
    pub reserved: [u32; 12],
}
