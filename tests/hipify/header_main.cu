// The first header of the driver or the runtime becomes the main one; others are removed.
// CHECK: #include <vector>
// CHECK-NEXT: #include "hip/hip_runtime.h"
#include <vector>
#include "cuda.h"
// CHECK-NOT: #include
#include <cuda_runtime.h> // gone, and this comment stays
#include <cuda.h>
