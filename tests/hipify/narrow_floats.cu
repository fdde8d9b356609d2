// bfloat16 and the floats of 8, 6 and 4 bits.
// CHECK: #include <hip/hip_bf16.h>
#include <cuda_bf16.h>
// CHECK: #include <hip/hip_fp8.h>
#include <cuda_fp8.h>
// CHECK: #include <hip/hip_fp6.h>
#include <cuda_fp6.h>
// CHECK: #include <hip/hip_fp4.h>
#include <cuda_fp4.h>
// CHECK: __hip_bfloat16 a(__hip_bfloat162 x) { return __low2bfloat16(x); }
__nv_bfloat16 a(nv_bfloat162 x) { return __low2bfloat16(x); }
// HIP's conversion rounds to the nearest even number, as the one of CUDA with the suffix does.
// CHECK: __device__ __hip_bfloat16 b(float x) { return __float2bfloat16(x); }
__device__ __nv_bfloat16 b(float x) { return __float2bfloat16_rn(x); }
// CHECK: auto c(float x) { return __bfloat162bfloat162(__float2bfloat16(x)); }
auto c(float x) { return __float2bfloat162_rn(x); }
// CHECK: auto d(float x, float y) { return __float22bfloat162_rn(make_float2(x, y)); }
auto d(float x, float y) { return __floats2bfloat162_rn(x, y); }
// CHECK: __hip_fp8_storage_t e(float x) { return __hip_cvt_float_to_fp8(x, __HIP_SATFINITE, __HIP_E4M3); }
__nv_fp8_storage_t e(float x) { return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3); }
// CHECK: __hip_fp8x4_e5m2 f; __hip_fp6_e3m2 g; __hip_fp4x2_e2m1 h;
__nv_fp8x4_e5m2 f; __nv_fp6_e3m2 g; __nv_fp4x2_e2m1 h;
// CHECK: __device__ float i() { return __bfloat162float(HIPRT_INF_BF16); }
__device__ float i() { return __bfloat162float(CUDART_INF_BF16); }
// FINDING: unsupported __nv_fp8_e8m0
// CHECK: __nv_fp8_e8m0 j;
__nv_fp8_e8m0 j;
