// European options by the Black-Scholes formula, with a polynomial for the cumulative normal distribution.
#include "device.h"

static __device__ __forceinline__ float cnd(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * __builtin_fabsf(d));
    float poly = k * fma(k, fma(k, fma(k, fma(k, 1.330274429f, -1.821255978f), 1.781477937f), -0.356563782f), 0.31938153f);
    float tail = 0.39894228040143267794f * approx_ex2(-0.5f * d * d * 1.4426950408889634f) * poly;
    return d > 0.0f ? 1.0f - tail : tail;
}

extern "C" __global__ void blackscholes(const float *price, const float *strike, const float *years, float *call, float *put,
                                        u32 n, float rate, float vol) {
    u32 i = CTAID_X * NTID_X + TID_X;
    if (i >= n) return;
    float s = price[i], x = strike[i], t = years[i];
    float root = __builtin_sqrtf(t);
    float d1 = (approx_lg2(s / x) * 0.6931471805599453f + (rate + 0.5f * vol * vol) * t) / (vol * root);
    float d2 = d1 - vol * root;
    float c1 = cnd(d1), c2 = cnd(d2);
    float disc = x * approx_ex2(-rate * t * 1.4426950408889634f);
    call[i] = s * c1 - disc * c2;
    put[i] = disc * (1.0f - c2) - s * (1.0f - c1);
}
