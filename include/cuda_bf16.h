/*
 * Anywarp's headers for GPU languages: numbers of 16 bits with the exponent of float, and pairs of them.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_CUDA_BF16_H
#define ANYWARP_CUDA_BF16_H

/* Programs ask by this name whether the types are declared. */
#define __CUDA_BF16_H__

#include <cuda_fp16.h>

#pragma clang system_header

struct __nv_bfloat16;
namespace anywarp {
/* Rounds a float to its upper 16 bits. */
static __inline__ ANYWARP_BOTH unsigned short upper_half(float v) {
    unsigned bits = __builtin_bit_cast(unsigned, v);
    return v != v ? 0x7fff : (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
template <> struct small<__nv_bfloat16> {
    /* It has enough bits for a second rounding to be right. */
    typedef float work;
    static __inline__ ANYWARP_BOTH __nv_bfloat16 of(float v, rounding mode = to_nearest);
    static __inline__ ANYWARP_BOTH __nv_bfloat16 of(double v, rounding mode = to_nearest);
    static __inline__ ANYWARP_BOTH __nv_bfloat16 fma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c);
};
} // namespace anywarp

struct __nv_bfloat16_raw {
    unsigned short x;
};
struct __align__(4) __nv_bfloat162_raw {
    unsigned short x, y;
};
struct __align__(2) __nv_bfloat16 {
    unsigned short __x;

    __nv_bfloat16() = default;
    ANYWARP_BOTH constexpr __nv_bfloat16(const __nv_bfloat16_raw &v) : __x(v.x) {}
    ANYWARP_BOTH __nv_bfloat16(float v) : __x(anywarp::upper_half(v)) {}
#define ANYWARP_FROM(T, value)                                                                              \
    ANYWARP_BOTH __nv_bfloat16(T v) : __x((unsigned short)anywarp::narrow(value, 8, 7, anywarp::to_nearest)) {}
    ANYWARP_FROM(double, v)
    ANYWARP_FROM(short, (double)v)
    ANYWARP_FROM(unsigned short, (double)v)
    ANYWARP_FROM(int, (double)v)
    ANYWARP_FROM(unsigned, (double)v)
    ANYWARP_FROM(long, anywarp::odd((long long)v))
    ANYWARP_FROM(unsigned long, anywarp::odd((unsigned long long)v))
    ANYWARP_FROM(long long, anywarp::odd(v))
    ANYWARP_FROM(unsigned long long, anywarp::odd(v))
#undef ANYWARP_FROM
    ANYWARP_BOTH operator float() const { return __builtin_bit_cast(float, (unsigned)__x << 16); }
    ANYWARP_BOTH operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{__x}; }
};
struct __align__(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;

    __nv_bfloat162() = default;
    ANYWARP_BOTH __nv_bfloat162(const __nv_bfloat16 &x, const __nv_bfloat16 &y) : x(x), y(y) {}
    ANYWARP_BOTH __nv_bfloat162(const __nv_bfloat162_raw &v) : x(__nv_bfloat16_raw{v.x}), y(__nv_bfloat16_raw{v.y}) {}
    ANYWARP_BOTH operator __nv_bfloat162_raw() const { return __nv_bfloat162_raw{x.__x, y.__x}; }
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

namespace anywarp {
__inline__ ANYWARP_BOTH __nv_bfloat16 small<__nv_bfloat16>::of(float v, rounding mode) {
    if (mode == to_nearest)
        return __nv_bfloat16(v);
    return __nv_bfloat16(__nv_bfloat16_raw{(unsigned short)narrow((double)v, 8, 7, mode)});
}
__inline__ ANYWARP_BOTH __nv_bfloat16 small<__nv_bfloat16>::of(double v, rounding mode) {
    return __nv_bfloat16(__nv_bfloat16_raw{(unsigned short)narrow(v, 8, 7, mode)});
}
__inline__ ANYWARP_BOTH __nv_bfloat16 small<__nv_bfloat16>::fma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
    return of(odd_fma((double)(float)a, (double)(float)b, (double)(float)c));
}
} // namespace anywarp

#define ANYWARP_N bfloat16
#define ANYWARP_T __nv_bfloat16
#define ANYWARP_T2 __nv_bfloat162
#include <anywarp/small_float.h>

#endif
