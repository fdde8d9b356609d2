// Without an include that every use has above it, the definitions are at the top, after HIP's header.
// CHECK: #ifndef PACKED_H
#ifndef PACKED_H
// CHECK-NEXT: #include <hip/hip_runtime.h>
// CHECK-NEXT: #if defined(__HIP_PLATFORM_AMD__) && !defined(ANYWARP_GPU_LANGUAGE)
// CHECK: #ifndef __vabs2
// CHECK: #define PACKED_H
#define PACKED_H
#ifdef A
// CHECK: #include <hip/hip_runtime.h>
#include <cuda.h>
// FINDING: supplied __vabs2
__device__ unsigned a(unsigned x) { return __vabs2(x); }
#else
__device__ unsigned a(unsigned x) { return __vabs2(x + 1); }
#endif
#endif
