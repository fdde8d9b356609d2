// Numbers of 8 and 16 bits, compared with a search among all numbers of their formats.
#include "check.h"
#include <cmath>
#include <hip/hip_bfloat16.h>
#include <hip/hip_fp8.h>

enum { N = 2048 };

static float number(unsigned i) {
    if (i < 512)
        return (i % 2 ? -1.0f : 1.0f) * std::ldexp(1.0f + i / 2 % 16 / 16.0f, (int)(i / 32) - 10);
    unsigned long long x = (i + 1) * 0x9e3779b97f4a7c15ull;
    float v = (float)(int)(x >> 32) * 0x1p-31f;
    return std::ldexp(v, (int)(x % 40) - 20);
}

__global__ void run(const float *in, unsigned char *out, float *back, unsigned short *wide, float4 *pairs,
                    __half2 *sum, __hip_bfloat162 *wide_sum) {
    unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
    __hip_fp8_e4m3_fnuz a(in[i]);
    __hip_fp8_e5m2_fnuz b = in[i];
    out[i] = a.__x;
    out[N + i] = b.__x;
    out[2 * N + i] = __hip_fp8_e4m3(in[i]).__x;
    out[3 * N + i] = __hip_cvt_float_to_fp8(in[i], __HIP_SATFINITE, __HIP_E5M2);
    out[4 * N + i] = __hip_cvt_float_to_fp8(in[i], __HIP_NOSAT, __hip_fp8_e4m3_fnuz::__default_interpret);
    __hip_fp8x4_e5m2_fnuz four(float4{in[i], 1, -2, in[i ^ 1]});
    float4 values = four;
    back[i] = values.w;
    __half2 low(__half(1.5f), __half(-3.0f)),
        high = __shfl_xor(__half2(__half((float)(i % 8)), __half(0.5f)), 1);
    unsafeAtomicAdd(sum, __half2(__half(1.0f), __half(-0.5f)));
    unsafeAtomicAdd(wide_sum, __hip_bfloat162(0.25f, -2.0f));
    pairs[i] = __hip_fp8x4_e4m3_fnuz(low, high);
    if (i < 256) {
        a.__x = b.__x = i;
        back[N + i] = a;
        back[N + 256 + i] = b;
        back[N + 512 + i] = (float)(__half)a;
    }
    hip_bfloat16 x(in[i]), y(in[i ^ 1]), z = x + y;
    z *= y;
    wide[i] = x.data;
    wide[N + i] = z.data;
    wide[2 * N + i] = hip_bfloat16::round_to_bfloat16(in[i], hip_bfloat16::truncate).data;
    wide[3 * N + i] = (x < y) + 2 * (x == y) + 4 * std::isnan(x);
}

// The value of a code of a format with this many bits of mantissa and this bias, without sign.
static double value(unsigned code, int mantissa, int bias) {
    int power = code >> mantissa, digits = code & ((1 << mantissa) - 1);
    return power ? std::ldexp((1 << mantissa) + digits, power - bias - mantissa)
                 : std::ldexp(digits, 1 - bias - mantissa);
}
// The nearest code, of two the even one; numbers beyond the last one become it, or `beyond` if half a step
// further.
static unsigned nearest(double v, int mantissa, int bias, unsigned last, unsigned beyond) {
    double size = std::fabs(v), step = value(last, mantissa, bias) - value(last - 1, mantissa, bias);
    if (size >= value(last, mantissa, bias) + step / 2)
        return beyond;
    unsigned best = 0;
    for (unsigned code = 1; code <= last; code++) {
        double now = std::fabs(value(code, mantissa, bias) - size),
               then = std::fabs(value(best, mantissa, bias) - size);
        if (now < then || (now == then && code % 2 == 0))
            best = code;
    }
    return best;
}

static float of(unsigned short v) {
    unsigned bits = v << 16;
    float result;
    std::memcpy(&result, &bits, 4);
    return result;
}
static unsigned short bfloat16(float v) {
    unsigned bits;
    std::memcpy(&bits, &v, 4);
    unsigned short low = bits >> 16, high = low + 1;
    double below = std::fabs((double)v - of(low)), above = std::fabs((double)of(high) - v);
    return below < above || (below == above && low % 2 == 0) ? low : high;
}

int main() {
    float *in = shared_memory<float>(N), *back = shared_memory<float>(N + 768);
    auto out = shared_memory<unsigned char>(5 * N);
    auto wide = shared_memory<unsigned short>(4 * N);
    for (unsigned i = 0; i < N; i++)
        in[i] = number(i);
    auto pairs = shared_memory<float4>(N);
    auto sum = shared_memory<__half2>(1);
    auto wide_sum = shared_memory<__hip_bfloat162>(1);
    run<<<N / 64, 64>>>(in, out, back, wide, pairs, sum, wide_sum);
    finish();
    // All partial sums are numbers of the formats, but those of bfloat16 end where a quarter is lost.
    expect("sum", 0, (float)sum->x == N && (float)sum->y == N / -2, true);
    expect("sum", 1, (float)wide_sum->x == 64 && (float)wide_sum->y == -512, true);
    for (unsigned i = 0; i < N; i++) {
        bool minus = std::signbit(in[i]);
        // Negative numbers that become 0 have no sign where 0x80 is no number.
        auto fnuz = [&](unsigned code) {
            return (unsigned char)(code == 0 ? 0 : code >= 0x80 ? 0x80 : code | minus << 7);
        };
        auto ieee = [&](unsigned code) { return (unsigned char)(code | minus << 7); };
        unsigned e5m2 = nearest(in[i], 2, 16, 0x7f, 0x7f);
        expect("E4M3 FNUZ", i, out[i], fnuz(nearest(in[i], 3, 8, 0x7f, 0x7f)));
        expect("E5M2 FNUZ", i, out[N + i], fnuz(e5m2));
        expect("E4M3", i, out[2 * N + i], ieee(nearest(in[i], 3, 7, 0x7e, 0x7e)));
        expect("E5M2", i, out[3 * N + i], ieee(nearest(in[i], 2, 15, 0x7b, 0x7b)));
        expect("not saturated", i, out[4 * N + i], fnuz(nearest(in[i], 3, 8, 0x7f, 0x80)));
        expect("four", i ^ 1, back[i ^ 1], (float)((minus && e5m2 ? -1 : 1) * value(e5m2, 2, 16)));
        float x = of(bfloat16(in[i])), y = of(bfloat16(in[i ^ 1])), z = of(bfloat16(x + y));
        expect("pairs", i, pairs[i].x == 1.5f && pairs[i].y == -3, true);
        expect("moved", i, pairs[i].z == (i ^ 1) % 8 && pairs[i].w == 0.5f, true);
        unsigned bits;
        std::memcpy(&bits, &in[i], 4);
        expect("bfloat16", i, wide[i], bfloat16(in[i]));
        expect("product", i, wide[N + i], bfloat16(z * y));
        expect("truncated", i, wide[2 * N + i], (unsigned short)(bits >> 16));
        expect("comparisons", i, (int)wide[3 * N + i], (x < y) + 2 * (x == y));
    }
    for (unsigned code = 0; code < 256; code++) {
        double sign = code & 0x80 ? -1 : 1;
        if (code == 0x80) {
            expect("NaN", 0, back[N + code] != back[N + code] && back[N + 256 + code] != back[N + 256 + code],
                   true);
            continue;
        }
        expect("of E4M3", code, back[N + code], (float)(sign * value(code & 0x7f, 3, 8)));
        expect("of E5M2", code, back[N + 256 + code], (float)(sign * value(code & 0x7f, 2, 16)));
        expect("half of E4M3", code, back[N + 512 + code], (float)(sign * value(code & 0x7f, 3, 8)));
    }
    return result();
}
