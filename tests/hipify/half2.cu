// Members of half2 are halves in CUDA and their bits in HIP.
// CHECK: #include <hip/hip_runtime.h>
#include "cuda_fp16.h"
struct float2like { float x, y; };
__device__ float f(half2 a, const half2 &b, float2like c) {
    // CHECK: half2 d = a, e = b;
    half2 d = a, e = b;
    // FINDING: undocumented a.x
    // FINDING: undocumented b.y
    // CHECK: float s = (float)reinterpret_cast<half&>(a.x) + (float)reinterpret_cast<half&>(b.y) + c.x;
    float s = (float)a.x + (float)b.y + c.x;
    // FINDING: undocumented d.x
    // CHECK: return s + (float)reinterpret_cast<half&>(d.x) + (float)reinterpret_cast<half&>(e.y);
    return s + (float)d.x + (float)reinterpret_cast<half&>(e.y);
}
// CHECK: float g(float2like a) { return a.x; }
float g(float2like a) { return a.x; }
