/*
 * Anywarp's headers for GPU languages: integers of 16 and 8 bits in a word (`__vadd4` and its like), and the
 * functions for dynamic programming (`__viaddmax_s32` and its like).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_PACKED_H
#define ANYWARP_PACKED_H

#include <anywarp/target.h>

namespace anywarp {
/* The part at bit i, of `bits` bits. */
ANYWARP_DEVICE int part(unsigned v, int i, int bits, bool is_signed) {
    return is_signed ? (int)(v << (32 - bits - i)) >> (32 - bits) : (int)(v >> i & (0xffffffffu >> (32 - bits)));
}
ANYWARP_DEVICE int within(int v, int least, int most) { return v < least ? least : v > most ? most : v; }
ANYWARP_DEVICE int distance(int a, int b) { return a < b ? b - a : a - b; }
template <class T> ANYWARP_DEVICE T larger(T a, T b) { return a < b ? b : a; }
template <class T> ANYWARP_DEVICE T smaller(T a, T b) { return b < a ? b : a; }
template <class T> ANYWARP_DEVICE T sum(T a, T b) { return (T)((unsigned)a + (unsigned)b); }
} // namespace anywarp

/* A function of the parts x and y of a and b, whose results are put side by side or added up (`sad`). */
#define ANYWARP_PACKED(name, bits, is_signed, value)                                                        \
    ANYWARP_DEVICE unsigned name(unsigned a, unsigned b) {                                                  \
        const unsigned all = 0xffffffffu >> (32 - bits);                                                    \
        const int least = is_signed ? -(1 << (bits - 1)) : 0, most = is_signed ? (1 << (bits - 1)) - 1 : (int)all; \
        unsigned result = 0;                                                                                \
        (void)least, (void)most;                                                                            \
        for (int i = 0; i < 32; i += bits) {                                                                \
            int x = anywarp::part(a, i, bits, is_signed), y = anywarp::part(b, i, bits, is_signed);         \
            (void)x, (void)y;                                                                               \
            result |= ((unsigned)(value)&all) << i;                                                         \
        }                                                                                                   \
        return result;                                                                                      \
    }
#define ANYWARP_PACKED1(name, bits, value)                                                                  \
    ANYWARP_PACKED(anywarp_##name, bits, true, value)                                                       \
    ANYWARP_DEVICE unsigned name(unsigned a) { return anywarp_##name(a, 0); }
#define ANYWARP_PACKED_SUM(name, bits, is_signed)                                                           \
    ANYWARP_DEVICE unsigned name(unsigned a, unsigned b) {                                                  \
        unsigned sum = 0;                                                                                   \
        for (int i = 0; i < 32; i += bits)                                                                  \
            sum += anywarp::distance(anywarp::part(a, i, bits, is_signed), anywarp::part(b, i, bits, is_signed)); \
        return sum;                                                                                         \
    }
#define ANYWARP_PACKED_COMPARISON(name, n, bits, is_signed, symbol)                                         \
    ANYWARP_PACKED(__vcmp##name##n, bits, is_signed, x symbol y ? all : 0)                                  \
    ANYWARP_PACKED(__vset##name##n, bits, is_signed, x symbol y ? 1 : 0)
#define ANYWARP_PACKED_ALL(n, bits)                                                                         \
    ANYWARP_PACKED1(__vabs##n, bits, x < 0 ? -x : x)                                                        \
    ANYWARP_PACKED1(__vabsss##n, bits, anywarp::within(x < 0 ? -x : x, least, most))                        \
    ANYWARP_PACKED1(__vneg##n, bits, -x)                                                                    \
    ANYWARP_PACKED1(__vnegss##n, bits, anywarp::within(-x, least, most))                                    \
    ANYWARP_PACKED(__vabsdiffs##n, bits, true, anywarp::distance(x, y))                                     \
    ANYWARP_PACKED(__vabsdiffu##n, bits, false, anywarp::distance(x, y))                                    \
    ANYWARP_PACKED(__vadd##n, bits, false, x + y)                                                           \
    ANYWARP_PACKED(__vaddss##n, bits, true, anywarp::within(x + y, least, most))                            \
    ANYWARP_PACKED(__vaddus##n, bits, false, anywarp::within(x + y, least, most))                           \
    ANYWARP_PACKED(__vsub##n, bits, false, x - y)                                                           \
    ANYWARP_PACKED(__vsubss##n, bits, true, anywarp::within(x - y, least, most))                            \
    ANYWARP_PACKED(__vsubus##n, bits, false, anywarp::within(x - y, least, most))                           \
    ANYWARP_PACKED(__vavgs##n, bits, true, (x + y + 1 - (x + y < 0)) >> 1)                                  \
    ANYWARP_PACKED(__vavgu##n, bits, false, (x + y + 1) >> 1)                                               \
    ANYWARP_PACKED(__vhaddu##n, bits, false, (x + y) >> 1)                                                  \
    ANYWARP_PACKED(__vmaxs##n, bits, true, x < y ? y : x)                                                   \
    ANYWARP_PACKED(__vmaxu##n, bits, false, x < y ? y : x)                                                  \
    ANYWARP_PACKED(__vmins##n, bits, true, y < x ? y : x)                                                   \
    ANYWARP_PACKED(__vminu##n, bits, false, y < x ? y : x)                                                  \
    ANYWARP_PACKED_SUM(__vsads##n, bits, true)                                                              \
    ANYWARP_PACKED_SUM(__vsadu##n, bits, false)                                                             \
    ANYWARP_PACKED_COMPARISON(eq, n, bits, false, ==)                                                       \
    ANYWARP_PACKED_COMPARISON(ne, n, bits, false, !=)                                                       \
    ANYWARP_PACKED_COMPARISON(ges, n, bits, true, >=)                                                       \
    ANYWARP_PACKED_COMPARISON(geu, n, bits, false, >=)                                                      \
    ANYWARP_PACKED_COMPARISON(gts, n, bits, true, >)                                                        \
    ANYWARP_PACKED_COMPARISON(gtu, n, bits, false, >)                                                       \
    ANYWARP_PACKED_COMPARISON(les, n, bits, true, <=)                                                       \
    ANYWARP_PACKED_COMPARISON(leu, n, bits, false, <=)                                                      \
    ANYWARP_PACKED_COMPARISON(lts, n, bits, true, <)                                                        \
    ANYWARP_PACKED_COMPARISON(ltu, n, bits, false, <)
ANYWARP_PACKED_ALL(2, 16)
ANYWARP_PACKED_ALL(4, 8)
#undef ANYWARP_PACKED_ALL
#undef ANYWARP_PACKED_COMPARISON
#undef ANYWARP_PACKED_SUM
#undef ANYWARP_PACKED1
#undef ANYWARP_PACKED

/* A function of the words x, y and z of type T, or of their halves: `__viaddmax_s32` and its like. */
#define ANYWARP_WORDS(name, T, value)                                                                       \
    ANYWARP_DEVICE T name(T x, T y, T z) { return value; }
#define ANYWARP_HALVES(name, T, value)                                                                      \
    ANYWARP_DEVICE unsigned name(unsigned a, unsigned b, unsigned c) {                                      \
        unsigned result = 0;                                                                                \
        for (int i = 0; i < 32; i += 16) {                                                                  \
            T x = (T)(a >> i), y = (T)(b >> i), z = (T)(c >> i);                                            \
            result |= (unsigned)(unsigned short)(value) << i;                                               \
        }                                                                                                   \
        return result;                                                                                      \
    }
#define ANYWARP_WORDS_RELU(name, value)                                                                     \
    ANYWARP_WORDS(name##_s32_relu, int, anywarp::larger<int>(value, 0))                                     \
    ANYWARP_HALVES(name##_s16x2_relu, short, anywarp::larger<short>(value, 0))
#define ANYWARP_WORDS_ALL(name, value)                                                                      \
    ANYWARP_WORDS(name##_s32, int, value)                                                                   \
    ANYWARP_WORDS(name##_u32, unsigned, value)                                                              \
    ANYWARP_HALVES(name##_s16x2, short, value)                                                              \
    ANYWARP_HALVES(name##_u16x2, unsigned short, value)                                                     \
    ANYWARP_WORDS_RELU(name, value)
ANYWARP_WORDS_ALL(__viaddmax, anywarp::larger(anywarp::sum(x, y), z))
ANYWARP_WORDS_ALL(__viaddmin, anywarp::smaller(anywarp::sum(x, y), z))
ANYWARP_WORDS_ALL(__vimax3, anywarp::larger(anywarp::larger(x, y), z))
ANYWARP_WORDS_ALL(__vimin3, anywarp::smaller(anywarp::smaller(x, y), z))
ANYWARP_DEVICE int __vimax_s32_relu(int a, int b) { return __vimax3_s32_relu(a, b, a); }
ANYWARP_DEVICE int __vimin_s32_relu(int a, int b) { return __vimin3_s32_relu(a, b, a); }
ANYWARP_DEVICE unsigned __vimax_s16x2_relu(unsigned a, unsigned b) { return __vimax3_s16x2_relu(a, b, a); }
ANYWARP_DEVICE unsigned __vimin_s16x2_relu(unsigned a, unsigned b) { return __vimin3_s16x2_relu(a, b, a); }

/* The larger or smaller of two, and whether it is the first. */
#define ANYWARP_CHOICE(name, T, U, which)                                                                   \
    ANYWARP_DEVICE T name##32(T a, T b, bool *first) {                                                      \
        T result = anywarp::which(a, b);                                                                    \
        *first = result == a;                                                                               \
        return result;                                                                                      \
    }                                                                                                       \
    ANYWARP_DEVICE unsigned name##16x2(unsigned a, unsigned b, bool *high, bool *low) {                     \
        U h = anywarp::which((U)(a >> 16), (U)(b >> 16)), l = anywarp::which((U)a, (U)b);                   \
        *high = h == (U)(a >> 16);                                                                          \
        *low = l == (U)a;                                                                                   \
        return (unsigned)(unsigned short)h << 16 | (unsigned short)l;                                       \
    }
ANYWARP_CHOICE(__vibmax_s, int, short, larger)
ANYWARP_CHOICE(__vibmax_u, unsigned, unsigned short, larger)
ANYWARP_CHOICE(__vibmin_s, int, short, smaller)
ANYWARP_CHOICE(__vibmin_u, unsigned, unsigned short, smaller)
#undef ANYWARP_CHOICE
#undef ANYWARP_WORDS_ALL
#undef ANYWARP_WORDS_RELU
#undef ANYWARP_HALVES
#undef ANYWARP_WORDS

#endif
