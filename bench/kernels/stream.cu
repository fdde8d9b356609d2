// Memory-bound kernels: vector addition and saxpy.
#include "device.h"

extern "C" __global__ void vecadd(const float *a, const float *b, float *c, u32 n) {
    u32 i = CTAID_X * NTID_X + TID_X;
    if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void saxpy(float s, const float *x, float *y, u32 n) {
    u32 i = CTAID_X * NTID_X + TID_X;
    if (i < n) y[i] = s * x[i] + y[i];
}
