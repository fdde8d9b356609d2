//! C structures that several groups of functions use, field for field as in the headers.

pub use capi::types::{Array3DDescriptor, LaunchAttribute, LaunchConfig as DriverLaunchConfig, Memcpy2D};

/// `dim3`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Dim3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

impl Dim3 {
    /// The three numbers.
    pub fn list(self) -> [u32; 3] {
        [self.x, self.y, self.z]
    }
}

/// `cudaExtent`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Extent {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

/// `cudaPos`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Position {
    pub x: usize,
    pub y: usize,
    pub z: usize,
}

/// `cudaPitchedPtr`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Pitched {
    pub pointer: u64,
    pub pitch: usize,
    pub width: usize,
    pub height: usize,
}

/// `cudaChannelFormatDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Channels {
    pub bits: [i32; 4],
    pub kind: u32,
}

/// `cudaMemcpy3DParms`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Copy3D {
    pub from_array: u64,
    pub from_at: Position,
    pub from: Pitched,
    pub to_array: u64,
    pub to_at: Position,
    pub to: Pitched,
    pub extent: Extent,
    pub kind: u32,
}

/// `cudaMemcpy3DPeerParms`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct PeerCopy3D {
    pub from_array: u64,
    pub from_at: Position,
    pub from: Pitched,
    pub from_device: i32,
    pub to_array: u64,
    pub to_at: Position,
    pub to: Pitched,
    pub to_device: i32,
    pub extent: Extent,
}

/// `CUDA_MEMCPY3D`, and `CUDA_MEMCPY3D_PEER`, which has contexts in the two reserved fields.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Memcpy3D {
    pub src_x: usize,
    pub src_y: usize,
    pub src_z: usize,
    pub src_lod: usize,
    pub src_type: u32,
    pub src_host: u64,
    pub src_device: u64,
    pub src_array: u64,
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
    pub dst_array: u64,
    pub dst_context: u64,
    pub dst_pitch: usize,
    pub dst_height: usize,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

/// `cudaLaunchConfig_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct LaunchConfig {
    pub grid: Dim3,
    pub block: Dim3,
    pub shared: usize,
    pub stream: u64,
    pub attributes: capi::In<LaunchAttribute>,
    pub attribute_count: u32,
}

/// `cudaKernelNodeParams`, and the driver's `CUDA_KERNEL_NODE_PARAMS_v1`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct KernelParams {
    pub function: u64,
    pub grid: Dim3,
    pub block: Dim3,
    pub shared: u32,
    pub params: u64,
    pub extra: u64,
}
