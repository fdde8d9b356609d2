// Arithmetic and conversions with a given rounding, compared with the host's rounding modes, also at the
// limits of the formats.
#include "check.h"
#include <cfenv>
#include <cmath>

enum { N = 2048, KINDS = 25 };

#define RUN(mode)                                                                                            \
    __global__ void run_##mode(const double *in, const long long *whole, const float *parts, double *out) {  \
        int i = threadIdx.x + blockIdx.x * blockDim.x;                                                       \
        double a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];                                          \
        float x = (float)a, y = (float)b, z = (float)c, part = parts[i];                                     \
        long long n = whole[i];                                                                              \
        const double r[KINDS] = {__fadd_##mode(x, y),                                                        \
                                 __fsub_##mode(x, y),                                                        \
                                 __fmul_##mode(x, y),                                                        \
                                 __fdiv_##mode(x, y),                                                        \
                                 __fmaf_##mode(x, y, z),                                                     \
                                 __fsqrt_##mode(fabsf(x)),                                                   \
                                 __frcp_##mode(x),                                                           \
                                 __dadd_##mode(a, b),                                                        \
                                 __dsub_##mode(a, b),                                                        \
                                 __dmul_##mode(a, b),                                                        \
                                 __ddiv_##mode(a, b),                                                        \
                                 __fma_##mode(a, b, c),                                                      \
                                 __dsqrt_##mode(fabs(a)),                                                    \
                                 __drcp_##mode(a),                                                           \
                                 __double2float_##mode(a),                                                   \
                                 __int2float_##mode((int)n),                                                 \
                                 __uint2float_##mode((unsigned)n),                                           \
                                 __ll2float_##mode(n),                                                       \
                                 __ull2float_##mode((unsigned long long)n),                                  \
                                 __ll2double_##mode(n),                                                      \
                                 __ull2double_##mode((unsigned long long)n),                                 \
                                 (double)__float2int_##mode(part),                                           \
                                 (double)__float2uint_##mode(fabsf(part)),                                   \
                                 (double)__double2ll_##mode(part * 1048576.0),                               \
                                 (double)__double2ull_##mode(fabs(part * 1048576.0))};                       \
        for (int k = 0; k < KINDS; k++)                                                                      \
            out[k * N + i] = r[k];                                                                           \
    }
RUN(rn)
RUN(rz)
RUN(ru)
RUN(rd)

static unsigned long long random_bits() {
    static unsigned long long state = 1;
    unsigned long long x = (state += 0x9e3779b97f4a7c15ull);
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

// Limits, all numbers of both formats, and numbers of similar size, some with few bits.
static double number() {
    static const double limits[] = {0.0,
                                    -0.0,
                                    INFINITY,
                                    -INFINITY,
                                    NAN,
                                    1,
                                    -1,
                                    2,
                                    0x1p-1074,
                                    -0.5,
                                    0x1p-149,
                                    0x1p-126,
                                    -0x1p-1074,
                                    0x1p-1022,
                                    0x1.fffffep127,
                                    0x1.fffffffffffffp1023};
    unsigned kind = random_bits() % 10;
    unsigned long long bits = random_bits();
    double v;
    float f;
    if (kind == 0)
        return limits[bits % 16];
    if (kind > 4)
        bits = (bits & 0x800fffffffffffffull) | (1023 - 30 + random_bits() % 60) << 52;
    std::memcpy(&v, &bits, 8);
    std::memcpy(&f, &bits, 4);
    return kind == 3 || kind == 4 ? f : kind > 7 ? (float)v : v;
}

int main() {
    double *in = shared_memory<double>(3 * N), *out = shared_memory<double>(N * KINDS);
    long long *whole = shared_memory<long long>(N);
    float *parts = shared_memory<float>(N);
    for (int i = 0; i < 3 * N; i++)
        in[i] = number();
    for (int i = 0; i < N; i++) {
        whole[i] = (long long)(random_bits() >> random_bits() % 64);
        whole[i] = random_bits() % 2 ? -whole[i] : whole[i];
        parts[i] = (float)((int)random_bits() >> random_bits() % 32) / 1024;
    }
    void (*kernels[])(const double *, const long long *, const float *, double *) = {run_rn, run_rz, run_ru,
                                                                                     run_rd};
    const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
    for (int mode = 0; mode < 4; mode++) {
        kernels[mode]<<<N / 64, 64>>>(in, whole, parts, out);
        finish();
        for (int i = 0; i < N; i++) {
            volatile double a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2], r[KINDS];
            volatile float x = (float)a, y = (float)b, z = (float)c, part = parts[i], f;
            volatile long long n = whole[i];
            volatile int n32 = (int)n;
            volatile unsigned u32 = (unsigned)n;
            volatile unsigned long long u64 = (unsigned long long)n;
            std::fesetround(modes[mode]);
            f = x + y, r[0] = f;
            f = x - y, r[1] = f;
            f = x * y, r[2] = f;
            f = x / y, r[3] = f;
            f = std::fma((float)x, (float)y, (float)z), r[4] = f;
            f = std::sqrt(std::fabs((float)x)), r[5] = f;
            f = 1.0f / x, r[6] = f;
            r[7] = a + b;
            r[8] = a - b;
            r[9] = a * b;
            r[10] = a / b;
            r[11] = std::fma((double)a, (double)b, (double)c);
            r[12] = std::sqrt(std::fabs((double)a));
            r[13] = 1.0 / a;
            f = (float)a, r[14] = f;
            f = (float)n32, r[15] = f;
            f = (float)u32, r[16] = f;
            f = (float)n, r[17] = f;
            f = (float)u64, r[18] = f;
            r[19] = (double)n;
            r[20] = (double)u64;
            r[21] = std::nearbyint((float)part);
            r[22] = std::nearbyint(std::fabs((float)part));
            r[23] = std::nearbyint(part * 1048576.0);
            r[24] = std::nearbyint(std::fabs(part * 1048576.0));
            std::fesetround(FE_TONEAREST);
            // An integer 0 has no sign.
            for (int k = 15; k < KINDS; k++)
                r[k] = r[k] == 0 ? 0 : r[k];
            for (int k = 0; k < KINDS; k++)
                if (!(out[k * N + i] != out[k * N + i] && r[k] != r[k]))
                    expect("kind", (mode * 100 + k) * 10000 + i, out[k * N + i], (double)r[k]);
        }
    }
    return result();
}
