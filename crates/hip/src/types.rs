//! C structures specific to HIP, field for field as in its headers.

use capi::types::{AllocationProp, LaunchAttribute, MemLocation, PoolProps};
use capi::{In, structures};

structures! {
    /// `hipDeviceProp_tR0600`, which is `hipDeviceProp_t` from HIP 6 on.
    pub struct PropertiesR0600 = "hipDeviceProp_tR0600" {
        pub name: [u8; 256],
        pub uuid: [u8; 16],
        pub luid: [u8; 8],
        pub luid_device_node_mask: u32,
        pub total_global_mem: usize,
        pub shared_mem_per_block: usize,
        pub regs_per_block: i32,
        pub warp_size: i32,
        pub mem_pitch: usize,
        pub max_threads_per_block: i32,
        pub max_threads_dim: [i32; 3],
        pub max_grid_size: [i32; 3],
        pub clock_rate: i32,
        pub total_const_mem: usize,
        pub major: i32,
        pub minor: i32,
        pub texture_alignment: usize,
        pub texture_pitch_alignment: usize,
        pub device_overlap: i32,
        pub multi_processor_count: i32,
        pub kernel_exec_timeout_enabled: i32,
        pub integrated: i32,
        pub can_map_host_memory: i32,
        pub compute_mode: i32,
        pub max_texture_1d: i32,
        pub max_texture_1d_mipmap: i32,
        pub max_texture_1d_linear: i32,
        pub max_texture_2d: [i32; 2],
        pub max_texture_2d_mipmap: [i32; 2],
        pub max_texture_2d_linear: [i32; 3],
        pub max_texture_2d_gather: [i32; 2],
        pub max_texture_3d: [i32; 3],
        pub max_texture_3d_alt: [i32; 3],
        pub max_texture_cubemap: i32,
        pub max_texture_1d_layered: [i32; 2],
        pub max_texture_2d_layered: [i32; 3],
        pub max_texture_cubemap_layered: [i32; 2],
        pub max_surface_1d: i32,
        pub max_surface_2d: [i32; 2],
        pub max_surface_3d: [i32; 3],
        pub max_surface_1d_layered: [i32; 2],
        pub max_surface_2d_layered: [i32; 3],
        pub max_surface_cubemap: i32,
        pub max_surface_cubemap_layered: [i32; 2],
        pub surface_alignment: usize,
        pub concurrent_kernels: i32,
        pub ecc_enabled: i32,
        pub pci_bus_id: i32,
        pub pci_device_id: i32,
        pub pci_domain_id: i32,
        pub tcc_driver: i32,
        pub async_engine_count: i32,
        pub unified_addressing: i32,
        pub memory_clock_rate: i32,
        pub memory_bus_width: i32,
        pub l2_cache_size: i32,
        pub persisting_l2_cache_max_size: i32,
        pub max_threads_per_multi_processor: i32,
        pub stream_priorities_supported: i32,
        pub global_l1_cache_supported: i32,
        pub local_l1_cache_supported: i32,
        pub shared_mem_per_multiprocessor: usize,
        pub regs_per_multiprocessor: i32,
        pub managed_memory: i32,
        pub is_multi_gpu_board: i32,
        pub multi_gpu_board_group_id: i32,
        pub host_native_atomic_supported: i32,
        pub single_to_double_precision_perf_ratio: i32,
        pub pageable_memory_access: i32,
        pub concurrent_managed_access: i32,
        pub compute_preemption_supported: i32,
        pub can_use_host_pointer_for_registered_mem: i32,
        pub cooperative_launch: i32,
        pub cooperative_multi_device_launch: i32,
        pub shared_mem_per_block_optin: usize,
        pub pageable_memory_access_uses_host_page_tables: i32,
        pub direct_managed_mem_access_from_host: i32,
        pub max_blocks_per_multi_processor: i32,
        pub access_policy_max_window_size: i32,
        pub reserved_shared_mem_per_block: usize,
        pub host_register_supported: i32,
        pub sparse_hip_array_supported: i32,
        pub host_register_read_only_supported: i32,
        pub timeline_semaphore_interop_supported: i32,
        pub memory_pools_supported: i32,
        pub gpu_direct_rdma_supported: i32,
        pub gpu_direct_rdma_flush_writes_options: u32,
        pub gpu_direct_rdma_writes_ordering: i32,
        pub memory_pool_supported_handle_types: u32,
        pub deferred_mapping_hip_array_supported: i32,
        pub ipc_event_supported: i32,
        pub cluster_launch: i32,
        pub unified_function_pointers: i32,
        pub reserved: [i32; 63],
        pub hip_reserved: [i32; 32],
        pub gcn_arch_name: [u8; 256],
        pub max_shared_memory_per_multi_processor: usize,
        pub clock_instruction_rate: i32,
        pub arch: u32,
        pub hdp_mem_flush_cntl: u64,
        pub hdp_reg_flush_cntl: u64,
        pub cooperative_multi_device_unmatched_func: i32,
        pub cooperative_multi_device_unmatched_grid_dim: i32,
        pub cooperative_multi_device_unmatched_block_dim: i32,
        pub cooperative_multi_device_unmatched_shared_mem: i32,
        pub is_large_bar: i32,
        pub asic_revision: i32,
    }

    /// `hipDeviceProp_tR0000`, which is `hipDeviceProp_t` up to HIP 5.
    pub struct PropertiesR0000 = "hipDeviceProp_tR0000" {
        pub name: [u8; 256],
        pub total_global_mem: usize,
        pub shared_mem_per_block: usize,
        pub regs_per_block: i32,
        pub warp_size: i32,
        pub max_threads_per_block: i32,
        pub max_threads_dim: [i32; 3],
        pub max_grid_size: [i32; 3],
        pub clock_rate: i32,
        pub memory_clock_rate: i32,
        pub memory_bus_width: i32,
        pub total_const_mem: usize,
        pub major: i32,
        pub minor: i32,
        pub multi_processor_count: i32,
        pub l2_cache_size: i32,
        pub max_threads_per_multi_processor: i32,
        pub compute_mode: i32,
        pub clock_instruction_rate: i32,
        pub arch: u32,
        pub concurrent_kernels: i32,
        pub pci_domain_id: i32,
        pub pci_bus_id: i32,
        pub pci_device_id: i32,
        pub max_shared_memory_per_multi_processor: usize,
        pub is_multi_gpu_board: i32,
        pub can_map_host_memory: i32,
        pub gcn_arch: i32,
        pub gcn_arch_name: [u8; 256],
        pub integrated: i32,
        pub cooperative_launch: i32,
        pub cooperative_multi_device_launch: i32,
        pub max_texture_1d_linear: i32,
        pub max_texture_1d: i32,
        pub max_texture_2d: [i32; 2],
        pub max_texture_3d: [i32; 3],
        pub hdp_mem_flush_cntl: u64,
        pub hdp_reg_flush_cntl: u64,
        pub mem_pitch: usize,
        pub texture_alignment: usize,
        pub texture_pitch_alignment: usize,
        pub kernel_exec_timeout_enabled: i32,
        pub ecc_enabled: i32,
        pub tcc_driver: i32,
        pub cooperative_multi_device_unmatched_func: i32,
        pub cooperative_multi_device_unmatched_grid_dim: i32,
        pub cooperative_multi_device_unmatched_block_dim: i32,
        pub cooperative_multi_device_unmatched_shared_mem: i32,
        pub is_large_bar: i32,
        pub asic_revision: i32,
        pub managed_memory: i32,
        pub direct_managed_mem_access_from_host: i32,
        pub concurrent_managed_access: i32,
        pub pageable_memory_access: i32,
        pub pageable_memory_access_uses_host_page_tables: i32,
    }

    /// `hipPointerAttribute_t`. HIP 5 calls the first field `memoryType`, with other numbers.
    pub struct PointerAttributes = "hipPointerAttribute_t" {
        pub memory_type: u32,
        pub device: i32,
        pub device_pointer: u64,
        pub host_pointer: u64,
        pub is_managed: i32,
        pub allocation_flags: u32,
    }

    /// `hipChannelFormatDesc`: bits per channel, and the channels' type.
    #[derive(PartialEq, Eq)]
    pub struct ChannelFormat = "hipChannelFormatDesc" {
        pub x: i32,
        pub y: i32,
        pub z: i32,
        pub w: i32,
        pub kind: u32,
    }

    /// `hipResourceDesc`. The fields cover every member of its union: a handle or an address, the format of
    /// plain memory, its sizes.
    pub struct ResourceDesc = "hipResourceDesc" {
        pub kind: u32,
        pub pointer: u64,
        pub format: ChannelFormat,
        pub sizes: [u64; 3],
    }

    /// `hipTextureDesc`.
    pub struct TextureDesc = "hipTextureDesc" {
        pub address: [u32; 3],
        pub filter: u32,
        pub read_mode: u32,
        pub srgb: i32,
        pub border: [f32; 4],
        pub normalized: i32,
        pub anisotropy: u32,
        pub level_filter: u32,
        pub bias: f32,
        pub least: f32,
        pub most: f32,
    }

    /// `hipResourceViewDesc`.
    pub struct ViewDesc = "struct hipResourceViewDesc" {
        pub format: u32,
        pub width: usize,
        pub height: usize,
        pub depth: usize,
        pub first_level: u32,
        pub last_level: u32,
        pub first_layer: u32,
        pub last_layer: u32,
    }

    /// `textureReference`.
    #[derive(PartialEq)]
    pub struct TextureReference = "textureReference" {
        pub normalized: i32,
        pub read_mode: u32,
        pub filter: u32,
        pub address: [u32; 3],
        pub format: ChannelFormat,
        pub srgb: i32,
        pub anisotropy: u32,
        pub level_filter: u32,
        pub bias: f32,
        pub least: f32,
        pub most: f32,
        pub object: u64,
        pub channels: i32,
        pub array_format: u32,
    }

    /// `hipArray` of HIP 5. HIP 6 has the structure but does not publish it.
    pub struct ArrayStructure = "hipArray" {
        pub data: u64,
        pub format: ChannelFormat,
        pub flags: u32,
        pub width: u32,
        pub height: u32,
        pub depth: u32,
        pub array_format: u32,
        pub channels: u32,
        pub of_driver: u8,
        pub texture_type: u32,
    }

    /// `hipMipmappedArray`.
    pub struct MipmapStructure = "hipMipmappedArray" {
        pub data: u64,
        pub format: ChannelFormat,
        pub kind: u32,
        pub width: u32,
        pub height: u32,
        pub depth: u32,
        pub first_level: u32,
        pub last_level: u32,
        pub flags: u32,
        pub array_format: u32,
        pub channels: u32,
    }

    /// `hipExtent`, and `hipPos`.
    pub struct Extent = "hipExtent" {
        pub width: usize,
        pub height: usize,
        pub depth: usize,
    }

    /// `hipPitchedPtr`.
    pub struct PitchedPointer = "hipPitchedPtr" {
        pub pointer: u64,
        pub pitch: usize,
        pub width: usize,
        pub height: usize,
    }

    /// `hipMemcpy3DParms`.
    pub struct Memcpy3DParameters = "hipMemcpy3DParms" {
        pub src_array: u64,
        pub src_position: Extent,
        pub src_pointer: PitchedPointer,
        pub dst_array: u64,
        pub dst_position: Extent,
        pub dst_pointer: PitchedPointer,
        pub extent: Extent,
        pub kind: u32,
    }

    /// `hipMemcpy3DPeerParms`.
    pub struct Memcpy3DPeerParameters = "hipMemcpy3DPeerParms" {
        pub src_array: u64,
        pub src_position: Extent,
        pub src_pointer: PitchedPointer,
        pub src_device: i32,
        pub dst_array: u64,
        pub dst_position: Extent,
        pub dst_pointer: PitchedPointer,
        pub dst_device: i32,
        pub extent: Extent,
    }

    /// `hipMemcpy3DOperand`. The fields cover both members of its union: an address, the elements per row
    /// and the rows per layer, or an array and a position in it.
    pub struct CopyOperand = "struct hipMemcpy3DOperand" {
        pub kind: u32,
        pub place: u64,
        pub sizes: [usize; 2],
        pub rest: usize,
    }

    /// `hipMemcpy3DBatchOp`.
    pub struct BatchCopy = "struct hipMemcpy3DBatchOp" {
        pub src: CopyOperand,
        pub dst: CopyOperand,
        pub extent: Extent,
        pub source_order: u32,
        pub flags: u32,
    }

    /// `hipLaunchConfig_t`.
    pub struct StubConfig = "hipLaunchConfig_t" {
        pub grid: [u32; 3],
        pub block: [u32; 3],
        pub shared: usize,
        pub stream: u64,
        pub attributes: In<LaunchAttribute>,
        pub attribute_count: u32,
    }

    /// The members of `hipStreamBatchMemOpParams` for waiting and for writing, which are alike. The union is
    /// longer: [`STREAM_OPERATION_SIZE`].
    pub struct StreamOperation = "struct hipStreamMemOpWaitValueParams_t" {
        pub operation: u32,
        pub address: u64,
        pub value: u64,
        pub flags: u32,
        pub alias: u64,
    }

    /// `hipArrayMemoryRequirements`.
    pub struct ArrayRequirements = "hipArrayMemoryRequirements" {
        pub alignment: usize,
        pub size: usize,
    }

    /// `HIP_MEMCPY3D`.
    pub struct Memcpy3D = "HIP_MEMCPY3D" {
        pub src_x: usize,
        pub src_y: usize,
        pub src_z: usize,
        pub src_lod: usize,
        pub src_type: u32,
        pub src_host: u64,
        pub src_device: u64,
        pub src_array: u64,
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
        pub dst_pitch: usize,
        pub dst_height: usize,
        pub width: usize,
        pub height: usize,
        pub depth: usize,
    }

    /// `HIP_MEMCPY3D` of HIP 5.
    pub struct Memcpy3DIn5 = "HIP_MEMCPY3D of 5.2" {
        pub src_x: u32,
        pub src_y: u32,
        pub src_z: u32,
        pub src_lod: u32,
        pub src_type: u32,
        pub src_host: u64,
        pub src_device: u64,
        pub src_array: u64,
        pub src_pitch: u32,
        pub src_height: u32,
        pub dst_x: u32,
        pub dst_y: u32,
        pub dst_z: u32,
        pub dst_lod: u32,
        pub dst_type: u32,
        pub dst_host: u64,
        pub dst_device: u64,
        pub dst_array: u64,
        pub dst_pitch: u32,
        pub dst_height: u32,
        pub width: u32,
        pub height: u32,
        pub depth: u32,
    }

    /// `hipKernelNodeParams`.
    pub struct KernelNodeParams = "hipKernelNodeParams" {
        pub block: [u32; 3],
        pub extra: In<u64>,
        pub function: u64,
        pub grid: [u32; 3],
        pub params: In<u64>,
        pub shared: u32,
    }

    /// `hipMemsetParams`.
    pub struct FillNodeParams = "hipMemsetParams" {
        pub to: u64,
        pub element: u32,
        pub height: usize,
        pub pitch: usize,
        pub value: u32,
        pub width: usize,
    }

    /// `HIP_MEMSET_NODE_PARAMS`.
    pub struct DriverFillNodeParams = "HIP_MEMSET_NODE_PARAMS" {
        pub to: u64,
        pub pitch: usize,
        pub value: u32,
        pub element: u32,
        pub width: usize,
        pub height: usize,
    }

    /// `hipHostNodeParams`.
    pub struct HostNodeParams = "hipHostNodeParams" {
        pub function: Option<extern "C" fn(u64)>,
        pub data: u64,
    }

    /// `hipMemAllocNodeParams`.
    pub struct AllocNodeParams = "hipMemAllocNodeParams" {
        pub pool: PoolProps,
        pub access: u64,
        pub access_count: usize,
        pub size: usize,
        pub address: u64,
    }

    /// `hipBatchMemOpNodeParams`.
    pub struct BatchNodeParams = "hipBatchMemOpNodeParams" {
        pub context: u64,
        pub count: u32,
        pub operations: u64,
        pub flags: u32,
    }

    /// `hipMemcpyNodeParams`.
    pub struct CopyNodeParams = "hipMemcpyNodeParams" {
        pub flags: i32,
        pub reserved: [i32; 3],
        pub copy: Memcpy3DParameters,
    }

    /// `hipGraphNodeParams`: the type, and the parameters of the type.
    pub struct NodeParams = "hipGraphNodeParams" {
        pub kind: u32,
        pub reserved: [i32; 3],
        pub words: [u64; 29],
        pub rest: u64,
    }

    /// `hipGraphInstantiateParams`.
    pub struct InstantiateParams = "hipGraphInstantiateParams" {
        pub node: u64,
        pub flags: u64,
        pub result: u32,
        pub upload: u64,
    }

    /// `hipExternalMemoryHandleDesc` of HIP 5; later ones only add reserved fields.
    pub struct ExternalMemory = "hipExternalMemoryHandleDesc of 5.2" {
        pub kind: u32,
        pub handle: [u64; 2],
        pub size: u64,
        pub flags: u32,
    }

    /// `hipExternalMemoryBufferDesc` of HIP 5; later ones only add reserved fields.
    pub struct ExternalBuffer = "hipExternalMemoryBufferDesc of 5.2" {
        pub offset: u64,
        pub size: u64,
        pub flags: u32,
    }

    /// `hipExternalMemoryMipmappedArrayDesc`.
    pub struct ExternalMipmap = "hipExternalMemoryMipmappedArrayDesc" {
        pub offset: u64,
        pub format: ChannelFormat,
        pub extent: Extent,
        pub flags: u32,
        pub levels: u32,
    }

    /// `hipExternalSemaphoreHandleDesc` of HIP 5; later ones only add reserved fields.
    pub struct ExternalSemaphore = "hipExternalSemaphoreHandleDesc of 5.2" {
        pub kind: u32,
        pub handle: [u64; 2],
        pub flags: u32,
    }

    /// `hipExternalSemaphoreSignalParams` and `hipExternalSemaphoreWaitParams` of HIP 5.
    pub struct SemaphoreUseIn5 = "hipExternalSemaphoreSignalParams of 5.2" {
        pub value: u64,
        pub rest: [u64; 7],
        pub flags: u32,
        pub reserved: [u32; 16],
    }

    /// `hipMemAllocationProp` of HIP 5.
    pub struct AllocationPropIn5 = "hipMemAllocationProp of 5.2" {
        pub compression_type: u8,
        pub location: MemLocation,
        pub handle_types: u32,
        pub kind: u32,
        pub usage: u16,
        pub meta_data: u64,
    }
}

/// The size of `hipStreamBatchMemOpParams`.
pub const STREAM_OPERATION_SIZE: usize = 48;

impl capi::external::Use for SemaphoreUseIn5 {
    fn value(&self) -> u64 {
        self.value
    }

    fn flags(&self) -> u32 {
        self.flags
    }
}

impl From<Memcpy3DIn5> for Memcpy3D {
    fn from(d: Memcpy3DIn5) -> Self {
        Memcpy3D {
            src_x: d.src_x as usize,
            src_y: d.src_y as usize,
            src_z: d.src_z as usize,
            src_lod: d.src_lod as usize,
            src_type: d.src_type,
            src_host: d.src_host,
            src_device: d.src_device,
            src_array: d.src_array,
            src_pitch: d.src_pitch as usize,
            src_height: d.src_height as usize,
            dst_x: d.dst_x as usize,
            dst_y: d.dst_y as usize,
            dst_z: d.dst_z as usize,
            dst_lod: d.dst_lod as usize,
            dst_type: d.dst_type,
            dst_host: d.dst_host,
            dst_device: d.dst_device,
            dst_array: d.dst_array,
            dst_pitch: d.dst_pitch as usize,
            dst_height: d.dst_height as usize,
            width: d.width as usize,
            height: d.height as usize,
            depth: d.depth as usize,
        }
    }
}

impl From<AllocationPropIn5> for AllocationProp {
    fn from(p: AllocationPropIn5) -> Self {
        let AllocationPropIn5 { location, handle_types, kind, meta_data, .. } = p;
        AllocationProp { kind, handle_types, location, meta_data, flags: [0; 8] }
    }
}

impl From<AllocationProp> for AllocationPropIn5 {
    fn from(p: AllocationProp) -> Self {
        let AllocationProp { kind, handle_types, location, meta_data, .. } = p;
        AllocationPropIn5 { compression_type: 0, location, handle_types, kind, usage: 0, meta_data }
    }
}
