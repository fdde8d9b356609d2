/*
 * Anywarp's headers for GPU languages: rounding of numbers to formats of 16 and 8 bits.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_NARROW_H
#define ANYWARP_NARROW_H

#include <anywarp/attributes.h>

namespace anywarp {

enum rounding { to_nearest, to_zero, upwards, downwards };

/* A double whose last bit says whether bits were lost, so that a second rounding to fewer bits is right. */
static __inline__ ANYWARP_BOTH double odd(unsigned long long v) {
    return (double)(v >> 53 ? (v & ~0xfffull) | ((v & 0xfff) != 0 ? 0x800 : 0) : v);
}
static __inline__ ANYWARP_BOTH double odd(long long v) { return v < 0 ? -odd(0 - (unsigned long long)v) : odd((unsigned long long)v); }
/* a b + c, where the product is exact. */
static __inline__ ANYWARP_BOTH double odd_fma(double a, double b, double c) {
    _Pragma("clang fp contract(off) reassociate(off)") double p = a * b, s = p + c, t = s - p;
    double lost = (p - (s - t)) + (c - t);
    unsigned long long bits = __builtin_bit_cast(unsigned long long, s);
    if (lost == 0 || lost != lost || bits & 1)
        return s;
    return __builtin_bit_cast(double, (lost < 0) == (s < 0) ? bits + 1 : bits - 1);
}

/* The bits of the number with `exponent` bits of exponent and `mantissa` bits of mantissa that is nearest to v
   in a direction. `infinity` is what stands above the largest number: by default the infinity of IEEE's
   formats. */
static __inline__ ANYWARP_BOTH unsigned narrow(double v, int exponent, int mantissa, rounding mode, unsigned infinity = 0) {
    unsigned long long bits = __builtin_bit_cast(unsigned long long, v), magnitude = bits & ~0ull >> 1;
    unsigned sign = (unsigned)(bits >> 63) << (exponent + mantissa);
    infinity = infinity ? infinity : ((1u << exponent) - 1) << mantissa;
    if (magnitude > 0x7ffull << 52)
        return (1u << (exponent + mantissa)) - 1;
    if (magnitude == 0x7ffull << 52)
        return sign | infinity;
    int power = (int)(magnitude >> 52) - 1023, least = 2 - (1 << (exponent - 1));
    unsigned long long whole = (magnitude & ~(~0ull << 52)) | (power > -1023 ? 1ull << 52 : 0);
    /* Numbers below the least normal one keep its exponent. */
    int drop = 52 - mantissa + (power < least ? least - power : 0);
    unsigned long long kept = drop > 62 ? 0 : whole >> drop, rest = drop > 62 ? whole != 0 : whole & ~(~0ull << drop);
    unsigned long long half = drop > 62 ? 2 : 1ull << (drop - 1);
    bool more = mode == to_nearest ? rest > half || (rest == half && (kept & 1))
              : mode == upwards    ? rest && !sign
              : mode == downwards  ? rest && sign
                                   : false;
    kept += more;
    unsigned long long result = kept + (power < least ? 0ull : (unsigned long long)(power - least) << mantissa);
    if (result >= infinity) {
        bool stays = mode == to_zero || (mode == upwards && sign) || (mode == downwards && !sign);
        return sign | (stays ? infinity - 1 : infinity);
    }
    return sign | (unsigned)result;
}

/* An integer, saturated; what is no number becomes 0, or for 64 bits the number with the highest bit. */
template <class T> static __inline__ ANYWARP_BOTH T saturated(float v) {
    const bool is_signed = (T)-1 < (T)0;
    const float top = (float)(1ull << (8 * sizeof(T) - 1)) * (is_signed ? 1.0f : 2.0f);
    if (v != v)
        return sizeof(T) == 8 ? (T)(1ull << 63) : (T)0;
    if (v >= top)
        return is_signed ? (T)((1ull << (8 * sizeof(T) - 1)) - 1) : (T)~0ull;
    if (v <= (is_signed ? -top : 0.0f))
        return is_signed ? (T)(1ull << (8 * sizeof(T) - 1)) : (T)0;
    return (T)v;
}
static __inline__ ANYWARP_BOTH float whole(float v, rounding mode) {
    return mode == to_nearest ? __builtin_rintf(v)
         : mode == upwards    ? __builtin_ceilf(v)
         : mode == downwards  ? __builtin_floorf(v)
                              : __builtin_truncf(v);
}

} // namespace anywarp

#endif
