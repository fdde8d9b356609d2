// OPTIONS: --rocm 6.3
// ROCm 6.2 to 6.4 declare the warp functions only behind a macro, which is reported once.
// CHECK: __device__ int a(int x) { return __shfl_sync(0xffffffffffffffffull, x, 0); }
// FINDING: needs-macro __shfl_sync
__device__ int a(int x) { return __shfl_sync(0xffffffff, x, 0); }
// CHECK: __device__ int b(int x) { return __any_sync(0xffffffffffffffffull, x); }
__device__ int b(int x) { return __any_sync(0xffffffff, x); }
// FINDING: needs-rocm __reduce_add_sync
// CHECK: __device__ int c(int x) { return __reduce_add_sync(0xffffffff, x); }
__device__ int c(int x) { return __reduce_add_sync(0xffffffff, x); }
