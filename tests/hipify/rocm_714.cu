// Names that HIP's runtime got after ROCm 7.2.
// OPTIONS: --rocm 7.14
#include <cuda.h>
// CHECK: hipKernelGetFunction(&f, k); hipKernelGetParamInfo(k, 0, &o, &s);
void a() { cuKernelGetFunction(&f, k); cuKernelGetParamInfo(k, 0, &o, &s); }
// CHECK: hipKernelGetAttribute(&v, a, k, d); hipKernelSetAttribute(a, v, k, d);
void b() { cuKernelGetAttribute(&v, a, k, d); cuKernelSetAttribute(a, v, k, d); }
// CHECK: hipLibraryGetGlobal(&p, &n, l, "x"); hipLibraryGetGlobal((void **)(&q), &n, l, "x");
void c() { cuLibraryGetGlobal(&p, &n, l, "x"); cudaLibraryGetGlobal(&q, &n, l, "x"); }
// CHECK: hipLibraryGetManaged(&p, &n, l, "x"); hipLibraryGetManaged((void **)(&q), &n, l, "x");
void d() { cuLibraryGetManaged(&p, &n, l, "x"); cudaLibraryGetManaged(&q, &n, l, "x"); }
// CHECK: hipMemPrefetchBatchAsync(p, n, 1, l, i, 1, 0, s); hipMemPrefetchBatchAsync((void **)(p), n, 1, l, i, 1, 0, s);
void e() { cuMemPrefetchBatchAsync(p, n, 1, l, i, 1, 0, s); cudaMemPrefetchBatchAsync(p, n, 1, l, i, 1, 0, s); }
// CHECK: cudaMemPrefetchBatchAsync(p, n, 1, location, 0, s);
// FINDING: unsupported cudaMemPrefetchBatchAsync
void f() { cudaMemPrefetchBatchAsync(p, n, 1, location, 0, s); }
// CHECK: hipDrvMemDiscardBatchAsync(p, n, 1, 0, s); hipMemDiscardBatchAsync(p, n, 1, 0, s);
void g() { cuMemDiscardBatchAsync(p, n, 1, 0, s); cudaMemDiscardBatchAsync(p, n, 1, 0, s); }
// CHECK: hipDrvMemDiscardAndPrefetchBatchAsync(p, n, 1, l, i, 1, 0, s);
void h() { cuMemDiscardAndPrefetchBatchAsync(p, n, 1, l, i, 1, 0, s); }
// CHECK: hipMemDiscardAndPrefetchBatchAsync((void **)(p), n, 1, l, i, 1, 0, s);
void i() { cudaMemDiscardAndPrefetchBatchAsync(p, n, 1, l, i, 1, 0, s); }
// CHECK: hipMemSetMemPool(&l, hipMemAllocationTypeManaged, p); hipMemGetMemPool(&p, &l, t);
void j() { cudaMemSetMemPool(&l, cudaMemAllocationTypeManaged, p); cuMemGetMemPool(&p, &l, t); }
// CHECK: hipArrayMemoryRequirements r; hipMipmappedArrayGetMemoryRequirements(&r, m, 0);
void k() { CUDA_ARRAY_MEMORY_REQUIREMENTS r; cuMipmappedArrayGetMemoryRequirements(&r, m, 0); }
// CHECK: hipOccupancyMaxActiveClusters(&n, reinterpret_cast<const void*>(kernel), &config);
void l() { cudaOccupancyMaxActiveClusters(&n, kernel, &config); }
// CHECK: attribute.id = hipLaunchAttributeClusterDimension; return hipErrorInvalidClusterSize;
int m() { attribute.id = cudaLaunchAttributeClusterDimension; return cudaErrorInvalidClusterSize; }
// CHECK: hipExecutionCtx_t c; hipGreenCtxCreate(&c, d, 0, 0); hipExecutionCtxStreamCreate(&s, c, 0, 0);
void n() { cudaExecutionContext_t c; cudaGreenCtxCreate(&c, d, 0, 0); cudaExecutionCtxStreamCreate(&s, c, 0, 0); }
// Functions for handles that HIP has for the program's own kernels only.
// FINDING: unsupported cuOccupancyMaxActiveClusters
// CHECK: cuOccupancyMaxActiveClusters(&n, f, &config);
void o() { cuOccupancyMaxActiveClusters(&n, f, &config); }
#include <cooperative_groups.h>
// ROCm 7.13 has `reduce`.
// CHECK: return cg::reduce(tile, x, cg::plus<int>());
__device__ int p() { return cg::reduce(tile, x, cg::plus<int>()); }
