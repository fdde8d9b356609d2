//! The driver's C functions that this crate calls with arguments of its own making. Those that get the
//! runtime's arguments as they are stand in the rows of [`forward!`](crate::forward!).

#![allow(non_snake_case, missing_docs)]

use crate::abi::Code;
use crate::types::{Array3DDescriptor, DriverLaunchConfig, KernelParams, Memcpy2D, Memcpy3D};

// SAFETY: libcuda.so exports the functions with these arguments. Each checks them as far as a C function can;
// pointers that this crate makes are valid during the call.
unsafe extern "C" {
    pub safe fn cuInit(flags: u32) -> Code;
    pub safe fn cuDriverGetVersion(version: &mut i32) -> Code;
    pub safe fn cuGetProcAddress_v2(name: u64, out: u64, version: i32, flags: u64, result: u64) -> Code;

    pub safe fn cuDeviceGetAttribute(value: &mut i32, number: u32, device: i32) -> Code;
    pub safe fn cuDeviceTotalMem_v2(size: &mut usize, device: i32) -> Code;
    pub safe fn cuDeviceGetTexture1DLinearMaxWidth(
        width: u64,
        format: u32,
        channels: u32,
        device: i32,
    ) -> Code;
    pub safe fn cuDevicePrimaryCtxReset_v2(device: i32) -> Code;
    pub safe fn cuDevicePrimaryCtxSetFlags_v2(device: i32, flags: u32) -> Code;
    pub safe fn cuDevicePrimaryCtxGetState(device: i32, flags: &mut u32, active: &mut i32) -> Code;
    pub safe fn cuCtxEnablePeerAccess(context: u64, flags: u32) -> Code;
    pub safe fn cuCtxDisablePeerAccess(context: u64) -> Code;
    pub safe fn cuCtxGetFlags(flags: &mut u32) -> Code;

    pub safe fn cuCtxPushCurrent_v2(context: u64) -> Code;
    pub safe fn cuCtxPopCurrent_v2(out: u64) -> Code;
    pub safe fn cuCtxGetDevResource(context: u64, out: u64, kind: u32) -> Code;
    pub safe fn cuCtxGetDevice_v2(device: u64, context: u64) -> Code;
    pub safe fn cuCtxGetId(context: u64, id: u64) -> Code;
    pub safe fn cuCtxSynchronize_v2(context: u64) -> Code;
    pub safe fn cuCtxFromGreenCtx(out: &mut u64, green: u64) -> Code;
    pub safe fn cuGreenCtxCreate(out: u64, description: u64, device: i32, flags: u32) -> Code;
    pub safe fn cuGreenCtxStreamCreate(out: u64, green: u64, flags: u32, priority: i32) -> Code;

    pub safe fn cuStreamCreate(out: u64, flags: u32) -> Code;
    pub safe fn cuStreamCreateWithPriority(out: u64, flags: u32, priority: i32) -> Code;
    pub safe fn cuStreamEndCapture(stream: u64, graph: &mut u64) -> Code;
    pub safe fn cuEventCreate(out: u64, flags: u32) -> Code;

    pub safe fn cuMemAlloc_v2(out: u64, size: usize) -> Code;
    pub safe fn cuMemAllocPitch_v2(out: u64, pitch: u64, width: usize, height: usize, element: u32) -> Code;
    pub safe fn cuMemAllocManaged(out: u64, size: usize, flags: u32) -> Code;
    pub safe fn cuMemHostAlloc(out: u64, size: usize, flags: u32) -> Code;
    pub safe fn cuMemFree_v2(address: u64) -> Code;
    pub safe fn cuMemFreeHost(address: u64) -> Code;
    pub safe fn cuPointerGetAttribute(value: u64, number: u32, address: u64) -> Code;

    pub safe fn cuMemcpy(to: u64, from: u64, size: usize) -> Code;
    pub safe fn cuMemcpy_ptds(to: u64, from: u64, size: usize) -> Code;
    pub safe fn cuMemcpyHtoD_v2(to: u64, from: u64, size: usize) -> Code;
    pub safe fn cuMemcpyHtoD_v2_ptds(to: u64, from: u64, size: usize) -> Code;
    pub safe fn cuMemcpyDtoH_v2(to: u64, from: u64, size: usize) -> Code;
    pub safe fn cuMemcpyDtoH_v2_ptds(to: u64, from: u64, size: usize) -> Code;
    pub safe fn cuMemcpyDtoD_v2(to: u64, from: u64, size: usize) -> Code;
    pub safe fn cuMemcpyDtoD_v2_ptds(to: u64, from: u64, size: usize) -> Code;
    pub safe fn cuMemcpyAsync(to: u64, from: u64, size: usize, stream: u64) -> Code;
    pub safe fn cuMemcpyHtoDAsync_v2(to: u64, from: u64, size: usize, stream: u64) -> Code;
    pub safe fn cuMemcpyDtoHAsync_v2(to: u64, from: u64, size: usize, stream: u64) -> Code;
    pub safe fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, size: usize, stream: u64) -> Code;
    pub safe fn cuMemcpy2DUnaligned_v2(copy: &Memcpy2D) -> Code;
    pub safe fn cuMemcpy2DUnaligned_v2_ptds(copy: &Memcpy2D) -> Code;
    pub safe fn cuMemcpy2DAsync_v2(copy: &Memcpy2D, stream: u64) -> Code;
    pub safe fn cuMemcpy3D_v2(copy: &Memcpy3D) -> Code;
    pub safe fn cuMemcpy3D_v2_ptds(copy: &Memcpy3D) -> Code;
    pub safe fn cuMemcpy3DAsync_v2(copy: &Memcpy3D, stream: u64) -> Code;
    pub safe fn cuMemcpy3DPeer(copy: &Memcpy3D) -> Code;
    pub safe fn cuMemcpy3DPeer_ptds(copy: &Memcpy3D) -> Code;
    pub safe fn cuMemcpy3DPeerAsync(copy: &Memcpy3D, stream: u64) -> Code;
    pub safe fn cuMemcpyPeer(to: u64, to_context: u64, from: u64, from_context: u64, size: usize) -> Code;
    pub safe fn cuMemcpyPeerAsync(
        to: u64,
        to_context: u64,
        from: u64,
        from_context: u64,
        size: usize,
        stream: u64,
    ) -> Code;
    pub safe fn cuMemsetD8_v2(address: u64, value: u8, count: usize) -> Code;
    pub safe fn cuMemsetD8_v2_ptds(address: u64, value: u8, count: usize) -> Code;
    pub safe fn cuMemsetD8Async(address: u64, value: u8, count: usize, stream: u64) -> Code;
    pub safe fn cuMemsetD2D8_v2(address: u64, pitch: usize, value: u8, width: usize, height: usize) -> Code;
    pub safe fn cuMemsetD2D8_v2_ptds(
        address: u64,
        pitch: usize,
        value: u8,
        width: usize,
        height: usize,
    ) -> Code;
    pub safe fn cuMemsetD2D8Async(
        address: u64,
        pitch: usize,
        value: u8,
        width: usize,
        height: usize,
        stream: u64,
    ) -> Code;

    pub safe fn cuArray3DCreate_v2(out: u64, description: &Array3DDescriptor) -> Code;
    pub safe fn cuArray3DGetDescriptor_v2(description: &mut Array3DDescriptor, array: u64) -> Code;
    pub safe fn cuArrayDestroy(array: u64) -> Code;
    pub safe fn cuMipmappedArrayCreate(out: u64, description: &Array3DDescriptor, levels: u32) -> Code;
    pub safe fn cuMipmappedArrayDestroy(array: u64) -> Code;
    pub safe fn cuTexObjectCreate(out: u64, resource: u64, texture: u64, view: u64) -> Code;
    pub safe fn cuTexObjectGetResourceDesc(resource: u64, object: u64) -> Code;
    pub safe fn cuTexObjectGetTextureDesc(texture: u64, object: u64) -> Code;
    pub safe fn cuSurfObjectCreate(out: u64, resource: u64) -> Code;
    pub safe fn cuSurfObjectGetResourceDesc(resource: u64, object: u64) -> Code;
    pub safe fn cuExternalMemoryGetMappedMipmappedArray(out: u64, memory: u64, description: u64) -> Code;

    pub safe fn cuLaunchKernel(
        function: u64,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared: u32,
        stream: u64,
        params: u64,
        extra: u64,
    ) -> Code;
    pub safe fn cuLaunchCooperativeKernel(
        function: u64,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared: u32,
        stream: u64,
        params: u64,
    ) -> Code;
    pub safe fn cuLaunchKernelEx(config: &DriverLaunchConfig, function: u64, params: u64, extra: u64)
    -> Code;
    pub safe fn cuFuncGetAttribute(value: &mut i32, number: u32, function: u64) -> Code;
    pub safe fn cuFuncSetAttribute(function: u64, number: u32, value: i32) -> Code;
    pub safe fn cuFuncSetCacheConfig(function: u64, config: u32) -> Code;
    pub safe fn cuFuncSetSharedMemConfig(function: u64, config: u32) -> Code;
    pub safe fn cuFuncGetName(name: u64, function: u64) -> Code;
    pub safe fn cuFuncGetParamCount(function: u64, count: u64) -> Code;
    pub safe fn cuFuncGetParamInfo(function: u64, index: usize, offset: u64, size: u64) -> Code;
    pub safe fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: u64,
        function: u64,
        block: i32,
        shared: usize,
        flags: u32,
    ) -> Code;
    pub safe fn cuOccupancyAvailableDynamicSMemPerBlock(
        size: u64,
        function: u64,
        blocks: i32,
        block: i32,
    ) -> Code;
    pub safe fn cuOccupancyMaxActiveClusters(out: u64, function: u64, config: &DriverLaunchConfig) -> Code;
    pub safe fn cuOccupancyMaxPotentialClusterSize(
        out: u64,
        function: u64,
        config: &DriverLaunchConfig,
    ) -> Code;

    pub safe fn cuLibraryGetKernel(out: u64, library: u64, name: u64) -> Code;

    pub safe fn cuGraphConditionalHandleCreate(
        out: u64,
        graph: u64,
        context: u64,
        value: u32,
        flags: u32,
    ) -> Code;
    pub safe fn cuGraphAddKernelNode(
        out: u64,
        graph: u64,
        after: u64,
        count: usize,
        params: &KernelParams,
    ) -> Code;
    pub safe fn cuGraphKernelNodeGetParams(node: u64, params: &mut KernelParams) -> Code;
    pub safe fn cuGraphKernelNodeSetParams(node: u64, params: &KernelParams) -> Code;
    pub safe fn cuGraphExecKernelNodeSetParams(exec: u64, node: u64, params: &KernelParams) -> Code;
    pub safe fn cuGraphAddMemcpyNode(
        out: u64,
        graph: u64,
        after: u64,
        count: usize,
        params: &Memcpy3D,
        context: u64,
    ) -> Code;
    pub safe fn cuGraphMemcpyNodeGetParams(node: u64, params: &mut Memcpy3D) -> Code;
    pub safe fn cuGraphMemcpyNodeSetParams(node: u64, params: &Memcpy3D) -> Code;
    pub safe fn cuGraphExecMemcpyNodeSetParams(exec: u64, node: u64, params: &Memcpy3D, context: u64)
    -> Code;
    pub safe fn cuGraphAddMemsetNode(
        out: u64,
        graph: u64,
        after: u64,
        count: usize,
        params: u64,
        context: u64,
    ) -> Code;
    pub safe fn cuGraphExecMemsetNodeSetParams(exec: u64, node: u64, params: u64, context: u64) -> Code;
    pub safe fn cuGraphAddNode_v2(
        out: u64,
        graph: u64,
        after: u64,
        edges: u64,
        count: usize,
        params: u64,
    ) -> Code;
    pub safe fn cuGraphNodeGetParams(node: u64, params: u64) -> Code;
    pub safe fn cuGraphNodeSetParams(node: u64, params: u64) -> Code;
    pub safe fn cuGraphExecNodeSetParams(exec: u64, node: u64, params: u64) -> Code;
}
