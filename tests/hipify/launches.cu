// OPTIONS: --hip-kernel-execution-syntax
// Launches become calls: over several lines, in macros, with templates and namespaces.
// CHECK: #include <hip/hip_runtime.h>
#include <cuda_runtime.h>

__global__ void plain(int *p) { *p = 1; }
__global__ void nothing() {}
template <typename T, int N> __global__ void generic(T *p) { p[0] = N; }
template <typename T> __global__ void deduced(T *p) { *p = {}; }
namespace outer { namespace inner {
__global__ __launch_bounds__(256) void deep(int *p, int n) { *p = n; }
} }
struct Pick { void (*kernel)(int *); };

// CHECK: #define LAUNCH(kernel, n, ...) hipLaunchKernelGGL(kernel, dim3(((n) + 255) / 256), dim3(256), 0, 0, __VA_ARGS__)
#define LAUNCH(kernel, n, ...) kernel<<<((n) + 255) / 256, 256>>>(__VA_ARGS__)
// CHECK: #define BOTH \
// CHECK-NEXT: hipLaunchKernelGGL(nothing, dim3(1), dim3(1), 0, 0); \
// CHECK-NEXT: hipLaunchKernelGGL(nothing, dim3(2), dim3(2), 0, 0)
#define BOTH \
    nothing<<<1, 1>>>(); \
    nothing<<<2, 2>>>()
#define NAMED generic<float, 2>

void run(int *p, float *f, cudaStream_t stream, Pick pick, Pick *picks) {
    dim3 grid(4), block(32);
    // CHECK: hipLaunchKernelGGL(plain, dim3(grid), dim3(block), 0, 0, p);
    plain<<<grid, block>>>(p);
    // CHECK: hipLaunchKernelGGL(plain, dim3(4, 2), dim3(32), 64, 0, p);
    plain<<<dim3(4, 2), 32, 64>>>(p);
    // CHECK: hipLaunchKernelGGL(plain, dim3(grid), dim3(block), sizeof(float) * 8, stream, p);
    plain <<< grid, block, sizeof(float) * 8, stream >>> (p);
    // CHECK: hipLaunchKernelGGL(nothing, dim3(1), dim3(1), 0, 0);
    nothing<<<1, 1>>>();
    // CHECK: hipLaunchKernelGGL(HIP_KERNEL_NAME(generic<float, (1 > 0)>), dim3(grid), dim3(block), 0, 0, f);
    generic<float, (1 > 0)><<<grid, block>>>(f);
    // CHECK: hipLaunchKernelGGL(HIP_KERNEL_NAME(deduced), dim3(1), dim3(1), 0, 0, f);
    deduced<<<1, 1>>>(f);
    // CHECK: hipLaunchKernelGGL(HIP_KERNEL_NAME(NAMED), dim3(1), dim3(1), 0, 0, f);
    NAMED<<<1, 1>>>(f);
    // CHECK: hipLaunchKernelGGL(outer::inner::deep, dim3(grid.x), dim3(min(block.x, 256u)), 0, stream, p, grid.x < block.x ? 1 : 2);
    outer::inner::deep<<<grid.x, min(block.x, 256u), 0, stream>>>(p, grid.x < block.x ? 1 : 2);
    // CHECK: if (p) hipLaunchKernelGGL(::plain, dim3(1), dim3(1), 0, 0, p); else hipLaunchKernelGGL(nothing, dim3(1), dim3(1), 0, 0);
    if (p) ::plain<<<1, 1>>>(p); else nothing<<<1, 1>>>();
    // CHECK: hipLaunchKernelGGL(pick.kernel, dim3(1), dim3(1), 0, 0, p);
    pick.kernel<<<1, 1>>>(p);
    // CHECK: hipLaunchKernelGGL(picks[1].kernel, dim3(1), dim3(1), 0, 0, p);
    picks[1].kernel<<<1, 1>>>(p);
    // CHECK: hipLaunchKernelGGL((*pick.kernel), dim3(1), dim3(1), 0, 0, p);
    (*pick.kernel)<<<1, 1>>>(p);
    // CHECK: hipLaunchKernelGGL(outer::inner::deep, dim3(grid), dim3(block), 0, stream, p,
    // CHECK-NEXT: 3);
    outer::inner::deep
        <<<grid,
           block,
           0,
           stream>>>(p,
                     3);
    // Names in a launch are translated as everywhere.
    // CHECK: hipLaunchKernelGGL(plain, dim3(1), dim3(1), 0, hipStreamPerThread, (int *)hipHostMallocDefault);
    plain<<<1, 1, 0, cudaStreamPerThread>>>((int *)cudaHostAllocDefault);
    // Comments in a launch stay.
    // CHECK: hipLaunchKernelGGL(plain, dim3(grid), /* threads */ dim3(block), 0, 0, /* data */ p);
    plain<<<grid, /* threads */ block>>>(/* data */ p);
    // FINDING: launch <<<
    // CHECK: plain<<<grid>>>(p);
    plain<<<grid>>>(p);
    LAUNCH(plain, 1000, p);
    BOTH;
}
