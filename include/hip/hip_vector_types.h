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

/* In C++, a vector can be made of its elements, or of one number for all. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define ANYWARP_HIP_CONSTRUCTORS1(T, element)                                                                          \
    T() = default;                                                                                                     \
    ANYWARP_BOTH constexpr T(element x_) : x(x_) {}
#define ANYWARP_HIP_CONSTRUCTORS2(T, element)                                                                          \
    T() = default;                                                                                                     \
    ANYWARP_BOTH constexpr T(element x_, element y_) : x(x_), y(y_) {}                                                 \
    explicit ANYWARP_BOTH constexpr T(element v) : x(v), y(v) {}
#define ANYWARP_HIP_CONSTRUCTORS3(T, element)                                                                          \
    T() = default;                                                                                                     \
    ANYWARP_BOTH constexpr T(element x_, element y_, element z_) : x(x_), y(y_), z(z_) {}                              \
    explicit ANYWARP_BOTH constexpr T(element v) : x(v), y(v), z(v) {}
#define ANYWARP_HIP_CONSTRUCTORS4(T, element)                                                                          \
    T() = default;                                                                                                     \
    ANYWARP_BOTH constexpr T(element x_, element y_, element z_, element w_) : x(x_), y(y_), z(z_), w(w_) {}           \
    explicit ANYWARP_BOTH constexpr T(element v) : x(v), y(v), z(v), w(v) {}
#else
#define ANYWARP_HIP_CONSTRUCTORS1(T, element)
#define ANYWARP_HIP_CONSTRUCTORS2(T, element)
#define ANYWARP_HIP_CONSTRUCTORS3(T, element)
#define ANYWARP_HIP_CONSTRUCTORS4(T, element)
#endif

/* Vectors of two and four elements are aligned to their size; those of three, to one element. */
#define ANYWARP_HIP_VECTORS(name, element)                                                                             \
    typedef struct name##1 {                                                                                           \
        element x;                                                                                                     \
        ANYWARP_HIP_CONSTRUCTORS1(name##1, element)                                                                    \
    } name##1;                                                                                                         \
    typedef struct __attribute__((aligned(2 * sizeof(element)))) name##2 {                                             \
        element x, y;                                                                                                  \
        ANYWARP_HIP_CONSTRUCTORS2(name##2, element)                                                                    \
    } name##2;                                                                                                         \
    typedef struct name##3 {                                                                                           \
        element x, y, z;                                                                                               \
        ANYWARP_HIP_CONSTRUCTORS3(name##3, element)                                                                    \
    } name##3;                                                                                                         \
    typedef struct __attribute__((aligned(4 * sizeof(element)))) name##4 {                                             \
        element x, y, z, w;                                                                                            \
        ANYWARP_HIP_CONSTRUCTORS4(name##4, element)                                                                    \
    } name##4;                                                                                                         \
    static inline ANYWARP_BOTH name##1 make_##name##1(element x) {                                                     \
        name##1 v = {x};                                                                                               \
        return v;                                                                                                      \
    }                                                                                                                  \
    static inline ANYWARP_BOTH name##2 make_##name##2(element x, element y) {                                          \
        name##2 v = {x, y};                                                                                            \
        return v;                                                                                                      \
    }                                                                                                                  \
    static inline ANYWARP_BOTH name##3 make_##name##3(element x, element y, element z) {                               \
        name##3 v = {x, y, z};                                                                                         \
        return v;                                                                                                      \
    }                                                                                                                  \
    static inline ANYWARP_BOTH name##4 make_##name##4(element x, element y, element z, element w) {                    \
        name##4 v = {x, y, z, w};                                                                                      \
        return v;                                                                                                      \
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
#undef ANYWARP_HIP_VECTORS
#undef ANYWARP_HIP_CONSTRUCTORS1
#undef ANYWARP_HIP_CONSTRUCTORS2
#undef ANYWARP_HIP_CONSTRUCTORS3
#undef ANYWARP_HIP_CONSTRUCTORS4

#ifdef __cplusplus

/* Operators by elements, of two vectors and of a vector and a number. */
#define ANYWARP_HIP_OPERATOR1(T, element, op)                                                                          \
    static inline ANYWARP_BOTH T operator op(const T &a, const T &b) {                                                 \
        T v = {(element)(a.x op b.x)};                                                                                 \
        return v;                                                                                                      \
    }                                                                                                                  \
    static inline ANYWARP_BOTH T operator op(const T &a, element b) {                                                  \
        T v = {(element)(a.x op b)};                                                                                   \
        return v;                                                                                                      \
    }                                                                                                                  \
    static inline ANYWARP_BOTH T operator op(element a, const T &b) {                                                  \
        T v = {(element)(a op b.x)};                                                                                   \
        return v;                                                                                                      \
    }                                                                                                                  \
    static inline ANYWARP_BOTH T &operator op##=(T &a, const T &b) { return a = a op b; }                              \
    static inline ANYWARP_BOTH T &operator op##=(T &a, element b) { return a = a op b; }
#define ANYWARP_HIP_OPERATOR2(T, element, op)                                                                          \
    static inline ANYWARP_BOTH T operator op(const T &a, const T &b) {                                                 \
        T v = {(element)(a.x op b.x), (element)(a.y op b.y)};                                                          \
        return v;                                                                                                      \
    }                                                                                                                  \
    static inline ANYWARP_BOTH T operator op(const T &a, element b) {                                                  \
        T v = {(element)(a.x op b), (element)(a.y op b)};                                                              \
        return v;                                                                                                      \
    }                                                                                                                  \
    static inline ANYWARP_BOTH T operator op(element a, const T &b) {                                                  \
        T v = {(element)(a op b.x), (element)(a op b.y)};                                                              \
        return v;                                                                                                      \
    }                                                                                                                  \
    static inline ANYWARP_BOTH T &operator op##=(T &a, const T &b) { return a = a op b; }                              \
    static inline ANYWARP_BOTH T &operator op##=(T &a, element b) { return a = a op b; }
#define ANYWARP_HIP_OPERATOR3(T, element, op)                                                                          \
    static inline ANYWARP_BOTH T operator op(const T &a, const T &b) {                                                 \
        T v = {(element)(a.x op b.x), (element)(a.y op b.y), (element)(a.z op b.z)};                                   \
        return v;                                                                                                      \
    }                                                                                                                  \
    static inline ANYWARP_BOTH T operator op(const T &a, element b) {                                                  \
        T v = {(element)(a.x op b), (element)(a.y op b), (element)(a.z op b)};                                         \
        return v;                                                                                                      \
    }                                                                                                                  \
    static inline ANYWARP_BOTH T operator op(element a, const T &b) {                                                  \
        T v = {(element)(a op b.x), (element)(a op b.y), (element)(a op b.z)};                                         \
        return v;                                                                                                      \
    }                                                                                                                  \
    static inline ANYWARP_BOTH T &operator op##=(T &a, const T &b) { return a = a op b; }                              \
    static inline ANYWARP_BOTH T &operator op##=(T &a, element b) { return a = a op b; }
#define ANYWARP_HIP_OPERATOR4(T, element, op)                                                                          \
    static inline ANYWARP_BOTH T operator op(const T &a, const T &b) {                                                 \
        T v = {(element)(a.x op b.x), (element)(a.y op b.y), (element)(a.z op b.z), (element)(a.w op b.w)};            \
        return v;                                                                                                      \
    }                                                                                                                  \
    static inline ANYWARP_BOTH T operator op(const T &a, element b) {                                                  \
        T v = {(element)(a.x op b), (element)(a.y op b), (element)(a.z op b), (element)(a.w op b)};                    \
        return v;                                                                                                      \
    }                                                                                                                  \
    static inline ANYWARP_BOTH T operator op(element a, const T &b) {                                                  \
        T v = {(element)(a op b.x), (element)(a op b.y), (element)(a op b.z), (element)(a op b.w)};                    \
        return v;                                                                                                      \
    }                                                                                                                  \
    static inline ANYWARP_BOTH T &operator op##=(T &a, const T &b) { return a = a op b; }                              \
    static inline ANYWARP_BOTH T &operator op##=(T &a, element b) { return a = a op b; }
#define ANYWARP_HIP_COMPARISON1(T, element)                                                                            \
    static inline ANYWARP_BOTH bool operator==(const T &a, const T &b) { return a.x == b.x; }                          \
    static inline ANYWARP_BOTH bool operator!=(const T &a, const T &b) { return !(a == b); }                           \
    static inline ANYWARP_BOTH T operator-(const T &a) {                                                               \
        T v = {(element)-a.x};                                                                                         \
        return v;                                                                                                      \
    }                                                                                                                  \
    static inline ANYWARP_BOTH T &operator++(T &a) { return a = a + (element)1; }                                      \
    static inline ANYWARP_BOTH T &operator--(T &a) { return a = a - (element)1; }
#define ANYWARP_HIP_COMPARISON2(T, element)                                                                            \
    static inline ANYWARP_BOTH bool operator==(const T &a, const T &b) { return a.x == b.x && a.y == b.y; }            \
    static inline ANYWARP_BOTH bool operator!=(const T &a, const T &b) { return !(a == b); }                           \
    static inline ANYWARP_BOTH T operator-(const T &a) {                                                               \
        T v = {(element)-a.x, (element)-a.y};                                                                          \
        return v;                                                                                                      \
    }                                                                                                                  \
    static inline ANYWARP_BOTH T &operator++(T &a) { return a = a + (element)1; }                                      \
    static inline ANYWARP_BOTH T &operator--(T &a) { return a = a - (element)1; }
#define ANYWARP_HIP_COMPARISON3(T, element)                                                                            \
    static inline ANYWARP_BOTH bool operator==(const T &a, const T &b) { return a.x == b.x && a.y == b.y && a.z == b.z; }\
    static inline ANYWARP_BOTH bool operator!=(const T &a, const T &b) { return !(a == b); }                           \
    static inline ANYWARP_BOTH T operator-(const T &a) {                                                               \
        T v = {(element)-a.x, (element)-a.y, (element)-a.z};                                                           \
        return v;                                                                                                      \
    }                                                                                                                  \
    static inline ANYWARP_BOTH T &operator++(T &a) { return a = a + (element)1; }                                      \
    static inline ANYWARP_BOTH T &operator--(T &a) { return a = a - (element)1; }
#define ANYWARP_HIP_COMPARISON4(T, element)                                                                            \
    static inline ANYWARP_BOTH bool operator==(const T &a, const T &b) { return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w; }\
    static inline ANYWARP_BOTH bool operator!=(const T &a, const T &b) { return !(a == b); }                           \
    static inline ANYWARP_BOTH T operator-(const T &a) {                                                               \
        T v = {(element)-a.x, (element)-a.y, (element)-a.z, (element)-a.w};                                            \
        return v;                                                                                                      \
    }                                                                                                                  \
    static inline ANYWARP_BOTH T &operator++(T &a) { return a = a + (element)1; }                                      \
    static inline ANYWARP_BOTH T &operator--(T &a) { return a = a - (element)1; }
#define ANYWARP_HIP_ARITHMETIC(n, T, element)                                                                          \
    ANYWARP_HIP_OPERATOR##n(T, element, +)                                                                             \
    ANYWARP_HIP_OPERATOR##n(T, element, -)                                                                             \
    ANYWARP_HIP_OPERATOR##n(T, element, *)                                                                             \
    ANYWARP_HIP_OPERATOR##n(T, element, /)                                                                             \
    ANYWARP_HIP_COMPARISON##n(T, element)
#define ANYWARP_HIP_BITS(n, T, element)                                                                                \
    ANYWARP_HIP_OPERATOR##n(T, element, %)                                                                             \
    ANYWARP_HIP_OPERATOR##n(T, element, &)                                                                             \
    ANYWARP_HIP_OPERATOR##n(T, element, |)                                                                             \
    ANYWARP_HIP_OPERATOR##n(T, element, ^)                                                                             \
    ANYWARP_HIP_OPERATOR##n(T, element, <<)                                                                            \
    ANYWARP_HIP_OPERATOR##n(T, element, >>)
#define ANYWARP_HIP_FLOATS(name, element)                                                                              \
    ANYWARP_HIP_ARITHMETIC(1, name##1, element)                                                                        \
    ANYWARP_HIP_ARITHMETIC(2, name##2, element)                                                                        \
    ANYWARP_HIP_ARITHMETIC(3, name##3, element)                                                                        \
    ANYWARP_HIP_ARITHMETIC(4, name##4, element)
#define ANYWARP_HIP_INTEGERS(name, element)                                                                            \
    ANYWARP_HIP_FLOATS(name, element)                                                                                  \
    ANYWARP_HIP_BITS(1, name##1, element)                                                                              \
    ANYWARP_HIP_BITS(2, name##2, element)                                                                              \
    ANYWARP_HIP_BITS(3, name##3, element)                                                                              \
    ANYWARP_HIP_BITS(4, name##4, element)

ANYWARP_HIP_INTEGERS(char, char)
ANYWARP_HIP_INTEGERS(uchar, unsigned char)
ANYWARP_HIP_INTEGERS(short, short)
ANYWARP_HIP_INTEGERS(ushort, unsigned short)
ANYWARP_HIP_INTEGERS(int, int)
ANYWARP_HIP_INTEGERS(uint, unsigned int)
ANYWARP_HIP_INTEGERS(long, long)
ANYWARP_HIP_INTEGERS(ulong, unsigned long)
ANYWARP_HIP_INTEGERS(longlong, long long)
ANYWARP_HIP_INTEGERS(ulonglong, unsigned long long)
ANYWARP_HIP_FLOATS(float, float)
ANYWARP_HIP_FLOATS(double, double)
#undef ANYWARP_HIP_INTEGERS
#undef ANYWARP_HIP_FLOATS
#undef ANYWARP_HIP_BITS
#undef ANYWARP_HIP_ARITHMETIC
#undef ANYWARP_HIP_COMPARISON1
#undef ANYWARP_HIP_COMPARISON2
#undef ANYWARP_HIP_COMPARISON3
#undef ANYWARP_HIP_COMPARISON4
#undef ANYWARP_HIP_OPERATOR1
#undef ANYWARP_HIP_OPERATOR2
#undef ANYWARP_HIP_OPERATOR3
#undef ANYWARP_HIP_OPERATOR4

#endif

#endif
