// Functions of packed integers, which HIP lacks: those that the file uses are defined after the last include
// that every use has above it.
// CHECK: #include <hip/hip_runtime.h>
#include <cuda_runtime.h>
// CHECK-NOT: __HIP_PLATFORM_AMD__
#ifdef WITH_MPI
#include <mpi.h> // a comment
#endif /* of
          several lines */
// CHECK: #if defined(__HIP_PLATFORM_AMD__) && !defined(ANYWARP_GPU_LANGUAGE)
// CHECK-NEXT: #ifndef __vadd4
// CHECK-NEXT: #define __vadd4 __vadd4
// CHECK-NEXT: static inline __device__ unsigned int __vadd4(unsigned int a, unsigned int b) {
// CHECK-NEXT: unsigned int r = 0;
// CHECK-NEXT: for (int i = 0; i < 32; i += 8) {
// CHECK-NEXT: int x = (unsigned char)(a >> i), y = (unsigned char)(b >> i);
// CHECK-NEXT: x = x + y;
// CHECK-NEXT: r |= (x & 0xffu) << i;
// CHECK-NEXT: }
// CHECK-NEXT: return r;
// CHECK-NEXT: }
// CHECK-NEXT: #endif
// CHECK-NEXT: #ifndef __viaddmax_s32_relu
// CHECK-NEXT: #define __viaddmax_s32_relu __viaddmax_s32_relu
// CHECK-NEXT: static inline __device__ int __viaddmax_s32_relu(int a, int b, int c) {
// CHECK-NEXT: int x = a, y = b, z = c;
// CHECK-NEXT: x = (int)((unsigned int)x + y);
// CHECK-NEXT: x = x < z ? z : x;
// CHECK-NEXT: x = x < 0 ? 0 : x;
// CHECK-NEXT: return x;
// CHECK-NEXT: }
// CHECK-NEXT: #endif
// CHECK-NEXT: #ifndef __vibmin_u16x2
// CHECK-NEXT: #define __vibmin_u16x2 __vibmin_u16x2
// CHECK-NEXT: static inline __device__ unsigned int __vibmin_u16x2(unsigned int a, unsigned int b, bool *pred_hi, bool *pred_lo) {
// CHECK: int x = (unsigned short)(a >> i), y = (unsigned short)(b >> i);
// CHECK-NEXT: *(i ? pred_hi : pred_lo) = x <= y;
// CHECK-NEXT: x = x > y ? y : x;
// CHECK: #ifndef __vsads2
// CHECK: int x = (short)(a >> i), y = (short)(b >> i);
// CHECK-NEXT: x = x < y ? y - x : x - y;
// CHECK-NEXT: r += x;
// CHECK: #ifndef __vsubss4
// CHECK: int x = (signed char)(a >> i), y = (signed char)(b >> i);
// CHECK-NEXT: x = x - y;
// CHECK-NEXT: x = x < -128 ? -128 : x > 127 ? 127 : x;
// CHECK: #endif
// CHECK-NEXT: #endif
// CHECK-NEXT: #define TWICE(x) __vadd4(x, x)
// FINDING: supplied __vadd4
#define TWICE(x) __vadd4(x, x)
// CHECK-NOT: __HIP_PLATFORM_AMD__
__device__ unsigned a(unsigned x, bool *p) {
    // CHECK: return __vadd4(x, 1) + __vsads2(x, 2) + __viaddmax_s32_relu(x, 3, 4) + __vibmin_u16x2(x, 5, p, p);
    return __vadd4(x, 1) + __vsads2(x, 2) + __viaddmax_s32_relu(x, 3, 4) + __vibmin_u16x2(x, 5, p, p);
}
// Host code has no such functions, a program's own are left alone, and so are functions that CUDA lacks.
// CHECK: int b(S s) { return __vmaxs4(s.x, 0); }
int b(S s) { return __vmaxs4(s.x, 0); }
static __device__ unsigned __vneg4(unsigned x) { return 0; }
// CHECK: __device__ unsigned c(S s) { return __vneg4(s.x) + s.__vneg2(1) + __vneg8(1) + __vimax_u32_relu(1, 2); }
__device__ unsigned c(S s) { return __vneg4(s.x) + s.__vneg2(1) + __vneg8(1) + __vimax_u32_relu(1, 2); }
// An include between the uses is no place, and one in a body neither.
#include "more.h"
__device__ unsigned d(unsigned x) {
#include "body.h"
    return __vsubss4(x, x);
}
