// Loads and stores with hints that HIP lacks become plain ones.
// CHECK: #include <hip/hip_runtime.h>
#include <cuda_runtime.h>
// CHECK-NEXT: #if defined(__HIP_PLATFORM_AMD__) && !defined(ANYWARP_GPU_LANGUAGE)
// CHECK-NEXT: #ifndef __ldlu
// CHECK-NEXT: #define __ldlu __ldlu
// CHECK-NEXT: template <class T> static inline __device__ T __ldlu(const T *p) { return *p; }
// CHECK-NEXT: #endif
// CHECK-NEXT: #ifndef __stcs
// CHECK-NEXT: #define __stcs __stcs
// CHECK-NEXT: template <class T, class V> static inline __device__ void __stcs(T *p, V v) { *p = v; }
// CHECK-NEXT: #endif
// CHECK-NEXT: #endif
// CHECK: __device__ void a(float4 *p, int *q) { __stcs(p, __ldlu(p + 1)); __stcs(q, 1); }
// FINDING: supplied __stcs
__device__ void a(float4 *p, int *q) { __stcs(p, __ldlu(p + 1)); __stcs(q, 1); }
