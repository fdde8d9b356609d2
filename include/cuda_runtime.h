/*
 * Anywarp's declaration of the CUDA runtime for C++, and for device code that clang compiles (`anywarp cc`).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_CUDA_RUNTIME_H
#define ANYWARP_CUDA_RUNTIME_H

#include <anywarp/attributes.h>

/* Programs ask by this name whether the runtime is declared. */
#define __CUDA_RUNTIME_H__

#ifdef ANYWARP_GPU_LANGUAGE
/* What nvcc defines. */
#define __CUDACC__ 1
#endif

#include <cuda_runtime_api.h>

#ifdef ANYWARP_GPU_LANGUAGE
#include <anywarp/device.h>
#endif

#ifdef __cplusplus

template <class T> static inline cudaError_t cudaMalloc(T **pointer, size_t size) {
    return cudaMalloc((void **)pointer, size);
}
template <class T>
static inline cudaError_t cudaMallocManaged(T **pointer, size_t size, unsigned flags = cudaMemAttachGlobal) {
    return cudaMallocManaged((void **)pointer, size, flags);
}
template <class T>
static inline cudaError_t cudaMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height) {
    return cudaMallocPitch((void **)pointer, pitch, width, height);
}
template <class T> static inline cudaError_t cudaMallocHost(T **pointer, size_t size) {
    return cudaMallocHost((void **)pointer, size);
}
/* `flags` are those of cudaHostAlloc. */
template <class T> static inline cudaError_t cudaMallocHost(T **pointer, size_t size, unsigned flags) {
    return cudaHostAlloc((void **)pointer, size, flags);
}
template <class T> static inline cudaError_t cudaHostAlloc(T **pointer, size_t size, unsigned flags) {
    return cudaHostAlloc((void **)pointer, size, flags);
}
template <class T> static inline cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned flags) {
    return cudaHostGetDevicePointer((void **)device, host, flags);
}
template <class T> static inline cudaError_t cudaMallocAsync(T **pointer, size_t size, cudaStream_t stream) {
    return cudaMallocAsync((void **)pointer, size, stream);
}

template <class T>
static inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t size, size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return cudaMemcpyToSymbol((const void *)&symbol, from, size, offset, kind);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t size, size_t offset = 0,
                                               cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return cudaMemcpyFromSymbol(to, (const void *)&symbol, size, offset, kind);
}
template <class T>
static inline cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t size, size_t offset,
                                                  cudaMemcpyKind kind, cudaStream_t stream = 0) {
    return cudaMemcpyToSymbolAsync((const void *)&symbol, from, size, offset, kind, stream);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t size, size_t offset,
                                                    cudaMemcpyKind kind, cudaStream_t stream = 0) {
    return cudaMemcpyFromSymbolAsync(to, (const void *)&symbol, size, offset, kind, stream);
}
template <class T> static inline cudaError_t cudaGetSymbolAddress(void **pointer, const T &symbol) {
    return cudaGetSymbolAddress(pointer, (const void *)&symbol);
}
template <class T> static inline cudaError_t cudaGetSymbolSize(size_t *size, const T &symbol) {
    return cudaGetSymbolSize(size, (const void *)&symbol);
}

/* The forms of CUDA 12, whose device is a number. */
static inline cudaMemLocation anywarp_location(int device) {
    cudaMemLocation location = {device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice,
                                device == cudaCpuDeviceId ? 0 : device};
    return location;
}
static inline cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t size, int device, cudaStream_t stream = 0) {
    return cudaMemPrefetchAsync(pointer, size, anywarp_location(device), 0, stream);
}
static inline cudaError_t cudaMemAdvise(const void *pointer, size_t size, cudaMemoryAdvise advice, int device) {
    return cudaMemAdvise(pointer, size, advice, anywarp_location(device));
}
static inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned flags) {
    return cudaEventCreateWithFlags(event, flags);
}

template <class T>
static inline cudaError_t cudaLaunchKernel(T *kernel, dim3 grid, dim3 block, void **arguments, size_t shared = 0,
                                           cudaStream_t stream = 0) {
    return cudaLaunchKernel((const void *)kernel, grid, block, arguments, shared, stream);
}
template <class T>
static inline cudaError_t cudaLaunchCooperativeKernel(T *kernel, dim3 grid, dim3 block, void **arguments,
                                                      size_t shared = 0, cudaStream_t stream = 0) {
    return cudaLaunchCooperativeKernel((const void *)kernel, grid, block, arguments, shared, stream);
}
template <class T> static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *kernel) {
    return cudaFuncGetAttributes(attributes, (const void *)kernel);
}
template <class T> static inline cudaError_t cudaFuncSetAttribute(T *kernel, cudaFuncAttribute attribute, int value) {
    return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
template <class T> static inline cudaError_t cudaFuncSetCacheConfig(T *kernel, cudaFuncCache config) {
    return cudaFuncSetCacheConfig((const void *)kernel, config);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T kernel, int block,
                                                                        size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, block, shared);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T kernel, int block,
                                                                                 size_t shared, unsigned flags) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void *)kernel, block, shared, flags);
}
template <class T>
static inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *size, T *kernel, int blocks, int block) {
    return cudaOccupancyAvailableDynamicSMemPerBlock(size, (const void *)kernel, blocks, block);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, T *kernel, const cudaLaunchConfig_t *config) {
    return cudaOccupancyMaxPotentialClusterSize(size, (const void *)kernel, config);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, T *kernel, const cudaLaunchConfig_t *config) {
    return cudaOccupancyMaxActiveClusters(clusters, (const void *)kernel, config);
}
/* The largest block of whole warps with the most resident threads; `shared` gives the bytes for a size. */
template <class Function, class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int *grid, int *block, T kernel,
                                                                                  Function shared, int limit = 0,
                                                                                  unsigned flags = 0) {
    cudaFuncAttributes attributes;
    int device = 0, multiprocessors = 0;
    cudaError_t error = cudaFuncGetAttributes(&attributes, (const void *)kernel);
    if (error == cudaSuccess)
        error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess)
        return error;
    int most = attributes.maxThreadsPerBlock, best = 0;
    if (limit > 0 && limit < most)
        most = limit;
    for (int size = (most + 31) / 32 * 32; size > 0; size -= 32) {
        int tried = size < most ? size : most, blocks = 0;
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, (const void *)kernel, tried,
                                                                       (size_t)shared(tried), flags);
        if (error != cudaSuccess)
            return error;
        if (blocks * tried > best) {
            best = blocks * tried;
            *block = tried;
            *grid = blocks * multiprocessors;
        }
    }
    return cudaSuccess;
}
template <class Function, class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block, T kernel, Function shared,
                                                                         int limit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(grid, block, kernel, shared, limit);
}
struct anywarp_same_size {
    size_t size;
    size_t operator()(int) const { return size; }
};
template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, T kernel, size_t shared = 0,
                                                                      int limit = 0, unsigned flags = 0) {
    anywarp_same_size same = {shared};
    return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(grid, block, kernel, same, limit, flags);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T kernel, size_t shared = 0,
                                                             int limit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeWithFlags(grid, block, kernel, shared, limit);
}
template <class T> static inline cudaError_t cudaFuncGetName(const char **name, T *kernel) {
    return cudaFuncGetName(name, (const void *)kernel);
}
template <class T> static inline cudaError_t cudaGetKernel(cudaKernel_t *handle, T *kernel) {
    return cudaGetKernel(handle, (const void *)kernel);
}
template <class T> static inline cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, T *kernel) {
    return cudaGetFuncBySymbol(function, (const void *)kernel);
}
template <class T>
static inline cudaError_t cudaMallocFromPoolAsync(T **pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
    return cudaMallocFromPoolAsync((void **)pointer, size, pool, stream);
}
static inline cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
    return cudaMallocFromPoolAsync(pointer, size, pool, stream);
}
template <class T>
static inline cudaError_t cudaMallocAsync(T **pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
    return cudaMallocFromPoolAsync((void **)pointer, size, pool, stream);
}
template <class T>
static inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T *pointer, size_t length = 0,
                                                   unsigned flags = cudaMemAttachSingle) {
    return cudaStreamAttachMemAsync(stream, (void *)pointer, length, flags);
}
template <class T>
static inline cudaError_t cudaLibraryGetGlobal(T **pointer, size_t *size, cudaLibrary_t library, const char *name) {
    return cudaLibraryGetGlobal((void **)pointer, size, library, name);
}
template <class T>
static inline cudaError_t cudaLibraryGetManaged(T **pointer, size_t *size, cudaLibrary_t library, const char *name) {
    return cudaLibraryGetManaged((void **)pointer, size, library, name);
}
template <class T>
static inline cudaError_t cudaUserObjectCreate(cudaUserObject_t *object, T *data, unsigned references, unsigned flags) {
    struct of_type {
        static void destroy(void *data) { delete (T *)data; }
    };
    return cudaUserObjectCreate(object, (void *)data, of_type::destroy, references, flags);
}

/* The forms of CUDA 12: an update that names the node, edges without data, a graph with a log of errors. */
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *, char *, size_t) {
    return cudaGraphInstantiate(exec, graph, 0ull);
}
static inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *node,
                                              cudaGraphExecUpdateResult *result) {
    cudaGraphExecUpdateResultInfo info = {};
    cudaError_t error = cudaGraphExecUpdate(exec, graph, &info);
    *node = info.errorNode;
    *result = info.result;
    return error;
}
static inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                                   size_t count) {
    return cudaGraphAddDependencies(graph, from, to, NULL, count);
}
static inline cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count) {
    return cudaGraphGetEdges(graph, from, to, NULL, count);
}
static inline cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count) {
    return cudaGraphNodeGetDependencies(node, nodes, NULL, count);
}
static inline cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count) {
    return cudaGraphNodeGetDependentNodes(node, nodes, NULL, count);
}
static inline cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                           size_t count, cudaGraphNodeParams *params) {
    return cudaGraphAddNode(node, graph, after, NULL, count, params);
}

#if __cplusplus >= 201103L
template <class... Parameters, class... Arguments>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                                             Arguments... arguments) {
    return [&](Parameters... converted) {
        void *addresses[] = {(void *)&converted..., nullptr};
        return cudaLaunchKernelExC(config, (const void *)kernel, addresses);
    }(static_cast<Parameters>(arguments)...);
}
#endif

template <class T> static inline cudaChannelFormatDesc cudaCreateChannelDesc();
#define ANYWARP_CHANNELS(T, bits, count, kind)                                                                        \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<T>() {                                             \
        return cudaCreateChannelDesc(bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 2 ? bits : 0, kind);   \
    }
#define ANYWARP_CHANNELS_OF(scalar, name, bits, kind)                                                                 \
    ANYWARP_CHANNELS(scalar, bits, 1, kind)                                                                           \
    ANYWARP_CHANNELS(name##1, bits, 1, kind)                                                                          \
    ANYWARP_CHANNELS(name##2, bits, 2, kind)                                                                          \
    ANYWARP_CHANNELS(name##4, bits, 4, kind)
ANYWARP_CHANNELS_OF(signed char, char, 8, cudaChannelFormatKindSigned)
ANYWARP_CHANNELS_OF(unsigned char, uchar, 8, cudaChannelFormatKindUnsigned)
ANYWARP_CHANNELS_OF(short, short, 16, cudaChannelFormatKindSigned)
ANYWARP_CHANNELS_OF(unsigned short, ushort, 16, cudaChannelFormatKindUnsigned)
ANYWARP_CHANNELS_OF(int, int, 32, cudaChannelFormatKindSigned)
ANYWARP_CHANNELS_OF(unsigned, uint, 32, cudaChannelFormatKindUnsigned)
ANYWARP_CHANNELS_OF(float, float, 32, cudaChannelFormatKindFloat)
ANYWARP_CHANNELS(char, 8, 1, cudaChannelFormatKindSigned)
#undef ANYWARP_CHANNELS
#undef ANYWARP_CHANNELS_OF

#endif

#endif
