// Names without a counterpart stay and are reported: unsupported, experimental, removed, device functions.
// CHECK: #include <hip/hip_runtime.h>
#include <cuda_runtime.h>
// CHECK: cudaGraphicsD3D11RegisterResource(&r, d, 0);
// FINDING: unsupported cudaGraphicsD3D11RegisterResource
void a() { cudaGraphicsD3D11RegisterResource(&r, d, 0); }
// CHECK: hipDeviceSynchronize();
// FINDING: deprecated-in-cuda cudaThreadSynchronize
void b() { cudaThreadSynchronize(); }
// CHECK: p = __nv_fp8_e8m0();
// FINDING: unsupported __nv_fp8_e8m0
void c() { p = __nv_fp8_e8m0(); }
// `texture` is CUDA's with its arguments only.
// FINDING: removed-in-cuda texture
// CHECK: texture<float> t; void draw(int texture);
texture<float> t; void draw(int texture);
// A device function that HIP lacks is reported where device code calls it, but not where the name is another's.
// FINDING: unsupported __ldcv
// CHECK: __device__ int d(int *x) { return __ldcv(x) + o.__ldcv(x); }
__device__ int d(int *x) { return __ldcv(x) + o.__ldcv(x); }
// CHECK: int e(int x) { return umin(x, o.__ldcv(x)); }
int e(int x) { return umin(x, o.__ldcv(x)); }
// FINDING: unsupported __ldcv
// CHECK: OWN_DEVICE int f(int *x) { return __ldcv(x); }
OWN_DEVICE int f(int *x) { return __ldcv(x); }
// The v1 interface of cuBLAS has no counterpart unless the header gives the names to v2.
#include <cublas.h>
// FINDING: v2-only cublasCaxpy
// CHECK: void g() { cublasCaxpy(); hipblasSetVector(); }
void g() { cublasCaxpy(); cublasSetVector(); }
// Names and headers that look like CUDA's but are in no table.
// FINDING: unsupported-header nvtx3/nvToolsExt.h
#include <nvtx3/nvToolsExt.h>
#define cudaCheckMine(x) x
int cudaOwn(int x) { return x; }
int cudaDeclared(int x);
// FINDING: unknown nvtxRangePop
// FINDING: unknown cudaNewerThanTheTables
// FINDING: unknown CUDNN_NEWER
void h() { nvtxRangePop(); cudaCheckMine(cudaOwn(cudaNewerThanTheTables(CUDNN_NEWER))); o.cudaMember(); }
