// Separable convolution, radius 8: rows, then columns; edges are clamped.
#include "device.h"

#define R 8
__constant__ float taps[2 * R + 1];

static __device__ __forceinline__ int clamp(int v, int hi) { return v < 0 ? 0 : v > hi ? hi : v; }

extern "C" __global__ void conv_rows(const float *in, float *out, int width, int height) {
    int x = CTAID_X * NTID_X + TID_X, y = CTAID_Y * NTID_Y + TID_Y;
    float s = 0.0f;
#pragma unroll
    for (int k = -R; k <= R; k++) s = fma(taps[k + R], in[y * width + clamp(x + k, width - 1)], s);
    out[y * width + x] = s;
}

extern "C" __global__ void conv_cols(const float *in, float *out, int width, int height) {
    int x = CTAID_X * NTID_X + TID_X, y = CTAID_Y * NTID_Y + TID_Y;
    float s = 0.0f;
#pragma unroll
    for (int k = -R; k <= R; k++) s = fma(taps[k + R], in[clamp(y + k, height - 1) * width + x], s);
    out[y * width + x] = s;
}
