// All uses are in one branch: an include in it is above them all.
#ifdef OTHER
#include <other.h>
#else
// CHECK: #include <hip/hip_runtime.h>
#include <cuda_runtime.h>
// CHECK-NEXT: #if defined(__HIP_PLATFORM_AMD__) && !defined(ANYWARP_GPU_LANGUAGE)
// CHECK-NEXT: #ifndef __vabsss2
// FINDING: supplied __vabsss2
__device__ unsigned a(unsigned x) { return __vabsss2(x); }
#endif
// CHECK-NOT: __HIP_PLATFORM_AMD__
