// Names that HIP's runtime got after the release that is written stay, and the release that they need is told.
#include <cuda.h>
// CHECK: cuKernelGetFunction(&f, k);
// FINDING: needs-rocm cuKernelGetFunction
void a() { cuKernelGetFunction(&f, k); }
// CHECK: cudaMemSetMemPool(&l, t, p);
// FINDING: needs-rocm cudaMemSetMemPool
void b() { cudaMemSetMemPool(&l, t, p); }
// CHECK: hipOccupancyAvailableDynamicSMemPerBlock(&n, kernel, 1, 64);
void c() { cudaOccupancyAvailableDynamicSMemPerBlock(&n, kernel, 1, 64); }
// Copies without a direction, and flags of searches for functions, are older.
// CHECK: hipMemcpy(d, s, n, hipMemcpyDefault); hipMemcpyAsync(d, s, n, hipMemcpyDefault, stream);
void d() { cuMemcpy(d, s, n); cuMemcpyAsync(d, s, n, stream); }
// CHECK: hipGetProcAddress("f", &f, v, hipEnableLegacyStream, &r);
void e() { cuGetProcAddress("f", &f, v, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &r); }
// Contexts are not devices, and handles of functions are not functions of the program.
// FINDING: unsupported cuMemcpyPeer
void f() { cuMemcpyPeer(d, c, s, c, n); }
// FINDING: unsupported cuFuncSetAttribute
void g() { cuFuncSetAttribute(f, a, v); }
// CHECK: cudaGridDependencySynchronize();
// FINDING: unsupported cudaGridDependencySynchronize
__global__ void h() { cudaGridDependencySynchronize(); }
// FINDING: unsupported cudaTriggerProgrammaticLaunchCompletion
__global__ void i() { cudaTriggerProgrammaticLaunchCompletion(); }
