// The masks of warp functions have 64 bits in HIP: those of all lanes become 64 ones, others are cast.
// CHECK: #include <hip/hip_runtime.h>
#include <cuda_runtime.h>
#define FULL_MASK 0xffffffff
// A macro has no device function around it.
// CHECK: #define SUM(x, o) (x + __shfl_xor_sync(0xffffffffffffffffull, x, o))
#define SUM(x, o) (x + __shfl_xor_sync(0xffffffff, x, o))
const unsigned every = ~0u;
__device__ int a(int x, unsigned mask, unsigned long long wide) {
    // CHECK: x += __shfl_sync(0xffffffffffffffffull, x, 0) + __shfl_up_sync(0xffffffffffffffffull, x, 1, 16);
    x += __shfl_sync(0xFFFFFFFFu, x, 0) + __shfl_up_sync(-1, x, 1, 16);
    // CHECK: x += __shfl_down_sync(0xffffffffffffffffull, x, 2) + __any_sync(0xffffffffffffffffull, x);
    x += __shfl_down_sync(FULL_MASK, x, 2) + __any_sync(every, x);
    // CHECK: x += __all_sync(0xffffffffffffffffull, x) + __reduce_add_sync(0xffffffffffffffffull, x);
    x += __all_sync((unsigned)-1, x) + __reduce_add_sync(static_cast<unsigned int>(~0), x);
    // Some lanes stay the same lanes.
    // CHECK: __syncwarp(static_cast<unsigned long long>(0x0000ffff)); __syncwarp();
    __syncwarp(0x0000ffff); __syncwarp();
    // 64 bits stay.
    // CHECK: x += __ballot_sync(__activemask(), x) + __match_any_sync(wide, x) + __any_sync(0xffull, x);
    x += __ballot_sync(__activemask(), x) + __match_any_sync(wide, x) + __any_sync(0xffull, x);
    // An unknown mask may lack the upper lanes.
    // CHECK: x += __all_sync(static_cast<unsigned long long>(mask), x);
    // FINDING: warp-mask mask
    x += __all_sync(mask, x);
    return x;
}
// Functions of the program are left alone.
// CHECK: int b(S s) { return s.__any_sync(0xffffffff, 1); }
int b(S s) { return s.__any_sync(0xffffffff, 1); }
