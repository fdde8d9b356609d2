// All blocks are translated by default.
// CHECK: #include <hip/hip_runtime.h>
#include <cuda_runtime.h>
#if 0
// CHECK: void f(void *p) { hipFree(p); }
void f(void *p) { cudaFree(p); }
#endif
