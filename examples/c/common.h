/* Shared by the examples: error checks, and a context created in a way that works with every header
 * version. */
#ifndef ANYWARP_EXAMPLES_COMMON_H
#define ANYWARP_EXAMPLES_COMMON_H

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Exits with the driver's error text if a call fails. */
#define CHECK(call) check((call), #call, __FILE__, __LINE__)

static inline void check(CUresult result, const char *call, const char *file, int line) {
    if (result == CUDA_SUCCESS) return;
    const char *name = "?", *text = "?";
    cuGetErrorName(result, &name);
    cuGetErrorString(result, &text);
    fprintf(stderr, "%s:%d: %s: %s (%s)\n", file, line, call, name, text);
    exit(1);
}

/* In CUDA 13, cuCtxCreate takes an additional parameter. */
static inline CUcontext create_context(CUdevice device) {
    CUcontext context;
#if CUDA_VERSION >= 13000
    CHECK(cuCtxCreate(&context, NULL, 0, device));
#else
    CHECK(cuCtxCreate(&context, 0, device));
#endif
    return context;
}

/* Seconds on a monotonic clock. */
static inline double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
