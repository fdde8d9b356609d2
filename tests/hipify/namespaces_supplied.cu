// A macro of CUB's that hipCUB lacks is defined.
// CHECK: #include <hipcub/hipcub.hpp>
// CHECK: #ifndef CubDebugExit
// CHECK-NEXT: #define CubDebugExit(e) if (HipcubDebug((e))) { exit(1); }
// CHECK-NEXT: #endif
#include <cub/cub.cuh>
// CHECK: CubDebugExit(hipFree(p));
// FINDING: supplied CubDebugExit
void a() { CubDebugExit(cudaFree(p)); CubDebugExit(cudaFree(q)); }
