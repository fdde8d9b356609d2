/*
 * Anywarp's declaration of HIP: AMD's extensions for launches.
 *
 * Written for this project. Names, values and layouts are those of the interface, so a program compiled with
 * this file calls the library in the same way as one compiled with any other header of the same version.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_HIP_HIP_EXT_H
#define ANYWARP_HIP_HIP_EXT_H

#include <hip/hip_runtime.h>

#ifdef __cplusplus
#define ANYWARP_HIP_DEFAULT(value) = value
extern "C" {
#else
#define ANYWARP_HIP_DEFAULT(value)
#endif

/* Sizes are in work items, not in blocks. The events, which may be null, are recorded before and after. */
hipError_t hipExtModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY,
    uint32_t globalWorkSizeZ, uint32_t localWorkSizeX, uint32_t localWorkSizeY, uint32_t localWorkSizeZ,
    size_t sharedMemBytes, hipStream_t hStream, void **kernelParams, void **extra,
    hipEvent_t startEvent ANYWARP_HIP_DEFAULT(NULL), hipEvent_t stopEvent ANYWARP_HIP_DEFAULT(NULL),
    uint32_t flags ANYWARP_HIP_DEFAULT(0));
hipError_t hipHccModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY,
    uint32_t globalWorkSizeZ, uint32_t localWorkSizeX, uint32_t localWorkSizeY, uint32_t localWorkSizeZ,
    size_t sharedMemBytes, hipStream_t hStream, void **kernelParams, void **extra,
    hipEvent_t startEvent ANYWARP_HIP_DEFAULT(NULL), hipEvent_t stopEvent ANYWARP_HIP_DEFAULT(NULL));
#undef ANYWARP_HIP_DEFAULT

#ifdef __cplusplus
}

#if __cplusplus >= 201103L
/* Sizes are in blocks and threads. The kernel's arguments follow the flags. */
template <class... Parameters, class... Arguments>
void hipExtLaunchKernelGGL(void (*kernel)(Parameters...), const dim3 &grid, const dim3 &block,
                           uint32_t shared, hipStream_t stream, hipEvent_t start, hipEvent_t stop,
                           uint32_t flags, Arguments... arguments) {
    static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                  "a kernel takes as many arguments as it has parameters");
    anywarpParameters<typename anywarpPlain<Parameters>::type...> parameters(arguments...);
    void *addresses[sizeof...(Parameters) + 1] = {};
    parameters.store(addresses);
    (void)hipExtLaunchKernel(reinterpret_cast<const void *>(kernel), grid, block, addresses, shared, stream,
                             start, stop, (int)flags);
}
#endif
#endif

#endif
