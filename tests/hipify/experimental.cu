// OPTIONS: --experimental
// CHECK: #include <hip/hip_runtime.h>
#include <cuda.h>
// CHECK: void a() { hipGraphExecGetFlags(e, &f); }
void a() { cuGraphExecGetFlags(e, &f); }
