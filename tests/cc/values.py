#!/usr/bin/env python3
"""Writes arguments of the functions of math.h with their values, computed by mpmath in 60 digits.

    python3 tests/cc/values.py COUNT > tests/cc/math.tsv

Each line: d or f (the arguments are doubles or floats), the function, its arguments, and the value as the sum
of two doubles, all as C writes them with %a. Needs mpmath (pip install mpmath).
"""
import math
import random
import struct
import sys

from mpmath import mp, mpf
import mpmath as m

mp.dps = 60
count = int(sys.argv[1])
random.seed(20)

# Function: its model, the ranges of its arguments for doubles, and for floats. A range with "e" has exponents.
WIDE, WIDE_F = ("e", -300, 300), ("e", -36, 36)
FUNCTIONS = [
    ("sin", m.sin, [[(-7, 7), (-1e5, 1e5), ("e", -20, 300)]], [[(-7, 7), (-1e5, 1e5), ("e", -20, 37)]]),
    ("cos", m.cos, [[(-7, 7), (-1e5, 1e5), ("e", -20, 300)]], [[(-7, 7), (-1e5, 1e5), ("e", -20, 37)]]),
    ("tan", m.tan, [[(-7, 7), (-1e5, 1e5), ("e", -20, 300)]], [[(-7, 7), (-1e5, 1e5), ("e", -20, 37)]]),
    ("sinpi", m.sinpi, [[(-3, 3), (-1e5, 1e5)]], None),
    ("cospi", m.cospi, [[(-3, 3), (-1e5, 1e5)]], None),
    ("asin", m.asin, [[(-1, 1), (0.999, 1), ("e", -30, -1)]], None),
    ("acos", m.acos, [[(-1, 1), (0.999, 1), ("e", -30, -1)]], None),
    ("atan", m.atan, [[(-5, 5), ("e", -30, 30)]], None),
    ("atan2", m.atan2, [[(-5, 5), ("e", -20, 20)], [(-5, 5), ("e", -20, 20)]], None),
    ("sinh", m.sinh, [[(-3, 3), (-700, 700), ("e", -20, 0)]], [[(-3, 3), (-88, 88), ("e", -20, 0)]]),
    ("cosh", m.cosh, [[(-3, 3), (-700, 700)]], [[(-3, 3), (-88, 88)]]),
    ("tanh", m.tanh, [[(-3, 3), (-20, 20), ("e", -20, 0)]], None),
    ("asinh", m.asinh, [[(-3, 3), ("e", -20, 200)]], [[(-3, 3), ("e", -20, 37)]]),
    ("acosh", m.acosh, [[(1, 3), (1, 1.01), (1, 1e10)]], None),
    ("atanh", m.atanh, [[(-1, 1), (0.99, 1), ("e", -20, -1)]], None),
    ("exp", m.exp, [[(-1, 1), (-745, 709.7)]], [[(-1, 1), (-103, 88.7)]]),
    ("exp2", lambda x: mpf(2) ** x, [[(-1, 1), (-1070, 1023)]], [[(-1, 1), (-149, 127)]]),
    ("exp10", lambda x: mpf(10) ** x, [[(-1, 1), (-323, 308)]], [[(-1, 1), (-44, 38)]]),
    ("expm1", m.expm1, [[(-1, 1), (-50, 709.7), ("e", -20, 0)]], [[(-1, 1), (-50, 88.7), ("e", -20, 0)]]),
    ("log", m.log, [[(0.5, 2), (0.99, 1.01), ("+", -320, 308)]], [[(0.5, 2), (0.99, 1.01), ("+", -44, 38)]]),
    ("log2", lambda x: m.log(x) / m.log(2), [[(0.5, 2), (0.99, 1.01), ("+", -320, 308)]], [[(0.5, 2), (0.99, 1.01), ("+", -44, 38)]]),
    ("log10", m.log10, [[(0.5, 2), (0.99, 1.01), ("+", -320, 308)]], [[(0.5, 2), (0.99, 1.01), ("+", -44, 38)]]),
    ("log1p", m.log1p, [[(-0.9, 3), ("e", -20, -0.1), ("+", 0, 300)]], [[(-0.9, 3), ("+", -20, 37)]]),
    ("pow", lambda x, y: x**y, [[(0, 10), ("+", -30, 30), (0.99, 1.01)], [(-5, 5), (-10, 10), (-1e3, 1e3)]],
     [[(0, 10), ("+", -9, 9), (0.99, 1.01)], [(-5, 5), (-4, 4), (-1e2, 1e2)]]),
    ("cbrt", lambda x: m.sign(x) * m.cbrt(abs(x)), [[(-10, 10), WIDE]], [[(-10, 10), WIDE_F]]),
    ("rcbrt", lambda x: m.sign(x) / m.cbrt(abs(x)), [[(-10, 10), WIDE]], [[(-10, 10), WIDE_F]]),
    ("rsqrt", lambda x: 1 / m.sqrt(x), [[(0.1, 10), ("+", -300, 300)]], [[(0.1, 10), ("+", -36, 37)]]),
    ("hypot", m.hypot, [[(-5, 5), WIDE], [(-5, 5), WIDE]], [[(-5, 5), WIDE_F], [(-5, 5), WIDE_F]]),
    ("rhypot", lambda x, y: 1 / m.hypot(x, y), [[(-5, 5)], [(-5, 5)]], None),
    ("erf", m.erf, [[(-1, 1), (-6, 6), ("e", -30, 0)]], None),
    ("erfc", m.erfc, [[(-1, 1), (-6, 26.5)]], [[(-1, 1), (-6, 10)]]),
    ("erfcx", lambda x: m.exp(x * x) * m.erfc(x), [[(-1, 1), (-5, 30), (30, 1e5)]], [[(-1, 1), (-5, 30), (30, 1e5)]]),
    ("erfinv", m.erfinv, [[(-1, 1), (0.99, 1), ("e", -20, -1)]], None),
    ("erfcinv", lambda x: m.erfinv(1 - x), [[(0, 2), (0, 0.01), ("+", -40, -2)]], [[(0, 2), (0, 0.01), ("+", -30, -2)]]),
    ("normcdf", m.ncdf, [[(-3, 3), (-37, 8)]], [[(-3, 3), (-14, 5)]]),
    ("tgamma", m.gamma, [[(0, 5), (1, 171), (-5, 0), (-160, 0), ("e", -20, 0)]], [[(0, 5), (1, 35), (-5, 0), ("e", -20, 0)]]),
    ("lgamma", lambda x: m.log(abs(m.gamma(x))), [[(0, 5), (1, 200), ("+", -20, 200)]], [[(0, 5), (1, 200), ("+", -20, 30)]]),
    ("fmod", m.fmod, [[(0, 100), ("+", -10, 60)], [(0.1, 5), ("+", -10, 10)]], [[(0, 100), ("+", -5, 20)], [(0.1, 5), ("+", -5, 5)]]),
    ("round", lambda x: m.sign(x) * m.floor(abs(x) + 0.5), [[(-5, 5), (-1e6, 1e6)]], None),
]


def rounded(x, kind):
    return x if kind == "d" else struct.unpack("f", struct.pack("f", x))[0]


def number(choice, kind):
    if isinstance(choice[0], str):
        x = 10 ** random.uniform(choice[1], choice[2])
        return rounded(-x if choice[0] == "e" and random.random() < 0.5 else x, kind)
    return rounded(random.uniform(*choice), kind)


for name, model, doubles, floats in FUNCTIONS:
    for kind, ranges in (("d", doubles), ("f", floats or doubles)):
        made = 0
        while made < count:
            arguments = [number(random.choice(choices), kind) for choices in ranges]
            # The sum 1 - x of the inverse needs the digits that x has behind those of 1.
            mp.dps = 120 if name in ("erfcinv", "erfinv") else 60
            try:
                value = model(*[mpf(a) for a in arguments])
            except (ValueError, ZeroDivisionError, OverflowError):
                continue
            largest = mpf(2) ** (1024 if kind == "d" else 128) * (1 - mpf(2) ** -25)
            if not m.isfinite(value) or abs(value) >= largest or value == 0 or abs(value) < mpf(2) ** (-969 if kind == "d" else -148):
                continue
            high = float(value)
            low = float(value - mpf(high))
            print("\t".join([kind, name] + [float(a).hex() for a in arguments] + [high.hex(), low.hex()]))
            made += 1
