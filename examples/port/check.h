/* Shared by the samples: a check around every call, and the primary context of the first device. */
#ifndef PORT_CHECK_H
#define PORT_CHECK_H

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

/* Exits if a call fails. */
#define CHECK(call)                                                                    \
    do {                                                                               \
        CUresult result_ = (call);                                                     \
        if (result_ != CUDA_SUCCESS) {                                                 \
            fprintf(stderr, "%s:%d: %s: error %d\n", __FILE__, __LINE__, #call, (int)result_); \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

static CUcontext start(void) {
    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    return context;
}

#endif
