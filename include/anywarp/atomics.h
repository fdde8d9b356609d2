/*
 * Anywarp's headers for GPU languages: atomic functions, for the device, for a block (`_block`) and for the
 * system (`_system`). All are done as for the device, which is at least what was asked for on a CPU.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_ATOMICS_H
#define ANYWARP_ATOMICS_H

#include <anywarp/target.h>

/* Three functions with one body. */
#define ANYWARP_ATOMIC(T, name, parameters, body)                                                           \
    ANYWARP_DEVICE T name parameters body                                                                   \
    ANYWARP_DEVICE T name##_block parameters body                                                           \
    ANYWARP_DEVICE T name##_system parameters body

#define ANYWARP_ATOMIC_ADD(T) ANYWARP_ATOMIC(T, atomicAdd, (T *at, T v), { return __atomic_fetch_add(at, v, __ATOMIC_RELAXED); })
#define ANYWARP_ATOMIC_SUB(T) ANYWARP_ATOMIC(T, atomicSub, (T *at, T v), { return __atomic_fetch_sub(at, v, __ATOMIC_RELAXED); })
#define ANYWARP_ATOMIC_MIN(T)                                                                               \
    ANYWARP_ATOMIC(T, atomicMin, (T *at, T v), { return __atomic_fetch_min(at, v, __ATOMIC_RELAXED); })     \
    ANYWARP_ATOMIC(T, atomicMax, (T *at, T v), { return __atomic_fetch_max(at, v, __ATOMIC_RELAXED); })
#define ANYWARP_ATOMIC_BITS(T)                                                                              \
    ANYWARP_ATOMIC(T, atomicAnd, (T *at, T v), { return __atomic_fetch_and(at, v, __ATOMIC_RELAXED); })     \
    ANYWARP_ATOMIC(T, atomicOr, (T *at, T v), { return __atomic_fetch_or(at, v, __ATOMIC_RELAXED); })       \
    ANYWARP_ATOMIC(T, atomicXor, (T *at, T v), { return __atomic_fetch_xor(at, v, __ATOMIC_RELAXED); })
#define ANYWARP_ATOMIC_EXCHANGE(T)                                                                          \
    ANYWARP_ATOMIC(T, atomicExch, (T *at, T v), {                                                           \
        T old;                                                                                              \
        __atomic_exchange(at, &v, &old, __ATOMIC_RELAXED);                                                  \
        return old;                                                                                         \
    })
#define ANYWARP_ATOMIC_CAS(T)                                                                               \
    ANYWARP_ATOMIC(T, atomicCAS, (T *at, T expected, T v), {                                                \
        __atomic_compare_exchange(at, &expected, &v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);            \
        return expected;                                                                                    \
    })
#define ANYWARP_ATOMIC_INTEGER(T)                                                                           \
    ANYWARP_ATOMIC_ADD(T)                                                                                   \
    ANYWARP_ATOMIC_SUB(T)                                                                                   \
    ANYWARP_ATOMIC_MIN(T)                                                                                   \
    ANYWARP_ATOMIC_BITS(T)                                                                                  \
    ANYWARP_ATOMIC_EXCHANGE(T)                                                                              \
    ANYWARP_ATOMIC_CAS(T)

ANYWARP_ATOMIC_INTEGER(int)
ANYWARP_ATOMIC_INTEGER(unsigned)
ANYWARP_ATOMIC_INTEGER(long)
ANYWARP_ATOMIC_INTEGER(unsigned long)
ANYWARP_ATOMIC_INTEGER(long long)
ANYWARP_ATOMIC_INTEGER(unsigned long long)
ANYWARP_ATOMIC_CAS(unsigned short)
ANYWARP_ATOMIC_ADD(float)
ANYWARP_ATOMIC_ADD(double)
ANYWARP_ATOMIC_EXCHANGE(float)
ANYWARP_ATOMIC_EXCHANGE(double)
ANYWARP_ATOMIC(float, atomicSub, (float *at, float v), { return __atomic_fetch_add(at, -v, __ATOMIC_RELAXED); })
ANYWARP_ATOMIC(double, atomicSub, (double *at, double v), { return __atomic_fetch_add(at, -v, __ATOMIC_RELAXED); })
ANYWARP_ATOMIC(unsigned, atomicInc, (unsigned *at, unsigned limit), { return anywarp::atomic_inc(at, limit); })
ANYWARP_ATOMIC(unsigned, atomicDec, (unsigned *at, unsigned limit), { return anywarp::atomic_dec(at, limit); })

/* HIP's minimum and maximum of floating-point numbers, by comparison of the values that are there. */
#define ANYWARP_ATOMIC_FLOATING(T, word, name, smaller)                                                     \
    ANYWARP_ATOMIC(T, name, (T *at, T v), {                                                                 \
        word old = __atomic_load_n((word *)at, __ATOMIC_RELAXED);                                           \
        T there;                                                                                            \
        do {                                                                                                \
            there = __builtin_bit_cast(T, old);                                                             \
            if (!(smaller))                                                                                 \
                break;                                                                                      \
        } while (!__atomic_compare_exchange_n((word *)at, &old, __builtin_bit_cast(word, v), false,         \
                                              __ATOMIC_RELAXED, __ATOMIC_RELAXED));                         \
        return there;                                                                                       \
    })
#if defined(__HIP__)
ANYWARP_ATOMIC_FLOATING(float, unsigned, atomicMin, v < there)
ANYWARP_ATOMIC_FLOATING(float, unsigned, atomicMax, v > there)
ANYWARP_ATOMIC_FLOATING(double, unsigned long long, atomicMin, v < there)
ANYWARP_ATOMIC_FLOATING(double, unsigned long long, atomicMax, v > there)
/* "Unsafe" may use an instruction that only some memory obeys; these are right for all memory. */
#define ANYWARP_ATOMIC_SAFETY(T, name)                                                                      \
    ANYWARP_DEVICE T safeAtomic##name(T *at, T v) { return atomic##name(at, v); }                           \
    ANYWARP_DEVICE T unsafeAtomic##name(T *at, T v) { return atomic##name(at, v); }
ANYWARP_ATOMIC_SAFETY(float, Add)
ANYWARP_ATOMIC_SAFETY(float, Min)
ANYWARP_ATOMIC_SAFETY(float, Max)
ANYWARP_ATOMIC_SAFETY(double, Add)
ANYWARP_ATOMIC_SAFETY(double, Min)
ANYWARP_ATOMIC_SAFETY(double, Max)
ANYWARP_DEVICE void atomicAddNoRet(float *at, float v) { atomicAdd(at, v); }
#define ANYWARP_ATOMIC_CAS_FLOATING(T, word)                                                                \
    ANYWARP_ATOMIC(T, atomicCAS, (T *at, T expected, T v), {                                                \
        word old = __builtin_bit_cast(word, expected);                                                      \
        return __builtin_bit_cast(T, atomicCAS((word *)at, old, __builtin_bit_cast(word, v)));              \
    })
ANYWARP_ATOMIC_CAS_FLOATING(float, unsigned)
ANYWARP_ATOMIC_CAS_FLOATING(double, unsigned long long)
#endif

#endif
