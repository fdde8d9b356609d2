/*
 * Anywarp's headers for GPU languages: numbers of 16 bits with 5 bits of exponent, and pairs of them.
 *
 * Arithmetic is done in half precision, so each operation rounds once.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_CUDA_FP16_H
#define ANYWARP_CUDA_FP16_H

#include <anywarp/device.h>

#pragma clang system_header

#define ANYWARP_HALF static __inline__ ANYWARP_BOTH

struct __half {
    unsigned short __x;

    __half() = default;
    ANYWARP_BOTH __half(float v) : __x(__builtin_bit_cast(unsigned short, (_Float16)v)) {}
    ANYWARP_BOTH __half(double v) : __x(__builtin_bit_cast(unsigned short, (_Float16)v)) {}
    ANYWARP_BOTH __half(int v) : __x(__builtin_bit_cast(unsigned short, (_Float16)v)) {}
    ANYWARP_BOTH operator float() const { return (float)__builtin_bit_cast(_Float16, __x); }
    ANYWARP_BOTH __half &operator+=(__half b);
    ANYWARP_BOTH __half &operator-=(__half b);
    ANYWARP_BOTH __half &operator*=(__half b);
    ANYWARP_BOTH __half &operator/=(__half b);
};
typedef __half half;
struct __attribute__((aligned(4))) __half2 {
    __half x, y;
};
typedef __half2 half2;

namespace anywarp {
ANYWARP_HALF _Float16 number(__half v) { return __builtin_bit_cast(_Float16, v.__x); }
ANYWARP_HALF __half half_of(_Float16 v) {
    __half h;
    h.__x = __builtin_bit_cast(unsigned short, v);
    return h;
}
} // namespace anywarp

ANYWARP_HALF __half __float2half(float v) { return __half(v); }
ANYWARP_HALF __half __float2half_rn(float v) { return __half(v); }
ANYWARP_HALF __half __double2half(double v) { return __half(v); }
ANYWARP_HALF __half __int2half_rn(int v) { return __half(v); }
ANYWARP_HALF float __half2float(__half v) { return (float)v; }
ANYWARP_HALF int __half2int_rz(__half v) { return (int)(float)v; }
ANYWARP_HALF unsigned short __half_as_ushort(__half v) { return v.__x; }
ANYWARP_HALF __half __ushort_as_half(unsigned short v) {
    __half h;
    h.__x = v;
    return h;
}
ANYWARP_HALF __half2 __halves2half2(__half x, __half y) {
    __half2 v = {x, y};
    return v;
}
ANYWARP_HALF __half2 make_half2(__half x, __half y) { return __halves2half2(x, y); }
ANYWARP_HALF __half2 __half2half2(__half v) { return __halves2half2(v, v); }
ANYWARP_HALF __half2 __float2half2_rn(float v) { return __half2half2(__half(v)); }
ANYWARP_HALF __half2 __floats2half2_rn(float x, float y) { return __halves2half2(__half(x), __half(y)); }
ANYWARP_HALF __half2 __float22half2_rn(float2 v) { return __floats2half2_rn(v.x, v.y); }
ANYWARP_HALF float2 __half22float2(__half2 v) { return make_float2((float)v.x, (float)v.y); }
ANYWARP_HALF __half __low2half(__half2 v) { return v.x; }
ANYWARP_HALF __half __high2half(__half2 v) { return v.y; }
ANYWARP_HALF float __low2float(__half2 v) { return (float)v.x; }
ANYWARP_HALF float __high2float(__half2 v) { return (float)v.y; }

/* A function and an operator of two numbers, and both of two pairs. */
#define ANYWARP_HALF_OPERATION(name, symbol)                                                                \
    ANYWARP_HALF __half __h##name(__half a, __half b) {                                                     \
        return anywarp::half_of(anywarp::number(a) symbol anywarp::number(b));                              \
    }                                                                                                       \
    ANYWARP_HALF __half operator symbol(__half a, __half b) { return __h##name(a, b); }                     \
    ANYWARP_HALF __half2 __h##name##2(__half2 a, __half2 b) {                                               \
        return __halves2half2(__h##name(a.x, b.x), __h##name(a.y, b.y));                                    \
    }                                                                                                       \
    ANYWARP_HALF __half2 operator symbol(__half2 a, __half2 b) { return __h##name##2(a, b); }               \
    ANYWARP_BOTH inline __half &__half::operator symbol##=(__half b) { return *this = __h##name(*this, b); }
ANYWARP_HALF_OPERATION(add, +)
ANYWARP_HALF_OPERATION(sub, -)
ANYWARP_HALF_OPERATION(mul, *)
ANYWARP_HALF_OPERATION(div, /)
#undef ANYWARP_HALF_OPERATION
#define ANYWARP_HALF_COMPARISON(name, symbol)                                                               \
    ANYWARP_HALF bool __h##name(__half a, __half b) { return anywarp::number(a) symbol anywarp::number(b); } \
    ANYWARP_HALF bool operator symbol(__half a, __half b) { return __h##name(a, b); }
ANYWARP_HALF_COMPARISON(eq, ==)
ANYWARP_HALF_COMPARISON(ne, !=)
ANYWARP_HALF_COMPARISON(lt, <)
ANYWARP_HALF_COMPARISON(le, <=)
ANYWARP_HALF_COMPARISON(gt, >)
ANYWARP_HALF_COMPARISON(ge, >=)
#undef ANYWARP_HALF_COMPARISON
ANYWARP_HALF __half __hneg(__half v) { return __ushort_as_half(v.__x ^ 0x8000); }
ANYWARP_HALF __half operator-(__half v) { return __hneg(v); }
ANYWARP_HALF __half __habs(__half v) { return __ushort_as_half(v.__x & 0x7fff); }
ANYWARP_HALF bool __hisnan(__half v) { return (v.__x & 0x7fff) > 0x7c00; }
ANYWARP_HALF __half __hmax(__half a, __half b) { return __hisnan(a) || a < b ? b : a; }
ANYWARP_HALF __half __hmin(__half a, __half b) { return __hisnan(a) || b < a ? b : a; }
/* The product of halves is exact in float, and the sum in double nearly always. */
ANYWARP_HALF __half __hfma(__half a, __half b, __half c) { return __half((double)(float)a * (double)(float)b + (double)(float)c); }
ANYWARP_HALF __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
    return __halves2half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
#define ANYWARP_HALF_FUNCTION(name)                                                                         \
    ANYWARP_DEVICE __half h##name(__half v) { return __half(name##f((float)v)); }                           \
    ANYWARP_DEVICE __half2 h2##name(__half2 v) { return __halves2half2(h##name(v.x), h##name(v.y)); }
ANYWARP_HALF_FUNCTION(sqrt)
ANYWARP_HALF_FUNCTION(rsqrt)
ANYWARP_HALF_FUNCTION(exp)
ANYWARP_HALF_FUNCTION(exp2)
ANYWARP_HALF_FUNCTION(log)
ANYWARP_HALF_FUNCTION(log2)
ANYWARP_HALF_FUNCTION(sin)
ANYWARP_HALF_FUNCTION(cos)
ANYWARP_HALF_FUNCTION(floor)
ANYWARP_HALF_FUNCTION(ceil)
ANYWARP_HALF_FUNCTION(trunc)
ANYWARP_HALF_FUNCTION(rint)
#undef ANYWARP_HALF_FUNCTION
ANYWARP_DEVICE __half __shfl_sync(anywarp_mask m, __half v, int lane, int width = ANYWARP_WARP_SIZE) {
    return anywarp::shuffle_value(m, v, lane, width);
}
ANYWARP_DEVICE __half __shfl_xor_sync(anywarp_mask m, __half v, int bits, int width = ANYWARP_WARP_SIZE) {
    return anywarp::shuffle_xor_value(m, v, bits, width);
}
ANYWARP_DEVICE __half __shfl_down_sync(anywarp_mask m, __half v, unsigned by, int width = ANYWARP_WARP_SIZE) {
    return anywarp::shuffle_down_value(m, v, by, width);
}
#undef ANYWARP_HALF

#endif
