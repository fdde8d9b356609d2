/*
 * Anywarp's headers for GPU languages: numbers of 16 bits with 5 bits of exponent, and pairs of them.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_CUDA_FP16_H
#define ANYWARP_CUDA_FP16_H

/* Programs ask by this name whether the types are declared. */
#define __CUDA_FP16_H__

#include <anywarp/narrow.h>
#include <anywarp/vectors.h>
#ifdef ANYWARP_GPU_LANGUAGE
#include <anywarp/device.h>
#endif

#pragma clang system_header

struct __half;
namespace anywarp {
template <class T> struct small;
template <> struct small<__half> {
    typedef _Float16 work;
    static __inline__ ANYWARP_BOTH __half of(_Float16 v);
    static __inline__ ANYWARP_BOTH __half of(float v, rounding mode = to_nearest);
    static __inline__ ANYWARP_BOTH __half of(double v, rounding mode = to_nearest);
    static __inline__ ANYWARP_BOTH __half fma(__half a, __half b, __half c);
};
} // namespace anywarp

struct __half_raw {
    unsigned short x;
};
struct __align__(4) __half2_raw {
    unsigned short x, y;
};
struct __align__(2) __half {
    unsigned short __x;

    __half() = default;
    ANYWARP_BOTH constexpr __half(const __half_raw &v) : __x(v.x) {}
#define ANYWARP_FROM(T, value)                                                                              \
    ANYWARP_BOTH __half(T v) : __x(__builtin_bit_cast(unsigned short, (_Float16)(value))) {}
    ANYWARP_FROM(_Float16, v)
    ANYWARP_FROM(float, v)
    ANYWARP_FROM(double, v)
    ANYWARP_FROM(short, (float)v)
    ANYWARP_FROM(unsigned short, (float)v)
    ANYWARP_FROM(int, (double)v)
    ANYWARP_FROM(unsigned, (double)v)
    ANYWARP_FROM(long, (double)v)
    ANYWARP_FROM(unsigned long, (double)v)
    ANYWARP_FROM(long long, (double)v)
    ANYWARP_FROM(unsigned long long, (double)v)
#undef ANYWARP_FROM
    ANYWARP_BOTH operator float() const { return (float)__builtin_bit_cast(_Float16, __x); }
    ANYWARP_BOTH operator __half_raw() const { return __half_raw{__x}; }
};
struct __align__(4) __half2 {
    __half x, y;

    __half2() = default;
    ANYWARP_BOTH __half2(const __half &x, const __half &y) : x(x), y(y) {}
    ANYWARP_BOTH __half2(const __half2_raw &v) : x(__half_raw{v.x}), y(__half_raw{v.y}) {}
    ANYWARP_BOTH operator __half2_raw() const { return __half2_raw{x.__x, y.__x}; }
};
#ifndef CUDA_NO_HALF
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half nv_half;
typedef __half2 __nv_half2;
typedef __half2 nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;
#endif

namespace anywarp {
__inline__ ANYWARP_BOTH __half small<__half>::of(_Float16 v) { return __half(v); }
__inline__ ANYWARP_BOTH __half small<__half>::of(float v, rounding mode) {
    return mode == to_nearest ? __half(v) : __half(__half_raw{(unsigned short)narrow((double)v, 5, 10, mode)});
}
__inline__ ANYWARP_BOTH __half small<__half>::of(double v, rounding mode) {
    return mode == to_nearest ? __half(v) : __half(__half_raw{(unsigned short)narrow(v, 5, 10, mode)});
}
__inline__ ANYWARP_BOTH __half small<__half>::fma(__half a, __half b, __half c) {
#ifdef ANYWARP_DEVICE_PASS
    return __half(__builtin_fmaf16((_Float16)(float)a, (_Float16)(float)b, (_Float16)(float)c));
#else
    return __half(odd_fma((double)(float)a, (double)(float)b, (double)(float)c));
#endif
}
} // namespace anywarp

#define ANYWARP_N half
#define ANYWARP_T __half
#define ANYWARP_T2 __half2
#include <anywarp/small_float.h>

#endif
