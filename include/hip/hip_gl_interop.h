/*
 * Anywarp's declaration of HIP, version 6.3: OpenGL. Every function returns hipErrorNotSupported.
 *
 * Written for this project. Names, values and layouts are those of the interface, so a program compiled with
 * this file calls the library in the same way as one compiled with any other header of the same version.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_HIP_HIP_GL_INTEROP_H
#define ANYWARP_HIP_HIP_GL_INTEROP_H

#include <hip/hip_runtime_api.h>

/* OpenGL's header has the same types. */
typedef unsigned int GLuint;
typedef unsigned int GLenum;

typedef enum hipGLDeviceList {
    hipGLDeviceListAll = 1,
    hipGLDeviceListCurrentFrame = 2,
    hipGLDeviceListNextFrame = 3,
} hipGLDeviceList;

#ifdef __cplusplus
extern "C" {
#endif

hipError_t hipGLGetDevices(unsigned int *pHipDeviceCount, int *pHipDevices, unsigned int hipDeviceCount,
    hipGLDeviceList deviceList);
hipError_t hipGraphicsGLRegisterBuffer(hipGraphicsResource **resource, GLuint buffer, unsigned int flags);
hipError_t hipGraphicsGLRegisterImage(hipGraphicsResource **resource, GLuint image, GLenum target,
    unsigned int flags);

#ifdef __cplusplus
}
#endif

#endif
