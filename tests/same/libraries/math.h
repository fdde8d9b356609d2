// The names of functions: on AMD's targets those of the device library, on the processor those of C with more
// precision than the result has.
#pragma once
#include "../kernel.h"

#ifdef __HIP__

#define ONE(name, type, bits) \
    extern "C" __attribute__((device)) type __ocml_##name##_##bits(type); \
    DEVICE type name##_of(type x) { return __ocml_##name##_##bits(x); }
#define TWO(name, type, bits) \
    extern "C" __attribute__((device)) type __ocml_##name##_##bits(type, type); \
    DEVICE type name##_of(type x, type y) { return __ocml_##name##_##bits(x, y); }
#define THREE(name, type, bits) \
    extern "C" __attribute__((device)) type __ocml_##name##_##bits(type, type, type); \
    DEVICE type name##_of(type x, type y, type z) { return __ocml_##name##_##bits(x, y, z); }

#else

#include <cmath>

// With more precision, it would round twice.
template <class T> static T exact_fma(T x, T y, T z) { return std::fma(x, y, z); }
static long double exact_exp10(long double x) { return exp10l(x); }
static long double exact_rsqrt(long double x) { return 1 / sqrtl(x); }
static long double exact_sinpi(long double x) {
    long double rest = remainderl(x, 2);
    return rest == truncl(rest) ? 0 : sinl(M_PIl * rest);
}
static long double exact_cospi(long double x) { return exact_sinpi(fabsl(remainderl(x, 2)) + 0.5l); }
#define EXACT_ONE(name) \
    static long double exact_##name(long double x) { return name##l(x); }
#define EXACT_TWO(name) \
    static long double exact_##name(long double x, long double y) { return name##l(x, y); }
EXACT_ONE(sin) EXACT_ONE(cos) EXACT_ONE(tan) EXACT_ONE(asin) EXACT_ONE(acos) EXACT_ONE(atan)
EXACT_ONE(sinh) EXACT_ONE(cosh) EXACT_ONE(tanh) EXACT_ONE(asinh) EXACT_ONE(acosh) EXACT_ONE(atanh)
EXACT_ONE(exp) EXACT_ONE(exp2) EXACT_ONE(expm1) EXACT_ONE(log) EXACT_ONE(log2) EXACT_ONE(log10)
EXACT_ONE(log1p) EXACT_ONE(cbrt) EXACT_ONE(erf) EXACT_ONE(erfc) EXACT_ONE(tgamma)
EXACT_TWO(pow) EXACT_TWO(atan2) EXACT_TWO(hypot) EXACT_TWO(fmod) EXACT_TWO(remainder)

#define ONE(name, type, bits) \
    DEVICE type name##_of(type x) { return (type)exact_##name(x); }
#define TWO(name, type, bits) \
    DEVICE type name##_of(type x, type y) { return (type)exact_##name(x, y); }
#define THREE(name, type, bits) \
    DEVICE type name##_of(type x, type y, type z) { return exact_##name(x, y, z); }

#endif

// Results of ordinary numbers, then of bits.
#define COUNT 256
#define KERNEL_ONE(name, type, word, bits) \
    ONE(name, type, bits) \
    KERNEL bits##_##name(const type *x, const word *e, type *o) { \
        o[thread()] = name##_of(x[thread()]); \
        o[COUNT + thread()] = name##_of(real(e[thread()])); \
    }
#define KERNEL_TWO(name, type, word, bits) \
    TWO(name, type, bits) \
    KERNEL bits##_##name(const type *x, const type *y, const word *e, type *o) { \
        o[thread()] = name##_of(x[thread()], y[thread()]); \
        o[COUNT + thread()] = name##_of(real(e[thread()]), real(e[thread() * 7 % COUNT])); \
    }
#define KERNEL_THREE(name, type, word, bits) \
    THREE(name, type, bits) \
    KERNEL bits##_##name(const type *x, const type *y, const word *e, type *o) { \
        o[thread()] = name##_of(x[thread()], y[thread()], x[thread() * 7 % COUNT]); \
        o[COUNT + thread()] = name##_of(real(e[thread()]), real(e[thread() * 7 % COUNT]), y[thread()]); \
    }
#define ONE_F32(name) KERNEL_ONE(name, float, u32, f32)
#define ONE_F64(name) KERNEL_ONE(name, double, u64, f64)
#define TWO_F32(name) KERNEL_TWO(name, float, u32, f32)
#define TWO_F64(name) KERNEL_TWO(name, double, u64, f64)
#define THREE_F32(name) KERNEL_THREE(name, float, u32, f32)
#define THREE_F64(name) KERNEL_THREE(name, double, u64, f64)
