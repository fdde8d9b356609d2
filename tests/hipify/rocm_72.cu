// Names that ROCm 6.4 to 7.2 brought, and names that they changed.
#include <cuda.h>
#include <cublas_v2.h>
// CHECK: hipLibrary_t library; hipKernel_t kernel; hipLibraryGetKernel(&kernel, library, "k");
void a() { CUlibrary library; CUkernel kernel; cuLibraryGetKernel(&kernel, library, "k"); }
// CHECK: hipLaunchConfig_t config; hipLaunchKernelExC(&config, k, p); hipLaunchKernelEx(&config, k, 1);
void b() { cudaLaunchConfig_t config; cudaLaunchKernelExC(&config, k, p); cudaLaunchKernelEx(&config, k, 1); }
// CHECK: HIP_LAUNCH_CONFIG config; hipDrvLaunchKernelEx(&config, f, p, 0);
void c() { CUlaunchConfig config; cuLaunchKernelEx(&config, f, p, 0); }
// CHECK: hipLinkCreate(1, o, v, &s); hipJitOption o = hipJitOptionMaxRegisters;
void d() { cuLinkCreate(1, o, v, &s); CUjit_option o = CU_JIT_MAX_REGISTERS; }
// CHECK: hipDriverEntryPointQueryResult r; hipGetDriverEntryPoint("f", &f, 0, &r);
void e() { cudaDriverEntryPointQueryResult r; cudaGetDriverEntryPoint("f", &f, 0, &r); }
// CHECK: hipblasCgemm(h); hipblasZaxpy_64(h); puts(hipblasStatusToString(s)); t = HIP_R_8F_E4M3;
void f() { cublasCgemm(h); cublasZaxpy_64(h); puts(cublasGetStatusString(s)); t = CUDA_R_8F_E4M3; }
// CUDA 13 has CUDA 12's function of five arguments under the plain name.
// CHECK: hipMemPrefetchAsync(p, 4, 0, s); hipMemPrefetchAsync_v2(p, 4, l, 0, s);
void g() { cudaMemPrefetchAsync(p, 4, 0, s); cudaMemPrefetchAsync(p, 4, l, 0, s); }
// CHECK: hipMemsetParams m; n = hipDeviceAttributeMaxBlocksPerMultiProcessor;
void h() { CUDA_MEMSET_NODE_PARAMS m; n = cudaDevAttrMaxBlocksPerMultiprocessor; }
void h(CUgraph g, CUgraphNode n, CUcontext c, CUDA_MEMSET_NODE_PARAMS *m) {
    // CHECK: hipDrvGraphAddMemsetNode(&n, g, NULL, 0, m, c);
    cuGraphAddMemsetNode(&n, g, NULL, 0, m, c);
    // CHECK: hipGraphMemsetNodeSetParams(n, m);
    cuGraphMemsetNodeSetParams(n, m);
}
