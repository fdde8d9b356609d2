/*
 * Anywarp's headers for GPU languages: functions of float. They compute in double, whose rounding to float is
 * then nearly always the only one; those that programs call most have shorter polynomials.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_MATH_FLOAT_H
#define ANYWARP_MATH_FLOAT_H

#include <anywarp/math_special.h>

namespace anywarp {

/* 2^k exp(r) for |r| up to log(2) / 2. */
ANYWARP_DEVICE double short_exp_part(double r, double k) {
    return (1 + fma(r * r, poly_exp_short(r), r)) * power_of_two((int)k);
}
ANYWARP_DEVICE double short_exp(double x) {
    x = x > 200 ? 200 : x < -200 ? -200 : x;
    double k = __builtin_rint(x * ANYWARP_LOG2E);
    return short_exp_part(fma(-k, ANYWARP_LN2, x), k);
}
ANYWARP_DEVICE double short_exp2(double x) {
    x = x > 300 ? 300 : x < -300 ? -300 : x;
    double k = __builtin_rint(x);
    return short_exp_part((x - k) * ANYWARP_LN2, k);
}
/* log(x) for positive finite x. */
ANYWARP_DEVICE double short_log(double x) {
    word b = bits(x) + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd);
    double k = (int)(b >> 52) - 1023;
    double f = from_bits((b & 0x000fffffffffffff) + 0x3fe6a09e667f3bcd) - 1;
    double s = f / (2 + f), z = s * s;
    return fma(k, ANYWARP_LN2, fma(z * s, poly_log_short(z), 2 * s));
}
ANYWARP_DEVICE float log_in_base(float x, double base) {
    if (!(x > 0) || x > 3.4028235e38f)
        return x == 0 ? -__builtin_huge_valf() : x < 0 ? __builtin_nanf("") : x;
    return (float)(short_log(x) * base);
}
ANYWARP_DEVICE double short_sin_part(double r) {
    double z = r * r;
    return fma(z * r, poly_sin_short(z), r);
}
ANYWARP_DEVICE double short_cos_part(double r) {
    double z = r * r;
    return fma(z * z, poly_cos_short(z), fma(z, -0.5, 1));
}
ANYWARP_DEVICE float short_turned(double r, int quadrant) {
    double y = quadrant & 1 ? short_cos_part(r) : short_sin_part(r);
    return (float)(quadrant & 2 ? -y : y);
}
ANYWARP_DEVICE double short_reduced(double x, int *quadrant) {
    if (magnitude(x) >= 0x1p22) {
        angle a = reduced_large(x);
        *quadrant = a.quadrant;
        return a.rest.high;
    }
    double k = __builtin_rint(x * ANYWARP_2_PI);
    *quadrant = (int)k;
    return fma(-k, ANYWARP_PI_2_LOW, fma(-k, ANYWARP_PI_2, x));
}

ANYWARP_DEVICE float exp(float x) { return x != x ? x : (float)short_exp(x); }
ANYWARP_DEVICE float exp2(float x) { return x != x ? x : (float)short_exp2(x); }
ANYWARP_DEVICE float exp10(float x) { return x != x ? x : (float)short_exp((double)x * ANYWARP_LN10); }
ANYWARP_DEVICE float log(float x) { return log_in_base(x, 1.0); }
ANYWARP_DEVICE float log2(float x) { return log_in_base(x, ANYWARP_LOG2E); }
ANYWARP_DEVICE float log10(float x) { return log_in_base(x, ANYWARP_LOG10E); }
ANYWARP_DEVICE float sin(float x) {
    if (!(__builtin_fabsf(x) <= 3.4028235e38f))
        return __builtin_nanf("");
    int quadrant;
    double r = short_reduced(x, &quadrant);
    return x == 0 ? x : short_turned(r, quadrant);
}
ANYWARP_DEVICE float cos(float x) {
    if (!(__builtin_fabsf(x) <= 3.4028235e38f))
        return __builtin_nanf("");
    int quadrant;
    double r = short_reduced(x, &quadrant);
    return short_turned(r, quadrant + 1);
}
ANYWARP_DEVICE void sincos(float x, float *s, float *c) {
    *s = sin(x);
    *c = cos(x);
}
ANYWARP_DEVICE float pow(float x, float y) {
    double a = magnitude(x), b = y;
    /* Zeros, infinities, NaNs and negative bases are the rarer cases. */
    if (!(x > 0 && a < infinity() && magnitude(b) < infinity()))
        return (float)pow((double)x, (double)y);
    return (float)short_exp(log((double)x) * b);
}
ANYWARP_DEVICE float sqrt(float x) { return __builtin_sqrtf(x); }
ANYWARP_DEVICE float cbrt(float x) { return (float)cbrt((double)x); }
ANYWARP_DEVICE float rsqrtf_near(float x) { return (float)(1 / __builtin_sqrt((double)x)); }
ANYWARP_DEVICE float hypot(float x, float y) {
    double a = x, b = y;
    return is_infinite(a) || is_infinite(b) ? __builtin_huge_valf() : (float)__builtin_sqrt(fma(a, a, b * b));
}

/* A sum of squares of floats neither overflows nor vanishes in double. */
ANYWARP_DEVICE float length(float a, float b, float c, float d) {
    double s = fma((double)a, (double)a, fma((double)b, (double)b, fma((double)c, (double)c, (double)d * (double)d)));
    bool far = is_infinite(a) || is_infinite(b) || is_infinite(c) || is_infinite(d);
    return far ? __builtin_huge_valf() : (float)__builtin_sqrt(s);
}

ANYWARP_DEVICE float fmod(float x, float y) { return (float)fmod((double)x, (double)y); }
ANYWARP_DEVICE float nextafter(float x, float y) {
    if (x != x || y != y)
        return x + y;
    if (x == y)
        return y;
    if (x == 0)
        return __builtin_copysignf(1.40129846e-45f, y);
    return __builtin_bit_cast(float, __builtin_bit_cast(unsigned, x) + ((x < y) == (x > 0) ? 1 : -1));
}

} // namespace anywarp

#endif
