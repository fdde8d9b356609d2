/*
 * Anywarp's headers for GPU languages: arithmetic and conversions with a given rounding on AMD's devices. PTX
 * has instructions for these (intrinsics.h).
 *
 * Rounding twice in the same direction, first to double and then to float, is rounding once.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_ROUNDING_H
#define ANYWARP_ROUNDING_H

#include <anywarp/math_double.h>
#include <anywarp/narrow.h>
#include <anywarp/target.h>

namespace anywarp {

/* `v`, which is not 0, or its neighbour in a direction, if the exact result is above (`side` > 0) or below
 * it. */
ANYWARP_DEVICE double directed(double v, int side, rounding mode) {
    int step = mode == upwards ? side > 0 : mode == downwards ? -(side < 0) : v > 0 ? -(side < 0) : side > 0;
    return __builtin_bit_cast(double, __builtin_bit_cast(long long, v) + (v > 0 ? step : -step));
}
/* A number of [1, 2) or its negative, and the exponent that was taken out. */
ANYWARP_DEVICE double fraction(double v, int &exponent) {
    bool is_small = __builtin_fabs(v) < 0x1p-1022;
    unsigned long long bits = __builtin_bit_cast(unsigned long long, is_small ? v * 0x1p54 : v);
    exponent = (int)(bits >> 52 & 0x7ff) - 1023 - (is_small ? 54 : 0);
    return __builtin_bit_cast(double, (bits & ~(0x7ffull << 52)) | 1023ull << 52);
}
ANYWARP_DEVICE bool is_usual(double v) { return v != 0 && v - v == 0; }

/* a / b to the left of the point where its exponent is applied: a quotient of fractions cannot overflow, and
   what it lacks is a number. */
ANYWARP_LONG double quotient(double a, double b, rounding mode, int &exponent) {
    int of_a, of_b;
    double x = fraction(a, of_a), y = fraction(b, of_b), q = x / y, rest = __builtin_fma(-q, y, x);
    exponent = of_a - of_b;
    return directed(q, rest == 0 ? 0 : (rest > 0) == (y > 0) ? 1 : -1, mode);
}
/* The square root of a number greater than 0. */
ANYWARP_LONG double root(double v, rounding mode) {
    int exponent;
    double x = fraction(v, exponent) * (exponent & 1 ? 2 : 1), s = __builtin_sqrt(x),
           rest = __builtin_fma(-s, s, x);
    return directed(s, rest == 0 ? 0 : rest > 0 ? 1 : -1, mode) * power_of_two(exponent >> 1);
}

#define ANYWARP_DIVISIONS(suffix, mode)                                                                      \
    ANYWARP_LONG double quotient_##suffix(double a, double b) {                                              \
        if (!is_usual(a) || !is_usual(b))                                                                    \
            return a / b;                                                                                    \
        int exponent;                                                                                        \
        double q = quotient(a, b, mode, exponent);                                                           \
        /* In two steps, the first of which is exact; results beyond the limits stay beyond. */              \
        int first = exponent < 0 ? -900 : 900;                                                               \
        exponent = exponent < -1200 ? -1200 : exponent > 1200 ? 1200 : exponent;                             \
        if (exponent > -1000 && exponent < 1000)                                                             \
            return q * power_of_two(exponent);                                                               \
        return product_##suffix(q * power_of_two(first), power_of_two(exponent - first));                    \
    }                                                                                                        \
    ANYWARP_LONG double root_##suffix(double v) {                                                            \
        return v > 0 && is_usual(v) ? root(v, mode) : __builtin_sqrt(v);                                     \
    }
ANYWARP_DIVISIONS(ru, upwards)
ANYWARP_DIVISIONS(rd, downwards)
ANYWARP_DIVISIONS(rz, to_zero)
#undef ANYWARP_DIVISIONS

} // namespace anywarp

#define ANYWARP_ROUNDED_OF(mode)                                                                             \
    ANYWARP_DEVICE float __fadd_##mode(float a, float b) { return anywarp::sum_##mode(a, b); }               \
    ANYWARP_DEVICE float __fsub_##mode(float a, float b) { return anywarp::sum_##mode(a, -b); }              \
    ANYWARP_DEVICE float __fmul_##mode(float a, float b) { return anywarp::product_##mode(a, b); }           \
    ANYWARP_DEVICE float __fmaf_##mode(float a, float b, float c) { return anywarp::fma_##mode(a, b, c); }   \
    ANYWARP_DEVICE float __fdiv_##mode(float a, float b) {                                                   \
        return anywarp::to_float_##mode(anywarp::quotient_##mode((double)a, (double)b));                     \
    }                                                                                                        \
    ANYWARP_DEVICE float __frcp_##mode(float a) { return __fdiv_##mode(1, a); }                              \
    ANYWARP_DEVICE float __fsqrt_##mode(float a) {                                                           \
        return anywarp::to_float_##mode(anywarp::root_##mode((double)a));                                    \
    }                                                                                                        \
    ANYWARP_DEVICE double __dadd_##mode(double a, double b) { return anywarp::sum_##mode(a, b); }            \
    ANYWARP_DEVICE double __dsub_##mode(double a, double b) { return anywarp::sum_##mode(a, -b); }           \
    ANYWARP_DEVICE double __dmul_##mode(double a, double b) { return anywarp::product_##mode(a, b); }        \
    ANYWARP_DEVICE double __fma_##mode(double a, double b, double c) {                                       \
        return anywarp::fma_##mode(a, b, c);                                                                 \
    }                                                                                                        \
    ANYWARP_DEVICE double __ddiv_##mode(double a, double b) { return anywarp::quotient_##mode(a, b); }       \
    ANYWARP_DEVICE double __drcp_##mode(double a) { return anywarp::quotient_##mode(1.0, a); }               \
    ANYWARP_DEVICE double __dsqrt_##mode(double a) { return anywarp::root_##mode(a); }                       \
    ANYWARP_DEVICE float __double2float_##mode(double v) { return anywarp::to_float_##mode(v); }             \
    ANYWARP_DEVICE float __int2float_##mode(int v) { return anywarp::to_float_##mode((double)v); }           \
    ANYWARP_DEVICE float __uint2float_##mode(unsigned v) { return anywarp::to_float_##mode((double)v); }     \
    ANYWARP_DEVICE float __ll2float_##mode(long long v) {                                                    \
        return anywarp::to_float_##mode(anywarp::odd(v));                                                    \
    }                                                                                                        \
    ANYWARP_DEVICE float __ull2float_##mode(unsigned long long v) {                                          \
        return anywarp::to_float_##mode(anywarp::odd(v));                                                    \
    }                                                                                                        \
    /* Both halves are exact; 0 stays positive. */                                                           \
    ANYWARP_DEVICE double __ll2double_##mode(long long v) {                                                  \
        return v == 0 ? 0 : anywarp::sum_##mode((double)(int)(v >> 32) * 0x1p32, (double)(unsigned)v);       \
    }                                                                                                        \
    ANYWARP_DEVICE double __ull2double_##mode(unsigned long long v) {                                        \
        return v == 0 ? 0 : anywarp::sum_##mode((double)(unsigned)(v >> 32) * 0x1p32, (double)(unsigned)v);  \
    }
ANYWARP_ROUNDED_OF(ru)
ANYWARP_ROUNDED_OF(rd)
ANYWARP_ROUNDED_OF(rz)
#undef ANYWARP_ROUNDED_OF

/* To integers, from the whole number in the direction; the hardware's conversions saturate. */
#define ANYWARP_CONVERSION(name, from, to, kind)                                                             \
    ANYWARP_DEVICE to __##name##_rn(from v) { return (to)__builtin_rint##kind(v); }                          \
    ANYWARP_DEVICE to __##name##_rz(from v) { return (to)v; }                                                \
    ANYWARP_DEVICE to __##name##_ru(from v) { return (to)__builtin_ceil##kind(v); }                          \
    ANYWARP_DEVICE to __##name##_rd(from v) { return (to)__builtin_floor##kind(v); }
#define ANYWARP_CONVERSIONS_TO(name, to)                                                                     \
    ANYWARP_CONVERSION(float2##name, float, to, f)                                                           \
    ANYWARP_CONVERSION(double2##name, double, to, )
ANYWARP_CONVERSIONS_TO(int, int)
ANYWARP_CONVERSIONS_TO(uint, unsigned)
ANYWARP_CONVERSIONS_TO(ll, long long)
ANYWARP_CONVERSIONS_TO(ull, unsigned long long)
#undef ANYWARP_CONVERSIONS_TO
#undef ANYWARP_CONVERSION
ANYWARP_DEVICE float __double2float_rn(double v) { return (float)v; }
ANYWARP_DEVICE float __int2float_rn(int v) { return (float)v; }
ANYWARP_DEVICE float __uint2float_rn(unsigned v) { return (float)v; }
ANYWARP_DEVICE float __ll2float_rn(long long v) { return (float)v; }
ANYWARP_DEVICE float __ull2float_rn(unsigned long long v) { return (float)v; }
ANYWARP_DEVICE double __ll2double_rn(long long v) { return (double)v; }
ANYWARP_DEVICE double __ull2double_rn(unsigned long long v) { return (double)v; }

#endif
