/*
 * Anywarp's headers for GPU languages: CUDA's complex numbers, for the host as well.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_CU_COMPLEX_H
#define ANYWARP_CU_COMPLEX_H

#include <math.h>
#include <anywarp/vectors.h>

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

/* `f` ends the names of functions of float. A quotient and a magnitude are scaled, so that they do not overflow. */
#define ANYWARP_COMPLEX(C, T, f, make, fabs_, sqrt_)                                                        \
    static __inline__ ANYWARP_BOTH T cuCreal##f(C v) { return v.x; }                                        \
    static __inline__ ANYWARP_BOTH T cuCimag##f(C v) { return v.y; }                                        \
    static __inline__ ANYWARP_BOTH C make(T x, T y) {                                                       \
        C v;                                                                                                \
        v.x = x;                                                                                            \
        v.y = y;                                                                                            \
        return v;                                                                                           \
    }                                                                                                       \
    static __inline__ ANYWARP_BOTH C cuConj##f(C v) { return make(v.x, -v.y); }                             \
    static __inline__ ANYWARP_BOTH C cuCadd##f(C a, C b) { return make(a.x + b.x, a.y + b.y); }             \
    static __inline__ ANYWARP_BOTH C cuCsub##f(C a, C b) { return make(a.x - b.x, a.y - b.y); }             \
    static __inline__ ANYWARP_BOTH C cuCmul##f(C a, C b) {                                                  \
        return make(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                                          \
    }                                                                                                       \
    static __inline__ ANYWARP_BOTH C cuCdiv##f(C a, C b) {                                                  \
        T s = 1 / (fabs_(b.x) + fabs_(b.y));                                                                \
        T ax = a.x * s, ay = a.y * s, bx = b.x * s, by = b.y * s;                                           \
        T t = 1 / (bx * bx + by * by);                                                                      \
        return make((ax * bx + ay * by) * t, (ay * bx - ax * by) * t);                                      \
    }                                                                                                       \
    static __inline__ ANYWARP_BOTH T cuCabs##f(C v) {                                                       \
        T a = fabs_(v.x), b = fabs_(v.y), more = a > b ? a : b, less = a > b ? b : a;                       \
        if (more == 0 || more + less > (T)(sizeof(T) == 4 ? 3.4028235e38 : 1.7976931348623157e308))         \
            return more + less;                                                                             \
        T q = less / more;                                                                                  \
        return more * sqrt_(1 + q * q);                                                                     \
    }                                                                                                       \
    static __inline__ ANYWARP_BOTH C cuCfma##f(C a, C b, C c) {                                             \
        return make(a.x * b.x - a.y * b.y + c.x, a.x * b.y + a.y * b.x + c.y);                              \
    }
ANYWARP_COMPLEX(cuFloatComplex, float, f, make_cuFloatComplex, __builtin_fabsf, __builtin_sqrtf)
ANYWARP_COMPLEX(cuDoubleComplex, double, , make_cuDoubleComplex, __builtin_fabs, __builtin_sqrt)
#undef ANYWARP_COMPLEX
static __inline__ ANYWARP_BOTH cuComplex make_cuComplex(float x, float y) { return make_cuFloatComplex(x, y); }
static __inline__ ANYWARP_BOTH cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex v) {
    return make_cuDoubleComplex((double)v.x, (double)v.y);
}
static __inline__ ANYWARP_BOTH cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex v) {
    return make_cuFloatComplex((float)v.x, (float)v.y);
}

#endif
