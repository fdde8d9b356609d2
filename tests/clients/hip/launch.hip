// A kernel launched with <<<>>>: host code by clang's HIP, the kernel as PTX in the bundle that clang embeds.
#if defined(__CUDA__)
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#else
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __managed__ __attribute__((managed))
#include <hip/hip_runtime.h>
#include <cstdio>
#endif

__device__ unsigned bias = 5;

__global__ void fill(unsigned *out, unsigned factor) {
#if defined(__CUDA_ARCH__)
    unsigned i = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();
    out[i] = i * factor + bias;
#else
    (void)out, (void)factor;
#endif
}

#if !defined(__CUDA__)
int main() {
    unsigned *out, host[256], wrong = 0, b = 11;
    if (hipMalloc(&out, sizeof host) != hipSuccess) return 1;
    fill<<<dim3(4), dim3(64)>>>(out, 3);
    if (hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost) != hipSuccess) return 1;
    for (unsigned i = 0; i < 256; i++) wrong += host[i] != i * 3 + 5;
    if (hipMemcpyToSymbol(HIP_SYMBOL(bias), &b, sizeof b) != hipSuccess) return 1;
    fill<<<4, 64>>>(out, 7);
    if (hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost) != hipSuccess) return 1;
    for (unsigned i = 0; i < 256; i++) wrong += host[i] != i * 7 + 11;
    printf("%u of 512 are wrong\n", wrong);
    return wrong != 0;
}
#endif
