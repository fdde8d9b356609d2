/*
 * Anywarp's headers for GPU languages: the functions of a format of 16 bits and of pairs of such numbers. It has
 * no guard: cuda_fp16.h and cuda_bf16.h include it with
 *
 *   ANYWARP_N         the format in the names of functions: half, bfloat16
 *   ANYWARP_T, _T2    the types of a number and of a pair, which are declared
 *   anywarp::small<T> how a number is rounded: `of`, `fma`, and `work`, a type whose sums round rightly
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define ANYWARP_JOIN2(a, b, c) a##b##c
#define ANYWARP_JOIN1(a, b, c) ANYWARP_JOIN2(a, b, c)
#define ANYWARP_J(a, c) ANYWARP_JOIN1(a, ANYWARP_N, c)
#define ANYWARP_SMALL static __inline__ ANYWARP_BOTH
#define ANYWARP_OF anywarp::small<ANYWARP_T>::of
#define ANYWARP_AS(v) ((anywarp::small<ANYWARP_T>::work)(float)(v))

/* ---- Conversions ------------------------------------------------------------------------------------------ */

ANYWARP_SMALL unsigned short ANYWARP_J(__, _as_ushort)(ANYWARP_T v) { return v.__x; }
ANYWARP_SMALL short ANYWARP_J(__, _as_short)(ANYWARP_T v) { return (short)v.__x; }
ANYWARP_SMALL ANYWARP_T ANYWARP_J(__ushort_as_, )(unsigned short v) {
    ANYWARP_T h;
    h.__x = v;
    return h;
}
ANYWARP_SMALL ANYWARP_T ANYWARP_J(__short_as_, )(short v) { return ANYWARP_J(__ushort_as_, )((unsigned short)v); }

#define ANYWARP_ROUND(suffix, mode)                                                                         \
    ANYWARP_SMALL ANYWARP_T ANYWARP_J(__float2, suffix)(float v) { return ANYWARP_OF(v, anywarp::mode); }   \
    ANYWARP_SMALL ANYWARP_T ANYWARP_J(__int2, suffix)(int v) { return ANYWARP_OF((double)v, anywarp::mode); } \
    ANYWARP_SMALL ANYWARP_T ANYWARP_J(__uint2, suffix)(unsigned v) { return ANYWARP_OF((double)v, anywarp::mode); } \
    ANYWARP_SMALL ANYWARP_T ANYWARP_J(__short2, suffix)(short v) { return ANYWARP_OF((float)v, anywarp::mode); } \
    ANYWARP_SMALL ANYWARP_T ANYWARP_J(__ushort2, suffix)(unsigned short v) { return ANYWARP_OF((float)v, anywarp::mode); } \
    ANYWARP_SMALL ANYWARP_T ANYWARP_J(__ll2, suffix)(long long v) { return ANYWARP_OF(anywarp::odd(v), anywarp::mode); } \
    ANYWARP_SMALL ANYWARP_T ANYWARP_J(__ull2, suffix)(unsigned long long v) { return ANYWARP_OF(anywarp::odd(v), anywarp::mode); } \
    ANYWARP_INTEGER_OF(int, 2int##suffix, mode)                                                             \
    ANYWARP_INTEGER_OF(unsigned, 2uint##suffix, mode)                                                       \
    ANYWARP_INTEGER_OF(short, 2short##suffix, mode)                                                         \
    ANYWARP_INTEGER_OF(unsigned short, 2ushort##suffix, mode)                                               \
    ANYWARP_INTEGER_OF(long long, 2ll##suffix, mode)                                                        \
    ANYWARP_INTEGER_OF(unsigned long long, 2ull##suffix, mode)
#define ANYWARP_INTEGER_OF(T, name, mode)                                                                   \
    ANYWARP_SMALL T ANYWARP_J(__, name)(ANYWARP_T v) {                                                      \
        return anywarp::saturated<T>(anywarp::whole((float)v, anywarp::mode));                              \
    }
ANYWARP_ROUND(_rn, to_nearest)
ANYWARP_ROUND(_rz, to_zero)
ANYWARP_ROUND(_ru, upwards)
ANYWARP_ROUND(_rd, downwards)
ANYWARP_INTEGER_OF(signed char, 2char_rz, to_zero)
ANYWARP_INTEGER_OF(unsigned char, 2uchar_rz, to_zero)
#undef ANYWARP_ROUND
#undef ANYWARP_INTEGER_OF
ANYWARP_SMALL ANYWARP_T ANYWARP_J(__float2, )(float v) { return ANYWARP_T(v); }
ANYWARP_SMALL ANYWARP_T ANYWARP_J(__double2, )(double v) { return ANYWARP_T(v); }
ANYWARP_SMALL float ANYWARP_J(__, 2float)(ANYWARP_T v) { return (float)v; }

ANYWARP_SMALL ANYWARP_T2 ANYWARP_J(__halves2, 2)(ANYWARP_T x, ANYWARP_T y) { return ANYWARP_T2(x, y); }
ANYWARP_SMALL ANYWARP_T2 ANYWARP_J(make_, 2)(ANYWARP_T x, ANYWARP_T y) { return ANYWARP_T2(x, y); }
ANYWARP_SMALL ANYWARP_T2 ANYWARP_JOIN1(ANYWARP_J(__, 2), ANYWARP_N, 2)(ANYWARP_T v) { return ANYWARP_T2(v, v); }
ANYWARP_SMALL ANYWARP_T2 ANYWARP_J(__float2, 2_rn)(float v) { return ANYWARP_T2(v, v); }
ANYWARP_SMALL ANYWARP_T2 ANYWARP_J(__floats2, 2_rn)(float x, float y) { return ANYWARP_T2(x, y); }
ANYWARP_SMALL ANYWARP_T2 ANYWARP_J(__float22, 2_rn)(float2 v) { return ANYWARP_T2(v.x, v.y); }
ANYWARP_SMALL float2 ANYWARP_J(__, 22float2)(ANYWARP_T2 v) { return make_float2((float)v.x, (float)v.y); }
ANYWARP_SMALL ANYWARP_T ANYWARP_J(__low2, )(ANYWARP_T2 v) { return v.x; }
ANYWARP_SMALL ANYWARP_T ANYWARP_J(__high2, )(ANYWARP_T2 v) { return v.y; }
ANYWARP_SMALL float __low2float(ANYWARP_T2 v) { return (float)v.x; }
ANYWARP_SMALL float __high2float(ANYWARP_T2 v) { return (float)v.y; }
ANYWARP_SMALL ANYWARP_T2 ANYWARP_J(__low2, 2)(ANYWARP_T2 v) { return ANYWARP_T2(v.x, v.x); }
ANYWARP_SMALL ANYWARP_T2 ANYWARP_J(__high2, 2)(ANYWARP_T2 v) { return ANYWARP_T2(v.y, v.y); }
ANYWARP_SMALL ANYWARP_T2 ANYWARP_J(__lows2, 2)(ANYWARP_T2 a, ANYWARP_T2 b) { return ANYWARP_T2(a.x, b.x); }
ANYWARP_SMALL ANYWARP_T2 ANYWARP_J(__highs2, 2)(ANYWARP_T2 a, ANYWARP_T2 b) { return ANYWARP_T2(a.y, b.y); }
ANYWARP_SMALL ANYWARP_T2 __lowhigh2highlow(ANYWARP_T2 v) { return ANYWARP_T2(v.y, v.x); }

/* ---- Arithmetic ------------------------------------------------------------------------------------------- */

/* The bits of the number 1 between 0 and 1, of 0 otherwise; what is no number becomes 0. */
ANYWARP_SMALL ANYWARP_T ANYWARP_J(anywarp_sat_, )(ANYWARP_T v) {
    float f = (float)v;
    return f > 0 ? f < 1 ? v : ANYWARP_T(1.0f) : ANYWARP_T(0.0f);
}
/* A function of numbers and of pairs. */
#define ANYWARP_PAIRWISE1(name, name2)                                                                      \
    ANYWARP_SMALL ANYWARP_T2 name2(ANYWARP_T2 a) { return ANYWARP_T2(name(a.x), name(a.y)); }
#define ANYWARP_PAIRWISE2(name, name2)                                                                      \
    ANYWARP_SMALL ANYWARP_T2 name2(ANYWARP_T2 a, ANYWARP_T2 b) { return ANYWARP_T2(name(a.x, b.x), name(a.y, b.y)); }
#define ANYWARP_PAIRWISE3(name, name2)                                                                      \
    ANYWARP_SMALL ANYWARP_T2 name2(ANYWARP_T2 a, ANYWARP_T2 b, ANYWARP_T2 c) {                              \
        return ANYWARP_T2(name(a.x, b.x, c.x), name(a.y, b.y, c.y));                                        \
    }
#define ANYWARP_ARITHMETIC(name, symbol)                                                                    \
    ANYWARP_SMALL ANYWARP_T __h##name(ANYWARP_T a, ANYWARP_T b) {                                           \
        _Pragma("clang fp contract(off) reassociate(off)") return ANYWARP_OF(ANYWARP_AS(a) symbol ANYWARP_AS(b)); \
    }                                                                                                       \
    ANYWARP_SMALL ANYWARP_T operator symbol(const ANYWARP_T &a, const ANYWARP_T &b) { return __h##name(a, b); } \
    ANYWARP_SMALL ANYWARP_T &operator symbol##=(ANYWARP_T &a, const ANYWARP_T &b) { return a = __h##name(a, b); } \
    ANYWARP_SMALL ANYWARP_T2 operator symbol(const ANYWARP_T2 &a, const ANYWARP_T2 &b) {                    \
        return ANYWARP_T2(__h##name(a.x, b.x), __h##name(a.y, b.y));                                        \
    }                                                                                                       \
    ANYWARP_SMALL ANYWARP_T2 &operator symbol##=(ANYWARP_T2 &a, const ANYWARP_T2 &b) { return a = a symbol b; }
#define ANYWARP_VARIANTS(name)                                                                              \
    ANYWARP_PAIRWISE2(__h##name, __h##name##2)                                                              \
    ANYWARP_SMALL ANYWARP_T __h##name##_rn(ANYWARP_T a, ANYWARP_T b) { return __h##name(a, b); }            \
    ANYWARP_PAIRWISE2(__h##name, __h##name##2_rn)                                                           \
    ANYWARP_SMALL ANYWARP_T __h##name##_sat(ANYWARP_T a, ANYWARP_T b) {                                     \
        return ANYWARP_J(anywarp_sat_, )(__h##name(a, b));                                                  \
    }                                                                                                       \
    ANYWARP_PAIRWISE2(__h##name##_sat, __h##name##2_sat)
ANYWARP_ARITHMETIC(add, +)
ANYWARP_ARITHMETIC(sub, -)
ANYWARP_ARITHMETIC(mul, *)
ANYWARP_ARITHMETIC(div, /)
ANYWARP_VARIANTS(add)
ANYWARP_VARIANTS(sub)
ANYWARP_VARIANTS(mul)
ANYWARP_PAIRWISE2(__hdiv, __h2div)
#undef ANYWARP_ARITHMETIC
#undef ANYWARP_VARIANTS
ANYWARP_SMALL ANYWARP_T __hneg(ANYWARP_T v) { return ANYWARP_J(__ushort_as_, )(v.__x ^ 0x8000); }
ANYWARP_SMALL ANYWARP_T __habs(ANYWARP_T v) { return ANYWARP_J(__ushort_as_, )(v.__x & 0x7fff); }
ANYWARP_PAIRWISE1(__hneg, __hneg2)
ANYWARP_PAIRWISE1(__habs, __habs2)
ANYWARP_SMALL ANYWARP_T operator-(const ANYWARP_T &v) { return __hneg(v); }
ANYWARP_SMALL ANYWARP_T operator+(const ANYWARP_T &v) { return v; }
ANYWARP_SMALL ANYWARP_T2 operator-(const ANYWARP_T2 &v) { return __hneg2(v); }
ANYWARP_SMALL ANYWARP_T2 operator+(const ANYWARP_T2 &v) { return v; }
ANYWARP_SMALL ANYWARP_T &operator++(ANYWARP_T &v) { return v += ANYWARP_T(1.0f); }
ANYWARP_SMALL ANYWARP_T &operator--(ANYWARP_T &v) { return v -= ANYWARP_T(1.0f); }
ANYWARP_SMALL ANYWARP_T operator++(ANYWARP_T &v, int) {
    ANYWARP_T old = v;
    ++v;
    return old;
}
ANYWARP_SMALL ANYWARP_T operator--(ANYWARP_T &v, int) {
    ANYWARP_T old = v;
    --v;
    return old;
}

ANYWARP_SMALL ANYWARP_T __hfma(ANYWARP_T a, ANYWARP_T b, ANYWARP_T c) { return anywarp::small<ANYWARP_T>::fma(a, b, c); }
ANYWARP_SMALL ANYWARP_T __hfma_sat(ANYWARP_T a, ANYWARP_T b, ANYWARP_T c) {
    return ANYWARP_J(anywarp_sat_, )(__hfma(a, b, c));
}
ANYWARP_SMALL ANYWARP_T __hfma_relu(ANYWARP_T a, ANYWARP_T b, ANYWARP_T c) {
    ANYWARP_T v = __hfma(a, b, c);
    return (float)v != (float)v ? ANYWARP_J(__ushort_as_, )(0x7fff) : (float)v > 0 ? v : ANYWARP_T(0.0f);
}
ANYWARP_PAIRWISE3(__hfma, __hfma2)
ANYWARP_PAIRWISE3(__hfma_sat, __hfma2_sat)
ANYWARP_PAIRWISE3(__hfma_relu, __hfma2_relu)
/* Pairs as complex numbers: a b + c. */
ANYWARP_SMALL ANYWARP_T2 __hcmadd(ANYWARP_T2 a, ANYWARP_T2 b, ANYWARP_T2 c) {
    return ANYWARP_T2(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
}

/* ---- Comparisons ------------------------------------------------------------------------------------------ */

ANYWARP_SMALL bool __hisnan(ANYWARP_T v) { return (float)v != (float)v; }
ANYWARP_SMALL int __hisinf(ANYWARP_T v) {
    return __builtin_fabsf((float)v) == __builtin_inff() ? (float)v < 0 ? -1 : 1 : 0;
}
ANYWARP_SMALL ANYWARP_T2 __hisnan2(ANYWARP_T2 v) { return ANYWARP_T2(__hisnan(v.x) ? 1.0f : 0.0f, __hisnan(v.y) ? 1.0f : 0.0f); }
/* `name` is false for what is no number, `name`u true. */
#define ANYWARP_COMPARED(name, value)                                                                       \
    ANYWARP_SMALL bool __h##name(ANYWARP_T a, ANYWARP_T b) {                                                \
        float x = (float)a, y = (float)b;                                                                   \
        return value;                                                                                       \
    }                                                                                                       \
    ANYWARP_SMALL ANYWARP_T2 __h##name##2(ANYWARP_T2 a, ANYWARP_T2 b) {                                     \
        return ANYWARP_T2(__h##name(a.x, b.x) ? 1.0f : 0.0f, __h##name(a.y, b.y) ? 1.0f : 0.0f);            \
    }                                                                                                       \
    ANYWARP_SMALL unsigned __h##name##2_mask(ANYWARP_T2 a, ANYWARP_T2 b) {                                  \
        return (__h##name(a.x, b.x) ? 0xffffu : 0) | (__h##name(a.y, b.y) ? 0xffff0000u : 0);               \
    }                                                                                                       \
    ANYWARP_SMALL bool __hb##name##2(ANYWARP_T2 a, ANYWARP_T2 b) {                                          \
        return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                                  \
    }
#define ANYWARP_COMPARISON(name, symbol, of_operator)                                                       \
    ANYWARP_COMPARED(name, x symbol y && x == x && y == y)                                                  \
    ANYWARP_COMPARED(name##u, x symbol y || x != x || y != y)                                               \
    ANYWARP_SMALL bool operator symbol(const ANYWARP_T &a, const ANYWARP_T &b) { return __h##of_operator(a, b); } \
    ANYWARP_SMALL bool operator symbol(const ANYWARP_T2 &a, const ANYWARP_T2 &b) { return __hb##of_operator##2(a, b); }
ANYWARP_COMPARISON(eq, ==, eq)
ANYWARP_COMPARISON(ne, !=, neu)
ANYWARP_COMPARISON(lt, <, lt)
ANYWARP_COMPARISON(le, <=, le)
ANYWARP_COMPARISON(gt, >, gt)
ANYWARP_COMPARISON(ge, >=, ge)
#undef ANYWARP_COMPARED
#undef ANYWARP_COMPARISON
/* The number among two, of which the zeros are ordered by their signs. */
#define ANYWARP_EXTREME(name, symbol, of_zeros)                                                             \
    ANYWARP_SMALL ANYWARP_T __h##name(ANYWARP_T a, ANYWARP_T b) {                                           \
        float x = (float)a, y = (float)b;                                                                   \
        if (x != x)                                                                                         \
            return y != y ? ANYWARP_J(__ushort_as_, )(0x7fff) : b;                                          \
        if (x == 0 && y == 0)                                                                               \
            return ANYWARP_J(__ushort_as_, )(a.__x of_zeros b.__x);                                         \
        return y != y || x symbol y ? a : b;                                                                \
    }                                                                                                       \
    ANYWARP_SMALL ANYWARP_T __h##name##_nan(ANYWARP_T a, ANYWARP_T b) {                                     \
        return __hisnan(a) || __hisnan(b) ? ANYWARP_J(__ushort_as_, )(0x7fff) : __h##name(a, b);            \
    }                                                                                                       \
    ANYWARP_PAIRWISE2(__h##name, __h##name##2)                                                              \
    ANYWARP_PAIRWISE2(__h##name##_nan, __h##name##2_nan)
ANYWARP_EXTREME(max, >, &)
ANYWARP_EXTREME(min, <, |)
#undef ANYWARP_EXTREME

/* ---- Functions of the device ------------------------------------------------------------------------------ */

#ifdef ANYWARP_GPU_LANGUAGE
#define ANYWARP_FUNCTION(name, value)                                                                       \
    ANYWARP_DEVICE ANYWARP_T h##name(ANYWARP_T v) {                                                         \
        float x = (float)v;                                                                                 \
        return ANYWARP_OF((float)(value));                                                                  \
    }                                                                                                       \
    ANYWARP_DEVICE ANYWARP_T2 h2##name(ANYWARP_T2 v) { return ANYWARP_T2(h##name(v.x), h##name(v.y)); }
ANYWARP_FUNCTION(sqrt, sqrtf(x))
ANYWARP_FUNCTION(rsqrt, rsqrtf(x))
ANYWARP_FUNCTION(rcp, 1.0f / x)
ANYWARP_FUNCTION(exp, expf(x))
ANYWARP_FUNCTION(exp2, exp2f(x))
ANYWARP_FUNCTION(exp10, exp10f(x))
ANYWARP_FUNCTION(log, logf(x))
ANYWARP_FUNCTION(log2, log2f(x))
ANYWARP_FUNCTION(log10, log10f(x))
ANYWARP_FUNCTION(sin, sinf(x))
ANYWARP_FUNCTION(cos, cosf(x))
ANYWARP_FUNCTION(tanh, tanhf(x))
ANYWARP_FUNCTION(tanh_approx, tanhf(x))
ANYWARP_FUNCTION(floor, floorf(x))
ANYWARP_FUNCTION(ceil, ceilf(x))
ANYWARP_FUNCTION(trunc, truncf(x))
ANYWARP_FUNCTION(rint, rintf(x))
#undef ANYWARP_FUNCTION

ANYWARP_SHUFFLES_OF_HIP(ANYWARP_T)
ANYWARP_SHUFFLES_OF_HIP(ANYWARP_T2)

/* The sum is exchanged together with the rest of its word. */
ANYWARP_DEVICE ANYWARP_T atomicAdd(ANYWARP_T *at, ANYWARP_T v) {
    unsigned *word = (unsigned *)((unsigned long long)at & ~3ull), shift = (unsigned long long)at & 2 ? 16 : 0;
    unsigned old = __atomic_load_n(word, __ATOMIC_RELAXED), sum;
    ANYWARP_T there;
    do {
        there = ANYWARP_J(__ushort_as_, )((unsigned short)(old >> shift));
        sum = (old & ~(0xffffu << shift)) | (unsigned)(there + v).__x << shift;
    } while (!__atomic_compare_exchange_n(word, &old, sum, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return there;
}
ANYWARP_DEVICE ANYWARP_T2 atomicAdd(ANYWARP_T2 *at, ANYWARP_T2 v) {
    unsigned old = __atomic_load_n((unsigned *)at, __ATOMIC_RELAXED);
    ANYWARP_T2 there;
    do {
        there = ANYWARP_T2(ANYWARP_J(__ushort_as_, )((unsigned short)old), ANYWARP_J(__ushort_as_, )((unsigned short)(old >> 16)));
    } while (!__atomic_compare_exchange_n((unsigned *)at, &old, __builtin_bit_cast(unsigned, there + v), false,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return there;
}
#if defined(__HIP__)
ANYWARP_DEVICE ANYWARP_T2 unsafeAtomicAdd(ANYWARP_T2 *at, ANYWARP_T2 v) { return atomicAdd(at, v); }
#endif
#endif

#undef ANYWARP_PAIRWISE1
#undef ANYWARP_PAIRWISE2
#undef ANYWARP_PAIRWISE3
#undef ANYWARP_JOIN2
#undef ANYWARP_JOIN1
#undef ANYWARP_J
#undef ANYWARP_SMALL
#undef ANYWARP_OF
#undef ANYWARP_AS
#undef ANYWARP_N
#undef ANYWARP_T
#undef ANYWARP_T2
