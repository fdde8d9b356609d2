/*
 * Anywarp's declaration of HIP, version 6.3: the header for host programs, and for device code that clang
 * compiles with this file alone (`anywarp cc`).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_HIP_HIP_RUNTIME_H
#define ANYWARP_HIP_HIP_RUNTIME_H

#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

static inline hipExtent make_hipExtent(size_t width, size_t height, size_t depth) {
    hipExtent v = {width, height, depth};
    return v;
}
static inline hipPos make_hipPos(size_t x, size_t y, size_t z) {
    hipPos v = {x, y, z};
    return v;
}
static inline hipPitchedPtr make_hipPitchedPtr(void *pointer, size_t pitch, size_t width, size_t height) {
    hipPitchedPtr v = {pointer, pitch, width, height};
    return v;
}

#ifdef ANYWARP_GPU_LANGUAGE
#ifdef __CUDA__
/* clang makes PTX of this source as if it were CUDA, where <<<>>> calls this function. */
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, hipStream_t stream = 0);
#endif
#include <anywarp/device.h>
#include <anywarp/hip_functions.h>
/* Programs use it without including it. */
#if __cplusplus >= 201103L
#include <array>
#endif
#endif

#define HIP_SYMBOL(symbol) symbol
#define HIP_SUCCESS hipSuccess
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#ifdef ANYWARP_GPU_LANGUAGE
/* The parentheses let a template's arguments contain commas, and be deduced. */
#define hipLaunchKernelGGL(kernel, ...) anywarpLaunchKernel((kernel), __VA_ARGS__)
#define anywarpLaunchKernel(kernel, grid, block, shared, stream, ...) \
    do { \
        kernel<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__); \
    } while (0)
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE
#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z
#else
/* Launches a kernel by its host stub; the arguments are converted to the types of its parameters. */
#define hipLaunchKernelGGL(kernel, ...) anywarpLaunchKernelGGL((kernel), __VA_ARGS__)
#endif

#ifdef __cplusplus

template <class T> hipError_t hipMalloc(T **pointer, size_t size) {
    return hipMalloc((void **)(pointer), size);
}

template <class T> hipError_t hipMallocManaged(T **pointer, size_t size, unsigned flags = hipMemAttachGlobal) {
    return hipMallocManaged((void **)(pointer), size, flags);
}

template <class T> hipError_t hipHostMalloc(T **pointer, size_t size, unsigned flags = hipHostMallocDefault) {
    return hipHostMalloc((void **)(pointer), size, flags);
}

template <class T> hipError_t hipMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height) {
    return hipMallocPitch((void **)(pointer), pitch, width, height);
}

template <class T> hipError_t hipGetSymbolAddress(void **pointer, const T &symbol) {
    return hipGetSymbolAddress(pointer, reinterpret_cast<const void *>(&symbol));
}

template <class T> hipError_t hipGetSymbolSize(size_t *size, const T &symbol) {
    return hipGetSymbolSize(size, reinterpret_cast<const void *>(&symbol));
}

template <class T>
hipError_t hipMemcpyToSymbol(const T &symbol, const void *from, size_t size, size_t offset = 0,
                             hipMemcpyKind kind = hipMemcpyHostToDevice) {
    return hipMemcpyToSymbol(reinterpret_cast<const void *>(&symbol), from, size, offset, kind);
}

template <class T>
hipError_t hipMemcpyFromSymbol(void *to, const T &symbol, size_t size, size_t offset = 0,
                               hipMemcpyKind kind = hipMemcpyDeviceToHost) {
    return hipMemcpyFromSymbol(to, reinterpret_cast<const void *>(&symbol), size, offset, kind);
}

template <class T>
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T kernel, int block, size_t shared) {
    return hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, reinterpret_cast<const void *>(kernel), block, shared);
}

template <class T>
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T kernel, int block, size_t shared,
                                                                 unsigned flags) {
    return hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, reinterpret_cast<const void *>(kernel), block,
                                                                 shared, flags);
}
template <class T>
hipError_t hipOccupancyMaxPotentialBlockSize(int *grid, int *block, T kernel, size_t shared = 0, int limit = 0) {
    return hipOccupancyMaxPotentialBlockSize(grid, block, reinterpret_cast<const void *>(kernel), shared, limit);
}
template <class T>
hipError_t hipOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, T kernel, size_t shared = 0, int limit = 0,
                                                      unsigned = 0) {
    return hipOccupancyMaxPotentialBlockSize(grid, block, reinterpret_cast<const void *>(kernel), shared, limit);
}

template <class T> hipError_t hipHostAlloc(T **pointer, size_t size, unsigned flags = hipHostMallocDefault) {
    return hipHostMalloc((void **)(pointer), size, flags);
}
template <class T> hipError_t hipMallocHost(T **pointer, size_t size) {
    return hipHostMalloc((void **)(pointer), size, hipHostMallocDefault);
}
template <class T> hipError_t hipHostGetDevicePointer(T **device, void *host, unsigned flags) {
    return hipHostGetDevicePointer((void **)(device), host, flags);
}
template <class T> hipError_t hipMallocAsync(T **pointer, size_t size, hipStream_t stream) {
    return hipMallocAsync((void **)(pointer), size, stream);
}
template <class T> hipError_t hipMallocAsync(T **pointer, size_t size, hipMemPool_t pool, hipStream_t stream) {
    return hipMallocFromPoolAsync((void **)(pointer), size, pool, stream);
}
template <class T> hipError_t hipMallocFromPoolAsync(T **pointer, size_t size, hipMemPool_t pool, hipStream_t stream) {
    return hipMallocFromPoolAsync((void **)(pointer), size, pool, stream);
}

template <class T>
hipError_t hipMemcpyToSymbolAsync(const T &symbol, const void *from, size_t size, size_t offset, hipMemcpyKind kind,
                                  hipStream_t stream = 0) {
    return hipMemcpyToSymbolAsync(reinterpret_cast<const void *>(&symbol), from, size, offset, kind, stream);
}
template <class T>
hipError_t hipMemcpyFromSymbolAsync(void *to, const T &symbol, size_t size, size_t offset, hipMemcpyKind kind,
                                    hipStream_t stream = 0) {
    return hipMemcpyFromSymbolAsync(to, reinterpret_cast<const void *>(&symbol), size, offset, kind, stream);
}

template <class T> hipError_t hipFuncSetAttribute(T *kernel, hipFuncAttribute attribute, int value) {
    return hipFuncSetAttribute(reinterpret_cast<const void *>(kernel), attribute, value);
}
template <class T> hipError_t hipFuncGetAttributes(hipFuncAttributes *attributes, T *kernel) {
    return hipFuncGetAttributes(attributes, reinterpret_cast<const void *>(kernel));
}
template <class T> hipError_t hipFuncSetCacheConfig(T *kernel, hipFuncCache_t config) {
    return hipFuncSetCacheConfig(reinterpret_cast<const void *>(kernel), config);
}
template <class T>
hipError_t hipLaunchKernel(T *kernel, dim3 grid, dim3 block, void **arguments, size_t shared = 0, hipStream_t stream = 0) {
    return hipLaunchKernel(reinterpret_cast<const void *>(kernel), grid, block, arguments, shared, stream);
}

template <class T>
hipError_t hipLaunchCooperativeKernel(T kernel, dim3 grid, dim3 block, void **arguments, unsigned shared,
                                      hipStream_t stream) {
    return hipLaunchCooperativeKernel(reinterpret_cast<const void *>(kernel), grid, block, arguments, shared, stream);
}

#if __cplusplus >= 201103L

/* A list of the parameters, whose addresses are the launch's arguments. */
template <class... Rest> struct anywarpParameters {
    void store(void **) {}
};

template <class First, class... Rest> struct anywarpParameters<First, Rest...> {
    First first;
    anywarpParameters<Rest...> rest;

    template <class Argument, class... Others>
    explicit anywarpParameters(const Argument &argument, const Others &...others) : first(argument), rest(others...) {}

    void store(void **to) {
        *to = static_cast<void *>(&first);
        rest.store(to + 1);
    }
};

/* Type of a parameter without const, volatile and references. */
template <class T> struct anywarpPlain { typedef T type; };
template <class T> struct anywarpPlain<const T> { typedef typename anywarpPlain<T>::type type; };
template <class T> struct anywarpPlain<volatile T> { typedef typename anywarpPlain<T>::type type; };
template <class T> struct anywarpPlain<T &> { typedef typename anywarpPlain<T>::type type; };

template <class... Parameters, class... Arguments>
void anywarpLaunchKernelGGL(void (*kernel)(Parameters...), const dim3 &grid, const dim3 &block, size_t shared,
                            hipStream_t stream, Arguments... arguments) {
    static_assert(sizeof...(Parameters) == sizeof...(Arguments), "a kernel takes as many arguments as it has parameters");
    anywarpParameters<typename anywarpPlain<Parameters>::type...> parameters(arguments...);
    void *addresses[sizeof...(Parameters) + 1] = {};
    parameters.store(addresses);
    (void)hipLaunchKernel(reinterpret_cast<const void *>(kernel), grid, block, addresses, shared, stream);
}

#endif

#endif

#endif
