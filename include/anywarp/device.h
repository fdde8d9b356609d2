/*
 * Anywarp's headers for GPU languages: everything that device code has without including more.
 *
 * The functions of C come before the standard headers: those then take over the device's overloads into
 * namespace std.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_DEVICE_H
#define ANYWARP_DEVICE_H

/* Without this, clang would make functions of std that are constexpr functions of the device as well. */
#pragma clang system_header

#include <anywarp/target.h>

#include <anywarp/hostcall.h>

extern "C" {
__device__ int printf(const char *format, ...);
#if !defined(__AMDGCN__) || !defined(__HIP_DEVICE_COMPILE__)
__device__ void *malloc(size_t size);
__device__ void free(void *at);
#endif
#if defined(__HIP__)
__device__ static inline __attribute__((unused)) void abort() { __builtin_trap(); }
#endif
#if defined(__NVPTX__)
__device__ void __assertfail(const char *what, const char *file, unsigned line, const char *function, size_t size);
__device__ static inline void __assert_fail(const char *what, const char *file, unsigned line, const char *function) {
    __assertfail(what, file, line, function, 1);
}
#elif !defined(__AMDGCN__) || !defined(__HIP_DEVICE_COMPILE__)
__device__ void __assert_fail(const char *what, const char *file, unsigned line, const char *function);
#endif
}

ANYWARP_DEVICE void *memcpy(void *to, const void *from, size_t size) { return __builtin_memcpy(to, from, size); }
ANYWARP_DEVICE void *memmove(void *to, const void *from, size_t size) { return __builtin_memmove(to, from, size); }
ANYWARP_DEVICE void *memset(void *at, int value, size_t size) { return __builtin_memset(at, value, size); }

#include <anywarp/math_names.h>
ANYWARP_DEVICE long clock() { return (long)anywarp::clock(); }

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <new>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __cplusplus
#include <cmath>
#include <cstdlib>
#endif

// Where clang finds a ROCm, its own <new> declares these for AMD's targets too.
#if defined(__AMDGCN__) && defined(__HIP_DEVICE_COMPILE__) && !defined(__CLANG_CUDA_WRAPPERS_NEW)
inline __device__ void *operator new(size_t size) { return malloc(size); }
inline __device__ void *operator new[](size_t size) { return malloc(size); }
inline __device__ void operator delete(void *at) noexcept { free(at); }
inline __device__ void operator delete[](void *at) noexcept { free(at); }
inline __device__ void operator delete(void *at, size_t) noexcept { free(at); }
inline __device__ void operator delete[](void *at, size_t) noexcept { free(at); }
#endif

#include <anywarp/atomics.h>
#include <anywarp/intrinsics.h>
#include <anywarp/packed.h>
#include <anywarp/surface.h>
#include <anywarp/texture.h>
#include <anywarp/warp.h>

#endif
