// Histogram of bytes in 256 bins: each block counts in shared memory, then adds its counts to the result.
#include "device.h"

extern "C" __global__ void histogram(const u32 *data, u32 *bins, u32 words) {
    __shared__ u32 local[256];
    local[TID_X] = 0;
    BARRIER();
    u32 stride = NCTAID_X * NTID_X;
    for (u32 i = CTAID_X * NTID_X + TID_X; i < words; i += stride) {
        u32 v = data[i];
        atomic_add(&local[v & 255], 1);
        atomic_add(&local[(v >> 8) & 255], 1);
        atomic_add(&local[(v >> 16) & 255], 1);
        atomic_add(&local[v >> 24], 1);
    }
    BARRIER();
    atomic_add(&bins[TID_X], local[TID_X]);
}
