/* The inputs of the matrix recordings: a function of type, operand, register and thread only (README.md
 * describes it). */
#ifndef ANYWARP_HW_FRAGMENTS_H
#define ANYWARP_HW_FRAGMENTS_H

#include "splitmix.h"
#include <stddef.h>
#include <string.h>

enum { HW_WARPS = 1024, HW_THREADS = HW_WARPS * 32 };

struct hw_type {
    const char *name;
    unsigned bits;               /* of an element */
    unsigned exponent, mantissa; /* 0: not a float */
};

static const struct hw_type hw_types[] = {{"f16", 16, 5, 10}, {"bf16", 16, 8, 7}, {"tf32", 32, 8, 23}, {"f32", 32, 8, 23},
                                          {"f64", 64, 11, 52}, {"e4m3", 8, 4, 3},  {"e5m2", 8, 5, 2},   {"e3m2", 8, 3, 2},
                                          {"e2m3", 8, 2, 3},  {"e2m1", 4, 2, 1},   {"raw", 32, 0, 0},   {"int", 32, 0, 0},
                                          {"s32", 32, 0, 0},  {"two4", 32, 0, 0},  {"one2", 32, 0, 0}};

static inline const struct hw_type *hw_type(const char *name, size_t length)
{
    for (unsigned i = 0; i < sizeof hw_types / sizeof hw_types[0]; i++)
        if (strlen(hw_types[i].name) == length && !strncmp(hw_types[i].name, name, length))
            return &hw_types[i];
    return 0;
}

/* A float of a fragment; `sum`: it belongs to an accumulator. */
static inline uint64_t hw_float(const struct hw_type *t, unsigned mode, int sum, uint64_t u, uint64_t v)
{
    uint64_t top = (1ULL << t->exponent) - 1, bias = top >> 1, ones = (1ULL << t->mantissa) - 1;
    uint64_t sign = (v >> 63) << (t->exponent + t->mantissa), mantissa = v & ones, exponent = bias, kind = u >> 40;
    uint64_t half = bias - 1 < 16 ? bias - 1 : 16;
    if (sum && bias > 100)
        half = 32;
    uint64_t wide = bias - half + u % (2 * half + 1);
    switch (mode) {
    case 0:
        exponent = bias < 3 ? u % top : sum ? bias - 3 + u % 9 : bias - 3 + u % 7;
        break;
    case 1:
        exponent = wide;
        break;
    case 2:
        exponent = u % top;
        break;
    case 3:
        exponent = wide;
        if (kind % 64 == 0) {
            const uint64_t edges[10] = {0, bias << t->mantissa, top << t->mantissa, top << t->mantissa | 1ULL << (t->mantissa - 1),
                                        top << t->mantissa | 1, 1, ones, 1ULL << t->mantissa, (top - 1) << t->mantissa | ones,
                                        top << t->mantissa | ones};
            return sign | edges[kind / 64 % 10];
        }
        break;
    case 4:
        if (kind % 4 == 0)
            return sign;
        exponent = bias + u % 3;
        mantissa = 0;
        break;
    case 5:
        if (sum)
            exponent = bias > 100 ? bias - 28 + u % 57 : wide;
        break;
    case 6:
        exponent = sum && bias > 100 && kind % 2 ? bias - 50 + u % 40 : u % 4;
        break;
    default:
        if (kind % 4 != 0)
            return sign;
        exponent = wide;
    }
    return sign | (exponent < top ? exponent : top - 1) << t->mantissa | mantissa;
}

/* Register `reg` of operand `operand` of a thread. */
static inline uint64_t hw_register(const struct hw_type *t, unsigned operand, unsigned reg, unsigned thread)
{
    static const uint32_t extremes[] = {0x7f7f7f7f, 0x80808080, 0xffffffff, 0, 0x77777777, 0x88888888};
    unsigned mode = thread / 32 & 7;
    uint64_t first = (((uint64_t)thread * 8 + operand) * 128 + reg) * 32, value = 0;
    if (t->exponent) {
        for (unsigned e = 0; e < (t->bits < 32 ? 32 / t->bits : 1); e++) {
            uint64_t n = first + e;
            value |= hw_float(t, mode, operand == 2, splitmix(2 * n), splitmix(2 * n + 1)) << (e * t->bits);
        }
        return value;
    }
    uint64_t u = splitmix(2 * first), v = splitmix(2 * first + 1);
    if (!strcmp(t->name, "int"))
        return mode == 3 ? extremes[u % 6] : mode == 4 ? v & 0x03030303 : (uint32_t)v;
    if (!strcmp(t->name, "s32")) {
        uint64_t small = v & 0xffff;
        return mode == 0 ? small : mode < 3 ? (uint32_t)v : u & 1 ? 0x7fffffff - small : 0x80000000 + small;
    }
    for (unsigned i = 0; i < 8; i++) {
        static const uint8_t pairs[] = {4, 8, 9, 12, 13, 14};
        uint64_t four = v >> (8 * i) & 255;
        if (!strcmp(t->name, "two4"))
            value |= (uint64_t)pairs[four % 6] << (4 * i);
        else
            value |= (uint64_t)(four & 1 ? 4 : 14) << (4 * i);
    }
    return strcmp(t->name, "raw") ? value : (uint32_t)v;
}

/* The hash recorded for a warp whose results are not kept: over its words, ordered by register and lane. */
static inline uint32_t hw_hash(const uint32_t *words, size_t count)
{
    uint64_t h = 0;
    for (size_t i = 0; i < count; i++) {
        h = (h ^ words[i]) * 0x9e3779b97f4a7c15ULL;
        h ^= h >> 29;
    }
    return (uint32_t)(h >> 32);
}

#endif
