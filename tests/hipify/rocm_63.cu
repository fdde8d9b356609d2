// OPTIONS: --rocm 6.3
// An older target has the older names, and names of later releases are reported.
#include <cuda.h>
#include <cublas_v2.h>
// FINDING: needs-rocm cuLibraryUnload
// CHECK: void a() { cuLibraryUnload(library); }
void a() { cuLibraryUnload(library); }
// FINDING: needs-rocm cudaLaunchKernelExC
// CHECK: void b() { cudaLaunchKernelExC(&config, k, p); }
void b() { cudaLaunchKernelExC(&config, k, p); }
// CHECK: hiprtcLinkCreate(1, o, v, &s); hipJitOption o = HIPRTC_JIT_MAX_REGISTERS;
void d() { cuLinkCreate(1, o, v, &s); CUjit_option o = CU_JIT_MAX_REGISTERS; }
// CHECK: hipDriverProcAddressQueryResult r; hipGetProcAddress("f", &f, 603, 0, &r);
void e() { cudaDriverEntryPointQueryResult r; cudaGetDriverEntryPoint("f", &f, 0, &r); }
// CHECK: hipblasCgemm_v2(h); hipblasZaxpy_v2_64(h);
void f() { cublasCgemm(h); cublasZaxpy_64(h); }
// CHECK: HIP_MEMSET_NODE_PARAMS m;
void h() { CUDA_MEMSET_NODE_PARAMS m; }
void h(CUgraph g, CUgraphNode n, CUcontext c, CUDA_MEMSET_NODE_PARAMS *m) {
    // CHECK: hipDrvGraphAddMemsetNode(&n, g, NULL, 0, m, c);
    cuGraphAddMemsetNode(&n, g, NULL, 0, m, c);
    // HIP 6's function takes hipMemsetParams.
    // FINDING: needs-rocm cuGraphMemsetNodeSetParams
    cuGraphMemsetNodeSetParams(n, m);
}
// FINDING: needs-rocm cudaEventRecordExternal
// CHECK: int flag = cudaEventRecordExternal;
int flag = cudaEventRecordExternal;
// The header is of ROCm 7.1.
// FINDING: unsupported-header cufftw.h
// CHECK: #include <cufftw.h>
#include <cufftw.h>
// The header is of ROCm 7.0.
// FINDING: unsupported-header cuda_fp4.h
// CHECK: #include <cuda_fp4.h>
#include <cuda_fp4.h>
