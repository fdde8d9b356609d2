/*
 * Anywarp's headers for GPU languages: barriers, fences, and functions of a warp.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_WARP_H
#define ANYWARP_WARP_H

#include <anywarp/target.h>

/* clang knows the name as a builtin function of PTX. */
#if defined(__HIP__) && !defined(__NVPTX__)
ANYWARP_DEVICE void __syncthreads() { anywarp::barrier(); }
#endif
ANYWARP_DEVICE int __syncthreads_count(int p) { return anywarp::barrier_count(p); }
ANYWARP_DEVICE int __syncthreads_and(int p) { return anywarp::barrier_and(p); }
ANYWARP_DEVICE int __syncthreads_or(int p) { return anywarp::barrier_or(p); }
ANYWARP_DEVICE void __threadfence_block() { anywarp::fence_block(); }
ANYWARP_DEVICE void __threadfence() { anywarp::fence_device(); }
ANYWARP_DEVICE void __threadfence_system() { anywarp::fence_system(); }
ANYWARP_DEVICE void __syncwarp(anywarp_mask mask = ~(anywarp_mask)0) { anywarp::warp_barrier(mask); }

ANYWARP_DEVICE anywarp_mask __activemask() { return anywarp::active(); }
ANYWARP_DEVICE anywarp_mask __ballot_sync(anywarp_mask mask, int p) { return anywarp::ballot(mask, p); }
ANYWARP_DEVICE int __all_sync(anywarp_mask mask, int p) { return anywarp::all(mask, p); }
ANYWARP_DEVICE int __any_sync(anywarp_mask mask, int p) { return anywarp::any(mask, p); }
ANYWARP_DEVICE int __uni_sync(anywarp_mask mask, int p) {
    anywarp_mask set = anywarp::ballot(mask, p);
    return set == 0 || set == anywarp::lanes(mask);
}
/* HIP's, for the lanes that are there. */
#if defined(__HIP__)
ANYWARP_DEVICE unsigned long long __ballot64(int p) { return anywarp::ballot(anywarp::active(), p); }
ANYWARP_DEVICE unsigned long long __ballot(int p) { return anywarp::ballot(anywarp::active(), p); }
ANYWARP_DEVICE int __all(int p) { return anywarp::all(anywarp::active(), p); }
ANYWARP_DEVICE int __any(int p) { return anywarp::any(anywarp::active(), p); }
#endif
ANYWARP_DEVICE unsigned __lane_id() { return anywarp::lane(); }

namespace anywarp {
/* A value as words. */
template <class T> union words {
    static const int count = (sizeof(T) + 3) / 4;
    T value;
    unsigned word[(sizeof(T) + 3) / 4];
    __device__ words() {}
};
/* Applies a shuffle to each word of a value. */
#define ANYWARP_SHUFFLE(name, by)                                                                           \
    template <class T> ANYWARP_DEVICE T name##_value(anywarp_mask mask, T v, by, int width) {               \
        words<T> in, out;                                                                                   \
        in.word[words<T>::count - 1] = 0;                                                                   \
        in.value = v;                                                                                       \
        _Pragma("unroll") for (int i = 0; i < words<T>::count; i++)                                         \
            out.word[i] = name(mask, in.word[i], argument, width);                                          \
        return out.value;                                                                                   \
    }
ANYWARP_SHUFFLE(shuffle, int argument)
ANYWARP_SHUFFLE(shuffle_up, unsigned argument)
ANYWARP_SHUFFLE(shuffle_down, unsigned argument)
ANYWARP_SHUFFLE(shuffle_xor, int argument)
#undef ANYWARP_SHUFFLE
} // namespace anywarp

#define ANYWARP_SHUFFLES(T)                                                                                 \
    ANYWARP_DEVICE T __shfl_sync(anywarp_mask m, T v, int lane, int width = ANYWARP_WARP_SIZE) {            \
        return anywarp::shuffle_value(m, v, lane, width);                                                   \
    }                                                                                                       \
    ANYWARP_DEVICE T __shfl_up_sync(anywarp_mask m, T v, unsigned by, int width = ANYWARP_WARP_SIZE) {      \
        return anywarp::shuffle_up_value(m, v, by, width);                                                  \
    }                                                                                                       \
    ANYWARP_DEVICE T __shfl_down_sync(anywarp_mask m, T v, unsigned by, int width = ANYWARP_WARP_SIZE) {    \
        return anywarp::shuffle_down_value(m, v, by, width);                                                \
    }                                                                                                       \
    ANYWARP_DEVICE T __shfl_xor_sync(anywarp_mask m, T v, int bits, int width = ANYWARP_WARP_SIZE) {        \
        return anywarp::shuffle_xor_value(m, v, bits, width);                                               \
    }
#if defined(__HIP__)
#define ANYWARP_SHUFFLES_OF_HIP(T)                                                                          \
    ANYWARP_SHUFFLES(T)                                                                                     \
    ANYWARP_DEVICE T __shfl(T v, int lane, int width = ANYWARP_WARP_SIZE) {                                 \
        return anywarp::shuffle_value(anywarp::active(), v, lane, width);                                   \
    }                                                                                                       \
    ANYWARP_DEVICE T __shfl_up(T v, unsigned by, int width = ANYWARP_WARP_SIZE) {                           \
        return anywarp::shuffle_up_value(anywarp::active(), v, by, width);                                  \
    }                                                                                                       \
    ANYWARP_DEVICE T __shfl_down(T v, unsigned by, int width = ANYWARP_WARP_SIZE) {                         \
        return anywarp::shuffle_down_value(anywarp::active(), v, by, width);                                \
    }                                                                                                       \
    ANYWARP_DEVICE T __shfl_xor(T v, int bits, int width = ANYWARP_WARP_SIZE) {                             \
        return anywarp::shuffle_xor_value(anywarp::active(), v, bits, width);                               \
    }
#else
#define ANYWARP_SHUFFLES_OF_HIP ANYWARP_SHUFFLES
#endif
ANYWARP_SHUFFLES_OF_HIP(int)
ANYWARP_SHUFFLES_OF_HIP(unsigned)
ANYWARP_SHUFFLES_OF_HIP(long)
ANYWARP_SHUFFLES_OF_HIP(unsigned long)
ANYWARP_SHUFFLES_OF_HIP(long long)
ANYWARP_SHUFFLES_OF_HIP(unsigned long long)
ANYWARP_SHUFFLES_OF_HIP(float)
ANYWARP_SHUFFLES_OF_HIP(double)

/* The lanes of `mask` whose value equals this lane's: those found are taken out until none is left. */
template <class T> ANYWARP_DEVICE anywarp_mask __match_any_sync(anywarp_mask mask, T v) {
    anywarp_mask rest = anywarp::lanes(mask), result = 0;
    while (rest) {
        int leader = __builtin_ctzll(rest);
        bool same = anywarp::shuffle_value(mask, v, leader, ANYWARP_WARP_SIZE) == v;
        anywarp_mask found = anywarp::ballot(mask, same);
        if (same)
            result = found;
        rest &= ~(found & rest);
    }
    return result;
}
template <class T> ANYWARP_DEVICE anywarp_mask __match_all_sync(anywarp_mask mask, T v, int *all) {
    T first = anywarp::shuffle_value(mask, v, __builtin_ctzll(anywarp::lanes(mask)), ANYWARP_WARP_SIZE);
    *all = anywarp::all(mask, first == v);
    return *all ? mask : 0;
}

/* Reductions over the lanes of `mask`, which need not be neighbours. */
#define ANYWARP_REDUCE(name, T, combined)                                                                   \
    ANYWARP_DEVICE T name(anywarp_mask mask, T v) {                                                         \
        anywarp_mask here = anywarp::lanes(mask), rest = here & (here - 1);                                 \
        T a = anywarp::shuffle_value(mask, v, __builtin_ctzll(here), ANYWARP_WARP_SIZE);                    \
        for (; rest; rest &= rest - 1) {                                                                    \
            T b = anywarp::shuffle_value(mask, v, __builtin_ctzll(rest), ANYWARP_WARP_SIZE);                \
            a = combined;                                                                                   \
        }                                                                                                   \
        return a;                                                                                           \
    }
ANYWARP_REDUCE(__reduce_add_sync, unsigned, a + b)
ANYWARP_REDUCE(__reduce_add_sync, int, (int)((unsigned)a + (unsigned)b))
ANYWARP_REDUCE(__reduce_min_sync, unsigned, b < a ? b : a)
ANYWARP_REDUCE(__reduce_min_sync, int, b < a ? b : a)
ANYWARP_REDUCE(__reduce_max_sync, unsigned, b > a ? b : a)
ANYWARP_REDUCE(__reduce_max_sync, int, b > a ? b : a)
ANYWARP_REDUCE(__reduce_and_sync, unsigned, a &b)
ANYWARP_REDUCE(__reduce_or_sync, unsigned, a | b)
ANYWARP_REDUCE(__reduce_xor_sync, unsigned, a ^ b)

ANYWARP_DEVICE long long clock64() { return anywarp::clock(); }
ANYWARP_DEVICE long long wall_clock64() { return anywarp::steady_clock(); }
ANYWARP_DEVICE void __nanosleep(unsigned nanoseconds) { anywarp::sleep(nanoseconds); }
ANYWARP_DEVICE void __trap() { anywarp::trap(); }
ANYWARP_DEVICE unsigned __isShared(const void *at) { return anywarp::is_shared(at); }
ANYWARP_DEVICE unsigned __isGlobal(const void *at) { return anywarp::is_global(at); }
ANYWARP_DEVICE unsigned __isLocal(const void *at) { return anywarp::is_local(at); }

#endif
