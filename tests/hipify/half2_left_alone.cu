// OPTIONS: --no-undocumented-features
// CHECK: #include <hip/hip_runtime.h>
#include "cuda_fp16.h"
// CHECK: __device__ float f(half2 a) { return (float)a.x; }
__device__ float f(half2 a) { return (float)a.x; }
