/*
 * Anywarp's headers for GPU languages: elementary functions of double. docs/cc.md has their errors.
 *
 * Written for this project from the textbooks' methods: argument reduction, a polynomial (math_tables.h), and
 * where one rounding matters, sums of two doubles ("pairs").
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_MATH_DOUBLE_H
#define ANYWARP_MATH_DOUBLE_H

#include <anywarp/math_tables.h>

/* Begins a function in which sums must stay as they are written. */
#define ANYWARP_EXACT _Pragma("clang fp contract(off) reassociate(off)")

namespace anywarp {

typedef unsigned long long word;

ANYWARP_DEVICE word bits(double x) { return __builtin_bit_cast(word, x); }
ANYWARP_DEVICE double from_bits(word x) { return __builtin_bit_cast(double, x); }
ANYWARP_DEVICE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
ANYWARP_DEVICE double magnitude(double x) { return __builtin_fabs(x); }
ANYWARP_DEVICE bool is_nan(double x) { return (bits(x) & ~0ull >> 1) > 0x7ff0000000000000; }
ANYWARP_DEVICE bool is_infinite(double x) { return (bits(x) & ~0ull >> 1) == 0x7ff0000000000000; }
ANYWARP_DEVICE bool is_negative(double x) { return bits(x) >> 63; }
ANYWARP_DEVICE double infinity() { return from_bits(0x7ff0000000000000); }
ANYWARP_DEVICE double nan() { return from_bits(0x7ff8000000000000); }
ANYWARP_DEVICE double with_sign(double x, double sign) { return __builtin_copysign(x, sign); }

/* 2^n for n from -1022 to 1023. */
ANYWARP_DEVICE double power_of_two(int n) { return from_bits((word)(n + 1023) << 52); }

/* x 2^n with one rounding. */
ANYWARP_DEVICE double scaled(double x, int n) {
    if (n > 1023) {
        x *= power_of_two(1023);
        n -= 1023;
        if (n > 1023) {
            x *= power_of_two(1023);
            n = n > 2046 ? 1023 : n - 1023;
        }
    } else if (n < -1022) {
        /* The steps keep 53 bits until the last one. */
        x *= power_of_two(-1022 + 53);
        n += 1022 - 53;
        if (n < -1022) {
            x *= power_of_two(-1022 + 53);
            n = n < -1022 - 969 ? -1022 : n + 1022 - 53;
        }
    }
    return x * power_of_two(n);
}

/* The sum of two doubles, of which the second is less than half a unit of the first. */
struct pair {
    double high, low;
};

ANYWARP_DEVICE pair make_pair(double high, double low) {
    pair p = {high, low};
    return p;
}
ANYWARP_DEVICE pair quick_sum(double a, double b) {
    ANYWARP_EXACT
    double s = a + b;
    return make_pair(s, b - (s - a));
}
ANYWARP_DEVICE pair sum(double a, double b) {
    ANYWARP_EXACT
    double s = a + b, t = s - a;
    return make_pair(s, (a - (s - t)) + (b - t));
}
ANYWARP_DEVICE pair product(double a, double b) {
    ANYWARP_EXACT
    double p = rounded_product(a, b);
    return make_pair(p, fma(a, b, -p));
}
ANYWARP_DEVICE pair add(pair a, pair b) {
    ANYWARP_EXACT
    pair s = sum(a.high, b.high);
    return quick_sum(s.high, s.low + (a.low + b.low));
}
ANYWARP_DEVICE pair multiply(pair a, pair b) {
    ANYWARP_EXACT
    pair p = product(a.high, b.high);
    return quick_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}
ANYWARP_DEVICE pair divide(pair a, pair b) {
    ANYWARP_EXACT
    double q = a.high / b.high;
    double rest = fma(-q, b.high, a.high) + (a.low - q * b.low);
    return quick_sum(q, rest / b.high);
}

/* ---- Exponentials ------------------------------------------------------------------------------------------ */

/* exp(r + low) - 1 for |r| up to log(2) / 2. */
ANYWARP_DEVICE double exp_part(double r, double low) {
    ANYWARP_EXACT
    return r + (low + r * r * poly_exp(r));
}

/* exp(x) 2^by of a pair that is neither huge nor NaN. */
ANYWARP_LONG double exp_pair(pair x, int by = 0) {
    ANYWARP_EXACT
    double k = __builtin_rint(x.high * ANYWARP_LOG2E);
    double r = fma(-k, ANYWARP_LN2_PART0, x.high);
    pair rest = sum(r, -k * ANYWARP_LN2_PART1);
    rest = quick_sum(rest.high, rest.low + (x.low - k * ANYWARP_LN2_PART2));
    return scaled(1 + exp_part(rest.high, rest.low), (int)k + by);
}

ANYWARP_LONG double exp(double x) {
    if (!(magnitude(x) < 800))
        return is_nan(x) ? x : x > 0 ? infinity() : 0;
    return exp_pair(make_pair(x, 0));
}

ANYWARP_LONG double exp2(double x) {
    ANYWARP_EXACT
    if (!(magnitude(x) < 1100))
        return is_nan(x) ? x : x > 0 ? infinity() : 0;
    double k = __builtin_rint(x);
    pair r = multiply(make_pair(x - k, 0), make_pair(ANYWARP_LN2, ANYWARP_LN2_LOW));
    return scaled(1 + exp_part(r.high, r.low), (int)k);
}

ANYWARP_LONG double exp10(double x) {
    ANYWARP_EXACT
    if (!(magnitude(x) < 350))
        return is_nan(x) ? x : x > 0 ? infinity() : 0;
    double k = __builtin_rint(x * (ANYWARP_LN10 * ANYWARP_LOG2E));
    double r = fma(-k, ANYWARP_LOG10_2_PART0, x);
    pair rest = sum(r, -k * ANYWARP_LOG10_2_PART1);
    rest = quick_sum(rest.high, rest.low - k * ANYWARP_LOG10_2_PART2);
    rest = multiply(rest, make_pair(ANYWARP_LN10, ANYWARP_LN10_LOW));
    return scaled(1 + exp_part(rest.high, rest.low), (int)k);
}

ANYWARP_LONG double expm1(double x) {
    ANYWARP_EXACT
    if (!(magnitude(x) < 800))
        return is_nan(x) ? x : x > 0 ? infinity() : -1;
    double k = __builtin_rint(x * ANYWARP_LOG2E);
    if (k == 0)
        return x == 0 ? x : exp_part(x, 0);
    double r = fma(-k, ANYWARP_LN2_PART0, x);
    pair rest = sum(r, -k * ANYWARP_LN2_PART1);
    double low = rest.low - k * ANYWARP_LN2_PART2;
    double q = low + rest.high * rest.high * poly_exp(rest.high);
    if (k > 1000)
        return scaled(1 + (rest.high + q), (int)k);
    if (k < -60)
        return -1;
    /* 2^k (1 + r + q) - 1, from the largest term on. */
    double scale = power_of_two((int)k);
    pair s = sum(scale - 1, scale * rest.high);
    return s.high + (s.low + scale * q);
}

/* ---- Logarithms -------------------------------------------------------------------------------------------- */

/* x = m 2^k with m from 1 / sqrt(2) to sqrt(2), for positive finite x. */
ANYWARP_DEVICE double mantissa(double x, int *k) {
    int e = 0;
    if (x < from_bits(1ull << 52)) {
        x *= 0x1p54;
        e = -54;
    }
    word b = bits(x) + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd);
    *k = e + (int)(b >> 52) - 1023;
    return from_bits((b & 0x000fffffffffffff) + 0x3fe6a09e667f3bcd);
}

ANYWARP_LONG double log(double x) {
    ANYWARP_EXACT
    if (!(x > 0) || is_infinite(x))
        return x == 0 ? -infinity() : x > 0 || is_nan(x) ? x : nan();
    int k;
    double f = mantissa(x, &k) - 1;
    double s = f / (2 + f), z = s * s, half = rounded_product(0.5 * f, f);
    /* log(1 + f) = f - f^2 / 2 + s (f^2 / 2 + s^2 P): the rounding of s matters little. */
    double rest = s * (half + z * poly_log(z));
    pair top = sum(k * ANYWARP_LN2_PART0, f);
    pair next = sum(top.high, -half);
    double low = top.low + next.low + fma((double)k, ANYWARP_LN2_PART1 + ANYWARP_LN2_PART2, fma(0.5 * f, -f, half) + rest);
    return next.high + low;
}

/* log(x) as a pair, for positive finite x. */
ANYWARP_LONG pair log_pair(double x) {
    ANYWARP_EXACT
    int k;
    double m = mantissa(x, &k);
    pair s = divide(make_pair(m - 1, 0), sum(m, 1));
    pair z = multiply(s, s);
    pair p = make_pair(z.high * poly_log_tail(z.high), 0);
    p = multiply(z, add(make_pair(ANYWARP_2_7, ANYWARP_2_7_LOW), p));
    p = multiply(z, add(make_pair(ANYWARP_2_5, ANYWARP_2_5_LOW), p));
    p = multiply(z, add(make_pair(ANYWARP_2_3, ANYWARP_2_3_LOW), p));
    p = add(make_pair(2, 0), p);
    p = multiply(s, p);
    pair l = add(sum(k * ANYWARP_LN2_PART0, k * ANYWARP_LN2_PART1), make_pair(k * ANYWARP_LN2_PART2, 0));
    return add(l, p);
}

ANYWARP_DEVICE double log_in_base(double x, double high, double low) {
    if (!(x > 0) || is_infinite(x))
        return x == 0 ? -infinity() : x > 0 || is_nan(x) ? x : nan();
    pair l = multiply(log_pair(x), make_pair(high, low));
    return l.high + l.low;
}
ANYWARP_LONG double log2(double x) { return log_in_base(x, ANYWARP_LOG2E, ANYWARP_LOG2E_LOW); }
ANYWARP_LONG double log10(double x) { return log_in_base(x, ANYWARP_LOG10E, ANYWARP_LOG10E_LOW); }

ANYWARP_LONG double log1p(double x) {
    ANYWARP_EXACT
    if (!(x > -1) || is_infinite(x))
        return x == -1 ? -infinity() : x > 0 || is_nan(x) ? x : nan();
    if (magnitude(x) < 0x1p-54)
        return x;
    pair u = sum(1, x);
    return log(u.high) + u.low / u.high;
}

ANYWARP_LONG double pow(double x, double y) {
    ANYWARP_EXACT
    if (y == 0 || x == 1)
        return 1;
    if (is_nan(x) || is_nan(y))
        return x + y;
    bool integer = __builtin_trunc(y) == y, odd = integer && magnitude(y) < 0x1p53 && ((long long)y & 1);
    double a = magnitude(x);
    if (a == 0 || is_infinite(a)) {
        double r = (a == 0) == (y < 0) ? infinity() : 0;
        return odd ? with_sign(r, x) : r;
    }
    if (is_infinite(y))
        return a == 1 ? 1 : (a > 1) == (y > 0) ? infinity() : 0;
    if (x < 0 && !integer)
        return nan();
    pair l = log_pair(a);
    double r;
    if (magnitude(l.high * y) > 800) {
        r = (l.high > 0) == (y > 0) ? infinity() : 0;
    } else {
        pair p = product(l.high, y);
        r = exp_pair(quick_sum(p.high, p.low + l.low * y));
    }
    return odd && x < 0 ? -r : r;
}

/* ---- Circular functions ------------------------------------------------------------------------------------ */

/* A fraction of a turn: x = (n + r) pi / 2 with |r| up to about 1 / 2; the pair is r pi / 2. */
struct angle {
    int quadrant;
    pair rest;
};

/* For |x| of at least 2^27: the bits of 2 / pi that matter, times x. */
ANYWARP_LONG angle reduced_large(double x) {
    ANYWARP_EXACT
    word b = bits(x);
    int e = (int)(b >> 52 & 0x7ff) - 1075;
    word m = (b & 0x000fffffffffffff) | 0x0010000000000000;
    /* x = m 2^e. Bits of 2 / pi before these would give multiples of 4. */
    int first = e - 2 + 64, at = first >> 6, by = first & 63;
    word w[3];
    for (int i = 0; i < 3; i++)
        w[i] = by ? two_over_pi[at + i] << by | two_over_pi[at + i + 1] >> (64 - by) : two_over_pi[at + i];
    /* m times the 192 bits, modulo 2^192. */
    unsigned __int128 t = (unsigned __int128)m * w[2];
    t = (unsigned __int128)m * w[1] + (word)(t >> 64);
    word middle = (word)t;
    word high = m * w[0] + (word)(t >> 64);
    angle a;
    a.quadrant = (int)(high >> 62);
    unsigned __int128 f = (unsigned __int128)high << 64 | middle;
    f <<= 2;
    bool up = f >> 127;
    if (up) {
        f = -f;
        a.quadrant++;
    }
    word h = (word)(f >> 64), l = (word)f;
    /* The leading zeros are shifted out, so that both parts are as long as doubles can be. */
    int zeros = h ? __builtin_clzll(h) : 64 + (l ? __builtin_clzll(l) : 63);
    f <<= zeros;
    h = (word)(f >> 64);
    l = (word)f;
    double hd = (double)(h >> 11) * 0x1p-53, ld = (double)((h & 0x7ff) << 53 | l >> 11) * 0x1p-117;
    pair r = multiply(quick_sum(hd, ld), make_pair(ANYWARP_PI_2, ANYWARP_PI_2_LOW));
    double scale = power_of_two(-zeros);
    if (up)
        scale = -scale;
    if (x < 0) {
        scale = -scale;
        a.quadrant = -a.quadrant;
    }
    a.rest = make_pair(r.high * scale, r.low * scale);
    return a;
}

ANYWARP_DEVICE angle reduced(double x) {
    ANYWARP_EXACT
    if (magnitude(x) >= 0x1p22)
        return reduced_large(x);
    double k = __builtin_rint(x * ANYWARP_2_PI);
    angle a;
    a.quadrant = (int)k;
    double r = fma(-k, ANYWARP_PI_2_PART0, x);
    pair s = sum(r, -k * ANYWARP_PI_2_PART1);
    pair t = sum(s.high, -k * ANYWARP_PI_2_PART2);
    a.rest = quick_sum(t.high, t.low + (s.low - k * ANYWARP_PI_2_PART3));
    return a;
}

ANYWARP_DEVICE pair sin_part(pair r) {
    ANYWARP_EXACT
    double z = r.high * r.high;
    return quick_sum(r.high, fma(z * r.high, poly_sin(z), r.low * fma(z, -0.5, 1)));
}
ANYWARP_DEVICE pair cos_part(pair r) {
    ANYWARP_EXACT
    pair z = product(r.high, r.high);
    pair s = quick_sum(1, -0.5 * z.high);
    return quick_sum(s.high, s.low + (fma(z.high * z.high, poly_cos(z.high), -0.5 * z.low) - r.high * r.low));
}

ANYWARP_DEVICE double turned(pair r, int quadrant) {
    pair v = quadrant & 1 ? cos_part(r) : sin_part(r);
    double y = v.high + v.low;
    return quadrant & 2 ? -y : y;
}

ANYWARP_LONG double sin(double x) {
    if (!(magnitude(x) < infinity()))
        return nan();
    if (magnitude(x) < 0x1p-27)
        return x;
    angle a = reduced(x);
    return turned(a.rest, a.quadrant);
}
ANYWARP_LONG double cos(double x) {
    if (!(magnitude(x) < infinity()))
        return nan();
    angle a = reduced(x);
    return turned(a.rest, a.quadrant + 1);
}
ANYWARP_LONG void sincos(double x, double *s, double *c) {
    if (!(magnitude(x) < infinity())) {
        *s = *c = nan();
        return;
    }
    angle a = reduced(x);
    *s = x == 0 ? x : turned(a.rest, a.quadrant);
    *c = turned(a.rest, a.quadrant + 1);
}
ANYWARP_LONG double tan(double x) {
    if (!(magnitude(x) < infinity()))
        return nan();
    if (magnitude(x) < 0x1p-27)
        return x;
    angle a = reduced(x);
    pair s = sin_part(a.rest), c = cos_part(a.rest);
    if (a.quadrant & 1) {
        pair old = s;
        s = make_pair(-c.high, -c.low);
        c = old;
    }
    pair t = divide(s, c);
    return t.high + t.low;
}

/* x pi for x = n / 2 + r. */
ANYWARP_DEVICE angle reduced_pi(double x) {
    ANYWARP_EXACT
    angle a;
    /* The rest of larger numbers is 0, and multiples of 2 do not matter. */
    double y = magnitude(x) < 0x1p53 ? x - 2 * __builtin_trunc(x * 0.5) : 0;
    double k = __builtin_rint(2 * y);
    a.quadrant = (int)k;
    a.rest = multiply(make_pair(fma(k, -0.5, y), 0), make_pair(ANYWARP_PI, ANYWARP_PI_LOW));
    return a;
}
ANYWARP_LONG double sinpi(double x) {
    if (!(magnitude(x) < infinity()))
        return nan();
    angle a = reduced_pi(x);
    /* A whole number gives a zero with its sign. */
    if (a.rest.high == 0 && !(a.quadrant & 1))
        return with_sign(0, x);
    return turned(a.rest, a.quadrant);
}
ANYWARP_LONG double cospi(double x) {
    if (!(magnitude(x) < infinity()))
        return nan();
    angle a = reduced_pi(x);
    if (a.rest.high == 0 && a.quadrant & 1)
        return 0;
    return turned(a.rest, a.quadrant + 1);
}

/* ---- Inverse circular functions ---------------------------------------------------------------------------- */

/* atan(x) for x >= 0, as a pair. */
ANYWARP_DEVICE pair atan_pair(double x) {
    ANYWARP_EXACT
    pair base, t;
    if (x < 0.4375) {
        base = make_pair(0, 0);
        t = make_pair(x, 0);
    } else if (x < 0.6875) {
        base = make_pair(ANYWARP_ATAN_1_2, ANYWARP_ATAN_1_2_LOW);
        t = divide(sum(x, -0.5), sum(0.5 * x, 1));
    } else if (x < 1.1875) {
        base = make_pair(ANYWARP_PI_4, ANYWARP_PI_4_LOW);
        t = divide(sum(x, -1), sum(x, 1));
    } else if (x < 2.4375) {
        base = make_pair(ANYWARP_ATAN_3_2, ANYWARP_ATAN_3_2_LOW);
        pair p = product(1.5, x);
        t = divide(sum(x, -1.5), add(p, make_pair(1, 0)));
    } else {
        base = make_pair(ANYWARP_PI_2, ANYWARP_PI_2_LOW);
        t = is_infinite(x) ? make_pair(0, 0) : divide(make_pair(-1, 0), make_pair(x, 0));
    }
    double z = t.high * t.high;
    pair s = sum(base.high, t.high);
    return quick_sum(s.high, s.low + (fma(z * t.high, poly_atan(z), t.low) + base.low));
}
ANYWARP_LONG double atan(double x) {
    if (is_nan(x))
        return x;
    pair a = atan_pair(magnitude(x));
    return with_sign(a.high + a.low, x);
}
ANYWARP_LONG double atan2(double y, double x) {
    ANYWARP_EXACT
    if (is_nan(x) || is_nan(y))
        return x + y;
    double a = magnitude(y), b = magnitude(x);
    pair r;
    if (a == 0) {
        r = make_pair(0, 0);
    } else if (is_infinite(b)) {
        r = is_infinite(a) ? make_pair(ANYWARP_PI_4, ANYWARP_PI_4_LOW) : make_pair(0, 0);
    } else if (is_infinite(a) || b == 0) {
        r = make_pair(ANYWARP_PI_2, ANYWARP_PI_2_LOW);
    } else {
        /* Both are brought near 1, where their quotient's rest is exact. */
        int ea = (int)(bits(a) >> 52), eb = (int)(bits(b) >> 52);
        int by = -(ea > eb ? ea : eb) + 1023;
        a = scaled(a, by);
        b = scaled(b, by);
        double q = a / b;
        if (ea - eb > 60) {
            q = infinity();
        }
        r = atan_pair(q);
        if (q < infinity() && q > 0x1p-900) {
            /* The rounding of q, by the derivative. */
            double rest = fma(-q, b, a) / b;
            r = quick_sum(r.high, r.low + rest / fma(q, q, 1));
        } else if (q <= 0x1p-900 && !is_negative(x)) {
            return with_sign(magnitude(y) / magnitude(x), y);
        }
    }
    if (is_negative(x))
        r = add(make_pair(ANYWARP_PI, ANYWARP_PI_LOW), make_pair(-r.high, -r.low));
    return with_sign(r.high + r.low, y);
}

ANYWARP_LONG double asin(double x) {
    ANYWARP_EXACT
    double a = magnitude(x);
    if (!(a <= 1))
        return nan();
    if (a < 0.5)
        return a < 0x1p-27 ? x : fma(x * x * x, poly_asin(x * x), x);
    double z = 0.5 * (1 - a), s = __builtin_sqrt(z), rest = s > 0 ? fma(-s, s, z) / (2 * s) : 0;
    pair p = sum(ANYWARP_PI_2, -2 * s);
    return with_sign(p.high + (p.low + (ANYWARP_PI_2_LOW - 2 * (rest + s * z * poly_asin(z)))), x);
}
ANYWARP_LONG double acos(double x) {
    ANYWARP_EXACT
    double a = magnitude(x);
    if (!(a <= 1))
        return nan();
    if (a < 0.5) {
        pair p = sum(ANYWARP_PI_2, -x);
        return p.high + (p.low + (ANYWARP_PI_2_LOW - x * x * x * poly_asin(x * x)));
    }
    double z = 0.5 * (1 - a), s = __builtin_sqrt(z), rest = s > 0 ? fma(-s, s, z) / (2 * s) : 0;
    double low = rest + s * z * poly_asin(z);
    if (x > 0)
        return 2 * (s + low);
    pair p = sum(ANYWARP_PI, -2 * s);
    return p.high + (p.low + (ANYWARP_PI_LOW - 2 * low));
}

/* ---- Hyperbolic functions ---------------------------------------------------------------------------------- */

ANYWARP_LONG double sinh(double x) {
    double a = magnitude(x);
    if (a < 0x1p-27 || !(a < infinity()))
        return x;
    double r;
    if (a < 22) {
        double e = expm1(a);
        r = 0.5 * (e + e / (e + 1));
    } else {
        r = a < 709 ? 0.5 * exp(a) : exp_pair(make_pair(a < 800 ? a : 800, -ANYWARP_LN2));
    }
    return with_sign(r, x);
}
ANYWARP_LONG double cosh(double x) {
    double a = magnitude(x);
    if (a < 22) {
        double e = exp(a);
        return fma(0.5, e, 0.5 / e);
    }
    return a < 709 ? 0.5 * exp(a) : is_nan(x) ? x : exp_pair(make_pair(a < 800 ? a : 800, -ANYWARP_LN2));
}
ANYWARP_LONG double tanh(double x) {
    double a = magnitude(x);
    if (a < 0x1p-27 || is_nan(x))
        return x;
    if (a > 22)
        return with_sign(1, x);
    double e = expm1(2 * a);
    return with_sign(a < 1 ? e / (e + 2) : 1 - 2 / (e + 2), x);
}
ANYWARP_LONG double asinh(double x) {
    double a = magnitude(x);
    if (a < 0x1p-27 || !(a < infinity()))
        return x;
    double r = a > 0x1p28 ? log(a) + ANYWARP_LN2 : log1p(a + a * a / (1 + __builtin_sqrt(fma(a, a, 1))));
    return with_sign(r, x);
}
ANYWARP_LONG double acosh(double x) {
    if (!(x >= 1))
        return nan();
    double t = x - 1;
    return x > 0x1p28 ? log(x) + ANYWARP_LN2 : log1p(t + __builtin_sqrt(fma(t, t, 2 * t)));
}
ANYWARP_LONG double atanh(double x) {
    double a = magnitude(x);
    if (a < 0x1p-27)
        return x;
    if (!(a <= 1))
        return nan();
    return with_sign(a == 1 ? infinity() : 0.5 * log1p(2 * a / (1 - a)), x);
}

/* ---- Roots and lengths ------------------------------------------------------------------------------------- */

ANYWARP_LONG double cbrt(double x) {
    ANYWARP_EXACT
    if (x == 0 || !(magnitude(x) < infinity()))
        return x;
    int k;
    double m = mantissa(magnitude(x), &k);
    /* x = m 2^(3 n) with m from 0.7 to 5.7. */
    int n = (k + 3000) / 3 - 1000, left = k - 3 * n;
    m *= left == 2 ? 4 : left == 1 ? 2 : 1;
    double y = fma(m, fma(m, -0.028, 0.37), 0.65);
    for (int i = 0; i < 4; i++) {
        double c = y * y * y;
        y = y * ((c + 2 * m) / (2 * c + m));
    }
    /* One more step, with the rest of the cube. */
    pair s = product(y, y), c = product(s.high, y);
    double rest = (m - c.high) - (c.low + s.low * y);
    return with_sign(scaled(y + rest / (3 * s.high), n), x);
}
ANYWARP_LONG double rcbrt(double x) { return 1 / cbrt(x); }
ANYWARP_LONG double rsqrt(double x) {
    ANYWARP_EXACT
    double s = __builtin_sqrt(x), y = 1 / s;
    if (!(s > 0) || is_infinite(s))
        return y;
    /* y (1 + (1 - x y^2) / 2), with the rests of both roundings. */
    pair p = product(s, y);
    double e = fma(-s, s, x) / (2 * x);
    return fma(y, (1 - p.high) - p.low - e, y);
}

/* The length of a vector of at most four elements. */
ANYWARP_LONG double length(double a, double b, double c, double d) {
    ANYWARP_EXACT
    double v[4] = {magnitude(a), magnitude(b), magnitude(c), magnitude(d)}, most = 0;
    bool nans = false;
    for (int i = 0; i < 4; i++) {
        if (is_infinite(v[i]))
            return infinity();
        nans |= is_nan(v[i]);
        most = v[i] > most ? v[i] : most;
    }
    if (nans)
        return nan();
    if (most == 0)
        return 0;
    int by = 1023 - (int)(bits(most) >> 52);
    if (bits(most) >> 52 == 0)
        by = 1075;
    pair s = make_pair(0, 0);
    for (int i = 0; i < 4; i++) {
        double e = scaled(v[i], by);
        s = add(s, product(e, e));
    }
    double r = __builtin_sqrt(s.high);
    r += (fma(-r, r, s.high) + s.low) / (2 * r);
    return scaled(r, -by);
}
ANYWARP_DEVICE double hypot(double x, double y) { return length(x, y, 0, 0); }
ANYWARP_DEVICE double rhypot(double x, double y) { return 1 / length(x, y, 0, 0); }
ANYWARP_DEVICE double norm3d(double x, double y, double z) { return length(x, y, z, 0); }
ANYWARP_DEVICE double rnorm3d(double x, double y, double z) { return 1 / length(x, y, z, 0); }
ANYWARP_DEVICE double norm4d(double x, double y, double z, double w) { return length(x, y, z, w); }
ANYWARP_DEVICE double rnorm4d(double x, double y, double z, double w) { return 1 / length(x, y, z, w); }

} // namespace anywarp

#endif
