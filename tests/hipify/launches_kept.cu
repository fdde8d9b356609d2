// By default, launches are left unchanged: HIP's compiler accepts them.
// CHECK: #include <hip/hip_runtime.h>
#include <cuda_runtime.h>
template <typename T> __global__ void fill(T *p) { *p = T(); }
void run(float *p, cudaStream_t stream) {
    // CHECK: fill<float><<<1, 32, 0, hipStreamPerThread>>>(p);
    fill<float><<<1, 32, 0, cudaStreamPerThread>>>(p);
}
