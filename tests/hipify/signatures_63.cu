// OPTIONS: --rocm 6.3
// A location has no counterpart before ROCm 7.1: the call stays, and is not taken for one with a device.
// CHECK: #include <hip/hip_runtime.h>
#include <cuda_runtime.h>
// CHECK: void move(void *p, hipMemLocation place)
void move(void *p, cudaMemLocation place) {
    // FINDING: needs-rocm cudaMemPrefetchAsync
    // CHECK: cudaMemPrefetchAsync(p, 4, place, 0, 0);
    cudaMemPrefetchAsync(p, 4, place, 0, 0);
    // CHECK: hipMemPrefetchAsync(p, 4, 0, 0);
    cudaMemPrefetchAsync(p, 4, 0, 0);
    // CHECK: hipGetProcAddress("cuInit", &f, 603, 0, NULL);
    cudaGetDriverEntryPoint("cuInit", &f, 0);
}
