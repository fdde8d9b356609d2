/*
 * Anywarp's declaration of the CUDA runtime: vectors and dim3.
 *
 * Written for this project. Names and layouts are those of the interface.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_VECTOR_TYPES_H
#define ANYWARP_VECTOR_TYPES_H

#include <anywarp/attributes.h>

/* Vectors of two elements are aligned to their size, of four to theirs up to 16 bytes, of three to an element. */
#define ANYWARP_VECTORS(name, element, alignment2, alignment4)                                              \
    typedef struct name##1 {                                                                                \
        element x;                                                                                          \
    } name##1;                                                                                              \
    typedef struct __attribute__((aligned(alignment2))) name##2 {                                           \
        element x, y;                                                                                       \
    } name##2;                                                                                              \
    typedef struct name##3 {                                                                                \
        element x, y, z;                                                                                    \
    } name##3;                                                                                              \
    typedef struct __attribute__((aligned(alignment4))) name##4 {                                           \
        element x, y, z, w;                                                                                 \
    } name##4;                                                                                              \
    static __inline__ ANYWARP_BOTH name##1 make_##name##1(element x) {                                      \
        name##1 v = {x};                                                                                    \
        return v;                                                                                           \
    }                                                                                                       \
    static __inline__ ANYWARP_BOTH name##2 make_##name##2(element x, element y) {                           \
        name##2 v = {x, y};                                                                                 \
        return v;                                                                                           \
    }                                                                                                       \
    static __inline__ ANYWARP_BOTH name##3 make_##name##3(element x, element y, element z) {                \
        name##3 v = {x, y, z};                                                                              \
        return v;                                                                                           \
    }                                                                                                       \
    static __inline__ ANYWARP_BOTH name##4 make_##name##4(element x, element y, element z, element w) {     \
        name##4 v = {x, y, z, w};                                                                           \
        return v;                                                                                           \
    }

ANYWARP_VECTORS(char, signed char, 2, 4)
ANYWARP_VECTORS(uchar, unsigned char, 2, 4)
ANYWARP_VECTORS(short, short, 4, 8)
ANYWARP_VECTORS(ushort, unsigned short, 4, 8)
ANYWARP_VECTORS(int, int, 8, 16)
ANYWARP_VECTORS(uint, unsigned int, 8, 16)
ANYWARP_VECTORS(long, long, 16, 16)
ANYWARP_VECTORS(ulong, unsigned long, 16, 16)
ANYWARP_VECTORS(longlong, long long, 16, 16)
ANYWARP_VECTORS(ulonglong, unsigned long long, 16, 16)
ANYWARP_VECTORS(float, float, 8, 16)
ANYWARP_VECTORS(double, double, 16, 16)
#undef ANYWARP_VECTORS

typedef struct dim3 {
    unsigned int x, y, z;
#ifdef __cplusplus
#if __cplusplus >= 201103L
    ANYWARP_BOTH constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    ANYWARP_BOTH constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    ANYWARP_BOTH constexpr operator uint3() const { return uint3{x, y, z}; }
#else
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
#endif
#endif
} dim3;

#endif
