/*
 * Anywarp's declaration of HIP, version 6.3: vectors.
 *
 * Written for this project. Names, values and layouts are those of the interface, so a program compiled with
 * this file calls the library in the same way as one compiled with any other header of the same version.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_HIP_HIP_VECTOR_TYPES_H
#define ANYWARP_HIP_HIP_VECTOR_TYPES_H

#include <anywarp/attributes.h>

/* Vectors of two and four elements are aligned to their size; those of three, to one element. */
#define ANYWARP_HIP_VECTORS(name, element)                                                                                    \
    typedef struct name##1 {                                                                                                  \
        element x;                                                                                                            \
    } name##1;                                                                                                                \
    typedef struct __attribute__((aligned(2 * sizeof(element)))) name##2 {                                                    \
        element x, y;                                                                                                         \
    } name##2;                                                                                                                \
    typedef struct name##3 {                                                                                                  \
        element x, y, z;                                                                                                      \
    } name##3;                                                                                                                \
    typedef struct __attribute__((aligned(4 * sizeof(element)))) name##4 {                                                    \
        element x, y, z, w;                                                                                                   \
    } name##4;                                                                                                                \
    static inline ANYWARP_BOTH name##1 make_##name##1(element x) {                                                            \
        name##1 v = {x};                                                                                                      \
        return v;                                                                                                             \
    }                                                                                                                         \
    static inline ANYWARP_BOTH name##2 make_##name##2(element x, element y) {                                                 \
        name##2 v = {x, y};                                                                                                   \
        return v;                                                                                                             \
    }                                                                                                                         \
    static inline ANYWARP_BOTH name##3 make_##name##3(element x, element y, element z) {                                      \
        name##3 v = {x, y, z};                                                                                                \
        return v;                                                                                                             \
    }                                                                                                                         \
    static inline ANYWARP_BOTH name##4 make_##name##4(element x, element y, element z, element w) {                           \
        name##4 v = {x, y, z, w};                                                                                             \
        return v;                                                                                                             \
    }

ANYWARP_HIP_VECTORS(char, char)
ANYWARP_HIP_VECTORS(uchar, unsigned char)
ANYWARP_HIP_VECTORS(short, short)
ANYWARP_HIP_VECTORS(ushort, unsigned short)
ANYWARP_HIP_VECTORS(int, int)
ANYWARP_HIP_VECTORS(uint, unsigned int)
ANYWARP_HIP_VECTORS(long, long)
ANYWARP_HIP_VECTORS(ulong, unsigned long)
ANYWARP_HIP_VECTORS(longlong, long long)
ANYWARP_HIP_VECTORS(ulonglong, unsigned long long)
ANYWARP_HIP_VECTORS(float, float)
ANYWARP_HIP_VECTORS(double, double)

#endif
