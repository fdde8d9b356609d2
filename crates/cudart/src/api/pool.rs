//! Memory in stream order, managed memory, and host memory that devices use.

use capi::types::MemLocation;

use crate::forward;

forward! {
    Context fn cudaMallocAsync / cudaMallocAsync_ptsz (out: u64, size: u64, stream: u64)
        = cuMemAllocAsync / cuMemAllocAsync_ptsz;
    Context fn cudaMallocFromPoolAsync / cudaMallocFromPoolAsync_ptsz (
        out: u64, size: u64, pool: u64, stream: u64
    ) = cuMemAllocFromPoolAsync / cuMemAllocFromPoolAsync_ptsz;
    Context fn cudaFreeAsync / cudaFreeAsync_ptsz (address: u64, stream: u64)
        = cuMemFreeAsync / cuMemFreeAsync_ptsz;
    Driver fn cudaDeviceGetDefaultMemPool(pool: u64, device: i32) = cuDeviceGetDefaultMemPool;
    Driver fn cudaDeviceGetMemPool(pool: u64, device: i32) = cuDeviceGetMemPool;
    Driver fn cudaDeviceSetMemPool(device: i32, pool: u64) = cuDeviceSetMemPool;
    Driver fn cudaMemGetDefaultMemPool(pool: u64, location: u64, kind: u32) = cuMemGetDefaultMemPool;
    Driver fn cudaMemGetMemPool(pool: u64, location: u64, kind: u32) = cuMemGetMemPool;
    Driver fn cudaMemSetMemPool(location: u64, kind: u32, pool: u64) = cuMemSetMemPool;
    Context fn cudaMemPoolCreate(pool: u64, properties: u64) = cuMemPoolCreate;
    Context fn cudaMemPoolDestroy(pool: u64) = cuMemPoolDestroy;
    Context fn cudaMemPoolTrimTo(pool: u64, keep: u64) = cuMemPoolTrimTo;
    Context fn cudaMemPoolGetAttribute(pool: u64, number: u32, value: u64) = cuMemPoolGetAttribute;
    Context fn cudaMemPoolSetAttribute(pool: u64, number: u32, value: u64) = cuMemPoolSetAttribute;
    Context fn cudaMemPoolGetAccess(flags: u64, pool: u64, location: u64) = cuMemPoolGetAccess;
    Context fn cudaMemPoolSetAccess(pool: u64, list: u64, count: u64) = cuMemPoolSetAccess;
    Context fn cudaMemPoolExportPointer(data: u64, address: u64) = cuMemPoolExportPointer;
    Context fn cudaMemPoolImportPointer(address: u64, pool: u64, data: u64) = cuMemPoolImportPointer;
    Context fn cudaMemPoolExportToShareableHandle(handle: u64, pool: u64, kind: u32, flags: u64)
        = cuMemPoolExportToShareableHandle;
    Context fn cudaMemPoolImportFromShareableHandle(pool: u64, handle: u64, kind: u32, flags: u64)
        = cuMemPoolImportFromShareableHandle;

    Context fn cudaMemAdvise(address: u64, size: u64, advice: u32, location: MemLocation) = cuMemAdvise_v2;
    Context fn cudaMemAdvise_v2(address: u64, size: u64, advice: u32, location: MemLocation) = cuMemAdvise_v2;
    Context fn cudaMemAdvise_in_12(address: u64, size: u64, advice: u32, device: i32) = cuMemAdvise;
    Context fn cudaMemPrefetchAsync / cudaMemPrefetchAsync_ptsz (
        address: u64, size: u64, location: MemLocation, flags: u32, stream: u64
    ) = cuMemPrefetchAsync_v2 / cuMemPrefetchAsync_v2_ptsz;
    Context fn cudaMemPrefetchAsync_v2 / cudaMemPrefetchAsync_v2_ptsz (
        address: u64, size: u64, location: MemLocation, flags: u32, stream: u64
    ) = cuMemPrefetchAsync_v2 / cuMemPrefetchAsync_v2_ptsz;
    Context fn cudaMemPrefetchAsync_in_12 / cudaMemPrefetchAsync_ptsz_in_12 (
        address: u64, size: u64, device: i32, stream: u64
    ) = cuMemPrefetchAsync / cuMemPrefetchAsync_ptsz;
    Context fn cudaMemPrefetchBatchAsync / cudaMemPrefetchBatchAsync_ptsz (
        addresses: u64, sizes: u64, count: u64, locations: u64, firsts: u64, location_count: u64, flags: u64,
        stream: u64
    ) = cuMemPrefetchBatchAsync / cuMemPrefetchBatchAsync_ptsz;
    Context fn cudaMemDiscardBatchAsync / cudaMemDiscardBatchAsync_ptsz (
        addresses: u64, sizes: u64, count: u64, flags: u64, stream: u64
    ) = cuMemDiscardBatchAsync / cuMemDiscardBatchAsync_ptsz;
    Context fn cudaMemDiscardAndPrefetchBatchAsync / cudaMemDiscardAndPrefetchBatchAsync_ptsz (
        addresses: u64, sizes: u64, count: u64, locations: u64, firsts: u64, location_count: u64, flags: u64,
        stream: u64
    ) = cuMemDiscardAndPrefetchBatchAsync / cuMemDiscardAndPrefetchBatchAsync_ptsz;
    Context fn cudaMemRangeGetAttribute(value: u64, size: u64, number: u32, address: u64, count: u64)
        = cuMemRangeGetAttribute;
    Context fn cudaMemRangeGetAttributes(
        values: u64, sizes: u64, numbers: u64, attributes: u64, address: u64, count: u64
    ) = cuMemRangeGetAttributes;

    Context fn cudaHostRegister(address: u64, size: u64, flags: u32) = cuMemHostRegister_v2;
    Context fn cudaHostUnregister(address: u64) = cuMemHostUnregister;
    Context fn cudaHostGetDevicePointer(out: u64, address: u64, flags: u32) = cuMemHostGetDevicePointer_v2;
    Context fn cudaHostGetFlags(flags: u64, address: u64) = cuMemHostGetFlags;
    Context fn cudaMemGetInfo(free: u64, total: u64) = cuMemGetInfo_v2;

    Context fn cudaMemcpyBatchAsync / cudaMemcpyBatchAsync_ptsz (
        to: u64, from: u64, sizes: u64, count: u64, attributes: u64, firsts: u64, attribute_count: u64,
        stream: u64
    ) = cuMemcpyBatchAsync_v2 / cuMemcpyBatchAsync_v2_ptsz;
    Context fn cudaMemcpyBatchAsync_in_12 / cudaMemcpyBatchAsync_ptsz_in_12 (
        to: u64, from: u64, sizes: u64, count: u64, attributes: u64, firsts: u64, attribute_count: u64,
        failed: u64, stream: u64
    ) = cuMemcpyBatchAsync / cuMemcpyBatchAsync_ptsz;
    Context fn cudaMemcpy3DBatchAsync / cudaMemcpy3DBatchAsync_ptsz (
        count: u64, operations: u64, flags: u64, stream: u64
    ) = cuMemcpy3DBatchAsync_v2 / cuMemcpy3DBatchAsync_v2_ptsz;
    Context fn cudaMemcpy3DBatchAsync_in_12 / cudaMemcpy3DBatchAsync_ptsz_in_12 (
        count: u64, operations: u64, failed: u64, flags: u64, stream: u64
    ) = cuMemcpy3DBatchAsync / cuMemcpy3DBatchAsync_ptsz;

    Context fn cudaMemcpyWithAttributesAsync / cudaMemcpyWithAttributesAsync_ptsz (
        to: u64, from: u64, size: u64, attributes: u64, stream: u64
    ) = cuMemcpyWithAttributesAsync / cuMemcpyWithAttributesAsync_ptsz;
    Context fn cudaMemcpy3DWithAttributesAsync / cudaMemcpy3DWithAttributesAsync_ptsz (
        operation: u64, flags: u64, stream: u64
    ) = cuMemcpy3DWithAttributesAsync / cuMemcpy3DWithAttributesAsync_ptsz;

    Context fn cudaImportExternalMemory(out: u64, description: u64) = cuImportExternalMemory;
    Context fn cudaDestroyExternalMemory(memory: u64) = cuDestroyExternalMemory;
    Context fn cudaExternalMemoryGetMappedBuffer(address: u64, memory: u64, description: u64)
        = cuExternalMemoryGetMappedBuffer;
    Context fn cudaImportExternalSemaphore(out: u64, description: u64) = cuImportExternalSemaphore;
    Context fn cudaDestroyExternalSemaphore(semaphore: u64) = cuDestroyExternalSemaphore;
    Context fn cudaSignalExternalSemaphoresAsync / cudaSignalExternalSemaphoresAsync_ptsz (
        semaphores: u64, params: u64, count: u32, stream: u64
    ) = cuSignalExternalSemaphoresAsync / cuSignalExternalSemaphoresAsync_ptsz;
    Context fn cudaSignalExternalSemaphoresAsync_v2 / cudaSignalExternalSemaphoresAsync_v2_ptsz (
        semaphores: u64, params: u64, count: u32, stream: u64
    ) = cuSignalExternalSemaphoresAsync / cuSignalExternalSemaphoresAsync_ptsz;
    Context fn cudaWaitExternalSemaphoresAsync / cudaWaitExternalSemaphoresAsync_ptsz (
        semaphores: u64, params: u64, count: u32, stream: u64
    ) = cuWaitExternalSemaphoresAsync / cuWaitExternalSemaphoresAsync_ptsz;
    Context fn cudaWaitExternalSemaphoresAsync_v2 / cudaWaitExternalSemaphoresAsync_v2_ptsz (
        semaphores: u64, params: u64, count: u32, stream: u64
    ) = cuWaitExternalSemaphoresAsync / cuWaitExternalSemaphoresAsync_ptsz;

    Context fn cudaGraphicsMapResources(count: u32, resources: u64, stream: u64) = cuGraphicsMapResources;
    Context fn cudaGraphicsUnmapResources(count: u32, resources: u64, stream: u64) = cuGraphicsUnmapResources;
    Context fn cudaGraphicsResourceGetMappedPointer(address: u64, size: u64, resource: u64)
        = cuGraphicsResourceGetMappedPointer_v2;
    Context fn cudaGraphicsResourceSetMapFlags(resource: u64, flags: u32) = cuGraphicsResourceSetMapFlags_v2;
    Context fn cudaGraphicsSubResourceGetMappedArray(array: u64, resource: u64, index: u32, level: u32)
        = cuGraphicsSubResourceGetMappedArray;
    Context fn cudaGraphicsResourceGetMappedMipmappedArray(array: u64, resource: u64)
        = cuGraphicsResourceGetMappedMipmappedArray;
    Context fn cudaGraphicsUnregisterResource(resource: u64) = cuGraphicsUnregisterResource;
}
