#!/usr/bin/env python3
"""Writes include/anywarp/math_tables.h: the polynomials and constants of the functions of math.h.

Each polynomial interpolates at Chebyshev's points, in 60 digits. A comment beside it gives its largest error.
Needs mpmath (pip install mpmath).

    python3 tests/cc/coefficients.py > include/anywarp/math_tables.h
"""
from mpmath import mp, mpf, mpc, pi, cos, sin, exp, log, atan, asin, sqrt, erf, erfc, gamma, loggamma, floor, bernoulli, matrix, lu_solve

mp.dps = 60

print("""/*
 * Anywarp's headers for GPU languages: polynomials and constants of the mathematical functions.
 * tests/cc/coefficients.py writes this file.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_MATH_TABLES_H
#define ANYWARP_MATH_TABLES_H

#include <anywarp/target.h>

namespace anywarp {
""")


def literal(v):
    return float(v).hex()


def pair(name, v):
    """A number as the sum of two doubles."""
    high = float(v)
    print(f"#define ANYWARP_{name} {literal(high)}\n#define ANYWARP_{name}_LOW {literal(mpf(v) - mpf(high))}")


def poly(name, what, f, low, high, degree):
    """A polynomial in x on [low, high]. A symmetric interval needs an odd degree, which avoids 0."""
    low, high = mpf(low), mpf(high)
    n = degree + 1
    xs = [(low + high) / 2 + (high - low) / 2 * cos(pi * (2 * i + 1) / (2 * n)) for i in range(n)]
    # Newton's divided differences, expanded to powers.
    d = [f(x) for x in xs]
    for k in range(1, n):
        for i in range(n - 1, k - 1, -1):
            d[i] = (d[i] - d[i - 1]) / (xs[i] - xs[i - k])
    c = [mpf(0)] * n
    for i in range(n - 1, -1, -1):
        shifted = [mpf(0)] + c[:-1]
        c = [s - xs[i] * a for s, a in zip(shifted, c)]
        c[0] += d[i]
    worst = mpf(0)
    for i in range(400):
        x = low + (high - low) * (mpf(i) + mpf(1) / 3) / 400
        worst = max(worst, abs(sum(a * x**k for k, a in enumerate(c)) / f(x) - 1))
    print(f"/* {what}, on [{mp.nstr(low, 6)}, {mp.nstr(high, 6)}]; largest relative error {mp.nstr(worst, 2)}. */")
    print(f"ANYWARP_DEVICE double {name}(double x) {{")
    print(f"    double y = {literal(c[-1])};")
    for a in reversed(c[:-1]):
        print(f"    y = __builtin_fma(y, x, {literal(a)});")
    print("    return y;\n}\n")


half_ln2 = log(2) / 2 * mpf("1.001")
poly("poly_exp", "(exp(x) - 1 - x) / x^2", lambda x: (exp(x) - 1 - x) / x**2, -half_ln2, half_ln2, 11)
poly("poly_exp_short", "(exp(x) - 1 - x) / x^2", lambda x: (exp(x) - 1 - x) / x**2, -half_ln2, half_ln2, 7)
quarter = (pi / 4 * mpf("1.001")) ** 2
root = lambda f: lambda z: f(sqrt(z))
poly("poly_sin", "(sin(r) - r) / r^3, x = r^2", root(lambda r: (sin(r) - r) / r**3), 0, quarter, 7)
poly("poly_cos", "(cos(r) - 1 + r^2 / 2) / r^4, x = r^2", root(lambda r: (cos(r) - 1 + r**2 / 2) / r**4), 0, quarter, 7)
poly("poly_sin_short", "(sin(r) - r) / r^3, x = r^2", root(lambda r: (sin(r) - r) / r**3), 0, quarter, 4)
poly("poly_cos_short", "(cos(r) - 1 + r^2 / 2) / r^4, x = r^2", root(lambda r: (cos(r) - 1 + r**2 / 2) / r**4), 0, quarter, 4)
poly("poly_atan", "(atan(t) - t) / t^3, x = t^2", root(lambda t: (atan(t) - t) / t**3), 0, mpf("0.1922"), 13)
poly("poly_asin", "(asin(t) - t) / t^3, x = t^2", root(lambda t: (asin(t) - t) / t**3), 0, mpf("0.2501"), 15)
squared = ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2 * mpf("1.001")
series = lambda s: log((1 + s) / (1 - s))
poly("poly_log", "(log((1 + s) / (1 - s)) - 2 s) / s^3, x = s^2", root(lambda s: (series(s) - 2 * s) / s**3), 0, squared, 8)
poly("poly_log_short", "(log((1 + s) / (1 - s)) - 2 s) / s^3, x = s^2", root(lambda s: (series(s) - 2 * s) / s**3), 0, squared, 4)
poly("poly_log_tail", "the same without the terms up to s^7, divided by s^9",
     lambda z: sum(2 * z**k / (2 * k + 9) for k in range(60)), 0, squared, 8)
poly("poly_erf", "erf(r) / r - 2 / sqrt(pi), divided by r^2, x = r^2", root(lambda r: (erf(r) / r - 2 / sqrt(pi)) / r**2), 0, mpf("1.001"), 14)
mp.dps = 80
at = mpf(4)
poly("poly_erfcx", "(1 + 2 r) exp(r^2) erfc(r), x = (r - 4) / (r + 4)",
     lambda t: (lambda r: (1 + 2 * r) * exp(r * r) * erfc(r))(at * (1 + t) / (1 - t)), -1, mpf("0.78"), 26)
mp.dps = 60
poly("poly_gamma", "1 / gamma(2 + x)", lambda x: 1 / gamma(2 + x), mpf("-0.5001"), mpf("0.5001"), 18)
poly("poly_lgamma", "log(gamma(2 + x)) / (x (x + 1))", lambda x: loggamma(2 + x) / (x * (x + 1)), mpf("-0.7501"), mpf("0.7501"), 25)

print("/* The series of Stirling: log(gamma(x)) = (x - 1/2) log(x) - x + log(2 pi) / 2 + y / x, in 1 / x^2. */")
print("ANYWARP_DEVICE double poly_stirling(double x) {")
terms = [bernoulli(2 * k) / (2 * k * (2 * k - 1)) for k in range(1, 9)]
print(f"    double y = {literal(terms[-1])};")
for a in reversed(terms[:-1]):
    print(f"    y = __builtin_fma(y, x, {literal(a)});")
print("    return y;\n}\n")

for name, v in [("LN2", log(2)), ("LOG2E", 1 / log(2)), ("LN10", log(10)), ("LOG10E", 1 / log(10)), ("LOG10_2", log(2) / log(10)),
                ("PI", pi), ("PI_2", pi / 2), ("PI_4", pi / 4), ("2_PI", 2 / pi), ("2_SQRT_PI", 2 / sqrt(pi)),
                ("SQRT_1_2", sqrt(mpf(1) / 2)), ("HALF_LOG_2PI", log(2 * pi) / 2), ("2_3", mpf(2) / 3), ("2_5", mpf(2) / 5),
                ("2_7", mpf(2) / 7), ("ATAN_1_2", atan(mpf(1) / 2)), ("ATAN_3_2", atan(mpf(3) / 2)), ("SQRT_2PI", sqrt(2 * pi))]:
    pair(name, v)


def cut(v, bits):
    """The first bits of a number."""
    e = int(floor(log(abs(v), 2)))
    scale = mpf(2) ** (bits - 1 - e)
    return floor(v * scale) / scale


print("/* log(2), log10(2) and pi / 2 in parts whose products with small integers are exact. */")
for name, v, bits, count in [("LN2", log(2), 32, 3), ("LOG10_2", log(2) / log(10), 32, 3), ("PI_2", pi / 2, 30, 4)]:
    rest = v
    for i in range(count):
        part = cut(rest, bits) if i + 1 < count else rest
        print(f"#define ANYWARP_{name}_PART{i} {literal(part)}")
        rest = rest - mpf(float(part))

mp.dps = 500
bits = int(floor(2 / pi * mpf(2) ** (64 * 20)))
words = [bits >> (64 * (19 - i)) & (2**64 - 1) for i in range(20)]
print("\n/* 64 zeros, then the bits of 2 / pi after the point. */")
print("static __device__ const unsigned long long two_over_pi[21] = {\n    0,")
for i in range(0, 20, 4):
    print("    " + ", ".join(f"0x{w:016x}" for w in words[i:i + 4]) + ",")
print("};\n\n} // namespace anywarp\n\n#endif")
