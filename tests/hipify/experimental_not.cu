// CHECK: #include <hip/hip_runtime.h>
#include <cuda.h>
// FINDING: experimental cuGraphExecGetFlags
// CHECK: void a() { cuGraphExecGetFlags(e, &f); }
void a() { cuGraphExecGetFlags(e, &f); }
