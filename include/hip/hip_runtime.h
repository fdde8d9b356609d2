/*
 * Anywarp's declaration of HIP, version 6.3: the header for host programs.
 *
 * This file is for host code that loads its kernels as modules. Kernels written in HIP C++ need a compiler for
 * them, with that compiler's header.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_HIP_HIP_RUNTIME_H
#define ANYWARP_HIP_HIP_RUNTIME_H

#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#define HIP_SYMBOL(symbol) symbol
#define HIP_KERNEL_NAME(...) __VA_ARGS__

#ifdef __cplusplus

template <class T> hipError_t hipMalloc(T **pointer, size_t size) {
    return hipMalloc(reinterpret_cast<void **>(pointer), size);
}

template <class T> hipError_t hipMallocManaged(T **pointer, size_t size, unsigned flags = hipMemAttachGlobal) {
    return hipMallocManaged(reinterpret_cast<void **>(pointer), size, flags);
}

template <class T> hipError_t hipHostMalloc(T **pointer, size_t size, unsigned flags = hipHostMallocDefault) {
    return hipHostMalloc(reinterpret_cast<void **>(pointer), size, flags);
}

template <class T> hipError_t hipMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height) {
    return hipMallocPitch(reinterpret_cast<void **>(pointer), pitch, width, height);
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

#endif

#endif
