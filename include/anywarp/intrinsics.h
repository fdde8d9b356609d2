/*
 * Anywarp's headers for GPU languages: integer functions, casts of bits, arithmetic with a given rounding,
 * conversions, loads and stores with cache hints.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_INTRINSICS_H
#define ANYWARP_INTRINSICS_H

#include <anywarp/target.h>

/* ---- Integers ------------------------------------------------------------------------------------------ */

ANYWARP_DEVICE int __popc(unsigned v) { return __builtin_popcount(v); }
ANYWARP_DEVICE int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
ANYWARP_DEVICE int __clz(int v) { return v ? __builtin_clz(v) : 32; }
ANYWARP_DEVICE int __clzll(long long v) { return v ? __builtin_clzll(v) : 64; }
ANYWARP_DEVICE int __ffs(int v) { return v ? __builtin_ctz(v) + 1 : 0; }
ANYWARP_DEVICE int __ffsll(long long v) { return v ? __builtin_ctzll(v) + 1 : 0; }
ANYWARP_DEVICE unsigned __brev(unsigned v) { return __builtin_bitreverse32(v); }
ANYWARP_DEVICE unsigned long long __brevll(unsigned long long v) { return __builtin_bitreverse64(v); }
ANYWARP_DEVICE unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
    return anywarp::permute(a, b, selector & 0x7777);
}
ANYWARP_DEVICE int __mulhi(int a, int b) { return (long long)a * b >> 32; }
ANYWARP_DEVICE unsigned __umulhi(unsigned a, unsigned b) { return (unsigned long long)a * b >> 32; }
ANYWARP_DEVICE long long __mul64hi(long long a, long long b) { return (__int128)a * b >> 64; }
ANYWARP_DEVICE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned __int128)a * b >> 64;
}
ANYWARP_DEVICE int __mul24(int a, int b) {
    return (int)((unsigned)((int)((unsigned)a << 8) >> 8) * (unsigned)((int)((unsigned)b << 8) >> 8));
}
ANYWARP_DEVICE unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
ANYWARP_DEVICE unsigned __sad(int a, int b, unsigned c) { return (a < b ? (unsigned)b - a : (unsigned)a - b) + c; }
ANYWARP_DEVICE unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a < b ? b - a : a - b) + c; }
ANYWARP_DEVICE int __hadd(int a, int b) { return ((long long)a + b) >> 1; }
ANYWARP_DEVICE int __rhadd(int a, int b) { return ((long long)a + b + 1) >> 1; }
ANYWARP_DEVICE unsigned __uhadd(unsigned a, unsigned b) { return ((unsigned long long)a + b) >> 1; }
ANYWARP_DEVICE unsigned __urhadd(unsigned a, unsigned b) { return ((unsigned long long)a + b + 1) >> 1; }
ANYWARP_DEVICE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
    return ((unsigned long long)high << 32 | low) << (by & 31) >> 32;
}
ANYWARP_DEVICE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
    return ((unsigned long long)high << 32 | low) >> (by & 31);
}
ANYWARP_DEVICE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned by) {
    return by >= 32 ? low : __funnelshift_l(low, high, by);
}
ANYWARP_DEVICE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned by) {
    return by >= 32 ? high : __funnelshift_r(low, high, by);
}
ANYWARP_DEVICE int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 32; i += 8)
        c += (int)(signed char)(a >> i) * (signed char)(b >> i);
    return c;
}
ANYWARP_DEVICE unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 32; i += 8)
        c += (a >> i & 0xff) * (b >> i & 0xff);
    return c;
}

/* The place of the `count`-th bit that is set, from `base` on upwards, or downwards if `count` is negative;
   with 0, `base` if its bit is set. -1 if there is none. */
namespace anywarp {
ANYWARP_DEVICE int nth_set(unsigned long long mask, int width, unsigned base, int count) {
    if (base >= (unsigned)width)
        return -1;
    if (count == 0)
        return mask >> base & 1 ? (int)base : -1;
    if (count > 0) {
        for (mask &= ~0ull << base; mask && --count; mask &= mask - 1) {
        }
        return mask ? __builtin_ctzll(mask) : -1;
    }
    for (mask &= ~0ull >> (63 - base); mask && ++count; mask &= ~(1ull << (63 - __builtin_clzll(mask)))) {
    }
    return mask ? 63 - __builtin_clzll(mask) : -1;
}
} // namespace anywarp
ANYWARP_DEVICE unsigned __fns(unsigned mask, unsigned base, int count) {
    return anywarp::nth_set(mask, 32, base, count);
}

/* ---- Bits ---------------------------------------------------------------------------------------------- */

ANYWARP_DEVICE int __float_as_int(float v) { return __builtin_bit_cast(int, v); }
ANYWARP_DEVICE unsigned __float_as_uint(float v) { return __builtin_bit_cast(unsigned, v); }
ANYWARP_DEVICE float __int_as_float(int v) { return __builtin_bit_cast(float, v); }
ANYWARP_DEVICE float __uint_as_float(unsigned v) { return __builtin_bit_cast(float, v); }
ANYWARP_DEVICE long long __double_as_longlong(double v) { return __builtin_bit_cast(long long, v); }
ANYWARP_DEVICE double __longlong_as_double(long long v) { return __builtin_bit_cast(double, v); }
ANYWARP_DEVICE int __double2hiint(double v) { return __double_as_longlong(v) >> 32; }
ANYWARP_DEVICE int __double2loint(double v) { return (int)__double_as_longlong(v); }
ANYWARP_DEVICE double __hiloint2double(int high, int low) {
    return __longlong_as_double((unsigned long long)(unsigned)high << 32 | (unsigned)low);
}

/* ---- Arithmetic that is never contracted, and with other roundings --------------------------------------- */

#define ANYWARP_PLAIN(T, name, parameters, value)                                                           \
    ANYWARP_DEVICE T name parameters {                                                                      \
        _Pragma("clang fp contract(off) reassociate(off)") return value;                                    \
    }
ANYWARP_PLAIN(float, __fadd_rn, (float a, float b), a + b)
ANYWARP_PLAIN(float, __fsub_rn, (float a, float b), a - b)
ANYWARP_PLAIN(float, __fmul_rn, (float a, float b), a *b)
ANYWARP_PLAIN(float, __fdiv_rn, (float a, float b), a / b)
ANYWARP_PLAIN(float, __frcp_rn, (float a), 1 / a)
ANYWARP_PLAIN(float, __fsqrt_rn, (float a), __builtin_sqrtf(a))
ANYWARP_PLAIN(float, __fmaf_rn, (float a, float b, float c), __builtin_fmaf(a, b, c))
ANYWARP_PLAIN(double, __dadd_rn, (double a, double b), a + b)
ANYWARP_PLAIN(double, __dsub_rn, (double a, double b), a - b)
ANYWARP_PLAIN(double, __dmul_rn, (double a, double b), a *b)
ANYWARP_PLAIN(double, __ddiv_rn, (double a, double b), a / b)
ANYWARP_PLAIN(double, __drcp_rn, (double a), 1 / a)
ANYWARP_PLAIN(double, __dsqrt_rn, (double a), __builtin_sqrt(a))
ANYWARP_PLAIN(double, __fma_rn, (double a, double b, double c), __builtin_fma(a, b, c))
ANYWARP_PLAIN(float, __frsqrt_rn, (float a), (float)(1 / __builtin_sqrt((double)a)))
#undef ANYWARP_PLAIN
ANYWARP_DEVICE float __saturatef(float v) { return __builtin_fminf(__builtin_fmaxf(v, 0), 1); }

/* AMD's devices have a mode instead of instructions with a rounding. */
#if defined(__NVPTX__)
#define ANYWARP_ROUNDED(T, name, parameters, builtin, arguments)                                            \
    ANYWARP_DEVICE T name parameters { return __nvvm_##builtin arguments; }
#elif !defined(__HIP_DEVICE_COMPILE__)
#define ANYWARP_ROUNDED(T, name, parameters, builtin, arguments) __device__ T name parameters;
#else
#include <anywarp/rounding.h>
#define ANYWARP_ROUNDED(T, name, parameters, builtin, arguments)
#endif
#define ANYWARP_DIRECTED(mode, of_llvm)                                                                              \
    ANYWARP_ROUNDED(float, __fadd_##mode, (float a, float b), add_##of_llvm##_f, (a, b))                       \
    ANYWARP_ROUNDED(float, __fsub_##mode, (float a, float b), add_##of_llvm##_f, (a, -b))                      \
    ANYWARP_ROUNDED(float, __fmul_##mode, (float a, float b), mul_##of_llvm##_f, (a, b))                       \
    ANYWARP_ROUNDED(float, __fdiv_##mode, (float a, float b), div_##of_llvm##_f, (a, b))                       \
    ANYWARP_ROUNDED(float, __frcp_##mode, (float a), rcp_##of_llvm##_f, (a))                                   \
    ANYWARP_ROUNDED(float, __fsqrt_##mode, (float a), sqrt_##of_llvm##_f, (a))                                 \
    ANYWARP_ROUNDED(float, __fmaf_##mode, (float a, float b, float c), fma_##of_llvm##_f, (a, b, c))           \
    ANYWARP_ROUNDED(double, __dadd_##mode, (double a, double b), add_##of_llvm##_d, (a, b))                    \
    ANYWARP_ROUNDED(double, __dsub_##mode, (double a, double b), add_##of_llvm##_d, (a, -b))                   \
    ANYWARP_ROUNDED(double, __dmul_##mode, (double a, double b), mul_##of_llvm##_d, (a, b))                    \
    ANYWARP_ROUNDED(double, __ddiv_##mode, (double a, double b), div_##of_llvm##_d, (a, b))                    \
    ANYWARP_ROUNDED(double, __drcp_##mode, (double a), rcp_##of_llvm##_d, (a))                                 \
    ANYWARP_ROUNDED(double, __dsqrt_##mode, (double a), sqrt_##of_llvm##_d, (a))                               \
    ANYWARP_ROUNDED(double, __fma_##mode, (double a, double b, double c), fma_##of_llvm##_d, (a, b, c))
ANYWARP_DIRECTED(rz, rz)
ANYWARP_DIRECTED(ru, rp)
ANYWARP_DIRECTED(rd, rm)
#undef ANYWARP_DIRECTED

/* ---- Conversions ----------------------------------------------------------------------------------------- */

#define ANYWARP_CONVERSIONS(mode, of_llvm)                                                                           \
    ANYWARP_ROUNDED(int, __float2int_##mode, (float v), f2i_##of_llvm, (v))                                    \
    ANYWARP_ROUNDED(unsigned, __float2uint_##mode, (float v), f2ui_##of_llvm, (v))                             \
    ANYWARP_ROUNDED(long long, __float2ll_##mode, (float v), f2ll_##of_llvm, (v))                              \
    ANYWARP_ROUNDED(unsigned long long, __float2ull_##mode, (float v), f2ull_##of_llvm, (v))                   \
    ANYWARP_ROUNDED(int, __double2int_##mode, (double v), d2i_##of_llvm, (v))                                  \
    ANYWARP_ROUNDED(unsigned, __double2uint_##mode, (double v), d2ui_##of_llvm, (v))                           \
    ANYWARP_ROUNDED(long long, __double2ll_##mode, (double v), d2ll_##of_llvm, (v))                            \
    ANYWARP_ROUNDED(unsigned long long, __double2ull_##mode, (double v), d2ull_##of_llvm, (v))                 \
    ANYWARP_ROUNDED(float, __double2float_##mode, (double v), d2f_##of_llvm, (v))
/* clang 19 makes some of its builtin functions for these round to nearest. */
#if defined(__NVPTX__)
#define ANYWARP_OF_INTEGER(name, ptx_mode, T, to, constraint, from, ptx_from, of)                           \
    ANYWARP_DEVICE T name(from v) {                                                                         \
        T result;                                                                                           \
        __asm__("cvt." #ptx_mode "." #to "." #ptx_from " %0, %1;" : "=" constraint(result) : of(v));        \
        return result;                                                                                      \
    }
#else
#define ANYWARP_OF_INTEGER(name, ptx_mode, T, to, constraint, from, ptx_from, of) __device__ T name(from v);
#endif
#define ANYWARP_OF_INTEGERS(mode, ptx_mode)                                                                 \
    ANYWARP_OF_INTEGER(__int2float_##mode, ptx_mode, float, f32, "f", int, s32, "r")                        \
    ANYWARP_OF_INTEGER(__uint2float_##mode, ptx_mode, float, f32, "f", unsigned, u32, "r")                  \
    ANYWARP_OF_INTEGER(__ll2float_##mode, ptx_mode, float, f32, "f", long long, s64, "l")                   \
    ANYWARP_OF_INTEGER(__ull2float_##mode, ptx_mode, float, f32, "f", unsigned long long, u64, "l")         \
    ANYWARP_OF_INTEGER(__ll2double_##mode, ptx_mode, double, f64, "d", long long, s64, "l")                 \
    ANYWARP_OF_INTEGER(__ull2double_##mode, ptx_mode, double, f64, "d", unsigned long long, u64, "l")
#if !defined(__AMDGCN__) || !defined(__HIP_DEVICE_COMPILE__)
ANYWARP_CONVERSIONS(rn, rn)
ANYWARP_CONVERSIONS(rz, rz)
ANYWARP_CONVERSIONS(ru, rp)
ANYWARP_CONVERSIONS(rd, rm)
ANYWARP_OF_INTEGERS(rn, rn)
ANYWARP_OF_INTEGERS(rz, rz)
ANYWARP_OF_INTEGERS(ru, rp)
ANYWARP_OF_INTEGERS(rd, rm)
#endif
#undef ANYWARP_CONVERSIONS
ANYWARP_DEVICE double __int2double_rn(int v) { return v; }
ANYWARP_DEVICE double __uint2double_rn(unsigned v) { return v; }

/* ---- Loads and stores with hints ------------------------------------------------------------------------- */

/* The hints concern caches that a CPU does not have. */
#define ANYWARP_LOAD(name)                                                                                  \
    template <class T> ANYWARP_DEVICE T name(const T *at) { return *at; }
ANYWARP_LOAD(__ldg)
ANYWARP_LOAD(__ldca)
ANYWARP_LOAD(__ldcg)
ANYWARP_LOAD(__ldcs)
ANYWARP_LOAD(__ldlu)
#undef ANYWARP_LOAD
template <class T> ANYWARP_DEVICE T __ldcv(const T *at) { return *(const volatile T *)at; }
#define ANYWARP_STORE(name)                                                                                 \
    template <class T> ANYWARP_DEVICE void name(T *at, T v) { *at = v; }
ANYWARP_STORE(__stwb)
ANYWARP_STORE(__stcg)
ANYWARP_STORE(__stcs)
ANYWARP_STORE(__stwt)
#undef ANYWARP_STORE

#endif
