/*
 * Anywarp's headers for GPU languages: the names of math.h, of CUDA's additions to it, and of the fast
 * approximations, for float and double.
 *
 * They are declared before the standard headers, so that those find them by `using`; a function of the host
 * with the same name stays beside each.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_MATH_NAMES_H
#define ANYWARP_MATH_NAMES_H

#include <anywarp/math_float.h>

namespace anywarp {
template <class T> struct integral {};
/* The type in which a number is computed together with one of another type. */
template <class T> struct rank {};
#define ANYWARP_INTEGRAL(T)                                                                                 \
    template <> struct integral<T> {                                                                        \
        typedef double as_double;                                                                           \
    };                                                                                                      \
    template <> struct rank<T> {                                                                            \
        typedef double type;                                                                                \
    };
ANYWARP_INTEGRAL(bool)
ANYWARP_INTEGRAL(char)
ANYWARP_INTEGRAL(signed char)
ANYWARP_INTEGRAL(unsigned char)
ANYWARP_INTEGRAL(short)
ANYWARP_INTEGRAL(unsigned short)
ANYWARP_INTEGRAL(int)
ANYWARP_INTEGRAL(unsigned)
ANYWARP_INTEGRAL(long)
ANYWARP_INTEGRAL(unsigned long)
ANYWARP_INTEGRAL(long long)
ANYWARP_INTEGRAL(unsigned long long)
#undef ANYWARP_INTEGRAL
template <> struct rank<float> {
    typedef float type;
};
template <> struct rank<double> {
    typedef double type;
};
template <class A, class B> struct both {
    typedef double type;
};
template <class T> struct both<T, T> {};
} // namespace anywarp

/* A function of one argument: NAME of double, NAMEf and NAME of float, NAME of integers. */
#define ANYWARP_NAME(name, of_float, of_double)                                                             \
    ANYWARP_DEVICE double name(double x) { return of_double; }                                              \
    ANYWARP_DEVICE float name##f(float x) { return of_float; }                                              \
    ANYWARP_DEVICE float name(float x) { return of_float; }                                                 \
    template <class T> ANYWARP_DEVICE typename anywarp::integral<T>::as_double name(T x) {                  \
        return name((double)x);                                                                             \
    }
#define ANYWARP_NAME2(name, of_float, of_double)                                                            \
    ANYWARP_DEVICE double name(double x, double y) { return of_double; }                                    \
    ANYWARP_DEVICE float name##f(float x, float y) { return of_float; }                                     \
    ANYWARP_DEVICE float name(float x, float y) { return of_float; }                                        \
    template <class A, class B>                                                                             \
    ANYWARP_DEVICE typename anywarp::both<typename anywarp::rank<A>::type, typename anywarp::rank<B>::type>::type name( \
        A x, B y) {                                                                                         \
        return name((double)x, (double)y);                                                                  \
    }                                                                                                       \
    template <class T> ANYWARP_DEVICE typename anywarp::integral<T>::as_double name(T x, T y) {             \
        return name((double)x, (double)y);                                                                  \
    }
#define ANYWARP_OWN(name) ANYWARP_NAME(name, anywarp::name(x), anywarp::name(x))
#define ANYWARP_OWN2(name) ANYWARP_NAME2(name, anywarp::name(x, y), anywarp::name(x, y))
#define ANYWARP_BY_DOUBLE(name) ANYWARP_NAME(name, (float)anywarp::name((double)x), anywarp::name(x))
#define ANYWARP_BY_DOUBLE2(name)                                                                            \
    ANYWARP_NAME2(name, (float)anywarp::name((double)x, (double)y), anywarp::name(x, y))
#define ANYWARP_BUILTIN(name) ANYWARP_NAME(name, __builtin_##name##f(x), __builtin_##name(x))
#define ANYWARP_BUILTIN2(name) ANYWARP_NAME2(name, __builtin_##name##f(x, y), __builtin_##name(x, y))

ANYWARP_OWN(sin)
ANYWARP_OWN(cos)
ANYWARP_OWN(exp)
ANYWARP_OWN(exp2)
ANYWARP_OWN(exp10)
ANYWARP_OWN(log)
ANYWARP_OWN(log2)
ANYWARP_OWN(log10)
ANYWARP_OWN2(pow)
ANYWARP_OWN2(hypot)
ANYWARP_OWN2(fmod)
ANYWARP_OWN2(nextafter)
ANYWARP_BY_DOUBLE(tan)
ANYWARP_BY_DOUBLE(sinpi)
ANYWARP_BY_DOUBLE(cospi)
ANYWARP_BY_DOUBLE(asin)
ANYWARP_BY_DOUBLE(acos)
ANYWARP_BY_DOUBLE(atan)
ANYWARP_BY_DOUBLE2(atan2)
ANYWARP_BY_DOUBLE(sinh)
ANYWARP_BY_DOUBLE(cosh)
ANYWARP_BY_DOUBLE(tanh)
ANYWARP_BY_DOUBLE(asinh)
ANYWARP_BY_DOUBLE(acosh)
ANYWARP_BY_DOUBLE(atanh)
ANYWARP_BY_DOUBLE(expm1)
ANYWARP_BY_DOUBLE(log1p)
ANYWARP_BY_DOUBLE(cbrt)
ANYWARP_BY_DOUBLE(rcbrt)
ANYWARP_NAME(rsqrt, anywarp::rsqrtf_near(x), anywarp::rsqrt(x))
ANYWARP_BY_DOUBLE2(rhypot)
ANYWARP_BY_DOUBLE(erf)
ANYWARP_BY_DOUBLE(erfc)
ANYWARP_BY_DOUBLE(erfcx)
ANYWARP_BY_DOUBLE(erfinv)
ANYWARP_BY_DOUBLE(erfcinv)
ANYWARP_BY_DOUBLE(normcdf)
ANYWARP_BY_DOUBLE(normcdfinv)
ANYWARP_BY_DOUBLE(tgamma)
ANYWARP_BY_DOUBLE(lgamma)
ANYWARP_BY_DOUBLE(logb)
ANYWARP_BY_DOUBLE2(remainder)
ANYWARP_BY_DOUBLE2(fdim)
ANYWARP_NAME(round, (float)anywarp::round((double)x), anywarp::round(x))
ANYWARP_BUILTIN(sqrt)
ANYWARP_BUILTIN(fabs)
ANYWARP_BUILTIN(floor)
ANYWARP_BUILTIN(ceil)
ANYWARP_BUILTIN(trunc)
ANYWARP_BUILTIN(rint)
ANYWARP_NAME(nearbyint, __builtin_rintf(x), __builtin_rint(x))
ANYWARP_BUILTIN2(fmin)
ANYWARP_BUILTIN2(fmax)
ANYWARP_BUILTIN2(copysign)

ANYWARP_DEVICE double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
ANYWARP_DEVICE float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
ANYWARP_DEVICE float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
ANYWARP_DEVICE void sincos(double x, double *s, double *c) { anywarp::sincos(x, s, c); }
ANYWARP_DEVICE void sincosf(float x, float *s, float *c) { anywarp::sincos(x, s, c); }
ANYWARP_DEVICE void sincos(float x, float *s, float *c) { anywarp::sincos(x, s, c); }
ANYWARP_DEVICE void sincospi(double x, double *s, double *c) {
    *s = anywarp::sinpi(x);
    *c = anywarp::cospi(x);
}
ANYWARP_DEVICE void sincospif(float x, float *s, float *c) {
    *s = sinpi(x);
    *c = cospi(x);
}
ANYWARP_DEVICE double remquo(double x, double y, int *q) { return anywarp::remquo(x, y, q); }
ANYWARP_DEVICE float remquof(float x, float y, int *q) { return (float)anywarp::remquo((double)x, (double)y, q); }
ANYWARP_DEVICE float remquo(float x, float y, int *q) { return remquof(x, y, q); }
ANYWARP_DEVICE double frexp(double x, int *e) { return anywarp::frexp(x, e); }
ANYWARP_DEVICE float frexpf(float x, int *e) { return (float)anywarp::frexp((double)x, e); }
ANYWARP_DEVICE float frexp(float x, int *e) { return frexpf(x, e); }
ANYWARP_DEVICE double modf(double x, double *whole) { return anywarp::modf(x, whole); }
ANYWARP_DEVICE float modff(float x, float *whole) {
    *whole = __builtin_truncf(x);
    return (float)__builtin_copysign(anywarp::is_infinite(x) ? 0 : (double)x - *whole, (double)x);
}
ANYWARP_DEVICE float modf(float x, float *whole) { return modff(x, whole); }
#define ANYWARP_SCALE(name, T)                                                                              \
    ANYWARP_DEVICE double name(double x, T n) { return anywarp::ldexp(x, n > 5000 ? 5000 : n < -5000 ? -5000 : (int)n); } \
    ANYWARP_DEVICE float name##f(float x, T n) { return (float)name((double)x, n); }                        \
    ANYWARP_DEVICE float name(float x, T n) { return (float)name((double)x, n); }
ANYWARP_SCALE(ldexp, int)
ANYWARP_SCALE(scalbn, int)
ANYWARP_SCALE(scalbln, long)
#undef ANYWARP_SCALE
#define ANYWARP_TO_INTEGER(name, T, of_float, of_double)                                                    \
    ANYWARP_DEVICE T name(double x) { return (T)(of_double); }                                              \
    ANYWARP_DEVICE T name##f(float x) { return (T)(of_float); }                                             \
    ANYWARP_DEVICE T name(float x) { return (T)(of_float); }
ANYWARP_TO_INTEGER(ilogb, int, anywarp::ilogb((double)x), anywarp::ilogb(x))
ANYWARP_TO_INTEGER(lrint, long, __builtin_rintf(x), __builtin_rint(x))
ANYWARP_TO_INTEGER(llrint, long long, __builtin_rintf(x), __builtin_rint(x))
ANYWARP_TO_INTEGER(lround, long, anywarp::round((double)x), anywarp::round(x))
ANYWARP_TO_INTEGER(llround, long long, anywarp::round((double)x), anywarp::round(x))
#undef ANYWARP_TO_INTEGER

ANYWARP_DEVICE double norm3d(double x, double y, double z) { return anywarp::norm3d(x, y, z); }
ANYWARP_DEVICE float norm3df(float x, float y, float z) { return anywarp::length(x, y, z, 0.0f); }
ANYWARP_DEVICE double rnorm3d(double x, double y, double z) { return anywarp::rnorm3d(x, y, z); }
ANYWARP_DEVICE float rnorm3df(float x, float y, float z) { return (float)anywarp::rnorm3d(x, y, z); }
ANYWARP_DEVICE double norm4d(double x, double y, double z, double w) { return anywarp::norm4d(x, y, z, w); }
ANYWARP_DEVICE float norm4df(float x, float y, float z, float w) { return anywarp::length(x, y, z, w); }
ANYWARP_DEVICE double rnorm4d(double x, double y, double z, double w) { return anywarp::rnorm4d(x, y, z, w); }
ANYWARP_DEVICE float rnorm4df(float x, float y, float z, float w) { return (float)anywarp::rnorm4d(x, y, z, w); }
ANYWARP_DEVICE float fdividef(float x, float y) { return x / y; }
ANYWARP_DEVICE double nan(const char *) { return __builtin_nan(""); }
ANYWARP_DEVICE float nanf(const char *) { return __builtin_nanf(""); }

ANYWARP_DEVICE int abs(int x) { return x < 0 ? (int)(0u - x) : x; }
ANYWARP_DEVICE long abs(long x) { return x < 0 ? (long)(0ul - x) : x; }
ANYWARP_DEVICE long long abs(long long x) { return x < 0 ? (long long)(0ull - x) : x; }
ANYWARP_DEVICE long labs(long x) { return abs(x); }
ANYWARP_DEVICE long long llabs(long long x) { return abs(x); }
ANYWARP_DEVICE float abs(float x) { return __builtin_fabsf(x); }
ANYWARP_DEVICE double abs(double x) { return __builtin_fabs(x); }

/* CUDA's minimum and maximum of numbers, which are functions of the host as well. */
#define ANYWARP_EXTREMES(T)                                                                                 \
    static __inline__ ANYWARP_BOTH T min(T x, T y) { return y < x ? y : x; }                                \
    static __inline__ ANYWARP_BOTH T max(T x, T y) { return x < y ? y : x; }
ANYWARP_EXTREMES(int)
ANYWARP_EXTREMES(unsigned)
ANYWARP_EXTREMES(long)
ANYWARP_EXTREMES(unsigned long)
ANYWARP_EXTREMES(long long)
ANYWARP_EXTREMES(unsigned long long)
#undef ANYWARP_EXTREMES
#define ANYWARP_MIXED(A, B, T)                                                                              \
    static __inline__ ANYWARP_BOTH T min(A x, B y) { return (T)y < (T)x ? (T)y : (T)x; }                    \
    static __inline__ ANYWARP_BOTH T max(A x, B y) { return (T)x < (T)y ? (T)y : (T)x; }
ANYWARP_MIXED(int, unsigned, unsigned)
ANYWARP_MIXED(unsigned, int, unsigned)
ANYWARP_MIXED(long, unsigned long, unsigned long)
ANYWARP_MIXED(unsigned long, long, unsigned long)
ANYWARP_MIXED(long long, unsigned long long, unsigned long long)
ANYWARP_MIXED(unsigned long long, long long, unsigned long long)
#undef ANYWARP_MIXED
#define ANYWARP_NUMBERS(A, B, T, f)                                                                         \
    static __inline__ ANYWARP_BOTH T min(A x, B y) { return __builtin_fmin##f(x, y); }                      \
    static __inline__ ANYWARP_BOTH T max(A x, B y) { return __builtin_fmax##f(x, y); }
ANYWARP_NUMBERS(float, float, float, f)
ANYWARP_NUMBERS(double, double, double, )
ANYWARP_NUMBERS(float, double, double, )
ANYWARP_NUMBERS(double, float, double, )
#undef ANYWARP_NUMBERS

/* The same with the type in the name. */
#define ANYWARP_OF_TYPE(prefix, T)                                                                          \
    static __inline__ ANYWARP_BOTH T prefix##min(T x, T y) { return y < x ? y : x; }                        \
    static __inline__ ANYWARP_BOTH T prefix##max(T x, T y) { return x < y ? y : x; }
ANYWARP_OF_TYPE(u, unsigned)
ANYWARP_OF_TYPE(ll, long long)
ANYWARP_OF_TYPE(ull, unsigned long long)
#undef ANYWARP_OF_TYPE

/* ---- Fast approximations ----------------------------------------------------------------------------------- */

ANYWARP_DEVICE float __sinf(float x) { return anywarp::fast_sin(x); }
ANYWARP_DEVICE float __cosf(float x) { return anywarp::fast_cos(x); }
ANYWARP_DEVICE void __sincosf(float x, float *s, float *c) {
    *s = anywarp::fast_sin(x);
    *c = anywarp::fast_cos(x);
}
ANYWARP_DEVICE float __tanf(float x) { return anywarp::fast_divide(anywarp::fast_sin(x), anywarp::fast_cos(x)); }
ANYWARP_DEVICE float __tanhf(float x) { return anywarp::fast_tanh(x); }
ANYWARP_DEVICE float __expf(float x) { return anywarp::fast_exp2(x * 1.44269504f); }
ANYWARP_DEVICE float __exp2f(float x) { return anywarp::fast_exp2(x); }
ANYWARP_DEVICE float __exp10f(float x) { return anywarp::fast_exp2(x * 3.32192809f); }
ANYWARP_DEVICE float __log2f(float x) { return anywarp::fast_log2(x); }
ANYWARP_DEVICE float __logf(float x) { return anywarp::fast_log2(x) * 0.693147181f; }
ANYWARP_DEVICE float __log10f(float x) { return anywarp::fast_log2(x) * 0.301029996f; }
ANYWARP_DEVICE float __powf(float x, float y) { return anywarp::fast_exp2(y * anywarp::fast_log2(x)); }
ANYWARP_DEVICE float __fdividef(float x, float y) { return anywarp::fast_divide(x, y); }

/* ---- namespace std ----------------------------------------------------------------------------------------- */

namespace std {
#define ANYWARP_USE(name)                                                                                   \
    using ::name;                                                                                           \
    using ::name##f;
ANYWARP_USE(acos) ANYWARP_USE(acosh) ANYWARP_USE(asin) ANYWARP_USE(asinh) ANYWARP_USE(atan) ANYWARP_USE(atan2)
ANYWARP_USE(atanh) ANYWARP_USE(cbrt) ANYWARP_USE(ceil) ANYWARP_USE(copysign) ANYWARP_USE(cos) ANYWARP_USE(cosh)
ANYWARP_USE(erf) ANYWARP_USE(erfc) ANYWARP_USE(exp) ANYWARP_USE(exp2) ANYWARP_USE(expm1) ANYWARP_USE(fabs)
ANYWARP_USE(fdim) ANYWARP_USE(floor) ANYWARP_USE(fma) ANYWARP_USE(fmax) ANYWARP_USE(fmin) ANYWARP_USE(fmod)
ANYWARP_USE(frexp) ANYWARP_USE(hypot) ANYWARP_USE(ilogb) ANYWARP_USE(ldexp) ANYWARP_USE(lgamma) ANYWARP_USE(llrint)
ANYWARP_USE(llround) ANYWARP_USE(log) ANYWARP_USE(log10) ANYWARP_USE(log1p) ANYWARP_USE(log2) ANYWARP_USE(logb)
ANYWARP_USE(lrint) ANYWARP_USE(lround) ANYWARP_USE(modf) ANYWARP_USE(nearbyint) ANYWARP_USE(nextafter) ANYWARP_USE(pow)
ANYWARP_USE(remainder) ANYWARP_USE(remquo) ANYWARP_USE(rint) ANYWARP_USE(round) ANYWARP_USE(scalbln) ANYWARP_USE(scalbn)
ANYWARP_USE(sin) ANYWARP_USE(sinh) ANYWARP_USE(sqrt) ANYWARP_USE(tan) ANYWARP_USE(tanh) ANYWARP_USE(tgamma)
ANYWARP_USE(trunc)
#undef ANYWARP_USE
using ::abs;
using ::labs;
using ::llabs;
} // namespace std

#endif
