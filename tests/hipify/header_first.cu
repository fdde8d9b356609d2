// Without a CUDA header, the runtime's header is inserted before the first one.
#include <cmath>
#include <vector>
// CHECK: #include <hip/hip_runtime.h>
// CHECK-NEXT: #include <cmath>
// CHECK-NEXT: #include <vector>
__global__ void kernel(float *p) { *p = sqrtf(*p); }
