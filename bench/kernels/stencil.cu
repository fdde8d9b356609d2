// Seven-point stencil on an n*n*n grid: one thread per column, with a loop over z.
#include "device.h"

extern "C" __global__ void stencil(const float *in, float *out, u32 n, float c0, float c1) {
    u32 x = CTAID_X * NTID_X + TID_X, y = CTAID_Y * NTID_Y + TID_Y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
    u32 plane = n * n, at = y * n + x;
    for (u32 z = 1; z < n - 1; z++) {
        u32 i = z * plane + at;
        out[i] = c0 * in[i] + c1 * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - plane] + in[i + plane]);
    }
}
