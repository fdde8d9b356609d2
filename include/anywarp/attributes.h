/*
 * Anywarp's headers for GPU languages: the words that CUDA and HIP add to C++.
 *
 * In C, and in C++ for the host alone, the words mean nothing.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_ATTRIBUTES_H
#define ANYWARP_ATTRIBUTES_H

/* Whether clang reads a GPU language. */
#if defined(__clang__) && (defined(__CUDA__) || defined(__HIP__))
#define ANYWARP_GPU_LANGUAGE 1
#endif

/* Whether this pass makes the device's code: the host's pass has the macros of the device's target as well. */
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define ANYWARP_DEVICE_PASS 1
#endif

#ifdef ANYWARP_GPU_LANGUAGE
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#ifdef __AMDGCN__
/* clang ignores launch_bounds in code for AMD. */
#define __anywarp_first(first, ...) first
#define __launch_bounds__(...) __attribute__((amdgpu_flat_work_group_size(1, __anywarp_first(__VA_ARGS__, 0))))
#else
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#endif
#define __forceinline__ __inline__ __attribute__((always_inline))
/* clang has such variables in HIP's code for AMD alone. Elsewhere the word is an error that says what to write. */
#if defined(__HIP__) && !defined(__CUDA__)
#define __managed__ __attribute__((managed))
#elif defined(__HIP__)
#define __managed__ \
    _Pragma("GCC error \"PTX has no __managed__ variables: declare a pointer, set it with hipMallocManaged, and pass it to the kernel (or compile for AMD alone, --arch gfx906)\"")
#else
#define __managed__ \
    _Pragma("GCC error \"anywarp cc has no __managed__ variables: declare a pointer, set it with cudaMallocManaged, and pass it to the kernel\"")
#endif
#define ANYWARP_BOTH __host__ __device__
#define ANYWARP_DEVICE static __inline__ __attribute__((device, always_inline, unused))
/* For functions that are too long to be copied to each caller. */
#define ANYWARP_LONG static __inline__ __attribute__((device, unused))
#else
#define ANYWARP_BOTH
#define __global__
#define __device__
#define __host__
#define __shared__
#define __constant__
#endif

#define __align__(size) __attribute__((aligned(size)))
#if !__has_attribute(grid_constant)
#define __grid_constant__
#endif

#endif
