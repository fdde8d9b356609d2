// Block reduction: each thread first sums two elements, then a tree in shared memory with a barrier per
// level.
#include "device.h"

extern "C" __global__ void reduce(const float *in, float *out, u32 n) {
    __shared__ float part[256];
    u32 t = TID_X, i = CTAID_X * 512 + t;
    float s = i < n ? in[i] : 0.0f;
    if (i + 256 < n) s += in[i + 256];
    part[t] = s;
    BARRIER();
    for (u32 d = 128; d > 0; d >>= 1) {
        if (t < d) part[t] += part[t + d];
        BARRIER();
    }
    if (t == 0) out[CTAID_X] = part[0];
}
