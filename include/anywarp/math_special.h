/*
 * Anywarp's headers for GPU languages: error functions, gamma functions, remainders and other functions of
 * double. docs/cc.md has their errors.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_MATH_SPECIAL_H
#define ANYWARP_MATH_SPECIAL_H

#include <anywarp/math_double.h>

namespace anywarp {

/* ---- Error functions --------------------------------------------------------------------------------------- */

/* exp(x^2) erfc(x) for x >= 0. */
ANYWARP_DEVICE double erfcx_part(double x) {
    ANYWARP_EXACT
    /* From here on, the series in 1 / x^2 is shorter. */
    if (x > 32) {
        double i = 1 / x, z = i * i;
        double p = fma(fma(fma(-1.875, z, 0.75), z, -0.5), z, 1);
        return 0.5 * ANYWARP_2_SQRT_PI * i * p;
    }
    double t = (x - 4) / (x + 4);
    return poly_erfcx(t) / fma(2, x, 1);
}
/* exp(-x^2) erfcx, for x >= 0. */
ANYWARP_DEVICE double erfc_part(double x) {
    ANYWARP_EXACT
    if (x > 27.5)
        return 0;
    pair z = product(x, x);
    /* Results below 2^-1022 are rounded once, at the end. */
    pair minus = make_pair(-z.high, -z.low);
    double e = exp_pair(minus);
    return e < 0x1p-960 ? exp_pair(minus, 64) * erfcx_part(x) * 0x1p-64 : e * erfcx_part(x);
}
ANYWARP_LONG double erf(double x) {
    ANYWARP_EXACT
    double a = magnitude(x);
    if (is_nan(x))
        return x;
    if (a < 1) {
        /* Larger powers first; the factor of x is a pair. */
        pair p = product(x, ANYWARP_2_SQRT_PI);
        return a < 0x1p-500 ? x * ANYWARP_2_SQRT_PI : p.high + (p.low + x * (ANYWARP_2_SQRT_PI_LOW + x * x * poly_erf(x * x)));
    }
    return with_sign(a > 6 ? 1 : 1 - erfc_part(a), x);
}
ANYWARP_LONG double erfc(double x) {
    ANYWARP_EXACT
    if (is_nan(x))
        return x;
    if (x < 0.25)
        return x < -6 ? 2 : x < -1 ? 2 - erfc_part(-x) : 1 - erf(x);
    return erfc_part(x);
}
ANYWARP_LONG double erfcx(double x) {
    ANYWARP_EXACT
    if (x >= 0 || is_nan(x))
        return is_nan(x) ? x : erfcx_part(x);
    if (x < -27)
        return infinity();
    /* exp(x^2) erfc(x), with erfc(x) between 1 and 2. */
    pair z = product(x, x);
    return exp_pair(z) * (x < -6 ? 2 : 1 - erf(x));
}
ANYWARP_LONG double normcdf(double x) {
    ANYWARP_EXACT
    if (is_nan(x))
        return x;
    if (x < -39)
        return 0;
    if (x > 9)
        return 1;
    /* erfc(-x / sqrt(2)) / 2; the rest of the division enters through the derivative. */
    pair y = multiply(make_pair(-x, 0), make_pair(ANYWARP_SQRT_1_2, ANYWARP_SQRT_1_2_LOW));
    double r = 0.5 * erfc(y.high);
    return y.high > 1 ? fma(r * -2 * y.high, y.low, r) : r;
}

/* The x with erfc(x) = p and erf(x) = q, where p = 1 - q, for q >= 0: a guess and steps of Halley. */
ANYWARP_LONG double inverse_erf(double q, double p) {
    ANYWARP_EXACT
    double l = log(p * (1 + q)), t = 4.3307467 + 0.5 * l;
    double x = __builtin_sqrt(__builtin_sqrt(fma(t, t, -l * 6.8027211)) - t);
    if (p < 1e-8) {
        double u = __builtin_sqrt(-log(p));
        x = u - (log(u) + 0.5723649) / (2 * u);
    }
    for (int i = 0; i < 4; i++) {
        /* The distance to the solution of the tangent: for the tail from the relative error of erfc. */
        double step;
        if (x > 0.5) {
            double c = erfc_part(x);
            step = (c - p) / c * erfcx_part(x) / ANYWARP_2_SQRT_PI;
        } else {
            step = (q - erf(x)) / (ANYWARP_2_SQRT_PI * exp(-x * x));
        }
        x += step / (1 - x * step);
    }
    return x;
}
ANYWARP_LONG double erfinv(double y) {
    double a = magnitude(y);
    if (!(a <= 1))
        return nan();
    if (a == 1)
        return with_sign(infinity(), y);
    if (a < 0x1p-27)
        return y / ANYWARP_2_SQRT_PI;
    return with_sign(inverse_erf(a, 1 - a), y);
}
ANYWARP_LONG double erfcinv(double y) {
    if (!(y >= 0 && y <= 2))
        return nan();
    if (y == 0 || y == 2)
        return y == 0 ? infinity() : -infinity();
    return y <= 1 ? inverse_erf(1 - y, y) : -inverse_erf(y - 1, 2 - y);
}
ANYWARP_LONG double normcdfinv(double y) {
    if (!(y >= 0 && y <= 1))
        return nan();
    return -erfcinv(2 * y) / ANYWARP_SQRT_1_2;
}

/* ---- Gamma functions --------------------------------------------------------------------------------------- */

/* log(gamma(x)) for x >= 20, as a pair. */
ANYWARP_LONG pair stirling(double x) {
    ANYWARP_EXACT
    pair l = log_pair(x);
    pair p = multiply(l, make_pair(x - 0.5, 0));
    p = add(p, make_pair(-x, 0));
    p = add(p, make_pair(ANYWARP_HALF_LOG_2PI, ANYWARP_HALF_LOG_2PI_LOW));
    double i = 1 / x;
    return add(p, make_pair(i * poly_stirling(i * i), 0));
}
/* gamma(x) for x from 0.5 to 20: from [1.5, 2.5] on by its recurrence. */
ANYWARP_LONG double gamma_middle(double x) {
    ANYWARP_EXACT
    pair factor = make_pair(1, 0), y = make_pair(x, 0);
    bool below = x < 1.5;
    if (below)
        factor = y;
    while (y.high > 2.5) {
        y = sum(y.high - 1, 0);
        factor = multiply(factor, y);
    }
    double g = poly_gamma(below ? x - 1 : y.high - 2);
    pair r = below ? divide(make_pair(1, 0), multiply(factor, make_pair(g, 0))) : divide(factor, make_pair(g, 0));
    return r.high + r.low;
}
ANYWARP_LONG double tgamma(double x) {
    ANYWARP_EXACT
    if (is_nan(x) || x == infinity())
        return x;
    if (x == 0)
        return with_sign(infinity(), x);
    if (x >= 0.5)
        return x < 20 ? gamma_middle(x) : x > 172 ? infinity() : exp_pair(stirling(x));
    if (__builtin_floor(x) == x)
        return nan();
    if (x > -0.5)
        return gamma_middle(1 + x) / x;
    /* pi / (sin(pi x) gamma(1 - x)) */
    double s = sinpi(x);
    if (x < -184)
        return s > 0 ? 0.0 : -0.0;
    if (x > -19)
        return ANYWARP_PI / (s * -x * gamma_middle(-x));
    pair l = stirling(-x);
    double e = exp_pair(make_pair(-0.5 * l.high, -0.5 * l.low));
    return ANYWARP_PI / (s * -x) * e * e;
}
ANYWARP_LONG double lgamma(double x) {
    ANYWARP_EXACT
    if (is_nan(x) || is_infinite(x))
        return magnitude(x);
    if (x <= 0 && __builtin_floor(x) == x)
        return infinity();
    double a = magnitude(x), r;
    if (x < 0) {
        if (a < 0x1p-60)
            return -log(a);
        return log(ANYWARP_PI / magnitude(x * sinpi(x))) - lgamma(a);
    }
    if (a < 0.25)
        r = poly_lgamma(a) * (a * (a + 1)) - log(a) - log1p(a);
    else if (a < 1.25)
        r = poly_lgamma(a - 1) * ((a - 1) * a) - log(a);
    else if (a < 2.75)
        r = poly_lgamma(a - 2) * ((a - 2) * (a - 1));
    else if (a < 20)
        r = log(gamma_middle(a));
    else if (a < 1e300) {
        pair l = stirling(a);
        r = l.high + l.low;
    } else
        r = a * (log(a) - 1);
    return r;
}

/* ---- Remainders and parts ---------------------------------------------------------------------------------- */

/* The significand of a positive number's bits, with bit 52 set also for a subnormal number, and its exponent with
   the bias. */
ANYWARP_DEVICE word significand(word a, int *exponent) {
    word m = a & 0x000fffffffffffff;
    if (a >> 52) {
        *exponent = (int)(a >> 52);
        return m | 1ull << 52;
    }
    int shift = __builtin_clzll(m) - 11;
    *exponent = 1 - shift;
    return m << shift;
}

/* The rest of |x| / |y|, and the last bits of the quotient. */
ANYWARP_LONG double rest(double x, double y, unsigned *quotient) {
    word a = bits(magnitude(x)), b = bits(magnitude(y));
    *quotient = 0;
    if (a < b)
        return magnitude(x);
    int ea, eb;
    word ma = significand(a, &ea), mb = significand(b, &eb);
    unsigned q = 0;
    for (int n = ea - eb; n >= 0; n--) {
        q <<= 1;
        if (ma >= mb) {
            ma -= mb;
            q |= 1;
        }
        if (n)
            ma <<= 1;
    }
    *quotient = q;
    return scaled((double)ma, eb - 1075);
}
ANYWARP_LONG double fmod(double x, double y) {
    if (y == 0 || is_infinite(x) || is_nan(x) || is_nan(y))
        return nan();
    unsigned quotient;
    return is_infinite(y) ? x : with_sign(rest(x, y, &quotient), x);
}
ANYWARP_LONG double remquo(double x, double y, int *quotient) {
    *quotient = 0;
    if (y == 0 || is_infinite(x) || is_nan(x) || is_nan(y))
        return nan();
    if (is_infinite(y))
        return x;
    unsigned q;
    double r = rest(x, y, &q), b = magnitude(y);
    /* r > b / 2, without losing the last bit of b. */
    if (r > b - r || (r == b - r && (q & 1))) {
        r -= b;
        q++;
    }
    *quotient = (int)(q & 0x7fffffff);
    if (is_negative(x) != is_negative(y))
        *quotient = -*quotient;
    return is_negative(x) ? -r : r == 0 ? 0.0 : r;
}
ANYWARP_DEVICE double remainder(double x, double y) {
    int quotient;
    return remquo(x, y, &quotient);
}
ANYWARP_LONG double frexp(double x, int *e) {
    *e = 0;
    if (x == 0 || !(magnitude(x) < infinity()))
        return x;
    if (magnitude(x) < from_bits(1ull << 52)) {
        x *= 0x1p54;
        *e = -54;
    }
    *e += (int)(bits(x) >> 52 & 0x7ff) - 1022;
    return from_bits((bits(x) & 0x800fffffffffffff) | 0x3fe0000000000000);
}
ANYWARP_DEVICE double ldexp(double x, int n) { return scaled(x, n < -5000 ? -5000 : n > 5000 ? 5000 : n); }
ANYWARP_DEVICE int ilogb(double x) {
    if (x == 0 || is_nan(x))
        return (int)0x80000000;
    if (is_infinite(x))
        return 0x7fffffff;
    int e;
    frexp(x, &e);
    return e - 1;
}
ANYWARP_DEVICE double logb(double x) {
    return x == 0 ? -infinity() : is_nan(x) ? x : is_infinite(x) ? infinity() : (double)ilogb(x);
}
ANYWARP_DEVICE double modf(double x, double *whole) {
    *whole = __builtin_trunc(x);
    return with_sign(is_infinite(x) ? 0 : x - *whole, x);
}
ANYWARP_LONG double nextafter(double x, double y) {
    if (is_nan(x) || is_nan(y))
        return x + y;
    if (x == y)
        return y;
    if (x == 0)
        return with_sign(from_bits(1), y);
    return from_bits(bits(x) + ((x < y) == (x > 0) ? 1 : -1));
}
ANYWARP_DEVICE double round(double x) {
    double t = __builtin_trunc(x);
    return with_sign(magnitude(x - t) >= 0.5 ? t + with_sign(1, x) : t, x);
}
ANYWARP_DEVICE double fdim(double x, double y) { return is_nan(x) || is_nan(y) ? x + y : x > y ? x - y : 0; }

} // namespace anywarp

#endif
