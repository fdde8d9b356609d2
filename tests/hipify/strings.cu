// OPTIONS: --rewrite-strings
// CHECK: #include <hip/hip_runtime.h>
#include <cuda_runtime.h>
// CHECK: const char *text = "hipMalloc failed in hipDeviceSynchronize (cudaFree)";
const char *text = "cudaMalloc failed in cudaDeviceSynchronize (cudaFree)";
