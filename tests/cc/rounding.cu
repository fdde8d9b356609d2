// Arithmetic and conversions with a given rounding, compared with the host's rounding modes.
// without AMD: its devices have a mode instead of instructions with a rounding
#include "check.h"
#include <cfenv>
#include <cmath>

enum { N = 512, KINDS = 11 };

__host__ __device__ float small(int i) { return (float)((i * 2654435761u >> 7) % 100003) / 977.0f + 0.001f; }

#define RUN(mode)                                                                                           \
    __global__ void run_##mode(double *out) {                                                               \
        int i = threadIdx.x + blockIdx.x * blockDim.x;                                                      \
        float a = small(i), b = small(i + N), c = -small(i + 2 * N);                                        \
        double d = a / 3.0, e = b / 7.0;                                                                    \
        double r[KINDS] = {__fadd_##mode(a, b), __fmul_##mode(a, b), __fdiv_##mode(a, b),                   \
                           __fsqrt_##mode(a), __fmaf_##mode(a, b, c), __dadd_##mode(d, e),                  \
                           __dmul_##mode(d, e), __ddiv_##mode(d, e), __dsqrt_##mode(d),                     \
                           __double2float_##mode(d), (double)__float2int_##mode(a * 10)};                   \
        for (int k = 0; k < KINDS; k++)                                                                     \
            out[k * N + i] = r[k];                                                                          \
    }
RUN(rn)
RUN(rz)
RUN(ru)
RUN(rd)

__attribute__((noinline)) static void host(int i, volatile double *r) {
    volatile float a = small(i), b = small(i + N), c = -small(i + 2 * N);
    volatile double d, e;
    std::fesetround(FE_TONEAREST);
    d = a / 3.0;
    e = b / 7.0;
    (void)c;
    r[11] = d;
    r[12] = e;
}

int main() {
    double *out = shared_memory<double>(N * KINDS);
    void (*kernels[])(double *) = {run_rn, run_rz, run_ru, run_rd};
    const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
    for (int mode = 0; mode < 4; mode++) {
        kernels[mode]<<<N / 64, 64>>>(out);
        finish();
        for (int i = 0; i < N; i++) {
            volatile double r[13];
            host(i, r);
            volatile float a = small(i), b = small(i + N), c = -small(i + 2 * N), ten = a * 10, f;
            volatile double d = r[11], e = r[12];
            std::fesetround(modes[mode]);
            f = a + b, r[0] = f;
            f = a * b, r[1] = f;
            f = a / b, r[2] = f;
            f = std::sqrt((float)a), r[3] = f;
            f = std::fma((float)a, (float)b, (float)c), r[4] = f;
            r[5] = d + e;
            r[6] = d * e;
            r[7] = d / e;
            r[8] = std::sqrt((double)d);
            f = (float)d, r[9] = f;
            r[10] = std::nearbyint((float)ten);
            std::fesetround(FE_TONEAREST);
            for (int k = 0; k < KINDS; k++)
                expect("kind", (mode * 100 + k) * 1000 + i, out[k * N + i], (double)r[k]);
        }
    }
    return result();
}
