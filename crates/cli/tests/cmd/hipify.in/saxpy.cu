// y = a * x + y
#include <cuda_runtime.h>
#include <cstdio>

__constant__ float a;

template <typename T> __global__ void saxpy(int n, const T *x, T *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}

int run(int n, float scale, const float *x, float *y, cudaStream_t stream) {
    cudaMemcpyToSymbol(a, &scale, sizeof scale);
    saxpy<float><<<(n + 255) / 256, 256, 0, stream>>>(n, x, y);
    cudaError_t error = cudaStreamSynchronize(stream);
    if (error != cudaSuccess) std::printf("cudaStreamSynchronize: %s\n", cudaGetErrorString(error));
    cudaCtxResetPersistingL2Cache();
    return error;
}
