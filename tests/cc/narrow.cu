// Formats of 16 and 8 bits: conversions with each rounding, compared with a search among all numbers of the format.
#include "check.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

const int count = 600, functions = 20;

// The results, as bits.
__host__ __device__ void convert(float v, float w, unsigned short *out) {
    out[0] = __half_as_ushort(__float2half_rn(v));
    out[1] = __half_as_ushort(__float2half_rz(v));
    out[2] = __half_as_ushort(__float2half_ru(v));
    out[3] = __half_as_ushort(__float2half_rd(v));
    out[4] = __bfloat16_as_ushort(__float2bfloat16_rn(v));
    out[5] = __bfloat16_as_ushort(__float2bfloat16_rz(v));
    out[6] = __bfloat16_as_ushort(__float2bfloat16_ru(v));
    out[7] = __bfloat16_as_ushort(__float2bfloat16_rd(v));
    __half a = __float2half(v), b = __float2half(w);
    __nv_bfloat16 c = __float2bfloat16(v), d = __float2bfloat16(w);
    out[8] = __half_as_ushort(a * b);
    out[9] = __half_as_ushort(__hfma(a, b, __float2half(0.3f)));
    out[10] = __bfloat16_as_ushort(c + d);
    out[11] = __bfloat16_as_ushort(__hfma(c, d, __float2bfloat16(0.3f)));
    __half2 sum = __hadd2_sat(__floats2half2_rn(v, w), __half2half2(b));
    out[12] = __half_as_ushort(__low2half(sum));
    out[13] = __half_as_ushort(__high2half(sum));
    out[14] = (unsigned short)__half2int_ru(a);
    out[15] = (unsigned short)__bfloat162int_rd(d);
    out[16] = (unsigned short)(a < b) | __heq(a, b) << 1 | (a != b) << 2 | __hgeu(a, b) << 3 | __hbne2(sum, sum) << 4;
    out[17] = __half_as_ushort(__hmax(a, b));
    out[18] = (unsigned short)__hgt2_mask(sum, __half2half2(__float2half(0.5f)));
    out[19] = __bfloat16_as_ushort(__ll2bfloat16_rn((long long)v * 1234567));
}

__global__ void run(const float *v, unsigned short *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        convert(v[i], v[(i * 7 + 3) % count], out + i * functions);
}

static double value(unsigned bits, int exponent, int mantissa) {
    int e = bits >> mantissa & ((1 << exponent) - 1), least = 2 - (1 << (exponent - 1));
    unsigned m = bits & ((1u << mantissa) - 1);
    double v = __builtin_ldexp(e ? (double)(m + (1u << mantissa)) : (double)m, (e ? e - 1 : 0) + least - mantissa);
    return bits >> (exponent + mantissa) & 1 ? -v : v;
}

// The number next to v, found among all; mode 0 is the nearest, 1 towards zero, 2 up, 3 down.
static unsigned short found(double v, int exponent, int mantissa, int mode) {
    unsigned sign = (v < 0 || (v == 0 && __builtin_signbit(v)) ? 1u : 0u) << (exponent + mantissa);
    double size = v < 0 ? -v : v;
    unsigned low = 0, end = ((1u << exponent) - 1) << mantissa;
    while (low + 1 < end && value(low + 1, exponent, mantissa) <= size)
        low++;
    double under = value(low, exponent, mantissa), over = value(low + 1, exponent, mantissa);
    bool more = mode == 0   ? size - under > over - size || (size - under == over - size && (low & 1))
                : mode == 2 ? !sign && size > under
                : mode == 3 ? sign && size > under
                            : false;
    return (unsigned short)(sign | (low + more));
}

int main() {
    float *v = shared_memory<float>(count);
    unsigned short *out = shared_memory<unsigned short>(count * functions);
    unsigned state = 1;
    for (int i = 0; i < count; i++) {
        state = state * 1664525 + 1013904223;
        v[i] = (float)((int)(state >> 8) - (1 << 23)) * __builtin_ldexpf(1, i % 40 - 45);
    }
    run<<<(count + 63) / 64, 64>>>(v, out);
    finish();
    for (int i = 0; i < count; i++) {
        unsigned short host[functions], *is = out + i * functions;
        double a = v[i], b = v[(i * 7 + 3) % count];
        for (int mode = 0; mode < 4; mode++) {
            expect("float to half", i * 10 + mode, is[mode], found(a, 5, 10, mode));
            expect("float to bfloat16", i * 10 + mode, is[4 + mode], found(a, 8, 7, mode));
        }
        double ha = value(is[0], 5, 10), hb = value(found(b, 5, 10, 0), 5, 10);
        double ba = value(is[4], 8, 7), bb = value(found(b, 8, 7, 0), 8, 7);
        expect("half product", i, is[8], found(ha * hb, 5, 10, 0));
        expect("bfloat16 sum", i, is[10], found(ba + bb, 8, 7, 0));
        convert(v[i], (float)b, host);
        for (int k = 0; k < functions; k++)
            expect("host and device", i * 100 + k, is[k], host[k]);
    }
    // What the interface says of single numbers.
    expect("half NaN", 0, __half_as_ushort(__hmax(__float2half(1), __ushort_as_half(0x7fff))), (unsigned short)0x3c00);
    expect("saturated", 0, __half2int_rz(__ushort_as_half(0x7c00)), 0x7fffffff);
    expect("short", 0, __half2short_rz(__float2half(40000.0f)), (short)0x7fff);
    return result();
}
