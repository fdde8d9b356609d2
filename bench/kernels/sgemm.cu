// Matrix product through square tiles in shared memory, one element of the result per thread.
#include "device.h"

template <int T> static __device__ __forceinline__ void sgemm(const float *a, const float *b, float *c, u32 n) {
    __shared__ float ta[T][T], tb[T][T];
    u32 row = CTAID_Y * T + TID_Y, col = CTAID_X * T + TID_X;
    float sum = 0.0f;
    for (u32 t = 0; t < n; t += T) {
        ta[TID_Y][TID_X] = a[row * n + t + TID_X];
        tb[TID_Y][TID_X] = b[(t + TID_Y) * n + col];
        BARRIER();
#pragma unroll
        for (int k = 0; k < T; k++) sum = fma(ta[TID_Y][k], tb[k][TID_X], sum);
        BARRIER();
    }
    c[row * n + col] = sum;
}

extern "C" __global__ void sgemm16(const float *a, const float *b, float *c, u32 n) { sgemm<16>(a, b, c, n); }
extern "C" __global__ void sgemm32(const float *a, const float *b, float *c, u32 n) { sgemm<32>(a, b, c, n); }
