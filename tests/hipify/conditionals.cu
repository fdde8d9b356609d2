// OPTIONS: --skip-excluded-preprocessor-conditional-blocks -DGIVEN
// Blocks that the preprocessor excludes are left unchanged; those that depend on headers count as included.
// CHECK: #include <hip/hip_runtime.h>
#include <cuda_runtime.h>
#define ON 1
#define LEVEL (3)
#define ALSO ON
void f(void *p) {
#ifdef ABSENT
    // CHECK: cudaFree(1 + p);
    cudaFree(1 + p);
#else
    // CHECK: hipFree(2 + p);
    cudaFree(2 + p);
#endif
#if defined(GIVEN) && LEVEL >= 3 && ALSO
    // CHECK: hipFree(3 + p);
    cudaFree(3 + p);
#elif LEVEL == 3
    // CHECK: cudaFree(4 + p);
    cudaFree(4 + p);
#else
    // CHECK: cudaFree(5 + p);
    cudaFree(5 + p);
#endif
// FINDING: unsupported CUDART_VERSION
#if CUDART_VERSION >= 11000
    // CHECK: hipFree(6 + p);
    cudaFree(6 + p);
#else
    // CHECK: hipFree(7 + p);
    cudaFree(7 + p);
#endif
#if 0
#if 1
    // CHECK: cudaFree(8 + p);
    cudaFree(8 + p);
#endif
#endif
#undef ON
#if ALSO || (LEVEL * 2 + 1 == 7 ? 0 : 1)
    // CHECK: cudaFree(9 + p);
    cudaFree(9 + p);
#endif
#ifndef __CUDA_ARCH__
    // CHECK: hipFree(10 + p);
    cudaFree(10 + p);
#endif
}
