// Transposition through a padded 32x32 tile; blocks of 32x8 threads.
#include "device.h"

extern "C" __global__ void transpose(const float *in, float *out, u32 n) {
    __shared__ float tile[32][33];
    u32 x = CTAID_X * 32 + TID_X, y = CTAID_Y * 32 + TID_Y;
    for (u32 j = 0; j < 32; j += 8) tile[TID_Y + j][TID_X] = in[(y + j) * n + x];
    BARRIER();
    x = CTAID_Y * 32 + TID_X;
    y = CTAID_X * 32 + TID_Y;
    for (u32 j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[TID_X][TID_Y + j];
}
