/*
 * Anywarp's declaration of HIP, version 6.3: memory and semaphores of other interfaces, graphics resources.
 *
 * Written for this project. Names, values and layouts are those of the interface, so a program compiled with
 * this file calls the library in the same way as one compiled with any other header of the same version.
 * Programs include hip/hip_runtime_api.h, which includes this file.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_HIP_HIP_EXTERNAL_API_H
#define ANYWARP_HIP_HIP_EXTERNAL_API_H

#ifndef ANYWARP_HIP_HIP_RUNTIME_API_H
#error "include hip/hip_runtime_api.h"
#endif

/* ---- External memory ----------------------------------------------------------------------------------- */

#define hipExternalMemoryDedicated 0x1

typedef void *hipExternalMemory_t;

typedef enum hipExternalMemoryHandleType_enum {
    hipExternalMemoryHandleTypeOpaqueFd = 1,
    hipExternalMemoryHandleTypeOpaqueWin32 = 2,
    hipExternalMemoryHandleTypeOpaqueWin32Kmt = 3,
    hipExternalMemoryHandleTypeD3D12Heap = 4,
    hipExternalMemoryHandleTypeD3D12Resource = 5,
    hipExternalMemoryHandleTypeD3D11Resource = 6,
    hipExternalMemoryHandleTypeD3D11ResourceKmt = 7,
    hipExternalMemoryHandleTypeNvSciBuf = 8,
} hipExternalMemoryHandleType;

typedef struct hipExternalMemoryHandleDesc_st {
    hipExternalMemoryHandleType type;
    union {
        int fd;
        struct {
            void *handle;
            const void *name;
        } win32;
        const void *nvSciBufObject;
    } handle;
    unsigned long long size;
    unsigned int flags;
    unsigned int reserved[16];
} hipExternalMemoryHandleDesc;

typedef struct hipExternalMemoryBufferDesc_st {
    unsigned long long offset;
    unsigned long long size;
    unsigned int flags;
    unsigned int reserved[16];
} hipExternalMemoryBufferDesc;

typedef struct hipExternalMemoryMipmappedArrayDesc_st {
    unsigned long long offset;
    hipChannelFormatDesc formatDesc;
    hipExtent extent;
    unsigned int flags;
    unsigned int numLevels;
} hipExternalMemoryMipmappedArrayDesc;

/* ---- External semaphores ------------------------------------------------------------------------------- */

typedef void *hipExternalSemaphore_t;

typedef enum hipExternalSemaphoreHandleType_enum {
    hipExternalSemaphoreHandleTypeOpaqueFd = 1,
    hipExternalSemaphoreHandleTypeOpaqueWin32 = 2,
    hipExternalSemaphoreHandleTypeOpaqueWin32Kmt = 3,
    hipExternalSemaphoreHandleTypeD3D12Fence = 4,
    hipExternalSemaphoreHandleTypeD3D11Fence = 5,
    hipExternalSemaphoreHandleTypeNvSciSync = 6,
    hipExternalSemaphoreHandleTypeKeyedMutex = 7,
    hipExternalSemaphoreHandleTypeKeyedMutexKmt = 8,
    hipExternalSemaphoreHandleTypeTimelineSemaphoreFd = 9,
    hipExternalSemaphoreHandleTypeTimelineSemaphoreWin32 = 10,
} hipExternalSemaphoreHandleType;

typedef struct hipExternalSemaphoreHandleDesc_st {
    hipExternalSemaphoreHandleType type;
    union {
        int fd;
        struct {
            void *handle;
            const void *name;
        } win32;
        const void *NvSciSyncObj;
    } handle;
    unsigned int flags;
    unsigned int reserved[16];
} hipExternalSemaphoreHandleDesc;

typedef struct hipExternalSemaphoreSignalParams_st {
    struct {
        struct {
            unsigned long long value;
        } fence;
        union {
            void *fence;
            unsigned long long reserved;
        } nvSciSync;
        struct {
            unsigned long long key;
        } keyedMutex;
        unsigned int reserved[12];
    } params;
    unsigned int flags;
    unsigned int reserved[16];
} hipExternalSemaphoreSignalParams;

typedef struct hipExternalSemaphoreWaitParams_st {
    struct {
        struct {
            unsigned long long value;
        } fence;
        union {
            void *fence;
            unsigned long long reserved;
        } nvSciSync;
        struct {
            unsigned long long key;
            unsigned int timeoutMs;
        } keyedMutex;
        unsigned int reserved[10];
    } params;
    unsigned int flags;
    unsigned int reserved[16];
} hipExternalSemaphoreWaitParams;

/* ---- Graphics resources -------------------------------------------------------------------------------- */

typedef struct _hipGraphicsResource hipGraphicsResource;
typedef hipGraphicsResource *hipGraphicsResource_t;

typedef enum hipGraphicsRegisterFlags {
    hipGraphicsRegisterFlagsNone = 0,
    hipGraphicsRegisterFlagsReadOnly = 1,
    hipGraphicsRegisterFlagsWriteDiscard = 2,
    hipGraphicsRegisterFlagsSurfaceLoadStore = 4,
    hipGraphicsRegisterFlagsTextureGather = 8,
} hipGraphicsRegisterFlags;

/* ---- Functions ----------------------------------------------------------------------------------------- */

#ifdef __cplusplus
extern "C" {
#endif

hipError_t hipImportExternalMemory(hipExternalMemory_t *extMem_out,
    const hipExternalMemoryHandleDesc *memHandleDesc);
hipError_t hipExternalMemoryGetMappedBuffer(void **devPtr, hipExternalMemory_t extMem,
    const hipExternalMemoryBufferDesc *bufferDesc);
hipError_t hipExternalMemoryGetMappedMipmappedArray(hipMipmappedArray_t *mipmap, hipExternalMemory_t extMem,
    const hipExternalMemoryMipmappedArrayDesc *mipmapDesc);
hipError_t hipDestroyExternalMemory(hipExternalMemory_t extMem);

hipError_t hipImportExternalSemaphore(hipExternalSemaphore_t *extSem_out,
    const hipExternalSemaphoreHandleDesc *semHandleDesc);
hipError_t hipSignalExternalSemaphoresAsync(const hipExternalSemaphore_t *extSemArray,
    const hipExternalSemaphoreSignalParams *paramsArray, unsigned int numExtSems, hipStream_t stream);
hipError_t hipWaitExternalSemaphoresAsync(const hipExternalSemaphore_t *extSemArray,
    const hipExternalSemaphoreWaitParams *paramsArray, unsigned int numExtSems, hipStream_t stream);
hipError_t hipDestroyExternalSemaphore(hipExternalSemaphore_t extSem);

hipError_t hipGraphicsMapResources(int count, hipGraphicsResource_t *resources,
    hipStream_t stream ANYWARP_HIP_DEFAULT(0));
hipError_t hipGraphicsSubResourceGetMappedArray(hipArray_t *array, hipGraphicsResource_t resource,
    unsigned int arrayIndex, unsigned int mipLevel);
hipError_t hipGraphicsResourceGetMappedPointer(void **devPtr, size_t *size, hipGraphicsResource_t resource);
hipError_t hipGraphicsUnmapResources(int count, hipGraphicsResource_t *resources,
    hipStream_t stream ANYWARP_HIP_DEFAULT(0));
hipError_t hipGraphicsUnregisterResource(hipGraphicsResource_t resource);

#ifdef __cplusplus
}
#endif

#endif
