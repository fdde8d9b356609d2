/*
 * Anywarp's headers for GPU languages: device functions that HIP has and CUDA does not.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_HIP_FUNCTIONS_H
#define ANYWARP_HIP_FUNCTIONS_H

#include <anywarp/intrinsics.h>
#include <anywarp/target.h>
#include <anywarp/warp.h>

/* clang knows these scopes in code for AMD alone, and the functions that take them everywhere. */
#ifndef __HIP_MEMORY_SCOPE_SYSTEM
#define __HIP_MEMORY_SCOPE_SINGLETHREAD 1
#define __HIP_MEMORY_SCOPE_WAVEFRONT 2
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5
#endif

/* ---- Bits -----------------------------------------------------------------------------------------------
 */

/* A field of a word: positions and widths count modulo the word's bits, and what is beyond the word is 0. */
#define ANYWARP_FIELDS(T, bits)                                                                              \
    ANYWARP_DEVICE T __bitextract_u##bits(T v, unsigned at, unsigned width) {                                \
        return v >> (at & (bits - 1)) & (((T)1 << (width & (bits - 1))) - 1);                                \
    }                                                                                                        \
    ANYWARP_DEVICE T __bitinsert_u##bits(T v, T field, unsigned at, unsigned width) {                        \
        T mask = ((T)1 << (width & (bits - 1))) - 1;                                                         \
        return (v & ~(mask << (at & (bits - 1)))) | (field & mask) << (at & (bits - 1));                     \
    }                                                                                                        \
    ANYWARP_DEVICE int32_t __fns##bits(T mask, uint32_t base, int32_t count) {                               \
        return anywarp::nth_set(mask, bits, base, count);                                                    \
    }
ANYWARP_FIELDS(uint32_t, 32)
ANYWARP_FIELDS(uint64_t, 64)
#undef ANYWARP_FIELDS
/* The place of the lowest bit that is set, or all ones. */
ANYWARP_DEVICE unsigned __lastbit_u32_u32(uint32_t v) { return v ? __builtin_ctz(v) : ~0u; }
ANYWARP_DEVICE unsigned __lastbit_u32_u64(uint64_t v) { return v ? __builtin_ctzll(v) : ~0u; }

/* ---- Sums of products ---------------------------------------------------------------------------------- */

/* The sum of `c` and the products of the parts of `a` and `b`, which with `saturate` stays within its type.
   The integers are eight parts of 4 bits. */
namespace anywarp {
template <class T> ANYWARP_DEVICE T saturated_sum(long long sum, bool saturate) {
    const long long least = (T)-1 < (T)0 ? -2147483648ll : 0,
                    most = (T)-1 < (T)0 ? 2147483647ll : 4294967295ll;
    return (T)(!saturate ? sum : sum < least ? least : sum > most ? most : sum);
}
} // namespace anywarp
#define ANYWARP_MIXED_DOT(T, T2, T4)                                                                         \
    ANYWARP_DEVICE T amd_mixed_dot(T2 a, T2 b, T c, bool saturate) {                                         \
        return anywarp::saturated_sum<T>((long long)a.x * b.x + (long long)a.y * b.y + c, saturate);         \
    }                                                                                                        \
    ANYWARP_DEVICE T amd_mixed_dot(T4 a, T4 b, T c, bool saturate) {                                         \
        return anywarp::saturated_sum<T>((long long)a.x * b.x + (long long)a.y * b.y +                       \
                                             (long long)a.z * b.z + (long long)a.w * b.w + c,                \
                                         saturate);                                                          \
    }                                                                                                        \
    ANYWARP_DEVICE T amd_mixed_dot(T a, T b, T c, bool saturate) {                                           \
        long long sum = c;                                                                                   \
        for (int at = 28; at >= 0; at -= 4)                                                                  \
            sum += (long long)((T)((unsigned)a << at) >> 28) * ((T)((unsigned)b << at) >> 28);               \
        return anywarp::saturated_sum<T>(sum, saturate);                                                     \
    }
ANYWARP_MIXED_DOT(int, short2, char4)
ANYWARP_MIXED_DOT(unsigned, ushort2, uchar4)
#undef ANYWARP_MIXED_DOT

/* ---- Lanes ----------------------------------------------------------------------------------------------
 */

/* Of the lanes that run, those before this one, after it, and with it. */
ANYWARP_DEVICE uint64_t __lanemask_eq() { return (uint64_t)1 << anywarp::lane(); }
ANYWARP_DEVICE uint64_t __lanemask_lt() { return anywarp::active() & (__lanemask_eq() - 1); }
ANYWARP_DEVICE uint64_t __lanemask_le() { return __lanemask_lt() | __lanemask_eq(); }
ANYWARP_DEVICE uint64_t __lanemask_gt() {
    return anywarp::active() & ~(__lanemask_eq() | (__lanemask_eq() - 1));
}
ANYWARP_DEVICE uint64_t __lanemask_ge() { return __lanemask_gt() | __lanemask_eq(); }
/* `v`, and how many bits the mask has for lanes before this one; a mask for each 32 lanes. */
ANYWARP_DEVICE unsigned __mbcnt_lo(unsigned mask, unsigned v) { return anywarp::lanes_below_low(mask, v); }
ANYWARP_DEVICE unsigned __mbcnt_hi(unsigned mask, unsigned v) { return anywarp::lanes_below_high(mask, v); }

ANYWARP_DEVICE unsigned __hip_ds_bpermute(int at, unsigned v) { return anywarp::pull(at, v); }
ANYWARP_DEVICE unsigned __hip_ds_permute(int at, unsigned v) { return anywarp::push(at, v); }
template <int pattern> ANYWARP_DEVICE unsigned __hip_ds_swizzle_N(unsigned v) {
    return anywarp::swizzle<pattern>(v);
}
ANYWARP_DEVICE float __hip_ds_bpermutef(int at, float v) {
    return __uint_as_float(anywarp::pull(at, __float_as_uint(v)));
}
ANYWARP_DEVICE float __hip_ds_permutef(int at, float v) {
    return __uint_as_float(anywarp::push(at, __float_as_uint(v)));
}
template <int pattern> ANYWARP_DEVICE float __hip_ds_swizzlef_N(float v) {
    return __uint_as_float(anywarp::swizzle<pattern>(__float_as_uint(v)));
}
template <int control, int row_mask, int bank_mask, bool bound_control>
ANYWARP_DEVICE int __hip_move_dpp_N(int v) {
    return anywarp::move_lanes<control, row_mask, bank_mask, bound_control>(v);
}
/* The instructions hold these arguments, so they are constants. */
#define __hip_ds_swizzle(v, pattern) __hip_ds_swizzle_N<(pattern)>(v)
#define __hip_ds_swizzlef(v, pattern) __hip_ds_swizzlef_N<(pattern)>(v)
#define __hip_move_dpp(v, control, row_mask, bank_mask, bound_control)                                       \
    __hip_move_dpp_N<(control), (row_mask), (bank_mask), (bound_control)>(v)

/* ---- The device -----------------------------------------------------------------------------------------
 */

ANYWARP_DEVICE unsigned __smid() { return anywarp::multiprocessor(); }
ANYWARP_DEVICE long long __clock() { return anywarp::clock(); }
ANYWARP_DEVICE long long __clock64() { return anywarp::clock(); }
ANYWARP_DEVICE void __named_sync() { anywarp::barrier(); }

#endif
